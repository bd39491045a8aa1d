#include "section.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const ane_section *const sections[] = {&ane_symbols,    &ane_client,   &ane_questions,
                                              &ane_operations, &ane_training, &ane_times};

const ane_section *ane_section_at(size_t index)
{
    return index < sizeof sections / sizeof *sections ? sections[index] : NULL;
}

const ane_section *ane_section_named(const char *name)
{
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if (strcmp(sections[i]->name, name) == 0)
            return sections[i];
    return NULL;
}

void ane_say(ane_result *out, const char *status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    out->status = status;
    vsnprintf(out->detail, sizeof out->detail, format, arguments);
    va_end(arguments);
}

#include "check.h"
#include "section.h"

#include <stdio.h>

/* "@begin NAME", what the item prints, "@end STATUS DETAIL": the parent reads them (parent.c). */
int ane_child(const char *name, size_t first)
{
    const ane_section *section = ane_section_named(name);
    const char *item;
    if (section == NULL)
        return 2;
    for (size_t i = first; (item = section->item(i)) != NULL; i++) {
        ane_result result = {.status = "failed"};
        printf("@begin %s\n", item);
        fflush(stdout);
        section->run(i, &result);
        for (char *at = result.detail; *at != '\0'; at++)
            if (*at == '\n')
                *at = ' ';
        printf("@end %s %s\n", result.status, result.detail);
        fflush(stdout);
    }
    return 0;
}

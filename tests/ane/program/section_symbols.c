/* Which of the public names the library has. Nothing is called. */
#include "engine/surface/symbol_rows.h"
#include "library.h"
#include "section.h"

#include <dlfcn.h>
#include <string.h>

static bool is_espressos(const symbol_row *row)
{
    return row->state != SYMBOL_GROUP && strncmp(row->name, "e5rt_mw_", strlen("e5rt_mw_")) != 0;
}

static const symbol_row *row_at(size_t index)
{
    for (size_t i = 0; i < symbol_count; i++)
        if (is_espressos(&symbol_rows[i]) && index-- == 0)
            return &symbol_rows[i];
    return NULL;
}

static const char *item(size_t index)
{
    const symbol_row *row = row_at(index);
    return row != NULL ? row->name : NULL;
}

static void run(size_t index, ane_result *out)
{
    static void *library;
    const symbol_row *row = row_at(index);
    if (library == NULL)
        library = dlopen(library_path(), RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        ane_say(out, "failed", "%s", dlerror());
    else if (dlsym(library, row->name) == NULL)
        ane_say(out, "absent", "confidence %s, source %s", row->confidence, row->source);
    else
        ane_say(out, "ok", "%s", "");
}

const ane_section ane_symbols = {"symbols", item, run};

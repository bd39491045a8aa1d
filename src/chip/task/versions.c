/* The rows of versions.def. */
#include "chip/task/versions.h"

static const mw__version_row rows[] = {
#define MW_VERSION(subtype_, version_, order_, header_, rows_, targets_, words_, known_)                               \
    {.public = {.subtype = subtype_,                                                                                   \
                .version = version_,                                                                                   \
                .order = order_,                                                                                       \
                .targets = targets_,                                                                                   \
                .words = words_,                                                                                       \
                .known = known_},                                                                                      \
     .header = header_,                                                                                                \
     .rows = MW__VERSION_##rows_},
#include "chip/task/versions.def"
#undef MW_VERSION
};

enum { ROWS = sizeof rows / sizeof *rows };

const mw__version_row *mw__version_at(size_t index) { return index < ROWS ? &rows[index] : NULL; }

const mw__version_row *mw__version_of_subtype(uint32_t subtype)
{
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].public.subtype == subtype)
            return &rows[i];
    return NULL;
}

const mw__version_row *mw__version_named(uint32_t version)
{
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].public.version == version)
            return &rows[i];
    return NULL;
}

/* Finds a hot region: straight-line code for a signature. */
#include "engine/kernels/fused/fused.h"

#include <string.h>

static const mw__hot_region *find(const mw__hot_region *rows, size_t count, const char *signature)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].signature, signature) == 0)
            return &rows[i];
    return NULL;
}

const mw__hot_region *mw__hot_find(const char *signature)
{
    const struct {
        const mw__hot_region *rows;
        size_t count;
    } tables[] = {{mw__hot_update, mw__hot_update_count},
                  {mw__hot_check, mw__hot_check_count},
                  {mw__hot_half, mw__hot_half_count},
                  {mw__hot_half_check, mw__hot_half_check_count},
                  {mw__hot_layer, mw__hot_layer_count}};
    const mw__hot_region *found = NULL;
    for (size_t i = 0; i < sizeof tables / sizeof *tables && found == NULL; i++)
        found = find(tables[i].rows, tables[i].count, signature);
    return found;
}

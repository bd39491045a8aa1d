/* Finds a precompiled kernel: straight-line code for a signature. */
#include "engine/kernels/fused/fused.h"

#include <string.h>

static const mw__precompiled *find(const mw__precompiled *rows, size_t count, const char *signature)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].signature, signature) == 0)
            return &rows[i];
    return NULL;
}

const mw__precompiled *mw__precompiled_find(const char *signature)
{
    const struct {
        const mw__precompiled *rows;
        size_t count;
    } tables[] = {{mw__precompiled_update, mw__precompiled_update_count},
                  {mw__precompiled_check, mw__precompiled_check_count},
                  {mw__precompiled_half, mw__precompiled_half_count},
                  {mw__precompiled_half_check, mw__precompiled_half_check_count},
                  {mw__precompiled_layer, mw__precompiled_layer_count},
                  {mw__precompiled_norm, mw__precompiled_norm_count}};
    const mw__precompiled *found = NULL;
    for (size_t i = 0; i < sizeof tables / sizeof *tables && found == NULL; i++)
        found = find(tables[i].rows, tables[i].count, signature);
    return found;
}

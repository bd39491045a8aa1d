/* The choice between the rows of one operation. */
#include "engine/kernels/implementation.h"

const char *mw__implementation_declines(const mw__implementation *row, const mw__config *config, const mw__op *op)
{
    static const char *const missing[MW__LEVELS] = {
        [MW__LEVEL_BASE] = "the reference is asked for",
        [MW__LEVEL_AVX2] = "the processor has no AVX2, or may not use it",
        [MW__LEVEL_AVX512] = "the processor has no AVX-512, or may not use it",
    };
    if (config->level < row->level)
        return missing[row->level];
    return row->declines != NULL ? row->declines(op) : NULL;
}

const mw__implementation *mw__implementation_choose(mw__implementations list, const mw__config *config,
                                                    const mw__op *op)
{
    size_t at = 0;
    while (at + 1 < list.count && mw__implementation_declines(&list.rows[at], config, op) != NULL)
        at++;
    return &list.rows[at];
}

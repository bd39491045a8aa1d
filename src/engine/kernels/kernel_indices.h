/* Where the indices of a gather or scatter point: one form for slices along an axis, elements along an axis, and
 * coordinates.
 *
 *     gather, scatter  x [batch, outer, rows, inner]  indices [batch, picks]          chosen [.., picks, inner]
 *     _along_axis      x [planes, rows, inner]        indices [planes, picks, inner]  chosen [planes, picks, inner]
 *     _nd              x [planes, rows, inner]        indices [planes, picks, depth]  chosen [planes, picks, inner]
 *
 * where planes = batch * outer, and the rows of _nd are those of several axes. */
#ifndef MW__ENGINE_KERNELS_KERNEL_INDICES_H
#define MW__ENGINE_KERNELS_KERNEL_INDICES_H

#include "engine/core/kernel.h"

typedef struct mw__picks {
    int64_t planes, outer, rows, picks, inner;
    int depth; /* indices that make one row */
    int64_t extent[MW_RANK_MAX];
    mw_dtype index;
    bool each;     /* an index for every element of a slice */
    bool from_end; /* negative indices count from the end: up to ios16 */
} mw__picks;

/* Reads the operation; `arg` is the tensor that the indices look into. */
mw_status mw__picks_read(const mw__op *op, const char *arg, mw__picks *out, mw_error *err);

/* The row of `plane` that pick `pick` means for element k of its slice; -1 if an index is outside. */
MW__INLINE int64_t mw__pick_row(const mw__picks *s, const void *indices, int64_t plane, int64_t pick, int64_t k)
{
    int64_t at = plane / s->outer * s->picks + pick, row = 0;
    at = s->each ? at * s->inner + k : at * s->depth;
    for (int d = 0; d < s->depth; d++) {
        int64_t index = mw__index_load(indices, s->index, at + d);
        index += s->from_end && index < 0 ? s->extent[d] : 0;
        if (index < 0 || index >= s->extent[d])
            return -1;
        row = row * s->extent[d] + index;
    }
    return row;
}

#endif

/* Where the indices of a gather or scatter point: one form for slices along an axis, elements along an axis, and
 * coordinates.
 *
 *     gather, scatter  x [batch, outer, rows, inner]  indices [batch, count]          chosen [.., count, inner]
 *     _along_axis      x [planes, rows, inner]        indices [planes, count, inner]  chosen [planes, count, inner]
 *     _nd              x [planes, rows, inner]        indices [planes, count, depth]  chosen [planes, count, inner]
 *
 * where planes = batch * outer, and the rows of _nd are those of several axes. */
#ifndef MW__ENGINE_KERNELS_GATHER_KERNEL_INDICES_H
#define MW__ENGINE_KERNELS_GATHER_KERNEL_INDICES_H

#include "engine/core/kernel.h"

typedef struct mw__indexed {
    int64_t planes, outer, rows, count, inner;
    int depth; /* indices that make one row */
    int64_t extent[MW_RANK_MAX];
    mw_dtype dtype; /* of the indices */
    bool each;      /* an index for every element of a slice */
    bool from_end;  /* negative indices count from the end: up to ios16 */
} mw__indexed;

/* Reads the operation; `arg` is the tensor that the indices look into. */
mw_status mw__indexed_read(const mw__op *op, const char *arg, mw__indexed *out, mw_error *err);

/* The row of `plane` that entry `entry` of the indices names, for element k of its slice; -1 if an index is outside. */
MW__INLINE int64_t mw__indexed_row(const mw__indexed *s, const void *indices, int64_t plane, int64_t entry, int64_t k)
{
    int64_t at = plane / s->outer * s->count + entry, row = 0;
    at = s->each ? at * s->inner + k : at * s->depth;
    for (int d = 0; d < s->depth; d++) {
        int64_t index = mw__index_load(indices, s->dtype, at + d);
        index += s->from_end && index < 0 ? s->extent[d] : 0;
        if (index < 0 || index >= s->extent[d])
            return -1;
        row = row * s->extent[d] + index;
    }
    return row;
}

/* Places that were looked up; they hold for all planes that share their indices. Start with a count of 0. */
enum { MW__PLACES_MAX = 512 };
typedef struct mw__places {
    int64_t batch, first, count;
    int64_t place[MW__PLACES_MAX]; /* of each index, from the begin of its plane of x; -1 if it is outside */
} mw__places;

/* Units of a plane are what one index takes: slices, or, with an index for each element, elements. Looks up `count` of
 * them, at most MW__PLACES_MAX, from unit `first` on. */
void mw__indexed_find(const mw__indexed *s, const void *indices, int64_t plane, int64_t first, int64_t count,
                      mw__places *out);

#endif

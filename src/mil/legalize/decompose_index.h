/* Numbers, truths and indices as a chip has them, for decompose.c, decompose_index.c, decompose_place.c and
 * split_index.c. */
#ifndef MW__MIL_LEGALIZE_DECOMPOSE_INDEX_H
#define MW__MIL_LEGALIZE_DECOMPOSE_INDEX_H

#include "mil/legalize/decompose.h"

#define MW__HOT_MAX (1 << 24) /* elements of a matrix of 0 and 1 */

/* x as floating point, truths as 0 and 1. */
mw_tensor *mw__decompose_number(mw_tensor *x);
/* Such numbers, which are whole if `dtype` is an integer, in their own type again. */
mw_tensor *mw__decompose_restore(mw_tensor *x, mw_dtype dtype);
/* 1 where a truth holds, else 0. */
mw_tensor *mw__decompose_chosen(mw_tensor *hit, mw_dtype dtype);

/* As int32; NULL for NULL. */
mw_tensor *mw__decompose_int(mw_tensor *x);
/* The same, and numbers below 0 count from the end. */
mw_tensor *mw__decompose_wrap(mw_tensor *index, int64_t extent);

/* Where a number, as `shape`, is its place along the one axis of `along` that is longer than 1; wraps: one below 0
 * counts from the end. The two shapes broadcast. */
mw_tensor *mw__decompose_hit(mw_tensor *index, mw_shape shape, mw_shape along, bool wraps);

#endif

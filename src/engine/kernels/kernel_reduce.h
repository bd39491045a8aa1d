/* Between the files of the reductions. */
#ifndef MW__ENGINE_KERNELS_KERNEL_REDUCE_H
#define MW__ENGINE_KERNELS_KERNEL_REDUCE_H

#include "engine/core/kernel.h"

#define MW__REDUCE_ROWS 64 /* rows of columns that are added in fp32 before they go to double sums */

/* Sums and means of F32 that take one fp32 sum each: result `at` is that of reduced elements of x from at * step on, a
 * row, or at a distance of `stride`, a column. */
typedef struct mw__reduce_small {
    int64_t elements, count; /* of a unit, of results */
    int64_t reduced, step, stride;
    bool mean;
} mw__reduce_small;

/* A kernel without iterators, giving the bits of the general one: results side by side, or each over its own row. Fills
 * the block; NULL if the loops are not such. */
typedef mw__kernel *mw__reduce_small_find(mw__level level, const mw__nd_iter *outer, const mw__nd_iter *inner,
                                          mw__reduce_small *block);
mw__reduce_small_find mw__reduce_small_columns, mw__reduce_small_rows;

#endif

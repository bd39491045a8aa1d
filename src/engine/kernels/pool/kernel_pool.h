/* Windows of 2 x 2 that lie two elements apart, the commonest pooling, in vectors. */
#ifndef MW__ENGINE_KERNELS_POOL_KERNEL_POOL_H
#define MW__ENGINE_KERNELS_POOL_KERNEL_POOL_H

#include "engine/core/kernel.h"

/* A row of windows; rows of x have `in` elements. With `relu`, x is what relu is taken of before the pooling. */
typedef struct mw__two {
    int64_t in, count;
    bool relu;
} mw__two;

/* y: the largest of each window, NaN if one is. */
typedef void mw__two_max(const mw__two *two, const float *x, float *y);
/* Its gradient: dx, two rows, gets dy + 0 at the first element of each window that equals y, and 0 elsewhere. */
typedef void mw__two_gradient(const mw__two *two, const float *x, const float *y, const float *dy, float *dx);

mw__two_max *mw__two_max_choose(mw__level level);
mw__two_gradient *mw__two_gradient_choose(mw__level level);

#endif

/* Windows of 2 x 2 that lie two elements apart, the commonest pooling, in vectors. */
#ifndef MW__ENGINE_KERNEL_POOL_H
#define MW__ENGINE_KERNEL_POOL_H

#include "engine/kernel.h"

/* One row of `count` windows; rows of x have `in` elements. y: the largest of each, NaN if one is. */
typedef void mw__two_max(const float *x, int64_t in, float *y, int64_t count);
/* Its gradient: dx, two rows, gets dy + 0 at the first element of each window that equals y, and 0 elsewhere. */
typedef void mw__two_gradient(const float *x, int64_t in, const float *y, const float *dy, float *dx, int64_t count);

mw__two_max *mw__two_max_choose(mw__level level);
mw__two_gradient *mw__two_gradient_choose(mw__level level);

#endif

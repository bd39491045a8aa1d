/* The sums of planes: what a bias takes of a gradient. */
#ifndef MW__ENGINE_KERNELS_REDUCE_PLANE_SUMS_H
#define MW__ENGINE_KERNELS_REDUCE_PLANE_SUMS_H

#include "engine/core/kernel.h"

/* Adds to out [count] the sums of planes [count, area]. */
typedef void mw__plane_sums(const float *x, int64_t count, int64_t area, float *out);
mw__plane_sums *mw__plane_sums_of(mw__level level);

#endif

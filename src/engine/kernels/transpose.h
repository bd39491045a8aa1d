/* Transposing 4-byte elements by square tiles in registers: for transposes, and for kernels that put one row of a
 * tensor into each lane of their vectors. */
#ifndef MW__ENGINE_KERNELS_TRANSPOSE_H
#define MW__ENGINE_KERNELS_TRANSPOSE_H

#include "engine/core/kernel.h"

/* out[j * pitch + i] = x[i * stride + j] for i below `rows`, j below `columns`; the two do not overlap. */
typedef void mw__transpose(const float *x, int64_t stride, int64_t rows, int64_t columns, float *out, int64_t pitch);

mw__transpose *mw__transpose_choose(mw__level level);

#endif

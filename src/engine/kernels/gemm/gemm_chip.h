/* Products whose sums are taken as on a chip (rules/arithmetic.def, product_tiles): slow, and for looking. */
#ifndef MW__ENGINE_KERNELS_GEMM_GEMM_CHIP_H
#define MW__ENGINE_KERNELS_GEMM_GEMM_CHIP_H

#include "engine/kernels/gemm/gemm.h"

void mw__gemm_chip(const mw__gemm_shape *shape, const float *a, const float *b, float *c);

#endif

/* The matrix product of processors with AVX-512. Measured (bench/products.c): at the speed of OpenBLAS 0.3.21's own
 * AVX-512 code, which that takes only for processors that it knows; twice to five times what it takes for others. */
#ifndef MW__ENGINE_KERNELS_GEMM_GEMM_AVX512_H
#define MW__ENGINE_KERNELS_GEMM_GEMM_AVX512_H

#include "engine/kernels/gemm/gemm_blocked.h"

extern const mw__gemm_set mw__gemm_avx512_set;

/* Of mw__gemm_set. */
void mw__gemm_avx512_pack(float *out, int64_t width, const mw__gemm_lanes *lanes);

/* c[j] = a . row j of b, both dense: for a product that is one row. */
void mw__gemm_avx512_long_dots(int64_t n, int64_t k, const float *a, const float *b, int64_t ldb, float *c);
void mw__gemm_avx512_dots(int64_t n, int64_t k, const float *a, const float *b, int64_t ldb, float *c);

/* The same of fp16 numbers. */
void mw__gemm_avx512_half_dots(int64_t n, int64_t k, const float *a, const uint16_t *b, int64_t ldb, float *c);

/* c = a row times b, which is not transposed; the row's numbers lie step_a apart. For n up to MW__GEMM_ROW_MOST. */
void mw__gemm_avx512_row(int64_t n, int64_t k, const float *a, int64_t step_a, const float *b, int64_t ldb, float *c);

/* Of mw__gemm_set: gemm_across_avx512.c. */
bool mw__gemm_avx512_across(const mw__gemm_shape *shape, const float *a, const float *b, float *c, float *scratch);
size_t mw__gemm_avx512_across_scratch(int64_t m, int64_t k);

#endif

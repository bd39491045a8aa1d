/* Elementary functions as polynomials, for engine/kernels/math.c: each is there for the oldest processor (_base) and,
 * on x86, for AVX2 (_avx2), with equal bits. */
#ifndef MW__ENGINE_KERNELS_MATH_POLY_H
#define MW__ENGINE_KERNELS_MATH_POLY_H

#include "engine/kernels/math.h"

mw__loop1 mw__poly_exp_base, mw__poly_log_base, mw__poly_erf_base, mw__poly_tanh_base, mw__poly_sigmoid_base,
    mw__poly_silu_base, mw__poly_gelu_exact_base, mw__poly_gelu_tanh_base, mw__poly_gelu_sigmoid_base;

#if defined(__x86_64__)
mw__loop1 mw__poly_exp_avx2, mw__poly_log_avx2, mw__poly_erf_avx2, mw__poly_tanh_avx2, mw__poly_sigmoid_avx2,
    mw__poly_silu_avx2, mw__poly_gelu_exact_avx2, mw__poly_gelu_tanh_avx2, mw__poly_gelu_sigmoid_avx2;
mw__loop1 mw__poly_exp_avx512, mw__poly_log_avx512, mw__poly_erf_avx512, mw__poly_tanh_avx512, mw__poly_sigmoid_avx512,
    mw__poly_silu_avx512, mw__poly_gelu_exact_avx512, mw__poly_gelu_tanh_avx512, mw__poly_gelu_sigmoid_avx512;
#endif

#endif

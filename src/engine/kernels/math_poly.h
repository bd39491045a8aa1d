/* Elementary functions as polynomials, for engine/math.c: each is there for the oldest processor (_base) and, on x86,
 * for AVX2 (_wide), with equal bits. */
#ifndef MW__ENGINE_KERNELS_MATH_POLY_H
#define MW__ENGINE_KERNELS_MATH_POLY_H

#include "engine/kernels/math.h"

mw__loop1 mw__poly_exp_base, mw__poly_log_base, mw__poly_erf_base, mw__poly_tanh_base, mw__poly_sigmoid_base,
    mw__poly_silu_base, mw__poly_gelu_exact_base, mw__poly_gelu_tanh_base, mw__poly_gelu_sigmoid_base;

#if defined(__x86_64__)
mw__loop1 mw__poly_exp_wide, mw__poly_log_wide, mw__poly_erf_wide, mw__poly_tanh_wide, mw__poly_sigmoid_wide,
    mw__poly_silu_wide, mw__poly_gelu_exact_wide, mw__poly_gelu_tanh_wide, mw__poly_gelu_sigmoid_wide;
mw__loop1 mw__poly_exp_wider, mw__poly_log_wider, mw__poly_erf_wider, mw__poly_tanh_wider, mw__poly_sigmoid_wider,
    mw__poly_silu_wider, mw__poly_gelu_exact_wider, mw__poly_gelu_tanh_wider, mw__poly_gelu_sigmoid_wider;
#endif

#endif

/* Elementary functions as polynomials, for engine/kernels/math/math.c: each is there for the oldest processor (_base)
 * and, on x86, for AVX2 and AVX-512, with equal bits. */
#ifndef MW__ENGINE_KERNELS_MATH_POLY_H
#define MW__ENGINE_KERNELS_MATH_POLY_H

#include "engine/kernels/math/math.h"

#if defined(__x86_64__)
#define MW__POLY(name) mw__loop1 mw__poly_##name##_base, mw__poly_##name##_avx2, mw__poly_##name##_avx512;
#else
#define MW__POLY(name) mw__loop1 mw__poly_##name##_base;
#endif

MW__POLY(exp)
MW__POLY(log)
MW__POLY(erf)
MW__POLY(tanh)
MW__POLY(sigmoid)
MW__POLY(silu)
MW__POLY(gelu_exact)
MW__POLY(gelu_tanh)
MW__POLY(gelu_sigmoid)
MW__POLY(exp2)
MW__POLY(sin)
MW__POLY(cos)
MW__POLY(tan)
MW__POLY(asin)
MW__POLY(acos)
MW__POLY(atan)
MW__POLY(sinh)
MW__POLY(cosh)
MW__POLY(atanh)
MW__POLY(elu)
MW__POLY(softplus)
MW__POLY(softplus_parametric)
MW__POLY(scaled_tanh)

#undef MW__POLY

#endif

/* Loops over the elementary functions of math_scalar.h. */
#include "engine/kernels/math_poly.h"

#include "engine/kernels/math_scalar.h"

#if defined(__x86_64__)
#define POLY_AVX2(name)                                                                                                \
    MW__TARGET_AVX2 void mw__poly_##name##_avx2(float *out, const float *x, int64_t count, float p, float q)           \
    {                                                                                                                  \
        name##_body(out, x, count, p, q);                                                                              \
    }                                                                                                                  \
    MW__TARGET_AVX512 void mw__poly_##name##_avx512(float *out, const float *x, int64_t count, float p, float q)       \
    {                                                                                                                  \
        name##_body(out, x, count, p, q);                                                                              \
    }
#else
#define POLY_AVX2(name)
#endif

#define POLY(name, expression)                                                                                         \
    MW__LOOP1_BODY(name, expression)                                                                                   \
    void mw__poly_##name##_base(float *out, const float *x, int64_t count, float p, float q)                           \
    {                                                                                                                  \
        name##_body(out, x, count, p, q);                                                                              \
    }                                                                                                                  \
    POLY_AVX2(name)

POLY(exp, mw__scalar_exp(v, p, q))
POLY(log, mw__scalar_log(v, p, q))
POLY(erf, mw__scalar_erf(v, p, q))
POLY(tanh, mw__scalar_tanh(v, p, q))
POLY(sigmoid, mw__scalar_sigmoid(v, p, q))
POLY(silu, mw__scalar_silu(v, p, q))
POLY(gelu_exact, mw__scalar_gelu_exact(v, p, q))
POLY(gelu_tanh, mw__scalar_gelu_tanh(v, p, q))
POLY(gelu_sigmoid, mw__scalar_gelu_sigmoid(v, p, q))

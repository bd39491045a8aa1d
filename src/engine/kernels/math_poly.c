/* Loops over the elementary functions of math_scalar.h. */
#include "engine/kernels/math_poly.h"

#include "engine/kernels/math_scalar.h"

#if defined(__x86_64__)
#define POLY_WIDE(name)                                                                                                \
    MW__WIDE_TARGET void mw__poly_##name##_wide(float *out, const float *x, int64_t count, float p, float q)           \
    {                                                                                                                  \
        name##_body(out, x, count, p, q);                                                                              \
    }                                                                                                                  \
    MW__WIDER_TARGET void mw__poly_##name##_wider(float *out, const float *x, int64_t count, float p, float q)         \
    {                                                                                                                  \
        name##_body(out, x, count, p, q);                                                                              \
    }
#else
#define POLY_WIDE(name)
#endif

#define POLY(name, expression)                                                                                         \
    MW__LOOP1_BODY(name, expression)                                                                                   \
    void mw__poly_##name##_base(float *out, const float *x, int64_t count, float p, float q)                           \
    {                                                                                                                  \
        name##_body(out, x, count, p, q);                                                                              \
    }                                                                                                                  \
    POLY_WIDE(name)

POLY(exp, mw__scalar_exp(v, p, q))
POLY(log, mw__scalar_log(v, p, q))
POLY(erf, mw__scalar_erf(v, p, q))
POLY(tanh, mw__scalar_tanh(v, p, q))
POLY(sigmoid, mw__scalar_sigmoid(v, p, q))
POLY(silu, mw__scalar_silu(v, p, q))
POLY(gelu_exact, mw__scalar_gelu_exact(v, p, q))
POLY(gelu_tanh, mw__scalar_gelu_tanh(v, p, q))
POLY(gelu_sigmoid, mw__scalar_gelu_sigmoid(v, p, q))

/* Loops over the elementary functions of math_scalar.h and math_wide.h. */
#include "engine/kernels/math/math_poly.h"

#include "engine/kernels/math/math_scalar.h"
#include "engine/kernels/math/math_wide.h"

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

#define LEVELS(name)                                                                                                   \
    void mw__poly_##name##_base(float *out, const float *x, int64_t count, float p, float q)                           \
    {                                                                                                                  \
        name##_body(out, x, count, p, q);                                                                              \
    }                                                                                                                  \
    POLY_AVX2(name)

#define POLY(name, expression)                                                                                         \
    MW__LOOP1_BODY(name, expression)                                                                                   \
    LEVELS(name)

/* Functions of angles. Those that are far need another reduction, which does not vectorize: stretches without one are
 * computed as a whole, the others element by element, each as it would be in the other place. */
#define STRETCH 64
#define ANGLES(name, function)                                                                                         \
    MW__INLINE void name##_body(float *out, const float *x, int64_t count, float p, float q)                           \
    {                                                                                                                  \
        (void)p, (void)q;                                                                                              \
        for (int64_t at = 0; at < count; at += STRETCH) {                                                              \
            const int64_t end = at + STRETCH < count ? at + STRETCH : count;                                           \
            int32_t far = 0;                                                                                           \
            for (int64_t i = at; i < end; i++)                                                                         \
                far |= mw__angle_is_far(x[i]);                                                                         \
            if (far == 0) {                                                                                            \
                MW__VECTORIZE for (int64_t i = at; i < end; i++) out[i] = function(mw__turn_near(x[i]));               \
            } else {                                                                                                   \
                for (int64_t i = at; i < end; i++)                                                                     \
                    out[i] = function(mw__angle_is_far(x[i]) ? mw__turn_far(x[i]) : mw__turn_near(x[i]));              \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    LEVELS(name)

POLY(exp, mw__scalar_exp(v, p, q))
POLY(log, mw__scalar_log(v, p, q))
POLY(erf, mw__scalar_erf(v, p, q))
POLY(tanh, mw__scalar_tanh(v, p, q))
POLY(sigmoid, mw__scalar_sigmoid(v, p, q))
POLY(silu, mw__scalar_silu(v, p, q))
POLY(gelu_exact, mw__scalar_gelu_exact(v, p, q))
POLY(gelu_tanh, mw__scalar_gelu_tanh(v, p, q))
POLY(gelu_sigmoid, mw__scalar_gelu_sigmoid(v, p, q))
POLY(exp2, mw__scalar_exp2(v, p, q))
POLY(sinh, mw__scalar_sinh(v, p, q))
POLY(cosh, mw__scalar_cosh(v, p, q))
POLY(atanh, mw__scalar_atanh(v, p, q))
POLY(atan, mw__scalar_atan(v, p, q))
POLY(asin, mw__scalar_asin(v, p, q))
POLY(acos, mw__scalar_acos(v, p, q))
POLY(elu, mw__scalar_elu(v, p, q))
POLY(softplus, mw__scalar_softplus(v, p, q))
POLY(softplus_parametric, mw__scalar_softplus_parametric(v, p, q))
POLY(scaled_tanh, mw__scalar_scaled_tanh(v, p, q))
ANGLES(sin, mw__sin_turned)
ANGLES(cos, mw__cos_turned)
ANGLES(tan, mw__tan_turned)

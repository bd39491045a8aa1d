/* Functions of one operand: their loops and the table, one row an operation. A new function is a line among the loops
 * and a row in the table. The polynomials are in math_poly.c, the functions of two operands in math_pair.c. */
#include "engine/kernels/math/math.h"

#include "engine/kernels/math/math_poly.h"
#include "engine/kernels/math/math_scalar.h"

#include <math.h>
#include <string.h>

/* ---- one operand: arithmetic that libm is not needed for, equal bits at every level ---- */

#define LOOP1(name, expression)                                                                                        \
    MW__LOOP1_BODY(name, expression)                                                                                   \
    MW__BASE_AVX2_AVX512(name, (float *out, const float *x, int64_t count, float p, float q), (out, x, count, p, q))

LOOP1(loop_abs, mw__scalar_abs(v, p, q))
LOOP1(loop_sign, mw__scalar_sign(v, p, q))
LOOP1(loop_square, mw__scalar_square(v, p, q))
LOOP1(loop_sqrt, mw__scalar_sqrt(v, p, q))
LOOP1(loop_rsqrt, mw__scalar_rsqrt(v, p, q))
LOOP1(loop_inverse, mw__scalar_inverse(v, p, q))
LOOP1(loop_relu, mw__scalar_relu(v, p, q))
LOOP1(loop_floor, floorf(v))
LOOP1(loop_ceil, ceilf(v))
LOOP1(loop_round, rintf(v)) /* ties to even */
LOOP1(loop_threshold, v < p ? p : v)
LOOP1(loop_relu6, mw__scalar_relu6(v, p, q))
LOOP1(loop_leaky_relu, v < 0.0f ? p * v : v)
LOOP1(loop_clamped_relu, (v < 0.0f ? p * v : v) > q ? q : (v < 0.0f ? p * v : v))
LOOP1(loop_thresholded_relu, v < p ? 0.0f : v)
LOOP1(loop_softsign, v / (1.0f + fabsf(v)))
LOOP1(loop_sigmoid_hard, (p * v + q < 0.0f ? 0.0f : p * v + q) > 1.0f ? 1.0f : (p * v + q < 0.0f ? 0.0f : p * v + q))
LOOP1(loop_linear_activation, p *v + q)
LOOP1(loop_clip, mw__scalar_clip(v, p, q))

/* ---- one operand: the reference of what math_poly.c has, by libm ---- */

#define SQRT_2_OVER_PI 0.797884560802865356f
#define SQRT_HALF      0.707106781186547524f

static float ref_sigmoid_of(float v)
{
    const float e = expf(-fabsf(v)); /* never overflows */
    return v < 0.0f ? e / (1.0f + e) : 1.0f / (1.0f + e);
}

static float softplus_of(float v) { return log1pf(expf(-fabsf(v))) + (v > 0.0f ? v : 0.0f); }

MW__LOOP1_PLAIN(ref_exp, expf(v))
MW__LOOP1_PLAIN(ref_log, logf(v + p))
MW__LOOP1_PLAIN(ref_erf, erff(v))
MW__LOOP1_PLAIN(ref_tanh, tanhf(v))
MW__LOOP1_PLAIN(ref_sigmoid, ref_sigmoid_of(v))
MW__LOOP1_PLAIN(ref_silu, v *ref_sigmoid_of(v))
MW__LOOP1_PLAIN(ref_gelu_exact, 0.5f * v * erfcf(-v * SQRT_HALF))
MW__LOOP1_PLAIN(ref_gelu_tanh, 0.5f * v * (1.0f + tanhf(SQRT_2_OVER_PI * (v + 0.044715f * v * v * v))))
MW__LOOP1_PLAIN(ref_gelu_sigmoid, v *ref_sigmoid_of(1.702f * v))
MW__LOOP1_PLAIN(ref_exp2, exp2f(v))
MW__LOOP1_PLAIN(ref_sin, sinf(v))
MW__LOOP1_PLAIN(ref_cos, cosf(v))
MW__LOOP1_PLAIN(ref_tan, tanf(v))
MW__LOOP1_PLAIN(ref_asin, asinf(v))
MW__LOOP1_PLAIN(ref_acos, acosf(v))
MW__LOOP1_PLAIN(ref_atan, atanf(v))
MW__LOOP1_PLAIN(ref_sinh, sinhf(v))
MW__LOOP1_PLAIN(ref_cosh, coshf(v))
MW__LOOP1_PLAIN(ref_atanh, atanhf(v))
MW__LOOP1_PLAIN(ref_elu, v > 0.0f ? v : p * expm1f(v))
MW__LOOP1_PLAIN(ref_softplus, softplus_of(v))
MW__LOOP1_PLAIN(ref_softplus_parametric, p *softplus_of(q *v))
MW__LOOP1_PLAIN(ref_scaled_tanh, p *tanhf(q *v))

/* ---- one operand: integers, which wrap around, and truth ---- */

#define INT1(name, expression)                                                                                         \
    static void name(int32_t *out, const int32_t *x, int64_t count, int32_t p)                                         \
    {                                                                                                                  \
        (void)p;                                                                                                       \
        for (int64_t i = 0; i < count; i++) {                                                                          \
            const int32_t v = x[i];                                                                                    \
            out[i] = (expression);                                                                                     \
        }                                                                                                              \
    }

INT1(int_abs, v < 0 ? (int32_t)(0u - (uint32_t)v) : v)
INT1(int_sign, (v > 0) - (v < 0))
INT1(int_exp2, v<0 || v> 31 ? 0 : (int32_t)(1u << v))
INT1(int_threshold, v < p ? p : v)
INT1(int_square, (int32_t)((uint32_t)v *(uint32_t)v))

static void bool_not(uint8_t *out, const uint8_t *x, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        out[i] = x[i] == 0;
}

/* ---- the table ---- */

#define SAME(name) .at = MW__LOOPS_SAME(loop_##name)
#if defined(__x86_64__)
#define POLY(name) .at = {ref_##name, mw__poly_##name##_base, mw__poly_##name##_avx2, mw__poly_##name##_avx512}
#else
#define POLY(name) .at = {ref_##name, mw__poly_##name##_base, mw__poly_##name##_base, mw__poly_##name##_base}
#endif

static const mw__function1 gelu_sigmoid = {POLY(gelu_sigmoid), .additions = 32, .mode = "SIGMOID_APPROXIMATION",
                                           .name = "gelu_sigmoid"};
static const mw__function1 gelu_tanh = {POLY(gelu_tanh), .additions = 40, .mode = "TANH_APPROXIMATION",
                                        .name = "gelu_tanh", .other = &gelu_sigmoid};

static const mw__function1 functions[MW__OP_COUNT] = {
    [MW__OP_abs] = {SAME(abs), .integers = int_abs, .additions = 1},
    [MW__OP_sign] = {SAME(sign), .integers = int_sign, .additions = 3},
    [MW__OP_square] = {SAME(square), .integers = int_square, .additions = 1},
    [MW__OP_sqrt] = {SAME(sqrt), .additions = 6},
    [MW__OP_rsqrt] = {SAME(rsqrt), .additions = 12, .p = "epsilon"},
    [MW__OP_inverse] = {SAME(inverse), .additions = 6, .p = "epsilon"},
    [MW__OP_clip] = {SAME(clip), .additions = 3, .p = "alpha", .q = "beta"},
    [MW__OP_exp] = {POLY(exp), .additions = 20},
    [MW__OP_log] = {POLY(log), .additions = 24, .p = "epsilon"},
    [MW__OP_erf] = {POLY(erf), .additions = 45},
    [MW__OP_tanh] = {POLY(tanh), .additions = 40},
    [MW__OP_floor] = {SAME(floor), .additions = 1},
    [MW__OP_ceil] = {SAME(ceil), .additions = 1},
    [MW__OP_round] = {SAME(round), .additions = 1},
    [MW__OP_threshold] = {SAME(threshold), .integers = int_threshold, .additions = 1, .p = "alpha"},
    [MW__OP_exp2] = {POLY(exp2), .additions = 20, .integers = int_exp2},
    [MW__OP_sin] = {POLY(sin), .additions = 55},
    [MW__OP_cos] = {POLY(cos), .additions = 55},
    [MW__OP_tan] = {POLY(tan), .additions = 55},
    [MW__OP_asin] = {POLY(asin), .additions = 20},
    [MW__OP_acos] = {POLY(acos), .additions = 20},
    [MW__OP_atan] = {POLY(atan), .additions = 24},
    [MW__OP_sinh] = {POLY(sinh), .additions = 30},
    [MW__OP_cosh] = {POLY(cosh), .additions = 22},
    [MW__OP_atanh] = {POLY(atanh), .additions = 55},
    [MW__OP_logical_not] = {.bools = bool_not, .additions = 1},
    /* activations */
    [MW__OP_relu] = {SAME(relu), .additions = 2},
    [MW__OP_sigmoid] = {POLY(sigmoid), .additions = 30},
    [MW__OP_silu] = {POLY(silu), .additions = 31},
    [MW__OP_gelu] = {POLY(gelu_exact), .additions = 50, .mode = "EXACT", .name = "gelu_exact", .other = &gelu_tanh},
    [MW__OP_relu6] = {SAME(relu6), .additions = 2},
    [MW__OP_leaky_relu] = {SAME(leaky_relu), .additions = 2, .p = "alpha"},
    [MW__OP_clamped_relu] = {SAME(clamped_relu), .additions = 3, .p = "alpha", .q = "beta"},
    [MW__OP_thresholded_relu] = {SAME(thresholded_relu), .additions = 1, .p = "alpha"},
    [MW__OP_sigmoid_hard] = {SAME(sigmoid_hard), .additions = 4, .p = "alpha", .q = "beta"},
    [MW__OP_linear_activation] = {SAME(linear_activation), .additions = 2, .p = "alpha", .q = "beta"},
    [MW__OP_elu] = {POLY(elu), .additions = 20, .p = "alpha"},
    [MW__OP_softplus] = {POLY(softplus), .additions = 62},
    [MW__OP_softsign] = {SAME(softsign), .additions = 6},
    [MW__OP_scaled_tanh] = {POLY(scaled_tanh), .additions = 48, .p = "alpha", .q = "beta"},
    /* p and q per channel: kernel_activation.c */
    [MW__OP_prelu] = {SAME(leaky_relu), .additions = 2, .p = "alpha"},
    [MW__OP_softplus_parametric] = {POLY(softplus_parametric), .additions = 64, .p = "alpha", .q = "beta"},
};

const mw__function1 *mw__function1_find(mw__op_id op, const char *mode)
{
    const mw__function1 *function = &functions[op];
    if (function->additions == 0.0)
        return NULL;
    while (function != NULL && mode != NULL && (function->mode == NULL || strcmp(function->mode, mode) != 0))
        function = function->other;
    return function;
}

mw__loop1 *mw__loop1_find(mw__op_id op, mw__level level) { return functions[op].at[level]; }

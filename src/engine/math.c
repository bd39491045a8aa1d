/* Functions of one operand: their loops and the table, one row an operation. A new function is a line among the loops
 * and a row in the table. The polynomials are in math_poly.c, the functions of two operands in math_pair.c. */
#include "engine/math.h"

#include "engine/math_poly.h"

#include <math.h>
#include <string.h>

/* ---- one operand: arithmetic that libm is not needed for, equal bits at every level ---- */

#define LOOP1(name, expression)                                                                                        \
    MW__LOOP1_BODY(name, expression)                                                                                   \
    MW__TWICE(name, (float *out, const float *x, int64_t count, float p, float q), (out, x, count, p, q))

LOOP1(loop_abs, fabsf(v))
LOOP1(loop_sign, v != v ? v : (float)((v > 0.0f) - (v < 0.0f)))
LOOP1(loop_square, v *v)
LOOP1(loop_sqrt, sqrtf(v))
LOOP1(loop_rsqrt, 1.0f / sqrtf(v + p))
LOOP1(loop_inverse, 1.0f / (v + p))
LOOP1(loop_relu, ((v > 0.0f) | (v != v)) ? v : 0.0f)
LOOP1(loop_clip, (v < p ? p : v) > q ? q : (v < p ? p : v))

/* ---- one operand: libm ---- */

#define SQRT_2_OVER_PI 0.797884560802865356f
#define SQRT_HALF      0.707106781186547524f

static float ref_sigmoid_of(float v)
{
    const float e = expf(-fabsf(v)); /* never overflows */
    return v < 0.0f ? e / (1.0f + e) : 1.0f / (1.0f + e);
}

#define REF1(name, expression)                                                                                         \
    static void name(float *out, const float *x, int64_t count, float p, float q)                                      \
    {                                                                                                                  \
        (void)p, (void)q;                                                                                              \
        for (int64_t i = 0; i < count; i++) {                                                                          \
            const float v = x[i];                                                                                      \
            out[i] = (expression);                                                                                     \
        }                                                                                                              \
    }

REF1(ref_exp, expf(v))
REF1(ref_log, logf(v + p))
REF1(ref_erf, erff(v))
REF1(ref_tanh, tanhf(v))
REF1(ref_sigmoid, ref_sigmoid_of(v))
REF1(ref_silu, v *ref_sigmoid_of(v))
REF1(ref_gelu_exact, 0.5f * v * erfcf(-v * SQRT_HALF))
REF1(ref_gelu_tanh, 0.5f * v * (1.0f + tanhf(SQRT_2_OVER_PI * (v + 0.044715f * v * v * v))))
REF1(ref_gelu_sigmoid, v *ref_sigmoid_of(1.702f * v))

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
INT1(int_square, (int32_t)((uint32_t)v *(uint32_t)v))

static void bool_not(uint8_t *out, const uint8_t *x, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        out[i] = x[i] == 0;
}

/* ---- the table ---- */

#define SAME(name) .at = MW__LOOPS_SAME(loop_##name)
#if defined(__x86_64__)
#define POLY(name) .at = {ref_##name, mw__poly_##name##_base, mw__poly_##name##_wide}
#else
#define POLY(name) .at = {ref_##name, mw__poly_##name##_base, mw__poly_##name##_base}
#endif

static const mw__function1 gelu_sigmoid = {POLY(gelu_sigmoid), .flops = 32, .mode = "SIGMOID_APPROXIMATION"};
static const mw__function1 gelu_tanh = {POLY(gelu_tanh), .flops = 40, .mode = "TANH_APPROXIMATION",
                                        .other = &gelu_sigmoid};

static const mw__function1 functions[MW__OP_COUNT] = {
    [MW__OP_abs] = {SAME(abs), .integers = int_abs, .flops = 1},
    [MW__OP_sign] = {SAME(sign), .integers = int_sign, .flops = 3},
    [MW__OP_square] = {SAME(square), .integers = int_square, .flops = 1},
    [MW__OP_sqrt] = {SAME(sqrt), .flops = 6},
    [MW__OP_rsqrt] = {SAME(rsqrt), .flops = 12, .p = "epsilon"},
    [MW__OP_inverse] = {SAME(inverse), .flops = 6, .p = "epsilon"},
    [MW__OP_clip] = {SAME(clip), .flops = 3, .p = "alpha", .q = "beta"},
    [MW__OP_exp] = {POLY(exp), .flops = 20},
    [MW__OP_log] = {POLY(log), .flops = 24, .p = "epsilon"},
    [MW__OP_erf] = {POLY(erf), .flops = 45},
    [MW__OP_tanh] = {POLY(tanh), .flops = 40},
    [MW__OP_logical_not] = {.bools = bool_not, .flops = 1},
    /* activations */
    [MW__OP_relu] = {SAME(relu), .flops = 2},
    [MW__OP_sigmoid] = {POLY(sigmoid), .flops = 30},
    [MW__OP_silu] = {POLY(silu), .flops = 31},
    [MW__OP_gelu] = {POLY(gelu_exact), .flops = 50, .mode = "EXACT", .other = &gelu_tanh},
};

const mw__function1 *mw__function1_find(mw__op_id op, const char *mode)
{
    const mw__function1 *function = &functions[op];
    if (function->flops == 0.0)
        return NULL;
    while (function != NULL && mode != NULL && (function->mode == NULL || strcmp(function->mode, mode) != 0))
        function = function->other;
    return function;
}

mw__loop1 *mw__loop1_find(mw__op_id op, mw__level level) { return functions[op].at[level]; }

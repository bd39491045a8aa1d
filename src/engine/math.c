/* Arithmetic and elementary functions over fp32 arrays, and the table that chooses them. The polynomials are in
 * math_poly.c. */
#include "engine/math.h"

#include "engine/math_poly.h"

#include <math.h>

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

typedef struct row1 {
    mw__loop1 *at[3]; /* by level */
    double flops;
} row1;

#if defined(__x86_64__)
#define SAME1(name)                                                                                                    \
    {                                                                                                                  \
        name##_base, name##_base, name##_wide                                                                          \
    }
#define POLY1(name)                                                                                                    \
    {                                                                                                                  \
        ref_##name, mw__poly_##name##_base, mw__poly_##name##_wide                                                     \
    }
#else
#define SAME1(name)                                                                                                    \
    {                                                                                                                  \
        name##_base, name##_base, name##_base                                                                          \
    }
#define POLY1(name)                                                                                                    \
    {                                                                                                                  \
        ref_##name, mw__poly_##name##_base, mw__poly_##name##_base                                                     \
    }
#endif

static const row1 rows1[MW__F1_COUNT] = {
    [MW__F1_ABS] = {SAME1(loop_abs), 1},
    [MW__F1_SIGN] = {SAME1(loop_sign), 3},
    [MW__F1_SQUARE] = {SAME1(loop_square), 1},
    [MW__F1_SQRT] = {SAME1(loop_sqrt), 6},
    [MW__F1_RSQRT] = {SAME1(loop_rsqrt), 12},
    [MW__F1_INVERSE] = {SAME1(loop_inverse), 6},
    [MW__F1_RELU] = {SAME1(loop_relu), 2},
    [MW__F1_CLIP] = {SAME1(loop_clip), 3},
    [MW__F1_EXP] = {POLY1(exp), 20},
    [MW__F1_LOG] = {POLY1(log), 24},
    [MW__F1_ERF] = {POLY1(erf), 45},
    [MW__F1_TANH] = {POLY1(tanh), 40},
    [MW__F1_SIGMOID] = {POLY1(sigmoid), 30},
    [MW__F1_SILU] = {POLY1(silu), 31},
    [MW__F1_GELU_EXACT] = {POLY1(gelu_exact), 50},
    [MW__F1_GELU_TANH] = {POLY1(gelu_tanh), 40},
    [MW__F1_GELU_SIGMOID] = {POLY1(gelu_sigmoid), 32},
};

mw__loop1 *mw__loop1_find(mw__function1 function, mw__level level) { return rows1[function].at[level]; }

double mw__loop1_flops(mw__function1 function) { return rows1[function].flops; }

/* ---- two operands ---- */

#define LOOP2(name, expression)                                                                                        \
    MW__INLINE void name##_body(float *out, const float *x, const float *y, int64_t count)                             \
    {                                                                                                                  \
        MW__VECTORIZE for (int64_t i = 0; i < count; i++)                                                              \
        {                                                                                                              \
            const float a = x[i], b = y[i];                                                                            \
            out[i] = (expression);                                                                                     \
        }                                                                                                              \
    }                                                                                                                  \
    MW__TWICE(name, (float *out, const float *x, const float *y, int64_t count), (out, x, y, count))

LOOP2(loop_add, a + b)
LOOP2(loop_sub, a - b)
LOOP2(loop_mul, a *b)
LOOP2(loop_div, a / b)
LOOP2(loop_floor_div, floorf(a / b))
LOOP2(loop_maximum, ((a > b) | (a != a)) ? a : b) /* NaN propagates */
LOOP2(loop_minimum, ((a < b) | (a != a)) ? a : b)

/* libm's pow takes a negative base with an integral exponent, as MIL asks. */
static void ref_pow(float *out, const float *x, const float *y, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        out[i] = powf(x[i], y[i]);
}

/* Squares, cubes and reciprocals are products: at most 1 ulp off, and the same bits whatever stands beside them. */
static float pow_of(float x, float y)
{
    if (y == 2.0f)
        return x * x;
    if (y == 3.0f)
        return x * x * x;
    return y == -1.0f ? 1.0f / x : powf(x, y);
}

static bool all_are(const float *y, int64_t count, float value)
{
    int32_t other = 0;
    for (int64_t i = 0; i < count; i++)
        other |= y[i] != value;
    return other == 0;
}

static void loop_pow(float *out, const float *x, const float *y, int64_t count)
{
    if (y[0] == 2.0f && all_are(y, count, 2.0f)) {
        MW__VECTORIZE for (int64_t i = 0; i < count; i++) out[i] = x[i] * x[i];
    } else if (y[0] == 3.0f && all_are(y, count, 3.0f)) {
        MW__VECTORIZE for (int64_t i = 0; i < count; i++) out[i] = x[i] * x[i] * x[i];
    } else {
        for (int64_t i = 0; i < count; i++)
            out[i] = pow_of(x[i], y[i]);
    }
}

mw__loop2 *mw__loop2_find(mw__op_id op, mw__level level)
{
    switch (op) {
    case MW__OP_add:
        return MW__PICK(loop_add, level);
    case MW__OP_sub:
        return MW__PICK(loop_sub, level);
    case MW__OP_mul:
        return MW__PICK(loop_mul, level);
    case MW__OP_real_div:
        return MW__PICK(loop_div, level);
    case MW__OP_floor_div:
        return MW__PICK(loop_floor_div, level);
    case MW__OP_maximum:
        return MW__PICK(loop_maximum, level);
    case MW__OP_minimum:
        return MW__PICK(loop_minimum, level);
    case MW__OP_pow:
        return level == MW__LEVEL_REF ? ref_pow : loop_pow;
    default:
        return NULL;
    }
}

/* Functions that the ANE computes by a table (rules/arithmetic.def): knots with straight lines between them, which are
 * exact here, and a reduction to the range of the table. Results are rounded once, halves away from zero, by the loop
 * that follows (engine/compile/storage/chip_rounding.c); what is rounded before that is said.
 *
 * source  M6 study, table 8-6: knots and ranges; the reductions are those that reproduce its statistics over 16 to 20
 *         thousand inputs each (tests/rules/test_chip_vectors.c) */
#include "engine/kernels/math/math_chip_tables.h"

#include "engine/kernels/math/math_scalar.h"
#include "engine/kernels/math/round_chip.h"

#include <math.h>

enum { MOST = 33 };

/* The first number is that of knots. */
#define MW_KNOTS(name, ...)                                                                                            \
    static const float m6_##name[] = {__VA_ARGS__};                                                                    \
    _Static_assert(sizeof m6_##name <= MOST * sizeof(float), "a table has up to 33 knots");
#include "engine/kernels/math/chip_knots.def"

/* ---- lines, and rounding ---- */

/* `place` counts knots; beyond the first and last the lines there go on. */
static double line_at(const float *knots, int count, double place)
{
    const int last = count - 2, segment = place < 1.0 ? 0 : place >= (double)last ? last : (int)place;
    return (double)knots[segment] + (place - segment) * ((double)knots[segment + 1] - (double)knots[segment]);
}
#define LINE(name, place) line_at(m6_##name, (int)(sizeof m6_##name / sizeof *m6_##name), place)

/* To fp16, halves away from zero. */
static double half_of(double x)
{
    int exponent;
    if (x == 0.0 || x - x != 0.0)
        return x;
    frexp(x, &exponent);
    const int last = exponent - 11 < -24 ? -24 : exponent - 11;
    return ldexp(round(ldexp(x, -last)), last);
}

/* To fp32 so that rounding that to fp16 is rounding x: toward zero, with a last bit that says whether anything is lost.
 */
static float narrowed(double x)
{
    float out = (float)x;
    if (x - x != 0.0 || (double)out == x)
        return out;
    if (fabs((double)out) > fabs(x))
        out = mw__float_of(mw__bits_of(out) - 1);
    return mw__float_of(mw__bits_of(out) | 1);
}

/* ---- the functions; NaN stays NaN ---- */

static double tanh_of(double v)
{
    const double a = fabs(v);
    return copysign(a < 4.0 ? LINE(tanh, a * 8.0) : 1.0, v);
}

static double exp_of(double v)
{
    const double z = half_of(v * 0x1.714p+0); /* fp16 of log2 e */
    const double whole = floor(z);
    if (!(fabs(z) < 1024.0))
        return z > 0.0 ? (double)INFINITY : 0.0;
    return ldexp(LINE(exp2, (z - whole) * 32.0), (int)whole);
}

static double log_of(double v)
{
    int exponent;
    const double mantissa = frexp(v, &exponent), table = half_of(LINE(log2, (mantissa - 0.5) * 64.0));
    return half_of(table + exponent) * 0x1.63p-1; /* fp16 of ln 2 */
}

static double inverse_of(double v)
{
    int exponent;
    const double mantissa = frexp(fabs(v), &exponent);
    return copysign(ldexp(LINE(inverse, (mantissa - 0.5) * 64.0), -exponent), v);
}

/* Behind the last knot a line of its own goes to 1. */
static double erf_of(double v)
{
    const double a = fabs(v), beyond = (double)m6_erf[32] + 0.0128 * (a - 2.0);
    return copysign(a < 2.0 ? LINE(erf, a * 16.0) : beyond < 1.0 ? beyond : 1.0, v);
}

#define TURN 6.2831427 /* what the chip takes for 2 pi: found by its error at the zeros of sin */

static double sin_of(double v)
{
    double place = fmod(fabs(v), TURN) / TURN * 128.0; /* knots; a quarter has 32 */
    const double sign = place < 64.0 ? 1.0 : -1.0;
    place = place < 64.0 ? place : place - 64.0;
    return copysign(1.0, v) * sign * LINE(sin, place < 32.0 ? place : 64.0 - place);
}

static double gelu_of(double v) { return v < -4.0 ? 0.0 : v > 4.0 ? v : LINE(gelu, (v + 4.0) * 4.0); }

/* Below the first knot a line goes to 0, which was seen at two places. */
static double silu_of(double v)
{
    if (v < -8.0)
        return v > -10.215 ? -0.001056 * (v + 10.215) : 0.0;
    return v > 8.0 ? v : LINE(silu, (v + 8.0) * 2.0);
}

/* ---- loops ---- */

#define LOOP(name, operand, special, value)                                                                            \
    static void name##_by_knots(float *out, const float *x, int64_t count, float p, float q)                           \
    {                                                                                                                  \
        (void)p, (void)q;                                                                                              \
        for (int64_t i = 0; i < count; i++) {                                                                          \
            const float v = (operand);                                                                                 \
            out[i] = (special) ? (value) : narrowed(name##_of((double)v));                                             \
        }                                                                                                              \
    }

#define WITH_EPSILON ((float)half_of((double)x[i] + (double)p))
#define POSITIVE     (v > 0.0f && v <= FLT_MAX)
LOOP(tanh, x[i], v != v, v)
LOOP(exp, x[i], v != v, v)
LOOP(log, WITH_EPSILON, !POSITIVE, v == 0.0f ? -45440.0f : v > 0.0f ? 0.0f : NAN)
LOOP(inverse, WITH_EPSILON, v - v != 0.0f || v == 0.0f, 1.0f / v)
LOOP(erf, x[i], v != v, v)
LOOP(sin, x[i], v - v != 0.0f, NAN)
LOOP(gelu, x[i], v - v != 0.0f, v < 0.0f ? 0.0f : v)
LOOP(silu, x[i], v - v != 0.0f, v < 0.0f ? 0.0f : v)

/* ---- roots, of which optimizers take one for each parameter: in fp32, where each line of fp16 numbers is exact ----
 */

/* v = m 2^e with e even and m in [1/2, 2): the line at m, and out_half = e / 2. v is positive and finite. */
MW__INLINE float root_line(const float *knots, float v, int32_t *out_half)
{
    enum { LAST = 23 };
    const uint32_t bits = mw__bits_of(v);
    const int32_t exponent = (int32_t)(bits >> 23) - 126, odd = exponent & 1;
    const float mantissa = mw__float_of((bits & 0x7fffffu) | (uint32_t)(126 + odd) << 23);
    const float place = (mantissa - 0.5f) * 16.0f;
    const int32_t segment = place < (float)LAST ? (int32_t)place : LAST;
    *out_half = (exponent - odd) / 2;
    return knots[segment] + (place - (float)segment) * (knots[segment + 1] - knots[segment]);
}

MW__INLINE float power_of(int32_t exponent) { return mw__float_of((uint32_t)(127 + exponent) << 23); }

MW__INLINE float sqrt_of(float v)
{
    int32_t half;
    const bool plain = v > 0.0f && v <= FLT_MAX;
    const float line = root_line(m6_sqrt, plain ? v : 1.0f, &half);
    return plain ? line * power_of(half) : v == 0.0f ? v : v > 0.0f ? v : NAN;
}

MW__INLINE float rsqrt_of(float v)
{
    int32_t half;
    const bool plain = v > 0.0f && v <= FLT_MAX;
    const float line = root_line(m6_rsqrt, plain ? v : 1.0f, &half);
    return plain ? line * power_of(-half) : v == 0.0f ? INFINITY : v > 0.0f ? 0.0f : NAN;
}

#define ROOTS(name, expression)                                                                                        \
    MW__LOOP1_BODY(name, expression)                                                                                   \
    MW__BASE_AVX2_AVX512(name, (float *out, const float *x, int64_t count, float p, float q), (out, x, count, p, q))
ROOTS(roots, sqrt_of(v))
ROOTS(inverse_roots, rsqrt_of(mw__round_to_half(mw__beyond_tie(v + p))))

/* ---- one row a table: by level ---- */

#define SAME(loop)                                                                                                     \
    {                                                                                                                  \
        loop, loop, loop                                                                                               \
    }

static const struct {
    mw__op_id op;
    mw__loop1 *at[3];
} rows[] = {
    {MW__OP_tanh, SAME(tanh_by_knots)},
    {MW__OP_exp, SAME(exp_by_knots)},
    {MW__OP_log, SAME(log_by_knots)},
    {MW__OP_sqrt, MW__BASE_AVX2_AVX512_LIST(roots)},
    {MW__OP_rsqrt, MW__BASE_AVX2_AVX512_LIST(inverse_roots)},
    {MW__OP_inverse, SAME(inverse_by_knots)},
    {MW__OP_erf, SAME(erf_by_knots)},
    {MW__OP_sin, SAME(sin_by_knots)},
    {MW__OP_gelu, SAME(gelu_by_knots)},
    {MW__OP_silu, SAME(silu_by_knots)},
};

mw__loop1 *mw__math_chip_table(mw__op_id op, mw__level level, mw__arithmetic on)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].op == op && (on & mw__arithmetic_knots(mw__rows[op].name)) != 0)
            return rows[i].at[level > MW__LEVEL_BASE ? level - MW__LEVEL_BASE : 0];
    return NULL;
}

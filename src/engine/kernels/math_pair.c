/* Functions of two operands: their loops over fp32 and int32 arrays and the table, one row an operation. A new function
 * is a line among the loops of each type and a row in the table. */
#include "engine/kernels/math.h"
#include "engine/kernels/math_scalar.h"

#include <math.h>

/* ---- fp32 ---- */

/* fmod is exact and has the sign of a. */
static inline float remainder_of(float a, float b)
{
    const float rest = fmodf(a, b);
    return rest != 0.0f && (rest < 0.0f) != (b < 0.0f) ? rest + b : rest;
}

#define LOOP2(name, expression)                                                                                        \
    MW__INLINE void name##_body(float *out, const float *x, const float *y, int64_t count)                             \
    {                                                                                                                  \
        MW__VECTORIZE for (int64_t i = 0; i < count; i++)                                                              \
        {                                                                                                              \
            const float a = x[i], b = y[i];                                                                            \
            out[i] = (expression);                                                                                     \
        }                                                                                                              \
    }                                                                                                                  \
    MW__BASE_AVX2(name, (float *out, const float *x, const float *y, int64_t count), (out, x, y, count))

LOOP2(loop_add, mw__scalar_add(a, b))
LOOP2(loop_sub, mw__scalar_sub(a, b))
LOOP2(loop_mul, mw__scalar_mul(a, b))
LOOP2(loop_real_div, mw__scalar_real_div(a, b))
LOOP2(loop_floor_div, floorf(a / b))
LOOP2(loop_mod, remainder_of(a, b))
LOOP2(loop_maximum, mw__scalar_maximum(a, b))
LOOP2(loop_minimum, mw__scalar_minimum(a, b))

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

/* ---- integers: addition, subtraction and product wrap around; x / 0 is 0, INT_MIN / -1 is INT_MIN ---- */

static int32_t quotient_of(int32_t a, int32_t b)
{
    if (b == 0)
        return 0;
    return b == -1 ? (int32_t)(0u - (uint32_t)a) : a / b;
}

static int32_t floor_quotient_of(int32_t a, int32_t b)
{
    const int32_t quotient = quotient_of(a, b);
    return b != 0 && b != -1 && a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

/* x^y with wrap-around; a negative exponent truncates 1 / x^-y, and 0 to one is 0. */
static int32_t power_of(int32_t a, int32_t b)
{
    if (b < 0)
        return a == 1 ? 1 : a == -1 ? (b % 2 == 0 ? 1 : -1) : 0;
    uint32_t result = 1, base = (uint32_t)a;
    for (; b > 0; b /= 2, base *= base)
        result *= b % 2 != 0 ? base : 1;
    return (int32_t)result;
}

#define INT2(name, expression)                                                                                         \
    static void name(int32_t *out, const int32_t *x, const int32_t *y, int64_t count)                                  \
    {                                                                                                                  \
        MW__VECTORIZE for (int64_t i = 0; i < count; i++)                                                              \
        {                                                                                                              \
            const int32_t a = x[i], b = y[i];                                                                          \
            out[i] = (expression);                                                                                     \
        }                                                                                                              \
    }

INT2(int_add, (int32_t)((uint32_t)a + (uint32_t)b))
INT2(int_sub, (int32_t)((uint32_t)a - (uint32_t)b))
INT2(int_mul, (int32_t)((uint32_t)a *(uint32_t)b))
INT2(int_real_div, quotient_of(a, b))
INT2(int_floor_div, floor_quotient_of(a, b))
INT2(int_mod, (int32_t)((uint32_t)a - (uint32_t)floor_quotient_of(a, b) * (uint32_t)b))
INT2(int_maximum, a > b ? a : b)
INT2(int_minimum, a < b ? a : b)
INT2(int_pow, power_of(a, b))

/* ---- the table ---- */

#define BOTH(name) .at = MW__LOOPS_SAME(loop_##name), .integers = int_##name

static const mw__function2 functions[MW__OP_COUNT] = {
    [MW__OP_add] = {BOTH(add), .additions = 1},
    [MW__OP_sub] = {BOTH(sub), .additions = 1},
    [MW__OP_mul] = {BOTH(mul), .additions = 1},
    [MW__OP_real_div] = {BOTH(real_div), .additions = 1},
    [MW__OP_floor_div] = {BOTH(floor_div), .additions = 1},
    [MW__OP_mod] = {BOTH(mod), .additions = 20},
    [MW__OP_maximum] = {BOTH(maximum), .additions = 1},
    [MW__OP_minimum] = {BOTH(minimum), .additions = 1},
    [MW__OP_pow] = {.at = {ref_pow, loop_pow, loop_pow, loop_pow}, .integers = int_pow, .additions = 40},
};

const mw__function2 *mw__function2_find(mw__op_id op) { return functions[op].additions != 0.0 ? &functions[op] : NULL; }

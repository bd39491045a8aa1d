/* Functions of two operands: their loops over fp32 and int32 arrays and the table, one row an operation. A new function
 * is a line among the loops of each type and a row in the table. */
#include "engine/kernels/math/math.h"
#include "engine/kernels/math/math_scalar.h"
#include "engine/kernels/math/math_wide.h"

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
    MW__BASE_AVX2_AVX512(name, (float *out, const float *x, const float *y, int64_t count), (out, x, y, count))

LOOP2(loop_add, mw__scalar_add(a, b))
LOOP2(loop_sub, mw__scalar_sub(a, b))
LOOP2(loop_mul, mw__scalar_mul(a, b))
LOOP2(loop_real_div, mw__scalar_real_div(a, b))
LOOP2(loop_floor_div, floorf(a / b))
LOOP2(loop_maximum, mw__scalar_maximum(a, b))
LOOP2(loop_minimum, mw__scalar_minimum(a, b))

#define REF2(name, expression)                                                                                         \
    static void name(float *out, const float *x, const float *y, int64_t count)                                        \
    {                                                                                                                  \
        for (int64_t i = 0; i < count; i++) {                                                                          \
            const float a = x[i], b = y[i];                                                                            \
            out[i] = (expression);                                                                                     \
        }                                                                                                              \
    }

REF2(ref_mod, remainder_of(a, b))
REF2(ref_pow, powf(a, b)) /* libm's takes a negative base with an integral exponent, as MIL asks */

#define STRETCH 64

/* Both ways are exact up to one rounding: a stretch without large quotients is computed as a whole. */
MW__INLINE void loop_mod_body(float *out, const float *x, const float *y, int64_t count)
{
    for (int64_t at = 0; at < count; at += STRETCH) {
        const int64_t end = at + STRETCH < count ? at + STRETCH : count;
        int32_t far = 0;
        for (int64_t i = at; i < end; i++)
            far |= !mw__mod_is_near(x[i], y[i]);
        if (far == 0) {
            MW__VECTORIZE for (int64_t i = at; i < end; i++) out[i] = mw__mod_near(x[i], y[i]);
        } else {
            for (int64_t i = at; i < end; i++)
                out[i] = remainder_of(x[i], y[i]);
        }
    }
}
MW__BASE_AVX2_AVX512(loop_mod, (float *out, const float *x, const float *y, int64_t count), (out, x, y, count))

static bool all_are(const float *y, int64_t count, float value)
{
    int32_t other = 0;
    for (int64_t i = 0; i < count; i++)
        other |= y[i] != value;
    return other == 0;
}

MW__INLINE void loop_pow_body(float *out, const float *x, const float *y, int64_t count)
{
    if (all_are(y, count, 2.0f)) {
        MW__VECTORIZE for (int64_t i = 0; i < count; i++) out[i] = x[i] * x[i];
    } else if (all_are(y, count, 3.0f)) {
        MW__VECTORIZE for (int64_t i = 0; i < count; i++) out[i] = x[i] * x[i] * x[i];
    } else {
        MW__VECTORIZE for (int64_t i = 0; i < count; i++)
        {
            const float a = x[i], b = y[i];
            out[i] = mw__pow_of(a, b);
        }
    }
}
MW__BASE_AVX2_AVX512(loop_pow, (float *out, const float *x, const float *y, int64_t count), (out, x, y, count))

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
#if defined(__x86_64__)
#define WIDE(name)                                                                                                     \
    .at = {ref_##name, loop_##name##_base, loop_##name##_avx2, loop_##name##_avx512}, .integers = int_##name
#else
#define WIDE(name)                                                                                                     \
    .at = {ref_##name, loop_##name##_base, loop_##name##_base, loop_##name##_base}, .integers = int_##name
#endif

static const mw__function2 functions[MW__OP_COUNT] = {
    [MW__OP_add] = {BOTH(add), .additions = 1},
    [MW__OP_sub] = {BOTH(sub), .additions = 1},
    [MW__OP_mul] = {BOTH(mul), .additions = 1},
    [MW__OP_real_div] = {BOTH(real_div), .additions = 1},
    [MW__OP_floor_div] = {BOTH(floor_div), .additions = 1},
    [MW__OP_mod] = {WIDE(mod), .additions = 50},
    [MW__OP_maximum] = {BOTH(maximum), .additions = 1},
    [MW__OP_minimum] = {BOTH(minimum), .additions = 1},
    [MW__OP_pow] = {WIDE(pow), .additions = 160},
};

const mw__function2 *mw__function2_find(mw__op_id op) { return functions[op].additions != 0.0 ? &functions[op] : NULL; }

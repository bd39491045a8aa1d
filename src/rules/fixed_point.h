/* Fixed-point products and sums (arithmetic.def, product_fixed_point, product_drops), one after the other: units of
 * 2^-16 in doubles, which hold every partial sum, so that what passes the ceiling is infinite and stays so by itself.
 */
#ifndef MW__RULES_FIXED_POINT_H
#define MW__RULES_FIXED_POINT_H

#include "base/number/bits.h"

#include <math.h>
#include <stdbool.h>

#define MW__FIXED_UNIT    0x1p-16f
#define MW__FIXED_CEILING 32768.0f

/* An operand whose exponent is the largest as the chip takes it: a number. inf is 65536, and what would be NaN lies
 * above it, with its quiet bit set, as the host has set it where the chip was measured. Others stay. */
static inline float mw__q16_operand(float x)
{
    const uint32_t bits = mw__bits_of(x);
    const bool last = (bits & 0x7f800000u) == 0x7f800000u;
    return last ? mw__float_of((bits & 0x807fe000u) | 0x47800000u | (x != x ? 0x00400000u : 0u)) : x;
}

/* 2^e; subnormal fp16 numbers count as those of the smallest exponent. */
static inline float mw__q16_power(float x)
{
    const uint32_t exponent = mw__bits_of(x) & 0x7f800000u;
    return exponent < 0x38800000u ? 0x1p-14f : mw__float_of(exponent);
}

/* To units, halves away from zero; x has 22 bits at most. */
static inline double mw__q16_units(double x)
{
    const double units = x * 65536.0;
    return trunc(units + copysign(0.5, units));
}

/* The product of two fp16 numbers in units; drops: 0 for exponents that sum to -17 and less. */
static inline double mw__q16_product(float x, float y, bool drops)
{
    const double units = mw__q16_units((double)x * (double)y);
    return drops && mw__q16_power(x) * mw__q16_power(y) < 0x1p-16f ? 0.0 : units;
}

/* A sum begins with 0 and its bias, which is added like a product. */
static inline double mw__q16_add(double sum, double units)
{
    const double next = sum + units;
    return fabs(next) >= (double)MW__FIXED_CEILING * 65536.0 ? copysign((double)INFINITY, next) : next;
}

/* Units as a number that rounds to the same fp16: of more than 24 bits what is below the eighth becomes one bit, as a
 * tie is decided by whether there is anything. */
static inline float mw__q16_number(int32_t units)
{
    const int32_t rest = units & 0xff, sticky = (units & ~0xff) | (rest != 0 ? 0x80 : 0);
    const bool exact = units > -(1 << 24) && units < 1 << 24;
    return (float)(exact ? units : sticky) * MW__FIXED_UNIT;
}

static inline float mw__q16_sum(double sum) { return isinf(sum) ? (float)sum : mw__q16_number((int32_t)sum); }

#endif

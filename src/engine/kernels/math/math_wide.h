/* Functions of one or two fp32 numbers that are computed in double and rounded once: sin, cos, tan, pow and mod. What
 * is said in math_scalar.h holds here too; each result is within 0.51 ulp (tan 1.51, mod exact, pow 1 where it is a
 * product). */
#ifndef MW__ENGINE_KERNELS_MATH_WIDE_H
#define MW__ENGINE_KERNELS_MATH_WIDE_H

#include "base/number/bits.h"
#include "engine/core/kernel.h"

#include <float.h>
#include <math.h>

/* Adding it leaves an integer in the low bits. */
#define MW__ROUNDER 0x1.8p52

/* ---- sin, cos, tan ---- */

/* An angle as quarter turns and what is left, at most pi/4 in size. */
typedef struct mw__turned {
    uint64_t quarters; /* modulo 4 */
    double rest;
} mw__turned;

/* Angles from here on, infinity and NaN: the product of quarters and MW__QUARTER_HIGH is no longer exact. */
#define MW__FAR_ANGLE 0x49800000u /* 2^20 */

/* pi/2 in two parts; the first has 31 bits. */
#define MW__QUARTER_HIGH 0x1.921fb544p+0
#define MW__QUARTER_LOW  0x1.0b4611a626331p-34

MW__INLINE bool mw__angle_is_far(float x) { return (mw__bits_of(x) & 0x7fffffffu) >= MW__FAR_ANGLE; }

MW__INLINE mw__turned mw__turn_near(float x)
{
    const double shifted = (double)x * 0x1.45f306dc9c883p-1 + MW__ROUNDER, n = shifted - MW__ROUNDER;
    return (mw__turned){mw__bits64_of(shifted) & 3, ((double)x - n * MW__QUARTER_HIGH) - n * MW__QUARTER_LOW};
}

/* Of the product with 2/pi only bits from the quarter turns on are computed, 94 behind the point. No
 * fp32 number is nearer to a multiple of pi/2 than 2^-31, so that enough of them are left. */
MW__INLINE mw__turned mw__turn_far(float x)
{
    /* 2/pi, after a word of zeros */
    static const uint32_t part[] = {0,          0xa2f9836e, 0x4e441529, 0xfc2757d1,
                                    0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab};
    const uint32_t bits = mw__bits_of(x), magnitude = bits & 0x7fffffffu;
    if (magnitude >= 0x7f800000u)
        return (mw__turned){0, NAN};
    const uint64_t m = (magnitude & 0x7fffffu) | 0x800000u;
    const uint32_t first = (magnitude >> 23) - 120; /* of x = m 2^(exponent - 150); bits before it make whole turns */
    const uint32_t word = first / 32, shift = first % 32;
    uint32_t window[3];
    for (uint32_t i = 0; i < 3; i++)
        window[i] = (uint32_t)((((uint64_t)part[word + i] << 32 | part[word + i + 1]) << shift) >> 32);
    const uint64_t low = m * window[2] >> 32, product = ((m * window[0]) << 32) + m * window[1] + low;
    const uint64_t quarters = (product + ((uint64_t)1 << 61)) >> 62;
    const double rest = (double)(int64_t)(product - (quarters << 62)) * (0x1p-62 * 1.5707963267948966);
    const bool back = bits >> 31 != 0;
    return (mw__turned){(back ? 0 - quarters : quarters) & 3, back ? -rest : rest};
}

/* sin and cos over |r| <= pi/4, minimax; the first keeps the sign of 0. */
MW__INLINE double mw__sin_near(double r)
{
    const double z = r * r;
    return r * (1.0 + z * (-1.6666666640776154e-1 +
                           z * (8.3333293024102758e-3 + z * (-1.9839311483651908e-4 + z * 2.7181141039421673e-6))));
}

MW__INLINE double mw__cos_near(double r)
{
    const double z = r * r;
    return 1.0 + z * (-4.9999999999544678e-1 +
                      z * (4.1666666562000861e-2 +
                           z * (-1.3888881074391961e-3 + z * (2.4799040092685031e-5 + z * -2.7180030382337794e-7))));
}

MW__INLINE float mw__sin_turned(mw__turned turned)
{
    const uint64_t q = turned.quarters;
    const double s = mw__sin_near(turned.rest), c = mw__cos_near(turned.rest), v = (q & 1) != 0 ? c : s;
    return (float)((q & 2) != 0 ? -v : v);
}

MW__INLINE float mw__cos_turned(mw__turned turned)
{
    return mw__sin_turned((mw__turned){turned.quarters + 1, turned.rest});
}

MW__INLINE float mw__tan_turned(mw__turned turned)
{
    const float s = (float)mw__sin_near(turned.rest), c = (float)mw__cos_near(turned.rest);
    const bool odd = (turned.quarters & 1) != 0;
    return (odd ? -c : s) / (odd ? s : c);
}

/* ---- pow ---- */

/* log2 of a finite number above 0: 2^e m, m in [sqrt(1/2), sqrt(2)), by 2 artanh((m - 1) / (m + 1)) / ln 2. */
MW__INLINE double mw__log2_wide(double x)
{
    const uint64_t bits = mw__bits64_of(x), root = 0x3fe6a09e667f3bcdu;
    const uint64_t raised = (bits - root + ((uint64_t)1024 << 52)) >> 52; /* the exponent + 1024 */
    const double e = mw__double_of(raised | 0x4330000000000000u) - (0x1p52 + 1024.0);
    const double m = mw__double_of(bits - ((raised - 1024) << 52)), s = (m - 1.0) / (m + 1.0), z = s * s;
    const double z2 = z * z; /* in pairs, as one chain would take longer than all else */
    const double low = 2.8853900817779273 + 9.6179669392431752e-1 * z;
    const double middle = 5.7707801725314917e-1 + 4.1219840105048085e-1 * z;
    const double high = (3.2061645409122682e-1 + 2.6144224018135447e-1 * z) + 2.4293903154039384e-1 * z2;
    const double p = low + z2 * (middle + z2 * high);
    return e + s * p;
}

/* 2^x for |x| below 1000. */
MW__INLINE double mw__exp2_wide(double x)
{
    const double shifted = x + MW__ROUNDER, r = x - (shifted - MW__ROUNDER);
    const double r2 = r * r;
    const double low =
        (6.9314718055855056e-1 + 2.402265069581371e-1 * r) + r2 * (5.5504108739711809e-2 + 9.6181291591715565e-3 * r);
    const double high = (1.333354733150314e-3 + 1.5403456037120429e-4 * r) +
                        r2 * ((1.5258493048232407e-5 + 1.3255182697312086e-6 * r) + 9.168121593205109e-8 * r2);
    const double p = low + r2 * r2 * high; /* (2^r - 1) / r */
    return (1.0 + r * p) * mw__double_of((mw__bits64_of(shifted) << 52) + ((uint64_t)1023 << 52));
}

/* fp32 from 2^23 on is whole, and even from 2^24 on. */
MW__INLINE bool mw__is_whole(float size) { return (size >= 0x1p23f) | ((size + 0x1p23f) - 0x1p23f == size); }

/* The sign bit for an odd whole number, else 0. */
MW__INLINE uint32_t mw__sign_if_odd(float size)
{
    const uint32_t bits = mw__bits_of(size < 0x1p23f ? size + 0x1p23f : size);
    return (mw__is_whole(size) & (size < 0x1p24f)) ? bits << 31 : 0;
}

/* x^y for x >= 0 */
MW__INLINE double mw__power_wide(double x, double y)
{
    double log = mw__log2_wide(x);
    log = x == 0.0 ? -1e300 : log;
    log = x > (double)FLT_MAX ? 1e300 : log;
    double z = y * log;
    z = z < -200.0 ? -200.0 : z;
    z = z > 200.0 ? 200.0 : z;
    return mw__exp2_wide(z);
}

/* x^y as C has it. Squares, cubes and reciprocals are products, whatever stands beside them. */
MW__INLINE float mw__pow_of(float x, float y)
{
    const float size = fabsf(x), exponent = fabsf(y);
    const float power = (float)mw__power_wide((double)size, (double)y);
    float result = mw__float_of(mw__bits_of(power) ^ (mw__bits_of(x) & mw__sign_if_odd(exponent)));
    const bool whole = mw__is_whole(exponent);
    result = ((x < 0.0f) & (x >= -FLT_MAX) & !whole) ? NAN : result;
    result = ((x != x) | (y != y)) ? NAN : result;
    result = ((y == 0.0f) | (x == 1.0f) | ((x == -1.0f) & (exponent > FLT_MAX))) ? 1.0f : result;
    const float square = x * x, cube = square * x, inverse = 1.0f / x;
    result = y == 2.0f ? square : result;
    result = y == 3.0f ? cube : result;
    return y == -1.0f ? inverse : result;
}

/* ---- mod ---- */

/* True where the quotient is below 2^27, so that its product with b is exact in double. */
MW__INLINE bool mw__mod_is_near(float a, float b)
{
    return (fabs((double)a) < 0x1p27 * fabs((double)b)) & (fabsf(b) < INFINITY);
}

/* a - b floor(a / b), rounded once; 0 has the sign of a. The quotient may be one off: what is left is exact. */
MW__INLINE float mw__mod_near(float a, float b)
{
    const double x = (double)a, y = (double)b, quotient = x / y;
    const double whole = (quotient + MW__ROUNDER) - MW__ROUNDER;
    double rest = x - whole * y;
    rest += ((rest != 0.0) & ((rest < 0.0) != (y < 0.0))) ? y : 0.0;
    return rest == 0.0 ? copysignf(0.0f, a) : (float)rest;
}

#endif

/* A standard normal number of two words, by Box and Muller, written out in double precision: no call of the C library
 * and no branch, so that loops over many become vectors, and the same bits on every system. Logarithm and cosine are
 * within 1e-15 of the true ones, of themselves; a float is the nearest to the true number but for one in 10^7. */
#ifndef MW__BASE_NUMBER_NORMAL_H
#define MW__BASE_NUMBER_NORMAL_H

#include "base/number/bits.h"

#include <math.h>

#define MW__NORMAL_INLINE static inline __attribute__((always_inline))

/* Exact; of a signed number, as vectors have no conversion of unsigned ones. */
MW__NORMAL_INLINE double mw__widened(uint32_t word) { return (double)(int32_t)(word ^ 0x80000000u) + 0x1p31; }

/* log x of a normal x > 0: x = m 2^e with m in [sqrt 1/2, sqrt 2), log m = 2 artanh s with s = (m - 1) / (m + 1), by
 * its series up to s^21. */
MW__NORMAL_INLINE double mw__normal_log(double x)
{
    const uint64_t bits = mw__bits64_of(x);
    double e =
        mw__double_of(bits >> 52 | 0x4330000000000000) - (0x1p52 + 1023.0); /* the exponent as the bits of 2^52 */
    double m = mw__double_of((bits & 0x000fffffffffffff) | 0x3ff0000000000000);
    const double high = m > 1.4142135623730951 ? 1.0 : 0.0;
    m = m * (1.0 - 0.5 * high);
    e = e + high;
    const double s = (m - 1.0) / (m + 1.0), z = s * s;
    double sum = 1.0 / 21.0;
    sum = sum * z + 1.0 / 19.0;
    sum = sum * z + 1.0 / 17.0;
    sum = sum * z + 1.0 / 15.0;
    sum = sum * z + 1.0 / 13.0;
    sum = sum * z + 1.0 / 11.0;
    sum = sum * z + 1.0 / 9.0;
    sum = sum * z + 1.0 / 7.0;
    sum = sum * z + 1.0 / 5.0;
    sum = sum * z + 1.0 / 3.0;
    return e * 0.69314718055994531 + (2.0 * s + 2.0 * s * z * sum);
}

/* cos of word 2^-32 turns: quarters q and a rest within an eighth, exactly, then the series of cos or sin. */
MW__NORMAL_INLINE double mw__cos_turns(uint32_t word)
{
    const uint32_t q = (word + 0x20000000u) >> 30; /* the nearest quarter; the last eighth overflows to quarter 0 */
    const double a = (double)(int32_t)(word - (q << 30)) * (6.2831853071795865 * 0x1p-32), z = a * a;
    double c = 1.0 / 20922789888000.0;
    c = c * z - 1.0 / 87178291200.0;
    c = c * z + 1.0 / 479001600.0;
    c = c * z - 1.0 / 3628800.0;
    c = c * z + 1.0 / 40320.0;
    c = c * z - 1.0 / 720.0;
    c = c * z + 1.0 / 24.0;
    c = c * z * z - 0.5 * z + 1.0;
    double s = 1.0 / 355687428096000.0;
    s = s * z - 1.0 / 1307674368000.0;
    s = s * z + 1.0 / 6227020800.0;
    s = s * z - 1.0 / 39916800.0;
    s = s * z + 1.0 / 362880.0;
    s = s * z - 1.0 / 5040.0;
    s = s * z + 1.0 / 120.0;
    s = s * z - 1.0 / 6.0;
    s = s * z * a + a;
    const double size = (q & 1) != 0 ? s : c, sign = ((q + 1) & 2) != 0 ? -1.0 : 1.0;
    return sign * size;
}

MW__NORMAL_INLINE double mw__normal_of(uint32_t first, uint32_t second)
{
    const double radius = (mw__widened(first) + 1.0) * 0x1p-32; /* (0, 1] */
    return sqrt(-2.0 * mw__normal_log(radius)) * mw__cos_turns(second);
}

#endif

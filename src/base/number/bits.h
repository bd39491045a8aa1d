/* The bits of a float or double, without aliasing rules in the way; the bits of an integer. */
#ifndef MW__BASE_NUMBER_BITS_H
#define MW__BASE_NUMBER_BITS_H

#include <stdint.h>
#include <string.h>

static inline uint32_t mw__bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float mw__float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The number of bits up to the highest that is set; 0 for 0. */
static inline int mw__bit_length(uint64_t value)
{
    int length = 0;
    for (; value != 0; value >>= 1)
        length++;
    return length;
}

/* The lowest `bits` of a value as a signed number in two's complement. */
static inline int64_t mw__bits_sign_extend(uint64_t value, int bits)
{
    const uint64_t top = (uint64_t)1 << (bits - 1);
    return (int64_t)((value ^ top) - top);
}

static inline uint64_t mw__bits64_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double mw__double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#endif

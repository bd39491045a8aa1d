/* The bits of a float or double, without aliasing rules in the way. */
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

/* Unsigned integers of files, the lowest byte first, at any address. */
#ifndef MW__BASE_NUMBER_BYTES_H
#define MW__BASE_NUMBER_BYTES_H

#include <stdint.h>

static inline uint16_t mw__bytes_u16(const unsigned char *at) { return (uint16_t)(at[0] | at[1] << 8); }

static inline uint32_t mw__bytes_u32(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static inline uint64_t mw__bytes_u64(const unsigned char *at)
{
    return (uint64_t)mw__bytes_u32(at) | (uint64_t)mw__bytes_u32(at + 4) << 32;
}

#endif

/* Copies of few words, in blocks of a constant size, of which the last one may take some of the one before again:
 * compilers call functions for other loops, or have vectors that are longer than a row. */
#ifndef MW__ENGINE_KERNELS_INT8_INT8_COPY_H
#define MW__ENGINE_KERNELS_INT8_INT8_COPY_H

#include "engine/core/kernel.h"

#include <string.h>

MW__INLINE void mw__int8_copy_block(const uint32_t *x, const int64_t stride, const int size, uint32_t *out)
{
    if (stride == 1) {
        memcpy(out, x, (size_t)size * sizeof *x);
        return;
    }
    MW__VECTORIZE
    for (int i = 0; i < size; i++)
        out[i] = x[i * stride];
}

MW__INLINE void mw__int8_copy_blocks(const uint32_t *x, const int64_t stride, int64_t count, const int size,
                                     uint32_t *out)
{
    for (int64_t at = 0; at + size <= count; at += size)
        mw__int8_copy_block(x + at * stride, stride, size, out + at);
    if (count % size != 0)
        mw__int8_copy_block(x + (count - size) * stride, stride, size, out + count - size);
}

/* out[i] = x[i stride]; `stride` is a constant where this is inlined. */
MW__INLINE void mw__int8_copy(const uint32_t *x, const int64_t stride, int64_t count, uint32_t *out)
{
    if (count >= 16)
        mw__int8_copy_blocks(x, stride, count, 16, out);
    else if (count >= 8)
        mw__int8_copy_blocks(x, stride, count, 8, out);
    else if (count >= 4)
        mw__int8_copy_blocks(x, stride, count, 4, out);
    else
        mw__int8_copy_blocks(x, stride, count, 1, out);
}

#endif

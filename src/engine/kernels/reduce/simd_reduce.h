/* Sums and extremes of contiguous fp32 in 16 interleaved partial results, combined in pairs: vector code with one fixed
 * order. Inlined into functions that are compiled once a width. */
#ifndef MW__ENGINE_KERNELS_REDUCE_SIMD_REDUCE_H
#define MW__ENGINE_KERNELS_REDUCE_SIMD_REDUCE_H

#include "base/number/bits.h"
#include "engine/core/kernel.h"

#include <math.h>
#include <string.h>

#define MW__PARTIALS 16

typedef float mw__lanes_f32 __attribute__((vector_size(16), aligned(4), may_alias));
typedef int32_t mw__lanes_i32 __attribute__((vector_size(16), aligned(4), may_alias));
#define MW__QUADS (MW__PARTIALS / 4)

MW__INLINE float mw__lanes_sum(const float *x, int64_t count)
{
    mw__lanes_f32 quad[MW__QUADS] = {{0}};
    float part[MW__PARTIALS];
    int64_t i = 0;
    for (; i + MW__PARTIALS <= count; i += MW__PARTIALS)
        for (int k = 0; k < MW__QUADS; k++)
            quad[k] += *(const mw__lanes_f32 *)(x + i + 4 * k);
    if (i < count) {
        memcpy(part, quad, sizeof part);
        for (int lane = 0; i < count; i++, lane++)
            part[lane] += x[i];
        memcpy(quad, part, sizeof quad);
    }
    const mw__lanes_f32 four = (quad[0] + quad[2]) + (quad[1] + quad[3]);
    return (four[0] + four[2]) + (four[1] + four[3]);
}

MW__INLINE bool mw__all_finite(const float *x, int64_t count)
{
    bool all = true;
    for (int64_t i = 0; i < count; i++)
        all &= (mw__bits_of(x[i]) & 0x7f800000u) != 0x7f800000u;
    return all;
}

/* Compilers do not make vectors of a choice between elements of arrays: four lanes are what every instruction set has.
 *
 * A NaN among the elements is the result: it is looked for beside the comparisons, which then need no care. */
#define MW__LANES_MOST(name, start, operator)                                                                          \
    MW__INLINE float name(const float *x, int64_t count)                                                               \
    {                                                                                                                  \
        mw__lanes_f32 most[MW__QUADS];                                                                                 \
        mw__lanes_i32 bad[MW__QUADS];                                                                                  \
        float part[MW__PARTIALS];                                                                                      \
        int32_t nan[MW__PARTIALS];                                                                                     \
        for (int quad = 0; quad < MW__QUADS; quad++)                                                                   \
            most[quad] = (mw__lanes_f32){start, start, start, start}, bad[quad] = (mw__lanes_i32){0};                  \
        int64_t i = 0;                                                                                                 \
        for (; i + MW__PARTIALS <= count; i += MW__PARTIALS)                                                           \
            for (int quad = 0; quad < MW__QUADS; quad++) {                                                             \
                const mw__lanes_f32 v = *(const mw__lanes_f32 *)(x + i + 4 * quad);                                    \
                const mw__lanes_i32 take = v operator most[quad];                                                      \
                most[quad] = (mw__lanes_f32)((take & (mw__lanes_i32)v) | (~take & (mw__lanes_i32)most[quad]));         \
                bad[quad] |= v != v;                                                                                   \
            }                                                                                                          \
        memcpy(part, most, sizeof part);                                                                               \
        memcpy(nan, bad, sizeof nan);                                                                                  \
        for (; i < count; i++) {                                                                                       \
            part[0] = x[i] operator part[0] ? x[i] : part[0];                                                          \
            nan[0] |= x[i] != x[i];                                                                                    \
        }                                                                                                              \
        for (int half = MW__PARTIALS / 2; half > 0; half /= 2)                                                         \
            for (int lane = 0; lane < half; lane++) {                                                                  \
                part[lane] = part[lane + half] operator part[lane] ? part[lane + half] : part[lane];                   \
                nan[lane] |= nan[lane + half];                                                                         \
            }                                                                                                          \
        return nan[0] != 0 ? NAN : part[0];                                                                            \
    }

MW__LANES_MOST(mw__lanes_max, -INFINITY, >)
MW__LANES_MOST(mw__lanes_min, INFINITY, <)

/* The larger or smaller of two; NaN propagates. */
MW__INLINE float mw__larger(float a, float b) { return ((a > b) | (a != a)) ? a : b; }
MW__INLINE float mw__smaller(float a, float b) { return ((a < b) | (a != a)) ? a : b; }

#endif

/* Depthwise planes where they lie, with AVX2: kernel_conv_packed.h says what of them is read. */
#include "engine/kernels/conv/kernel_conv_packed.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <string.h>

#define LANES 8
#define DOTS  9 /* taps at once, at most */
#define AHEAD                                                                                                          \
    1024 /* floats, a page: each plane begins a new one, of which some processors fetch nothing by themselves */
#define UNROLL _Pragma("GCC unroll 16")
#define AVX2   __attribute__((target("avx2,fma")))
#define INSIDE MW__INLINE AVX2

/* A load looks at the highest bit of a lane. */
INSIDE __m256i spread(uint16_t mask)
{
    return _mm256_sllv_epi32(_mm256_set1_epi16((short)mask), _mm256_setr_epi32(31, 30, 29, 28, 27, 26, 25, 24));
}

/* What a vector reads under a tap, perhaps from outside of x: masked lanes are not touched. */
INSIDE __m256 flat_lanes(const float *x, int64_t at, uint16_t mask)
{
    return _mm256_maskload_ps((const float *)((uintptr_t)x + (uintptr_t)(at * (int64_t)sizeof *x)), spread(mask));
}

/* Lanes that lie before `left`. */
static uint16_t there(int64_t left) { return left < LANES ? (uint16_t)((1u << left) - 1) : 0xff; }

/* Whether four masks have all their lanes: most taps of a plane's middle. */
MW__INLINE bool is_inside(const uint16_t *mask)
{
    uint64_t four;
    memcpy(&four, mask, sizeof four);
    return four == UINT64_C(0x00ff00ff00ff00ff);
}

/* `vectors`, a constant where this is inlined, from `first` on, of `all` */
INSIDE void flat_taps_body(const int vectors, const mw__packed_flat *flat, int64_t first, int64_t all,
                           const float *weight, const float *x, float bias, float *y)
{
    __m256 sum[4];
    const uint16_t *mask = flat->mask + first;
    UNROLL for (int v = 0; v < vectors; v++) sum[v] = _mm256_setzero_ps();
    for (int64_t t = 0; t < flat->taps; t++, mask += all) {
        const __m256 w = _mm256_set1_ps(weight[t]);
        const int64_t at = flat->at[t] + first * LANES;
        if (vectors == 4 && is_inside(mask))
            UNROLL for (int v = 0; v < vectors; v++) sum[v] =
                _mm256_fmadd_ps(w, _mm256_loadu_ps(x + at + v * LANES), sum[v]);
        else
            UNROLL for (int v = 0; v < vectors; v++) sum[v] =
                _mm256_fmadd_ps(w, flat_lanes(x, at + v * LANES, mask[v]), sum[v]);
    }
    const int64_t left = flat->count - first * LANES;
    UNROLL for (int v = 0; v < vectors; v++) mw__kernel_prefetch(x, ((first + v) * LANES + AHEAD) * (int64_t)sizeof *x);
    UNROLL for (int v = 0; v < vectors; v++) mw__kernel_prefetch(y, ((first + v) * LANES + AHEAD) * (int64_t)sizeof *y);
    UNROLL for (int v = 0; v < vectors; v++) _mm256_maskstore_ps(
        y + (first + v) * LANES, spread(there(left - v * LANES)), _mm256_add_ps(sum[v], _mm256_set1_ps(bias)));
}

AVX2 void mw__packed_flat_taps_avx2(const mw__packed_flat *flat, const float *weight, const float *x, float bias,
                                    float *y)
{
    const int64_t all = (flat->count + LANES - 1) / LANES;
    int64_t v = 0;
    for (; v + 4 <= all; v += 4)
        flat_taps_body(4, flat, v, all, weight, x, bias, y);
    for (; v < all; v++)
        flat_taps_body(1, flat, v, all, weight, x, bias, y);
}

/* taps, from `first` on, is a constant where this is inlined */
INSIDE void flat_dots_body(const int taps, const mw__packed_flat *flat, int64_t first, const float *x, const float *dy,
                           const mw__packed_next *next, float *sums)
{
    const int64_t all = (flat->count + LANES - 1) / LANES;
    const uint16_t *mask = flat->mask + first * all;
    __m256 sum[DOTS];
    sums += first * LANES;
    UNROLL for (int t = 0; t < taps; t++) sum[t] = _mm256_loadu_ps(sums + t * LANES);
    for (int64_t v = 0; v < all; v++) {
        const __m256 d = flat_lanes(dy, v * LANES, there(flat->count - v * LANES));
        mw__kernel_prefetch(next->x, v * LANES * (int64_t)sizeof *x);
        mw__kernel_prefetch(next->dy, v * LANES * (int64_t)sizeof *dy);
        UNROLL for (int t = 0; t < taps; t++) sum[t] =
            _mm256_fmadd_ps(d, flat_lanes(x, flat->at[first + t] + v * LANES, mask[t * all + v]), sum[t]);
    }
    UNROLL for (int t = 0; t < taps; t++) _mm256_storeu_ps(sums + t * LANES, sum[t]);
}

AVX2 void mw__packed_flat_dots_avx2(const mw__packed_flat *flat, const float *x, const float *dy,
                                    const mw__packed_next *next, float *sums)
{
    int64_t t = 0;
    for (; t + 9 <= flat->taps; t += 9)
        flat_dots_body(9, flat, t, x, dy, next, sums);
    for (; t + 3 <= flat->taps; t += 3)
        flat_dots_body(3, flat, t, x, dy, next, sums);
    for (; t < flat->taps; t++)
        flat_dots_body(1, flat, t, x, dy, next, sums);
}
#endif

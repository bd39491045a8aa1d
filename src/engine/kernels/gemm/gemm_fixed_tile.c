/* Tiles of fixed-point sums (gemm_fixed.h) for processors without AVX-512: 4 x 16. With AVX2 a product is rounded by
 * the multiply-add itself; without, it is exact in fp32, and its own last bit is set. */
#include "engine/kernels/gemm/gemm_fixed.h"

#include "base/number/bits.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define ROWS    4
#define COLUMNS 16
#define UNROLL  _Pragma("GCC unroll 16")

#define BY_ROWS(body, drops)                                                                                           \
    switch (t->rows) {                                                                                                 \
    case 4:                                                                                                            \
        body(4, drops, t);                                                                                             \
        break;                                                                                                         \
    case 2:                                                                                                            \
        body(2, drops, t);                                                                                             \
        break;                                                                                                         \
    default:                                                                                                           \
        body(1, drops, t);                                                                                             \
        break;                                                                                                         \
    }
#define TILE(name, target, body)                                                                                       \
    target static void name(const mw__fixed_tile *t)                                                                   \
    {                                                                                                                  \
        if (t->limits != NULL)                                                                                         \
            BY_ROWS(body, true)                                                                                        \
        else                                                                                                           \
            BY_ROWS(body, false)                                                                                       \
    }

/* ---- any processor: vectors of 4 ---- */

typedef float floats __attribute__((vector_size(16)));
typedef int32_t ints __attribute__((vector_size(16)));

#define LANES   4
#define VECTORS (COLUMNS / LANES)
#define EACH    UNROLL for (int r = 0; r < rows; r++) UNROLL for (int v = 0; v < VECTORS; v++)

MW__INLINE floats splat(float x) { return (floats){x, x, x, x}; }
MW__INLINE ints splat_bits(uint32_t bits)
{
    const int32_t x = (int32_t)bits;
    return (ints){x, x, x, x};
}

/* x, whose mark is taken off, times those of y that are not dropped. */
MW__INLINE floats multiply(float marked, ints y, const float *limit)
{
    const floats x = splat(mw__float_of(mw__bits_of(marked) & ~1u));
    if (limit == NULL)
        return x * (floats)y;
    return x * (floats)(y & ((y & splat_bits(0x7fffffffu)) >= splat_bits(mw__bits_of(*limit))));
}

MW__INLINE void narrow_body(const int rows, const bool drops, const mw__fixed_tile *t)
{
    ints sum[ROWS][VECTORS];
    EACH sum[r][v] = splat_bits(0u - (uint32_t)t->k * MW__FIXED_NARROW_BITS);
    for (int64_t p = 0; p < t->k; p++) {
        ints y[VECTORS];
        memcpy(y, t->b + p * COLUMNS, sizeof y);
        EACH
        {
            const ints product =
                (ints)multiply(t->a[p * rows + r], y[v], drops ? &t->limits[p * rows + r] : NULL) | splat_bits(1);
            sum[r][v] += (ints)((floats)product + splat(MW__FIXED_NARROW));
        }
    }
    UNROLL for (int r = 0; r < rows; r++) memcpy(t->sums + r * COLUMNS, sum[r], sizeof sum[r]);
}

MW__INLINE void wide_body(const int rows, const bool drops, const mw__fixed_tile *t)
{
    for (int v = 0; v < VECTORS; v++) {
        ints high[ROWS], low[ROWS];
        UNROLL for (int r = 0; r < rows; r++)
        {
            high[r] = splat_bits(0u - (uint32_t)t->k * MW__FIXED_WIDE_BITS);
            low[r] = splat_bits(0u - (uint32_t)t->k * MW__FIXED_NARROW_BITS);
        }
        for (int64_t p = 0; p < t->k; p++) {
            ints y;
            memcpy(&y, t->b + p * COLUMNS + v * LANES, sizeof y);
            UNROLL for (int r = 0; r < rows; r++)
            {
                const floats product = multiply(t->a[p * rows + r], y, drops ? &t->limits[p * rows + r] : NULL);
                const ints bits = (ints)product, size = bits & splat_bits(0x7fffffffu);
                const floats tied = (floats)(bits | ((size < splat_bits(0x42800000u)) & splat_bits(1))); /* below 64 */
                const floats far = product + splat(MW__FIXED_WIDE);
                high[r] += (ints)far;
                low[r] += (ints)(tied - (far - splat(MW__FIXED_WIDE)) + splat(MW__FIXED_NARROW));
            }
        }
        UNROLL for (int r = 0; r < rows; r++)
        {
            const ints sum = (high[r] << MW__FIXED_WIDE_SHIFT) + low[r];
            memcpy(t->sums + r * COLUMNS + v * LANES, &sum, sizeof sum);
        }
    }
}

TILE(narrow_base, , narrow_body)
TILE(wide_base, , wide_body)

const mw__fixed_set mw__fixed_set_base = {
    .rows = ROWS, .columns = COLUMNS, .pack = mw__gemm_pack_lanes, .narrow = narrow_base, .wide = wide_base};

/* ---- AVX2: vectors of 8 ---- */

#if defined(__x86_64__)

#define AVX2 __attribute__((target("avx2,fma")))
#define TWO  UNROLL for (int r = 0; r < rows; r++) UNROLL for (int v = 0; v < 2; v++)

AVX2 MW__INLINE __m256 size_of(__m256 y) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), y); }
AVX2 MW__INLINE __m256 kept(__m256 y, __m256 size, float limit)
{
    return _mm256_and_ps(y, _mm256_cmp_ps(size, _mm256_set1_ps(limit), _CMP_GE_OQ));
}
AVX2 MW__INLINE __m256i splat_avx2(uint32_t bits) { return _mm256_set1_epi32((int)bits); }

AVX2 MW__INLINE void narrow_body_avx2(const int rows, const bool drops, const mw__fixed_tile *t)
{
    const __m256 magic = _mm256_set1_ps(MW__FIXED_NARROW);
    const float *a = t->a, *b = t->b, *limits = drops ? t->limits : t->a; /* of nothing dropped none is read */
    __m256i sum[ROWS][2];
    TWO sum[r][v] = splat_avx2(0u - (uint32_t)t->k * MW__FIXED_NARROW_BITS);
    for (int64_t p = 0; p < t->k; p++, a += rows, b += COLUMNS, limits += drops ? rows : 0) {
        const __m256 y[2] = {_mm256_loadu_ps(b), _mm256_loadu_ps(b + 8)};
        TWO
        {
            const __m256 z = drops ? kept(y[v], size_of(y[v]), limits[r]) : y[v];
            const __m256 product = _mm256_fmadd_ps(_mm256_broadcast_ss(a + r), z, magic);
            sum[r][v] = _mm256_add_epi32(sum[r][v], _mm256_castps_si256(product));
        }
    }
    TWO _mm256_storeu_si256((__m256i *)(void *)(t->sums + r * COLUMNS + v * 8), sum[r][v]);
}

/* A product in two parts: a multiple of 2^-2, and the rest. x has its mark for products that may have ties; in larger
 * ones it would be too much. */
AVX2 MW__INLINE void add_wide(__m256i *high, __m256i *low, __m256 marked, __m256 z)
{
    const __m256i bits = _mm256_castps_si256(marked);
    const __m256i small = _mm256_sub_epi32(splat_avx2(260u << 23), _mm256_and_si256(bits, splat_avx2(0x7f800000u)));
    const __m256 ties = _mm256_cmp_ps(size_of(z), _mm256_castsi256_ps(small), _CMP_LT_OQ);
    const __m256 x = _mm256_castsi256_ps(_mm256_and_si256(bits, splat_avx2(~1u)));
    const __m256 far = _mm256_fmadd_ps(x, z, _mm256_set1_ps(MW__FIXED_WIDE));
    const __m256 rest = _mm256_sub_ps(_mm256_set1_ps(MW__FIXED_WIDE + MW__FIXED_NARROW), far);
    const __m256 near = _mm256_fmadd_ps(_mm256_blendv_ps(x, marked, ties), z, rest);
    *high = _mm256_add_epi32(*high, _mm256_castps_si256(far));
    *low = _mm256_add_epi32(*low, _mm256_castps_si256(near));
}

AVX2 MW__INLINE void wide_body_avx2(const int rows, const bool drops, const mw__fixed_tile *t)
{
    for (int v = 0; v < 2; v++) {
        __m256i high[ROWS], low[ROWS];
        const float *a = t->a, *b = t->b + v * 8,
                    *limits = drops ? t->limits : t->a; /* of nothing dropped none is read */
        UNROLL for (int r = 0; r < rows; r++)
        {
            high[r] = splat_avx2(0u - (uint32_t)t->k * MW__FIXED_WIDE_BITS);
            low[r] = splat_avx2(0u - (uint32_t)t->k * MW__FIXED_NARROW_BITS);
        }
        for (int64_t p = 0; p < t->k; p++, a += rows, b += COLUMNS, limits += drops ? rows : 0) {
            const __m256 y = _mm256_loadu_ps(b);
            UNROLL for (int r = 0; r < rows; r++)
                add_wide(&high[r], &low[r], _mm256_broadcast_ss(a + r), drops ? kept(y, size_of(y), limits[r]) : y);
        }
        UNROLL for (int r = 0; r < rows; r++)
            _mm256_storeu_si256((__m256i *)(void *)(t->sums + r * COLUMNS + v * 8),
                                _mm256_add_epi32(_mm256_slli_epi32(high[r], MW__FIXED_WIDE_SHIFT), low[r]));
    }
}

TILE(narrow_avx2, AVX2, narrow_body_avx2)
TILE(wide_avx2, AVX2, wide_body_avx2)

const mw__fixed_set mw__fixed_set_avx2 = {
    .rows = ROWS, .columns = COLUMNS, .pack = mw__gemm_pack_lanes, .narrow = narrow_avx2, .wide = wide_avx2};

#endif

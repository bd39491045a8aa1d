/* Tiles of fixed-point sums with AVX-512 (gemm_fixed.h): 8 x 32. */
#include "engine/kernels/common_avx512.h"
#include "engine/kernels/gemm/gemm_avx512.h"
#include "engine/kernels/gemm/gemm_fixed.h"

#define ROWS    8
#define VECTORS 2
#define EACH    UNROLL for (int r = 0; r < rows; r++) UNROLL for (int v = 0; v < VECTORS; v++)

MW__INLINE __m512i bits_of(__m512 x) { return _mm512_castps_si512(x); }
MW__INLINE __m512 with_bits(__m512i x) { return _mm512_castsi512_ps(x); }

/* The smallest of what is kept, beside each y, is `limit`. */
MW__INLINE __m512 kept(__m512 y, __m512 size, float limit)
{
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(size, _mm512_set1_ps(limit), _CMP_GE_OQ), y);
}

MW__INLINE void load(const float *b, __m512 y[VECTORS], __m512 size[VECTORS])
{
    UNROLL for (int v = 0; v < VECTORS; v++)
    {
        y[v] = _mm512_loadu_ps(b + v * LANES);
        size[v] = _mm512_abs_ps(y[v]);
    }
}

MW__INLINE void narrow_body(const int rows, const bool drops, const mw__fixed_tile *t)
{
    const __m512 magic = _mm512_set1_ps(MW__FIXED_NARROW);
    const float *a = t->a, *b = t->b, *limits = drops ? t->limits : t->a; /* of nothing dropped none is read */
    __m512i sum[ROWS][VECTORS];
    EACH sum[r][v] = _mm512_set1_epi32((int)(0u - (uint32_t)t->k * MW__FIXED_NARROW_BITS));
    for (int64_t p = 0; p < t->k; p++, a += rows, b += VECTORS * LANES, limits += drops ? rows : 0) {
        __m512 y[VECTORS], size[VECTORS];
        load(b, y, size);
        EACH
        {
            const __m512 z = drops ? kept(y[v], size[v], limits[r]) : y[v];
            sum[r][v] = _mm512_add_epi32(sum[r][v], bits_of(_mm512_fmadd_ps(_mm512_set1_ps(a[r]), z, magic)));
        }
    }
    EACH _mm512_storeu_si512(t->sums + (r * VECTORS + v) * LANES, sum[r][v]);
}

/* A product in two parts: a multiple of 2^-2, and the rest. The last bit of x is set for products that may have ties;
 * in larger ones it would be too much. */
typedef struct parts {
    __m512i high, low;
} parts;

MW__INLINE void add_wide(parts *sum, __m512 marked, __m512 z)
{
    const __m512i exponent = _mm512_set1_epi32(0x7f800000);
    const __m512 x = with_bits(_mm512_and_epi32(bits_of(marked), _mm512_set1_epi32(-2)));
    const __m512 small =
        with_bits(_mm512_sub_epi32(_mm512_set1_epi32((int)(260u << 23)), _mm512_and_epi32(bits_of(x), exponent)));
    const __mmask16 ties = _mm512_cmp_ps_mask(_mm512_abs_ps(z), small, _CMP_LT_OQ);
    const __m512 high = _mm512_fmadd_ps(x, z, _mm512_set1_ps(MW__FIXED_WIDE));
    const __m512 rest = _mm512_sub_ps(_mm512_set1_ps(MW__FIXED_WIDE + MW__FIXED_NARROW), high);
    const __m512 low = _mm512_fmadd_ps(_mm512_mask_mov_ps(x, ties, marked), z, rest);
    sum->high = _mm512_add_epi32(sum->high, bits_of(high));
    sum->low = _mm512_add_epi32(sum->low, bits_of(low));
}

MW__INLINE void wide_body(const int rows, const bool drops, const mw__fixed_tile *t)
{
    const uint32_t k = (uint32_t)t->k;
    for (int v = 0; v < VECTORS; v++) {
        parts sum[ROWS];
        const float *a = t->a, *b = t->b + v * LANES,
                    *limits = drops ? t->limits : t->a; /* of nothing dropped none is read */
        UNROLL for (int r = 0; r < rows; r++) sum[r] =
            (parts){_mm512_set1_epi32((int)(0u - k * MW__FIXED_WIDE_BITS)),
                    _mm512_set1_epi32((int)(0u - k * MW__FIXED_NARROW_BITS))};
        for (int64_t p = 0; p < t->k; p++, a += rows, b += VECTORS * LANES, limits += drops ? rows : 0) {
            const __m512 y = _mm512_loadu_ps(b), size = _mm512_abs_ps(y);
            UNROLL for (int r = 0; r < rows; r++)
                add_wide(&sum[r], _mm512_set1_ps(a[r]), drops ? kept(y, size, limits[r]) : y);
        }
        UNROLL for (int r = 0; r < rows; r++)
            _mm512_storeu_si512(t->sums + (r * VECTORS + v) * LANES,
                                _mm512_add_epi32(_mm512_slli_epi32(sum[r].high, MW__FIXED_WIDE_SHIFT), sum[r].low));
    }
}

#define BY_ROWS(body, drops)                                                                                           \
    switch (t->rows) {                                                                                                 \
    case 8:                                                                                                            \
        body(8, drops, t);                                                                                             \
        break;                                                                                                         \
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

static void narrow(const mw__fixed_tile *t)
{
    if (t->limits != NULL)
        BY_ROWS(narrow_body, true)
    else
        BY_ROWS(narrow_body, false)
}

static void wide(const mw__fixed_tile *t)
{
    if (t->limits != NULL)
        BY_ROWS(wide_body, true)
    else
        BY_ROWS(wide_body, false)
}

const mw__fixed_set mw__fixed_set_avx512 = {
    .rows = ROWS, .columns = VECTORS * LANES, .pack = mw__gemm_avx512_pack, .narrow = narrow, .wide = wide};

/* What round_chip.h does to one number, to vectors, by the instructions that convert to fp16: loops that the compiler
 * makes vectors of cannot have them, and take several times as long. */
#ifndef MW__ENGINE_KERNELS_ROUND_VECTOR_H
#define MW__ENGINE_KERNELS_ROUND_VECTOR_H

#include "engine/kernels/math/round_chip.h"

#if defined(__x86_64__)
#include <immintrin.h>

/* `how` is a constant where these are inlined. */
MW__TARGET_AVX2 MW__INLINE __m256 mw__round_avx2(__m256 v, unsigned how)
{
    const __m256 sign = _mm256_set1_ps(-0.0f), infinity = _mm256_set1_ps(INFINITY);
    if ((how & MW__ROUND_NUMBER) != 0)
        v = _mm256_and_ps(v, _mm256_cmp_ps(v, v, _CMP_ORD_Q));
    if ((how & MW__ROUND_HALF) != 0 && (how & MW__ROUND_AWAY) != 0) {
        const __m256 finite = _mm256_cmp_ps(_mm256_andnot_ps(sign, v), infinity, _CMP_LT_OQ);
        v = _mm256_or_ps(v, _mm256_castsi256_ps(_mm256_srli_epi32(_mm256_castps_si256(finite), 31)));
    }
    if ((how & MW__ROUND_HALF) != 0)
        v = _mm256_cvtph_ps(_mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
    const __m256 a = _mm256_andnot_ps(sign, v), signed_infinity = _mm256_or_ps(_mm256_and_ps(sign, v), infinity);
    if ((how & MW__ROUND_FLUSH) != 0)
        v = _mm256_andnot_ps(_mm256_cmp_ps(a, _mm256_set1_ps(0x1p-14f), _CMP_LT_OQ), v);
    if ((how & MW__ROUND_CEILING) != 0)
        v = _mm256_blendv_ps(v, signed_infinity, _mm256_cmp_ps(a, _mm256_set1_ps(32760.0f), _CMP_GE_OQ));
    if ((how & MW__ROUND_SLICE) != 0)
        v = _mm256_blendv_ps(v, signed_infinity, _mm256_cmp_ps(a, _mm256_set1_ps(4094.0f), _CMP_GT_OQ));
    return v;
}

/* NaN as 0 and what is beyond a tie, by one look at what each number is: four bits of a table say, for quiet and
 * signaling NaN, 0, 1, the two infinities, what is negative and what is positive, from the lowest on, whether it
 * becomes the first operand (0), the second (1) or 0 (8). */
MW__TARGET_AVX512 MW__INLINE __m512 mw__mend_avx512(__m512 v, unsigned how)
{
    const bool away = (how & MW__ROUND_HALF) != 0 && (how & MW__ROUND_AWAY) != 0;
    const int nan = (how & MW__ROUND_NUMBER) != 0 ? 0x88 : 0x11;
    if (!away && (how & MW__ROUND_NUMBER) == 0)
        return v;
    const __m512i bits = _mm512_castps_si512(v);
    const __m512 beyond = away ? _mm512_castsi512_ps(_mm512_or_si512(bits, _mm512_set1_epi32(1))) : v;
    return _mm512_fixupimm_ps(beyond, v, _mm512_set1_epi32(0x110000 | nan), 0);
}

MW__TARGET_AVX512 MW__INLINE __m512 mw__round_avx512(__m512 v, unsigned how)
{
    const __m512 sign = _mm512_set1_ps(-0.0f), infinity = _mm512_set1_ps(INFINITY);
    v = mw__mend_avx512(v, how);
    if ((how & MW__ROUND_HALF) != 0)
        v = _mm512_cvtph_ps(_mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
    const __m512 a = _mm512_andnot_ps(sign, v);
    if ((how & MW__ROUND_FLUSH) != 0)
        v = _mm512_mask_mov_ps(v, _mm512_cmp_ps_mask(a, _mm512_set1_ps(0x1p-14f), _CMP_LT_OQ), _mm512_setzero_ps());
    if ((how & MW__ROUND_CEILING) != 0)
        v = _mm512_mask_or_ps(v, _mm512_cmp_ps_mask(a, _mm512_set1_ps(32760.0f), _CMP_GE_OQ), _mm512_and_ps(sign, v),
                              infinity);
    if ((how & MW__ROUND_SLICE) != 0)
        v = _mm512_mask_or_ps(v, _mm512_cmp_ps_mask(a, _mm512_set1_ps(4094.0f), _CMP_GT_OQ), _mm512_and_ps(sign, v),
                              infinity);
    return v;
}

/* What is done to NaN and to large numbers alone is left out where a few vectors have none, as almost all have. */
#define MW__ROUND_RARE (MW__ROUND_NUMBER | MW__ROUND_CEILING)
#define MW__ROUND_FEW  4 /* vectors that are looked at together */

/* Whether none of them is NaN or so large that a chip makes it infinite. */
MW__TARGET_AVX2 MW__INLINE bool mw__ordinary_avx2(const __m256 v[MW__ROUND_FEW])
{
    const __m256i size = _mm256_set1_epi32(0x7fffffff), limit = _mm256_castps_si256(_mm256_set1_ps(32760.0f));
    __m256i most = _mm256_setzero_si256();
    for (int i = 0; i < MW__ROUND_FEW; i++)
        most = _mm256_max_epi32(most, _mm256_and_si256(_mm256_castps_si256(v[i]), size));
    return _mm256_movemask_epi8(_mm256_cmpgt_epi32(limit, most)) == -1;
}

MW__TARGET_AVX512 MW__INLINE bool mw__ordinary_avx512(const __m512 v[MW__ROUND_FEW])
{
    const __m512i size = _mm512_set1_epi32(0x7fffffff), limit = _mm512_castps_si512(_mm512_set1_ps(32760.0f));
    __m512i most = _mm512_setzero_si512();
    for (int i = 0; i < MW__ROUND_FEW; i++)
        most = _mm512_max_epi32(most, _mm512_and_si512(_mm512_castps_si512(v[i]), size));
    return _mm512_cmpge_epi32_mask(most, limit) == 0;
}

/* Four vectors, which are read before they are written. */
MW__TARGET_AVX2 MW__INLINE void mw__round_few_avx2(float *out, const float *x, unsigned how)
{
    __m256 v[MW__ROUND_FEW];
    for (int i = 0; i < MW__ROUND_FEW; i++)
        v[i] = _mm256_loadu_ps(x + 8 * i);
    if ((how & MW__ROUND_RARE) != 0 && mw__ordinary_avx2(v))
        for (int i = 0; i < MW__ROUND_FEW; i++)
            _mm256_storeu_ps(out + 8 * i, mw__round_avx2(v[i], how & ~MW__ROUND_RARE));
    else
        for (int i = 0; i < MW__ROUND_FEW; i++)
            _mm256_storeu_ps(out + 8 * i, mw__round_avx2(v[i], how));
}

MW__TARGET_AVX512 MW__INLINE void mw__round_few_avx512(float *out, const float *x, unsigned how)
{
    __m512 v[MW__ROUND_FEW];
    for (int i = 0; i < MW__ROUND_FEW; i++)
        v[i] = _mm512_loadu_ps(x + 16 * i);
    if ((how & MW__ROUND_RARE) != 0 && mw__ordinary_avx512(v))
        for (int i = 0; i < MW__ROUND_FEW; i++)
            _mm512_storeu_ps(out + 16 * i, mw__round_avx512(v[i], how & ~MW__ROUND_RARE));
    else
        for (int i = 0; i < MW__ROUND_FEW; i++)
            _mm512_storeu_ps(out + 16 * i, mw__round_avx512(v[i], how));
}
#endif

/* name_base, name_avx2 and name_avx512, each an mw__loop1 that does what `how` says. */
#if defined(__x86_64__)
#define MW__ROUND_LOOPS(name, how)                                                                                     \
    MW__LOOP1_BODY(name, mw__round_chip_of(v, how))                                                                    \
    static void name##_base(float *out, const float *x, int64_t count, float p, float q)                               \
    {                                                                                                                  \
        name##_body(out, x, count, p, q);                                                                              \
    }                                                                                                                  \
    MW__TARGET_AVX2 static void name##_avx2(float *out, const float *x, int64_t count, float p, float q)               \
    {                                                                                                                  \
        int64_t i = 0;                                                                                                 \
        for (; i + 8 * MW__ROUND_FEW <= count; i += 8 * MW__ROUND_FEW)                                                 \
            mw__round_few_avx2(out + i, x + i, how);                                                                   \
        for (; i + 8 <= count; i += 8)                                                                                 \
            _mm256_storeu_ps(out + i, mw__round_avx2(_mm256_loadu_ps(x + i), how));                                    \
        name##_body(out + i, x + i, count - i, p, q);                                                                  \
    }                                                                                                                  \
    MW__TARGET_AVX512 static void name##_avx512(float *out, const float *x, int64_t count, float p, float q)           \
    {                                                                                                                  \
        int64_t i = 0;                                                                                                 \
        (void)p, (void)q;                                                                                              \
        for (; i + 16 * MW__ROUND_FEW <= count; i += 16 * MW__ROUND_FEW)                                               \
            mw__round_few_avx512(out + i, x + i, how);                                                                 \
        for (; i + 16 <= count; i += 16)                                                                               \
            _mm512_storeu_ps(out + i, mw__round_avx512(_mm512_loadu_ps(x + i), how));                                  \
        const __mmask16 rest = (__mmask16)((1u << (count - i)) - 1);                                                   \
        if (rest != 0)                                                                                                 \
            _mm512_mask_storeu_ps(out + i, rest, mw__round_avx512(_mm512_maskz_loadu_ps(rest, x + i), how));           \
    }
#else
#define MW__ROUND_LOOPS(name, how)                                                                                     \
    MW__LOOP1_BODY(name, mw__round_chip_of(v, how))                                                                    \
    MW__BASE_AVX2_AVX512(name, (float *out, const float *x, int64_t count, float p, float q), (out, x, count, p, q))
#endif

#endif

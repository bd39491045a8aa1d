/* What the AVX-512 kernels share. Their files, <what>_avx512.c of each family, are built with its instructions
 * (cmake/library.cmake) on x86-64 alone, so nothing of them may run where mw__plan_level is below MW__LEVEL_AVX512:
 * their rows (implementation.h) and pattern_wide.c see to it. Here: masks, and squares of 16 x 16, transposed in
 * registers. */
#ifndef MW__ENGINE_KERNELS_AVX512_H
#define MW__ENGINE_KERNELS_AVX512_H

#include "engine/core/kernel.h"

#include <immintrin.h>

#define LANES  16 /* floats of a vector */
#define UNROLL _Pragma("GCC unroll 16")

/* The first `count` of a vector. */
MW__INLINE __mmask16 mw__first_lanes(int64_t count) { return (__mmask16)(count < LANES ? (1u << count) - 1 : 0xffff); }

/* r[i][j] and r[j][i] change places. */
MW__INLINE void mw__transpose_avx512(__m512 r[16])
{
    __m512 s[16];
    UNROLL for (int i = 0; i < 16; i += 2)
    {
        s[i] = _mm512_unpacklo_ps(r[i], r[i + 1]);
        s[i + 1] = _mm512_unpackhi_ps(r[i], r[i + 1]);
    }
    UNROLL for (int i = 0; i < 16; i += 4) UNROLL for (int j = 0; j < 2; j++)
    {
        const __m512d low = _mm512_castps_pd(s[i + j]), high = _mm512_castps_pd(s[i + j + 2]);
        r[i + 2 * j] = _mm512_castpd_ps(_mm512_unpacklo_pd(low, high));
        r[i + 2 * j + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(low, high));
    }
    UNROLL for (int i = 0; i < 16; i += 8) UNROLL for (int j = 0; j < 4; j++)
    {
        s[i + j] = _mm512_shuffle_f32x4(r[i + j], r[i + j + 4], 0x88);
        s[i + j + 4] = _mm512_shuffle_f32x4(r[i + j], r[i + j + 4], 0xdd);
    }
    UNROLL for (int j = 0; j < 8; j++)
    {
        r[j] = _mm512_shuffle_f32x4(s[j], s[j + 8], 0x88);
        r[j + 8] = _mm512_shuffle_f32x4(s[j], s[j + 8], 0xdd);
    }
}

/* The same of bytes: four times, rows of the two halves are zipped. */
MW__INLINE void mw__transpose_bytes(__m128i r[16])
{
    __m128i s[16];
    UNROLL for (int turn = 0; turn < 4; turn++)
    {
        UNROLL for (int i = 0; i < 8; i++)
        {
            s[2 * i] = _mm_unpacklo_epi8(r[i], r[i + 8]);
            s[2 * i + 1] = _mm_unpackhi_epi8(r[i], r[i + 8]);
        }
        UNROLL for (int i = 0; i < 16; i++) r[i] = s[i];
    }
}

#endif

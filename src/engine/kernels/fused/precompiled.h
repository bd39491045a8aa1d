/* What the files of precompiled kernels that tools/precompiled.py writes are made with: the forms of a fusion group, as
 * computed and with every value rounded to fp16, for each width. For those files only. */
#ifndef MW__ENGINE_KERNELS_FUSED_PRECOMPILED_H
#define MW__ENGINE_KERNELS_FUSED_PRECOMPILED_H

#include "engine/kernels/fused/fused.h"
#include "engine/kernels/math_scalar.h"

#define PARAMETERS (const void *const *value, void *const *out, const float(*pq)[2], int64_t count)
#define FORM       (const void *const *value, void *const *out, const float(*pq)[2], int64_t begin, int64_t count, bool half)
#define ROUND(v)   (half ? mw__half_of(v) : (v))

/* As computed, and with every value rounded to fp16. */
#define FORMS(name)                                                                                                    \
    MW__INLINE void name##_body PARAMETERS { name##_form(value, out, pq, 0, count, false); }                           \
    MW__INLINE void name##_half_body PARAMETERS { name##_form(value, out, pq, 0, count, true); }                       \
    MW__BASE_AVX2_AVX512(name, PARAMETERS, (value, out, pq, count))                                                    \
    HALVES(name)

#if defined(__x86_64__) && !defined(__clang__)
#include <immintrin.h>

/* The instructions that round cannot stand in a loop that the compiler makes vectors of, so that strips of eight
 * vectors are written: the next rounding may begin long before one is done, and those of one vector mostly wait for
 * each other. For gcc, which keeps them in registers; clang does not. */
#define EACH(lanes) _Pragma("GCC unroll 1") for (int l = 0; l < (lanes); l++)
#define EIGHT       _Pragma("GCC unroll 8") for (int n = 0; n < 8; n++)
#define STRIPS(name, width, target)                                                                                    \
    target static void name##_half_##width PARAMETERS                                                                  \
    {                                                                                                                  \
        const int64_t done = count - count % (8 * LANES_##width);                                                      \
        name##_STRIPS(LANES_##width, round_##width) name##_form(value, out, pq, done, count, true);                    \
    }
#define HALVES(name)                                                                                                   \
    static void name##_half_base PARAMETERS { name##_half_body(value, out, pq, count); }                               \
    STRIPS(name, avx2, MW__TARGET_AVX2)                                                                                \
    STRIPS(name, avx512, MW__TARGET_AVX512)

enum { LANES_avx2 = 8, LANES_avx512 = 16 };

MW__TARGET_AVX2 MW__INLINE void round_avx2(float *v)
{
    _mm256_storeu_ps(v, _mm256_cvtph_ps(_mm256_cvtps_ph(_mm256_loadu_ps(v), _MM_FROUND_TO_NEAREST_INT)));
}

MW__TARGET_AVX512 MW__INLINE void round_avx512(float *v)
{
    _mm512_storeu_ps(v, _mm512_cvtph_ps(_mm512_cvtps_ph(_mm512_loadu_ps(v), _MM_FROUND_TO_NEAREST_INT)));
}
#else
#define HALVES(name) MW__BASE_AVX2_AVX512(name##_half, PARAMETERS, (value, out, pq, count))
#endif

#endif

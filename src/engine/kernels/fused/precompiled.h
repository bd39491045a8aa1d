/* What the files of precompiled kernels that tools/precompiled.py writes are made with: the forms of a fusion group, as
 * computed, with every value rounded to fp16 and as a chip rounds, for each width. For those files only. */
#ifndef MW__ENGINE_KERNELS_FUSED_PRECOMPILED_H
#define MW__ENGINE_KERNELS_FUSED_PRECOMPILED_H

#include "engine/kernels/fused/fused.h"
#include "engine/kernels/math/round_vector.h"

#define PARAMETERS (const void *const *value, void *const *out, const float(*pq)[3], int64_t count)
#define FORM                                                                                                           \
    (const void *const *value, void *const *out, const float(*pq)[3], int64_t begin, int64_t count, mw__form form)
#define AFTER(k, ties, v) after(form, pq[k][2], ties, v)
#define QUOTIENT(a, b)    (form == MW__FORM_CHIP ? mw__scalar_chip_real_div(a, b) : mw__scalar_real_div(a, b))

/* How the result of an operation is rounded: not at all if its operands are, ties to even, on a chip away from zero. */
enum { EXACT, EVEN, AWAY };

/* What is done to a value after it is computed. */
MW__INLINE float after(mw__form form, float rounds, int ties, float v)
{
    if (form == MW__FORM_HALF)
        return ties == EXACT ? v : mw__half_of(v);
    if (form == MW__FORM_PLAIN)
        return v;
    const float rounded = mw__round_chip_of(v, MW__ROUND_HALF | MW__ROUND_NUMBER | (ties == AWAY ? MW__ROUND_AWAY : 0));
    return rounds != 0.0f ? rounded : mw__round_chip_of(v, MW__ROUND_NUMBER);
}

#define FORMS(name)                                                                                                    \
    MW__INLINE void name##_body PARAMETERS { name##_form(value, out, pq, 0, count, MW__FORM_PLAIN); }                  \
    MW__INLINE void name##_half_body PARAMETERS { name##_form(value, out, pq, 0, count, MW__FORM_HALF); }              \
    MW__INLINE void name##_chip_body PARAMETERS { name##_form(value, out, pq, 0, count, MW__FORM_CHIP); }              \
    MW__BASE_AVX2_AVX512(name, PARAMETERS, (value, out, pq, count))                                                    \
    ROUNDED(name)

#if defined(__x86_64__) && !defined(__clang__)

#define MASK(truth) (0u - (uint32_t)(truth))
MW__INLINE float chosen(uint32_t mask, float a, float b)
{
    return mw__float_of((mw__bits_of(a) & mask) | (mw__bits_of(b) & ~mask));
}

/* The instructions that round cannot stand in a loop that the compiler makes vectors of, so that strips of eight
 * vectors are written: the next rounding may begin long before one is done, and those of one vector mostly wait for
 * each other. For gcc, which keeps them in registers; clang does not. */
#define EACH(lanes) _Pragma("GCC unroll 1") for (int l = 0; l < (lanes); l++)
#define EIGHT       _Pragma("GCC unroll 8") for (int n = 0; n < 8; n++)
#define STRIPS(name, form_, width, after, quotient, target)                                                            \
    target static void name##_##form_##_##width PARAMETERS                                                             \
    {                                                                                                                  \
        const int64_t done = count - count % (8 * LANES_##width);                                                      \
        (void)pq;                                                                                                      \
        name##_STRIPS(LANES_##width, after, quotient) name##_form(value, out, pq, done, count, FORM_OF_##form_);       \
    }
#define ROUNDED(name)                                                                                                  \
    static void name##_half_base PARAMETERS { name##_half_body(value, out, pq, count); }                               \
    static void name##_chip_base PARAMETERS { name##_chip_body(value, out, pq, count); }                               \
    STRIPS(name, half, avx2, HALF_AVX2, mw__scalar_real_div, MW__TARGET_AVX2)                                          \
    STRIPS(name, half, avx512, HALF_AVX512, mw__scalar_real_div, MW__TARGET_AVX512)                                    \
    STRIPS(name, chip, avx2, CHIP_AVX2, mw__scalar_chip_real_div, MW__TARGET_AVX2)                                     \
    STRIPS(name, chip, avx512, CHIP_AVX512, mw__scalar_chip_real_div, MW__TARGET_AVX512)

enum { LANES_avx2 = 8, LANES_avx512 = 16 };
#define FORM_OF_half MW__FORM_HALF
#define FORM_OF_chip MW__FORM_CHIP

#define HALF_AVX2(k, ties, v)                                                                                          \
    if ((ties) != EXACT)                                                                                               \
        EIGHT { round_avx2((v)[n], MW__ROUND_HALF); }
#define HALF_AVX512(k, ties, v)                                                                                        \
    if ((ties) != EXACT)                                                                                               \
        EIGHT { round_avx512((v)[n], MW__ROUND_HALF); }
#define CHIP_OF(ties) (MW__ROUND_HALF | MW__ROUND_NUMBER | ((ties) == AWAY ? MW__ROUND_AWAY : 0))
#define CHIP_AVX2(k, ties, v)                                                                                          \
    if (pq[k][2] != 0.0f)                                                                                              \
        EIGHT { round_avx2((v)[n], CHIP_OF(ties)); }                                                                   \
    else if ((ties) != EXACT)                                                                                          \
        EIGHT { round_avx2((v)[n], MW__ROUND_NUMBER); }
#define CHIP_AVX512(k, ties, v)                                                                                        \
    if (pq[k][2] != 0.0f)                                                                                              \
        EIGHT { round_avx512((v)[n], CHIP_OF(ties)); }                                                                 \
    else if ((ties) != EXACT)                                                                                          \
        EIGHT { round_avx512((v)[n], MW__ROUND_NUMBER); }

MW__TARGET_AVX2 MW__INLINE void round_avx2(float *v, unsigned how)
{
    _mm256_storeu_ps(v, mw__round_avx2(_mm256_loadu_ps(v), how));
}

MW__TARGET_AVX512 MW__INLINE void round_avx512(float *v, unsigned how)
{
    _mm512_storeu_ps(v, mw__round_avx512(_mm512_loadu_ps(v), how));
}
#else
#define ROUNDED(name)                                                                                                  \
    MW__BASE_AVX2_AVX512(name##_half, PARAMETERS, (value, out, pq, count))                                             \
    MW__BASE_AVX2_AVX512(name##_chip, PARAMETERS, (value, out, pq, count))
#endif

#endif

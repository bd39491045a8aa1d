/* Half precision and bfloat16. All forms round to nearest even and give the same bits, those of a NaN included: its
 * quiet bit is set and the top of its payload kept, which is what F16C and NEON do. */
#include "base/number/fp16.h"
#include "base/number/bits.h"

#include <stdbool.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

/* value * 2^-shift to nearest even; 0 < shift < 64. */
static uint64_t shift_round(uint64_t value, int shift)
{
    const uint64_t kept = value >> shift;
    const uint64_t rest = value - (kept << shift);
    const uint64_t half = (uint64_t)1 << (shift - 1);
    return kept + (rest > half || (rest == half && (kept & 1) != 0));
}

uint16_t mw__fp16_from_float(float value)
{
    const uint32_t bits = mw__bits_of(value);
    const uint32_t sign = bits >> 16 & 0x8000;
    const uint32_t magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000) /* NaN */
        return (uint16_t)(sign | 0x7e00 | (magnitude >> 13 & 0x3ff));
    if (magnitude >= 0x477ff000) /* half way from 65504 to 65536, and above */
        return (uint16_t)(sign | 0x7c00);
    if (magnitude >= 0x38800000) /* 2^-14; a carry out of the fraction moves the exponent up as it should */
        return (uint16_t)(sign | (uint32_t)(shift_round(magnitude, 13) - (112 << 10)));
    if (magnitude < 0x33000000) /* 2^-25, half of the smallest subnormal */
        return (uint16_t)sign;
    const uint32_t significand = (magnitude & 0x7fffff) | 0x800000;
    return (uint16_t)(sign | (uint32_t)shift_round(significand, 126 - (int)(magnitude >> 23)));
}

float mw__fp16_to_float(uint16_t value)
{
    const uint32_t sign = (uint32_t)(value & 0x8000) << 16;
    const uint32_t exponent = value >> 10 & 0x1f;
    const uint32_t fraction = value & 0x3ff;
    if (exponent == 0x1f)
        return mw__float_of(sign | 0x7f800000 | fraction << 13 | (fraction != 0 ? 0x400000 : 0));
    if (exponent == 0) /* exact: ten bits times a power of two */
        return mw__float_of(sign | mw__bits_of((float)fraction * MW__FP16_MIN_SUBNORMAL));
    return mw__float_of(sign | (exponent + 112) << 23 | fraction << 13);
}

/* Rounds once from double to sign, exponent and fraction of a 16-bit format. */
static uint16_t narrow(double value, int exponent_bits, int fraction_bits)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint16_t sign = (uint16_t)(bits >> 48 & 0x8000);
    const int biased = (int)(bits >> 52 & 0x7ff);
    const uint64_t fraction = bits & 0xfffffffffffff;
    const int highest = (1 << exponent_bits) - 1;
    const uint16_t infinity = (uint16_t)(sign | highest << fraction_bits);
    if (biased == 0x7ff && fraction != 0)
        return (uint16_t)(infinity | 1 << (fraction_bits - 1) | (int)(fraction >> (52 - fraction_bits)));
    const int exponent = biased - 1023 + (highest >> 1);
    if (exponent >= highest)
        return infinity;
    const int drop = 52 - fraction_bits + (exponent < 1 ? 1 - exponent : 0);
    if (drop > 53 || biased == 0) /* below half of the smallest subnormal */
        return sign;
    const uint64_t kept = shift_round(fraction | (uint64_t)1 << 52, drop);
    const uint64_t base = exponent > 1 ? (uint64_t)(exponent - 1) << fraction_bits : 0;
    return (uint16_t)(sign | (base + kept)); /* the leading bit of `kept` adds 1 to the exponent */
}

uint16_t mw__fp16_from_double(double value) { return narrow(value, 5, 10); }

uint16_t mw__bf16_from_double(double value) { return narrow(value, 8, 7); }

float mw__bf16_to_float(uint16_t value) { return mw__float_of((uint32_t)value << 16); }

void mw__fp16_from_float_n_ref(uint16_t *out, const float *in, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = mw__fp16_from_float(in[i]);
}

void mw__fp16_to_float_n_ref(float *out, const uint16_t *in, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = mw__fp16_to_float(in[i]);
}

/* Each returns how many elements it converted; the rest, fewer than a vector, is left to the portable form. */
#if defined(__x86_64__)

/* Every processor with AVX2 has F16C; compilers do not all know the latter by name here. */
static bool has_vectors(void) { return __builtin_cpu_supports("avx2"); }

static bool has_wide_vectors(void) { return __builtin_cpu_supports("avx512f"); }

__attribute__((target("avx512f"))) static size_t from_float_wide(uint16_t *out, const float *in, size_t count)
{
    size_t i = 0;
    for (; i + 16 <= count; i += 16) {
        const __m256i halves = _mm512_cvtps_ph(_mm512_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT);
        memcpy(out + i, &halves, sizeof halves);
    }
    return i;
}

__attribute__((target("avx512f"))) static size_t to_float_wide(float *out, const uint16_t *in, size_t count)
{
    size_t i = 0;
    for (; i + 16 <= count; i += 16) {
        __m256i halves;
        memcpy(&halves, in + i, sizeof halves);
        _mm512_storeu_ps(out + i, _mm512_cvtph_ps(halves));
    }
    return i;
}

__attribute__((target("avx,f16c"))) static size_t from_float_vectors(uint16_t *out, const float *in, size_t count)
{
    size_t i = has_wide_vectors() ? from_float_wide(out, in, count) : 0;
    for (; i + 8 <= count; i += 8) {
        const __m128i halves = _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT);
        memcpy(out + i, &halves, sizeof halves);
    }
    return i;
}

__attribute__((target("avx,f16c"))) static size_t to_float_vectors(float *out, const uint16_t *in, size_t count)
{
    size_t i = has_wide_vectors() ? to_float_wide(out, in, count) : 0;
    for (; i + 8 <= count; i += 8) {
        __m128i halves;
        memcpy(&halves, in + i, sizeof halves);
        _mm256_storeu_ps(out + i, _mm256_cvtph_ps(halves));
    }
    return i;
}

#elif defined(__aarch64__)

static bool has_vectors(void) { return true; }

static size_t from_float_vectors(uint16_t *out, const float *in, size_t count)
{
    size_t i = 0;
    for (; i + 4 <= count; i += 4)
        vst1_u16(out + i, vreinterpret_u16_f16(vcvt_f16_f32(vld1q_f32(in + i))));
    return i;
}

static size_t to_float_vectors(float *out, const uint16_t *in, size_t count)
{
    size_t i = 0;
    for (; i + 4 <= count; i += 4)
        vst1q_f32(out + i, vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(in + i))));
    return i;
}

#else

static bool has_vectors(void) { return false; }

static size_t from_float_vectors(uint16_t *out, const float *in, size_t count)
{
    (void)out, (void)in, (void)count;
    return 0;
}

static size_t to_float_vectors(float *out, const uint16_t *in, size_t count)
{
    (void)out, (void)in, (void)count;
    return 0;
}

#endif

void mw__fp16_from_float_n(uint16_t *out, const float *in, size_t count)
{
    const size_t done = has_vectors() ? from_float_vectors(out, in, count) : 0;
    mw__fp16_from_float_n_ref(out + done, in + done, count - done);
}

void mw__fp16_to_float_n(float *out, const uint16_t *in, size_t count)
{
    const size_t done = has_vectors() ? to_float_vectors(out, in, count) : 0;
    mw__fp16_to_float_n_ref(out + done, in + done, count - done);
}

/* As the conversion of one: to nearest even, with the quiet bit of a NaN set. */
void mw__bf16_from_float_n(uint16_t *out, const float *in, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint32_t bits = mw__bits_of(in[i]);
        const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
        out[i] = (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? bits >> 16 | 0x40 : rounded);
    }
}

void mw__bf16_to_float_n(float *out, const uint16_t *in, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = mw__bf16_to_float(in[i]);
}

/* Philox 4x32-10 and what is drawn from it. The state is a position, so that a checkpoint keeps three numbers. */
#include "base/number/random.h"

#include "base/number/normal.h"

#include <stdbool.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define BLOCKS 32 /* computed together by mw__random_uniforms and mw__random_normals */

/* Multipliers and Weyl constants of the paper's table 2. */
void mw__philox(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        const uint64_t left = (uint64_t)0xD2511F53 * c0;
        const uint64_t right = (uint64_t)0xCD9E8D57 * c2;
        c0 = (uint32_t)(right >> 32) ^ c1 ^ k0;
        c2 = (uint32_t)(left >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)right;
        c3 = (uint32_t)left;
        k0 += 0x9E3779B9;
        k1 += 0xBB67AE85;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

double mw__random_draw_normal(const uint32_t words[4], double a, double b)
{
    return a + b * mw__normal_of(words[0], words[1]);
}

double mw__random_draw_uniform(const uint32_t words[4], double a, double b)
{
    return a + (b - a) * ((double)(words[0] >> 8) * 0x1p-24);
}

double mw__random_draw_bernoulli(const uint32_t words[4], double a, double b)
{
    (void)b;
    return (double)words[0] * 0x1p-32 < a ? 1.0 : 0.0;
}

uint32_t mw__random_u32(mw__random *random)
{
    const uint64_t block = random->position >> 2;
    const uint32_t counter[4] = {(uint32_t)block, (uint32_t)(block >> 32), (uint32_t)random->stream,
                                 (uint32_t)(random->stream >> 32)};
    const uint32_t key[2] = {(uint32_t)random->seed, (uint32_t)(random->seed >> 32)};
    uint32_t words[4];
    mw__philox(words, counter, key);
    return words[random->position++ & 3];
}

uint64_t mw__random_below(mw__random *random, uint64_t bound)
{
    const uint64_t refused = (0 - bound) % bound; /* 2^64 mod bound: the rest is a multiple of bound */
    uint64_t drawn;
    do {
        const uint64_t low = mw__random_u32(random);
        drawn = (uint64_t)mw__random_u32(random) << 32 | low;
    } while (drawn < refused);
    return drawn % bound;
}

float mw__random_uniform(mw__random *random) { return (float)(mw__random_u32(random) >> 8) * 0x1p-24f; }

/* The rounds of mw__philox for BLOCKS counters, side by side. */
static void mix(uint32_t word[4][BLOCKS], uint32_t k0, uint32_t k1)
{
    for (int round = 0; round < 10; round++) {
        for (int b = 0; b < BLOCKS; b++) {
            const uint64_t left = (uint64_t)0xD2511F53 * word[0][b], right = (uint64_t)0xCD9E8D57 * word[2][b];
            word[0][b] = (uint32_t)(right >> 32) ^ word[1][b] ^ k0;
            word[2][b] = (uint32_t)(left >> 32) ^ word[3][b] ^ k1;
            word[1][b] = (uint32_t)right;
            word[3][b] = (uint32_t)left;
        }
        k0 += 0x9E3779B9;
        k1 += 0xBB67AE85;
    }
}

#if defined(__x86_64__)
#define AVX2 __attribute__((target("avx2")))

/* The halves of x * factor for eight x: products of the even ones and of the odd ones, put together again. */
AVX2 static inline void multiply(__m256i x, __m256i factor, __m256i *out_low, __m256i *out_high)
{
    const __m256i even = _mm256_mul_epu32(x, factor), odd = _mm256_mul_epu32(_mm256_srli_epi64(x, 32), factor);
    *out_low = _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xaa);
    *out_high = _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa);
}

AVX2 static void mix_avx2(uint32_t word[4][BLOCKS], uint32_t k0, uint32_t k1)
{
    const __m256i left = _mm256_set1_epi32((int)0xD2511F53), right = _mm256_set1_epi32((int)0xCD9E8D57);
    for (int b = 0; b < BLOCKS; b += 8) {
        __m256i c[4], low0, high0, low2, high2;
        for (int w = 0; w < 4; w++)
            c[w] = _mm256_loadu_si256((const __m256i *)&word[w][b]);
        for (uint32_t round = 0; round < 10; round++) {
            multiply(c[0], left, &low0, &high0);
            multiply(c[2], right, &low2, &high2);
            const __m256i key0 = _mm256_set1_epi32((int)(k0 + round * 0x9E3779B9));
            const __m256i key1 = _mm256_set1_epi32((int)(k1 + round * 0xBB67AE85));
            c[0] = _mm256_xor_si256(_mm256_xor_si256(high2, c[1]), key0);
            c[2] = _mm256_xor_si256(_mm256_xor_si256(high0, c[3]), key1);
            c[1] = low2;
            c[3] = low0;
        }
        for (int w = 0; w < 4; w++)
            _mm256_storeu_si256((__m256i *)&word[w][b], c[w]);
    }
}

#if defined(__clang__) /* which takes no width in an attribute, and ignores one that has it */
#define AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#else
#define AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")))
#endif

/* The same for sixteen. */
AVX512 static inline void multiply_wide(__m512i x, __m512i factor, __m512i *out_low, __m512i *out_high)
{
    const __m512i even = _mm512_mul_epu32(x, factor), odd = _mm512_mul_epu32(_mm512_srli_epi64(x, 32), factor);
    *out_low = _mm512_mask_blend_epi32(0xaaaa, even, _mm512_slli_epi64(odd, 32));
    *out_high = _mm512_mask_blend_epi32(0xaaaa, _mm512_srli_epi64(even, 32), odd);
}

/* Half of the words of BLOCKS blocks each, the halves side by side: a round waits for its products. */
typedef struct wide_words {
    __m512i c0, c1, c2, c3;
} wide_words;

AVX512 static inline wide_words load_wide(uint32_t word[4][BLOCKS], int at)
{
    return (wide_words){_mm512_loadu_si512(&word[0][at]), _mm512_loadu_si512(&word[1][at]),
                        _mm512_loadu_si512(&word[2][at]), _mm512_loadu_si512(&word[3][at])};
}

AVX512 static inline void store_wide(uint32_t word[4][BLOCKS], int at, wide_words x)
{
    _mm512_storeu_si512(&word[0][at], x.c0);
    _mm512_storeu_si512(&word[1][at], x.c1);
    _mm512_storeu_si512(&word[2][at], x.c2);
    _mm512_storeu_si512(&word[3][at], x.c3);
}

AVX512 static inline wide_words mix_round(wide_words x, uint32_t k0, uint32_t k1)
{
    __m512i low0, high0, low2, high2;
    multiply_wide(x.c0, _mm512_set1_epi32((int)0xD2511F53), &low0, &high0);
    multiply_wide(x.c2, _mm512_set1_epi32((int)0xCD9E8D57), &low2, &high2);
    return (wide_words){.c0 = _mm512_xor_si512(_mm512_xor_si512(high2, x.c1), _mm512_set1_epi32((int)k0)),
                        .c1 = low2,
                        .c2 = _mm512_xor_si512(_mm512_xor_si512(high0, x.c3), _mm512_set1_epi32((int)k1)),
                        .c3 = low0};
}

AVX512 static void mix_avx512(uint32_t word[4][BLOCKS], uint32_t k0, uint32_t k1)
{
    _Static_assert(BLOCKS == 32, "two vectors");
    wide_words x = load_wide(word, 0), y = load_wide(word, BLOCKS / 2);
    for (uint32_t round = 0; round < 10; round++) {
        x = mix_round(x, k0 + round * 0x9E3779B9, k1 + round * 0xBB67AE85);
        y = mix_round(y, k0 + round * 0x9E3779B9, k1 + round * 0xBB67AE85);
    }
    store_wide(word, 0, x);
    store_wide(word, BLOCKS / 2, y);
}
#else
#define mix_avx2   mix
#define mix_avx512 mix
#endif

mw__random_width mw__random_widest(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        return MW__RANDOM_AVX512;
    if (__builtin_cpu_supports("avx2"))
        return MW__RANDOM_AVX2;
#endif
    return MW__RANDOM_PLAIN;
}

/* Words of BLOCKS blocks from `first` on. */
static void draw_blocks(const mw__random *random, uint64_t first, mw__random_width width, uint32_t word[4][BLOCKS])
{
    static void (*const mixes[])(uint32_t word[4][BLOCKS], uint32_t k0, uint32_t k1) = {mix, mix_avx2, mix_avx512};
    for (uint32_t b = 0; b < BLOCKS; b++) {
        word[0][b] = (uint32_t)(first + b);
        word[1][b] = (uint32_t)((first + b) >> 32);
        word[2][b] = (uint32_t)random->stream;
        word[3][b] = (uint32_t)(random->stream >> 32);
    }
    mixes[width](word, (uint32_t)random->seed, (uint32_t)(random->seed >> 32));
}

void mw__random_uniforms(mw__random *random, mw__random_width width, float *out, size_t count)
{
    size_t i = 0;
    for (; i < count && random->position % 4 != 0; i++)
        out[i] = mw__random_uniform(random);
    for (uint32_t word[4][BLOCKS]; count - i >= 4 * BLOCKS; i += 4 * BLOCKS) {
        draw_blocks(random, random->position / 4, width, word);
        for (int b = 0; b < BLOCKS; b++)
            for (int w = 0; w < 4; w++)
                out[i + (size_t)(4 * b + w)] = (float)(int32_t)(word[w][b] >> 8) * 0x1p-24f;
        random->position += 4 * BLOCKS;
    }
    for (; i < count; i++)
        out[i] = mw__random_uniform(random);
}

float mw__random_normal(mw__random *random)
{
    const uint32_t first = mw__random_u32(random);
    return (float)mw__normal_of(first, mw__random_u32(random));
}

/* Two numbers of each block. */
MW__NORMAL_INLINE void take_pairs(uint32_t word[4][BLOCKS], float *out)
{
    float even[BLOCKS], odd[BLOCKS];
    for (int b = 0; b < BLOCKS; b++)
        even[b] = (float)mw__normal_of(word[0][b], word[1][b]);
    for (int b = 0; b < BLOCKS; b++)
        odd[b] = (float)mw__normal_of(word[2][b], word[3][b]);
    for (int b = 0; b < BLOCKS; b++)
        out[2 * b] = even[b], out[2 * b + 1] = odd[b];
}

static void pairs(uint32_t word[4][BLOCKS], float *out) { take_pairs(word, out); }

#if defined(__x86_64__)
AVX2 static void pairs_avx2(uint32_t word[4][BLOCKS], float *out) { take_pairs(word, out); }
AVX512 static void pairs_avx512(uint32_t word[4][BLOCKS], float *out) { take_pairs(word, out); }
#else
#define pairs_avx2   pairs
#define pairs_avx512 pairs
#endif

void mw__random_normals(mw__random *random, mw__random_width width, float *out, size_t count)
{
    static void (*const takes[])(uint32_t word[4][BLOCKS], float *out) = {pairs, pairs_avx2, pairs_avx512};
    size_t i = 0;
    for (; i < count && random->position % 4 != 0 && random->position % 2 == 0; i++)
        out[i] = mw__random_normal(random);
    for (uint32_t word[4][BLOCKS]; count - i >= 2 * BLOCKS && random->position % 4 == 0; i += 2 * BLOCKS) {
        draw_blocks(random, random->position / 4, width, word);
        takes[width](word, out + i);
        random->position += 4 * BLOCKS;
    }
    for (; i < count; i++)
        out[i] = mw__random_normal(random);
}

void mw__random_shuffle(mw__random *random, uint32_t *items, size_t count)
{
    for (size_t left = count; left > 1; left--) {
        const size_t chosen = (size_t)mw__random_below(random, left);
        const uint32_t item = items[chosen];
        items[chosen] = items[left - 1];
        items[left - 1] = item;
    }
}

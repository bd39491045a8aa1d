/* Blocks of quantised weights. d and m are halves: a scale, and a minimum that is added or taken away; q are small
 * integers. Each block is expanded as its formula says, in single precision, one product and one sum an element. */
#include "format/tensors/gguf_blocks.h"

#include "base/fp16.h"

#include <string.h>

static float half_at(const unsigned char *at) { return mw__fp16_to_float((uint16_t)(at[0] | at[1] << 8)); }

static uint32_t word_at(const unsigned char *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* ---- blocks of 32 ---- */

/* d, q[32] of 8 bits: x = d q */
static void expand_q8_0(const unsigned char *block, float *out)
{
    const float d = half_at(block);
    for (int i = 0; i < 32; i++)
        out[i] = d * (float)(int8_t)block[2 + i];
}

/* d, q[32] of 4 bits, the first 16 in the low halves: x = d (q - 8) */
static void expand_q4_0(const unsigned char *block, float *out)
{
    const float d = half_at(block);
    for (int i = 0; i < 16; i++) {
        out[i] = d * (float)((block[2 + i] & 15) - 8);
        out[i + 16] = d * (float)((block[2 + i] >> 4) - 8);
    }
}

/* d, m, q[32] of 4 bits: x = d q + m */
static void expand_q4_1(const unsigned char *block, float *out)
{
    const float d = half_at(block), m = half_at(block + 2);
    for (int i = 0; i < 16; i++) {
        out[i] = d * (float)(block[4 + i] & 15) + m;
        out[i + 16] = d * (float)(block[4 + i] >> 4) + m;
    }
}

/* A fifth bit of each q stands in a word. */
static int five_bits(int low, uint32_t high, int i) { return low | (int)(high >> i & 1) << 4; }

/* d, fifth bits, q[32]: x = d (q - 16) */
static void expand_q5_0(const unsigned char *block, float *out)
{
    const float d = half_at(block);
    const uint32_t high = word_at(block + 2);
    for (int i = 0; i < 16; i++) {
        out[i] = d * (float)(five_bits(block[6 + i] & 15, high, i) - 16);
        out[i + 16] = d * (float)(five_bits(block[6 + i] >> 4, high, i + 16) - 16);
    }
}

/* d, m, fifth bits, q[32]: x = d q + m */
static void expand_q5_1(const unsigned char *block, float *out)
{
    const float d = half_at(block), m = half_at(block + 2);
    const uint32_t high = word_at(block + 4);
    for (int i = 0; i < 16; i++) {
        out[i] = d * (float)five_bits(block[8 + i] & 15, high, i) + m;
        out[i + 16] = d * (float)five_bits(block[8 + i] >> 4, high, i + 16) + m;
    }
}

/* ---- blocks of 256 ---- */

/* Eight scales and eight minima of 6 bits in 12 bytes: the first four of each whole, the high 2 bits of the others
 * above them. */
static void sixes(const unsigned char *packed, int j, int *out_scale, int *out_minimum)
{
    if (j < 4) {
        *out_scale = packed[j] & 63;
        *out_minimum = packed[j + 4] & 63;
    } else {
        *out_scale = (packed[j + 4] & 15) | packed[j - 4] >> 6 << 4;
        *out_minimum = packed[j + 4] >> 4 | packed[j] >> 6 << 4;
    }
}

/* d, dmin, packed scales, q[256] of 4 bits: of sub-block j of 32, x = d scale_j q - dmin minimum_j. Sub-blocks 2k and
 * 2k + 1 are the low and the high halves of 32 bytes. */
static void expand_q4_k(const unsigned char *block, float *out)
{
    const float d = half_at(block), dmin = half_at(block + 2);
    for (int j = 0; j < 8; j++) {
        int scale, minimum;
        sixes(block + 4, j, &scale, &minimum);
        const float step = d * (float)scale, low = dmin * (float)minimum;
        for (int i = 0; i < 32; i++)
            out[32 * j + i] = step * (float)(block[16 + 32 * (j / 2) + i] >> (4 * (j % 2)) & 15) - low;
    }
}

/* The same with a fifth bit: bit j of 32 bytes. */
static void expand_q5_k(const unsigned char *block, float *out)
{
    const float d = half_at(block), dmin = half_at(block + 2);
    for (int j = 0; j < 8; j++) {
        int scale, minimum;
        sixes(block + 4, j, &scale, &minimum);
        const float step = d * (float)scale, low = dmin * (float)minimum;
        for (int i = 0; i < 32; i++) {
            const int four = block[48 + 32 * (j / 2) + i] >> (4 * (j % 2)) & 15;
            out[32 * j + i] = step * (float)(four | (block[16 + i] >> j & 1) << 4) - low;
        }
    }
}

/* ql[128], qh[64], scales[16] of 8 bits, d: x = d scale (q - 32), a scale for 16 elements. In each half of 128, element
 * 32 a + i has its low 4 bits in ql[32 (a % 2) + i], low or high half by a / 2, and its high 2 in qh[i] at 2 a. */
static void expand_q6_k(const unsigned char *block, float *out)
{
    const unsigned char *low = block, *high = block + 128, *scales = block + 192;
    const float d = half_at(block + 208);
    for (int n = 0; n < 256; n++) {
        const int half = n / 128, a = n % 128 / 32, i = n % 32;
        const int four = low[64 * half + 32 * (a % 2) + i] >> (4 * (a / 2)) & 15;
        const int two = high[32 * half + i] >> (2 * a) & 3;
        out[n] = d * (float)(int8_t)scales[n / 16] * (float)((four | two << 4) - 32);
    }
}

/* ---- types ---- */

static const mw__gguf_type types[] = {
    {"F32", 0, MW_F32, 1, 4, NULL},
    {"F16", 1, MW_F16, 1, 2, NULL},
    {"Q4_0", 2, MW_F32, 32, 18, expand_q4_0},
    {"Q4_1", 3, MW_F32, 32, 20, expand_q4_1},
    {"Q5_0", 6, MW_F32, 32, 22, expand_q5_0},
    {"Q5_1", 7, MW_F32, 32, 24, expand_q5_1},
    {"Q8_0", 8, MW_F32, 32, 34, expand_q8_0},
    {"Q4_K", 12, MW_F32, 256, 144, expand_q4_k},
    {"Q5_K", 13, MW_F32, 256, 176, expand_q5_k},
    {"Q6_K", 14, MW_F32, 256, 210, expand_q6_k},
    {"I8", 24, MW_I8, 1, 1, NULL},
    {"I16", 25, MW_I16, 1, 2, NULL},
    {"I32", 26, MW_I32, 1, 4, NULL},
    {"I64", 27, MW_I64, 1, 8, NULL},
    {"F64", 28, MW_F64, 1, 8, NULL},
    {"BF16", 30, MW_BF16, 1, 2, NULL},
};

static const char *const others[] = {
    [9] = "Q8_1",    [10] = "Q2_K",    [11] = "Q3_K",  [15] = "Q8_K",   [16] = "IQ2_XXS",
    [17] = "IQ2_XS", [18] = "IQ3_XXS", [19] = "IQ1_S", [20] = "IQ4_NL", [21] = "IQ3_S",
    [22] = "IQ2_S",  [23] = "IQ4_XS",  [29] = "IQ1_M", [34] = "TQ1_0",  [35] = "TQ2_0",
};

const mw__gguf_type *mw__gguf_type_find(uint32_t number)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (types[i].number == number)
            return &types[i];
    return NULL;
}

const char *mw__gguf_type_name(uint32_t number)
{
    return number < sizeof others / sizeof others[0] && others[number] != NULL ? others[number] : "?";
}

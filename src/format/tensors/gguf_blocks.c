/* Blocks of quantized weights, taken apart into small integers and the numbers that they share. d and m are halves: a
 * scale, and a minimum that is added or taken away; q are the integers. Expanding is in single precision, one product
 * and one sum an element. */
#include "format/tensors/gguf_blocks.h"

#include "base/number/bytes.h"
#include "base/number/fp16.h"

#include <string.h>

static float half_at(const unsigned char *at) { return mw__fp16_to_float(mw__bytes_u16(at)); }

/* ---- blocks of 32 ---- */

/* d, q[32] of 8 bits: x = d q */
static void split_q8_0(const unsigned char *block, mw__gguf_parts *out)
{
    out->scale[0] = half_at(block);
    memcpy(out->q, block + 2, 32);
}

/* 32 of 4 bits, the first 16 in the low halves. */
static void split_nibbles(const unsigned char *nibbles, int minus, int8_t *out)
{
    for (int i = 0; i < 16; i++) {
        out[i] = (int8_t)((nibbles[i] & 15) - minus);
        out[i + 16] = (int8_t)((nibbles[i] >> 4) - minus);
    }
}

/* The same with a fifth bit of each in a word. */
static void split_fives(const unsigned char *nibbles, uint32_t high, int minus, int8_t *out)
{
    split_nibbles(nibbles, minus, out);
    for (int i = 0; i < 32; i++)
        out[i] = (int8_t)(out[i] + (int)(high >> i & 1) * 16);
}

/* d, q[32] of 4 bits: x = d (q - 8) */
static void split_q4_0(const unsigned char *block, mw__gguf_parts *out)
{
    out->scale[0] = half_at(block);
    split_nibbles(block + 2, 8, out->q);
}

/* d, m, q[32] of 4 bits: x = d q + m */
static void split_q4_1(const unsigned char *block, mw__gguf_parts *out)
{
    out->scale[0] = half_at(block);
    out->minimum[0] = half_at(block + 2);
    split_nibbles(block + 4, 0, out->q);
}

/* d, fifth bits, q[32]: x = d (q - 16) */
static void split_q5_0(const unsigned char *block, mw__gguf_parts *out)
{
    out->scale[0] = half_at(block);
    split_fives(block + 6, mw__bytes_u32(block + 2), 16, out->q);
}

/* d, m, fifth bits, q[32]: x = d q + m */
static void split_q5_1(const unsigned char *block, mw__gguf_parts *out)
{
    out->scale[0] = half_at(block);
    out->minimum[0] = half_at(block + 2);
    split_fives(block + 8, mw__bytes_u32(block + 4), 0, out->q);
}

/* ---- blocks of 256 ---- */

/* d, dmin, and in 12 bytes eight scales and eight minima of 6 bits: the first four of each whole, the high 2 bits of
 * the others above them. Sub-block j of 32 has the scale d scale_j and the minimum -dmin minimum_j. */
static void split_scales(const unsigned char *block, mw__gguf_parts *out)
{
    const float d = half_at(block), dmin = half_at(block + 2);
    const unsigned char *packed = block + 4;
    for (int j = 0; j < 8; j++) {
        int scale = packed[j] & 63, minimum = packed[j + 4] & 63;
        if (j >= 4) {
            scale = (packed[j + 4] & 15) | packed[j - 4] >> 6 << 4;
            minimum = packed[j + 4] >> 4 | packed[j] >> 6 << 4;
        }
        out->scale[j] = d * (float)scale;
        out->minimum[j] = -(dmin * (float)minimum);
    }
}

/* Sub-blocks 2k and 2k + 1 are the low and the high halves of 32 bytes. */
static void split_sub_blocks(const unsigned char *nibbles, int8_t *out)
{
    for (int n = 0; n < 256; n++)
        out[n] = (int8_t)(nibbles[32 * (n / 64) + n % 32] >> (4 * (n / 32 % 2)) & 15);
}

/* d, dmin, packed scales, q[256] of 4 bits: x = d scale_j q - dmin minimum_j */
static void split_q4_k(const unsigned char *block, mw__gguf_parts *out)
{
    split_scales(block, out);
    split_sub_blocks(block + 16, out->q);
}

/* The same with a fifth bit: bit j of 32 bytes. */
static void split_q5_k(const unsigned char *block, mw__gguf_parts *out)
{
    split_scales(block, out);
    split_sub_blocks(block + 48, out->q);
    for (int n = 0; n < 256; n++)
        out->q[n] = (int8_t)(out->q[n] | (block[16 + n % 32] >> (n / 32) & 1) << 4);
}

/* ql[128], qh[64], scales[16] of 8 bits, d: x = d scale (q - 32), a scale for 16 elements. In each half of 128, element
 * 32 a + i has its low 4 bits in ql[32 (a % 2) + i], low or high half by a / 2, and its high 2 in qh[i] at 2 a. */
static void split_q6_k(const unsigned char *block, mw__gguf_parts *out)
{
    const unsigned char *low = block, *high = block + 128, *scales = block + 192;
    const float d = half_at(block + 208);
    for (int j = 0; j < 16; j++)
        out->scale[j] = d * (float)(int8_t)scales[j];
    for (int n = 0; n < 256; n++) {
        const int half = n / 128, a = n % 128 / 32, i = n % 32;
        const int four = low[64 * half + 32 * (a % 2) + i] >> (4 * (a / 2)) & 15;
        const int two = high[32 * half + i] >> (2 * a) & 3;
        out->q[n] = (int8_t)((four | two << 4) - 32);
    }
}

/* ---- types ---- */

static const mw__gguf_type types[] = {
    {"F32", 0, MW_F32, 1, 4, {0}, NULL},
    {"F16", 1, MW_F16, 1, 2, {0}, NULL},
    {"Q4_0", 2, MW_F32, 32, 18, {MW_I4, 32, false}, split_q4_0},
    {"Q4_1", 3, MW_F32, 32, 20, {MW_U4, 32, true}, split_q4_1},
    {"Q5_0", 6, MW_F32, 32, 22, {MW_I8, 32, false}, split_q5_0},
    {"Q5_1", 7, MW_F32, 32, 24, {MW_I8, 32, true}, split_q5_1},
    {"Q8_0", 8, MW_F32, 32, 34, {MW_I8, 32, false}, split_q8_0},
    {"Q4_K", 12, MW_F32, 256, 144, {MW_U4, 32, true}, split_q4_k},
    {"Q5_K", 13, MW_F32, 256, 176, {MW_I8, 32, true}, split_q5_k},
    {"Q6_K", 14, MW_F32, 256, 210, {MW_I8, 16, false}, split_q6_k},
    {"I8", 24, MW_I8, 1, 1, {0}, NULL},
    {"I16", 25, MW_I16, 1, 2, {0}, NULL},
    {"I32", 26, MW_I32, 1, 4, {0}, NULL},
    {"I64", 27, MW_I64, 1, 8, {0}, NULL},
    {"F64", 28, MW_F64, 1, 8, {0}, NULL},
    {"BF16", 30, MW_BF16, 1, 2, {0}, NULL},
};

const mw__gguf_value_type mw__gguf_values[MW__GGUF_TYPES] = {
    {"u8", 1},   {"i8", 1},     {"u16", 2},   {"i16", 2}, {"u32", 4}, {"i32", 4}, {"f32", 4},
    {"bool", 1}, {"string", 0}, {"array", 0}, {"u64", 8}, {"i64", 8}, {"f64", 8}};

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

const mw__gguf_type *mw__gguf_type_named(const char *name)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(types[i].name, name) == 0)
            return &types[i];
    return NULL;
}

const char *mw__gguf_type_name(uint32_t number)
{
    return number < sizeof others / sizeof others[0] && others[number] != NULL ? others[number] : "?";
}

void mw__gguf_expand(const mw__gguf_type *type, const unsigned char *block, float *out)
{
    mw__gguf_parts parts;
    type->split(block, &parts);
    for (size_t i = 0; i < type->block; i++) {
        const size_t part = i / (size_t)type->form.part;
        out[i] = parts.scale[part] * (float)parts.q[i];
        if (type->form.shifted)
            out[i] += parts.minimum[part];
    }
}

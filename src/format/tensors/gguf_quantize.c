/* Blocks of quantized weights, put together: one scale for 32 elements, chosen and rounded as ggml's reference does, so
 * that files have the bytes that its tools write.
 * source  the formulas of ggml's reference quantization */
#include "base/number/fp16.h"
#include "format/tensors/gguf_blocks.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 32 };

static void put_half(unsigned char *at, float value)
{
    const uint16_t half = mw__fp16_from_float(value);
    at[0] = (unsigned char)(half & 255);
    at[1] = (unsigned char)(half >> 8);
}

/* d = max |x| / 127, q = x / d rounded away from zero where it is a half. */
static void pack_q8_0(const float *in, unsigned char *block)
{
    float largest = 0.0f;
    for (int i = 0; i < BLOCK; i++)
        largest = fmaxf(largest, fabsf(in[i]));
    const float d = largest / 127.0f;
    const float inverse = d != 0.0f ? 1.0f / d : 0.0f;
    put_half(block, d);
    for (int i = 0; i < BLOCK; i++)
        block[2 + i] = (unsigned char)(int8_t)roundf(in[i] * inverse);
}

static unsigned nibble_of(float x, float inverse)
{
    const int q = (int8_t)(x * inverse + 8.5f);
    return (unsigned)(q < 15 ? q : 15);
}

/* The element of the largest size becomes -8 exactly, with its sign in the scale. */
static void pack_q4_0(const float *in, unsigned char *block)
{
    float largest = 0.0f, end = 0.0f;
    for (int i = 0; i < BLOCK; i++) {
        if (fabsf(in[i]) > largest) {
            largest = fabsf(in[i]);
            end = in[i];
        }
    }
    const float d = end / -8.0f;
    const float inverse = d != 0.0f ? 1.0f / d : 0.0f;
    put_half(block, d);
    for (int i = 0; i < BLOCK / 2; i++)
        block[2 + i] = (unsigned char)(nibble_of(in[i], inverse) | nibble_of(in[i + BLOCK / 2], inverse) << 4);
}

static void pack_f32(const float *in, unsigned char *block)
{
    uint32_t bits;
    memcpy(&bits, in, 4);
    for (int i = 0; i < 4; i++)
        block[i] = (unsigned char)(bits >> (8 * i));
}

static void pack_f16(const float *in, unsigned char *block) { put_half(block, *in); }

static void pack_bf16(const float *in, unsigned char *block)
{
    uint16_t bits;
    mw__bf16_from_float_n(&bits, in, 1);
    block[0] = (unsigned char)(bits & 255);
    block[1] = (unsigned char)(bits >> 8);
}

mw__gguf_packer *mw__gguf_packer_of(const mw__gguf_type *type)
{
    static const struct {
        const char *name;
        mw__gguf_packer *pack;
    } packers[] = {{"F32", pack_f32}, {"F16", pack_f16}, {"BF16", pack_bf16}, {"Q8_0", pack_q8_0}, {"Q4_0", pack_q4_0}};
    for (size_t i = 0; i < sizeof packers / sizeof packers[0]; i++)
        if (strcmp(type->name, packers[i].name) == 0)
            return packers[i].pack;
    return NULL;
}

/* Four products, each rounded to fp16, are added one after the other by an adder of 12 bits: the smaller number loses
 * what is below the twelfth bit of the larger one before they are added. Those sums are added in fp32.
 *
 * Found by fitting the ane-guide's table of survivors (chapter 3): of [B, -B, 1] sixteen times in a matmul 16 are left
 * up to B = 4090 and 4 from 4096 on, and 4096 + 1024 ones are 5116. Tiles that are rounded to fp16, as the text there
 * says, would lose ones from 2048 on, where fp16 has no odd numbers. */
#include "engine/kernels/gemm/gemm_chip.h"

#include "engine/kernels/math/math_scalar.h"

enum { FOUR = 4, BITS = 12 };

/* x without what is below the last of BITS bits of `most`, ties to even. */
static float aligned(float x, float most)
{
    const int32_t power = (int32_t)(mw__bits_of(most) & 0x7f800000u);
    if (power == 0x7f800000)
        return x;
    const float much = 1.5f * mw__float_of((uint32_t)power + ((24u - BITS) << 23));
    return (x + much) - much;
}

static float add_chip_floats(float a, float b)
{
    const float most = fabsf(a) > fabsf(b) ? a : b;
    return most == 0.0f ? 0.0f : aligned(a, most) + aligned(b, most);
}

static float element(const mw__gemm_shape *s, const float *a, const float *b, int64_t i, int64_t j)
{
    float sum = 0.0f, four = 0.0f;
    for (int64_t p = 0; p < s->k; p++) {
        const float x = a[s->transpose_a ? p * s->lda + i : i * s->lda + p];
        const float y = b[s->transpose_b ? j * s->ldb + p : p * s->ldb + j];
        const float product = mw__round_to_half(x * y);
        four = p % FOUR == 0 ? product : add_chip_floats(four, product);
        if (p % FOUR == FOUR - 1 || p == s->k - 1)
            sum += four;
    }
    return sum;
}

void mw__gemm_chip(const mw__gemm_shape *s, const float *a, const float *b, float *c)
{
    for (int64_t i = 0; i < s->m; i++)
        for (int64_t j = 0; j < s->n; j++)
            c[i * s->ldc + j] = element(s, a, b, i, j);
}

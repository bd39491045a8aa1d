/* Planes read where they lie, whose lanes are added up as a product of vectors adds them: bits against the product with
 * columns that are copied here, which the gradient by the weight of a depthwise convolution for chips is written as. */
#include "base/number/random.h"
#include "engine/kernels/conv/kernel_conv_depthwise.h"
#include "engine/kernels/gemm/gemm.h"
#include "engine/run.h"
#include "support/check.h"

#include <math.h>
#include <string.h>

enum { SIDE = 40, TAPS = 25 };

/* Of tiny numbers all products are below 0 and underflow, so that lanes are -0; those that are not finite meet zeros of
 * the border. */
typedef enum kind { PLAIN, TINY, WILD, KINDS } kind;

static float number(mw__random *random, kind of, float sign)
{
    static const float wild[] = {INFINITY, -INFINITY, NAN, -0.0f, 0.0f, 3e38f, -3e38f, 1e-45f};
    const uint32_t drawn = mw__random_u32(random);
    const float plain = 2.0f * mw__random_uniform(random) - 1.0f;
    return of == TINY ? copysignf(plain * 1e-30f, sign) : of == WILD && drawn % 64 < 8 ? wild[drawn % 8] : plain;
}

typedef struct plane {
    int64_t rows, columns, kernel; /* kernel: of both axes, odd */
    float x[SIDE * SIDE], dy[SIDE * SIDE];
} plane;

static void put_columns(const plane *p, float *columns)
{
    const int64_t border = p->kernel / 2;
    for (int64_t ky = -border; ky <= border; ky++)
        for (int64_t kx = -border; kx <= border; kx++)
            for (int64_t y = ky; y < p->rows + ky; y++)
                for (int64_t x = kx; x < p->columns + kx; x++)
                    *columns++ = y >= 0 && y < p->rows && x >= 0 && x < p->columns ? p->x[y * p->columns + x] : 0.0f;
}

static void by_product(const plane *p, const mw__config *config, float *out)
{
    static float columns[TAPS * SIDE * SIDE];
    const int64_t positions = p->rows * p->columns, taps = p->kernel * p->kernel;
    const mw__gemm_code code = mw__gemm_choose(config, 1, taps, positions);
    const mw__gemm_shape shape = {
        .m = 1, .n = taps, .k = positions, .lda = positions, .ldb = positions, .ldc = taps, .transpose_b = true};
    put_columns(p, columns);
    mw__gemm(&code, &shape, p->dy, columns, out, NULL);
}

static void by_planes(const plane *p, const mw__packed_code *code, float *out)
{
    static uint16_t mask[TAPS * SIDE * SIDE];
    int32_t at[TAPS];
    float sums[TAPS * 16] = {0};
    const int64_t in[2] = {p->rows, p->columns}, count = p->rows * p->columns, taps = p->kernel * p->kernel;
    const mw__packed_flat flat = {.taps = taps, .count = count, .at = at, .mask = mask};
    memset(mask, 0, sizeof mask);
    for (int64_t t = 0; t < taps; t++) {
        const int64_t offset[2] = {t / p->kernel - p->kernel / 2, t % p->kernel - p->kernel / 2};
        mw__depthwise_fill_flat(code, in, count, offset, &at[t], mask + t * mw__depthwise_vectors(count, code));
    }
    code->flat_dots(&flat, p->x, p->dy, &(mw__packed_next){p->x, p->dy}, sums);
    code->totals(taps, count % code->width, sums, out);
}

static void check_plane(const mw__config *config, const mw__packed_code *code, mw__random *random, kind of)
{
    static plane p;
    float wanted[TAPS], got[TAPS];
    p = (plane){.rows = 1 + (int64_t)(mw__random_below(random, SIDE)),
                .columns = 2 + (int64_t)(mw__random_below(random, SIDE - 2)),
                .kernel = 1 + 2 * (int64_t)(mw__random_below(random, 3))};
    for (int64_t i = 0; i < p.rows * p.columns; i++)
        p.x[i] = number(random, of, -1.0f), p.dy[i] = number(random, of, 1.0f);
    by_product(&p, config, wanted);
    by_planes(&p, code, got);
    for (int64_t t = 0; t < p.kernel * p.kernel; t++)
        CHECK(memcmp(&wanted[t], &got[t], sizeof *got) == 0 || (isnan(wanted[t]) && isnan(got[t])));
}

static void test_planes_add_as_the_product_with_their_columns(void)
{
    const mw__config config = config_here();
    const mw__packed_code *code = mw__packed_code_of(config.level);
    if (config.level < MW__LEVEL_AVX512 || code->totals == NULL)
        SKIP("no AVX-512, or it may not be used");
    mw__random random = {.seed = 7};
    for (int i = 0; i < 600; i++)
        check_plane(&config, code, &random, (kind)(i % KINDS));
}

int main(void)
{
    RUN(test_planes_add_as_the_product_with_their_columns);
    return check_finish();
}

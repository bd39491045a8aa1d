/* Convolutions and their gradients leave out what lies in the border where that changes no bit: bits against chains of
 * multiply-adds written here, which multiply every zero, for ordinary numbers, for such as underflow to -0, and for
 * infinities and NaN, whose products with zeros are NaN. Of a form for chips, against its operations one by one. */
#include "base/number/random.h"
#include "engine/program_case.h"
#include "engine/run.h"
#include "support/check.h"
#include "support/on_engine.h"
#include "support/setting.h"

#include <math.h>
#include <millwright/millwright.h>
#include <stdlib.h>
#include <string.h>

typedef struct shape {
    const char *what;
    int64_t n, c, h, w, o, kh, kw, stride, dilation;
    int64_t top, bottom, left, right;
} shape;

/* clang-format off */
static const shape shapes[] = {
    {"examples, 4 x 4", 33, 40, 4, 4, 30, 3, 3, 1, 1, 1, 1, 1, 1},
    {"examples, one position", 32, 70, 1, 1, 17, 3, 3, 1, 1, 1, 1, 1, 1},
    {"examples, a stride", 64, 29, 8, 7, 19, 3, 3, 2, 1, 1, 1, 1, 1},
    {"examples, a wide border", 30, 64, 3, 5, 20, 5, 4, 1, 1, 3, 2, 2, 3},
    {"examples, dilated", 31, 33, 6, 5, 16, 3, 2, 1, 2, 2, 2, 1, 1},
    {"examples, a stride beyond the kernel", 32, 20, 7, 7, 16, 2, 2, 3, 1, 1, 2, 1, 2},
    {"frames, 8 x 8", 3, 24, 8, 8, 40, 3, 3, 1, 1, 1, 1, 1, 1},
    {"frames, several tiles a row", 2, 16, 9, 33, 33, 3, 3, 1, 1, 1, 1, 1, 1},
    {"frames, a border of two", 2, 9, 7, 15, 16, 5, 5, 1, 1, 2, 2, 2, 2},
    {"frames, one side", 2, 9, 7, 15, 16, 3, 3, 1, 1, 2, 0, 0, 2},
    {"frames, a stride", 2, 12, 15, 31, 32, 3, 3, 2, 1, 1, 1, 1, 1},
    {"frames, dilated", 2, 12, 14, 14, 16, 3, 3, 1, 3, 3, 3, 3, 3},
    {"frames, bands of rows", 1, 40, 62, 70, 16, 3, 3, 1, 1, 1, 1, 1, 1},
    {"frames, a border beyond the kernel", 2, 8, 5, 9, 16, 2, 2, 1, 1, 3, 1, 2, 4},
    {"packed, deep", 3, 300, 6, 6, 18, 3, 3, 1, 1, 1, 1, 1, 1},
};
/* clang-format on */

/* Products underflow: of TINY those of y and dx are below 0, of LOW those of y and the gradient by the weight, and
 * there zeros of the border are not. */
typedef enum kind { PLAIN, TINY, WILD, LOW, KINDS } kind;

typedef struct numbers {
    int64_t rows, columns; /* of y */
    float *x, *weight, *bias, *dy;
} numbers;

static float number(mw__random *random, kind of, float sign)
{
    static const float wild[] = {INFINITY, -INFINITY, NAN, -0.0f};
    const uint32_t drawn = mw__random_u32(random);
    const float plain = 2.0f * mw__random_uniform(random) - 1.0f;
    if (of == TINY || of == LOW)
        return copysignf(plain * 1e-30f, sign);
    return of == WILD && drawn % 512 < 4 ? wild[drawn % 4] : plain;
}

static float *draw(mw__random *random, int64_t count, kind of, float sign)
{
    float *all = malloc((size_t)count * sizeof *all);
    for (int64_t i = 0; all != NULL && i < count; i++)
        all[i] = number(random, of, sign);
    return all;
}

static numbers numbers_of(const shape *s, kind of)
{
    mw__random random = {.seed = 11};
    numbers out = {.rows = (s->h + s->top + s->bottom - (s->kh - 1) * s->dilation - 1) / s->stride + 1,
                   .columns = (s->w + s->left + s->right - (s->kw - 1) * s->dilation - 1) / s->stride + 1};
    out.x = draw(&random, s->n * s->c * s->h * s->w, of == WILD ? PLAIN : of, of == LOW ? -1.0f : 1.0f);
    out.weight = draw(&random, s->o * s->c * s->kh * s->kw, of, of == LOW ? 1.0f : -1.0f);
    out.bias = draw(&random, s->o, of == WILD ? WILD : PLAIN, 1.0f);
    out.dy = draw(&random, s->n * s->o * out.rows * out.columns, of, 1.0f);
    for (int64_t i = 0; of != WILD && out.bias != NULL && i < s->o; i++)
        out.bias[i] = i % 3 == 0 ? -0.0f : i % 3 == 1 ? 0.0f : out.bias[i];
    return out;
}

static void numbers_deinit(numbers *a) { free(a->x), free(a->weight), free(a->bias), free(a->dy); }

/* ---- chains ---- */

static float x_at(const shape *s, const numbers *a, int64_t n, int64_t c, int64_t y, int64_t x)
{
    return y >= 0 && y < s->h && x >= 0 && x < s->w ? a->x[((n * s->c + c) * s->h + y) * s->w + x] : 0.0f;
}

static float dy_at(const shape *s, const numbers *a, int64_t n, int64_t o, int64_t y, int64_t x)
{
    return y >= 0 && y < a->rows && x >= 0 && x < a->columns ? a->dy[((n * s->o + o) * a->rows + y) * a->columns + x]
                                                             : 0.0f;
}

static float weight_at(const shape *s, const numbers *a, int64_t o, int64_t c, int64_t ky, int64_t kx)
{
    return a->weight[((o * s->c + c) * s->kh + ky) * s->kw + kx];
}

static float chain_y(const shape *s, const numbers *a, int64_t i)
{
    const int64_t x = i % a->columns, y = i / a->columns % a->rows, o = i / (a->columns * a->rows) % s->o;
    const int64_t n = i / (a->columns * a->rows * s->o);
    float sum = 0.0f;
    for (int64_t c = 0; c < s->c; c++)
        for (int64_t ky = 0; ky < s->kh; ky++)
            for (int64_t kx = 0; kx < s->kw; kx++)
                sum = fmaf(x_at(s, a, n, c, y * s->stride + ky * s->dilation - s->top,
                                x * s->stride + kx * s->dilation - s->left),
                           weight_at(s, a, o, c, ky, kx), sum);
    return sum + a->bias[o];
}

/* Zeros between the elements of a dy that is spread by the stride are left out. */
static float chain_dx(const shape *s, const numbers *a, int64_t i)
{
    const int64_t x = i % s->w, y = i / s->w % s->h, c = i / (s->w * s->h) % s->c, n = i / (s->w * s->h * s->c);
    float sum = 0.0f;
    for (int64_t o = 0; o < s->o; o++)
        for (int64_t ky = s->kh - 1; ky >= 0; ky--)
            for (int64_t kx = s->kw - 1; kx >= 0; kx--) {
                const int64_t row = y + s->top - ky * s->dilation, column = x + s->left - kx * s->dilation;
                if (row % s->stride != 0 || column % s->stride != 0)
                    continue;
                sum = fmaf(row < 0 || column < 0 ? 0.0f : dy_at(s, a, n, o, row / s->stride, column / s->stride),
                           weight_at(s, a, o, c, ky, kx), sum);
            }
    return sum + 0.0f;
}

static float chain_dweight(const shape *s, const numbers *a, int64_t i)
{
    const int64_t kx = i % s->kw, ky = i / s->kw % s->kh, c = i / (s->kw * s->kh) % s->c,
                  o = i / (s->kw * s->kh * s->c);
    float sum = 0.0f;
    for (int64_t n = 0; n < s->n; n++)
        for (int64_t y = 0; y < a->rows; y++)
            for (int64_t x = 0; x < a->columns; x++)
                sum = fmaf(dy_at(s, a, n, o, y, x),
                           x_at(s, a, n, c, y * s->stride + ky * s->dilation - s->top,
                                x * s->stride + kx * s->dilation - s->left),
                           sum);
    return sum + 0.0f;
}

/* ---- the engine ---- */

static const char *const names[] = {"y", "dweight", "dx"};

static mw_graph *build(const shape *s, const numbers *a, mw_dtype dtype)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_error err = {0};
    mw_conv_options options = program_conv(s->stride, s->dilation, 1);
    options.pad[0] = s->top, options.pad[1] = s->bottom, options.pad[2] = s->left, options.pad[3] = s->right;
    mw_tensor *x = mw_input(graph, "x", dtype, (mw_shape){4, {s->n, s->c, s->h, s->w}});
    mw_tensor *weight = mw_input(graph, "weight", dtype, (mw_shape){4, {s->o, s->c, s->kh, s->kw}});
    mw_tensor *bias = mw_input(graph, "bias", dtype, (mw_shape){1, {s->o}});
    mw_tensor *dy = mw_input(graph, "dy", dtype, (mw_shape){4, {s->n, s->o, a->rows, a->columns}});
    mw_tensor *y = mw_conv(x, weight, bias, &options), *of[] = {x, weight}, *gradients[2];
    CHECK(mw_vjp(&y, &dy, 1, of, 2, gradients, &err) == MW_OK);
    mw_output(y, names[0]), mw_output(gradients[1], names[1]), mw_output(gradients[0], names[2]);
    return graph;
}

static program_outputs run(mw_program *program, const shape *s, const numbers *a, mw_error *err)
{
    const struct {
        const char *name;
        const float *data;
        int64_t count;
    } inputs[] = {{"x", a->x, s->n * s->c * s->h * s->w},
                  {"weight", a->weight, s->o * s->c * s->kh * s->kw},
                  {"bias", a->bias, s->o},
                  {"dy", a->dy, s->n * s->o * a->rows * a->columns}};
    for (size_t i = 0; program != NULL && i < sizeof inputs / sizeof *inputs; i++)
        mw_program_write(program, inputs[i].name, MW_F32, inputs[i].data, (size_t)inputs[i].count, err);
    mw_program_run(program, err);
    const program_outputs out = program_outputs_read(program, names, 3, err);
    mw_program_destroy(program);
    return out;
}

static void compare(const shape *s, const numbers *a, kind of, const program_output *out,
                    float (*chain)(const shape *s, const numbers *a, int64_t i))
{
    const float *got = (const float *)(const void *)out->data;
    for (int64_t i = 0; got != NULL && i < (int64_t)out->count; i += 1 + i % 7) { /* chains are slow */
        const float wanted = chain(s, a, i);
        if (!check_note(memcmp(&got[i], &wanted, sizeof wanted) == 0 || (isnan(wanted) && isnan(got[i])), __FILE__,
                        __LINE__, "%s, kind %d: element %lld of %s is %a, not %a", s->what, (int)of, (long long)i,
                        out->name, (double)got[i], (double)wanted))
            return;
    }
}

static void check_shape(const shape *s, kind of)
{
    mw_error err = {0};
    numbers a = numbers_of(s, of);
    mw_graph *graph = build(s, &a, MW_F32);
    program_outputs out = run(engine_compile(graph, MW_DEVICE_CPU, 1, &err), s, &a, &err);
    CHECK_OK(err);
    compare(s, &a, of, &out.of[0], chain_y);
    compare(s, &a, of, &out.of[1], chain_dweight);
    compare(s, &a, of, &out.of[2], chain_dx);
    program_outputs_deinit(&out);
    mw_graph_destroy(graph);
    numbers_deinit(&a);
}

static void check_all(void)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (kind of = PLAIN; of < KINDS; of++)
            check_shape(&shapes[i], of);
}

static void test_sums_are_the_chains_with_every_zero(void)
{
#if defined(__x86_64__)
    if (level_here() < MW__LEVEL_AVX2)
        SKIP("no fused multiply-add");
#endif
    check_all();
    setting_begin("MW_ENGINE_WIDE", "256");
    check_all();
    setting_end("MW_ENGINE_WIDE");
}

/* Numbers that are fp16, as those of a chip are. The zeros between elements that a stride puts into the gradient by x
 * are not multiplied, which infinite weights show (docs/chip.md). */
static void test_forms_for_chips_have_the_bits_of_their_operations(void)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (kind of = PLAIN; of < KINDS; of += 2) {
            mw_error err = {0};
            const shape *s = &shapes[i];
            numbers a = numbers_of(s, of);
            mw_graph *graph = build(s, &a, MW_F16);
            program_outputs fused = run(engine_compile(graph, MW_DEVICE_ANE, 1, &err), s, &a, &err);
            program_outputs plain = run(program_compile_plain(graph, MW_DEVICE_ANE, 1, &err), s, &a, &err);
            CHECK_OK(err);
            program_outputs_compare(&fused, &plain, of == WILD && s->stride > 1 ? 2 : 3, s->what);
            program_outputs_deinit(&plain);
            program_outputs_deinit(&fused);
            mw_graph_destroy(graph);
            numbers_deinit(&a);
        }
}

int main(void)
{
    RUN(test_sums_are_the_chains_with_every_zero);
    RUN(test_forms_for_chips_have_the_bits_of_their_operations);
    return check_finish();
}

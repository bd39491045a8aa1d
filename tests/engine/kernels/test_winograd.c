/* Winograd's convolution and its gradients against sums in double precision, beside the sums in fp32 that
 * MW_ENGINE_EXACT_CONVOLUTION keeps: how far either may be, where it is taken and where not, and that bits do not
 * depend on threads. */
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
    int64_t n, c, h, w, o;
    int64_t top, bottom, left, right;
    bool bias;
} shape;

/* clang-format off */
static const shape shapes[] = {
    {"whole tiles", 2, 64, 16, 16, 64, 1, 1, 1, 1, true},
    {"odd sides", 3, 64, 9, 13, 64, 1, 1, 1, 1, false},
    {"prime channels", 2, 67, 11, 17, 71, 1, 1, 1, 1, true},
    {"no border", 2, 64, 14, 10, 64, 0, 0, 0, 0, true},
    {"a border on one side", 2, 65, 12, 19, 66, 2, 0, 0, 2, false},
    {"a border of two", 1, 64, 13, 9, 80, 2, 2, 2, 2, true},
    {"wide", 1, 64, 8, 250, 64, 1, 1, 1, 1, true},
    {"high", 1, 64, 131, 8, 64, 1, 1, 1, 1, false},
    {"many channels", 5, 300, 8, 8, 129, 1, 1, 1, 1, true},
    {"many examples", 37, 64, 8, 9, 96, 1, 1, 1, 1, false},
};
/* clang-format on */

enum { SHAPES = sizeof shapes / sizeof *shapes, OUTPUTS = 3, SAMPLES = 700 };

typedef struct numbers {
    int64_t rows, columns; /* of y */
    float *x, *weight, *bias, *dy;
} numbers;

static float *draw(mw__random *random, int64_t count, float scale)
{
    float *all = malloc((size_t)count * sizeof *all);
    for (int64_t i = 0; all != NULL && i < count; i++)
        all[i] = scale * mw__random_normal(random);
    return all;
}

static numbers numbers_of(const shape *s)
{
    mw__random random = {.seed = 5};
    numbers out = {.rows = s->h + s->top + s->bottom - 2, .columns = s->w + s->left + s->right - 2};
    out.x = draw(&random, s->n * s->c * s->h * s->w, 1.0f);
    out.weight = draw(&random, s->o * s->c * 9, 0.05f);
    out.bias = draw(&random, s->o, 1.0f);
    out.dy = draw(&random, s->n * s->o * out.rows * out.columns, 1.0f);
    return out;
}

static void numbers_deinit(numbers *a) { free(a->x), free(a->weight), free(a->bias), free(a->dy); }

/* ---- sums in double precision ---- */

static double x_at(const shape *s, const numbers *a, int64_t n, int64_t c, int64_t y, int64_t x)
{
    return y >= 0 && y < s->h && x >= 0 && x < s->w ? (double)a->x[((n * s->c + c) * s->h + y) * s->w + x] : 0.0;
}

static double dy_at(const shape *s, const numbers *a, int64_t n, int64_t o, int64_t y, int64_t x)
{
    return y >= 0 && y < a->rows && x >= 0 && x < a->columns
               ? (double)a->dy[((n * s->o + o) * a->rows + y) * a->columns + x]
               : 0.0;
}

static double sum_y(const shape *s, const numbers *a, int64_t i)
{
    const int64_t x = i % a->columns, y = i / a->columns % a->rows, o = i / (a->columns * a->rows) % s->o;
    const int64_t n = i / (a->columns * a->rows * s->o);
    double sum = s->bias ? (double)a->bias[o] : 0.0;
    for (int64_t c = 0; c < s->c; c++)
        for (int64_t t = 0; t < 9; t++)
            sum += x_at(s, a, n, c, y + t / 3 - s->top, x + t % 3 - s->left) * (double)a->weight[(o * s->c + c) * 9 + t];
    return sum;
}

static double sum_dx(const shape *s, const numbers *a, int64_t i)
{
    const int64_t x = i % s->w, y = i / s->w % s->h, c = i / (s->w * s->h) % s->c, n = i / (s->w * s->h * s->c);
    double sum = 0.0;
    for (int64_t o = 0; o < s->o; o++)
        for (int64_t t = 0; t < 9; t++)
            sum += dy_at(s, a, n, o, y + s->top - t / 3, x + s->left - t % 3) * (double)a->weight[(o * s->c + c) * 9 + t];
    return sum;
}

static double sum_dweight(const shape *s, const numbers *a, int64_t i)
{
    const int64_t t = i % 9, c = i / 9 % s->c, o = i / 9 / s->c;
    double sum = 0.0;
    for (int64_t n = 0; n < s->n; n++)
        for (int64_t y = 0; y < a->rows; y++)
            for (int64_t x = 0; x < a->columns; x++)
                sum += dy_at(s, a, n, o, y, x) * x_at(s, a, n, c, y + t / 3 - s->top, x + t % 3 - s->left);
    return sum;
}

/* ---- the engine ---- */

static const char *const names[OUTPUTS] = {"y", "dx", "dweight"};
static double (*const sums[OUTPUTS])(const shape *s, const numbers *a, int64_t i) = {sum_y, sum_dx, sum_dweight};

static mw_graph *build(const shape *s, const numbers *a, mw_dtype dtype)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_error err = {0};
    mw_conv_options options = program_conv(1, 1, 1);
    options.pad[0] = s->top, options.pad[1] = s->bottom, options.pad[2] = s->left, options.pad[3] = s->right;
    mw_tensor *x = mw_input(graph, "x", dtype, (mw_shape){4, {s->n, s->c, s->h, s->w}});
    mw_tensor *weight = mw_input(graph, "weight", dtype, (mw_shape){4, {s->o, s->c, 3, 3}});
    mw_tensor *bias = s->bias ? mw_input(graph, "bias", dtype, (mw_shape){1, {s->o}}) : NULL;
    mw_tensor *dy = mw_input(graph, "dy", dtype, (mw_shape){4, {s->n, s->o, a->rows, a->columns}});
    mw_tensor *y = mw_conv(x, weight, bias, &options), *of[] = {x, weight}, *gradients[2];
    CHECK(mw_vjp(&y, &dy, 1, of, 2, gradients, &err) == MW_OK);
    for (int i = 0; i < OUTPUTS; i++)
        mw_output(i == 0 ? y : gradients[i - 1], names[i]);
    return graph;
}

static program_outputs run(mw_program *program, const shape *s, const numbers *a, mw_error *err)
{
    const struct {
        const char *name;
        const float *data;
        int64_t count;
    } inputs[] = {{"x", a->x, s->n * s->c * s->h * s->w},
                  {"weight", a->weight, s->o * s->c * 9},
                  {"dy", a->dy, s->n * s->o * a->rows * a->columns},
                  {"bias", a->bias, s->o}};
    for (size_t i = 0; program != NULL && i < sizeof inputs / sizeof *inputs - !s->bias; i++)
        mw_program_write(program, inputs[i].name, MW_F32, inputs[i].data, (size_t)inputs[i].count, err);
    mw_program_run(program, err);
    return program_outputs_read(program, names, OUTPUTS, err);
}

/* The root of the mean square of the error over that of the sums, of some elements. */
static double error_of(const shape *s, const numbers *a, const program_outputs *out, int of)
{
    const float *got = (const float *)(const void *)out->of[of].data;
    const int64_t count = (int64_t)out->of[of].count, step = count / SAMPLES > 1 ? count / SAMPLES : 1;
    double wrong = 0.0, all = 0.0;
    for (int64_t i = 0; got != NULL && i < count; i += i % 3 == 0 ? 2 * step - 1 : 1) {
        const double wanted = sums[of](s, a, i);
        wrong += ((double)got[i] - wanted) * ((double)got[i] - wanted), all += wanted * wanted;
    }
    return sqrt(wrong / all);
}

int main(void)
{
    for (size_t i = 0; i < SHAPES; i++) {
        const shape *s = &shapes[i];
        mw_error err = {0};
        numbers a = numbers_of(s);
        mw_graph *graph = build(s, &a, MW_F32);
        for (int exact = 0; exact < 2; exact++) {
            setting_begin("MW_ENGINE_EXACT_CONVOLUTION", exact ? "1" : "0");
            mw_program *p = engine_compile(graph, MW_DEVICE_CPU, 1, &err);
            program_outputs out = run(p, s, &a, &err);
            printf("%-20s %d", s->what, exact);
            for (int k = 0; k < OUTPUTS; k++) printf(" %s %.2e", names[k], error_of(s, &a, &out, k));
            printf("\n");
            CHECK_OK(err);
            setting_end("MW_ENGINE_EXACT_CONVOLUTION");
        }
        numbers_deinit(&a);
    }
    return check_finish();
}

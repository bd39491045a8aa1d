/* conv and conv_transpose at sizes where the fast kernels take several tiles, depths and blocks of rows, against the
 * plain ones (MW_ENGINE_REF=1), on one lane and on three, in wide and in baseline vectors. */
#include "base/fp16.h"
#include "base/random.h"
#include "support/check.h"
#include "support/on_engine.h"
#include "support/setting.h"

#include <millwright/millwright.h>
#include <stdlib.h>

typedef struct shapes {
    const char *what;
    bool transpose;
    mw_shape x, weight;
    int64_t stride, dilation, groups;
} shapes;

/* clang-format off */
static const shapes cases[] = {
    {"several depths", false, {4, {1, 300, 5, 5}}, {4, {3, 300, 3, 3}}, 1, 1, 1},
    {"several blocks of rows", false, {4, {2, 2, 12, 9}}, {4, {300, 2, 1, 2}}, 1, 1, 1},
    {"several tiles of small images", false, {4, {70, 3, 5, 4}}, {4, {7, 3, 2, 2}}, 1, 1, 1},
    {"several tiles of one line", false, {3, {1, 2, 3000}}, {3, {5, 2, 4}}, 2, 3, 1},
    {"groups", false, {4, {3, 6, 20, 21}}, {4, {9, 2, 3, 2}}, 2, 2, 3},
    {"space", false, {5, {2, 2, 7, 8, 9}}, {5, {4, 2, 2, 3, 2}}, 2, 1, 1},
    {"direct, rows with an end", false, {4, {3, 3, 9, 15}}, {4, {6, 3, 3, 3}}, 1, 1, 1},
    {"direct, one vector a row", false, {4, {2, 4, 4, 9}}, {4, {5, 4, 3, 3}}, 1, 1, 1},
    {"direct, one row", false, {3, {2, 3, 50}}, {3, {4, 3, 5}}, 3, 2, 1},
    {"direct, strides and groups", false, {4, {3, 4, 24, 37}}, {4, {6, 2, 5, 3}}, 2, 1, 2},
    {"direct, a stride wider than the kernel", false, {4, {2, 2, 20, 40}}, {4, {3, 2, 2, 2}}, 4, 1, 1},
    {"wide, several panels and lines", false, {4, {2, 5, 13, 45}}, {4, {75, 5, 3, 3}}, 1, 1, 1},
    {"wide, phases of columns", false, {4, {3, 3, 24, 37}}, {4, {24, 3, 5, 7}}, 3, 2, 1},
    {"wide, a stride wider than the kernel", false, {4, {2, 2, 20, 40}}, {4, {12, 2, 2, 2}}, 4, 1, 1},
    {"wide, groups", false, {4, {3, 8, 9, 11}}, {4, {32, 4, 3, 3}}, 1, 1, 2},
    {"wide, one row", false, {3, {2, 3, 50}}, {3, {16, 3, 5}}, 3, 2, 1},
    {"transpose, several tiles", true, {4, {1, 2, 60, 60}}, {4, {2, 17, 5, 5}}, 1, 1, 1},
    {"transpose, blocks of channels", true, {4, {2, 3, 30, 31}}, {4, {3, 40, 3, 3}}, 2, 1, 1},
    {"transpose, groups", true, {4, {2, 6, 9, 8}}, {4, {6, 5, 3, 2}}, 2, 2, 3},
    {"transpose, space", true, {5, {1, 2, 4, 5, 6}}, {5, {2, 3, 2, 3, 2}}, 2, 1, 1},
};
/* clang-format on */

static float *draw(mw_shape shape, uint64_t stream)
{
    const int64_t count = mw_shape_count(shape);
    float *data = malloc((size_t)count * sizeof *data);
    mw__random random = {.seed = 4, .stream = stream};
    for (int64_t i = 0; data != NULL && i < count; i++)
        data[i] = 2.0f * mw__random_uniform(&random) - 1.0f;
    return data;
}

static mw_tensor *constant(mw_graph *graph, mw_dtype dtype, mw_shape shape, const float *data)
{
    const size_t count = (size_t)mw_shape_count(shape);
    uint16_t *half = malloc(count * sizeof *half);
    mw__fp16_from_float_n(half, data, count);
    mw_tensor *result = mw_constant(graph, dtype, shape, dtype == MW_F16 ? (const void *)half : data);
    free(half);
    return result;
}

static mw_tensor *build(const shapes *s, mw_graph *graph, mw_dtype dtype, const float *weights)
{
    mw_conv_options options = mw_conv_defaults();
    for (int i = 0; i < 3; i++) {
        options.stride[i] = s->stride;
        options.dilation[i] = s->dilation;
    }
    options.groups = s->groups;
    options.pad_type = MW_PAD_CUSTOM;
    options.pad[0] = options.pad[3] = 1;
    mw_tensor *x = mw_input(graph, "x", dtype, s->x), *weight = constant(graph, dtype, s->weight, weights);
    return mw_output(s->transpose ? mw_conv_transpose(x, weight, NULL, &options) : mw_conv(x, weight, NULL, &options),
                     "y");
}

/* The result in fp32, freed by the caller; NULL after a noted failure. */
static float *compute(const shapes *s, mw_dtype dtype, int threads, int64_t *out_count)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL);
    float *x = draw(s->x, 1), *weights = draw(s->weight, 2), *y = NULL;
    const mw_tensor *result = build(s, graph, dtype, weights);
    mw_program *program = engine_compile(graph, MW_DEVICE_CPU, threads, &err);
    *out_count = mw_shape_count(mw_tensor_shape(result));
    if (program != NULL)
        mw_program_write(program, "x", MW_F32, x, (size_t)mw_shape_count(s->x), &err);
    mw_run(program, &err);
    const void *data = mw_program_view(program, "y", &err);
    if (check_note(err.status == MW_OK && data != NULL, __FILE__, __LINE__, "%s: %s", s->what, err.message)) {
        y = malloc((size_t)*out_count * sizeof *y);
        for (int64_t i = 0; i < *out_count; i++)
            y[i] = dtype == MW_F16 ? mw__fp16_to_float(((const uint16_t *)data)[i]) : ((const float *)data)[i];
    }
    mw_program_destroy(program);
    mw_graph_destroy(graph);
    free(weights);
    free(x);
    return y;
}

/* At most 2700 products of numbers below 1 in another order, each sum off by half a unit in the last place, which add
 * up as their root: 52. A BLAS that keeps one sum a column comes that far. fp16 then rounds, perhaps the other way. */
static void compare(const shapes *s, mw_dtype dtype, const float *fast, const float *plain, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        const double a = (double)fast[i], b = (double)plain[i];
        const double allowed = 2e-5 + 52 * ldexp(fabs(b), -24) + (dtype == MW_F16 ? ldexp(fabs(b), -10) : 0.0);
        if (!check_note(fabs(a - b) <= allowed, __FILE__, __LINE__, "%s in %s: element %lld is %.9g, not %.9g", s->what,
                        mw_dtype_name(dtype), (long long)i, a, b))
            return;
    }
}

static void check_case(const shapes *s, mw_dtype dtype, int threads)
{
    int64_t count = 0;
    setting_begin("MW_ENGINE_REF", "1");
    float *plain = compute(s, dtype, threads, &count);
    setting_end("MW_ENGINE_REF");
    float *fast = compute(s, dtype, threads, &count);
    setting_begin("MW_ENGINE_WIDE", "0");
    float *base = compute(s, dtype, threads, &count);
    setting_end("MW_ENGINE_WIDE");
    if (plain != NULL && fast != NULL)
        compare(s, dtype, fast, plain, count);
    if (plain != NULL && base != NULL)
        compare(s, dtype, base, plain, count);
    free(base);
    free(fast);
    free(plain);
}

static void test_fast_kernels_agree_with_the_plain_ones(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int threads = 1; threads <= 3; threads += 2) {
            check_case(&cases[i], MW_F32, threads);
            check_case(&cases[i], MW_F16, threads);
        }
}

int main(void)
{
    RUN(test_fast_kernels_agree_with_the_plain_ones);
    return check_finish();
}

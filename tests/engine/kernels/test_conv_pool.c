/* A convolution with a pooling behind it, and the gradients of both, at odd sizes. The operations one by one
 * (MW_ENGINE_FUSE=0) and the plain kernels (MW_ENGINE_REF=1) must give the bytes of the joined steps: the latter, and
 * the gradients by weight and bias in fp32, for numbers whose sums are exact in any order. */
#include "engine/core/kernel.h"
#include "engine/kernels/gemm/blas.h"
#include "engine/program_case.h"
#include "engine/run.h"
#include "support/check.h"
#include "support/on_engine.h"
#include "support/setting.h"

#include <millwright/millwright.h>

typedef struct shapes {
    const char *what;
    mw_shape x, weight;
    int64_t stride, dilation, groups; /* 0 = 1 */
    int64_t pad;
    bool no_relu;
    bool watched; /* somebody else needs the result of the convolution: nothing is joined */
    bool apart;   /* too small: nothing is joined */
} shapes;

static const shapes cases[] = {
    {.what = "one channel", .x = {4, {5, 1, 28, 28}}, .weight = {4, {16, 1, 3, 3}}, .pad = 1},
    {.what = "two panels", .x = {4, {3, 16, 14, 14}}, .weight = {4, {48, 16, 3, 3}}, .pad = 1},
    {.what = "odd extents", .x = {4, {3, 18, 9, 13}}, .weight = {4, {33, 18, 3, 3}}, .pad = 1},
    {.what = "odd channels", .x = {4, {2, 19, 11, 17}}, .weight = {4, {23, 19, 3, 3}}, .pad = 1},
    {.what = "few channels", .x = {4, {2, 3, 11, 37}}, .weight = {4, {11, 3, 5, 3}}, .pad = 2},
    {.what = "too few channels", .x = {4, {2, 3, 12, 10}}, .weight = {4, {5, 3, 3, 3}}, .pad = 1, .apart = true},
    {.what = "no border", .x = {4, {4, 12, 12, 10}}, .weight = {4, {14, 12, 3, 3}}},
    {.what = "wide kernel", .x = {4, {2, 5, 15, 16}}, .weight = {4, {16, 5, 7, 5}}, .pad = 3},
    {.what = "one element", .x = {4, {2, 20, 8, 9}}, .weight = {4, {16, 20, 1, 1}}},
    {.what = "strides", .x = {4, {3, 6, 25, 31}}, .weight = {4, {13, 6, 3, 4}}, .stride = 2, .pad = 1},
    {.what = "dilation", .x = {4, {3, 6, 18, 21}}, .weight = {4, {16, 6, 3, 2}}, .dilation = 2, .pad = 2},
    {.what = "groups", .x = {4, {3, 8, 14, 12}}, .weight = {4, {24, 4, 3, 3}}, .groups = 2, .pad = 1},
    {.what = "long rows", .x = {4, {1, 2, 6, 270}}, .weight = {4, {16, 2, 3, 3}}, .pad = 1},
    {.what = "without relu", .x = {4, {3, 8, 10, 14}}, .weight = {4, {16, 8, 3, 3}}, .pad = 1, .no_relu = true},
    {.what = "watched", .x = {4, {3, 8, 10, 14}}, .weight = {4, {16, 8, 3, 3}}, .pad = 1, .watched = true},
};

enum { Y, DX, DWEIGHT, DBIAS, RESULTS };
static const char *const names[RESULTS] = {"y", "dx", "dweight", "dbias"};

static mw_shape bias_shape(const shapes *s) { return MW_SHAPE(s->weight.dim[0]); }

static mw_tensor *forward(const shapes *s, mw_tensor *x, mw_tensor *weight, mw_tensor *bias)
{
    mw_conv_options options = program_conv(s->stride, s->dilation, s->groups);
    for (int i = 0; i < 4; i++)
        options.pad[i] = s->pad;
    mw_pool_options two = mw_pool_defaults(MW_SHAPE(2, 2));
    two.stride[0] = two.stride[1] = 2;
    mw_tensor *y = mw_conv(x, weight, bias, &options);
    if (s->watched)
        mw_output(mw_mul_scalar(y, 2.0), "watched");
    return mw_max_pool(s->no_relu ? y : mw_relu(y), &two);
}

/* Ports of fp16 are converted where they are read or written; what is computed is not. */
static mw_tensor *apart_from_port(mw_tensor *value)
{
    const uint16_t one = 0x3c00;
    return mw_tensor_dtype(value) == MW_F16 ? mw_mul(value, mw_constant(value->graph, MW_F16, (mw_shape){0}, &one))
                                            : value;
}

static mw_graph *build(const shapes *s, mw_dtype dtype)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_error err = {0};
    if (dtype == MW_F16)
        graph->lowering = MW__LOWERING_DECOMPOSED; /* as a trainer for a chip does */
    mw_tensor *given[3] = {mw_input(graph, "x", dtype, s->x), mw_input(graph, "weight", dtype, s->weight),
                           mw_input(graph, "bias", dtype, bias_shape(s))};
    mw_tensor *y = forward(s, given[0], given[1], given[2]), *gradients[3] = {NULL};
    mw_tensor *dy = apart_from_port(mw_input(graph, "dy", dtype, mw_tensor_shape(y)));
    mw_vjp(&y, &dy, 1, given, 3, gradients, &err);
    CHECK_OK(err);
    mw_output(apart_from_port(y), names[Y]);
    for (int i = 0; i < 3; i++)
        mw_output(apart_from_port(gradients[i]), names[DX + i]);
    return graph;
}

static void check_label(const shapes *s, const mw_program *program)
{
    const bool joined = !s->watched && !s->apart && level_here() == MW__LEVEL_AVX512;
    const run_label wanted = {.label = s->no_relu ? "conv.max_pool" : "conv.relu.max_pool", .count = joined ? 1 : 0};
    run_check_labels(s->what, mw_program_get_info(program).mil, &wanted, 1);
}

typedef struct way {
    const program_numbers *numbers;
    bool nan; /* one of x is NaN */
    int threads;
    bool chip; /* on the model of the ANE, in fp16 */
} way;

/* Each input has a stream of its own. */
static void feed(mw_program *program, const way *w, mw_error *err)
{
    static const char *const inputs[] = {"x", "weight", "bias", "dy"};
    for (int i = 0; i < 4; i++) {
        program_numbers numbers = *w->numbers;
        numbers.nan = w->nan && i == 0;
        program_feed(program, inputs[i], &numbers, (uint64_t)inputs[i][0], err);
    }
}

static program_outputs compute(const shapes *s, const way *w, bool look)
{
    mw_error err = {0};
    mw_graph *graph = build(s, w->chip ? MW_F16 : MW_F32);
    mw_program *program = engine_compile(graph, w->chip ? MW_DEVICE_ANE : MW_DEVICE_CPU, w->threads, &err);
    if (program != NULL && look && !w->chip)
        check_label(s, program);
    feed(program, w, &err);
    for (int turn = 0; turn < 2; turn++) /* the second finds the scratch of the first */
        mw_program_run(program, &err);
    const program_outputs out = program_outputs_read(program, names, RESULTS, &err);
    check_note(err.status == MW_OK, __FILE__, __LINE__, "%s: %s", s->what, err.message);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
    return out;
}

/* The first `count` results of every case are the bytes of those with the engine's setting at `value`. */
static void compare_with(const char *setting, const char *value, const way *w, int count)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char what[96];
        program_outputs joined = compute(&cases[i], w, true);
        setting_begin(setting, value);
        program_outputs other = compute(&cases[i], w, false);
        setting_end(setting);
        snprintf(what, sizeof what, "%s with %s=%s on %d threads", cases[i].what, setting, value, w->threads);
        program_outputs_compare(&joined, &other, count, what);
        program_outputs_deinit(&joined);
        program_outputs_deinit(&other);
    }
}

static const program_numbers exact = {.seed = 5, .steps = 8.0f}, rounded = {.seed = 5, .steps = 1e6f};

static void test_joined_steps_give_the_bytes_of_the_operations(void)
{
    for (int threads = 1; threads <= 3; threads++)
        compare_with("MW_ENGINE_FUSE", "0", &(way){.numbers = &exact, .threads = threads}, RESULTS);
}

static void test_rounded_sums_are_those_of_the_operations(void)
{
    compare_with("MW_ENGINE_FUSE", "0", &(way){.numbers = &rounded, .threads = 2}, DWEIGHT);
}

/* Of the gradients only that by x: the one by the weight leaves out products of NaN and zero. */
static void test_nan_is_pooled_as_by_the_operations(void)
{
    compare_with("MW_ENGINE_FUSE", "0", &(way){.numbers = &exact, .nan = true, .threads = 2}, DWEIGHT);
}

static void test_joined_steps_agree_with_the_plain_kernels(void)
{
    compare_with("MW_ENGINE_REF", "1", &(way){.numbers = &exact, .threads = 2}, RESULTS);
}

/* In the form for chips sums keep their order, so that any numbers give the same bytes; a NaN that is fed is infinite
 * there, and its product with a zero that a pooling leaves is not 0. */
static void test_joined_steps_for_chips_give_the_bytes_of_the_operations(void)
{
    for (int threads = 1; threads <= 3; threads++)
        for (int nan = 0; nan < 2; nan++)
            compare_with("MW_ENGINE_FUSE", "0",
                         &(way){.numbers = &rounded, .nan = nan != 0, .threads = threads, .chip = true}, RESULTS);
}

/* Without AVX-512 a BLAS would be taken, which has no kernels of ours and adds in an order of its own. */
int main(void)
{
    mw__blas_choose("none", NULL);
    RUN(test_joined_steps_give_the_bytes_of_the_operations);
    RUN(test_rounded_sums_are_those_of_the_operations);
    RUN(test_nan_is_pooled_as_by_the_operations);
    RUN(test_joined_steps_agree_with_the_plain_kernels);
    RUN(test_joined_steps_for_chips_give_the_bytes_of_the_operations);
    return check_finish();
}

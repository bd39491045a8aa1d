/* Gradient patterns: they are recognized in what the autograd writes, and give what the operations give one by one
 * (MW_ENGINE_FUSE=0): max_pool's gradient and conv's by x the same bytes for any numbers, conv's weight gradient where
 * sums are exact. */
#include "base/number/random.h"
#include "engine/core/kernel.h"
#include "engine/kernels/gemm/blas.h"
#include "engine/program_case.h"
#include "engine/run.h"
#include "gradient_case.h"
#include "support/check.h"
#include "support/on_engine.h"
#include "support/setting.h"

#include <math.h>
#include <millwright/millwright.h>
#include <stdlib.h>
#include <string.h>

static const gradient_family *const families[] = {&gradient_cases_pool, &gradient_cases_average, &gradient_cases_conv,
                                                  &gradient_cases_conv_dx, &gradient_cases_depthwise_dx};

/* Few different numbers, so that windows have ties. */
static const program_numbers few = {.seed = 11, .steps = 8.0f};

/* Ports of fp16 are converted where they are read; what is computed is not. */
static mw_tensor *apart_from_port(mw_tensor *value)
{
    const uint16_t one = 0x3c00;
    return mw_tensor_dtype(value) == MW_F16 ? mw_mul(value, mw_constant(value->graph, MW_F16, (mw_shape){0}, &one))
                                            : value;
}

/* A graph whose output "d" is the gradient by x or by the weight. */
static mw_graph *build(const gradient_family *family, const gradient_case *c, mw_dtype dtype)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = apart_from_port(mw_input(graph, "x", dtype, c->x));
    mw_tensor *weight = family->weighted ? mw_input(graph, "weight", dtype, c->weight) : NULL;
    mw_tensor *y = family->forward(c, x, weight), *wanted = family->by_weight ? weight : x, *gradient = NULL;
    mw_tensor *dy = apart_from_port(mw_input(graph, "dy", dtype, mw_tensor_shape(y)));
    mw_error err = {0};
    mw_vjp(&y, &dy, 1, &wanted, 1, &gradient, &err);
    CHECK_OK(err);
    mw_output(y, "y");
    mw_output(apart_from_port(gradient), "d");
    return graph;
}

/* In fp16 the sums of overlapping windows are rounded one by one. */
static bool is_known(const gradient_case *c, mw_dtype dtype)
{
    return !c->unknown && (dtype == MW_F32 || !c->overlaps);
}

static void check_label(const gradient_family *family, const gradient_case *c, mw_dtype dtype,
                        const mw_program *program)
{
    char label[64];
    const bool direct =
        family->narrow != NULL && c->stride[0] < 2 && (level_here() < MW__LEVEL_AVX512 || c->weight.dim[1] < 8);
    snprintf(label, sizeof label, "%s%s", c->relu ? "relu." : "", direct ? family->narrow : family->label);
    const run_label wanted = {.label = label, .count = is_known(c, dtype) ? 1 : 0};
    run_check_labels(c->what, mw_program_get_info(program).mil, &wanted, 1);
}

static program_outputs compute(const gradient_family *family, const gradient_case *c, const program_numbers *numbers,
                               mw_program *program)
{
    static const char *const names[] = {"d", "y"};
    mw_error err = {0};
    program_feed(program, "x", numbers, 1, &err);
    program_feed(program, "dy", numbers, 2, &err);
    if (family->weighted)
        program_feed(program, "weight", numbers, 3, &err);
    mw_program_run(program, &err);
    const program_outputs out = program_outputs_read(program, names, 2, &err);
    check_note(err.status == MW_OK, __FILE__, __LINE__, "%s: %s", c->what, err.message);
    mw_program_destroy(program);
    return out;
}

static void check_numbers(const gradient_family *family, const gradient_case *c, const program_numbers *numbers,
                          mw_dtype dtype, int threads)
{
    mw_error err = {0};
    char what[96];
    mw_graph *graph = build(family, c, dtype);
    mw_program *fused = engine_compile(graph, MW_DEVICE_CPU, threads, &err);
    mw_program *plain = program_compile_plain(graph, MW_DEVICE_CPU, threads, &err);
    if (CHECK_OK(err))
        check_label(family, c, dtype, fused);
    program_outputs recognized = compute(family, c, numbers, fused), apart = compute(family, c, numbers, plain);
    snprintf(what, sizeof what, "%s, %s, %d threads, recognized and plain", c->what, mw_dtype_name(dtype), threads);
    program_outputs_compare(&recognized, &apart, 2, what);
    program_outputs_deinit(&recognized);
    program_outputs_deinit(&apart);
    mw_graph_destroy(graph);
}

/* The products are multiples of 1/64 below 1, and few enough for their sums to be exact in fp32 in any order; so are
 * the selections of a pooling: bytes are compared. */
static void check_case(const gradient_family *family, const gradient_case *c, mw_dtype dtype, int threads)
{
    check_numbers(family, c, &few, dtype, threads);
}

static void check_families(int threads)
{
    for (size_t f = 0; f < sizeof families / sizeof *families; f++)
        for (size_t i = 0; i < families[f]->count; i++)
            for (int half = 0; half < 2; half++)
                check_case(families[f], &families[f]->rows[i], half ? MW_F16 : MW_F32, threads);
}

static void test_recognized_gradients_agree_with_the_plain_ones(void)
{
    for (int threads = 1; threads <= 3; threads++)
        check_families(threads);
}

/* Of a dy that is NaN, NaN is left for later elements where a window reaches into the padding: many are equal. */
static void test_poolings_agree_on_what_is_no_number(void)
{
    static const program_numbers ties = {.seed = 13, .steps = 2.0f, .nan = true};
    for (size_t i = 0; i < gradient_cases_pool.count; i++)
        check_numbers(&gradient_cases_pool, &gradient_cases_pool.rows[i], &ties, MW_F32, 2);
}

static void test_narrower_vectors_agree_too(void)
{
    static const char *const widths[] = {"0", "256"};
    for (int i = 0; i < 2; i++) {
        setting_begin("MW_ENGINE_WIDE", widths[i]);
        check_families(2);
        setting_end("MW_ENGINE_WIDE");
    }
}

static void test_frames_of_wide_vectors_agree_too(void)
{
    const gradient_family *family = &gradient_cases_wide_dx;
    setting_begin("MW_ENGINE_EXACT_CONVOLUTION", "1"); /* else some are no sums */
    for (int threads = 1; level_here() == MW__LEVEL_AVX512 && threads <= 3; threads++)
        for (size_t i = 0; i < family->count; i++)
            check_case(family, &family->rows[i], MW_F32, threads);
    setting_end("MW_ENGINE_EXACT_CONVOLUTION");
}

/* conv, relu, max_pool, twice, and a head. */
static mw_trainer *make_trainer(mw_device device, const int64_t channels[2], mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(6, 2, 18, 20));
    mw_tensor *y = mw_input(graph, "y", MW_I32, MW_SHAPE(6));
    mw_conv_options same = mw_conv_defaults();
    same.pad_type = MW_PAD_SAME;
    mw_pool_options two = mw_pool_defaults(MW_SHAPE(2, 2));
    two.stride[0] = two.stride[1] = 2;
    mw_tensor *h = mw_max_pool(mw_relu(mw_conv_layer(x, channels[0], MW_SHAPE(3, 3), "conv1", &same)), &two);
    h = mw_max_pool(mw_relu(mw_conv_layer(h, channels[1], MW_SHAPE(3, 3), "conv2", &same)), &two);
    mw_tensor *logits = mw_dense(mw_reshape(h, MW_SHAPE(6, channels[1] * 4 * 5)), 7, "fc");
    mw_trainer *trainer = engine_trainer(mw_cross_entropy(logits, y), mw_adam(1e-3f), device, 0, err);
    mw_graph_destroy(graph);
    return trainer;
}

static void check_step(mw_device device, const int64_t channels[2], const run_label *labels, size_t count)
{
    mw_error err = {0};
    mw_trainer *trainer = make_trainer(device, channels, &err);
    REQUIRE(trainer != NULL);
    run_check_labels("a step", mw_program_get_info(mw_trainer_program(trainer)).mil, labels, count);
    mw_trainer_destroy(trainer);
}

static void test_a_training_step_is_made_of_idioms(void)
{
    static const run_label rows[] = {
        {"conv.few", 1},                                 /* forward twice, */
        {"conv.direct", 1},   {"conv_transpose.few", 1}, /* and the gradient by x of the second */
        {"conv.dweight", 2},                             /* with the bias */
        {"relu.max_pool", 2}, {"relu.max_pool.gradient", 2}, {"relu", 0}, {"pad", 0},
        {"select", 0}}; /* that of the loss, the logit of the label, is summed at once */
    check_step(MW_DEVICE_CPU, (const int64_t[]){3, 5}, rows, sizeof rows / sizeof *rows);
}

static void test_wide_convolutions_and_poolings_are_joined(void)
{
    static const run_label rows[] = {{"conv.relu.max_pool", 2}, {"conv.scatter", 1},  {"conv.dweight.argmax", 2},
                                     {"conv.avx512", 0},        {"relu.max_pool", 0}, {"relu.max_pool.unpool", 0}};
    if (level_here() == MW__LEVEL_AVX512)
        check_step(MW_DEVICE_CPU, (const int64_t[]){16, 32}, rows, sizeof rows / sizeof *rows);
}

static void test_a_training_step_for_a_chip_is_made_of_idioms(void)
{
    static const run_label rows[] = {{"conv.columns.bias", 2},
                                     {"conv.columns", 3}, /* by x once, by the weights twice */
                                     {"add", 0},
                                     {"relu.max_pool", 2},
                                     {"relu.max_pool.gradient", 2},
                                     {"all_within", 0},      /* of large tensors only */
                                     {"all_within.join", 3}, /* six gradients, 18 new values and the loss, 14 a step */
                                     {"relu", 0},
                                     {"pad", 0},
                                     {"slice_by_index", 0},
                                     {"concat", 0},
                                     {"reduce_min", 0}};
    check_step(MW_DEVICE_ANE, (const int64_t[]){3, 5}, rows, sizeof rows / sizeof *rows);
}

static void test_convolutions_for_chips_and_poolings_are_joined(void)
{
    static const run_label rows[] = {
        {"conv.relu.max_pool", 2}, {"conv.columns.bias", 0}, {"relu.max_pool", 0}, {"relu.max_pool.gradient", 0}};
    if (level_here() == MW__LEVEL_AVX512)
        check_step(MW_DEVICE_ANE, (const int64_t[]){16, 32}, rows, sizeof rows / sizeof *rows);
}

/* ---- convolutions for chips ---- */

typedef struct chip_layer {
    int64_t outputs;
    mw_shape kernel;
    int64_t stride, dilation, groups; /* stride of the first axis, dilation of the last; 0 = 1 */
    mw_pad_type pad;
} chip_layer;

typedef struct chip {
    const char *what;
    mw_shape x;
    chip_layer layers[2];
    bool pooled; /* relu and a pooling, so that most of a gradient is zero, in place of gelu */
    bool twice;  /* a pooling behind the first layer, too */
} chip;

/* Sums of more than one block of 256 and of less, channels of more than one vector and panel and of less. */
static const chip chips[] = {
    {.what = "strides, groups and dilation",
     .x = {4, {5, 4, 13, 17}},
     .layers = {{.outputs = 6, .kernel = {2, {3, 3}}, .stride = 2, .pad = MW_PAD_SAME},
                {.outputs = 6, .kernel = {2, {2, 4}}, .dilation = 2, .groups = 2, .pad = MW_PAD_VALID}}},
    {.what = "many channels",
     .x = {4, {3, 7, 9, 21}},
     .layers = {{.outputs = 40, .kernel = {2, {3, 3}}, .pad = MW_PAD_SAME},
                {.outputs = 19, .kernel = {2, {3, 3}}, .pad = MW_PAD_VALID}}},
    {.what = "many channels, strides",
     .x = {4, {5, 3, 9, 11}},
     .layers = {{.outputs = 24, .kernel = {2, {3, 3}}, .pad = MW_PAD_SAME},
                {.outputs = 37, .kernel = {2, {3, 3}}, .stride = 2, .pad = MW_PAD_SAME}}},
    {.what = "parts of images",
     .x = {4, {5, 2, 27, 23}},
     .layers = {{.outputs = 17, .kernel = {2, {3, 3}}, .pad = MW_PAD_SAME},
                {.outputs = 15, .kernel = {2, {2, 3}}, .pad = MW_PAD_VALID}}},
    {.what = "four images at once, groups",
     .x = {4, {5, 2, 11, 11}},
     .layers = {{.outputs = 68, .kernel = {2, {3, 3}}, .pad = MW_PAD_SAME},
                {.outputs = 22, .kernel = {2, {3, 3}}, .groups = 2, .pad = MW_PAD_SAME}}},
    {.what = "one axis",
     .x = {3, {2, 3, 301}},
     .layers = {{.outputs = 5, .kernel = {1, {4}}, .pad = MW_PAD_SAME},
                {.outputs = 33, .kernel = {1, {2}}, .pad = MW_PAD_SAME}}},
    {.what = "many positions, groups",
     .x = {4, {2, 2, 19, 35}},
     .layers = {{.outputs = 8, .kernel = {2, {5, 3}}, .dilation = 2, .groups = 2, .pad = MW_PAD_SAME},
                {.outputs = 18, .kernel = {2, {3, 5}}, .stride = 2, .groups = 2, .pad = MW_PAD_SAME}}},
    {.what = "a wide border",
     .x = {4, {3, 2, 6, 3}},
     .layers = {{.outputs = 17, .kernel = {2, {9, 9}}, .pad = MW_PAD_SAME},
                {.outputs = 4, .kernel = {2, {1, 2}}, .pad = MW_PAD_VALID}}},
    {.what = "zeros left out, more channels than a vector",
     .x = {4, {3, 2, 18, 35}},
     .layers = {{.outputs = 19, .kernel = {2, {3, 3}}, .pad = MW_PAD_SAME},
                {.outputs = 7, .kernel = {2, {3, 5}}, .pad = MW_PAD_VALID}},
     .pooled = true},
    {.what = "zeros left out, strides, groups and dilation",
     .x = {4, {3, 2, 23, 19}},
     .layers = {{.outputs = 18, .kernel = {2, {3, 3}}, .pad = MW_PAD_VALID},
                {.outputs = 10, .kernel = {2, {3, 3}}, .stride = 2, .dilation = 2, .groups = 2, .pad = MW_PAD_SAME}},
     .pooled = true},
    {.what = "zeros left out, one axis",
     .x = {3, {2, 3, 701}},
     .layers = {{.outputs = 16, .kernel = {1, {4}}, .pad = MW_PAD_SAME},
                {.outputs = 9, .kernel = {1, {3}}, .pad = MW_PAD_SAME}},
     .pooled = true},
    {.what = "two poolings",
     .x = {4, {7, 1, 28, 26}},
     .layers = {{.outputs = 16, .kernel = {2, {3, 3}}, .pad = MW_PAD_SAME},
                {.outputs = 32, .kernel = {2, {3, 3}}, .pad = MW_PAD_SAME}},
     .pooled = true,
     .twice = true},
    {.what = "two poolings, many channels, odd extents",
     .x = {4, {5, 3, 19, 23}},
     .layers = {{.outputs = 32, .kernel = {2, {3, 3}}, .pad = MW_PAD_SAME},
                {.outputs = 45, .kernel = {2, {3, 3}}, .pad = MW_PAD_VALID}},
     .pooled = true,
     .twice = true},
    {.what = "two poolings, a long kernel, many windows",
     .x = {4, {2, 2, 39, 41}},
     .layers = {{.outputs = 16, .kernel = {2, {5, 4}}, .pad = MW_PAD_SAME},
                {.outputs = 12, .kernel = {2, {3, 5}}, .pad = MW_PAD_SAME}},
     .pooled = true,
     .twice = true},
    {.what = "two poolings, strides and groups",
     .x = {4, {5, 2, 31, 21}},
     .layers = {{.outputs = 24, .kernel = {2, {3, 3}}, .stride = 2, .pad = MW_PAD_SAME},
                {.outputs = 26, .kernel = {2, {2, 3}}, .dilation = 2, .groups = 2, .pad = MW_PAD_SAME}},
     .pooled = true,
     .twice = true},
    {.what = "one tap, many channels",
     .x = {4, {9, 9, 9, 11}},
     .layers = {{.outputs = 40, .kernel = {2, {1, 1}}, .pad = MW_PAD_VALID},
                {.outputs = 33, .kernel = {2, {1, 1}}, .pad = MW_PAD_SAME}}},
    {.what = "one tap, one axis, groups, sums of more than a block",
     .x = {3, {3, 4, 333}},
     .layers = {{.outputs = 40, .kernel = {1, {1}}, .pad = MW_PAD_VALID},
                {.outputs = 36, .kernel = {1, {1}}, .groups = 2, .pad = MW_PAD_VALID}}},
    {.what = "one tap, strides",
     .x = {4, {5, 3, 9, 11}},
     .layers = {{.outputs = 24, .kernel = {2, {1, 1}}, .pad = MW_PAD_VALID},
                {.outputs = 20, .kernel = {2, {1, 1}}, .stride = 2, .pad = MW_PAD_VALID}},
     .pooled = true},
    {.what = "a channel a group",
     .x = {4, {9, 3, 14, 13}},
     .layers = {{.outputs = 12, .kernel = {2, {1, 1}}, .pad = MW_PAD_VALID},
                {.outputs = 12, .kernel = {2, {3, 3}}, .groups = 12, .pad = MW_PAD_SAME}}},
    {.what = "a channel a group, planes of more than a block, five by five",
     .x = {4, {2, 2, 31, 33}},
     .layers = {{.outputs = 5, .kernel = {2, {3, 3}}, .pad = MW_PAD_SAME},
                {.outputs = 5, .kernel = {2, {5, 5}}, .groups = 5, .pad = MW_PAD_SAME}}},
    {.what = "a channel a group, planes of whole vectors",
     .x = {4, {3, 2, 16, 16}},
     .layers = {{.outputs = 7, .kernel = {2, {3, 3}}, .pad = MW_PAD_SAME},
                {.outputs = 7, .kernel = {2, {3, 3}}, .groups = 7, .pad = MW_PAD_SAME}}},
    {.what = "a channel a group, strides, zeros of dy",
     .x = {4, {3, 2, 32, 34}},
     .layers = {{.outputs = 7, .kernel = {2, {3, 3}}, .stride = 2, .pad = MW_PAD_SAME},
                {.outputs = 7, .kernel = {2, {3, 3}}, .stride = 2, .groups = 7, .pad = MW_PAD_SAME}},
     .pooled = true},
    {.what = "a channel a group, strides, two outputs of each",
     .x = {4, {5, 2, 19, 16}},
     .layers = {{.outputs = 6, .kernel = {2, {3, 3}}, .pad = MW_PAD_SAME},
                {.outputs = 12, .kernel = {2, {3, 3}}, .stride = 2, .groups = 6, .pad = MW_PAD_SAME}}},
    {.what = "a channel a group, dilation, no border, zeros of dy",
     .x = {4, {5, 2, 19, 16}},
     .layers = {{.outputs = 6, .kernel = {2, {3, 3}}, .pad = MW_PAD_SAME},
                {.outputs = 6, .kernel = {2, {3, 2}}, .dilation = 2, .groups = 6, .pad = MW_PAD_VALID}},
     .pooled = true},
    {.what = "three axes",
     .x = {5, {4, 2, 7, 8, 9}},
     .layers = {{.outputs = 18, .kernel = {3, {3, 3, 3}}, .pad = MW_PAD_SAME},
                {.outputs = 5, .kernel = {3, {2, 3, 3}}, .stride = 2, .dilation = 2, .pad = MW_PAD_SAME}}},
    {.what = "three axes, two poolings",
     .x = {5, {3, 2, 9, 10, 11}},
     .layers = {{.outputs = 16, .kernel = {3, {3, 3, 3}}, .pad = MW_PAD_SAME},
                {.outputs = 18, .kernel = {3, {3, 2, 3}}, .pad = MW_PAD_SAME}},
     .pooled = true,
     .twice = true},
    {.what = "three axes, many channels, sums of more than a block, groups",
     .x = {5, {3, 1, 9, 10, 8}},
     .layers = {{.outputs = 36, .kernel = {3, {2, 2, 2}}, .pad = MW_PAD_SAME},
                {.outputs = 8, .kernel = {3, {3, 3, 2}}, .groups = 2, .pad = MW_PAD_SAME}}},
    {.what = "a channel a group, one axis",
     .x = {3, {4, 3, 301}},
     .layers = {{.outputs = 8, .kernel = {1, {4}}, .pad = MW_PAD_SAME},
                {.outputs = 8, .kernel = {1, {3}}, .groups = 8, .pad = MW_PAD_SAME}}},
};

enum { CHIP_X = 8192, CHIP_STEPS = 3, CHIP_WEIGHTS = 16384 };

static mw_tensor *chip_layer_of(const chip_layer *layer, mw_tensor *x, const char *name)
{
    mw_conv_options options = program_conv(0, 0, layer->groups);
    options.pad_type = layer->pad;
    if (layer->stride > 0)
        options.stride[0] = layer->stride;
    if (layer->dilation > 0)
        options.dilation[layer->kernel.rank - 1] = layer->dilation;
    return mw_conv_layer(x, layer->outputs, layer->kernel, name, &options);
}

/* Windows of two along each spatial axis, that do not overlap. */
static mw_tensor *halve(mw_tensor *x)
{
    const mw_shape windows = {.rank = mw_tensor_shape(x).rank - 2, .dim = {2, 2, 2}};
    mw_pool_options two = mw_pool_defaults(windows);
    two.stride[0] = two.stride[1] = two.stride[2] = 2;
    return mw_max_pool(x, &two);
}

static mw_trainer *make_chip_trainer(const chip *c, int threads, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F16, c->x);
    mw_tensor *y = mw_input(graph, "y", MW_I32, MW_SHAPE(c->x.dim[0]));
    mw_tensor *h = mw_relu(chip_layer_of(&c->layers[0], x, "conv1"));
    h = chip_layer_of(&c->layers[1], c->twice ? halve(h) : h, "conv2");
    h = c->pooled ? halve(mw_relu(h)) : mw_gelu(h, MW_GELU_TANH);
    const int64_t features = mw_shape_count(mw_tensor_shape(h)) / c->x.dim[0];
    mw_tensor *logits = mw_dense(mw_reshape(h, MW_SHAPE(c->x.dim[0], features)), 7, "fc");
    mw_trainer *trainer = engine_trainer(mw_cross_entropy(logits, y), mw_adam(1e-2f), MW_DEVICE_ANE, threads, err);
    mw_graph_destroy(graph);
    return trainer;
}

static size_t count_weights(const chip *c, int layer)
{
    const chip_layer *l = &c->layers[layer];
    const int64_t groups = l->groups > 0 ? l->groups : 1;
    return (size_t)(l->outputs * (layer == 0 ? c->x.dim[1] : c->layers[0].outputs) / groups *
                    mw_shape_count(l->kernel));
}

/* The weights of both convolutions after a few steps. */
static void train_for_chip(const chip *c, const char *fuse, int threads, float *out)
{
    static float x[CHIP_X];
    static const int32_t y[9] = {3, 0, 6, 1, 2, 5, 4, 6, 3};
    mw_error err = {0};
    setting_begin("MW_ENGINE_FUSE", fuse);
    mw_trainer *trainer = make_chip_trainer(c, threads, &err);
    setting_end("MW_ENGINE_FUSE");
    mw__random random = {.seed = 5};
    const size_t count = (size_t)mw_shape_count(c->x);
    for (size_t i = 0; i < count; i++)
        x[i] = mw__random_uniform(&random) - 0.5f;
    const mw_feed feeds[] = {{.name = "x", .dtype = MW_F32, .data = x, .count = count},
                             {.name = "y", .dtype = MW_I32, .data = y, .count = (size_t)c->x.dim[0]}};
    const mw_batch batch = {.feeds = feeds, .feed_count = 2, .examples = (size_t)c->x.dim[0]};
    for (int step = 0; trainer != NULL && step < CHIP_STEPS; step++)
        mw_trainer_step(trainer, &batch, NULL, &err);
    if (trainer != NULL) {
        mw_trainer_read(trainer, "conv1.weight", MW_F32, out, count_weights(c, 0), &err);
        mw_trainer_read(trainer, "conv2.weight", MW_F32, out + count_weights(c, 0), count_weights(c, 1), &err);
    }
    CHECK_OK(err);
    mw_trainer_destroy(trainer);
}

/* Any numbers: the products are the same as those of matmul, which test_kernels_matmul compares with its ref. But
 * threads cut the two at other places, and a BLAS may add what lies near a cut in another order; an element whose
 * gradient is about 0 then takes one of Adam's steps, 1/10 of a weight, the other way. */
static bool same_weights(const float *a, const float *b, size_t count, int threads)
{
    double apart = 0.0, size = 0.0;
    if (threads == 1 || strcmp(mw__blas_name(), "built-in") == 0)
        return memcmp(a, b, count * sizeof *a) == 0;
    for (size_t i = 0; i < count; i++) {
        apart += pow((double)a[i] - (double)b[i], 2.0);
        size += pow((double)b[i], 2.0);
    }
    return apart <= 4e-4 * size;
}

static void check_chip(const chip *c, int threads)
{
    static float fused[CHIP_WEIGHTS], plain[CHIP_WEIGHTS];
    const size_t weights = count_weights(c, 0) + count_weights(c, 1);
    CHECK(mw_shape_count(c->x) <= CHIP_X && weights <= CHIP_WEIGHTS);
    train_for_chip(c, "1", threads, fused);
    train_for_chip(c, "0", threads, plain);
    check_note(same_weights(fused, plain, weights, threads), __FILE__, __LINE__, "%s, %d threads: they differ", c->what,
               threads);
}

static void test_columns_made_where_they_are_multiplied_change_no_bit(void)
{
    for (size_t i = 0; i < sizeof chips / sizeof *chips; i++)
        for (int threads = 1; threads <= 3; threads++)
            check_chip(&chips[i], threads);
}

static void check_some_chips(const char *setting, const char *value, int threads)
{
    setting_begin(setting, value);
    for (size_t i = 0; i < sizeof chips / sizeof *chips; i++)
        if (chips[i].pooled || chips[i].layers[1].groups > 2)
            check_chip(&chips[i], threads);
    setting_end(setting);
}

/* What is done to sums differs with the chip, as does their order. */
static void test_nor_do_they_in_any_profile(void)
{
    static const char *const profiles[] = {"ieee", "h13", "h17,-wide_chains", "h17,product_tiles", "h17,-no_nan"};
    for (size_t i = 0; i < sizeof profiles / sizeof *profiles; i++)
        check_some_chips("MW_ENGINE_PROFILE", profiles[i], 1);
}

static void test_nor_with_narrower_vectors(void)
{
    check_some_chips("MW_ENGINE_WIDE", "256", 2);
    check_some_chips("MW_ENGINE_WIDE", "0", 1);
}

/* Without AVX-512 a BLAS would be taken, which has no kernels of ours and adds in an order of its own. */
int main(void)
{
    mw__blas_choose("none", NULL);
    RUN(test_a_training_step_is_made_of_idioms);
    RUN(test_wide_convolutions_and_poolings_are_joined);
    RUN(test_a_training_step_for_a_chip_is_made_of_idioms);
    RUN(test_convolutions_for_chips_and_poolings_are_joined);
    RUN(test_columns_made_where_they_are_multiplied_change_no_bit);
    RUN(test_nor_do_they_in_any_profile);
    RUN(test_nor_with_narrower_vectors);
    RUN(test_recognized_gradients_agree_with_the_plain_ones);
    RUN(test_poolings_agree_on_what_is_no_number);
    RUN(test_narrower_vectors_agree_too);
    RUN(test_frames_of_wide_vectors_agree_too);
    return check_finish();
}

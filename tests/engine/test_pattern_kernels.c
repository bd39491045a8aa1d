/* Gradient patterns: they are recognised in what the autograd writes, and give what the operations give one by one
 * (MW_ENGINE_FUSE=0): max_pool's gradient the same bytes for any numbers, conv's weight gradient where sums are exact.
 */
#include "base/random.h"
#include "config_here.h"
#include "engine/core/kernel.h"
#include "engine/kernels/blas.h"
#include "run.h"
#include "support/check.h"
#include "support/on_engine.h"
#include "support/setting.h"

#include <math.h>
#include <millwright/millwright.h>
#include <stdlib.h>
#include <string.h>

typedef struct shapes {
    const char *what;
    bool pool;
    mw_shape x, weight; /* weight: the kernel of a pooling */
    int64_t stride[2], dilation, groups, pad;
    bool known; /* there is a kernel for it */
    bool relu;  /* before the pooling */
    bool overlaps;
} shapes;

/* clang-format off */
static const shapes cases[] = {
    {"pool, two", true, {4, {2, 3, 14, 22}}, {2, {2, 2}}, {2, 2}, 1, 1, 0, true, false, false},
    {"pool, two, a rest", true, {4, {3, 2, 7, 9}}, {2, {2, 2}}, {2, 2}, 1, 1, 0, true, false, false},
    {"pool, two, narrow", true, {4, {3, 2, 6, 5}}, {2, {2, 2}}, {2, 2}, 1, 1, 0, true, false, false},
    {"pool, gaps", true, {4, {1, 2, 11, 13}}, {2, {2, 3}}, {3, 4}, 1, 1, 0, true, false, false},
    {"pool, overlaps", true, {4, {2, 2, 11, 13}}, {2, {3, 3}}, {2, 2}, 1, 1, 0, true, false, true},
    {"pool, one axis", true, {3, {2, 3, 19}}, {1, {3}}, {2}, 1, 1, 0, true, false, true},
    {"pool, stride 1", true, {4, {2, 2, 5, 9}}, {2, {2, 2}}, {1, 1}, 1, 1, 0, false, false, false},
    {"pool, padded", true, {4, {2, 2, 8, 8}}, {2, {3, 3}}, {2, 2}, 1, 1, 1, false, false, false},
    {"pool, two, of relu", true, {4, {2, 3, 14, 26}}, {2, {2, 2}}, {2, 2}, 1, 1, 0, true, true, false},
    {"pool, two, a rest, of relu", true, {4, {3, 2, 7, 9}}, {2, {2, 2}}, {2, 2}, 1, 1, 0, true, true, false},
    {"pool, overlaps, of relu", true, {4, {2, 2, 11, 13}}, {2, {3, 3}}, {2, 2}, 1, 1, 0, true, true, true},
    {"pool, padded, of relu", true, {4, {2, 2, 8, 8}}, {2, {3, 3}}, {2, 2}, 1, 1, 1, false, true, false},
    {"conv", false, {4, {5, 3, 14, 14}}, {4, {6, 3, 3, 3}}, {1, 1}, 1, 1, 1, true, false, false},
    {"conv, whole vectors", false, {4, {9, 1, 6, 18}}, {4, {4, 1, 3, 3}}, {1, 1}, 1, 1, 0, true, false, false},
    {"conv, strides", false, {4, {3, 2, 13, 27}}, {4, {5, 2, 3, 5}}, {2, 3}, 1, 1, 1, true, false, false},
    {"conv, dilation and groups", false, {4, {3, 4, 12, 17}}, {4, {6, 2, 2, 3}}, {1, 1}, 2, 2, 1, true, false, false},
    {"conv, one axis", false, {3, {4, 2, 41}}, {3, {3, 2, 4}}, {2}, 1, 1, 1, true, false, false},
    {"conv, short rows", false, {4, {3, 2, 7, 5}}, {4, {3, 2, 3, 3}}, {1, 1}, 1, 1, 1, true, false, false},
    {"conv, wide border", false, {4, {3, 2, 4, 4}}, {4, {3, 2, 9, 9}}, {1, 1}, 1, 1, 4, true, false, false},
    {"conv, few positions", false, {4, {3, 2, 4, 4}}, {4, {3, 2, 3, 3}}, {1, 1}, 1, 1, 0, false, false, false},
};
/* clang-format on */

/* Few different numbers, so that windows have ties. */
static void draw(float *data, int64_t count, uint64_t stream)
{
    mw__random random = {.seed = 11, .stream = stream};
    for (int64_t i = 0; i < count; i++)
        data[i] = floorf(16.0f * mw__random_uniform(&random)) / 8.0f - 1.0f;
}

static mw_tensor *forward(const shapes *s, mw_tensor *x, mw_tensor *weight)
{
    if (s->pool) {
        mw_pool_options options = mw_pool_defaults(s->weight);
        options.pad_type = MW_PAD_CUSTOM;
        for (int i = 0; i < s->weight.rank; i++) {
            options.stride[i] = s->stride[i];
            options.pad[2 * i] = options.pad[2 * i + 1] = s->pad;
        }
        return mw_max_pool(s->relu ? mw_relu(x) : x, &options);
    }
    mw_conv_options options = mw_conv_defaults();
    options.pad_type = MW_PAD_CUSTOM;
    options.groups = s->groups;
    for (int i = 0; i < s->x.rank - 2; i++) {
        options.stride[i] = s->stride[i];
        options.dilation[i] = s->dilation;
        options.pad[2 * i] = options.pad[2 * i + 1] = s->pad;
    }
    return mw_conv(x, weight, NULL, &options);
}

/* Ports of fp16 are converted where they are read; what is computed is not. */
static mw_tensor *apart_from_port(mw_tensor *value)
{
    const uint16_t one = 0x3c00;
    return mw_tensor_dtype(value) == MW_F16 ? mw_mul(value, mw_constant(value->graph, MW_F16, (mw_shape){0}, &one))
                                            : value;
}

/* A graph whose output "d" is the gradient by x or by the weight. */
static mw_graph *build(const shapes *s, mw_dtype dtype, mw_shape *out_y)
{
    mw_graph *graph = mw_graph_create(NULL);
    mw_tensor *x = apart_from_port(mw_input(graph, "x", dtype, s->x));
    mw_tensor *weight = s->pool ? NULL : mw_input(graph, "weight", dtype, s->weight);
    mw_tensor *y = forward(s, x, weight);
    *out_y = mw_tensor_shape(y);
    mw_tensor *dy = apart_from_port(mw_input(graph, "dy", dtype, *out_y)), *wanted = s->pool ? x : weight,
              *gradient = NULL;
    mw_error err = {0};
    mw_vjp(&y, &dy, 1, &wanted, 1, &gradient, &err);
    CHECK_OK(err);
    mw_output(y, "y");
    mw_output(apart_from_port(gradient), "d");
    return graph;
}

/* In fp16 the sums of overlapping windows are rounded one by one. */
static bool is_known(const shapes *s, mw_dtype dtype) { return s->known && (dtype == MW_F32 || !s->overlaps); }

static void check_label(const shapes *s, mw_dtype dtype, const mw_program *program)
{
    const char *label = !s->pool ? "conv.dweight" : s->relu ? "relu.max_pool.gradient" : "max_pool.gradient";
    const size_t count = run_count_label_in(mw_program_mil(program), label);
    check_note(count == (is_known(s, dtype) ? 1u : 0u), __FILE__, __LINE__, "%s: recognised %zu times", s->what, count);
}

static void feed(mw_program *program, const char *name, mw_shape shape, uint64_t stream, mw_error *err)
{
    const int64_t count = mw_shape_count(shape);
    float *data = malloc((size_t)count * sizeof *data);
    if (data != NULL) {
        draw(data, count, stream);
        mw_program_write(program, name, MW_F32, data, (size_t)count, err);
    }
    free(data);
}

/* The gradient, then y, freed by the caller. */
static float *compute(const shapes *s, mw_dtype dtype, const char *fuse, int threads, size_t *out_size)
{
    mw_error err = {0};
    mw_shape y = {0};
    mw_graph *graph = build(s, dtype, &y);
    setting_begin("MW_ENGINE_FUSE", fuse);
    mw_program *program = engine_compile(graph, MW_DEVICE_CPU, threads, &err);
    if (program != NULL && fuse[0] == '1')
        check_label(s, dtype, program);
    setting_end("MW_ENGINE_FUSE");
    const size_t size = (size_t)mw_shape_count(s->pool ? s->x : s->weight) * (dtype == MW_F16 ? 2 : 4);
    const size_t y_size = (size_t)mw_shape_count(y) * (dtype == MW_F16 ? 2 : 4);
    *out_size = size + y_size;
    char *out = calloc(1, *out_size);
    if (program != NULL) {
        feed(program, "x", s->x, 1, &err);
        feed(program, "dy", y, 2, &err);
        if (!s->pool)
            feed(program, "weight", s->weight, 3, &err);
        mw_run(program, &err);
    }
    const void *d_data = mw_program_view(program, "d", &err), *y_data = mw_program_view(program, "y", &err);
    if (check_note(err.status == MW_OK && d_data != NULL && y_data != NULL, __FILE__, __LINE__, "%s: %s", s->what,
                   err.message)) {
        memcpy(out, d_data, size);
        memcpy(out + size, y_data, y_size);
    }
    mw_program_destroy(program);
    mw_graph_destroy(graph);
    return (float *)(void *)out;
}

/* The products are multiples of 1/64 below 1, and few enough for their sums to be exact in fp32 in any order; so are
 * the selections of a pooling: bytes are compared. */
static void check_case(const shapes *s, mw_dtype dtype, int threads)
{
    size_t size = 0;
    float *fused = compute(s, dtype, "1", threads, &size), *plain = compute(s, dtype, "0", threads, &size);
    check_note(memcmp(fused, plain, size) == 0, __FILE__, __LINE__, "%s, %s, %d threads: recognised and plain differ",
               s->what, mw_dtype_name(dtype), threads);
    free(fused);
    free(plain);
}

static void test_recognised_gradients_agree_with_the_plain_ones(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int threads = 1; threads <= 3; threads++)
            for (int half = 0; half < 2; half++)
                check_case(&cases[i], half ? MW_F16 : MW_F32, threads);
}

static void test_baseline_vectors_agree_too(void)
{
    setting_begin("MW_ENGINE_WIDE", "0");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int half = 0; half < 2; half++)
            check_case(&cases[i], half ? MW_F16 : MW_F32, 2);
    setting_end("MW_ENGINE_WIDE");
}

/* conv, relu, max_pool, twice, and a head. */
static mw_trainer *make_trainer(mw_device device, const int64_t channels[2], mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL);
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

typedef struct label {
    const char *label;
    size_t count;
} label;

static void check_step(mw_device device, const int64_t channels[2], const label *rows, size_t count)
{
    mw_error err = {0};
    mw_trainer *trainer = make_trainer(device, channels, &err);
    REQUIRE(trainer != NULL);
    mw__library *library = run_library(mw_program_mil(mw_trainer_program(trainer)), 2, &err);
    CHECK_OK(err);
    for (size_t i = 0; library != NULL && i < count; i++)
        check_note(run_count_label(library, rows[i].label) == rows[i].count, __FILE__, __LINE__, "%s stands %zu times",
                   rows[i].label, run_count_label(library, rows[i].label));
    if (library != NULL)
        mw__object_release(library);
    mw_trainer_destroy(trainer);
}

static void test_a_training_step_is_made_of_idioms(void)
{
    static const label rows[] = {{"conv.direct", 3},  /* forward twice, and the gradient by x of the second */
                                 {"conv.dweight", 2}, /* with the bias */
                                 {"relu.max_pool", 2}, {"relu.max_pool.gradient", 2}, {"relu", 0}, {"pad", 0},
                                 {"select", 1}}; /* of the loss: the logit of the label */
    check_step(MW_DEVICE_CPU, (const int64_t[]){3, 5}, rows, sizeof rows / sizeof *rows);
}

static void test_wide_convolutions_and_poolings_are_joined(void)
{
    static const label rows[] = {{"conv.relu.max_pool", 2}, {"conv.scatter", 1},  {"conv.dweight.argmax", 2},
                                 {"conv.avx512", 0},        {"relu.max_pool", 0}, {"relu.max_pool.unpool", 0}};
    if (level_here() == MW__LEVEL_AVX512)
        check_step(MW_DEVICE_CPU, (const int64_t[]){16, 32}, rows, sizeof rows / sizeof *rows);
}

static void test_a_training_step_for_a_chip_is_made_of_idioms(void)
{
    static const label rows[] = {{"conv.columns.bias", 2},
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

/* ---- convolutions for chips ---- */

typedef struct chip_layer {
    int64_t outputs;
    mw_shape kernel;
    int64_t stride, dilation, groups; /* stride of the first axis, dilation of the last */
    mw_pad_type pad;
} chip_layer;

typedef struct chip {
    const char *what;
    mw_shape x;
    chip_layer layers[2];
    bool pooled; /* relu and a pooling, so that most of a gradient is zero, in place of gelu */
} chip;

/* Sums of more than one block of 256 and of less, channels of more than one vector and panel and of less. */
static const chip chips[] = {
    {"strides, groups and dilation",
     {4, {5, 4, 13, 17}},
     {{6, {2, {3, 3}}, 2, 1, 1, MW_PAD_SAME}, {6, {2, {2, 4}}, 1, 2, 2, MW_PAD_VALID}},
     false},
    {"many channels",
     {4, {3, 7, 9, 21}},
     {{40, {2, {3, 3}}, 1, 1, 1, MW_PAD_SAME}, {19, {2, {3, 3}}, 1, 1, 1, MW_PAD_VALID}},
     false},
    {"one axis", {3, {2, 3, 301}}, {{5, {1, {4}}, 1, 1, 1, MW_PAD_SAME}, {33, {1, {2}}, 1, 1, 1, MW_PAD_SAME}}, false},
    {"many positions, groups",
     {4, {2, 2, 19, 35}},
     {{8, {2, {5, 3}}, 1, 2, 2, MW_PAD_SAME}, {18, {2, {3, 5}}, 2, 1, 2, MW_PAD_SAME}},
     false},
    {"a wide border",
     {4, {3, 2, 6, 3}},
     {{17, {2, {9, 9}}, 1, 1, 1, MW_PAD_SAME}, {4, {2, {1, 2}}, 1, 1, 1, MW_PAD_VALID}},
     false},
    {"zeros left out, more channels than a vector",
     {4, {3, 2, 18, 35}},
     {{19, {2, {3, 3}}, 1, 1, 1, MW_PAD_SAME}, {7, {2, {3, 5}}, 1, 1, 1, MW_PAD_VALID}},
     true},
    {"zeros left out, strides, groups and dilation",
     {4, {3, 2, 23, 19}},
     {{18, {2, {3, 3}}, 1, 1, 1, MW_PAD_VALID}, {10, {2, {3, 3}}, 2, 2, 2, MW_PAD_SAME}},
     true},
    {"zeros left out, one axis",
     {3, {2, 3, 701}},
     {{16, {1, {4}}, 1, 1, 1, MW_PAD_SAME}, {9, {1, {3}}, 1, 1, 1, MW_PAD_SAME}},
     true},
};

enum { CHIP_X = 8192, CHIP_STEPS = 3, CHIP_WEIGHTS = 16384 };

static mw_tensor *chip_layer_of(const chip_layer *layer, mw_tensor *x, const char *name)
{
    mw_conv_options options = mw_conv_defaults();
    options.pad_type = layer->pad;
    options.stride[0] = layer->stride;
    options.dilation[layer->kernel.rank - 1] = layer->dilation;
    options.groups = layer->groups;
    return mw_conv_layer(x, layer->outputs, layer->kernel, name, &options);
}

/* Windows of two along each spatial axis, that do not overlap. */
static mw_tensor *halve(mw_tensor *x)
{
    const bool one_axis = mw_tensor_shape(x).rank == 3;
    mw_pool_options two = mw_pool_defaults(one_axis ? MW_SHAPE(2) : MW_SHAPE(2, 2));
    two.stride[0] = two.stride[1] = 2;
    return mw_max_pool(x, &two);
}

static mw_trainer *make_chip_trainer(const chip *c, int threads, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F16, c->x);
    mw_tensor *y = mw_input(graph, "y", MW_I32, MW_SHAPE(c->x.dim[0]));
    mw_tensor *h = mw_relu(chip_layer_of(&c->layers[0], x, "conv1"));
    h = chip_layer_of(&c->layers[1], h, "conv2");
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
    return (size_t)(l->outputs * (layer == 0 ? c->x.dim[1] : c->layers[0].outputs) / l->groups *
                    mw_shape_count(l->kernel));
}

/* The weights of both convolutions after a few steps. */
static void train_for_chip(const chip *c, const char *fuse, int threads, float *out)
{
    static float x[CHIP_X];
    static const int32_t y[5] = {3, 0, 6, 1, 2};
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
        mw_trainer_read(trainer, "conv1.weight", out, count_weights(c, 0), &err);
        mw_trainer_read(trainer, "conv2.weight", out + count_weights(c, 0), count_weights(c, 1), &err);
    }
    CHECK_OK(err);
    mw_trainer_destroy(trainer);
}

/* Any numbers: the products are the same as those of matmul, which test_kernels_matmul compares with its ref. But lanes
 * cut the two at other places, and a BLAS may add what lies near a cut in another order; an element whose gradient is
 * about 0 then takes one of Adam's steps, 1/10 of a weight, the other way. */
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

static void test_columns_made_where_they_are_multiplied_change_no_bit(void)
{
    static float fused[CHIP_WEIGHTS], plain[CHIP_WEIGHTS];
    for (size_t i = 0; i < sizeof chips / sizeof *chips; i++) {
        const size_t weights = count_weights(&chips[i], 0) + count_weights(&chips[i], 1);
        CHECK(mw_shape_count(chips[i].x) <= CHIP_X && weights <= CHIP_WEIGHTS);
        for (int threads = 1; threads <= 3; threads++) {
            train_for_chip(&chips[i], "1", threads, fused);
            train_for_chip(&chips[i], "0", threads, plain);
            check_note(same_weights(fused, plain, weights, threads), __FILE__, __LINE__, "%s, %d threads: they differ",
                       chips[i].what, threads);
        }
    }
}

int main(void)
{
    RUN(test_a_training_step_is_made_of_idioms);
    RUN(test_wide_convolutions_and_poolings_are_joined);
    RUN(test_a_training_step_for_a_chip_is_made_of_idioms);
    RUN(test_columns_made_where_they_are_multiplied_change_no_bit);
    RUN(test_recognised_gradients_agree_with_the_plain_ones);
    RUN(test_baseline_vectors_agree_too);
    return check_finish();
}

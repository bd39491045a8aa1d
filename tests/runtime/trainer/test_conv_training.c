/* Small convolutional networks through the trainer, on the CPU and in the fp16 and decomposed forms of the ANE: the
 * loss of a batch that is learned by heart falls, a frozen weight stays a conv, and no zero of a kernel that is dilated
 * is in the step for the ANE. */
#include "support/check.h"

#include <millwright/millwright.h>
#include <string.h>

enum { N = 8, SIDE = 6, CLASSES = 3 };

/* conv with stride and border -> depthwise conv with dilation -> dense. */
static mw_tensor *classifier(mw_graph *graph)
{
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(N, 1, SIDE, SIDE));
    mw_tensor *y = mw_input(graph, "y", MW_I32, MW_SHAPE(N));
    mw_conv_options strided = mw_conv_defaults(), deep = mw_conv_defaults();
    strided.stride[0] = strided.stride[1] = 2;
    strided.pad_type = MW_PAD_SAME;
    deep.groups = 4;
    deep.dilation[1] = 2;
    deep.pad_type = MW_PAD_CUSTOM;
    deep.pad[2] = deep.pad[3] = 2;
    mw_tensor *h = mw_relu(mw_conv_layer(x, 4, MW_SHAPE(3, 3), "conv1", &strided));
    h = mw_relu(mw_conv_layer(h, 8, MW_SHAPE(2, 3), "conv2", &deep));
    mw_tensor *flat = mw_reshape(h, MW_SHAPE(N, -1));
    return mw_cross_entropy(mw_dense(flat, CLASSES, "fc"), y);
}

/* An autoencoder: conv down, conv_transpose up. */
static mw_tensor *autoencoder(mw_graph *graph)
{
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(N, 1, SIDE, SIDE));
    mw_tensor *y = mw_input(graph, "y", MW_I32, MW_SHAPE(N));
    mw_conv_options half = mw_conv_defaults();
    half.stride[0] = half.stride[1] = 2;
    mw_tensor *h = mw_tanh(mw_conv_layer(x, 6, MW_SHAPE(2, 2), "down", &half));
    mw_tensor *again = mw_conv_transpose_layer(h, 1, MW_SHAPE(2, 2), "up", &half);
    mw_tensor *unused = mw_mul_scalar(mw_reduce_sum(mw_cast(y, MW_F32), MW_ALL_AXES, false), 0.0);
    return mw_add(mw_mse(again, x), unused);
}

static mw_trainer *make_trainer(mw_tensor *(*network)(mw_graph *graph), mw_device device, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_trainer_options options = mw_trainer_defaults(network(graph), mw_adam(3e-2f));
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.device = device;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(graph);
    return trainer;
}

static double train(mw_trainer *trainer, int steps, double *out_first, mw_error *err)
{
    float x[N * SIDE * SIDE], loss = 0.0f;
    int32_t y[N];
    int64_t ids[N];
    uint32_t state = 7;
    for (int i = 0; i < N * SIDE * SIDE; i++) {
        state = state * 1664525u + 1013904223u;
        x[i] = (float)(int32_t)(state >> 16) / 32768.0f - 1.0f;
    }
    for (int i = 0; i < N; i++)
        y[i] = i % CLASSES, ids[i] = i;
    const mw_feed feeds[2] = {
        {.name = "x", .dtype = MW_F32, .data = x, .count = N * SIDE * SIDE, .scale = 1.0f},
        {.name = "y", .dtype = MW_I32, .data = y, .count = N, .scale = 1.0f},
    };
    const mw_batch batch = {.feeds = feeds, .feed_count = 2, .examples = N, .ids = ids};
    for (int i = 0; i < steps && err->status == MW_OK; i++) {
        mw_trainer_step(trainer, &batch, &loss, err);
        if (i == 0)
            *out_first = (double)loss;
    }
    return (double)loss;
}

static void check_learns(mw_tensor *(*network)(mw_graph *graph), mw_device device, double share)
{
    mw_error err = {0};
    double first = 0.0;
    mw_trainer *trainer = make_trainer(network, device, &err);
    CHECK_OK(err);
    REQUIRE(trainer != NULL);
    const double last = train(trainer, 60, &first, &err);
    CHECK_OK(err);
    check_note(last < share * first, __FILE__, __LINE__, "the loss went from %g to %g", first, last);
    mw_trainer_destroy(trainer);
}

static void test_a_classifier_learns_on_the_cpu(void) { check_learns(classifier, MW_DEVICE_CPU, 0.2); }
static void test_a_classifier_learns_on_the_ane(void) { check_learns(classifier, MW_DEVICE_ANE, 0.2); }
static void test_an_autoencoder_learns_on_the_cpu(void) { check_learns(autoencoder, MW_DEVICE_CPU, 0.7); }
static void test_an_autoencoder_learns_on_the_ane(void) { check_learns(autoencoder, MW_DEVICE_ANE, 0.7); }

/* Nothing that the ANE refuses or ignores is left: no conv whose weight is a parameter. */
static void test_the_step_for_the_ane_has_no_conv(void)
{
    mw_error err = {0};
    mw_trainer *trainer = make_trainer(classifier, MW_DEVICE_ANE, &err);
    CHECK_OK(err);
    REQUIRE(trainer != NULL);
    CHECK(strstr(mw_program_get_info(mw_trainer_program(trainer)).mil, " = conv(") == NULL);
    mw_trainer_destroy(trainer);
}

/* ---- dilated kernels on the ANE ---- */

enum { IMAGE = 24 };

typedef struct dilated {
    const char *what;
    bool line; /* x is [N, 4, IMAGE], not [N, 4, IMAGE, IMAGE] */
    mw_shape kernel;
    int64_t stride, dilation[2], again; /* again: dilation of a second convolution with the same weight; 0 = none */
    int64_t groups;
} dilated;

static const dilated kernels[] = {
    {.what = "a line", .line = true, .kernel = {1, {3}}, .stride = 1, .dilation = {8}, .groups = 1},
    {.what = "a line with a stride", .line = true, .kernel = {1, {2}}, .stride = 3, .dilation = {5}, .groups = 2},
    {.what = "planes", .kernel = {2, {3, 3}}, .stride = 1, .dilation = {2, 6}, .groups = 1},
    {.what = "one axis", .kernel = {2, {3, 2}}, .stride = 2, .dilation = {1, 9}, .groups = 1},
    {.what = "a kernel of one row", .kernel = {2, {1, 3}}, .stride = 1, .dilation = {4, 3}, .groups = 1},
    {.what = "a kernel of one element", .kernel = {2, {1, 1}}, .stride = 1, .dilation = {3, 3}, .groups = 1},
    {.what = "planes of their own", .kernel = {2, {3, 3}}, .stride = 1, .dilation = {3, 3}, .groups = 4},
    {.what = "twice", .kernel = {2, {3, 3}}, .stride = 1, .dilation = {4, 4}, .again = 4, .groups = 1},
    {.what = "by two dilations", .kernel = {2, {3, 3}}, .stride = 1, .dilation = {4, 4}, .again = 3, .groups = 1},
};

static mw_tensor *dilated_conv(const dilated *c, mw_tensor *x, mw_tensor *weight, int64_t first, int64_t second)
{
    mw_conv_options options = mw_conv_defaults();
    options.stride[0] = options.stride[1] = c->stride;
    options.dilation[0] = first, options.dilation[1] = second;
    options.groups = c->groups;
    options.pad_type = MW_PAD_SAME;
    return mw_conv(x, weight, NULL, &options);
}

/* By `c`, or the same without gaps. */
static mw_tensor *dilated_loss(mw_graph *graph, const dilated *c, bool gaps)
{
    const int rank = c->line ? 3 : 4;
    mw_tensor *x = mw_input(graph, "x", MW_F32, (mw_shape){rank, {2, 4, IMAGE, IMAGE}});
    mw_shape shape = {rank, {8, 4 / c->groups, c->kernel.dim[0], c->kernel.dim[1]}};
    mw_tensor *weight = mw_parameter(graph, "weight", MW_F32, shape, mw_init_normal(0.0f, 0.3f));
    mw_tensor *h = dilated_conv(c, x, weight, gaps ? c->dilation[0] : 1, gaps ? c->dilation[1] : 1);
    if (c->again > 0)
        h = mw_sub(h, dilated_conv(c, mw_square(x), weight, gaps ? c->again : 1, gaps ? c->again : 1));
    return mw_reduce_mean(mw_square(mw_add_scalar(h, -1.0)), MW_ALL_AXES, false);
}

static mw_trainer *dilated_trainer(const dilated *c, bool gaps, mw_device device, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_trainer_options options = mw_trainer_defaults(dilated_loss(graph, c, gaps), mw_sgd(1.0f));
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.device = device;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(graph);
    return trainer;
}

/* The loss after a few steps, which is that of the gradients before. */
static double dilated_train(mw_trainer *trainer, const dilated *c, mw_error *err)
{
    static float x[2 * 4 * IMAGE * IMAGE];
    const size_t count = c->line ? 2 * 4 * IMAGE : 2 * 4 * IMAGE * IMAGE;
    float loss = 0.0f;
    for (size_t i = 0; i < count; i++)
        x[i] = (float)((i * 7919 + i / 13) % 64) / 64.0f;
    const mw_feed feed = {.name = "x", .dtype = MW_F32, .data = x, .count = count, .scale = 1.0f};
    const mw_batch batch = {.feeds = &feed, .feed_count = 1, .examples = 2};
    for (int i = 0; i < 4 && err->status == MW_OK; i++)
        mw_trainer_step(trainer, &batch, &loss, err);
    return (double)loss;
}

/* One for each element of a kernel, which shifts x by its place. */
static size_t slices(const mw_trainer *trainer)
{
    static const char slice[] = " = slice_by_index(";
    size_t count = 0;
    for (const char *at = mw_program_get_info(mw_trainer_program(trainer)).mil; (at = strstr(at, slice)) != NULL; at++)
        count++;
    return count;
}

static void check_dilated(const dilated *c)
{
    mw_error err = {0};
    mw_trainer *cpu = dilated_trainer(c, true, MW_DEVICE_CPU, &err);
    mw_trainer *ane = dilated_trainer(c, true, MW_DEVICE_ANE, &err);
    mw_trainer *dense = dilated_trainer(c, false, MW_DEVICE_ANE, &err);
    check_note(err.status == MW_OK, __FILE__, __LINE__, "%s: %s", c->what, err.message);
    REQUIRE(cpu != NULL && ane != NULL && dense != NULL);
    const double wanted = dilated_train(cpu, c, &err), loss = dilated_train(ane, c, &err);
    const double off = loss > wanted ? loss - wanted : wanted - loss;
    check_note(err.status == MW_OK, __FILE__, __LINE__, "%s: %s", c->what, err.message);
    check_note(off < 5e-3 * wanted, __FILE__, __LINE__, "%s: the loss is %g, not %g", c->what, loss, wanted);
    /* one more takes the gradient of a weight that is read twice from between zeros */
    check_note(slices(ane) <= slices(dense) + (c->again > 0), __FILE__, __LINE__, "%s: %zu slices, %zu without gaps",
               c->what, slices(ane), slices(dense));
    mw_trainer_destroy(cpu);
    mw_trainer_destroy(ane);
    mw_trainer_destroy(dense);
}

static void test_the_step_for_the_ane_has_no_zeros_of_kernels(void)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        check_dilated(&kernels[i]);
}

int main(void)
{
    RUN(test_a_classifier_learns_on_the_cpu);
    RUN(test_a_classifier_learns_on_the_ane);
    RUN(test_an_autoencoder_learns_on_the_cpu);
    RUN(test_an_autoencoder_learns_on_the_ane);
    RUN(test_the_step_for_the_ane_has_no_conv);
    RUN(test_the_step_for_the_ane_has_no_zeros_of_kernels);
    return check_finish();
}

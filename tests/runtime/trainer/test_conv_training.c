/* Small convolutional networks through the trainer, on the CPU and in the fp16 and decomposed forms of the ANE: the
 * loss of a batch that is learned by heart falls, and a frozen weight stays a conv. */
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

int main(void)
{
    RUN(test_a_classifier_learns_on_the_cpu);
    RUN(test_a_classifier_learns_on_the_ane);
    RUN(test_an_autoencoder_learns_on_the_cpu);
    RUN(test_an_autoencoder_learns_on_the_ane);
    RUN(test_the_step_for_the_ane_has_no_conv);
    return check_finish();
}

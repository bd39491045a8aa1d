/* More classes than fp16 can count: none is taken for another. */
#include "support/check.h"

#include <millwright/millwright.h>

enum { N = 4, C = 5000 };

static mw_trainer *create(mw_device device, mw_dtype dtype, int64_t classes, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", dtype, MW_SHAPE(N, classes));
    mw_tensor *y = mw_input(graph, "y", MW_I32, MW_SHAPE(N));
    mw_tensor *logits = mw_add(x, mw_parameter(graph, "w", dtype, MW_SHAPE(classes), mw_init_zeros()));
    mw_trainer_options options = mw_trainer_defaults(mw_cross_entropy(logits, y), mw_sgd(0.1f));
    options.metric = options.prediction = mw_accuracy(logits, y);
    options.compile.device = device;
    options.compile.provider = MW_PROVIDER_ENGINE;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(graph);
    return trainer;
}

/* 2049 is 2048 in fp16, and so were the classes of 2047.5 to 2050. */
static void check_neighbors(mw_device device, mw_dtype dtype)
{
    static float x[N * C];
    static const int32_t right[N] = {2048, 2049, 4096, 4999}, wrong[N] = {2049, 2048, 4097, 4998};
    mw_error err = {0};
    mw_trainer *trainer = create(device, dtype, C, &err);
    REQUIRE(CHECK_OK(err));
    for (int n = 0; n < N; n++)
        x[n * C + right[n]] = 1.0f;
    for (int k = 0; k < 2; k++) {
        const mw_feed feeds[] = {
            {.name = "x", .dtype = MW_F32, .data = x, .count = (size_t)N * C, .scale = 1.0f},
            {.name = "y", .dtype = MW_I32, .data = k == 0 ? right : wrong, .count = N, .scale = 1.0f}};
        const mw_batch batch = {.feeds = feeds, .feed_count = 2, .examples = N};
        float accuracy = -1.0f;
        mw_trainer_predict(trainer, &batch, MW_F32, &accuracy, 1, &err);
        CHECK_OK(err);
        CHECK_NEAR(accuracy, k == 0 ? 1.0 : 0.0, 0.0);
    }
    mw_trainer_destroy(trainer);
}

static void test_accuracy_tells_neighbors_apart(void)
{
    check_neighbors(MW_DEVICE_CPU, MW_F16);
    check_neighbors(MW_DEVICE_CPU, MW_F32);
    check_neighbors(MW_DEVICE_ANE, MW_F16);
    check_neighbors(MW_DEVICE_ANE, MW_F32);
}

/* A number that is computed with labels of so many classes has no form in two digits. */
static void test_numbers_that_a_chip_cannot_count_are_refused(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *y = mw_input(graph, "y", MW_I32, MW_SHAPE(N, 1));
    mw_tensor *next = mw_add(y, mw_range_1d(graph, MW_I32, 0.0, (double)C, 1.0));
    mw_output(mw_cast(next, MW_F32), "next");
    mw_compile_options options = mw_compile_defaults();
    options.device = MW_DEVICE_ANE;
    options.provider = MW_PROVIDER_ENGINE;
    CHECK(mw_program_create(graph, &options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_NUMERIC, "integers from 0 to 4999 meet an integer input");
    mw_graph_destroy(graph);
}

/* 2049 would have fetched row 2048. */
static void test_indices_that_a_port_cannot_hold_are_refused(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *y = mw_input(graph, "y", MW_I32, MW_SHAPE(2));
    mw_tensor *w = mw_parameter(graph, "w", MW_F32, MW_SHAPE(2), mw_init_constant(1.0f));
    mw_tensor *product = mw_mul(mw_cast(y, MW_F32), w);
    mw_trainer_options options = mw_trainer_defaults(mw_reduce_mean(product, MW_ALL_AXES, false), mw_sgd(1e-3f));
    options.prediction = product;
    options.compile.device = MW_DEVICE_ANE;
    options.compile.provider = MW_PROVIDER_ENGINE;
    mw_trainer *trainer = mw_trainer_create(&options, &err);
    mw_graph_destroy(graph);
    REQUIRE(CHECK_OK(err));
    int32_t labels[2] = {2048, 2050};
    const mw_feed feed = {.name = "y", .dtype = MW_I32, .data = labels, .count = 2, .scale = 1.0f};
    const mw_batch batch = {.feeds = &feed, .feed_count = 1, .examples = 2};
    float out[2] = {0};
    mw_trainer_predict(trainer, &batch, MW_F32, out, 2, &err);
    CHECK_OK(err);
    CHECK_NEAR(out[1], 2050.0, 0.0);
    labels[1] = 2049;
    CHECK_INT(mw_trainer_predict(trainer, &batch, MW_F32, out, 2, &err), MW_ERROR_ARGUMENT);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "element 1, example 1 is 2049, which fp16 does not have");
    mw_trainer_destroy(trainer);
}

int main(void)
{
    RUN(test_accuracy_tells_neighbors_apart);
    RUN(test_numbers_that_a_chip_cannot_count_are_refused);
    RUN(test_indices_that_a_port_cannot_hold_are_refused);
    return check_finish();
}

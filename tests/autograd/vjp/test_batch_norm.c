/* The gradient of the batch norm layer, which is its own and not that of its operations, against central differences
 * of the formula in double. */
#include "support/check.h"
#include "support/on_engine.h"

#include <math.h>
#include <millwright/millwright.h>
#include <string.h>

enum { N = 3, C = 2, P = 5, COUNT = N * C * P }; /* examples, channels, positions */

static const double epsilon = 1e-3;

/* sum of k relu(norm(x) w + b), or without relu; k is coefficient i's. */
static double coefficient(int i) { return (double)((i * 37) % 11) / 5.0 - 0.9; }

static double loss_of(const double *x, const double *weight, const double *bias, bool relu)
{
    double loss = 0.0;
    for (int c = 0; c < C; c++) {
        double mean = 0.0, variance = 0.0;
        for (int n = 0; n < N; n++)
            for (int p = 0; p < P; p++)
                mean += x[(n * C + c) * P + p] / (N * P);
        for (int n = 0; n < N; n++)
            for (int p = 0; p < P; p++)
                variance += pow(x[(n * C + c) * P + p] - mean, 2.0) / (N * P);
        for (int i = 0; i < COUNT; i++) {
            const double y = (x[i] - mean) / sqrt(variance + epsilon) * weight[c] + bias[c];
            if (i / P % C == c)
                loss += coefficient(i) * (relu && y < 0.0 ? 0.0 : y);
        }
    }
    return loss;
}

/* What a step of rate 1 subtracts. */
static void step_of(bool relu, float *x, float *weight, float *bias, float *dx, float *dweight, float *dbias)
{
    mw_error err = {0};
    float k[COUNT], next[COUNT];
    for (int i = 0; i < COUNT; i++)
        k[i] = (float)coefficient(i);
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *given = mw_input(graph, "k", MW_F32, MW_SHAPE(N, C, P));
    mw_tensor *values = mw_parameter(graph, "x", MW_F32, MW_SHAPE(N, C, P), mw_init_normal(0.3f, 1.0f));
    mw_tensor *y = mw_batch_norm_layer(values, 0.1f, (float)epsilon, "norm");
    mw_tensor *loss = mw_reduce_sum(mw_mul(given, relu ? mw_relu(y) : y), MW_ALL_AXES, false);
    mw_trainer *trainer = engine_trainer(loss, mw_sgd(1.0f), MW_DEVICE_CPU, 1, &err);
    REQUIRE(trainer != NULL);
    mw_trainer_read(trainer, "x", MW_F32, x, COUNT, &err);
    mw_trainer_read(trainer, "norm.weight", MW_F32, weight, C, &err);
    mw_trainer_read(trainer, "norm.bias", MW_F32, bias, C, &err);
    const mw_feed feed = {.name = "k", .dtype = MW_F32, .data = k, .count = COUNT};
    const mw_batch batch = {.feeds = &feed, .feed_count = 1, .examples = N};
    mw_trainer_step(trainer, &batch, NULL, &err);
    mw_trainer_read(trainer, "x", MW_F32, next, COUNT, &err);
    for (int i = 0; i < COUNT; i++)
        dx[i] = x[i] - next[i];
    mw_trainer_read(trainer, "norm.weight", MW_F32, next, C, &err);
    for (int c = 0; c < C; c++)
        dweight[c] = weight[c] - next[c];
    mw_trainer_read(trainer, "norm.bias", MW_F32, next, C, &err);
    for (int c = 0; c < C; c++)
        dbias[c] = bias[c] - next[c];
    CHECK_OK(err);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
}

/* at: one of the elements of what loss_of takes. */
static double slope(double *at, const double *x, const double *weight, const double *bias, bool relu)
{
    const double h = 1e-6, middle = *at;
    *at = middle + h;
    const double above = loss_of(x, weight, bias, relu);
    *at = middle - h;
    const double below = loss_of(x, weight, bias, relu);
    *at = middle;
    return (above - below) / (2.0 * h);
}

static void check_gradient(bool relu)
{
    float x[COUNT], dx[COUNT], weight[C], bias[C], dweight[C], dbias[C];
    double wide[COUNT], wide_weight[C], wide_bias[C];
    step_of(relu, x, weight, bias, dx, dweight, dbias);
    for (int i = 0; i < COUNT; i++)
        wide[i] = (double)x[i];
    for (int c = 0; c < C; c++)
        wide_weight[c] = (double)weight[c], wide_bias[c] = (double)bias[c];
    /* fp32 parameters of about 1 from which the gradient is subtracted: 1e-5 is a hundred of their last places */
    for (int i = 0; i < COUNT; i++)
        CHECK_NEAR((double)dx[i], slope(&wide[i], wide, wide_weight, wide_bias, relu), 1e-5);
    for (int c = 0; c < C; c++) {
        CHECK_NEAR((double)dweight[c], slope(&wide_weight[c], wide, wide_weight, wide_bias, relu), 1e-5);
        CHECK_NEAR((double)dbias[c], slope(&wide_bias[c], wide, wide_weight, wide_bias, relu), 1e-5);
    }
}

static void test_the_gradient_is_that_of_the_formula(void) { check_gradient(false); }

static void test_so_it_is_behind_relu(void) { check_gradient(true); }

int main(void)
{
    RUN(test_the_gradient_is_that_of_the_formula);
    RUN(test_so_it_is_behind_relu);
    return check_finish();
}

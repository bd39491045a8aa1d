/* A step of a trainer on the model of the ANE whose activations are large: gradients are finite, and those of fp64. */
#include "support/check.h"

#include <millwright/millwright.h>

enum { N = 2, D = 8, COUNT = N * D };

static const char *const profiles[] = {"h13", "h16", "h17", "h18g"};
enum { PROFILES = sizeof profiles / sizeof *profiles };

typedef struct layer {
    const char *name;
    mw_tensor *(*make)(mw_tensor *x);
    void (*formula)(const double *x, double *y);
    bool falls; /* the gradient is that of 1 over the size of x */
} layer;

/* ---- formulas, [N, D] ---- */

static double softplus(double x) { return fmax(x, 0) + log1p(exp(-fabs(x))); }

static void softplus_of(const double *x, double *y)
{
    for (int i = 0; i < COUNT; i++)
        y[i] = softplus(x[i]);
}

static void mish_of(const double *x, double *y)
{
    for (int i = 0; i < COUNT; i++)
        y[i] = x[i] * tanh(softplus(x[i]));
}

static void rms_norm_of(const double *x, double *y)
{
    for (int row = 0; row < COUNT; row += D) {
        double sum = 0;
        for (int i = 0; i < D; i++)
            sum += x[row + i] * x[row + i];
        for (int i = 0; i < D; i++)
            y[row + i] = x[row + i] / sqrt(sum / D + 1e-3);
    }
}

static mw_tensor *make_mish(mw_tensor *x) { return mw_mul(x, mw_tanh(mw_softplus(x))); }
static mw_tensor *make_rms_norm(mw_tensor *x) { return mw_rms_norm_layer(x, 1, 1e-3f, "norm"); }

static const layer layers[] = {
    {"softplus", mw_softplus, softplus_of, false},
    {"mish", make_mish, mish_of, false},
    {"rms_norm", make_rms_norm, rms_norm_of, true},
};
enum { LAYERS = sizeof layers / sizeof *layers };

/* ---- one step ---- */

/* Which element of the result counts how much. */
static double share_of(int i) { return (i * 5 % 7 - 3) * 0.25; }

/* loss = mean(layer(x + w) share), w [D] from 0 on: the step leaves -rate dloss/dw in it. */
static void step_once(const layer *l, const char *profile, const float *x, double rate, float *w, mw_error *err)
{
    float shares[COUNT], loss = 0;
    for (int i = 0; i < COUNT; i++)
        shares[i] = (float)share_of(i);
    mw_graph *graph = mw_graph_create(NULL, err);
    mw_tensor *input = mw_input(graph, "x", MW_F32, MW_SHAPE(N, D));
    mw_tensor *moved = mw_add(input, mw_parameter(graph, "w", MW_F32, MW_SHAPE(D), mw_init_zeros()));
    mw_tensor *y = mw_mul(l->make(moved), mw_constant(graph, MW_F32, MW_SHAPE(N, D), shares));
    mw_trainer_options options = mw_trainer_defaults(mw_reduce_mean(y, MW_ALL_AXES, false), mw_sgd((float)rate));
    options.compile.device = MW_DEVICE_ANE;
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.profile = profile;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    const mw_feed feeds[] = {{.name = "x", .dtype = MW_F32, .data = x, .count = COUNT, .scale = 1.0f}};
    const mw_batch batch = {.feeds = feeds, .feed_count = 1, .examples = N};
    mw_trainer_step(trainer, &batch, &loss, err);
    mw_trainer_read(trainer, "w", MW_F32, w, D, err);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
}

static double loss_of(const layer *l, const float *x, int moved, double by)
{
    double at[COUNT], y[COUNT], sum = 0;
    for (int i = 0; i < COUNT; i++)
        at[i] = (double)x[i] + (i % D == moved ? by : 0);
    l->formula(at, y);
    for (int i = 0; i < COUNT; i++)
        sum += y[i] * share_of(i) / COUNT;
    return sum;
}

/* Within 2^-6 of the largest: the result, the gradient and the step are rounded, and what a table gives is not. */
static void check_step(const layer *l, const char *profile, double size)
{
    mw_error err = {0};
    float x[COUNT], w[D] = {0};
    double wanted[D], largest = 0;
    const double rate = l->falls ? size : 1.0;
    for (int i = 0; i < COUNT; i++) /* whole, so that fp16 has them */
        x[i] = (float)((i * 3 % 8 - 3) * size / 4);
    for (int i = 0; i < D; i++) {
        const double by = 1e-5 * size;
        wanted[i] = -rate * (loss_of(l, x, i, by) - loss_of(l, x, i, -by)) / (2 * by);
        largest = fmax(largest, fabs(wanted[i]));
    }
    step_once(l, profile, x, rate, w, &err);
    CHECK_OK(err);
    for (int i = 0; i < D; i++)
        check_note(fabs((double)w[i] - wanted[i]) <= 0x1p-6 * largest, __FILE__, __LINE__,
                   "%s on %s, inputs of %g: the step moves w[%d] by %g, not by %g", l->name, profile, size, i,
                   (double)w[i], wanted[i]);
}

static void test_a_step_with_large_activations_is_that_of_fp64(void)
{
    static const double sizes[] = {1, 16, 256, 1024, 16384};
    for (size_t l = 0; l < LAYERS; l++)
        for (size_t p = 0; p < PROFILES; p++)
            for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
                check_step(&layers[l], profiles[p], sizes[i]);
}

int main(void)
{
    RUN(test_a_step_with_large_activations_is_that_of_fp64);
    return check_finish();
}

/* Losses where formulas written down naively overflow or cancel, and their first and second derivatives by differences,
 * on both devices. */
#include "support/check.h"
#include "support/on_engine.h"

#include <millwright/inspect.h>
#include <millwright/millwright.h>

enum { N = 4, C = 3 };

typedef struct outcome {
    float loss, dx[N * C];
} outcome;

typedef mw_tensor *make_loss(mw_tensor *x, mw_tensor *target);

/* The loss of x [N, C] and its gradient by x; targets [N, C], or labels [N] if `labels` is not NULL. */
static outcome run(make_loss *make, mw_device device, const float *x, const float *target, const int32_t *labels)
{
    mw_error err = {0};
    outcome result = {.loss = NAN};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *in = mw_input(graph, "x", MW_F32, MW_SHAPE(N, C)), *dx = NULL;
    mw_tensor *t =
        labels != NULL ? mw_input(graph, "t", MW_I32, MW_SHAPE(N)) : mw_input(graph, "t", MW_F32, MW_SHAPE(N, C));
    mw_tensor *loss = make(in, t);
    mw_grad(loss, &in, 1, &dx, &err);
    mw_output(loss, "loss");
    mw_output(dx, "dx");
    mw_program *program = engine_compile(graph, device, 0, &err);
    mw_program_write(program, "x", MW_F32, x, N * C, &err);
    if (labels != NULL)
        mw_program_write(program, "t", MW_I32, labels, N, &err);
    else
        mw_program_write(program, "t", MW_F32, target, N * C, &err);
    mw_program_run(program, &err);
    mw_program_read(program, "loss", MW_F32, &result.loss, 1, &err);
    mw_program_read(program, "dx", MW_F32, result.dx, N * C, &err);
    CHECK_OK(err);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
    return result;
}

static void check_close(const outcome *got, double loss, const double *dx, double tolerance)
{
    CHECK_NEAR(got->loss, loss, tolerance * fabs(loss));
    for (int i = 0; i < N * C; i++)
        CHECK_NEAR(got->dx[i], dx[i], tolerance);
}

/* ---- classes ---- */

static const float class_weights[C] = {1.0f, 2.0f, 0.5f};

static mw_tensor *with_everything(mw_tensor *x, mw_tensor *t)
{
    mw_cross_entropy_options options = mw_cross_entropy_defaults();
    options.class_count = C;
    options.class_weights = class_weights;
    options.label_smoothing = 0.125f;
    options.ignore_index = mw_tensor_dtype(t) == MW_I32 ? -100 : MW_IGNORE_NOTHING;
    return mw_cross_entropy_with(x, t, &options);
}

static mw_tensor *ignoring(mw_tensor *x, mw_tensor *t)
{
    mw_cross_entropy_options options = mw_cross_entropy_defaults();
    options.ignore_index = -100;
    return mw_cross_entropy_with(x, t, &options);
}

/* Logits of size h, the label's the largest but in row 1, where it is h / 4 below. So softmax is one-hot, and with a
 * smoothing of 1/8 the classes c that lie below the largest cost w[c] / 24 times how far. */
static void check_cross_entropy_at(double h, mw_device device, double tolerance)
{
    const float f = (float)h;
    const float x[N * C] = {f, -f, 0, f, 0.75f * f, -f, -f, -f, f, f, f / 2, f};
    const int32_t labels[N] = {0, 1, 2, -100};
    const double everywhere = 0.125 / 3, weight = 1 + 2 + 0.5;
    const double row0 = everywhere * (2 * 2 * h + 0.5 * h);
    const double row1 = 2 * 0.875 * h / 4 + everywhere * (2 * h / 4 + 0.5 * 2 * h);
    const double row2 = everywhere * (2 * h + 2 * 2 * h);
    outcome got = run(with_everything, device, x, NULL, labels);
    CHECK_NEAR(got.loss, (row0 + row1 + row2) / weight, tolerance * (row0 + row1 + row2) / weight);
    const double sum0 = 0.875 + 3.5 * everywhere;
    CHECK_NEAR(got.dx[0], (sum0 - 0.875 - everywhere) / weight, tolerance);
    CHECK_NEAR(got.dx[1], -2 * everywhere / weight, tolerance);
    for (int c = 0; c < C; c++)
        CHECK(got.dx[3 * C + c] == 0.0f); /* ignored */
    got = run(ignoring, device, x, NULL, labels);
    const double dx[N * C] = {0, 0, 0, 1.0 / 3, -1.0 / 3};
    check_close(&got, h / 4 / 3, dx, tolerance);
}

/* The logits lie 2 h apart, which is more than the largest number of fp16; 0 times that must not become NaN. */
static void check_probabilities_at(double h, mw_device device, double tolerance)
{
    const float f = (float)h;
    const float x[N * C] = {f, -f, -f, -f, f, -f, f, f, -f, -f, f / 2, f};
    const float p[N * C] = {1, 0, 0, 0, 1, 0, 0.5f, 0.5f, 0, 0, 0.25f, 0.75f};
    const double dx[N * C] = {[10] = -0.0625, [11] = 0.0625};
    const outcome got = run(mw_cross_entropy, device, x, p, NULL);
    check_close(&got, (log(2) + 0.25 * h / 2) / 4, dx, tolerance);
}

static void test_cross_entropy_of_large_logits(void)
{
    check_cross_entropy_at(1e4, MW_DEVICE_CPU, 1e-6);
    check_probabilities_at(1e4, MW_DEVICE_CPU, 1e-6);
    check_cross_entropy_at(6e4, MW_DEVICE_ANE, 0x1p-9); /* fp16: a few roundings of 2^-11 */
    check_probabilities_at(6e4, MW_DEVICE_ANE, 0x1p-9);
}

static void test_no_label_that_counts_gives_0_and_no_gradient(void)
{
    const mw_device devices[] = {MW_DEVICE_CPU, MW_DEVICE_ANE};
    const float x[N * C] = {1, 2, 3, -4, 5, 6, 7, 8, -9, 10, 11, 12};
    const int32_t labels[N] = {-100, -100, -100, -100};
    for (int k = 0; k < 4; k++) {
        const outcome got = run(k < 2 ? ignoring : with_everything, devices[k % 2], x, NULL, labels);
        CHECK(got.loss == 0.0f);
        for (int i = 0; i < N * C; i++)
            CHECK(got.dx[i] == 0.0f);
    }
}

/* ---- values ---- */

static mw_tensor *binary(mw_tensor *x, mw_tensor *t) { return mw_binary_cross_entropy(x, t, NULL); }
static mw_tensor *huber(mw_tensor *x, mw_tensor *t) { return mw_huber(x, t, 1.0f); }
static mw_tensor *smooth(mw_tensor *x, mw_tensor *t) { return mw_smooth_l1(x, t, 0.5f); }
static mw_tensor *margin(mw_tensor *x, mw_tensor *t) { return mw_multi_margin(x, t, 1.0f); }

/* Right answers cost nothing, wrong ones h; the loss of a logit of 8 that is right is e^-8, which 1 - sigmoid(8) loses
 * in fp16. */
static void check_binary_at(double h, mw_device device, double tolerance)
{
    const float f = (float)h;
    const float x[N * C] = {f, -f, f, -f, 0, 8, -8, f, -f, f, -f, 0};
    const float t[N * C] = {1, 0, 1, 0, 0.5f, 1, 0, 0, 0, 1, 0, 1};
    double dx[N * C] = {0};
    dx[5] = -exp(-8.0) / 12, dx[6] = exp(-8.0) / 12, dx[7] = 1.0 / 12, dx[11] = -0.5 / 12;
    const outcome got = run(binary, device, x, t, NULL);
    check_close(&got, (h + 2 * log(2)) / 12, dx, tolerance);
    CHECK_NEAR(got.dx[5], dx[5], 0.01 * fabs(dx[5]));
    CHECK_NEAR(got.dx[6], dx[6], 0.01 * fabs(dx[6]));
}

/* The gradient by the target is -x / count, of which the logarithms cancel; with a positive weight q it is
 * (q - 1) log(1 + e^-|x|) + q max(-x, 0) - max(x, 0). */
static mw_tensor *binary_by_target(mw_tensor *t, mw_tensor *x) { return mw_binary_cross_entropy(x, t, NULL); }
static mw_tensor *weighted_by_target(mw_tensor *t, mw_tensor *x)
{
    return mw_binary_cross_entropy(x, t, mw_scalar(mw_tensor_graph(x), mw_tensor_dtype(x), 1.0078125));
}

static void test_binary_cross_entropy_by_its_target(void)
{
    const float x[N * C] = {1e-4f, -1e-4f, 3e-3f, -3e-3f, 0.02f, -0.02f, 1, -1, 8, -8, 40, -40};
    const float t[N * C] = {0, 1, 0.5f, 0.25f, 0, 1, 1, 1, 0, 0.5f, 1, 0};
    for (int half = 0; half < 2; half++) {
        const mw_device device = half ? MW_DEVICE_ANE : MW_DEVICE_CPU;
        const double tolerance = half ? 0x1p-8 : 1e-6;
        const outcome plain = run(binary_by_target, device, t, x, NULL);
        const outcome weighted = run(weighted_by_target, device, t, x, NULL);
        for (int i = 0; i < N * C; i++) {
            const double v = (double)x[i], below = log1p(exp(-fabs(v)));
            const double truth = 0.0078125 * below + 1.0078125 * fmax(-v, 0) - fmax(v, 0);
            const double terms = 0.0078125 * below + fabs(v); /* which may differ in sign */
            CHECK_NEAR(plain.dx[i], -v / (N * C), tolerance * fabs(v) / (N * C) + (half ? 0x1p-24 : 0));
            CHECK_NEAR(weighted.dx[i], truth / (N * C), tolerance * terms / (N * C) + (half ? 0x1p-24 : 0));
        }
    }
}

static void check_regression_at(double h, mw_device device, double tolerance)
{
    const float f = (float)h;
    const float x[N * C] = {f, -f, 0, 0.25f}, t[N * C] = {0};
    const double dx[N * C] = {1.0 / 12, -1.0 / 12, 0, 0.25 / 12}, steeper[N * C] = {1.0 / 12, -1.0 / 12, 0, 0.5 / 12};
    outcome got = run(huber, device, x, t, NULL);
    check_close(&got, (2 * (h - 0.5) + 0.03125) / 12, dx, tolerance);
    got = run(smooth, device, x, t, NULL);
    check_close(&got, (2 * (h - 0.25) + 0.0625) / 12, steeper, tolerance);
}

static void test_values_of_large_arguments(void)
{
    check_binary_at(1e4, MW_DEVICE_CPU, 1e-6);
    check_regression_at(1e4, MW_DEVICE_CPU, 1e-6);
    check_binary_at(6e4, MW_DEVICE_ANE, 0x1p-9);
    check_regression_at(6e4, MW_DEVICE_ANE, 0x1p-9);
}

/* 0 log 0 = 0, and what is predicted for an impossible outcome does not matter. */
static void test_kl_divergence_of_impossible_outcomes(void)
{
    const float low = -INFINITY, half = -0.6931472f;
    const float x[N * C] = {half, half, low, 0, low, low, half, half, low, 0, low, low};
    const float t[N * C] = {0.5f, 0.5f, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0};
    const double dx[N * C] = {-0.125, -0.125, 0, -0.25, 0, 0, -0.25, 0, 0, -0.25};
    outcome got = run(mw_kl_divergence, MW_DEVICE_CPU, x, t, NULL);
    check_close(&got, log(2) / 4, dx, 1e-6);
    got = run(mw_kl_divergence, MW_DEVICE_ANE, x, t, NULL);
    check_close(&got, log(2) / 4, dx, 0x1p-9);
}

/* ---- derivatives ---- */

/* Gradients by x (and t if it is a float) against differences; with `twice` those of the sum of squares of the
 * gradient. The arguments stay away from kinks. */
static void check_derivatives(make_loss *make, bool integral, bool twice, const char *name)
{
    static const float x_at[N * C] = {-1.3f, 0.4f, 0.8f, -0.6f, -0.3f, 1.7f, 0.55f, -2.1f, 0.1f, 0.9f, -0.45f, 0.3f};
    static const float t_at[N * C] = {0.3f, 0.6f, 0.1f, 0.2f, 0.15f, 0.65f, 0.7f, 0.05f, 0.25f, 0.45f, 0.4f, 0.2f};
    static const int32_t label_at[N] = {2, 0, 1, 2};
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *in[2] = {mw_input(graph, "x", MW_F32, MW_SHAPE(N, C))}, *gradients[2];
    in[1] = integral ? mw_input(graph, "t", MW_I32, MW_SHAPE(N)) : mw_input(graph, "t", MW_F32, MW_SHAPE(N, C));
    mw_tensor *y = make(in[0], in[1]);
    const size_t count = integral ? 1 : 2;
    if (twice && mw_grad(y, in, count, gradients, &err) == MW_OK)
        y = mw_reduce_sum(mw_square(mw_mul_scalar(gradients[0], N)), MW_ALL_AXES, false);
    const mw_feed feeds[] = {
        {.name = "x", .dtype = MW_F32, .data = x_at, .count = N * C, .scale = 1.0f},
        {.name = "t", .dtype = MW_F32, .data = t_at, .count = N * C, .scale = 1.0f},
        {.name = "t", .dtype = MW_I32, .data = label_at, .count = N, .scale = 1.0f},
    };
    const mw_feed chosen[] = {feeds[0], feeds[integral ? 2 : 1]};
    const mw_batch batch = {.feeds = chosen, .feed_count = 2, .examples = N};
    mw_gradcheck_options options = mw_gradcheck_defaults(y, in, count);
    options.batch = &batch;
    options.compile.device = MW_DEVICE_CPU;
    options.compile.provider = MW_PROVIDER_ENGINE;
    mw_gradcheck_report report = {0};
    mw_gradcheck_run(&options, &report, &err);
    check_note(err.status == MW_OK && report.passed && report.skipped * 4 <= report.checked, __FILE__, __LINE__,
               "%s%s: %zu checked, %zu skipped: %s", name, twice ? ", twice" : "", report.checked, report.skipped,
               err.message);
    mw_graph_destroy(graph);
}

static mw_tensor *nll_of_logits(mw_tensor *x, mw_tensor *t) { return mw_nll(mw_log_softmax(x, 1), t); }

static mw_tensor *kl_of_logits(mw_tensor *x, mw_tensor *t) { return mw_kl_divergence(mw_log_softmax(x, -1), t); }

static void test_derivatives_agree_with_differences(void)
{
    for (int twice = 0; twice < 2; twice++) {
        check_derivatives(mw_cross_entropy, true, twice != 0, "cross_entropy");
        check_derivatives(mw_cross_entropy, false, twice != 0, "cross_entropy of probabilities");
        check_derivatives(with_everything, true, twice != 0, "cross_entropy_with");
        check_derivatives(with_everything, false, twice != 0, "cross_entropy_with of probabilities");
        check_derivatives(ignoring, true, twice != 0, "cross_entropy_with ignoring");
        check_derivatives(nll_of_logits, true, twice != 0, "nll of log_softmax");
        check_derivatives(kl_of_logits, false, twice != 0, "kl_divergence of log_softmax");
        check_derivatives(binary, false, twice != 0, "binary_cross_entropy");
        check_derivatives(huber, false, twice != 0, "huber");
        check_derivatives(smooth, false, twice != 0, "smooth_l1");
        check_derivatives(mw_kl_divergence, false, twice != 0, "kl_divergence");
        check_derivatives(mw_mse, false, twice != 0, "mse");
    }
    check_derivatives(mw_nll, true, false, "nll");
    check_derivatives(margin, true, false, "multi_margin");
    check_derivatives(mw_l1, false, false, "l1");
    check_derivatives(mw_hinge, false, false, "hinge");
}

/* The one loss with three operands. The target serves as the weight too, so that every gradient is asked for. */
static mw_tensor *binary_weighted(mw_tensor *x, mw_tensor *t)
{
    mw_tensor *rows = mw_reduce_sum(t, MW_AXES(0), false); /* [C], repeated over N */
    return mw_binary_cross_entropy(x, t, rows);
}

static void test_derivatives_by_the_positive_weight(void)
{
    check_derivatives(binary_weighted, false, false, "binary_cross_entropy, weighted");
    check_derivatives(binary_weighted, false, true, "binary_cross_entropy, weighted");
}

/* At a kink of |d| the second derivative of d^2 / 2 would be lost. */
static void test_second_derivatives_at_0(void)
{
    make_loss *const losses[] = {huber, smooth, binary};
    const float expected[] = {1.0f, 2.0f, 0.25f}, zeros[N * C] = {0};
    for (int i = 0; i < 3; i++) {
        mw_error err = {0};
        mw_graph *graph = mw_graph_create(NULL, NULL);
        mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(N, C)), *t = mw_input(graph, "t", MW_F32, MW_SHAPE(N, C));
        mw_tensor *dx = NULL, *second = NULL;
        mw_grad(losses[i](x, t), &x, 1, &dx, &err);
        mw_grad(mw_reduce_sum(dx, MW_ALL_AXES, false), &x, 1, &second, &err);
        mw_output(mw_mul_scalar(second, N * C), "second");
        mw_program *program = engine_compile(graph, MW_DEVICE_CPU, 0, &err);
        float got[N * C] = {0};
        mw_program_write(program, "x", MW_F32, zeros, N * C, &err);
        if (mw_graph_find(graph, "t") != NULL)
            mw_program_write(program, "t", MW_F32, zeros, N * C, &err);
        mw_program_run(program, &err);
        mw_program_read(program, "second", MW_F32, got, N * C, &err);
        CHECK_OK(err);
        for (int k = 0; k < N * C; k++)
            CHECK_NEAR(got[k], expected[i], 1e-6);
        mw_program_destroy(program);
        mw_graph_destroy(graph);
    }
}

int main(void)
{
    RUN(test_cross_entropy_of_large_logits);
    RUN(test_no_label_that_counts_gives_0_and_no_gradient);
    RUN(test_values_of_large_arguments);
    RUN(test_binary_cross_entropy_by_its_target);
    RUN(test_kl_divergence_of_impossible_outcomes);
    RUN(test_derivatives_agree_with_differences);
    RUN(test_derivatives_by_the_positive_weight);
    RUN(test_second_derivatives_at_0);
    return check_finish();
}

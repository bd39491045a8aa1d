/* Losses made of log softmax, and their gradients, where the prediction is ever more confident: relative errors against
 * double, on both devices. */
#include "support/check.h"
#include "support/on_engine.h"

#include "base/number/fp16.h"
#include <millwright/millwright.h>

enum { MOST = 300 };

/* One example of `classes` logits, label 0: its loss and the gradient by its logits, in a program that runs many times.
 */
typedef struct bench {
    mw_program *program;
    int classes;
    bool half, dense;
} bench;

typedef mw_tensor *make_loss(mw_tensor *x, mw_tensor *labels);

static mw_tensor *nll(mw_tensor *x, mw_tensor *labels) { return mw_nll(mw_log_softmax(x, -1), labels); }

/* Weights and an ignored class do not matter to one example. */
static mw_tensor *weighted(mw_tensor *x, mw_tensor *labels)
{
    float weights[MOST];
    mw_cross_entropy_options options = mw_cross_entropy_defaults();
    options.class_count = (size_t)mw_tensor_shape(x).dim[1];
    options.class_weights = weights;
    options.ignore_index = -100;
    for (int i = 0; i < MOST; i++)
        weights[i] = 2.0f;
    return mw_cross_entropy_with(x, labels, &options);
}

/* The divergence from a one-hot target. */
static mw_tensor *divergence(mw_tensor *x, mw_tensor *target) { return mw_kl_divergence(mw_log_softmax(x, 1), target); }

static bench make(make_loss *loss_of, int classes, mw_device device, bool dense)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(1, classes)), *dx = NULL;
    mw_tensor *labels = dense ? mw_input(graph, "labels", MW_F32, MW_SHAPE(1, classes))
                              : mw_input(graph, "labels", MW_I32, MW_SHAPE(1));
    mw_tensor *loss = loss_of(x, labels);
    mw_grad(loss, &x, 1, &dx, &err);
    mw_output(loss, "loss");
    mw_output(dx, "dx");
    bench b = {engine_compile(graph, device, 0, &err), classes, device == MW_DEVICE_ANE, dense};
    const float hot[MOST] = {1.0f};
    const int32_t label = 0;
    if (dense)
        mw_program_write(b.program, "labels", MW_F32, hot, (size_t)classes, &err);
    else
        mw_program_write(b.program, "labels", MW_I32, &label, 1, &err);
    CHECK_OK(err);
    mw_graph_destroy(graph);
    return b;
}

/* ---- the truth, of the logits as the device has them ---- */

static double others_of(const float *x, int classes)
{
    double sum = 0.0;
    for (int c = 1; c < classes; c++)
        sum += exp((double)x[c] - (double)x[0]);
    return sum;
}

/* Errors as multiples of the truth, beyond half of fp16's smallest number for each class, which e^z may have lost. */
static double relative(double got, double truth, const bench *b)
{
    const double floor = b->half ? 0x1p-25 * b->classes : 0.0;
    return fmax(0.0, fabs(got - truth) - floor) / fabs(truth);
}

typedef struct worst {
    double loss, gradient;
} worst;

static worst run(const bench *b, const float *x)
{
    mw_error err = {0};
    float loss = NAN, dx[MOST];
    const size_t count = (size_t)b->classes;
    mw_program_write(b->program, "x", MW_F32, x, count, &err);
    mw_program_run(b->program, &err);
    mw_program_read(b->program, "loss", MW_F32, &loss, 1, &err);
    mw_program_read(b->program, "dx", MW_F32, dx, count, &err);
    CHECK_OK(err);
    const double others = others_of(x, b->classes);
    worst w = {relative(loss, log1p(others), b), relative(dx[0], -others / (1.0 + others), b)};
    for (int c = 1; c < b->classes; c++)
        w.gradient = fmax(w.gradient, relative(dx[c], exp((double)x[c] - (double)x[0]) / (1.0 + others), b));
    return w;
}

/* Label 0 leads by `lead`, from a level where the logits of fp16 are `step` apart. */
static void fill(float *x, int classes, double level, double lead, double step)
{
    x[0] = (float)(round(level / step) * step);
    for (int c = 1; c < classes; c++)
        x[c] = x[0] - (float)(ceil((lead + 0.37 * ((c * 7) % 11)) / step) * step);
}

static void check_sweep(make_loss *loss_of, const char *name, mw_device device, bool dense, double bound)
{
    static const int classes[] = {2, 3, 10, 300};
    const bool half = device == MW_DEVICE_ANE;
    worst all = {0};
    for (int k = 0; k < 4; k++) {
        const bench b = make(loss_of, classes[k], device, dense);
        for (double level = 0.0; level <= (half ? 60.0 : 1100.0); level = 3.0 * level + 5.0)
            for (double lead = -3.0; lead <= (half ? 9.0 : 80.0); lead += 0.4375) {
                float x[MOST];
                fill(x, b.classes, level, lead, half ? 0x1p-5 : 0x1p-13);
                const worst w = run(&b, x);
                all.loss = fmax(all.loss, w.loss);
                all.gradient = fmax(all.gradient, w.gradient);
            }
        mw_program_destroy(b.program);
    }
    check_note(all.loss <= bound && all.gradient <= bound, __FILE__, __LINE__,
               "%s on %s: loss %.3g, gradient %.3g of the truth; the bound is %.3g", name, half ? "ANE" : "CPU",
               all.loss, all.gradient, bound);
}

static void test_a_confident_prediction_keeps_its_loss(void)
{
    for (int half = 0; half < 2; half++) {
        const mw_device device = half ? MW_DEVICE_ANE : MW_DEVICE_CPU;
        const double bound = half ? 0x1p-8 : 0x1p-20;
        check_sweep(mw_cross_entropy, "cross_entropy", device, false, bound);
        check_sweep(mw_cross_entropy, "cross_entropy of probabilities", device, true, bound);
        check_sweep(weighted, "cross_entropy_with", device, false, bound);
        check_sweep(nll, "nll", device, false, bound);
        check_sweep(divergence, "kl_divergence", device, true, bound);
    }
}

/* ---- the operation itself ---- */

enum { ROWS = 2, COLUMNS = 3, DEPTH = 2, COUNT = ROWS * COLUMNS * DEPTH };

typedef mw_tensor *make_value(mw_tensor *x);

static mw_tensor *middle(mw_tensor *x) { return mw_log_softmax(x, 1); }
static mw_tensor *last(mw_tensor *x) { return mw_log_softmax(x, -1); }
static mw_tensor *total(mw_tensor *x) { return mw_reduce_log_sum_exp(x, MW_AXES(1), false); }
static mw_tensor *total_of_two(mw_tensor *x) { return mw_reduce_log_sum_exp(x, MW_AXES(2, 1), true); }

/* y = value(x [2, 3, 2]) and the gradient of the sum of w y. */
static void run_value(make_value *value, mw_device device, const float *x_at, const float *w_at, float *y_at,
                      float *dx_at)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(ROWS, COLUMNS, DEPTH)), *dx = NULL;
    mw_tensor *y = value(x);
    mw_tensor *w = mw_input(graph, "w", MW_F32, mw_tensor_shape(y));
    const size_t count = (size_t)mw_shape_count(mw_tensor_shape(y));
    mw_grad(mw_reduce_sum(mw_mul(w, y), MW_ALL_AXES, false), &x, 1, &dx, &err);
    mw_output(y, "y");
    mw_output(dx, "dx");
    mw_program *program = engine_compile(graph, device, 0, &err);
    mw_program_write(program, "x", MW_F32, x_at, COUNT, &err);
    mw_program_write(program, "w", MW_F32, w_at, count, &err);
    mw_program_run(program, &err);
    mw_program_read(program, "y", MW_F32, y_at, count, &err);
    mw_program_read(program, "dx", MW_F32, dx_at, COUNT, &err);
    CHECK_OK(err);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

/* Largest of a line of elements, and the sum of the powers of what they lack. */
static double line_sum(const float *x, int begin, int step, int count, double *out_most)
{
    double sum = 0.0;
    *out_most = -INFINITY;
    for (int i = 0; i < count; i++)
        *out_most = fmax(*out_most, (double)x[begin + i * step]);
    for (int i = 0; i < count; i++)
        sum += exp((double)x[begin + i * step] - *out_most);
    return sum;
}

static const float w_at[COUNT] = {1, -2, 0.5f, 3, 0, 1, 2, 0, -1, 0.25f, 1, -0.5f};

static void check_lines(make_value *value, mw_device device, const float *x, int axis, double tolerance)
{
    float y[COUNT], dx[COUNT];
    const int step = axis == 1 ? DEPTH : 1, count = axis == 1 ? COLUMNS : DEPTH;
    run_value(value, device, x, w_at, y, dx);
    for (int at = 0; at < COUNT; at++) {
        const int begin = axis == 1 ? at / (COLUMNS * DEPTH) * COLUMNS * DEPTH + at % DEPTH : at / DEPTH * DEPTH;
        double most, weights = 0.0;
        const double sum = line_sum(x, begin, step, count, &most), p = exp((double)x[at] - most) / sum;
        for (int i = 0; i < count; i++)
            weights += (double)w_at[begin + i * step];
        const double truth = (double)x[at] - most - log(sum);
        CHECK_NEAR(y[at], truth, tolerance * fabs(truth));
        CHECK_NEAR(dx[at], (double)w_at[at] - p * weights, 4 * tolerance);
    }
}

/* Ties, leaders, and logits far from 0. */
static void test_log_softmax_along_any_axis(void)
{
    const float x[COUNT] = {1000, 1009, 1000.5f, 1001, 999, 1001, -3, 0.25f, -3, -7, 8, 0.25f};
    check_lines(middle, MW_DEVICE_CPU, x, 1, 1e-6);
    check_lines(last, MW_DEVICE_CPU, x, 2, 1e-6);
    check_lines(middle, MW_DEVICE_ANE, x, 1, 0x1p-8);
    check_lines(last, MW_DEVICE_ANE, x, 2, 0x1p-8);
}

/* log sum exp near 1000 is a multiple of 1/2 in fp16, so exp(x - y) says little. */
static void test_the_gradient_of_log_sum_exp_is_softmax(void)
{
    const float x[COUNT] = {1000, 1009, 1000.5f, 1001, 999, 1001, -3, 0.25f, -3, -7, 8, 0.25f};
    const float ones[COUNT] = {1, 1, 1, 1};
    for (int half = 0; half < 2; half++) {
        const mw_device device = half ? MW_DEVICE_ANE : MW_DEVICE_CPU;
        const double tolerance = half ? 0x1p-9 : 1e-6;
        float y[COUNT], dx[COUNT];
        double most;
        run_value(total, device, x, ones, y, dx);
        for (int at = 0; at < COUNT; at++) {
            const double sum = line_sum(x, at / 6 * 6 + at % DEPTH, DEPTH, COLUMNS, &most);
            CHECK_NEAR(dx[at], exp((double)x[at] - most) / sum, tolerance);
        }
        run_value(total_of_two, device, x, ones, y, dx);
        for (int at = 0; at < COUNT; at++) {
            const double sum = line_sum(x, at / 6 * 6, 1, COLUMNS * DEPTH, &most);
            CHECK_NEAR(dx[at], exp((double)x[at] - most) / sum, tolerance);
        }
    }
}

/* A class that a mask of -inf excludes costs nothing and gets no gradient. */
static void test_log_softmax_of_excluded_classes(void)
{
    const float low = -INFINITY;
    const float x[COUNT] = {1, low, low, 2, 1, low, 5, 5, low, 5, 5, low};
    const float w[COUNT] = {1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0};
    for (int half = 0; half < 2; half++) {
        float y[COUNT], dx[COUNT];
        run_value(total, half ? MW_DEVICE_ANE : MW_DEVICE_CPU, x, w_at, y, dx);
        CHECK(dx[2] == 0.0f && dx[1] == 0.0f && dx[8] == 0.0f);
        run_value(middle, half ? MW_DEVICE_ANE : MW_DEVICE_CPU, x, w, y, dx);
        CHECK(y[2] == low && y[1] == low && y[3] == 0.0f);
    }
}

/* The sum of their powers, 70,000, is beyond fp16. */
static void test_more_classes_than_fp16_counts(void)
{
    enum { CLASSES = 70000 };
    static float x[CLASSES], dx[CLASSES];
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *logits = mw_input(graph, "x", MW_F32, MW_SHAPE(1, CLASSES)), *gradient = NULL;
    mw_tensor *first = mw_slice_by_size(mw_log_softmax(logits, 1), (const int64_t[]){0, 0}, (const int64_t[]){1, 1});
    mw_grad(mw_reduce_sum(first, MW_ALL_AXES, false), &logits, 1, &gradient, &err);
    mw_output(first, "first");
    mw_output(gradient, "dx");
    mw_program *program = engine_compile(graph, MW_DEVICE_ANE, 0, &err);
    for (int lead = 0; lead <= 30; lead += 10) {
        const double others = exp(-lead) * (CLASSES - 1);
        float y = NAN;
        x[0] = (float)lead;
        mw_program_write(program, "x", MW_F32, x, CLASSES, &err);
        mw_program_run(program, &err);
        mw_program_read(program, "first", MW_F32, &y, 1, &err);
        mw_program_read(program, "dx", MW_F32, dx, CLASSES, &err);
        const double floor = 0x1p-25 * CLASSES;
        CHECK_NEAR(y, -log1p(others), 0x1p-8 * log1p(others) + floor);
        CHECK_NEAR(dx[0], others / (1.0 + others), 0x1p-8 * others / (1.0 + others) + floor);
    }
    CHECK_OK(err);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

static void test_log_softmax_refuses_wrong_arguments(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    CHECK(mw_log_softmax(mw_input(graph, "x", MW_F32, MW_SHAPE(2, 3)), 2) == NULL);
    mw_graph_check(graph, &err);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "log_softmax: axis 2 is outside rank 2");
    mw_graph_destroy(graph);
    graph = mw_graph_create(NULL, NULL);
    err = (mw_error){0};
    CHECK(mw_log_softmax(mw_input(graph, "x", MW_I32, MW_SHAPE(2, 3)), 1) == NULL);
    mw_graph_check(graph, &err);
    CHECK_ERROR(err, MW_ERROR_DTYPE, "log_softmax: x is int32");
    mw_graph_destroy(graph);
    CHECK(mw_log_softmax(NULL, 0) == NULL);
}

int main(void)
{
    RUN(test_a_confident_prediction_keeps_its_loss);
    RUN(test_log_softmax_along_any_axis);
    RUN(test_the_gradient_of_log_sum_exp_is_softmax);
    RUN(test_log_softmax_of_excluded_classes);
    RUN(test_more_classes_than_fp16_counts);
    RUN(test_log_softmax_refuses_wrong_arguments);
    return check_finish();
}

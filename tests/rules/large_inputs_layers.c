/* Layers and reductions: what is computed of several elements. */
#include "large_inputs.h"

#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { W = 4 };

/* ---- formulas ---- */

static double mean_of(const double *x, int count, int stride, double power, double center)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += pow(fabs(x[i * stride] - center), power) * (power == 1 && x[i * stride] < center ? -1 : 1);
    return sum / count;
}

/* (x - mean) / sqrt(var + epsilon), or without the mean, of runs of `count`. */
static void normalize(const double *x, double *y, int count, bool centered, double epsilon)
{
    for (int at = 0; at < LARGE_X; at += count) {
        const double mean = centered ? mean_of(&x[at], count, 1, 1, 0) : 0;
        const double root = sqrt(mean_of(&x[at], count, 1, 2, mean) + epsilon);
        for (int i = 0; i < count; i++)
            y[at + i] = root > 0 ? (x[at + i] - mean) / root : 0;
    }
}

static void layer_norm(const double *x, double *y) { normalize(x, y, LARGE_ROW, true, 1e-3); }
static void layer_norm_small(const double *x, double *y) { normalize(x, y, LARGE_ROW, true, 1e-5); }
static void instance_norm(const double *x, double *y) { normalize(x, y, LARGE_PLACES, true, 1e-3); }
static void group_norm(const double *x, double *y) { normalize(x, y, 2 * LARGE_PLACES, true, 1e-3); }
static void rms_norm(const double *x, double *y) { normalize(x, y, LARGE_ROW, false, 1e-3); }
static void rms_norm_small(const double *x, double *y) { normalize(x, y, W, false, 1e-5); }
static void rms_norm_none(const double *x, double *y) { normalize(x, y, LARGE_ROW, false, 0); }

static void l2_norm(const double *x, double *y)
{
    normalize(x, y, LARGE_ROW, false, 1e-3 / LARGE_ROW);
    for (int i = 0; i < LARGE_X; i++)
        y[i] /= sqrt(LARGE_ROW);
}

static void batch_norm(const double *x, double *y)
{
    for (int c = 0; c < LARGE_C; c++) {
        double sum = 0, squares = 0;
        for (int i = 0; i < LARGE_X; i++)
            sum += i / LARGE_PLACES % LARGE_C == c ? x[i] / (LARGE_N * LARGE_PLACES) : 0;
        for (int i = 0; i < LARGE_X; i++)
            squares += i / LARGE_PLACES % LARGE_C == c ? (x[i] - sum) * (x[i] - sum) / (LARGE_N * LARGE_PLACES) : 0;
        for (int i = 0; i < LARGE_X; i++)
            if (i / LARGE_PLACES % LARGE_C == c)
                y[i] = (x[i] - sum) / sqrt(squares + 1e-3);
    }
}

static void local_response_norm(const double *x, double *y)
{
    for (int i = 0; i < LARGE_X; i++) {
        const int channel = i / LARGE_PLACES % LARGE_C;
        double sum = 0;
        for (int c = channel - 1; c <= channel + 1; c++) {
            const double other = c >= 0 && c < LARGE_C ? x[i + (c - channel) * LARGE_PLACES] : 0;
            sum += other * other;
        }
        y[i] = x[i] / pow(1 + 1e-2 / 3 * sum, 0.75);
    }
}

static void log_softmax(const double *x, double *y)
{
    for (int at = 0; at < LARGE_X; at += W) {
        double most = x[at], sum = 0;
        for (int i = 0; i < W; i++)
            most = fmax(most, x[at + i]);
        for (int i = 0; i < W; i++)
            sum += exp(x[at + i] - most);
        for (int i = 0; i < W; i++)
            y[at + i] = x[at + i] - most - log(sum);
    }
}

static void softmax(const double *x, double *y)
{
    log_softmax(x, y);
    for (int i = 0; i < LARGE_X; i++)
        y[i] = exp(y[i]);
}

static void log_sum_exp(const double *x, double *y)
{
    double all[LARGE_X];
    log_softmax(x, all);
    for (int at = 0; at < LARGE_X; at += W)
        y[at / W] = x[at] - all[at];
}

/* sqrt(sum(x^2)) and others, of each row of W. */
static void l2(const double *x, double *y)
{
    for (int at = 0; at < LARGE_X; at += W)
        y[at / W] = sqrt(W * mean_of(&x[at], W, 1, 2, 0));
}
static void sum_square(const double *x, double *y)
{
    for (int at = 0; at < LARGE_X; at += W)
        y[at / W] = W * mean_of(&x[at], W, 1, 2, 0);
}
static void mean_square(const double *x, double *y)
{
    for (int at = 0; at < LARGE_X; at += W)
        y[at / W] = mean_of(&x[at], W, 1, 2, 0);
}
static void absolute_sum(const double *x, double *y)
{
    for (int at = 0; at < LARGE_X; at += W)
        y[at / W] = fabs(x[at]) + fabs(x[at + 1]) + fabs(x[at + 2]) + fabs(x[at + 3]);
}
static void sum(const double *x, double *y)
{
    for (int at = 0; at < LARGE_X; at += W)
        y[at / W] = x[at] + x[at + 1] + x[at + 2] + x[at + 3];
}
static void mean(const double *x, double *y)
{
    for (int at = 0; at < LARGE_X; at += W)
        y[at / W] = (x[at] + x[at + 1] + x[at + 2] + x[at + 3]) / W;
}
static void log_sum(const double *x, double *y)
{
    for (int at = 0; at < LARGE_X; at += W)
        y[at / W] = log(x[at] + x[at + 1] + x[at + 2] + x[at + 3]);
}
static void deviation(const double *x, double *y)
{
    for (int at = 0; at < LARGE_X; at += W)
        y[at / W] = sqrt(mean_of(&x[at], W, 1, 2, mean_of(&x[at], W, 1, 1, 0)));
}

/* ---- how they are written ---- */

static mw_tensor *make_layer_norm(mw_tensor *x) { return mw_layer_norm(x, MW_AXES(1, 2, 3), NULL, NULL, 1e-3f); }
static mw_tensor *make_layer_norm_layer(mw_tensor *x) { return mw_layer_norm_layer(x, 3, 1e-5f, "norm"); }
static mw_tensor *make_instance_norm(mw_tensor *x) { return mw_instance_norm(x, NULL, NULL, 1e-3f); }
static mw_tensor *make_group_norm(mw_tensor *x) { return mw_group_norm_layer(x, 2, 1e-3f, "norm"); }
static mw_tensor *make_rms_norm(mw_tensor *x) { return mw_rms_norm(x, MW_AXES(1, 2, 3), NULL, 1e-3f); }
static mw_tensor *make_rms_norm_layer(mw_tensor *x) { return mw_rms_norm_layer(x, 1, 1e-5f, "norm"); }
static mw_tensor *make_rms_norm_none(mw_tensor *x) { return mw_rms_norm(x, MW_AXES(1, 2, 3), NULL, 0.0f); }
static mw_tensor *make_l2_norm(mw_tensor *x) { return mw_l2_norm(x, 1e-3f); }
static mw_tensor *make_batch_norm(mw_tensor *x) { return mw_batch_norm_layer(x, 0.1f, 1e-3f, "norm"); }
static mw_tensor *make_local_response_norm(mw_tensor *x) { return mw_local_response_norm(x, 3, 1e-2f, 0.75f, 1.0f); }
static mw_tensor *make_softmax(mw_tensor *x) { return mw_softmax(x, -1); }
static mw_tensor *make_log_softmax(mw_tensor *x) { return mw_log_softmax(x, -1); }
static mw_tensor *make_log_sum_exp(mw_tensor *x) { return mw_reduce_log_sum_exp(x, MW_AXES(-1), false); }
static mw_tensor *make_l2(mw_tensor *x) { return mw_reduce_l2_norm(x, MW_AXES(-1), false); }
static mw_tensor *make_sum_square(mw_tensor *x) { return mw_reduce_sum_square(x, MW_AXES(-1), false); }
static mw_tensor *make_mean_square(mw_tensor *x) { return mw_reduce_mean(mw_square(x), MW_AXES(-1), false); }
static mw_tensor *make_l1(mw_tensor *x) { return mw_reduce_l1_norm(x, MW_AXES(-1), false); }
static mw_tensor *make_sum(mw_tensor *x) { return mw_reduce_sum(x, MW_AXES(-1), false); }
static mw_tensor *make_mean(mw_tensor *x) { return mw_reduce_mean(x, MW_AXES(-1), false); }
static mw_tensor *make_log_sum(mw_tensor *x) { return mw_reduce_log_sum(x, MW_AXES(-1), false); }
static mw_tensor *make_root(mw_tensor *x)
{
    mw_tensor *squares = mw_reduce_mean(mw_mul(x, x), MW_AXES(1, 2, 3), true);
    return mw_real_div(x, mw_sqrt(mw_add_scalar(squares, 1e-3)));
}
static mw_tensor *make_power(mw_tensor *x)
{
    mw_graph *graph = mw_tensor_graph(x);
    mw_tensor *squares = mw_reduce_sum(mw_pow(x, mw_scalar(graph, MW_F32, 2.0)), MW_AXES(1, 2, 3), true);
    squares = mw_add_scalar(mw_mul_scalar(squares, 1.0 / LARGE_ROW), 1e-3);
    return mw_mul(x, mw_pow(squares, mw_scalar(graph, MW_F32, -0.5)));
}
static mw_tensor *make_sum_square_root(mw_tensor *x) { return mw_sqrt(mw_reduce_sum_square(x, MW_AXES(-1), false)); }
static mw_tensor *make_centered(mw_tensor *x)
{
    mw_tensor *centered = mw_sub(x, mw_reduce_mean(x, MW_AXES(1, 2, 3), true));
    return mw_mul(centered, mw_rsqrt(mw_reduce_mean(mw_square(centered), MW_AXES(1, 2, 3), true), 1e-3f));
}
static mw_tensor *make_deviation(mw_tensor *x)
{
    mw_tensor *centered = mw_sub(x, mw_reduce_mean(x, MW_AXES(-1), true));
    return mw_sqrt(mw_reduce_mean(mw_square(centered), MW_AXES(-1), false));
}

#define SMOOTH .step = 0.03

/* clang-format off */
static const large_case cases[] = {
    {.name = "layer_norm", .make = make_layer_norm, .formula = layer_norm, .bound = {0, 0x1p-9}, SMOOTH},
    {.name = "layer_norm layer", .make = make_layer_norm_layer, .formula = layer_norm_small, .bound = {0, 0x1p-9}, .step = 0.003},
    {.name = "instance_norm", .make = make_instance_norm, .formula = instance_norm, .bound = {0, 0x1p-9}, SMOOTH},
    {.name = "group_norm layer", .make = make_group_norm, .formula = group_norm, .bound = {0, 0x1p-9}, SMOOTH},
    {.name = "rms_norm", .make = make_rms_norm, .formula = rms_norm, .bound = {0x1p-8, 0}, SMOOTH},
    {.name = "rms_norm layer", .make = make_rms_norm_layer, .formula = rms_norm_small, .bound = {0x1p-8, 0}, .step = 0.003},
    {.name = "rms_norm without epsilon", .make = make_rms_norm_none, .formula = rms_norm_none, .bound = {0x1p-8, 0}, .step = 1e-9},
    {.name = "l2_norm", .make = make_l2_norm, .formula = l2_norm, .bound = {0x1p-8, 0}, SMOOTH},
    {.name = "batch_norm layer", .make = make_batch_norm, .formula = batch_norm, .bound = {0x1p-9, 0x1p-8}, SMOOTH},
    {.name = "local_response_norm", .make = make_local_response_norm, .formula = local_response_norm, .bound = {0x1p-8, 0}, .slope = {0x1p-6, 0x1p-16}},
    {.name = "softmax", .make = make_softmax, .formula = softmax, .table = {0.02, 0}, .slope = {0x1p-6, 0x1p-11}},
    {.name = "log_softmax", .make = make_log_softmax, .formula = log_softmax, .bound = {0x1p-6, 0x1p-22}, .table = {0x1p-6, 0.0067}},
    {.name = "reduce_log_sum_exp", .make = make_log_sum_exp, .formula = log_sum_exp, .table = {0, 0.0067}},
    {.name = "reduce_l2_norm", .make = make_l2, .formula = l2, .step = 1e-9},
    {.name = "reduce_sum_square", .make = make_sum_square, .formula = sum_square},
    {.name = "reduce_l1_norm", .make = make_l1, .formula = absolute_sum, .step = 1e-9},
    {.name = "reduce_sum", .make = make_sum, .formula = sum, .bound = {0, 0}},
    {.name = "reduce_mean", .make = make_mean, .formula = mean, .bound = {0, 0}},
    {.name = "reduce_log_sum", .make = make_log_sum, .formula = log_sum, .positive = true, .step = 1e-9},
    {.name = "mean of squares", .make = make_mean_square, .formula = mean_square, .bound = {0x1p-9, 0}},
    {.name = "x / sqrt(mean(x x) + e)", .make = make_root, .formula = rms_norm, .bound = {0x1p-8, 0}, SMOOTH},
    {.name = "x (sum(x^2) / n + e)^-0.5", .make = make_power, .formula = rms_norm, .bound = {0x1p-8, 0}, SMOOTH},
    {.name = "layer norm by hand", .make = make_centered, .formula = layer_norm, .bound = {0, 0x1p-8}, SMOOTH},
    {.name = "sqrt(sum of squares)", .make = make_sum_square_root, .formula = l2, .step = 1e-9, .bound = {0x1p-8, 0}},
    {.name = "deviation", .make = make_deviation, .formula = deviation, .step = 1e-9, .bound = {0x1p-8, 0}},
};
/* clang-format on */

const large_group large_layers = {cases, COUNT(cases)};

/* Losses, and products of x with itself and with weights. */
#include "large_inputs.h"

#include <math.h>
#include <millwright/learn.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { W = 4 };

/* ---- losses against a target of 1/2, or the class 1 of 4 ---- */

static mw_tensor *halves(mw_tensor *x) { return mw_fill(mw_tensor_graph(x), MW_F32, mw_tensor_shape(x), 0.5); }
static mw_tensor *ones(mw_tensor *x) { return mw_fill(mw_tensor_graph(x), MW_F32, mw_tensor_shape(x), 1.0); }
static mw_tensor *labels(mw_tensor *x)
{
    mw_shape shape = mw_tensor_shape(x);
    shape.rank--;
    return mw_fill(mw_tensor_graph(x), MW_I32, shape, 1.0);
}

static mw_tensor *make_mse(mw_tensor *x) { return mw_mse(x, halves(x)); }
static mw_tensor *make_l1(mw_tensor *x) { return mw_l1(x, halves(x)); }
static mw_tensor *make_huber(mw_tensor *x) { return mw_huber(x, halves(x), 1.0f); }
static mw_tensor *make_smooth_l1(mw_tensor *x) { return mw_smooth_l1(x, halves(x), 0.5f); }
static mw_tensor *make_binary(mw_tensor *x) { return mw_binary_cross_entropy(x, halves(x), NULL); }
static mw_tensor *make_hinge(mw_tensor *x) { return mw_hinge(mw_mul_scalar(x, 0.9), ones(x)); }
static mw_tensor *make_cross_entropy(mw_tensor *x) { return mw_cross_entropy(x, labels(x)); }
static mw_tensor *make_margin(mw_tensor *x) { return mw_multi_margin(x, labels(x), 1.03f); }
static mw_tensor *make_nll(mw_tensor *x) { return mw_nll(mw_log_softmax(x, -1), labels(x)); }
static mw_tensor *make_kl(mw_tensor *x)
{
    return mw_kl_divergence(mw_log_softmax(x, -1), mw_mul_scalar(halves(x), 0.5));
}

static mw_tensor *make_focal(mw_tensor *x) { return mw_focal(x, labels(x), 2.0f); }
static mw_tensor *make_binary_focal(mw_tensor *x) { return mw_binary_focal(x, ones(x), 0.25f, 2.0f); }
static mw_tensor *make_pinball(mw_tensor *x) { return mw_pinball(x, mw_mul_scalar(halves(x), 0.9), 0.25f); }
static mw_tensor *make_normalize(mw_tensor *x) { return mw_normalize(x, -1, 0.0009765625f); }
static mw_tensor *make_cosine(mw_tensor *x)
{
    mw_shape rows = mw_tensor_shape(x);
    rows.rank--;
    return mw_cosine_embedding(x, halves(x), mw_fill(mw_tensor_graph(x), MW_F32, rows, 1.0), 0.0f);
}
static mw_tensor *make_triplet(mw_tensor *x)
{
    return mw_triplet(x, mw_mul_scalar(x, 0.5), mw_mul_scalar(ones(x), 0.0), 1.0f);
}

#define MEAN(name, of)                                                                                                 \
    static void name(const double *x, double *y)                                                                       \
    {                                                                                                                  \
        y[0] = 0;                                                                                                      \
        for (int i = 0; i < LARGE_X; i++)                                                                              \
            y[0] += (of) / LARGE_X;                                                                                    \
    }
MEAN(mse, (x[i] - 0.5) * (x[i] - 0.5))
MEAN(l1, fabs(x[i] - 0.5))
MEAN(huber, fabs(x[i] - 0.5) <= 1 ? (x[i] - 0.5) * (x[i] - 0.5) / 2 : fabs(x[i] - 0.5) - 0.5)
MEAN(smooth_l1, fabs(x[i] - 0.5) <= 0.5 ? (x[i] - 0.5) * (x[i] - 0.5) : fabs(x[i] - 0.5) - 0.25)
MEAN(binary, log1p(exp(-fabs(x[i]))) + fmax(x[i], 0) - 0.5 * x[i])
MEAN(binary_focal, 0.25 * pow(1 / (1 + exp(x[i])), 2) * (log1p(exp(-fabs(x[i]))) + fmax(-x[i], 0)))
MEAN(pinball, x[i] < 0.45 ? 0.25 * (0.45 - x[i]) : 0.75 * (x[i] - 0.45))
MEAN(hinge, fmax(0, 1 - 0.9 * x[i]))

static double log_share(const double *row, int of)
{
    double most = row[0], sum = 0;
    for (int i = 0; i < W; i++)
        most = fmax(most, row[i]);
    for (int i = 0; i < W; i++)
        sum += exp(row[i] - most);
    return row[of] - most - log(sum);
}
static void cross_entropy(const double *x, double *y)
{
    y[0] = 0;
    for (int at = 0; at < LARGE_X; at += W)
        y[0] -= log_share(&x[at], 1) / (LARGE_X / W);
}
static void margin(const double *x, double *y)
{
    y[0] = 0;
    for (int i = 0; i < LARGE_X; i++)
        y[0] += i % W == 1 ? 0 : fmax(0, 1.03 - x[i - i % W + 1] + x[i]) / LARGE_X;
}
static void focal(const double *x, double *y)
{
    y[0] = 0;
    for (int at = 0; at < LARGE_X; at += W) {
        const double log_p = log_share(&x[at], 1), others = -expm1(log_p);
        y[0] -= others * others * log_p / (LARGE_X / W);
    }
}
static double length(const double *row)
{
    return sqrt(row[0] * row[0] + row[1] * row[1] + row[2] * row[2] + row[3] * row[3]);
}
static void normalize(const double *x, double *y)
{
    for (int i = 0; i < LARGE_X; i++)
        y[i] = x[i] / fmax(length(&x[i - i % W]), 0x1p-10);
}
static void cosine(const double *x, double *y)
{
    y[0] = 1;
    for (int i = 0; i < LARGE_X; i++)
        y[0] -= 0.5 * x[i] / fmax(length(&x[i - i % W]), 0x1p-14) / (LARGE_X / W);
}
static void triplet(const double *x, double *y)
{
    y[0] = 0;
    for (int at = 0; at < LARGE_X; at += W)
        y[0] += fmax(0, 1 - 0.5 * length(&x[at])) / (LARGE_X / W);
}
static void divergence(const double *x, double *y)
{
    y[0] = 0;
    for (int i = 0; i < LARGE_X; i++)
        y[0] += 0.25 * (log(0.25) - log_share(&x[i - i % W], i % W)) / LARGE_N;
}

/* ---- products ---- */

static mw_tensor *make_attention(mw_tensor *x) { return mw_scaled_dot_product_attention(x, x, x, NULL); }
static void attention(const double *x, double *y)
{
    for (int i = 0; i < LARGE_X / W; i++) {
        const double *all = &x[i / 3 * 3 * W];
        double score[3], most = -1e300, sum = 0;
        for (int k = 0; k < 3; k++) {
            score[k] = 0;
            for (int w = 0; w < W; w++)
                score[k] += x[i * W + w] * all[k * W + w] / 2;
            most = fmax(most, score[k]);
        }
        for (int k = 0; k < 3; k++)
            sum += score[k] = exp(score[k] - most);
        for (int w = 0; w < W; w++)
            y[i * W + w] = (score[0] * all[w] + score[1] * all[W + w] + score[2] * all[2 * W + w]) / sum;
    }
}

static mw_tensor *make_mean_product(mw_tensor *x)
{
    mw_tensor *weights = mw_fill(mw_tensor_graph(x), MW_F32, MW_SHAPE(W, 1), 0.25);
    return mw_matmul(x, weights, MW_TRANSPOSE_NONE);
}
static void mean_product(const double *x, double *y)
{
    for (int at = 0; at < LARGE_X; at += W)
        y[at / W] = (x[at] + x[at + 1] + x[at + 2] + x[at + 3]) / W;
}

/* clang-format off */
static const large_case cases[] = {
    {.name = "mse", .make = make_mse, .formula = mse, .bound = {0x1p-8, 0}},
    {.name = "l1", .make = make_l1, .formula = l1, .bound = {0x1p-8, 0}},
    {.name = "huber", .make = make_huber, .formula = huber, .bound = {0x1p-8, 0}},
    {.name = "smooth_l1", .make = make_smooth_l1, .formula = smooth_l1, .bound = {0x1p-8, 0}},
    {.name = "binary_cross_entropy", .make = make_binary, .formula = binary, .bound = {0x1p-8, 0}},
    {.name = "hinge", .make = make_hinge, .formula = hinge, .bound = {0x1p-8, 0}},
    {.name = "cross_entropy", .make = make_cross_entropy, .formula = cross_entropy, .bound = {0x1p-8, 0}},
    {.name = "nll of log_softmax", .make = make_nll, .formula = cross_entropy, .bound = {0x1p-8, 0}},
    {.name = "multi_margin", .make = make_margin, .formula = margin, .bound = {0x1p-8, 0}},
    {.name = "kl_divergence", .make = make_kl, .formula = divergence, .bound = {0x1p-8, 0x1p-6}, .slope = {0x1p-6, 0x1p-10}},
    {.name = "focal", .make = make_focal, .formula = focal, .bound = {0x1p-8, 0}},
    {.name = "binary_focal", .make = make_binary_focal, .formula = binary_focal, .bound = {0x1p-8, 0}},
    {.name = "pinball", .make = make_pinball, .formula = pinball, .bound = {0x1p-8, 0}},
    {.name = "normalize", .make = make_normalize, .formula = normalize, .bound = {0x1p-8, 0}},
    {.name = "cosine_embedding", .make = make_cosine, .formula = cosine, .bound = {0x1p-8, 0}, .step = 0x1p-18},
    {.name = "triplet", .make = make_triplet, .formula = triplet, .bound = {0x1p-8, 0}, .step = 0x1p-24},
    {.name = "attention", .make = make_attention, .formula = attention, .table = {0.02, 0x1p-10}},
    {.name = "matmul with quarters", .make = make_mean_product, .formula = mean_product, .table = {0, 0x1p-14}},
};
/* clang-format on */

const large_group large_losses = {cases, COUNT(cases)};

/* Functions of each element: what MIL has of them, and what is written from those. */
#include "large_inputs.h"

#include <math.h>

#define COUNT(array)        (sizeof(array) / sizeof *(array))
#define LIMIT(x, low, high) fmin(fmax(x, low), high)

static mw_tensor *per_channel(mw_tensor *x, double first, double step)
{
    float numbers[LARGE_C];
    for (int i = 0; i < LARGE_C; i++)
        numbers[i] = (float)(first + step * i);
    return mw_constant(mw_tensor_graph(x), MW_F32, MW_SHAPE(LARGE_C), numbers);
}

/* ---- activations ---- */

static double logistic(double x) { return 1 / (1 + exp(-x)); }
static double softplus(double x) { return fmax(x, 0) + log1p(exp(-fabs(x))); }
static double relu(double x) { return fmax(x, 0); }
static double silu(double x) { return x < -700 ? 0 : x * logistic(x); }
static double gelu(double x) { return x * 0.5 * erfc(-x * sqrt(0.5)); }
static double gelu_tanh(double x)
{
    return x * 0.5 * (1 + tanh(sqrt(2 / 3.14159265358979) * (x + 0.044715 * x * x * x)));
}
static double gelu_sigmoid(double x) { return x < -400 ? 0 : x * logistic(1.702 * x); }
static double relu6(double x) { return LIMIT(x, 0, 6); }
static double leaky_relu(double x) { return x > 0 ? x : 0.25 * x; }
static double clamped_relu(double x) { return fmin(leaky_relu(x), 6); }
static double thresholded_relu(double x) { return x >= 1.1 ? x : 0; }
static double elu(double x) { return x > 0 ? x : expm1(x); }
static double softsign(double x) { return x / (1 + fabs(x)); }
static double scaled_tanh(double x) { return 2 * tanh(0.5 * x); }
static double sigmoid_hard(double x) { return LIMIT(0.3 * x + 0.5, 0, 1); }
static double linear_activation(double x) { return 0.5 * x + 0.25; }
static double mish(double x) { return x * tanh(softplus(x)); }
static double softplus_half(double x) { return 2 * softplus(0.5 * x); }

static mw_tensor *make_gelu(mw_tensor *x) { return mw_gelu(x, MW_GELU_EXACT); }
static mw_tensor *make_gelu_tanh(mw_tensor *x) { return mw_gelu(x, MW_GELU_TANH); }
static mw_tensor *make_gelu_sigmoid(mw_tensor *x) { return mw_gelu(x, MW_GELU_SIGMOID); }
static mw_tensor *make_leaky_relu(mw_tensor *x) { return mw_leaky_relu(x, 0.25f); }
static mw_tensor *make_prelu(mw_tensor *x) { return mw_prelu(x, per_channel(x, 0.25, 0)); }
static mw_tensor *make_clamped_relu(mw_tensor *x) { return mw_clamped_relu(x, 0.25f, 6.0f); }
static mw_tensor *make_thresholded_relu(mw_tensor *x) { return mw_thresholded_relu(x, 1.1f); }
static mw_tensor *make_elu(mw_tensor *x) { return mw_elu(x, 1.0f); }
static mw_tensor *make_scaled_tanh(mw_tensor *x) { return mw_scaled_tanh(x, 2.0f, 0.5f); }
static mw_tensor *make_sigmoid_hard(mw_tensor *x) { return mw_sigmoid_hard(x, 0.3f, 0.5f); }
static mw_tensor *make_linear_activation(mw_tensor *x) { return mw_linear_activation(x, 0.5f, 0.25f); }
static mw_tensor *make_mish(mw_tensor *x) { return mw_mul(x, mw_tanh(mw_softplus(x))); }
static mw_tensor *make_softplus_parametric(mw_tensor *x)
{
    return mw_softplus_parametric(x, per_channel(x, 2, 0), per_channel(x, 0.5, 0));
}

/* ---- arithmetic ---- */

static double square(double x) { return x * x; }
static double sign(double x) { return (x > 0) - (x < 0); }
static double rsqrt(double x) { return 1 / sqrt(x); }
static double inverse(double x) { return 1 / (x + 1e-4); }
static double logarithm(double x) { return log(x); }
static double cubic(double x) { return x * x * x; }
static double threshold(double x) { return fmax(x, -1.1); }
static double clip(double x) { return LIMIT(x, -2.2, 3.1); }
static double share(double x) { return x / (1 + x * x); }

static mw_tensor *make_rsqrt(mw_tensor *x) { return mw_rsqrt(x, 0.0f); }
static mw_tensor *make_inverse(mw_tensor *x) { return mw_inverse(x, 1e-4f); }
static mw_tensor *make_log(mw_tensor *x) { return mw_log(x, 0.0f); }
static mw_tensor *make_threshold(mw_tensor *x) { return mw_threshold(x, -1.1f); }
static mw_tensor *make_clip(mw_tensor *x) { return mw_clip(x, -2.2f, 3.1f); }
static mw_tensor *make_product(mw_tensor *x) { return mw_mul(x, x); }
static mw_tensor *make_power(mw_tensor *x) { return mw_pow(x, mw_scalar(mw_tensor_graph(x), MW_F32, 2.0)); }
static mw_tensor *make_cubic(mw_tensor *x) { return mw_mul(mw_mul(x, x), x); }
static mw_tensor *make_share(mw_tensor *x) { return mw_real_div(x, mw_add_scalar(mw_mul(x, x), 1.0)); }

/* clang-format off */
static const large_case cases[] = {
    {.name = "relu", .step = 1e-9, .make = mw_relu, .function = relu},
    {.name = "sigmoid", .make = mw_sigmoid, .function = logistic, .table = {0, 0.0035}, .slope = {0x1p-5, 0x1p-10}},
    {.name = "silu", .make = mw_silu, .function = silu, .table = {0, 0.0151}},
    {.name = "gelu", .make = make_gelu, .function = gelu, .bound = {0, 0x1p-22}, .table = {0, 0.0065}},
    {.name = "gelu tanh", .make = make_gelu_tanh, .function = gelu_tanh, .table = {0, 0.0067}},
    {.name = "gelu sigmoid", .make = make_gelu_sigmoid, .function = gelu_sigmoid, .table = {0, 0.0151}},
    {.name = "relu6", .step = 1e-9, .make = mw_relu6, .function = relu6},
    {.name = "leaky_relu", .step = 1e-9, .make = make_leaky_relu, .function = leaky_relu},
    {.name = "prelu", .step = 1e-9, .make = make_prelu, .function = leaky_relu},
    {.name = "clamped_relu", .step = 1e-9, .make = make_clamped_relu, .function = clamped_relu},
    {.name = "thresholded_relu", .step = 1e-9, .make = make_thresholded_relu, .function = thresholded_relu},
    {.name = "elu", .make = make_elu, .function = elu},
    {.name = "softplus", .make = mw_softplus, .function = softplus, .bound = {0x1p-10, 0}},
    {.name = "softplus_parametric", .make = make_softplus_parametric, .function = softplus_half, .bound = {0x1p-9, 0}},
    {.name = "softsign", .make = mw_softsign, .function = softsign},
    {.name = "scaled_tanh", .make = make_scaled_tanh, .function = scaled_tanh, .table = {0, 0.0035}, .slope = {0x1p-5, 0x1p-10}},
    {.name = "sigmoid_hard", .step = 1e-9, .make = make_sigmoid_hard, .function = sigmoid_hard, .bound = {0, 0x1p-12}},
    {.name = "linear_activation", .make = make_linear_activation, .function = linear_activation},
    {.name = "mish", .make = make_mish, .function = mish, .bound = {0x1p-9, 0x1p-21}, .table = {0.006, 0x1p-21}},
    {.name = "abs", .step = 1e-9, .make = mw_abs, .function = fabs},
    {.name = "sign", .make = mw_sign, .function = sign, .no_slope = true},
    {.name = "square", .make = mw_square, .function = square},
    {.name = "sqrt", .step = 1e-9, .make = mw_sqrt, .function = sqrt, .positive = true, .table = {0x1p-10, 0}},
    {.name = "rsqrt", .step = 1e-9, .make = make_rsqrt, .function = rsqrt, .positive = true, .table = {0.0021, 0}},
    {.name = "inverse", .step = 1e-4, .make = make_inverse, .function = inverse, .positive = true, .bound = {0x1p-10, 0}, .table = {0.0135, 0}},
    {.name = "exp", .make = mw_exp, .function = exp, .table = {0.0091, 0}},
    {.name = "log", .step = 1e-9, .make = make_log, .function = logarithm, .positive = true, .bound = {0, 0}, .table = {0x1p-10, 0.0067}},
    {.name = "erf", .make = mw_erf, .function = erf, .table = {0, 0.0009}},
    {.name = "tanh", .make = mw_tanh, .function = tanh, .table = {0, 0.0017}, .slope = {0x1p-5, 0x1p-10}},
    {.name = "exp2", .make = mw_exp2, .function = exp2},
    {.name = "floor", .make = mw_floor, .function = floor, .no_slope = true},
    {.name = "ceil", .make = mw_ceil, .function = ceil, .no_slope = true},
    {.name = "round", .make = mw_round, .function = round, .no_slope = true},
    {.name = "sin", .make = mw_sin, .function = sin, .table = {0, 0.0007}},
    {.name = "cos", .make = mw_cos, .function = cos, .table = {0, 0.0007}},
    {.name = "tan", .make = mw_tan, .function = tan, .bound = {0x1p-9, 0}, .table = {0.004, 0}},
    {.name = "atan", .make = mw_atan, .function = atan},
    {.name = "sinh", .make = mw_sinh, .function = sinh, .bound = {0x1p-9, 0}, .table = {0.01, 0}},
    {.name = "cosh", .make = mw_cosh, .function = cosh, .bound = {0x1p-9, 0}, .table = {0.01, 0}},
    {.name = "threshold", .step = 1e-9, .make = make_threshold, .function = threshold},
    {.name = "clip", .step = 1e-9, .make = make_clip, .function = clip},
    {.name = "x * x", .make = make_product, .function = square},
    {.name = "pow 2", .make = make_power, .function = square},
    {.name = "x x x", .make = make_cubic, .function = cubic, .bound = {0x1p-10, 0x1p-22}},
    {.name = "x / (1 + x x)", .make = make_share, .function = share, .bound = {0x1p-9, 0}},
};
/* clang-format on */

const large_group large_functions = {cases, COUNT(cases)};

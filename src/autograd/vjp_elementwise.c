/* VJPs of element-wise arithmetic and activations. In the comments y = f(x) is the forward result, dy its cotangent.
 * Broadcasting is the driver's. */
#include "autograd/rules.h"

#include <string.h>

mw_tensor *mw__scalar_like(mw_tensor *x, double value)
{
    return mw_scalar(mw_tensor_graph(x), mw_tensor_dtype(x), value);
}

mw_tensor *mw__where(mw_tensor *cond, mw_tensor *a) { return mw_select(cond, a, mw__scalar_like(a, 0.0)); }

/* The derivative is zero wherever it exists. */
void mw__vjp_zero(mw__vjp *vjp) { (void)vjp; }

void mw__vjp_add(mw__vjp *vjp)
{
    mw__vjp_set(vjp, "x", vjp->dy[0]);
    mw__vjp_set(vjp, "y", vjp->dy[0]);
}

void mw__vjp_sub(mw__vjp *vjp)
{
    mw__vjp_set(vjp, "x", vjp->dy[0]);
    if (mw__vjp_wants(vjp, "y"))
        mw__vjp_set(vjp, "y", mw_neg(vjp->dy[0]));
}

void mw__vjp_mul(mw__vjp *vjp)
{
    if (mw__vjp_wants(vjp, "x"))
        mw__vjp_set(vjp, "x", mw_mul(vjp->dy[0], mw__vjp_arg(vjp, "y")));
    if (mw__vjp_wants(vjp, "y"))
        mw__vjp_set(vjp, "y", mw_mul(vjp->dy[0], mw__vjp_arg(vjp, "x")));
}

/* d(x / y) = dx / y - (x / y) dy / y */
void mw__vjp_real_div(mw__vjp *vjp)
{
    mw_tensor *scaled = mw_real_div(vjp->dy[0], mw__vjp_arg(vjp, "y"));
    mw__vjp_set(vjp, "x", scaled);
    if (mw__vjp_wants(vjp, "y"))
        mw__vjp_set(vjp, "y", mw_neg(mw_mul(scaled, vjp->y[0])));
}

/* The chosen operand gets dy; where both are equal, each gets half (PyTorch's rule). */
static void vjp_extremum(mw__vjp *vjp, mw_tensor *(*first_chosen)(mw_tensor *, mw_tensor *))
{
    mw_tensor *x = mw__vjp_arg(vjp, "x"), *y = mw__vjp_arg(vjp, "y"), *dy = vjp->dy[0];
    mw_tensor *tie = mw_equal(x, y), *half = mw_mul_scalar(dy, 0.5);
    if (mw__vjp_wants(vjp, "x"))
        mw__vjp_set(vjp, "x", mw_select(tie, half, mw__where(first_chosen(x, y), dy)));
    if (mw__vjp_wants(vjp, "y"))
        mw__vjp_set(vjp, "y", mw_select(tie, half, mw__where(first_chosen(y, x), dy)));
}

void mw__vjp_maximum(mw__vjp *vjp) { vjp_extremum(vjp, mw_greater); }

void mw__vjp_minimum(mw__vjp *vjp) { vjp_extremum(vjp, mw_less); }

/* dx = dy y x^(y - 1), 0 where y = 0; dy = dy x^y ln x, 0 where x <= 0 (no real derivative there) */
void mw__vjp_pow(mw__vjp *vjp)
{
    mw_tensor *x = mw__vjp_arg(vjp, "x"), *y = mw__vjp_arg(vjp, "y"), *dy = vjp->dy[0];
    mw_tensor *zero = mw__scalar_like(x, 0.0);
    if (mw__vjp_wants(vjp, "x")) {
        mw_tensor *slope = mw_mul(y, mw_pow(x, mw_add_scalar(y, -1.0)));
        mw__vjp_set(vjp, "x", mw_mul(dy, mw_select(mw_equal(y, zero), zero, slope)));
    }
    if (mw__vjp_wants(vjp, "y")) {
        mw_tensor *positive = mw_greater(x, zero);
        mw_tensor *logarithm = mw_log(mw_select(positive, x, mw__scalar_like(x, 1.0)), 0.0f);
        mw__vjp_set(vjp, "y", mw_mul(dy, mw__where(positive, mw_mul(vjp->y[0], logarithm))));
    }
}

/* dx = dy slope, for the one operand x. */
static void scale(mw__vjp *vjp, mw_tensor *slope) { mw__vjp_set(vjp, "x", mw_mul(vjp->dy[0], slope)); }

/* sign(0) = 0, so that the derivative at 0 is 0 */
void mw__vjp_abs(mw__vjp *vjp) { scale(vjp, mw_sign(mw__vjp_arg(vjp, "x"))); }

void mw__vjp_square(mw__vjp *vjp) { scale(vjp, mw_mul_scalar(mw__vjp_arg(vjp, "x"), 2.0)); }

/* 1 / (2 sqrt x) */
void mw__vjp_sqrt(mw__vjp *vjp) { mw__vjp_set(vjp, "x", mw_real_div(mw_mul_scalar(vjp->dy[0], 0.5), vjp->y[0])); }

/* y = (x + epsilon)^-1/2; y' = -y^3 / 2 */
void mw__vjp_rsqrt(mw__vjp *vjp)
{
    mw_tensor *y = vjp->y[0];
    scale(vjp, mw_mul_scalar(mw_mul(y, mw_square(y)), -0.5));
}

/* y = 1 / (x + epsilon); y' = -y^2 */
void mw__vjp_inverse(mw__vjp *vjp) { scale(vjp, mw_neg(mw_square(vjp->y[0]))); }

void mw__vjp_exp(mw__vjp *vjp) { scale(vjp, vjp->y[0]); }

/* y = ln(x + epsilon); y' = 1 / (x + epsilon) */
void mw__vjp_log(mw__vjp *vjp)
{
    double epsilon = 0.0;
    mw__arg_float(vjp->op, "epsilon", &epsilon);
    scale(vjp, mw_inverse(mw__vjp_arg(vjp, "x"), (float)epsilon));
}

/* exp(-x^2) */
static mw_tensor *gaussian(mw_tensor *x, double factor) { return mw_exp(mw_mul_scalar(mw_square(x), -factor)); }

void mw__vjp_erf(mw__vjp *vjp)
{
    const double two_over_sqrt_pi = 1.1283791670955126;
    scale(vjp, mw_mul_scalar(gaussian(mw__vjp_arg(vjp, "x"), 1.0), two_over_sqrt_pi));
}

/* 1 - t */
static mw_tensor *one_minus(mw_tensor *t) { return mw_sub(mw__scalar_like(t, 1.0), t); }

void mw__vjp_tanh(mw__vjp *vjp) { scale(vjp, one_minus(mw_square(vjp->y[0]))); }

void mw__vjp_sigmoid(mw__vjp *vjp) { scale(vjp, mw_mul(vjp->y[0], one_minus(vjp->y[0]))); }

/* 0 at x = 0 */
void mw__vjp_relu(mw__vjp *vjp)
{
    mw_tensor *x = mw__vjp_arg(vjp, "x");
    mw__vjp_set(vjp, "x", mw__where(mw_greater(x, mw__scalar_like(x, 0.0)), vjp->dy[0]));
}

/* y = x s, s = sigmoid(x); y' = s + y (1 - s) */
void mw__vjp_silu(mw__vjp *vjp)
{
    mw_tensor *s = mw_sigmoid(mw__vjp_arg(vjp, "x"));
    scale(vjp, mw_add(s, mw_mul(vjp->y[0], one_minus(s))));
}

/* Phi(x) + x phi(x) */
static mw_tensor *gelu_slope_exact(mw_tensor *x)
{
    const double inverse_sqrt_2 = 0.70710678118654752, inverse_sqrt_2_pi = 0.39894228040143268;
    mw_tensor *phi = mw_mul_scalar(gaussian(x, 0.5), inverse_sqrt_2_pi);
    mw_tensor *distribution = mw_mul_scalar(mw_add_scalar(mw_erf(mw_mul_scalar(x, inverse_sqrt_2)), 1.0), 0.5);
    return mw_add(distribution, mw_mul(x, phi));
}

/* t = tanh(k (x + c x^3)); (1 + t) / 2 + x (1 - t^2) k (1 + 3 c x^2) / 2 */
static mw_tensor *gelu_slope_tanh(mw_tensor *x)
{
    const double k = 0.79788456080286536, c = 0.044715;
    mw_tensor *square = mw_square(x);
    mw_tensor *inner = mw_mul(x, mw_add_scalar(mw_mul_scalar(square, k * c), k));
    mw_tensor *t = mw_tanh(inner);
    mw_tensor *inner_slope = mw_add_scalar(mw_mul_scalar(square, 1.5 * k * c), 0.5 * k);
    mw_tensor *second = mw_mul(mw_mul(x, one_minus(mw_square(t))), inner_slope);
    return mw_add(mw_add_scalar(mw_mul_scalar(t, 0.5), 0.5), second);
}

/* s = sigmoid(1.702 x); s + 1.702 x s (1 - s) */
static mw_tensor *gelu_slope_sigmoid(mw_tensor *x)
{
    mw_tensor *scaled = mw_mul_scalar(x, 1.702);
    mw_tensor *s = mw_sigmoid(scaled);
    return mw_add(s, mw_mul(scaled, mw_mul(s, one_minus(s))));
}

void mw__vjp_gelu(mw__vjp *vjp)
{
    mw_tensor *x = mw__vjp_arg(vjp, "x");
    const char *mode = mw__arg_string(vjp->op, "mode");
    if (mode != NULL && strcmp(mode, "TANH_APPROXIMATION") == 0)
        scale(vjp, gelu_slope_tanh(x));
    else if (mode != NULL && strcmp(mode, "SIGMOID_APPROXIMATION") == 0)
        scale(vjp, gelu_slope_sigmoid(x));
    else
        scale(vjp, gelu_slope_exact(x));
}

/* 1 inside [alpha, beta], bounds included (PyTorch's rule) */
void mw__vjp_clip(mw__vjp *vjp)
{
    double alpha = 0.0, beta = 0.0;
    mw__arg_float(vjp->op, "alpha", &alpha);
    mw__arg_float(vjp->op, "beta", &beta);
    mw_tensor *x = mw__vjp_arg(vjp, "x");
    mw_tensor *below = mw_less_equal(x, mw__scalar_like(x, beta));
    mw_tensor *above = mw_greater_equal(x, mw__scalar_like(x, alpha));
    mw__vjp_set(vjp, "x", mw__where(above, mw__where(below, vjp->dy[0])));
}

void mw__vjp_cast(mw__vjp *vjp) { mw__vjp_set(vjp, "x", mw_cast(vjp->dy[0], mw_tensor_dtype(mw__vjp_arg(vjp, "x")))); }

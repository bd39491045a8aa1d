/* VJPs of ops/activation.def. In the comments y is the forward result, dy its cotangent. */
#include "autograd/vjp/rules.h"
#include "graph/patterns/relu.h"

#include <string.h>

/* y (1 - y), whose difference cancels for large x: it is sigmoid(-x) */
void mw__vjp_sigmoid(mw__vjp *vjp)
{
    mw_tensor *rest = mw_sigmoid(mw_neg(mw__vjp_arg(vjp, "x")));
    mw__vjp_scale(vjp, mw_mul(vjp->y[0], rest));
}

/* 0 at x = 0; y is above 0 where x is, and others need y anyway, so that x need not be kept */
void mw__vjp_relu(mw__vjp *vjp) { mw__vjp_set(vjp, "x", mw__relu_gradient(vjp->y[0], vjp->dy[0])); }

/* y = x s, s = sigmoid(x); y' = s + y (1 - s) */
void mw__vjp_silu(mw__vjp *vjp)
{
    mw_tensor *s = mw_sigmoid(mw__vjp_arg(vjp, "x"));
    mw__vjp_scale(vjp, mw_add(s, mw_mul(vjp->y[0], mw__one_minus(s))));
}

/* Phi(x) + x phi(x) */
static mw_tensor *gelu_slope_exact(mw_tensor *x)
{
    const double inverse_sqrt_2 = 0.70710678118654752, inverse_sqrt_2_pi = 0.39894228040143268;
    mw_tensor *phi = mw_mul_scalar(mw_exp(mw_mul_scalar(mw_square(x), -0.5)), inverse_sqrt_2_pi);
    mw_tensor *distribution = mw_mul_scalar(mw_add_scalar(mw_erf(mw_mul_scalar(x, inverse_sqrt_2)), 1.0), 0.5);
    return mw_add(distribution, mw_mul(x, phi));
}

/* y = x s, s = sigmoid(u), u = k (x + c x^3); s + x u' s (1 - s). From 12 on this is 1, and 0 from -12 on, to the last
 * bit of either type: x is cut there, as its square may overflow. */
static mw_tensor *gelu_slope_tanh(mw_tensor *x)
{
    const double k = 1.59576912160573071, c = 0.044715;
    mw_tensor *near = mw_clip(x, -12.0f, 12.0f), *square = mw_square(near);
    mw_tensor *s = mw_sigmoid(mw_mul(near, mw_add_scalar(mw_mul_scalar(square, k * c), k)));
    mw_tensor *rise = mw_mul(near, mw_add_scalar(mw_mul_scalar(square, 3.0 * k * c), k)); /* x u' */
    mw_tensor *rest = mw__one_minus(s), *first = mw_mul(rise, s);
    return mw_add(s, mw_mul(first, rest));
}

/* s = sigmoid(1.702 x); s + 1.702 x s (1 - s) */
static mw_tensor *gelu_slope_sigmoid(mw_tensor *x)
{
    mw_tensor *s = mw_sigmoid(mw_mul_scalar(x, 1.702));
    mw_tensor *rise = mw_mul_scalar(mw_mul(s, mw__one_minus(s)), 1.702);
    return mw_add(s, mw_mul(x, rise)); /* 1.702 x may be infinite */
}

void mw__vjp_gelu(mw__vjp *vjp)
{
    mw_tensor *x = mw__vjp_arg(vjp, "x");
    const char *mode = mw__arg_string(vjp->op, "mode");
    if (mode != NULL && strcmp(mode, "TANH_APPROXIMATION") == 0)
        mw__vjp_scale(vjp, gelu_slope_tanh(x));
    else if (mode != NULL && strcmp(mode, "SIGMOID_APPROXIMATION") == 0)
        mw__vjp_scale(vjp, gelu_slope_sigmoid(x));
    else
        mw__vjp_scale(vjp, gelu_slope_exact(x));
}

/* low < t < high ? dy : 0 */
static mw_tensor *inside(mw_tensor *t, mw_tensor *low, mw_tensor *high, mw_tensor *dy)
{
    mw_tensor *above = mw_greater(t, low), *below = mw_less(t, high);
    return mw__where(above, mw__where(below, dy));
}

/* 0 at both bounds; y is inside where x is */
void mw__vjp_relu6(mw__vjp *vjp)
{
    mw_tensor *y = vjp->y[0];
    mw_tensor *low = mw__vjp_scalar_like(y, 0.0), *high = mw__vjp_scalar_like(y, 6.0);
    mw__vjp_set(vjp, "x", inside(y, low, high, vjp->dy[0]));
}

/* x > 0 ? dy : alpha dy */
static mw_tensor *leak(mw_tensor *x, mw_tensor *alpha, mw_tensor *dy)
{
    mw_tensor *positive = mw_greater(x, mw__vjp_scalar_like(x, 0.0));
    return mw_select(positive, dy, mw_mul(dy, alpha));
}

void mw__vjp_leaky_relu(mw__vjp *vjp)
{
    mw_tensor *alpha = mw__vjp_scalar(vjp, "alpha");
    mw__vjp_set(vjp, "x", leak(mw__vjp_arg(vjp, "x"), alpha, vjp->dy[0]));
}

/* 0 where y has reached beta, also exactly */
void mw__vjp_clamped_relu(mw__vjp *vjp)
{
    mw_tensor *alpha = mw__vjp_scalar(vjp, "alpha"), *beta = mw__vjp_scalar(vjp, "beta");
    mw_tensor *free = mw__where(mw_less(vjp->y[0], beta), vjp->dy[0]);
    mw__vjp_set(vjp, "x", leak(mw__vjp_arg(vjp, "x"), alpha, free));
}

/* 1 at alpha, where x passes */
void mw__vjp_thresholded_relu(mw__vjp *vjp) { mw__vjp_threshold(vjp); }

/* x > 0 ? 1 : alpha e^x; e^x of the positive side, which may overflow, is never taken */
void mw__vjp_elu(mw__vjp *vjp)
{
    mw_tensor *x = mw__vjp_arg(vjp, "x"), *zero = mw__vjp_scalar_like(x, 0.0), *alpha = mw__vjp_scalar(vjp, "alpha");
    mw_tensor *slope = mw_mul(mw_exp(mw_minimum(x, zero)), alpha);
    mw_tensor *positive = mw_greater(x, zero);
    mw__vjp_set(vjp, "x", mw_select(positive, vjp->dy[0], mw_mul(vjp->dy[0], slope)));
}

void mw__vjp_softplus(mw__vjp *vjp) { mw__vjp_scale(vjp, mw_sigmoid(mw__vjp_arg(vjp, "x"))); }

/* r^2, r = 1 / (1 + |x|), by one factor after the other, as r^2 may vanish where dy r^2 does not */
void mw__vjp_softsign(mw__vjp *vjp)
{
    mw_tensor *r = mw_inverse(mw_abs(mw__vjp_arg(vjp, "x")), 1.0f);
    mw__vjp_set(vjp, "x", mw_mul(mw_mul(vjp->dy[0], r), r));
}

/* alpha beta (1 - t^2), t = tanh(beta x) */
void mw__vjp_scaled_tanh(mw__vjp *vjp)
{
    mw_tensor *beta = mw__vjp_scalar(vjp, "beta"), *alpha = mw__vjp_scalar(vjp, "alpha");
    mw_tensor *slope = mw__vjp_tanh_slope(mw_mul(mw__vjp_arg(vjp, "x"), beta));
    mw__vjp_scale(vjp, mw_mul(mw_mul(slope, beta), alpha));
}

/* 0 at both bounds; where they are reached is read from y */
void mw__vjp_sigmoid_hard(mw__vjp *vjp)
{
    mw_tensor *y = vjp->y[0], *zero = mw__vjp_scalar_like(y, 0.0), *one = mw__vjp_scalar_like(y, 1.0);
    mw_tensor *scaled = mw_mul(vjp->dy[0], mw__vjp_scalar(vjp, "alpha"));
    mw__vjp_set(vjp, "x", inside(y, zero, one, scaled));
}

void mw__vjp_linear_activation(mw__vjp *vjp) { mw__vjp_scale(vjp, mw__vjp_scalar(vjp, "alpha")); }

/* ---- numbers per channel ---- */

/* The axes 1 .. rank - 2 of a vector [C] beside x [N, C, ..]. */
static mw_tensor *along_channels(mw__vjp *vjp, const char *arg)
{
    mw_axes axes = {.count = mw_tensor_shape(mw__vjp_arg(vjp, "x")).rank - 2};
    for (int i = 0; i < axes.count; i++)
        axes.axis[i] = i + 1;
    return mw_expand_dims(mw__vjp_arg(vjp, arg), axes);
}

/* The sum of each channel of t [N, C, ..]. */
static mw_tensor *sum_channels(mw_tensor *t)
{
    mw_axes axes = {.count = mw_tensor_shape(t).rank - 1};
    for (int i = 1; i < axes.count; i++)
        axes.axis[i] = i + 1;
    return mw_reduce_sum(t, axes, false);
}

void mw__vjp_prelu(mw__vjp *vjp)
{
    mw_tensor *x = mw__vjp_arg(vjp, "x");
    if (mw__vjp_wants(vjp, "x"))
        mw__vjp_set(vjp, "x", leak(x, along_channels(vjp, "alpha"), vjp->dy[0]));
    if (mw__vjp_wants(vjp, "alpha")) {
        mw_tensor *negative = mw_less_equal(x, mw__vjp_scalar_like(x, 0.0));
        mw__vjp_set(vjp, "alpha", sum_channels(mw__where(negative, mw_mul(x, vjp->dy[0]))));
    }
}

/* y = alpha softplus(b), b = beta x, s = sigmoid(b) */
void mw__vjp_softplus_parametric(mw__vjp *vjp)
{
    mw_tensor *x = mw__vjp_arg(vjp, "x"), *dy = vjp->dy[0];
    mw_tensor *alpha = along_channels(vjp, "alpha"), *beta = along_channels(vjp, "beta");
    mw_tensor *b = mw_mul(x, beta);
    if (mw__vjp_wants(vjp, "alpha"))
        mw__vjp_set(vjp, "alpha", sum_channels(mw_mul(dy, mw_softplus(b))));
    mw_tensor *scaled = mw_mul(dy, alpha);
    mw_tensor *db = mw_mul(scaled, mw_sigmoid(b));
    if (mw__vjp_wants(vjp, "x"))
        mw__vjp_set(vjp, "x", mw_mul(db, beta));
    if (mw__vjp_wants(vjp, "beta"))
        mw__vjp_set(vjp, "beta", sum_channels(mw_mul(db, x)));
}

/* VJPs of ops/activation.def. In the comments y is the forward result, dy its cotangent. */
#include "autograd/rules.h"

#include <string.h>

void mw__vjp_sigmoid(mw__vjp *vjp) { mw__vjp_scale(vjp, mw_mul(vjp->y[0], mw__one_minus(vjp->y[0]))); }

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

/* t = tanh(k (x + c x^3)); (1 + t) / 2 + x (1 - t^2) k (1 + 3 c x^2) / 2 */
static mw_tensor *gelu_slope_tanh(mw_tensor *x)
{
    const double k = 0.79788456080286536, c = 0.044715;
    mw_tensor *square = mw_square(x);
    mw_tensor *inner = mw_mul(x, mw_add_scalar(mw_mul_scalar(square, k * c), k));
    mw_tensor *t = mw_tanh(inner);
    mw_tensor *inner_slope = mw_add_scalar(mw_mul_scalar(square, 1.5 * k * c), 0.5 * k);
    mw_tensor *second = mw_mul(mw_mul(x, mw__one_minus(mw_square(t))), inner_slope);
    return mw_add(mw_add_scalar(mw_mul_scalar(t, 0.5), 0.5), second);
}

/* s = sigmoid(1.702 x); s + 1.702 x s (1 - s) */
static mw_tensor *gelu_slope_sigmoid(mw_tensor *x)
{
    mw_tensor *scaled = mw_mul_scalar(x, 1.702);
    mw_tensor *s = mw_sigmoid(scaled);
    return mw_add(s, mw_mul(scaled, mw_mul(s, mw__one_minus(s))));
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

/* VJPs of element-wise arithmetic. In the comments y = f(x) is the forward result, dy its cotangent.
 * Broadcasting is the driver's. */
#include "autograd/vjp/rules.h"

#include <float.h>
#include <math.h>

mw_tensor *mw__vjp_scalar_like(mw_tensor *x, double value)
{
    return mw_scalar(mw_tensor_graph(x), mw_tensor_dtype(x), value);
}

mw_tensor *mw__where(mw_tensor *cond, mw_tensor *a) { return mw_select(cond, a, mw__vjp_scalar_like(a, 0.0)); }

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

/* a b / y without a step that leaves the range of the type where the result does not: y = t u with t >= 1 >= |u|, of
 * which t divides the larger factor and u the smaller. Where y is infinite, t is y and u its sign, since infinity /
 * infinity is NaN. t is at least 1, so t = t / 2 says that it is infinite. */
static mw_tensor *product_over(mw_tensor *a, mw_tensor *b, mw_tensor *y)
{
    mw_tensor *a_size = mw_abs(a), *b_size = mw_abs(b), *t = mw_abs(y);
    mw_tensor *b_is_smaller = mw_less(b_size, a_size);
    mw_tensor *large = mw_select(b_is_smaller, a, b), *small = mw_select(b_is_smaller, b, a);
    t = mw_maximum(t, mw__vjp_scalar_like(y, 1.0));
    mw_tensor *infinite = mw_equal(t, mw_mul_scalar(t, 0.5)), *sign = mw_sign(y);
    mw_tensor *u = mw_select(infinite, sign, mw_real_div(y, t));
    small = mw_real_div(small, u);
    return mw_mul(mw_real_div(large, t), small);
}

/* d(x / y) = dx / y - (x / y) dy / y */
void mw__vjp_real_div(mw__vjp *vjp)
{
    mw_tensor *y = mw__vjp_arg(vjp, "y"), *dy = vjp->dy[0];
    if (mw__vjp_wants(vjp, "x"))
        mw__vjp_set(vjp, "x", mw_real_div(dy, y));
    if (mw__vjp_wants(vjp, "y"))
        mw__vjp_set(vjp, "y", mw_neg(product_over(dy, vjp->y[0], y)));
}

/* x - floor(x / y) y, where the floor is constant almost everywhere */
void mw__vjp_mod(mw__vjp *vjp)
{
    mw__vjp_set(vjp, "x", vjp->dy[0]);
    if (mw__vjp_wants(vjp, "y")) {
        mw_tensor *quotient = mw_floor_div(mw__vjp_arg(vjp, "x"), mw__vjp_arg(vjp, "y"));
        mw__vjp_set(vjp, "y", mw_neg(mw_mul(vjp->dy[0], quotient)));
    }
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

/* False for a constant without small elements. */
static bool may_be_small(const mw_tensor *y)
{
    const size_t count = mw__is_constant(y) ? mw__payload_count(y->payload) : 0;
    for (size_t i = 0; i < count; i++)
        if (fabs(mw__payload_float(y->payload, i)) < 0.25)
            return true;
    return count == 0;
}

static mw_tensor *power_slope(mw_tensor *dy, mw_tensor *x, mw_tensor *y)
{
    return mw_mul(mw_mul(dy, mw_pow(x, mw_add_scalar(y, -1.0))), y);
}

/* dy y x^(y - 1), where y is not 0. For small y and x the power overflows where its product with y does not: there it
 * is dy y (x^y / x), which is not used where x is 0. What is not used has 1 for x or y, as its own derivative would be
 * 0 times infinity. */
static mw_tensor *by_base(mw__vjp *vjp, mw_tensor *x, mw_tensor *y)
{
    if (!may_be_small(y))
        return power_slope(vjp->dy[0], x, y);
    mw_tensor *one = mw__vjp_scalar_like(x, 1.0), *zero = mw__vjp_scalar_like(x, 0.0), *origin = mw_equal(x, zero);
    y = mw_select(mw_equal(y, zero), one, y);
    mw_tensor *direct = power_slope(vjp->dy[0], x, y);
    mw_tensor *quotient = product_over(mw_mul(vjp->dy[0], y), vjp->y[0], mw_select(origin, one, x));
    mw_tensor *root = mw_less(mw_abs(y), one), *within = mw_less(mw_abs(x), one);
    return mw_select(origin, direct, mw_select(within, mw_select(root, quotient, direct), direct));
}

/* dx = dy y x^(y - 1), 0 where y = 0; dy = dy x^y ln x, 0 where x <= 0 (no real derivative there) */
void mw__vjp_pow(mw__vjp *vjp)
{
    mw_tensor *x = mw__vjp_arg(vjp, "x"), *y = mw__vjp_arg(vjp, "y"), *dy = vjp->dy[0];
    mw_tensor *zero = mw__vjp_scalar_like(x, 0.0);
    if (mw__vjp_wants(vjp, "x")) {
        mw_tensor *none = mw_equal(y, zero);
        mw__vjp_set(vjp, "x", mw_select(none, zero, by_base(vjp, x, y)));
    }
    if (mw__vjp_wants(vjp, "y")) {
        mw_tensor *positive = mw_greater(x, zero), *power = mw_select(positive, vjp->y[0], zero);
        mw_tensor *logarithm = mw_log(mw_select(positive, x, mw__vjp_scalar_like(x, 1.0)), 0.0f);
        mw__vjp_set(vjp, "y", mw__where(positive, mw_mul(mw_mul(dy, logarithm), power)));
    }
}

void mw__vjp_scale(mw__vjp *vjp, mw_tensor *slope) { mw__vjp_set(vjp, "x", mw_mul(vjp->dy[0], slope)); }

/* sign(0) = 0, so that the derivative at 0 is 0 */
void mw__vjp_abs(mw__vjp *vjp) { mw__vjp_scale(vjp, mw_sign(mw__vjp_arg(vjp, "x"))); }

void mw__vjp_square(mw__vjp *vjp) { mw__vjp_scale(vjp, mw_mul_scalar(mw__vjp_arg(vjp, "x"), 2.0)); }

/* 1 / (2 sqrt x) */
void mw__vjp_sqrt(mw__vjp *vjp) { mw__vjp_set(vjp, "x", mw_real_div(mw_mul_scalar(vjp->dy[0], 0.5), vjp->y[0])); }

/* dy y^2, one factor after the other: y^2 may leave the range of the type where this does not. */
static mw_tensor *twice_by(mw_tensor *dy, mw_tensor *y) { return mw_mul(mw_mul(dy, y), y); }

/* y = (x + epsilon)^-1/2; y' = -y^3 / 2 */
void mw__vjp_rsqrt(mw__vjp *vjp)
{
    mw_tensor *y = vjp->y[0];
    mw__vjp_set(vjp, "x", mw_mul(twice_by(mw_mul_scalar(vjp->dy[0], -0.5), y), y));
}

/* y = 1 / (x + epsilon); y' = -y^2 */
void mw__vjp_inverse(mw__vjp *vjp) { mw__vjp_set(vjp, "x", mw_neg(twice_by(vjp->dy[0], vjp->y[0]))); }

void mw__vjp_exp(mw__vjp *vjp) { mw__vjp_scale(vjp, vjp->y[0]); }

/* y = ln(x + epsilon); y' = 1 / (x + epsilon) */
void mw__vjp_log(mw__vjp *vjp)
{
    mw_tensor *x = mw__vjp_arg(vjp, "x");
    double epsilon = 0.0;
    mw__arg_float(vjp->op, "epsilon", &epsilon);
    if (fabs(epsilon) >= (double)FLT_MIN) /* MIL's own, 1e-45, moves no x that has a finite derivative */
        x = mw_add_scalar(x, epsilon);
    mw__vjp_set(vjp, "x", mw_real_div(vjp->dy[0], x));
}

void mw__vjp_erf(mw__vjp *vjp)
{
    const double two_over_sqrt_pi = 1.1283791670955126;
    mw_tensor *gaussian = mw_exp(mw_neg(mw_square(mw__vjp_arg(vjp, "x"))));
    mw__vjp_scale(vjp, mw_mul_scalar(gaussian, two_over_sqrt_pi));
}

mw_tensor *mw__one_minus(mw_tensor *t) { return mw_sub(mw__vjp_scalar_like(t, 1.0), t); }

/* 1 - tanh(x)^2 as (1 + tanh x) (1 - tanh x) = 4 sigmoid(2x) sigmoid(-2x): the difference cancels in the tails. */
mw_tensor *mw__vjp_tanh_slope(mw_tensor *x)
{
    mw_tensor *below = mw_sigmoid(mw_mul_scalar(x, 2.0)), *above = mw_sigmoid(mw_mul_scalar(x, -2.0));
    return mw_mul_scalar(mw_mul(below, above), 4.0);
}

void mw__vjp_tanh(mw__vjp *vjp) { mw__vjp_scale(vjp, mw__vjp_tanh_slope(mw__vjp_arg(vjp, "x"))); }

void mw__vjp_exp2(mw__vjp *vjp) { mw__vjp_scale(vjp, mw_mul_scalar(vjp->y[0], 0.69314718055994531)); }

void mw__vjp_sin(mw__vjp *vjp) { mw__vjp_scale(vjp, mw_cos(mw__vjp_arg(vjp, "x"))); }

void mw__vjp_cos(mw__vjp *vjp) { mw__vjp_scale(vjp, mw_neg(mw_sin(mw__vjp_arg(vjp, "x")))); }

void mw__vjp_tan(mw__vjp *vjp) { mw__vjp_set(vjp, "x", mw_add(vjp->dy[0], twice_by(vjp->dy[0], vjp->y[0]))); }

/* 1 - x^2 as (1 + x) (1 - x): near 1 the square would be rounded before the difference. */
static mw_tensor *one_minus_square(mw_tensor *x)
{
    mw_tensor *above = mw_add_scalar(x, 1.0);
    return mw_mul(above, mw__one_minus(x));
}

/* 1 / sqrt(1 - x^2) */
static mw_tensor *arc_slope(mw__vjp *vjp) { return mw_rsqrt(one_minus_square(mw__vjp_arg(vjp, "x")), 0.0f); }

void mw__vjp_asin(mw__vjp *vjp) { mw__vjp_scale(vjp, arc_slope(vjp)); }

void mw__vjp_acos(mw__vjp *vjp) { mw__vjp_scale(vjp, mw_neg(arc_slope(vjp))); }

/* 1 / (1 + x^2) = r^2 / (r^2 + b^2) for r = 1 / max(|x|, 1), b = min(|x|, 1): x^2 would overflow. */
void mw__vjp_atan(mw__vjp *vjp)
{
    mw_tensor *size = mw_abs(mw__vjp_arg(vjp, "x")), *one = mw__vjp_scalar_like(size, 1.0);
    mw_tensor *r = mw_inverse(mw_maximum(size, one), 0.0f), *squares = mw_square(mw_minimum(size, one));
    squares = mw_add(mw_square(r), squares);
    mw__vjp_set(vjp, "x", mw_mul(mw_real_div(mw_mul(vjp->dy[0], r), squares), r));
}

void mw__vjp_sinh(mw__vjp *vjp) { mw__vjp_scale(vjp, mw_cosh(mw__vjp_arg(vjp, "x"))); }

void mw__vjp_cosh(mw__vjp *vjp) { mw__vjp_scale(vjp, mw_sinh(mw__vjp_arg(vjp, "x"))); }

void mw__vjp_atanh(mw__vjp *vjp)
{
    mw__vjp_set(vjp, "x", mw_real_div(vjp->dy[0], one_minus_square(mw__vjp_arg(vjp, "x"))));
}

mw_tensor *mw__vjp_scalar(mw__vjp *vjp, const char *arg)
{
    double value = 0.0;
    mw__arg_float(vjp->op, arg, &value);
    return mw__vjp_scalar_like(mw__vjp_arg(vjp, "x"), value);
}

/* 1 at alpha (PyTorch's clamp) */
void mw__vjp_threshold(mw__vjp *vjp)
{
    mw_tensor *alpha = mw__vjp_scalar(vjp, "alpha");
    mw__vjp_set(vjp, "x", mw__where(mw_greater_equal(mw__vjp_arg(vjp, "x"), alpha), vjp->dy[0]));
}

/* 1 inside [alpha, beta], bounds included (PyTorch's rule) */
void mw__vjp_clip(mw__vjp *vjp)
{
    double alpha = 0.0, beta = 0.0;
    mw__arg_float(vjp->op, "alpha", &alpha);
    mw__arg_float(vjp->op, "beta", &beta);
    mw_tensor *x = mw__vjp_arg(vjp, "x");
    mw_tensor *below = mw_less_equal(x, mw__vjp_scalar_like(x, beta));
    mw_tensor *above = mw_greater_equal(x, mw__vjp_scalar_like(x, alpha));
    mw__vjp_set(vjp, "x", mw__where(above, mw__where(below, vjp->dy[0])));
}

void mw__vjp_cast(mw__vjp *vjp) { mw__vjp_set(vjp, "x", mw_cast(vjp->dy[0], mw_tensor_dtype(mw__vjp_arg(vjp, "x")))); }

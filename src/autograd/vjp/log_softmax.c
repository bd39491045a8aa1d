/* log_softmax: a composite with its own gradient, and what other logarithms of sums of powers share with it.
 *
 * A confident prediction is e^0 of the label beside a little of the others. In the type of the program 1 + a little
 * keeps few digits of it and its logarithm, the loss, none, and 1 - p loses it as well. So the little is summed apart.
 */
#include "autograd/vjp/log_softmax.h"

#include "base/number/float_mode.h"

/* log(1 + u) for u >= 0: below 1/4 of the series 2 artanh(s), s = u / (2 + u) <= 1/9, whose first term left out is
 * 2 s^9 / 9, 3e-9 of the sum. Above, rounding 1 + u costs at most 3 units in the last place of the logarithm. */
static mw_tensor *log_of_one_plus(mw_tensor *u)
{
    mw_tensor *s = mw_real_div(u, mw_add_scalar(u, 2.0)), *square = mw_square(s);
    mw_tensor *series = mw_add_scalar(mw_mul_scalar(square, 2.0 / 7.0), 2.0 / 5.0);
    series = mw_add_scalar(mw_mul(series, square), 2.0 / 3.0);
    series = mw_add_scalar(mw_mul(series, square), 2.0);
    mw_tensor *near = mw_mul(s, series), *far = mw_log(u, 1.0f);
    return mw_select(mw_less(u, mw__vjp_scalar_like(u, 0.25)), near, far);
}

/* True if the sum of as many numbers up to 1 may overflow fp16, which the device may compute in whatever the type
 * in the graph. */
static bool sum_overflows(mw_tensor *x, mw_axes axes)
{
    const mw_shape shape = mw_tensor_shape(x);
    double count = 1.0;
    for (int i = 0; i < axes.count; i++)
        count *= (double)shape.dim[axes.axis[i] < 0 ? axes.axis[i] + shape.rank : axes.axis[i]];
    return count > 65504.0;
}

mw__log_sum mw__log_sum_exp(mw_tensor *x, mw_axes axes)
{
    mw__log_sum parts = {.most = mw_reduce_max(x, axes, true)};
    if (parts.most == NULL)
        return parts;
    parts.most->stop_gradient = true;
    parts.z = mw_sub(x, parts.most);
    parts.powers = mw_exp(parts.z);
    mw_tensor *below = mw_less(parts.z, mw__vjp_scalar_like(x, 0.0));
    mw_tensor *others = mw_reduce_sum(mw__where(below, parts.powers), axes, true);
    parts.sum = mw_reduce_sum(parts.powers, axes, true);
    /* Below 2 one element alone is the largest, and the others are the rest of the sum. */
    mw_tensor *alone = mw_less(parts.sum, mw__vjp_scalar_like(x, 2.0));
    if (sum_overflows(x, axes))
        parts.rest = mw_select(alone, log_of_one_plus(others), mw_reduce_log_sum_exp(parts.z, axes, true));
    else
        parts.rest = log_of_one_plus(mw_select(alone, others, mw_add_scalar(parts.sum, -1.0)));
    return parts;
}

mw_tensor *mw__softmax_of_powers(mw_tensor *x, int axis, mw_tensor *powers, mw_tensor *sum)
{
    return sum_overflows(x, MW_AXES(axis)) ? mw_softmax(x, axis) : mw_real_div(powers, sum);
}

mw_tensor *mw__softmax_over(mw_tensor *x, mw_axes axes)
{
    if (axes.count == 1)
        return mw_softmax(x, axes.axis[0]);
    mw_tensor *z = mw_sub(x, mw_reduce_max(x, axes, true));
    return mw_exp(mw_sub(z, mw_reduce_log_sum_exp(z, axes, true)));
}

mw_tensor *mw__odds_against(mw_tensor *p, int axis)
{
    mw_tensor *likely = mw_greater(p, mw__vjp_scalar_like(p, 0.5));
    mw_tensor *others = mw_reduce_sum(mw_select(likely, mw__vjp_scalar_like(p, 0.0), p), MW_AXES(axis), true);
    return mw_select(likely, others, mw__one_minus(p));
}

/* ---- the composites ---- */

/* Inputs of the records: the gradient goes to x; the axis follows from the extents of the sum. */
enum { INPUT_X, INPUT_POWERS, INPUT_SUM, INPUT_COUNT };

/* dx = dy - p sum(dy) with p = softmax(x), as dy (1 - p) - p (sum(dy) - dy): where dy is one-hot, neither difference
 * cancels. NULL where there is one class, as y = 0 then. */
static mw_tensor *dx_of_log_softmax(mw__vjp *vjp, mw_tensor *dy)
{
    mw_tensor *x = mw__vjp_input(vjp, INPUT_X), *sum = mw__vjp_input(vjp, INPUT_SUM);
    const mw_shape shape = mw_tensor_shape(x), kept = mw_tensor_shape(sum);
    int axis = 0;
    while (axis < shape.rank && shape.dim[axis] == kept.dim[axis])
        axis++;
    if (axis == shape.rank)
        return NULL;
    mw_tensor *p = mw__softmax_of_powers(x, axis, mw__vjp_input(vjp, INPUT_POWERS), sum);
    mw_tensor *own = mw_mul(dy, mw__odds_against(p, axis));
    mw_tensor *others = mw_sub(mw_reduce_sum(dy, MW_AXES(axis), true), dy);
    return mw_sub(own, mw_mul(p, others));
}

static void vjp_log_softmax(mw__vjp *vjp)
{
    mw_tensor *dx = dx_of_log_softmax(vjp, vjp->dy[0]);
    if (dx != NULL)
        mw__vjp_set_input(vjp, INPUT_X, dx);
}

static void vjp_surprise(mw__vjp *vjp)
{
    mw_tensor *dx = dx_of_log_softmax(vjp, mw_neg(vjp->dy[0]));
    if (dx != NULL)
        mw__vjp_set_input(vjp, INPUT_X, dx);
}

/* A record over y, made of those sums of x. */
static mw_tensor *attach_rule(mw_tensor *y, const char *name, mw_tensor *x, const mw__log_sum *sum, mw__vjp_rule *rule)
{
    mw_tensor *inputs[INPUT_COUNT] = {x, sum->powers, sum->sum};
    return mw__composite_attach(
        y, &(const mw__composite){.name = name, .inputs = inputs, .input_count = INPUT_COUNT, .vjp = rule});
}

mw_tensor *mw__surprise(mw_tensor *x, const mw__log_sum *sum)
{
    return attach_rule(mw_sub(sum->rest, sum->z), "surprise", x, sum, vjp_surprise);
}

mw_tensor *mw_log_softmax(mw_tensor *x, int axis)
{
    MW__FLOAT_SCOPE;
    if (x == NULL)
        return NULL;
    const mw_shape shape = mw_tensor_shape(x);
    const mw_dtype dtype = mw_tensor_dtype(x);
    if (dtype != MW_F16 && dtype != MW_F32)
        return mw__graph_fail(x->graph, MW_ERROR_DTYPE, "log_softmax: x is %s; it must be fp16 or fp32",
                              mw_dtype_name(dtype));
    if (axis < -shape.rank || axis >= shape.rank)
        return mw__graph_fail(x->graph, MW_ERROR_ARGUMENT, "log_softmax: axis %d is outside rank %d of x", axis,
                              shape.rank);
    const mw__log_sum sum = mw__log_sum_exp(x, MW_AXES(axis));
    return attach_rule(mw_sub(sum.z, sum.rest), "log_softmax", x, &sum, vjp_log_softmax);
}

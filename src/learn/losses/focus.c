/* Losses that weigh what is predicted: focal, overlap of masks, counts, quantiles. */
#include "autograd/losses/loss_parts.h"
#include "base/number/float_mode.h"
#include <millwright/loss_focus.h>

#include <math.h>

static const char *const y_and_target[2] = {"y", "target"};

/* ---- powers of doubt ---- */

static bool check_gamma(const char *operation, mw_tensor *x, float gamma)
{
    if (gamma == 0.0f || (gamma >= 1.0f && isfinite(gamma)))
        return true;
    mw__graph_fail(mw_tensor_graph(x), MW_ERROR_ARGUMENT, "%s: gamma %g must be 0, or finite and 1 or more", operation,
                   (double)gamma);
    return false;
}

/* doubt^exponent; NULL for exponent 0, which is 1. */
static mw_tensor *power_of(mw_tensor *doubt, double exponent)
{
    if (exponent == 0.0 || exponent == 1.0)
        return exponent == 0.0 ? NULL : doubt;
    return exponent == 2.0 ? mw_square(doubt) : mw_pow(doubt, mw__vjp_scalar_like(doubt, exponent));
}

static mw_tensor *focused(mw_tensor *cost, mw_tensor *doubt, double gamma)
{
    mw_tensor *power = power_of(doubt, gamma);
    return power != NULL ? mw_mul(cost, power) : cost;
}

/* ---- focal, of classes ---- */

enum { LOGITS, POWERS, SUM, HOT, GAMMA, FOCAL_INPUTS };

/* With u = 1 - p and c = -log p at the label: what the gradient of c is multiplied by, gamma u^(gamma - 1) p c +
 * u^gamma. */
static mw_tensor *focal_slope(mw_tensor *logits, mw_tensor *p, mw_tensor *hot, double gamma)
{
    const mw__log_sum sum = mw__log_sum_exp(logits, MW_AXES(mw__loss_class_axis(logits)));
    mw_tensor *u = mw__loss_elsewhere(p, hot, true), *chosen = mw__loss_at_label(p, hot, true);
    mw_tensor *c = mw__loss_at_label(mw__surprise(logits, &sum), hot, true);
    mw_tensor *turn = mw_mul_scalar(focused(mw_mul(chosen, c), u, gamma - 1.0), gamma);
    return mw_add(turn, power_of(u, gamma));
}

/* dlogits = dy slope (p - hot) / N, at the label -dy slope u / N: what differentiation of the operations finds cancels.
 */
static void vjp_focal(mw__vjp *vjp)
{
    mw_tensor *logits = mw__vjp_input(vjp, LOGITS), *hot = mw__vjp_input(vjp, HOT);
    if (!mw__vjp_wants_input(vjp, LOGITS))
        return;
    const double gamma = mw__payload_float(mw__vjp_input(vjp, GAMMA)->payload, 0);
    const double labels = (double)mw_shape_count(mw_tensor_shape(logits)) /
                          (double)mw_tensor_shape(logits).dim[mw__loss_class_axis(logits)];
    mw_tensor *p = mw__loss_softmax_of(vjp), *dy = mw_mul_scalar(vjp->dy[0], 1.0 / labels);
    mw_tensor *off = mw_select(hot, mw_neg(mw__loss_elsewhere(p, hot, true)), p);
    mw_tensor *dx = gamma > 0.0 ? mw_mul(off, focal_slope(logits, p, hot, gamma)) : off;
    mw__vjp_set_input(vjp, LOGITS, mw_mul(dx, dy));
}

mw_tensor *mw_focal(mw_tensor *logits, mw_tensor *labels, float gamma)
{
    MW__FLOAT_SCOPE;
    if (!mw__loss_check_labels("focal", logits, labels, false) || !check_gamma("focal", logits, gamma))
        return mw__loss_of_failed_graph(logits, labels);
    mw_tensor *hot = mw__loss_hot(logits, labels, NULL);
    const mw__log_sum sum = mw__log_sum_exp(logits, MW_AXES(mw__loss_class_axis(logits)));
    mw_tensor *number = mw__vjp_scalar_like(logits, (double)gamma);
    mw_tensor *inputs[FOCAL_INPUTS] = {logits, sum.powers, sum.sum, hot, number};
    const mw__composite composite = {.name = "focal", .inputs = inputs, .input_count = FOCAL_INPUTS, .vjp = vjp_focal};
    mw_tensor *others = mw__loss_elsewhere(mw_softmax(logits, -1), hot, false);
    mw_tensor *values = focused(mw__loss_surprise_at(&sum, hot), others, (double)gamma);
    return mw__loss_mean(&composite, values, logits, labels);
}

/* ---- focal, of yes and no ---- */

/* a yes + b no, where the target says how much of each. */
static mw_tensor *mix(mw_tensor *target, mw_tensor *yes, mw_tensor *no)
{
    return mw_add(mw_mul(target, yes), mw_mul(mw__one_minus(target), no));
}

static mw_tensor *focal_values(mw_tensor *x, mw_tensor *t, float alpha, float gamma)
{
    mw_tensor *below = mw__loss_softplus_below(x), *minus = mw_neg(x);
    mw_tensor *cost = mix(t, mw__loss_logistic_cost(minus, below), mw__loss_logistic_cost(x, below));
    mw_tensor *values = focused(cost, mix(t, mw_sigmoid(minus), mw_sigmoid(x)), (double)gamma);
    if (alpha == -1.0f)
        return values;
    mw_tensor *weight = mw_add_scalar(mw_mul_scalar(t, 2.0 * (double)alpha - 1.0), 1.0 - (double)alpha);
    return mw_mul(values, weight);
}

mw_tensor *mw_binary_focal(mw_tensor *logits, mw_tensor *target, float alpha, float gamma)
{
    MW__FLOAT_SCOPE;
    static const char *const names[2] = {"logits", "target"};
    if (!mw__loss_check_pair("binary_focal", names, logits, target) || !check_gamma("binary_focal", logits, gamma))
        return mw__loss_of_failed_graph(logits, target);
    if (alpha != -1.0f && !(alpha >= 0.0f && alpha <= 1.0f))
        return mw__loss_refuse_number(logits, "binary_focal: alpha", alpha, "in [0, 1], or -1 for no weights");
    mw_tensor *values = focal_values(logits, target, alpha, gamma);
    return mw__loss_mean(&(const mw__composite){.name = "binary_focal"}, values, logits, target);
}

/* ---- masks ---- */

/* The elements that one sum runs over; 0 if the axes are none that dice has, and the graph has an error. */
static int64_t count_summed(mw_tensor *y, mw_axes axes)
{
    const mw_shape shape = mw_tensor_shape(y);
    int64_t count = axes.count > 0 ? 1 : 0;
    for (int i = 0; i < axes.count && count > 0; i++) {
        const int axis = axes.axis[i] < 0 ? axes.axis[i] + shape.rank : axes.axis[i];
        count = axis > 0 && axis < shape.rank ? count * shape.dim[axis] : 0;
    }
    if (count == 0)
        mw__graph_fail(mw_tensor_graph(y), MW_ERROR_ARGUMENT,
                       "dice: axes must name some of 1 to %d, the axes after the examples", shape.rank - 1);
    return count;
}

mw_tensor *mw_dice(mw_tensor *y, mw_tensor *target, mw_axes axes, float smooth)
{
    MW__FLOAT_SCOPE;
    if (!mw__loss_check_pair("dice", y_and_target, y, target))
        return mw__loss_of_failed_graph(y, target);
    const int64_t count = count_summed(y, axes);
    if (count == 0)
        return mw__loss_of_failed_graph(y, target);
    if (!(smooth > 0.0f) || isinf(smooth))
        return mw__loss_refuse_number(y, "dice: smooth", smooth, "positive and finite");
    const double share = (double)smooth / (double)count;
    mw_tensor *both = mw_reduce_mean(mw_mul(y, target), axes, false);
    mw_tensor *either = mw_reduce_mean(mw_add(y, target), axes, false);
    mw_tensor *overlap = mw_real_div(mw_add_scalar(mw_mul_scalar(both, 2.0), share), mw_add_scalar(either, share));
    return mw__loss_mean(&(const mw__composite){.name = "dice"}, mw__one_minus(overlap), y, target);
}

/* ---- counts and quantiles ---- */

mw_tensor *mw_poisson_nll(mw_tensor *log_mean, mw_tensor *target)
{
    MW__FLOAT_SCOPE;
    static const char *const names[2] = {"log_mean", "target"};
    if (!mw__loss_check_pair("poisson_nll", names, log_mean, target))
        return mw__loss_of_failed_graph(log_mean, target);
    mw_tensor *values = mw_sub(mw_exp(log_mean), mw_mul(target, log_mean));
    return mw__loss_mean(&(const mw__composite){.name = "poisson_nll"}, values, log_mean, target);
}

mw_tensor *mw_pinball(mw_tensor *y, mw_tensor *target, float q)
{
    MW__FLOAT_SCOPE;
    if (!mw__loss_check_pair("pinball", y_and_target, y, target))
        return mw__loss_of_failed_graph(y, target);
    if (!(q > 0.0f && q < 1.0f))
        return mw__loss_refuse_number(y, "pinball: q", q, "in (0, 1)");
    mw_tensor *under = mw_relu(mw_sub(target, y)), *over = mw_relu(mw_sub(y, target));
    mw_tensor *values = mw_add(mw_mul_scalar(under, (double)q), mw_mul_scalar(over, 1.0 - (double)q));
    return mw__loss_mean(&(const mw__composite){.name = "pinball"}, values, y, target);
}

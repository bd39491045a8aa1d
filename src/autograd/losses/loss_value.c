/* Losses of values against targets of the same shape: regression, probabilities of yes or no, distributions, margins.
 * Each is written so that what autograd derives from it is stable too. */
#include "autograd/losses/loss_parts.h"
#include "base/number/float_mode.h"

#include <math.h>

static const char *const y_and_target[2] = {"y", "target"};
static const char *const logits_and_target[2] = {"logits", "target"};

/* ---- regression ---- */

mw_tensor *mw_mse(mw_tensor *y, mw_tensor *target)
{
    MW__FLOAT_SCOPE;
    if (!mw__loss_check_pair("mse", y_and_target, y, target))
        return mw__loss_of_failed_graph(y, target);
    return mw__loss_mean(&(const mw__composite){.name = "mse"}, mw_square(mw_sub(y, target)), y, target);
}

mw_tensor *mw_l1(mw_tensor *y, mw_tensor *target)
{
    MW__FLOAT_SCOPE;
    if (!mw__loss_check_pair("l1", y_and_target, y, target))
        return mw__loss_of_failed_graph(y, target);
    return mw__loss_mean(&(const mw__composite){.name = "l1"}, mw_abs(mw_sub(y, target)), y, target);
}

/* With e = d within -limit .. limit, e (d - e / 2) is d^2 / 2 inside and limit (|d| - limit / 2) outside: no square of
 * a large d, no |d|, whose second derivative at 0 would be lost. `factor` multiplies e. */
static mw_tensor *blend(mw_tensor *d, float limit, double factor)
{
    mw_tensor *e = mw_clip(d, -limit, limit);
    mw_tensor *rest = mw_sub(d, mw_mul_scalar(e, 0.5));
    return mw_mul(factor != 1.0 ? mw_mul_scalar(e, factor) : e, rest);
}

mw_tensor *mw_huber(mw_tensor *y, mw_tensor *target, float delta)
{
    MW__FLOAT_SCOPE;
    if (!mw__loss_check_pair("huber", y_and_target, y, target))
        return mw__loss_of_failed_graph(y, target);
    if (!(delta > 0.0f) || isinf(delta))
        return mw__loss_refuse_number(y, "huber: delta", delta, "positive and finite");
    return mw__loss_mean(&(const mw__composite){.name = "huber"}, blend(mw_sub(y, target), delta, 1.0), y, target);
}

mw_tensor *mw_smooth_l1(mw_tensor *y, mw_tensor *target, float beta)
{
    MW__FLOAT_SCOPE;
    if (!mw__loss_check_pair("smooth_l1", y_and_target, y, target))
        return mw__loss_of_failed_graph(y, target);
    if (!(beta >= 0.0f) || isinf(beta))
        return mw__loss_refuse_number(y, "smooth_l1: beta", beta, "finite and 0 (then it is l1) or more");
    mw_tensor *d = mw_sub(y, target);
    mw_tensor *values = beta == 0.0f ? mw_abs(d) : blend(d, beta, 1.0 / (double)beta);
    return mw__loss_mean(&(const mw__composite){.name = "smooth_l1"}, values, y, target);
}

/* ---- probabilities ---- */

/* log(1 + e^x) as max(x, 0) + log(1 + e^-|x|), the latter given: an ANE's own softplus is 0 from x = 11.1 on. A yes
 * costs that of -x, a no that of x; nothing cancels in either. */
mw_tensor *mw__loss_logistic_cost(mw_tensor *x, mw_tensor *below) { return mw_add(mw_relu(x), below); }

mw_tensor *mw__loss_softplus_below(mw_tensor *x) { return mw_softplus(mw_neg(mw_abs(x))); }

static mw_tensor *weigh_loss(mw_tensor *yes, mw_tensor *q) { return q != NULL ? mw_mul(yes, q) : yes; }

/* q cost(-x) - cost(x) = (q - 1) log(1 + e^-|x|) + q relu(-x) - relu(x), one of the last two being 0 */
static mw_tensor *by_target_weighed(mw_tensor *x, mw_tensor *q, mw_tensor *below)
{
    mw_tensor *surplus = mw_mul(mw_add_scalar(q, -1.0), below);
    mw_tensor *yes = mw_mul(q, mw_relu(mw_neg(x)));
    return mw_add(surplus, mw_sub(yes, mw_relu(x)));
}

/* dx = dy ((1 - t) sigmoid(x) - q t sigmoid(-x)), which keeps small errors in fp16 as sigmoid(x) - t does not, and has
 * its derivative at 0; dt = dy (q cost(-x) - cost(x)), of which log(1 + e^-|x|) cancels but for q - 1;
 * dq = dy t cost(-x) */
static void vjp_binary_cross_entropy(mw__vjp *vjp)
{
    mw_tensor *x = mw__vjp_input(vjp, 0), *t = mw__vjp_input(vjp, 1);
    mw_tensor *q = vjp->composite->input_count == 3 ? mw__vjp_input(vjp, 2) : NULL, *minus = mw_neg(x);
    mw_tensor *dy = mw_mul_scalar(vjp->dy[0], 1.0 / (double)mw_shape_count(mw_tensor_shape(x)));
    if (mw__vjp_wants_input(vjp, 0)) {
        mw_tensor *yes = weigh_loss(mw_mul(t, mw_sigmoid(minus)), q), *no = mw_sigmoid(x);
        no = mw_mul(no, mw__one_minus(t));
        mw__vjp_set_input(vjp, 0, mw_mul(mw_sub(no, yes), dy));
    }
    if (q == NULL) {
        if (mw__vjp_wants_input(vjp, 1))
            mw__vjp_set_input(vjp, 1, mw_mul(minus, dy));
        return;
    }
    if (!mw__vjp_wants_input(vjp, 1) && !mw__vjp_wants_input(vjp, 2))
        return;
    mw_tensor *below = mw__loss_softplus_below(x);
    if (mw__vjp_wants_input(vjp, 1))
        mw__vjp_set_input(vjp, 1, mw_mul(by_target_weighed(x, q, below), dy));
    if (mw__vjp_wants_input(vjp, 2))
        mw__vjp_set_input(vjp, 2, mw_mul(mw_mul(t, mw__loss_logistic_cost(minus, below)), dy));
}

static bool check_positive_weight(mw_tensor *logits, mw_tensor *weight)
{
    mw_shape broadcast;
    char a[64], b[64];
    const mw_shape shape = mw_tensor_shape(logits), has = mw_tensor_shape(weight);
    if (weight == NULL || (mw__broadcast_shapes(shape, has, &broadcast) && mw_shape_equal(shape, broadcast)))
        return true;
    mw__graph_fail(logits->graph, MW_ERROR_SHAPE,
                   "binary_cross_entropy: the positive weight %s does not broadcast to the logits %s",
                   mw__shape_print(has, a, sizeof a), mw__shape_print(shape, b, sizeof b));
    return false;
}

mw_tensor *mw_binary_cross_entropy(mw_tensor *logits, mw_tensor *target, mw_tensor *positive_weight)
{
    MW__FLOAT_SCOPE;
    if (!mw__loss_check_pair("binary_cross_entropy", logits_and_target, logits, target) ||
        !check_positive_weight(logits, positive_weight))
        return mw__loss_of_failed_graph(logits, target);
    mw_tensor *inputs[3] = {logits, target, positive_weight}, *below = mw__loss_softplus_below(logits);
    mw_tensor *yes = mw__loss_logistic_cost(mw_neg(logits), below), *no = mw__loss_logistic_cost(logits, below);
    yes = weigh_loss(mw_mul(target, yes), positive_weight);
    no = mw_mul(no, mw__one_minus(target));
    const mw__composite composite = {.name = "binary_cross_entropy",
                                     .inputs = inputs,
                                     .input_count = positive_weight != NULL ? 3 : 2,
                                     .vjp = vjp_binary_cross_entropy};
    return mw__loss_mean(&composite, mw_add(yes, no), logits, target);
}

/* Where the target is 0 neither its logarithm nor log_probabilities, which may be -inf there, counts. */
mw_tensor *mw_kl_divergence(mw_tensor *log_probabilities, mw_tensor *target)
{
    MW__FLOAT_SCOPE;
    static const char *const names[2] = {"log_probabilities", "target"};
    if (!mw__loss_check_pair("kl_divergence", names, log_probabilities, target))
        return mw__loss_of_failed_graph(log_probabilities, target);
    mw_tensor *positive = mw_greater(target, mw__vjp_scalar_like(target, 0.0));
    mw_tensor *logarithm = mw_log(mw_select(positive, target, mw__vjp_scalar_like(target, 1.0)), 0.0f);
    mw_tensor *values = mw_mul(target, mw_sub(logarithm, mw__where(positive, log_probabilities)));
    const int rank = mw_tensor_shape(target).rank;
    mw_axes inner = {0};
    for (int i = 1; i < rank; i++)
        inner.axis[inner.count++] = i;
    mw_tensor *examples = inner.count > 0 ? mw_reduce_sum(values, inner, false) : values;
    return mw__loss_mean(&(const mw__composite){.name = "kl_divergence"}, examples, log_probabilities, target);
}

/* ---- margins ---- */

mw_tensor *mw_hinge(mw_tensor *y, mw_tensor *target)
{
    MW__FLOAT_SCOPE;
    if (!mw__loss_check_pair("hinge", y_and_target, y, target))
        return mw__loss_of_failed_graph(y, target);
    return mw__loss_mean(&(const mw__composite){.name = "hinge"}, mw_relu(mw__one_minus(mw_mul(target, y))), y, target);
}

/* Losses and metrics of class labels other than cross-entropy. */
#include "autograd/losses/loss_parts.h"
#include "base/number/float_mode.h"

#include <math.h>

mw_tensor *mw_nll(mw_tensor *log_probabilities, mw_tensor *labels)
{
    MW__FLOAT_SCOPE;
    if (!mw__loss_check_labels("nll", log_probabilities, labels, false))
        return mw__loss_of_failed_graph(log_probabilities, labels);
    mw_tensor *hot = mw__loss_hot(log_probabilities, labels, NULL);
    return mw__loss_mean(&(const mw__composite){.name = "nll"},
                         mw_neg(mw__loss_at_label(log_probabilities, hot, false)), log_probabilities, labels);
}

mw_tensor *mw_multi_margin(mw_tensor *scores, mw_tensor *labels, float margin)
{
    MW__FLOAT_SCOPE;
    if (!mw__loss_check_labels("multi_margin", scores, labels, false))
        return mw__loss_of_failed_graph(scores, labels);
    if (!(margin > 0.0f) || isinf(margin)) {
        mw__graph_fail(scores->graph, MW_ERROR_ARGUMENT, "multi_margin: margin %g must be positive and finite",
                       (double)margin);
        return mw__loss_of_failed_graph(scores, labels);
    }
    mw_tensor *hot = mw__loss_hot(scores, labels, NULL);
    mw_tensor *lead = mw_sub(scores, mw__loss_at_label(scores, hot, true));
    mw_tensor *short_of = mw_relu(mw_add_scalar(lead, (double)margin));
    mw_tensor *others = mw_select(hot, mw__vjp_scalar_like(scores, 0.0), short_of);
    mw_tensor *values = mw_reduce_mean(others, MW_AXES(mw__loss_class_axis(scores)), false);
    return mw__loss_mean(&(const mw__composite){.name = "multi_margin"}, values, scores, labels);
}

/* ---- accuracy ---- */

/* 1 where a row's first largest entry stands, else 0: in the shape and type of x. Floating point counts more classes
 * than fp16 can only if it stays fp32, which no ANE has; integers get another form there. */
static mw_tensor *first_largest(mw_tensor *x)
{
    const int axis = mw__loss_class_axis(x);
    const double classes = (double)mw_tensor_shape(x).dim[axis];
    const mw_dtype dtype = classes > 2048.0 ? MW_I32 : mw_tensor_dtype(x);
    mw_tensor *numbers = mw_range_1d(mw_tensor_graph(x), dtype, 0.0, classes, 1.0);
    mw_tensor *largest = mw_equal(x, mw_reduce_max(x, MW_AXES(axis), true));
    mw_tensor *candidates = mw_select(largest, numbers, mw__vjp_scalar_like(numbers, classes));
    mw_tensor *winner = mw_equal(numbers, mw_reduce_min(candidates, MW_AXES(axis), true));
    return mw__where(winner, mw__vjp_scalar_like(x, 1.0));
}

static mw_tensor *attach_metric(mw_tensor *mean, const mw__composite *composite, mw_tensor *logits, mw_tensor *labels)
{
    mw_tensor *metric = mw__composite_attach(mw_stop_gradient(mean), composite);
    return metric != NULL ? metric : mw__loss_of_failed_graph(logits, labels);
}

mw_tensor *mw_accuracy(mw_tensor *logits, mw_tensor *labels)
{
    if (!mw__loss_check_labels("accuracy", logits, labels, true))
        return mw__loss_of_failed_graph(logits, labels);
    mw_tensor *hot = mw__loss_hot(logits, labels, NULL);
    mw_tensor *truth = hot != NULL ? mw__where(hot, mw__vjp_scalar_like(logits, 1.0)) : first_largest(labels);
    mw_tensor *hits = mw__loss_sum_classes(mw_mul(first_largest(logits), truth), false);
    const mw__composite composite = {.name = "accuracy", .examples = mw__loss_examples(hits)};
    return attach_metric(mw_reduce_mean(composite.examples, MW_ALL_AXES, false), &composite, logits, labels);
}

/* 1 where the label counts: [N, ..] in the type of the logits. An ignored class is no better than none. */
static mw_tensor *counted(mw_tensor *logits, mw_tensor *labels, int32_t ignore_index)
{
    mw_tensor *ignored = mw_equal(labels, mw__vjp_scalar_like(labels, (double)ignore_index));
    mw_tensor *zero = mw__vjp_scalar_like(logits, 0.0);
    return mw_select(ignored, zero, mw__vjp_scalar_like(logits, 1.0));
}

mw_tensor *mw_accuracy_ignoring(mw_tensor *logits, mw_tensor *labels, int32_t ignore_index)
{
    MW__FLOAT_SCOPE;
    if (!mw__loss_check_labels("accuracy", logits, labels, false))
        return mw__loss_of_failed_graph(logits, labels);
    const int64_t ignored = ignore_index;
    mw_tensor *hot = mw__loss_hot(logits, labels, &ignored);
    mw_tensor *weights = counted(logits, labels, ignore_index);
    mw_tensor *hits = mw__loss_at_label(first_largest(logits), hot, false);
    mw__composite composite = {.name = "accuracy"};
    composite.examples = mw__loss_examples(mw_mul(hits, weights));
    composite.weights = mw__loss_examples(weights);
    mw_tensor *share = mw_reduce_mean(composite.examples, MW_ALL_AXES, false);
    return attach_metric(mw_real_div(share, mw__loss_divisor(composite.weights)), &composite, logits, labels);
}

/* Losses over classes. N examples, C classes, positions d. */
#include "format/onnx/read/import.h"

#include <millwright/ops/compare.h>
#include <millwright/ops/elementwise.h>
#include <millwright/ops/gather.h>
#include <millwright/ops/normalize.h>
#include <millwright/ops/reduce.h>
#include <millwright/ops/shape.h>

typedef struct targets {
    mw_tensor *index;   /* [N, d..], 0 where it is ignored */
    mw_tensor *ignored; /* [N, d..] bool; NULL = none is */
    mw_tensor *weight;  /* [N, d..]; NULL = all are 1 */
} targets;

static targets read_targets(mw__onnx_node *node, mw_dtype dtype)
{
    targets t = {.index = mw__onnx_in(node, 1)};
    mw_tensor *weights = mw__onnx_in(node, 2), *zero = mw_scalar(node->graph, dtype, 0);
    const int64_t ignore = mw__onnx_int(node, "ignore_index", 0);
    if (mw__onnx_attribute(node, "ignore_index") != NULL && ignore <= INT32_MAX && ignore >= INT32_MIN) {
        t.ignored = mw_equal(t.index, mw_scalar(node->graph, MW_I32, (double)ignore));
        t.index = mw_select(t.ignored, mw_scalar(node->graph, MW_I32, 0), t.index);
    }
    if (weights != NULL)
        t.weight = mw_gather(weights, t.index, 0);
    else if (t.ignored != NULL)
        t.weight = mw_fill(node->graph, dtype, mw__onnx_shape(node, 1), 1);
    if (t.ignored != NULL)
        t.weight = mw_select(t.ignored, zero, t.weight);
    return t;
}

/* The mean divides by the sum of the weights. */
static mw_tensor *reduce(mw__onnx_node *node, mw_tensor *loss, mw_tensor *weight)
{
    if (mw__onnx_is(node, "reduction", "none"))
        return loss;
    if (mw__onnx_is(node, "reduction", "sum"))
        return mw_reduce_sum(loss, MW_ALL_AXES, false);
    if (weight == NULL)
        return mw_reduce_mean(loss, MW_ALL_AXES, false);
    mw_tensor *sum = mw_reduce_sum(loss, MW_ALL_AXES, false);
    return mw_real_div(sum, mw_reduce_sum(weight, MW_ALL_AXES, false));
}

/* -weight[target] log_prob[n, target, d..] */
static mw_status give_loss(mw__onnx_node *node, mw_tensor *log_prob)
{
    const mw_shape x = mw__onnx_shape(node, 0);
    if (x.rank < 2 || mw__onnx_shape(node, 1).rank != x.rank - 1)
        return mw__onnx_refuse(node, "scores of rank %d with targets of rank %d", x.rank, mw__onnx_shape(node, 1).rank);
    const targets t = read_targets(node, mw__onnx_dtype(mw__onnx_type(node, 0)));
    const mw_axes channel = MW_AXES(1);
    mw_tensor *chosen = mw_gather_along_axis(log_prob, mw_expand_dims(t.index, channel), 1);
    mw_tensor *loss = mw_neg(mw_squeeze(chosen, channel));
    if (t.weight != NULL)
        loss = mw_mul(loss, t.weight);
    return mw__onnx_set(node, 0, mw__onnx_type(node, 0), reduce(node, loss, t.weight));
}

mw_status mw__onnx_likelihood_loss(mw__onnx_node *node) { return give_loss(node, mw__onnx_in(node, 0)); }

mw_status mw__onnx_cross_entropy(mw__onnx_node *node)
{
    mw_tensor *log_prob = mw_log_softmax(mw__onnx_in(node, 0), 1);
    MW_TRY(give_loss(node, log_prob));
    return mw__onnx_set(node, 1, mw__onnx_type(node, 0), log_prob);
}

/* Losses: means over the examples of a batch, each a composite that remembers the values of the single examples. */
#include "autograd/rules.h"

/* The labels as the rest of this file wants them: p [N, C] in the type of the logits. `hot` is the boolean mask of
 * integer labels, NULL for probabilities. */
typedef struct targets {
    mw_tensor *hot;
    mw_tensor *p;
} targets;

static bool is_probability(mw_tensor *logits, mw_tensor *labels)
{
    return mw_tensor_dtype(labels) == mw_tensor_dtype(logits) &&
           mw_shape_equal(mw_tensor_shape(labels), mw_tensor_shape(logits));
}

static bool is_index(mw_tensor *logits, mw_tensor *labels)
{
    mw_shape shape = mw_tensor_shape(labels);
    return mw_tensor_dtype(labels) == MW_I32 && shape.rank == 1 && shape.dim[0] == mw_tensor_shape(logits).dim[0];
}

/* What a loss of a failed graph is: any of its tensors, so that a trainer made with it can report the graph's error. It
 * is of no use for anything else, as every constructor refuses a failed graph. */
static mw_tensor *of_failed_graph(mw_tensor *a, mw_tensor *b)
{
    mw_tensor *any = a != NULL ? a : b;
    return mw_graph_check(mw_tensor_graph(any), NULL) != MW_OK ? any : NULL;
}

static bool check_labels(const char *operation, mw_tensor *logits, mw_tensor *labels)
{
    char x[64], y[64];
    if (logits == NULL || labels == NULL)
        return false;
    mw_shape shape = mw_tensor_shape(logits), has = mw_tensor_shape(labels);
    mw_dtype dtype = mw_tensor_dtype(logits);
    mw_graph *graph = mw_tensor_graph(logits);
    if ((dtype != MW_F32 && dtype != MW_F16) || (mw_tensor_dtype(labels) != MW_I32 && mw_tensor_dtype(labels) != dtype))
        mw__graph_fail(graph, MW_ERROR_DTYPE,
                       "%s: logits are %s and labels %s; logits must be fp16 or fp32, labels int32 or like the logits",
                       operation, mw_dtype_name(dtype), mw_dtype_name(mw_tensor_dtype(labels)));
    else if (shape.rank != 2 || (!is_index(logits, labels) && !is_probability(logits, labels)))
        mw__graph_fail(graph, MW_ERROR_SHAPE,
                       "%s: logits %s and labels %s do not fit; logits are [N, C], labels int32 [N] or like the logits",
                       operation, mw__shape_print(shape, x, sizeof x), mw__shape_print(has, y, sizeof y));
    else
        return true;
    return false;
}

/* A comparison with the class numbers rather than a gather, which no ANE accepts. */
static targets make_targets(mw_tensor *logits, mw_tensor *labels)
{
    if (is_probability(logits, labels))
        return (targets){.p = labels};
    int64_t classes = mw_tensor_shape(logits).dim[1];
    if (labels->role == MW__INPUT)
        labels->index_limit = classes;
    mw_tensor *numbers = mw_range_1d(mw_tensor_graph(logits), MW_I32, 0.0, (double)classes, 1.0);
    mw_tensor *hot = mw_equal(mw_expand_dims(labels, MW_AXES(1)), numbers);
    return (targets){.hot = hot, .p = mw__where(hot, mw__scalar_like(logits, 1.0))};
}

/* dlogits = dy (softmax(logits) sum p - p) / N, where sum p = 1 for integer labels; dp = -dy log softmax(logits) / N */
static void vjp_cross_entropy(mw__vjp *vjp)
{
    mw_tensor *logits = mw__vjp_input(vjp, 0), *p = mw__vjp_input(vjp, 1);
    bool integer_labels = vjp->composite->input_count == 3;
    mw_tensor *dy = mw_mul_scalar(vjp->dy[0], 1.0 / (double)mw_tensor_shape(logits).dim[0]);
    if (mw__vjp_wants_input(vjp, 0)) {
        mw_tensor *expected = mw_softmax(logits, 1);
        if (!integer_labels)
            expected = mw_mul(expected, mw_reduce_sum(p, MW_AXES(1), true));
        mw__vjp_set_input(vjp, 0, mw_mul(mw_sub(expected, p), dy));
    }
    if (mw__vjp_wants_input(vjp, 1)) {
        mw_tensor *surprise = mw_sub(mw_reduce_log_sum_exp(logits, MW_AXES(1), true), logits);
        mw__vjp_set_input(vjp, 1, mw_mul(surprise, dy));
    }
}

mw_tensor *mw_cross_entropy(mw_tensor *logits, mw_tensor *labels)
{
    if (!check_labels("cross_entropy", logits, labels))
        return of_failed_graph(logits, labels);
    targets t = make_targets(logits, labels);
    mw_tensor *examples;
    if (t.hot != NULL) {
        mw_tensor *chosen = mw_reduce_sum(mw__where(t.hot, logits), MW_AXES(1), false);
        examples = mw_sub(mw_reduce_log_sum_exp(logits, MW_AXES(1), false), chosen);
    } else {
        mw_tensor *surprise = mw_sub(mw_reduce_log_sum_exp(logits, MW_AXES(1), true), logits);
        examples = mw_reduce_sum(mw_mul(t.p, surprise), MW_AXES(1), false);
    }
    mw_tensor *inputs[3] = {logits, t.p, t.hot};
    mw__composite composite = {.name = "cross_entropy",
                               .inputs = inputs,
                               .input_count = t.hot != NULL ? 3 : 2,
                               .vjp = vjp_cross_entropy,
                               .examples = examples};
    return mw__composite_attach(mw_reduce_mean(examples, MW_ALL_AXES, false), &composite);
}

mw_tensor *mw_mse(mw_tensor *y, mw_tensor *target)
{
    char a[64], b[64];
    if (y == NULL || target == NULL)
        return of_failed_graph(y, target);
    mw_shape shape = mw_tensor_shape(y);
    if (!mw_shape_equal(shape, mw_tensor_shape(target)) || shape.rank == 0) {
        mw__graph_fail(mw_tensor_graph(y), MW_ERROR_SHAPE,
                       "mse: y %s and target %s must have one shape of rank 1 or more",
                       mw__shape_print(shape, a, sizeof a), mw__shape_print(mw_tensor_shape(target), b, sizeof b));
        return of_failed_graph(y, target);
    }
    mw_tensor *examples = mw_square(mw_sub(y, target));
    mw_axes inner = {0};
    for (int i = 1; i < shape.rank; i++)
        inner.axis[inner.count++] = i;
    if (inner.count > 0)
        examples = mw_reduce_mean(examples, inner, false);
    mw__composite composite = {.name = "mse", .examples = examples};
    return mw__composite_attach(mw_reduce_mean(examples, MW_ALL_AXES, false), &composite);
}

/* 1 where a row's first largest entry stands, else 0: [N, C] in the type of x. */
static mw_tensor *first_largest(mw_tensor *x)
{
    mw_tensor *numbers =
        mw_range_1d(mw_tensor_graph(x), mw_tensor_dtype(x), 0.0, (double)mw_tensor_shape(x).dim[1], 1.0);
    mw_tensor *largest = mw_equal(x, mw_reduce_max(x, MW_AXES(1), true));
    mw_tensor *candidates = mw_select(largest, numbers, mw__scalar_like(x, (double)mw_tensor_shape(x).dim[1]));
    mw_tensor *winner = mw_equal(numbers, mw_reduce_min(candidates, MW_AXES(1), true));
    return mw__where(winner, mw__scalar_like(x, 1.0));
}

mw_tensor *mw_accuracy(mw_tensor *logits, mw_tensor *labels)
{
    if (!check_labels("accuracy", logits, labels))
        return of_failed_graph(logits, labels);
    targets t = make_targets(logits, labels);
    mw_tensor *truth = t.hot != NULL ? t.p : first_largest(labels);
    mw_tensor *examples = mw_reduce_sum(mw_mul(first_largest(logits), truth), MW_AXES(1), false);
    mw__composite composite = {.name = "accuracy", .examples = examples};
    return mw__composite_attach(mw_stop_gradient(mw_reduce_mean(examples, MW_ALL_AXES, false)), &composite);
}

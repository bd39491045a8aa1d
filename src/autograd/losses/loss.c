/* What the losses share: checks of their operands, labels as masks, means that remember the values of the single
 * examples. The losses themselves are in loss_<kind>.c. */
#include "autograd/losses/loss_parts.h"
#include "base/number/types.h"

mw_tensor *mw__loss_of_failed_graph(mw_tensor *a, mw_tensor *b)
{
    mw_tensor *any = a != NULL ? a : b;
    return mw_graph_check(mw_tensor_graph(any), NULL) != MW_OK ? any : NULL;
}

/* ---- operands ---- */

/* A loss is a mean over elements. */
static bool check_elements(const char *operation, const char *name, mw_tensor *y)
{
    char text[64];
    if (mw_shape_count(mw_tensor_shape(y)) != 0)
        return true;
    mw__graph_fail(y->graph, MW_ERROR_SHAPE, "%s: %s %s has no elements, and the mean of nothing is not defined",
                   operation, name, mw__shape_print(mw_tensor_shape(y), text, sizeof text));
    return false;
}

bool mw__loss_check_pair(const char *operation, const char *const names[2], mw_tensor *y, mw_tensor *target)
{
    char a[64], b[64];
    if (y == NULL || target == NULL)
        return false;
    const mw_shape shape = mw_tensor_shape(y), other = mw_tensor_shape(target);
    const mw_dtype dtype = mw_tensor_dtype(y), second = mw_tensor_dtype(target);
    if (!mw_shape_equal(shape, other) || shape.rank == 0)
        mw__graph_fail(y->graph, MW_ERROR_SHAPE, "%s: %s %s and %s %s must have one shape of rank 1 or more", operation,
                       names[0], mw__shape_print(shape, a, sizeof a), names[1], mw__shape_print(other, b, sizeof b));
    else if (!mw__number_dtype_is_float(dtype) || dtype != second)
        mw__graph_fail(y->graph, MW_ERROR_DTYPE, "%s: %s is %s and %s %s; both must be fp16 or both fp32 (use mw_cast)",
                       operation, names[0], mw_dtype_name(dtype), names[1], mw_dtype_name(second));
    else
        return check_elements(operation, names[0], y);
    return false;
}

static bool is_probability(mw_tensor *logits, mw_tensor *labels)
{
    return mw_tensor_dtype(labels) == mw_tensor_dtype(logits) &&
           mw_shape_equal(mw_tensor_shape(labels), mw_tensor_shape(logits));
}

static bool is_index(mw_tensor *logits, mw_tensor *labels)
{
    mw_shape without = mw_tensor_shape(logits);
    without.rank--;
    return mw_tensor_dtype(labels) == MW_I32 && mw_shape_equal(without, mw_tensor_shape(labels));
}

bool mw__loss_check_labels(const char *operation, mw_tensor *logits, mw_tensor *labels, bool dense)
{
    char x[64], y[64];
    if (logits == NULL || labels == NULL)
        return false;
    const mw_shape shape = mw_tensor_shape(logits), has = mw_tensor_shape(labels);
    const mw_dtype dtype = mw_tensor_dtype(logits), kind = mw_tensor_dtype(labels);
    if (!mw__number_dtype_is_float(dtype) || (kind != MW_I32 && (!dense || kind != dtype)))
        mw__graph_fail(logits->graph, MW_ERROR_DTYPE,
                       "%s: logits are %s and labels %s; logits must be fp16 or fp32, labels int32%s", operation,
                       mw_dtype_name(dtype), mw_dtype_name(kind), dense ? " or like the logits" : "");
    else if (shape.rank < 2 || (!is_index(logits, labels) && !(dense && is_probability(logits, labels))))
        mw__graph_fail(logits->graph, MW_ERROR_SHAPE,
                       "%s: logits %s and labels %s do not fit; logits are [N, .., C], labels int32 [N, ..]%s",
                       operation, mw__shape_print(shape, x, sizeof x), mw__shape_print(has, y, sizeof y),
                       dense ? " or like the logits" : "");
    else
        return check_elements(operation, "logits", logits);
    return false;
}

mw_tensor *mw__loss_refuse_number(mw_tensor *y, const char *what, float number, const char *rule)
{
    mw__graph_fail(y->graph, MW_ERROR_ARGUMENT, "%s %g must be %s", what, (double)number, rule);
    return mw__loss_of_failed_graph(y, NULL);
}

/* ---- classes ---- */

int mw__loss_class_axis(mw_tensor *logits) { return mw_tensor_shape(logits).rank - 1; }

mw_tensor *mw__loss_sum_classes(mw_tensor *x, bool keep_dims)
{
    return mw_reduce_sum(x, MW_AXES(mw__loss_class_axis(x)), keep_dims);
}

/* A comparison with the class numbers rather than a gather, which no ANE accepts. */
mw_tensor *mw__loss_hot(mw_tensor *logits, mw_tensor *labels, const int64_t *ignored)
{
    if (is_probability(logits, labels))
        return NULL;
    const int axis = mw__loss_class_axis(logits);
    const int64_t classes = mw_tensor_shape(logits).dim[axis];
    mw__limit_indices(labels, classes, ignored);
    mw_tensor *numbers = mw_range_1d(mw_tensor_graph(logits), MW_I32, 0.0, (double)classes, 1.0);
    return mw_equal(mw_expand_dims(labels, MW_AXES(axis)), numbers);
}

mw_tensor *mw__loss_at_label(mw_tensor *x, mw_tensor *hot, bool keep_dims)
{
    return mw__loss_sum_classes(mw__where(hot, x), keep_dims);
}

mw_tensor *mw__loss_elsewhere(mw_tensor *x, mw_tensor *hot, bool keep_dims)
{
    return mw__loss_sum_classes(mw_select(hot, mw__vjp_scalar_like(x, 0.0), x), keep_dims);
}

/* ---- means ---- */

mw_tensor *mw__loss_examples(mw_tensor *values)
{
    const int rank = mw_tensor_shape(values).rank;
    mw_axes inner = {0};
    for (int i = 1; i < rank; i++)
        inner.axis[inner.count++] = i;
    return inner.count > 0 ? mw_reduce_mean(values, inner, false) : values;
}

mw_tensor *mw__loss_mean(const mw__composite *record, mw_tensor *values, mw_tensor *a, mw_tensor *b)
{
    mw__composite composite = *record;
    composite.examples = mw__loss_examples(values);
    mw_tensor *loss = mw__composite_attach(mw_reduce_mean(composite.examples, MW_ALL_AXES, false), &composite);
    return loss != NULL ? loss : mw__loss_of_failed_graph(a, b);
}

mw_tensor *mw__loss_divisor(mw_tensor *weights)
{
    mw_tensor *mean = mw_reduce_mean(weights, MW_ALL_AXES, false);
    mw_tensor *some = mw_greater(mean, mw__vjp_scalar_like(weights, 0.0));
    return mw_select(some, mean, mw__vjp_scalar_like(weights, 1.0));
}

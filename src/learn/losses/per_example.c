/* Gradients of each example: how long they are, and their sum with none of them longer than a limit. */
#include "autograd/vjp/rules.h"
#include "base/number/float_mode.h"
#include "base/text/error.h"
#include "graph/ir/ir.h"

#include <millwright/learn.h>
#include <millwright/millwright.h>

#include <math.h>

/* [B] as [B, 1, ..] beside x. */
static mw_tensor *beside(mw_tensor *numbers, const mw_tensor *x)
{
    mw_axes added = {0};
    for (int i = 1; i < mw_tensor_shape(x).rank; i++)
        added.axis[added.count++] = i;
    return added.count > 0 ? mw_expand_dims(numbers, added) : numbers;
}

/* f [B] of [B, ..], over all axes but the first. */
static mw_tensor *reduce_rest(mw_tensor *x, mw_tensor *(*reduce)(mw_tensor *, mw_axes, bool))
{
    mw_axes axes = {0};
    for (int i = 1; i < mw_tensor_shape(x).rank; i++)
        axes.axis[axes.count++] = i;
    return axes.count > 0 ? reduce(x, axes, false) : reduce(mw_expand_dims(x, MW_AXES(1)), MW_AXES(1), false);
}

/* A NULL tensor has an error of its own already. */
static mw_status check_examples(mw_tensor *const *dx, size_t count)
{
    char text[200];
    for (size_t i = 0; i < count; i++) {
        if (dx[i] == NULL)
            return MW_ERROR_ARGUMENT;
        const mw_shape shape = mw_tensor_shape(dx[i]);
        const mw_dtype dtype = mw_tensor_dtype(dx[i]);
        if ((dtype != MW_F16 && dtype != MW_F32) || dtype != mw_tensor_dtype(dx[0])) {
            mw__graph_fail(dx[0]->graph, MW_ERROR_DTYPE, "examples: tensor %zu is %s; all must be fp32, or all fp16", i,
                           mw_dtype_name(dtype));
            return MW_ERROR_DTYPE;
        }
        if (shape.rank < 1 || shape.dim[0] != mw_tensor_shape(dx[0]).dim[0] || mw_shape_count(shape) < 0) {
            mw__graph_fail(dx[0]->graph, MW_ERROR_SHAPE,
                           "examples: tensor %zu is %s; the first extent of all must be the number of examples", i,
                           mw__shape_print(shape, text, sizeof text));
            return MW_ERROR_SHAPE;
        }
    }
    return MW_OK;
}

/* The largest element of each example divides before squares are added, so that none over- or underflows. */
static mw_tensor *largest_of(mw_tensor *const *dx, size_t count)
{
    mw_tensor *largest = NULL;
    for (size_t i = 0; i < count; i++) {
        mw_tensor *own = reduce_rest(mw_abs(dx[i]), mw_reduce_max);
        largest = largest == NULL ? own : mw_maximum(largest, own);
    }
    mw_tensor *zero = mw__vjp_scalar_like(largest, 0.0), *one = mw__vjp_scalar_like(largest, 1.0);
    return mw_select(mw_greater(largest, zero), largest, one);
}

mw_tensor *mw_example_norms(mw_tensor *const *dx, size_t count)
{
    MW__FLOAT_SCOPE;
    mw_tensor *sum = NULL;
    if (dx == NULL || count == 0 || check_examples(dx, count) != MW_OK)
        return NULL;
    mw_tensor *largest = largest_of(dx, count);
    for (size_t i = 0; i < count; i++) {
        mw_tensor *squares = reduce_rest(mw_real_div(dx[i], beside(largest, dx[i])), mw_reduce_sum_square);
        sum = sum == NULL ? squares : mw_add(sum, squares);
    }
    return mw_mul(largest, mw_sqrt(sum));
}

static mw_status clip_examples(mw_tensor *const *dx, size_t count, double limit, mw_tensor **out_sums, mw_error *err)
{
    mw_tensor *norms = mw_example_norms(dx, count);
    if (norms == NULL)
        return mw__fail_null(err, "clip_examples: a gradient is NULL");
    mw_tensor *bound = mw__vjp_scalar_like(norms, limit);
    mw_tensor *factor = mw_real_div(bound, mw_maximum(norms, bound));
    for (size_t i = 0; i < count; i++)
        out_sums[i] = mw_reduce_sum(mw_mul(dx[i], beside(factor, dx[i])), MW_AXES(0), false);
    return mw_graph_check(dx[0]->graph, err);
}

mw_status mw_clip_examples(mw_tensor *const *dx, size_t count, double limit, mw_tensor **out_sums, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return err->status;
    for (size_t i = 0; out_sums != NULL && i < count; i++)
        out_sums[i] = NULL;
    if (out_sums == NULL || dx == NULL || count == 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "clip_examples: there are no gradients, or no place for sums");
    if (!(limit > 0.0) || !isfinite(limit))
        return mw__fail(err, MW_ERROR_ARGUMENT, "clip_examples: the limit is %g; it must be above 0 and finite", limit);
    const mw_status status = clip_examples(dx, count, limit, out_sums, err);
    for (size_t i = 0; i < count && status != MW_OK; i++)
        out_sums[i] = NULL;
    return status;
}

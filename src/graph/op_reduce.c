/* Reductions: the shape rule and constructors of ops/reduce.def. */
#include <millwright/op_reduce.h>

#include "graph/rule.h"

/* ---- shape rule ---- */

mw_status mw__shape_reduce(mw__infer *infer)
{
    const mw_shape x = mw__rule_shape(infer, "x");
    const bool all = !mw__arg_present(infer->op, "axes");
    bool keep, marks[MW_RANK_MAX];
    size_t count;
    MW_TRY(mw__rule_bool(infer, "keep_dims", &keep));
    MW_TRY(mw__rule_axes(infer, "axes", x.rank, marks, &count));
    if (!all && count == 0)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "axes is empty; leave it out to reduce every axis");
    mw_shape shape = {.rank = 0};
    for (int i = 0; i < x.rank; i++) {
        const bool reduced = all || marks[i];
        if (reduced && x.dim[i] == 0 && infer->op->row->id != MW__OP_reduce_sum)
            return mw__rule_fail(infer, MW_ERROR_SHAPE, "axis %d has extent 0, only a sum of nothing is defined", i);
        if (!reduced)
            shape.dim[shape.rank++] = x.dim[i];
        else if (keep)
            shape.dim[shape.rank++] = 1;
    }
    return mw__rule_result(infer, mw__rule_dtype(infer, "x"), shape);
}

/* ---- constructors ---- */

static mw_tensor *reduce(const char *operation, mw_tensor *x, mw_axes axes, bool keep_dims)
{
    mw__build build = mw__build_begin(operation, x);
    mw__build_set(&build, "x", x);
    if (axes.count != 0)
        mw__build_axes(&build, "axes", axes);
    mw__build_bool(&build, "keep_dims", keep_dims);
    return mw__build_end(&build);
}

mw_tensor *mw_reduce_sum(mw_tensor *x, mw_axes axes, bool keep_dims)
{
    return reduce("reduce_sum", x, axes, keep_dims);
}

mw_tensor *mw_reduce_mean(mw_tensor *x, mw_axes axes, bool keep_dims)
{
    return reduce("reduce_mean", x, axes, keep_dims);
}

mw_tensor *mw_reduce_max(mw_tensor *x, mw_axes axes, bool keep_dims)
{
    return reduce("reduce_max", x, axes, keep_dims);
}

mw_tensor *mw_reduce_min(mw_tensor *x, mw_axes axes, bool keep_dims)
{
    return reduce("reduce_min", x, axes, keep_dims);
}

mw_tensor *mw_reduce_log_sum_exp(mw_tensor *x, mw_axes axes, bool keep_dims)
{
    return reduce("reduce_log_sum_exp", x, axes, keep_dims);
}

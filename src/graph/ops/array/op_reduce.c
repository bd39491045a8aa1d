/* Reductions: the shape rule and constructors of ops/reduce.def. */
#include <millwright/ops/reduce.h>

#include "graph/ir/rule.h"

#include <inttypes.h>
#include <string.h>

/* ---- shape rules ---- */

static bool defined_for_nothing(mw__op_id id)
{
    return id == MW__OP_reduce_sum || id == MW__OP_reduce_prod || id == MW__OP_reduce_sum_square ||
           id == MW__OP_reduce_l1_norm || id == MW__OP_reduce_l2_norm;
}

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
        if (reduced && x.dim[i] == 0 && !defined_for_nothing(infer->op->row->id))
            return mw__rule_fail(infer, MW_ERROR_SHAPE,
                                 "axis %d has extent 0, only sums and products of nothing are defined", i);
        if (!reduced)
            shape.dim[shape.rank++] = x.dim[i];
        else if (keep)
            shape.dim[shape.rank++] = 1;
    }
    return mw__rule_result(infer, mw__rule_dtype(infer, "x"), shape);
}

static mw_status read_output_dtype(const mw__infer *infer, mw_dtype *out)
{
    *out = MW_I32;
    if (mw__row_arg(infer->op->row, "output_dtype") == NULL)
        return MW_OK;
    const char *name = mw__arg_string(infer->op, "output_dtype");
    if (name == NULL || (strcmp(name, "int32") != 0 && strcmp(name, "uint16") != 0))
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "output_dtype \"%s\" is not int32 or uint16",
                             name != NULL ? name : "");
    *out = name[0] == 'i' ? MW_I32 : MW_U16;
    return MW_OK;
}

mw_status mw__shape_reduce_arg(mw__infer *infer)
{
    const mw_shape x = mw__rule_shape(infer, "x");
    mw_shape shape = {.rank = 0};
    mw_dtype dtype;
    int axis;
    bool keep;
    MW_TRY(mw__rule_bool(infer, "keep_dims", &keep));
    MW_TRY(read_output_dtype(infer, &dtype));
    MW_TRY(mw__rule_axis(infer, "axis", x.rank, &axis));
    const int64_t most = dtype == MW_U16 ? UINT16_MAX + 1 : INT64_C(1) << 31;
    if (x.dim[axis] == 0)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "axis %d has extent 0, it has no extremum", axis);
    if (x.dim[axis] > most)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "axis %d has extent %" PRId64 ", positions in %s end at %" PRId64,
                             axis, x.dim[axis], mw_dtype_name(dtype), most);
    for (int i = 0; i < x.rank; i++)
        if (i != axis)
            shape.dim[shape.rank++] = x.dim[i];
        else if (keep)
            shape.dim[shape.rank++] = 1;
    return mw__rule_result(infer, dtype, shape);
}

mw_status mw__shape_cumsum(mw__infer *infer)
{
    const mw_shape x = mw__rule_shape(infer, "x");
    int axis;
    bool flag;
    MW_TRY(mw__rule_bool(infer, "exclusive", &flag));
    MW_TRY(mw__rule_bool(infer, "reverse", &flag));
    MW_TRY(mw__rule_axis(infer, "axis", x.rank, &axis));
    return mw__rule_result(infer, mw__rule_dtype(infer, "x"), x);
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

mw_tensor *mw_reduce_prod(mw_tensor *x, mw_axes axes, bool keep_dims)
{
    return reduce("reduce_prod", x, axes, keep_dims);
}

mw_tensor *mw_reduce_sum_square(mw_tensor *x, mw_axes axes, bool keep_dims)
{
    return reduce("reduce_sum_square", x, axes, keep_dims);
}

mw_tensor *mw_reduce_l1_norm(mw_tensor *x, mw_axes axes, bool keep_dims)
{
    return reduce("reduce_l1_norm", x, axes, keep_dims);
}

mw_tensor *mw_reduce_l2_norm(mw_tensor *x, mw_axes axes, bool keep_dims)
{
    return reduce("reduce_l2_norm", x, axes, keep_dims);
}

mw_tensor *mw_reduce_log_sum(mw_tensor *x, mw_axes axes, bool keep_dims)
{
    return reduce("reduce_log_sum", x, axes, keep_dims);
}

static mw_tensor *reduce_arg(const char *operation, mw_tensor *x, int axis, bool keep_dims)
{
    mw__build build = mw__build_begin(operation, x);
    mw__build_set(&build, "x", x);
    mw__build_int(&build, "axis", axis);
    mw__build_bool(&build, "keep_dims", keep_dims);
    return mw__build_end(&build);
}

mw_tensor *mw_reduce_argmax(mw_tensor *x, int axis, bool keep_dims)
{
    return reduce_arg("reduce_argmax", x, axis, keep_dims);
}

mw_tensor *mw_reduce_argmin(mw_tensor *x, int axis, bool keep_dims)
{
    return reduce_arg("reduce_argmin", x, axis, keep_dims);
}

/* MIL counts from the end for -1 only. */
mw_tensor *mw_cumsum(mw_tensor *x, int axis, bool exclusive, bool reverse)
{
    const int rank = mw_tensor_shape(x).rank;
    mw__build build = mw__build_begin("cumsum", x);
    mw__build_set(&build, "x", x);
    mw__build_int(&build, "axis", axis < -1 && axis >= -rank ? axis + rank : axis);
    mw__build_bool(&build, "exclusive", exclusive);
    mw__build_bool(&build, "reverse", reverse);
    return mw__build_end(&build);
}

/* Reductions, positions of extrema, sums so far. */
#include "format/onnx/read/import.h"

#include <millwright/ops/elementwise.h>
#include <millwright/ops/reduce.h>
#include <millwright/ops/shape.h>

#include <string.h>

typedef struct reduce_row {
    const char *name;
    mw_tensor *(*build)(mw_tensor *x, mw_axes axes, bool keep_dims);
    int64_t axes_input;               /* from which operator set on the axes are an input */
    mw_tensor *(*alone)(mw_tensor *); /* of each element, where none is joined with another; NULL = the element */
} reduce_row;

static mw_tensor *log_of(mw_tensor *x) { return mw_log(x, 0); }

static const reduce_row rows[] = {
    {"ReduceSum", mw_reduce_sum, 13, NULL},
    {"ReduceMean", mw_reduce_mean, 18, NULL},
    {"ReduceMax", mw_reduce_max, 18, NULL},
    {"ReduceMin", mw_reduce_min, 18, NULL},
    {"ReduceProd", mw_reduce_prod, 18, NULL},
    {"ReduceL1", mw_reduce_l1_norm, 18, mw_abs},
    {"ReduceL2", mw_reduce_l2_norm, 18, mw_abs},
    {"ReduceLogSum", mw_reduce_log_sum, 18, log_of},
    {"ReduceLogSumExp", mw_reduce_log_sum_exp, 18, NULL},
    {"ReduceSumSquare", mw_reduce_sum_square, 18, mw_square},
};

/* No axis is reduced. */
static mw_status reduce_nothing(mw__onnx_node *node, const reduce_row *row)
{
    const int type = mw__onnx_type(node, 0);
    if (row->alone == NULL)
        return mw__onnx_set_same(node, 0, 0);
    return mw__onnx_set(node, 0, type, mw__onnx_wrap(row->alone(mw__onnx_in(node, 0)), type));
}

mw_status mw__onnx_reduce(mw__onnx_node *node)
{
    const reduce_row *row = rows;
    while (strcmp(row->name, node->proto->op_type) != 0)
        row++;
    int64_t list[MW_RANK_MAX];
    size_t count;
    const int rank = mw__onnx_shape(node, 0).rank;
    MW_TRY(mw__onnx_ints_or_input(node, row->axes_input, "axes", 1, list, MW_RANK_MAX, &count));
    if ((count == 0 && mw__onnx_int(node, "noop_with_empty_axes", 0) != 0) || rank == 0)
        return reduce_nothing(node, row);
    mw_axes axes = {.count = (int)count};
    for (size_t i = 0; i < count; i++)
        MW_TRY(mw__onnx_axis(node, list[i], rank, &axes.axis[i]));
    const bool keep = mw__onnx_int(node, "keepdims", 1) != 0;
    return mw__onnx_set(node, 0, mw__onnx_type(node, 0), row->build(mw__onnx_in(node, 0), axes, keep));
}

mw_status mw__onnx_arg_extremum(mw__onnx_node *node)
{
    int axis;
    const mw_shape shape = mw__onnx_shape(node, 0);
    MW_TRY(mw__onnx_axis(node, mw__onnx_int(node, "axis", 0), shape.rank, &axis));
    const bool keep = mw__onnx_int(node, "keepdims", 1) != 0;
    const bool last = mw__onnx_int(node, "select_last_index", 0) != 0;
    mw_tensor *x = mw__onnx_in(node, 0);
    if (last)
        x = mw_reverse(x, MW_AXES(axis));
    mw_tensor *made =
        strcmp(node->proto->op_type, "ArgMax") == 0 ? mw_reduce_argmax(x, axis, keep) : mw_reduce_argmin(x, axis, keep);
    if (last) /* the first of the reversed axis */
        made = mw_sub(mw_scalar(node->graph, MW_I32, (double)(shape.dim[axis] - 1)), made);
    return mw__onnx_set(node, 0, MW__ONNX_INT64, made);
}

mw_status mw__onnx_cumsum(mw__onnx_node *node)
{
    int axis;
    int64_t given;
    size_t count;
    MW_TRY(mw__onnx_known_ints(node, 1, &given, 1, &count));
    if (count != 1)
        return mw__onnx_refuse(node, "its axis is no number");
    MW_TRY(mw__onnx_axis(node, given, mw__onnx_shape(node, 0).rank, &axis));
    const bool exclusive = mw__onnx_int(node, "exclusive", 0) != 0, reverse = mw__onnx_int(node, "reverse", 0) != 0;
    mw_tensor *x = mw__onnx_in(node, 0);
    return mw__onnx_set(node, 0, mw__onnx_type(node, 0), mw_cumsum(x, axis, exclusive, reverse));
}

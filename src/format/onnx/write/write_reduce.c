/* Reductions, sorting, and elements chosen by indices. */
#include "format/onnx/write/write_args.h"

#include <string.h>

/* ---- reductions ---- */

/* Operator set 17 takes the axes of ReduceSum as an input, those of the others as an attribute. */
void mw__onnx_write_reduce(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    int64_t axes[MW_RANK_MAX];
    size_t count = 0;
    const bool some = mw__arg_present(op, "axes") && mw__arg_ints(op, "axes", axes, MW_RANK_MAX, &count);
    const bool sum = strcmp(operation, "ReduceSum") == 0;
    const char *const in[] = {arg(w, op, "x"), some && sum ? mw__onnx_longs(w, axes, count) : NULL};
    pb_node *node = mw__onnx_node_of(w, operation, result(w, op), in, 2);
    if (some && !sum)
        mw__onnx_put_ints(w, node, "axes", axes, count);
    mw__onnx_put_int(w, node, "keepdims", mw__arg_is_set(op, "keep_dims"));
}

void mw__onnx_write_reduce_arg(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    const char *x = arg(w, op, "x");
    pb_node *node = mw__onnx_node_of(w, operation, NULL, &x, 1);
    mw__onnx_put_int(w, node, "axis", mw__arg_whole(op, "axis"));
    mw__onnx_put_int(w, node, "keepdims", mw__arg_is_set(op, "keep_dims"));
    mw__onnx_cast_to(w, result(w, op), mw__onnx_name(node), dtype_of(op));
}

void mw__onnx_write_cumsum(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    const char *const in[] = {arg(w, op, "x"), mw__onnx_number(w, MW_I64, (double)mw__arg_whole(op, "axis"))};
    pb_node *node = mw__onnx_node_of(w, operation, result(w, op), in, 2);
    mw__onnx_put_int(w, node, "exclusive", mw__arg_is_set(op, "exclusive"));
    mw__onnx_put_int(w, node, "reverse", mw__arg_is_set(op, "reverse"));
}

/* ---- sorting ---- */

static void put_topk(mw__onnx_writer *w, const mw__op *op, int64_t k, const char *values, size_t indices)
{
    const char *const in[] = {arg(w, op, "x"), mw__onnx_longs(w, &k, 1)};
    const char *order = mw__onnx_fresh(w);
    pb_node *node = mw__onnx_node_of(w, "TopK", values, in, 2);
    mw__onnx_put_result(w, node, order);
    mw__onnx_put_int(w, node, "axis", mw__arg_whole(op, "axis"));
    mw__onnx_put_int(w, node, "largest", !mw__arg_is_set(op, "ascending"));
    if (indices < op->result_count)
        mw__onnx_cast_to(w, mw__onnx_result(w, op, indices), order, op->results[indices]->type->dtype);
}

void mw__onnx_write_topk(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    int64_t k = 1;
    (void)operation;
    mw__arg_int(op, "k", &k);
    const mw_shape x = mw__arg(op, "x")->type->shape;
    const int64_t axis = mw__arg_whole(op, "axis"), extent = x.dim[axis < 0 ? axis + x.rank : axis];
    k = k < 0 ? extent : k;
    if (k < 0)
        mw__onnx_cannot(w, op, "the extent of its axis is not known");
    put_topk(w, op, k, result(w, op), 1);
}

void mw__onnx_write_argsort(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    const mw_shape x = mw__arg(op, "x")->type->shape;
    const int64_t axis = mw__arg_whole(op, "axis"), extent = x.dim[axis < 0 ? axis + x.rank : axis];
    (void)operation;
    if (extent < 0)
        mw__onnx_cannot(w, op, "the extent of its axis is not known");
    put_topk(w, op, extent, NULL, 0);
}

/* ---- gather and scatter ---- */

static int64_t batch_dims(const mw__op *op)
{
    return mw__arg_exists(op, "batch_dims") ? mw__arg_whole(op, "batch_dims") : 0;
}

/* Indices as int64, which the operators ending in ND insist on; the others would take int32 as well. */
static const char *indices_of(mw__onnx_writer *w, const mw__op *op)
{
    return mw__onnx_cast_to(w, NULL, arg(w, op, "indices"), MW_I64);
}

void mw__onnx_write_gather(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    if (batch_dims(op) != 0) {
        mw__onnx_cannot(w, op, "with batch_dims it is not written yet");
        return;
    }
    const char *const in[] = {arg(w, op, "x"), indices_of(w, op)};
    mw__onnx_put_int(w, mw__onnx_node_of(w, operation, result(w, op), in, 2), "axis", mw__arg_whole(op, "axis"));
}

void mw__onnx_write_gather_nd(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    const char *const in[] = {arg(w, op, "x"), indices_of(w, op)};
    mw__onnx_put_int(w, mw__onnx_node_of(w, operation, result(w, op), in, 2), "batch_dims", batch_dims(op));
}

/* ONNX's name of the mode; NULL for one that operator set 17 lacks. */
static const char *reduction_of(const mw__op *op)
{
    static const char *const modes[][2] = {{"update", "none"}, {"add", "add"}, {"mul", "mul"}};
    const char *mode = mw__arg_string(op, "mode");
    for (size_t i = 0; mode != NULL && i < 3; i++)
        if (strcmp(mode, modes[i][0]) == 0)
            return modes[i][1];
    return NULL;
}

static pb_node *put_scatter(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    const char *reduction = reduction_of(op);
    if (reduction == NULL) {
        mw__onnx_cannot(w, op, "operator set 17 lacks its mode");
        return NULL;
    }
    const char *const in[] = {arg(w, op, "data"), indices_of(w, op), arg(w, op, "updates")};
    pb_node *node = mw__onnx_node_of(w, operation, result(w, op), in, 3);
    mw__onnx_put_text(w, node, "reduction", reduction);
    return node;
}

void mw__onnx_write_scatter_nd(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    put_scatter(w, op, operation);
}

void mw__onnx_write_scatter_along_axis(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    pb_node *node = put_scatter(w, op, operation);
    if (node != NULL)
        mw__onnx_put_int(w, node, "axis", mw__arg_whole(op, "axis"));
}

/* Rows of the data along an axis, which ScatterND has in front; -updates are added for sub. */
void mw__onnx_write_scatter(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    const mw_shape data = mw__arg_shape(op, "data"), indices = mw__arg_shape(op, "indices");
    const int axis = (int)axis_of(op, "axis", data.rank);
    const char *mode = mw__arg_string(op, "mode"), *updates = arg(w, op, "updates");
    const bool subtracts = mode != NULL && strcmp(mode, "sub") == 0;
    const char *reduction = subtracts ? "add" : reduction_of(op);
    mw_shape rows = data;
    if (reduction == NULL) {
        mw__onnx_cannot(w, op, "operator set 17 lacks its mode");
        return;
    }
    rows.dim[axis] = mw_shape_count(indices);
    updates = mw__onnx_reshape_to(w, op, NULL, updates, rows);
    if (subtracts)
        updates = mw__onnx_make(w, "Neg", NULL, updates, NULL);
    const mw_shape places = {.rank = 2, .dim = {rows.dim[axis], 1}};
    const char *at = mw__onnx_reshape_to(w, op, NULL, indices_of(w, op), places), *x = arg(w, op, "data");
    if (axis != 0) {
        x = mw__onnx_swap_axes(w, NULL, x, data.rank, 0, axis);
        updates = mw__onnx_swap_axes(w, NULL, updates, data.rank, 0, axis);
    }
    const char *const in[] = {x, at, updates};
    pb_node *node = mw__onnx_node_of(w, operation, axis == 0 ? result(w, op) : NULL, in, 3);
    mw__onnx_put_text(w, node, "reduction", reduction);
    if (axis != 0)
        mw__onnx_swap_axes(w, result(w, op), mw__onnx_name(node), data.rank, 0, axis);
}

/* 0, 1, .. along an axis. */
static const char *numbers_along(mw__onnx_writer *w, const mw__op *op, int64_t count, int axis, int rank)
{
    mw_shape shape = {.rank = rank};
    int64_t *values = mw__onnx_table(w, op, count, sizeof *values);
    for (int i = 0; i < rank; i++)
        shape.dim[i] = i == axis ? count : 1;
    for (int64_t i = 0; values != NULL && i < count; i++)
        values[i] = i;
    return values != NULL ? mw__onnx_tensor(w, MW_I64, shape, values) : NULL;
}

/* ONNX's OneHot counts negative indices from the end, which here are nowhere. */
void mw__onnx_write_one_hot(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    mw_shape shape = result_shape(op);
    const int axis = (int)axis_of(op, "axis", shape.rank);
    const int64_t size = shape.dim[axis];
    if (size < 0) {
        mw__onnx_cannot(w, op, "its size is not known");
        return;
    }
    shape.dim[axis] = 1;
    const char *indices = mw__onnx_reshape_to(w, op, NULL, indices_of(w, op), shape);
    const char *hot = mw__onnx_make(w, operation, NULL, indices, numbers_along(w, op, size, axis, shape.rank));
    const char *const in[] = {hot, mw__onnx_number(w, dtype_of(op), mw__arg_number(op, "on_value")),
                              mw__onnx_number(w, dtype_of(op), mw__arg_number(op, "off_value"))};
    mw__onnx_node_of(w, "Where", result(w, op), in, 3);
}

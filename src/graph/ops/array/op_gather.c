/* Elements chosen by indices: shape rules and constructors of the gathers, of one_hot and non_zero, and the embedding
 * layer. The scatters are in op_scatter.c. */
#include <millwright/ops/gather.h>

#include "base/number/float_mode.h"
#include "graph/ir/rule.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- one_hot ---- */

mw_status mw__shape_one_hot(mw__infer *infer)
{
    const mw_shape indices = mw__rule_shape(infer, "indices");
    const mw_dtype t = mw__op_dtype(infer->op);
    int64_t size;
    size_t count;
    bool known;
    int axis;
    MW_TRY(mw__rule_ints(infer, "one_hot_vector_size", &size, 1, &count, &known));
    MW_TRY(mw__rule_axis(infer, "axis", indices.rank + 1, &axis));
    if (count != 1)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "one_hot_vector_size must be one integer");
    if (!known)
        size = MW_DIM_UNKNOWN;
    else if (size < 1)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "one_hot_vector_size %" PRId64 " must be positive", size);
    if (mw__rule_shape(infer, "on_value").rank != 0 || mw__rule_shape(infer, "off_value").rank != 0)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "on_value and off_value must be scalars");
    if (indices.rank == MW_RANK_MAX)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "the result would exceed rank %d", MW_RANK_MAX);
    mw_shape shape = {.rank = indices.rank + 1};
    for (int i = 0; i < shape.rank; i++)
        shape.dim[i] = i < axis ? indices.dim[i] : i == axis ? size : indices.dim[i - 1];
    return mw__rule_result(infer, t != MW_DTYPE_NONE ? t : MW_I32, shape);
}

mw_tensor *mw_one_hot(mw_tensor *indices, int64_t size, int axis, mw_dtype dtype, double on, double off)
{
    MW__FLOAT_SCOPE;
    if (indices == NULL)
        return NULL;
    mw__build build = mw__build_begin("one_hot", indices);
    mw__build_set(&build, "indices", indices);
    mw__build_int(&build, "one_hot_vector_size", size);
    mw__build_int(&build, "axis", axis);
    mw__build_scalar(&build, "on_value", dtype, on);
    mw__build_scalar(&build, "off_value", dtype, off);
    return mw__build_end(&build);
}

/* ---- indices ---- */

/* Up to ios16 negative indices count from the end; from ios17 on they are out of bounds, which is an error only if the
 * operation is asked to validate. Indices that are computed are the device's business. */
static mw_status check_index(const mw__infer *infer, int64_t index, int64_t extent)
{
    const int64_t lowest = infer->op->row->since >= MW_IOS17 ? 0 : -extent;
    if (extent < 0 || (index >= lowest && index < extent))
        return MW_OK;
    return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "index %" PRId64 " is outside [%" PRId64 ", %" PRId64 ")", index,
                         lowest, extent);
}

mw_status mw__rule_indices(const mw__infer *infer, const int64_t *extents, int count)
{
    const mw__payload *payload = mw__arg_payload(infer->op, "indices");
    bool validate = infer->op->row->since < MW_IOS17;
    if (!validate)
        MW_TRY(mw__rule_bool(infer, "validate_indices", &validate));
    if (payload == NULL || !validate)
        return MW_OK;
    const size_t all = mw__payload_count(payload);
    for (size_t i = 0; i < all; i++)
        MW_TRY(check_index(infer, mw__payload_int(payload, i), extents[i % (size_t)count]));
    return MW_OK;
}

/* ---- gather ---- */

/* `limit` is what batch_dims may not exceed besides the rank of indices, `what` its name. */
static mw_status read_batch_dims(const mw__infer *infer, mw_shape x, mw_shape indices, int limit, const char *what,
                                 int *out)
{
    *out = 0;
    int64_t batch;
    if (mw__row_arg(infer->op->row, "batch_dims") == NULL)
        return MW_OK;
    MW_TRY(mw__rule_int(infer, "batch_dims", &batch));
    if (batch < 0 || batch > limit || batch > indices.rank)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT,
                             "batch_dims %" PRId64
                             " must be at least 0, at most %s %d and at most the rank %d of indices",
                             batch, what, limit, indices.rank);
    for (int i = 0; i < (int)batch; i++) {
        if (!mw__dim_fits(x.dim[i], indices.dim[i]))
            return mw__rule_fail(infer, MW_ERROR_SHAPE, "batch axis %d differs: x has %" PRId64 ", indices %" PRId64, i,
                                 x.dim[i], indices.dim[i]);
    }
    *out = (int)batch;
    return MW_OK;
}

mw_status mw__shape_gather(mw__infer *infer)
{
    const mw_shape x = mw__rule_shape(infer, "x");
    const mw_shape indices = mw__rule_shape(infer, "indices");
    int axis, batch;
    MW_TRY(mw__rule_axis(infer, "axis", x.rank, &axis));
    MW_TRY(read_batch_dims(infer, x, indices, axis, "axis", &batch));
    MW_TRY(mw__rule_indices(infer, &x.dim[axis], 1));
    if (x.rank - 1 + indices.rank - batch > MW_RANK_MAX)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "the result would exceed rank %d", MW_RANK_MAX);
    mw_shape shape = {.rank = 0};
    for (int i = 0; i < axis; i++)
        shape.dim[shape.rank++] = x.dim[i];
    for (int i = batch; i < indices.rank; i++)
        shape.dim[shape.rank++] = indices.dim[i];
    for (int i = axis + 1; i < x.rank; i++)
        shape.dim[shape.rank++] = x.dim[i];
    return mw__rule_result(infer, mw__rule_dtype(infer, "x"), shape);
}

static mw_tensor *along(const char *operation, mw_tensor *x, mw_tensor *indices, int axis)
{
    mw__build build = mw__build_begin(operation, x);
    mw__build_set(&build, "x", x);
    mw__build_set(&build, "indices", indices);
    mw__build_int(&build, "axis", axis);
    return mw__build_end(&build);
}

mw_tensor *mw_gather(mw_tensor *x, mw_tensor *indices, int axis) { return along("gather", x, indices, axis); }

/* ---- gather_along_axis ---- */

mw_status mw__rule_along_axis(const mw__infer *infer, const char *arg, int *out_axis)
{
    const mw_shape x = mw__rule_shape(infer, arg), indices = mw__rule_shape(infer, "indices");
    char a[200], b[200];
    MW_TRY(mw__rule_axis(infer, "axis", x.rank, out_axis));
    bool fits = x.rank == indices.rank;
    for (int i = 0; fits && i < x.rank; i++)
        fits = i == *out_axis || mw__dim_fits(x.dim[i], indices.dim[i]);
    if (!fits)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "%s and %s must have one rank, and equal extents but at axis %d",
                             mw__arg_print(infer->op, arg, a, sizeof a),
                             mw__arg_print(infer->op, "indices", b, sizeof b), *out_axis);
    return mw__rule_indices(infer, &x.dim[*out_axis], 1);
}

mw_status mw__shape_gather_along_axis(mw__infer *infer)
{
    const mw_shape x = mw__rule_shape(infer, "x");
    mw_shape shape = mw__rule_shape(infer, "indices");
    int axis;
    MW_TRY(mw__rule_along_axis(infer, "x", &axis));
    for (int i = 0; i < shape.rank; i++)
        if (i != axis && shape.dim[i] == MW_DIM_UNKNOWN)
            shape.dim[i] = x.dim[i];
    return mw__rule_result(infer, mw__rule_dtype(infer, "x"), shape);
}

mw_tensor *mw_gather_along_axis(mw_tensor *x, mw_tensor *indices, int axis)
{
    return along("gather_along_axis", x, indices, axis);
}

/* ---- gather_nd ---- */

mw_status mw__rule_nd(const mw__infer *infer, const char *arg, int batch, mw_shape *out)
{
    const mw_shape x = mw__rule_shape(infer, arg), indices = mw__rule_shape(infer, "indices");
    const int64_t depth = indices.rank > 0 ? indices.dim[indices.rank - 1] : 0;
    char text[200];
    if (indices.rank <= batch)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "%s must have rank %d or more: its last axis holds coordinates",
                             mw__arg_print(infer->op, "indices", text, sizeof text), batch + 1);
    if (depth < 1 || depth > x.rank - batch)
        return mw__rule_fail(infer, MW_ERROR_SHAPE,
                             "the last extent of %s must be known and in [1, %d]: coordinates of %s",
                             mw__arg_print(infer->op, "indices", text, sizeof text), x.rank - batch, arg);
    if (indices.rank - 1 + x.rank - batch - (int)depth > MW_RANK_MAX)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "the result would exceed rank %d", MW_RANK_MAX);
    *out = (mw_shape){.rank = 0};
    for (int i = 0; i < indices.rank - 1; i++)
        out->dim[out->rank++] = i < batch && indices.dim[i] == MW_DIM_UNKNOWN ? x.dim[i] : indices.dim[i];
    for (int i = batch + (int)depth; i < x.rank; i++)
        out->dim[out->rank++] = x.dim[i];
    return mw__rule_indices(infer, x.dim + batch, (int)depth);
}

mw_status mw__shape_gather_nd(mw__infer *infer)
{
    const mw_shape x = mw__rule_shape(infer, "x"), indices = mw__rule_shape(infer, "indices");
    mw_shape shape;
    int batch;
    MW_TRY(read_batch_dims(infer, x, indices, x.rank, "the rank of x,", &batch));
    MW_TRY(mw__rule_nd(infer, "x", batch, &shape));
    return mw__rule_result(infer, mw__rule_dtype(infer, "x"), shape);
}

mw_tensor *mw_gather_nd(mw_tensor *x, mw_tensor *indices, int batch_dims)
{
    mw__build build = mw__build_begin("gather_nd", x);
    mw__build_set(&build, "x", x);
    mw__build_set(&build, "indices", indices);
    if (!build.failed && build.row->since >= MW_IOS16)
        mw__build_int(&build, "batch_dims", batch_dims);
    else if (!build.failed && batch_dims != 0)
        return mw__graph_fail(build.graph, MW_ERROR_UNSUPPORTED, "gather_nd: batch_dims %d needs ios16", batch_dims);
    return mw__build_end(&build);
}

/* ---- non_zero ---- */

mw_status mw__shape_non_zero(mw__infer *infer)
{
    const mw_shape x = mw__rule_shape(infer, "x");
    const mw_dtype dtype = mw__rule_dtype(infer, "x");
    const mw__payload *payload = mw__arg_payload(infer->op, "x");
    if (x.rank == 0)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "x is a scalar; it has no coordinates");
    if (dtype == MW_STRING)
        return mw__rule_fail(infer, MW_ERROR_DTYPE, "x is string, not numbers");
    int64_t count = payload != NULL ? 0 : MW_DIM_UNKNOWN;
    for (size_t i = 0; payload != NULL && i < mw__payload_count(payload); i++)
        count += mw__payload_float(payload, i) != 0.0;
    return mw__rule_result(infer, MW_I32, MW_SHAPE(count, x.rank));
}

mw_tensor *mw_non_zero(mw_tensor *x)
{
    mw__build build = mw__build_begin("non_zero", x);
    mw__build_set(&build, "x", x);
    return mw__build_end(&build);
}

/* ---- the embedding layer ---- */

mw_tensor *mw_embedding(mw_tensor *indices, int64_t count, int64_t dim, const char *name)
{
    MW__FLOAT_SCOPE;
    if (indices == NULL || indices->graph->error.status != MW_OK)
        return NULL;
    mw_graph *graph = indices->graph;
    if (name == NULL || name[0] == '\0')
        return mw__graph_fail(graph, MW_ERROR_ARGUMENT, "embedding: the name is empty");
    if (count < 1 || dim < 1)
        return mw__graph_fail(graph, MW_ERROR_ARGUMENT,
                              "embedding \"%s\": count %" PRId64 " and dim %" PRId64 " must be positive", name, count,
                              dim);
    if (!mw__arg_type_holds(MW__INT, mw_tensor_dtype(indices)))
        return mw__graph_fail(graph, MW_ERROR_DTYPE, "embedding \"%s\": indices are %s, not integers", name,
                              mw_dtype_name(mw_tensor_dtype(indices)));
    char parameter[MW_NAME_MAX + 1];
    const int length = snprintf(parameter, sizeof parameter, "%s.weight", name);
    if (length < 0 || (size_t)length >= sizeof parameter)
        return mw__graph_fail(graph, MW_ERROR_ARGUMENT, "embedding: the name is longer than %zu bytes",
                              sizeof parameter - sizeof ".weight");
    const char *outer = graph->scope;
    graph->scope = name;
    mw_tensor *weight = mw_parameter(graph, parameter, MW_F32, MW_SHAPE(count, dim), mw_init_normal(0, 1));
    mw_tensor *rows = weight != NULL ? mw_gather(weight, indices, 0) : NULL;
    graph->scope = outer;
    if (rows != NULL)
        mw__limit_indices(indices, count, NULL);
    return rows;
}

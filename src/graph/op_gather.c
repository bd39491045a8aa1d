/* Elements chosen by indices: shape rules and constructors of ops/gather.def. */
#include <millwright/op_gather.h>

#include "graph/rule.h"

#include <inttypes.h>

/* ---- one_hot ---- */

mw_status mw__shape_one_hot(mw__infer *infer)
{
    const mw_shape indices = mw__rule_shape(infer, "indices");
    const mw_dtype t = mw__op_dtype(infer->op);
    int64_t size, value;
    int axis;
    MW_TRY(mw__rule_int(infer, "one_hot_vector_size", &size));
    MW_TRY(mw__rule_int(infer, "axis", &value));
    MW_TRY(mw__rule_axis(infer, "axis", value, indices.rank + 1, &axis));
    if (size < 1)
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

/* ---- gather ---- */

/* Up to ios16 negative indices count from the end; from ios17 on they are out of bounds, which is an error only if the
 * operation is asked to validate. Indices that are computed are the device's business. */
static mw_status check_indices(const mw__infer *infer, int64_t extent)
{
    const mw__payload *payload = mw__arg_payload(infer->op, "indices");
    const bool newest = infer->op->row->since >= MW_IOS17;
    bool validate = !newest;
    if (newest)
        MW_TRY(mw__rule_bool(infer, "validate_indices", &validate));
    if (payload == NULL || extent < 0 || !validate)
        return MW_OK;
    const int64_t lowest = newest ? 0 : -extent;
    const size_t count = mw__payload_count(payload);
    for (size_t i = 0; i < count; i++) {
        const int64_t index = mw__payload_int(payload, i);
        if (index < lowest || index >= extent)
            return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "index %" PRId64 " is outside [%" PRId64 ", %" PRId64 ")",
                                 index, lowest, extent);
    }
    return MW_OK;
}

static mw_status read_batch_dims(const mw__infer *infer, mw_shape x, mw_shape indices, int axis, int *out)
{
    *out = 0;
    int64_t batch;
    if (mw__row_arg(infer->op->row, "batch_dims") == NULL)
        return MW_OK;
    MW_TRY(mw__rule_int(infer, "batch_dims", &batch));
    if (batch < 0 || batch > axis || batch > indices.rank)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT,
                             "batch_dims %" PRId64
                             " must be at least 0, at most axis %d and at most the rank %d of indices",
                             batch, axis, indices.rank);
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
    int64_t value;
    int axis, batch;
    MW_TRY(mw__rule_int(infer, "axis", &value));
    MW_TRY(mw__rule_axis(infer, "axis", value, x.rank, &axis));
    MW_TRY(read_batch_dims(infer, x, indices, axis, &batch));
    MW_TRY(check_indices(infer, x.dim[axis]));
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

mw_tensor *mw_gather(mw_tensor *x, mw_tensor *indices, int axis)
{
    mw__build build = mw__build_begin("gather", x);
    mw__build_set(&build, "x", x);
    mw__build_set(&build, "indices", indices);
    mw__build_int(&build, "axis", axis);
    return mw__build_end(&build);
}

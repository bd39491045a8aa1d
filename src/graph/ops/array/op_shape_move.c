/* Elements moved to other places: shape rules and constructors of the operations of ops/shape.def that are neither
 * views nor slices nor padding (op_shape.c, op_shape_part.c). */
#include <millwright/ops/shape.h>

#include "base/memory/checked.h"
#include "graph/ir/rule.h"

#include <inttypes.h>

/* ---- stack ---- */

static mw_status check_equal(const mw__infer *infer, mw_shape *shape, mw_shape next, size_t index)
{
    char first[200], other[200];
    bool fits = next.rank == shape->rank;
    for (int i = 0; fits && i < next.rank; i++) {
        fits = mw__dim_fits(shape->dim[i], next.dim[i]);
        if (shape->dim[i] == MW_DIM_UNKNOWN)
            shape->dim[i] = next.dim[i];
    }
    if (fits)
        return MW_OK;
    return mw__rule_fail(infer, MW_ERROR_SHAPE, "values[%zu] %s does not have the shape of values[0], %s", index,
                         mw__shape_print(next, other, sizeof other), mw__shape_print(*shape, first, sizeof first));
}

mw_status mw__shape_stack(mw__infer *infer)
{
    const mw__operand *values;
    const size_t count = mw__arg_values(infer->op, "values", &values);
    mw_shape one = mw_tensor_shape(values[0].value), shape;
    int axis;
    for (size_t i = 1; i < count; i++)
        MW_TRY(check_equal(infer, &one, mw_tensor_shape(values[i].value), i));
    if (one.rank == MW_RANK_MAX)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "the result would exceed rank %d", MW_RANK_MAX);
    shape = (mw_shape){.rank = one.rank + 1};
    MW_TRY(mw__rule_axis(infer, "axis", shape.rank, &axis));
    for (int i = 0, from = 0; i < shape.rank; i++)
        shape.dim[i] = i == axis ? (int64_t)count : one.dim[from++];
    return mw__rule_result(infer, mw_tensor_dtype(values[0].value), shape);
}

mw_tensor *mw_stack(mw_tensor *const *values, size_t count, int axis)
{
    if (values == NULL || count == 0)
        return NULL; /* no graph to leave an error on */
    mw__build build = mw__build_begin("stack", values[0]);
    mw__build_set_many(&build, "values", values, count);
    mw__build_int(&build, "axis", axis);
    return mw__build_end(&build);
}

/* ---- reverse ---- */

mw_status mw__shape_reverse(mw__infer *infer)
{
    const mw_shape x = mw__rule_shape(infer, "x");
    bool marks[MW_RANK_MAX];
    size_t count;
    MW_TRY(mw__rule_axes(infer, "axes", x.rank, marks, &count));
    return mw__rule_result(infer, mw__rule_dtype(infer, "x"), x);
}

mw_tensor *mw_reverse(mw_tensor *x, mw_axes axes)
{
    mw__build build = mw__build_begin("reverse", x);
    mw__build_set(&build, "x", x);
    if (axes.count != 0)
        mw__build_axes(&build, "axes", axes);
    return mw__build_end(&build);
}

/* ---- reverse_sequence ---- */

mw_status mw__shape_reverse_sequence(mw__infer *infer)
{
    const mw_shape x = mw__rule_shape(infer, "x"), lengths = mw__rule_shape(infer, "lengths");
    int seq, batch;
    char text[200];
    MW_TRY(mw__rule_axis(infer, "seq_axis", x.rank, &seq));
    MW_TRY(mw__rule_axis(infer, "batch_axis", x.rank, &batch));
    if (seq == batch)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "seq_axis and batch_axis are both %d; they must differ", seq);
    if (lengths.rank != 1 || !mw__dim_fits(lengths.dim[0], x.dim[batch]))
        return mw__rule_fail(infer, MW_ERROR_SHAPE,
                             "lengths %s must be a vector with the %" PRId64 " elements of axis %d of x",
                             mw__shape_print(lengths, text, sizeof text), x.dim[batch], batch);
    return mw__rule_result(infer, mw__rule_dtype(infer, "x"), x);
}

mw_tensor *mw_reverse_sequence(mw_tensor *x, mw_tensor *lengths, int seq_axis, int batch_axis)
{
    mw__build build = mw__build_begin("reverse_sequence", x);
    mw__build_set(&build, "x", x);
    mw__build_set(&build, "lengths", lengths);
    mw__build_int(&build, "seq_axis", seq_axis);
    mw__build_int(&build, "batch_axis", batch_axis);
    return mw__build_end(&build);
}

/* ---- sliding_windows ---- */

mw_status mw__shape_sliding_windows(mw__infer *infer)
{
    const mw_shape x = mw__rule_shape(infer, "x");
    int64_t size, stride;
    int axis;
    MW_TRY(mw__rule_axis(infer, "axis", x.rank, &axis));
    MW_TRY(mw__rule_int(infer, "size", &size));
    MW_TRY(mw__rule_int(infer, "stride", &stride));
    if (size < 1 || stride < 1)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "size %" PRId64 " and stride %" PRId64 " must be positive", size,
                             stride);
    if (x.dim[axis] >= 0 && size > x.dim[axis])
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "size %" PRId64 " exceeds the extent %" PRId64 " of axis %d", size,
                             x.dim[axis], axis);
    if (x.rank == MW_RANK_MAX)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "the result would exceed rank %d", MW_RANK_MAX);
    mw_shape shape = {.rank = x.rank + 1};
    for (int i = 0; i < shape.rank; i++)
        shape.dim[i] = x.dim[i <= axis ? i : i - 1];
    if (shape.dim[axis] >= 0)
        shape.dim[axis] = (shape.dim[axis] - size) / stride + 1;
    shape.dim[axis + 1] = size;
    return mw__rule_result(infer, mw__rule_dtype(infer, "x"), shape);
}

mw_tensor *mw_sliding_windows(mw_tensor *x, int axis, int64_t size, int64_t stride)
{
    mw__build build = mw__build_begin("sliding_windows", x);
    mw__build_set(&build, "x", x);
    mw__build_int(&build, "axis", axis);
    mw__build_int(&build, "size", size);
    mw__build_int(&build, "stride", stride);
    return mw__build_end(&build);
}

/* ---- band_part ---- */

mw_status mw__shape_band_part(mw__infer *infer)
{
    const mw_shape x = mw__rule_shape(infer, "x");
    int64_t value;
    if (x.rank < 2)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "x has rank %d, but matrices (rank 2 or more) are wanted", x.rank);
    MW_TRY(mw__rule_int(infer, "lower", &value));
    MW_TRY(mw__rule_int(infer, "upper", &value));
    return mw__rule_result(infer, mw__rule_dtype(infer, "x"), x);
}

mw_tensor *mw_band_part(mw_tensor *x, int64_t lower, int64_t upper)
{
    mw__build build = mw__build_begin("band_part", x);
    mw__build_set(&build, "x", x);
    mw__build_int(&build, "lower", lower);
    mw__build_int(&build, "upper", upper);
    return mw__build_end(&build);
}

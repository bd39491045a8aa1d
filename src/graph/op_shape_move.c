/* Elements moved to other places: shape rules and constructors of the operations of ops/shape.def that are neither
 * views nor slices nor padding (op_shape.c, op_shape_part.c). */
#include <millwright/op_shape.h>

#include "base/checked.h"
#include "graph/rule.h"

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
    int64_t value;
    int axis;
    for (size_t i = 1; i < count; i++)
        MW_TRY(check_equal(infer, &one, mw_tensor_shape(values[i].value), i));
    if (one.rank == MW_RANK_MAX)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "the result would exceed rank %d", MW_RANK_MAX);
    shape = (mw_shape){.rank = one.rank + 1};
    MW_TRY(mw__rule_int(infer, "axis", &value));
    MW_TRY(mw__rule_axis(infer, "axis", value, shape.rank, &axis));
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

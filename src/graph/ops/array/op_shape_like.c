/* Shapes taken from tensors: shape rules and constructors of flatten2d, reshape_like, shape and fill_like. */
#include <millwright/ops/shape.h>

#include "base/memory/checked.h"
#include "base/number/float_mode.h"
#include "graph/ir/rule.h"

#include <inttypes.h>

/* ---- flatten2d ---- */

/* Unknown if one of them is; false if the product exceeds 2^63. */
static bool product(mw_shape shape, int from, int to, int64_t *out)
{
    mw_shape part = {.rank = 0};
    for (int i = from; i < to; i++)
        part.dim[part.rank++] = shape.dim[i];
    *out = mw_shape_count(part);
    for (int i = 0; *out < 0 && i < part.rank; i++)
        if (part.dim[i] == MW_DIM_UNKNOWN)
            return true;
    return *out >= 0;
}

mw_status mw__shape_flatten2d(mw__infer *infer)
{
    const mw_shape x = mw__rule_shape(infer, "x");
    mw_shape shape = {.rank = 2};
    int64_t axis;
    MW_TRY(mw__rule_int(infer, "axis", &axis));
    if (axis < -x.rank || axis > x.rank)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "axis %" PRId64 " is outside [%d, %d]", axis, -x.rank, x.rank);
    const int cut = (int)(axis < 0 ? axis + x.rank : axis);
    if (!product(x, 0, cut, &shape.dim[0]) || !product(x, cut, x.rank, &shape.dim[1]))
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "an extent of the result exceeds 2^63");
    return mw__rule_result(infer, mw__rule_dtype(infer, "x"), shape);
}

mw_tensor *mw_flatten2d(mw_tensor *x, int axis)
{
    mw__build build = mw__build_begin("flatten2d", x);
    mw__build_set(&build, "x", x);
    mw__build_int(&build, "axis", axis);
    return mw__build_end(&build);
}

/* ---- reshape_like ---- */

/* Member `index` of a tuple of constants. */
static mw_status read_member(const mw__infer *infer, const char *arg, size_t index, size_t count, int64_t *out)
{
    const mw__operand *values;
    if (mw__arg_values(infer->op, arg, &values) != count)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "%s has %zu members, ref_tensors %zu", arg,
                             mw__arg_values(infer->op, arg, &values), count);
    const mw__payload *payload = values[index].value->payload;
    if (payload == NULL || payload->data == NULL || mw__payload_count(payload) != 1)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "%s[%zu] must be one constant", arg, index);
    *out = mw__payload_int(payload, 0);
    return MW_OK;
}

/* Appends extents [begin, end) of one reference. */
static mw_status append_part(const mw__infer *infer, size_t index, size_t count, mw_shape ref, mw_shape *shape)
{
    int64_t begin = 0, end = 0, open = 0;
    MW_TRY(read_member(infer, "begins", index, count, &begin));
    MW_TRY(read_member(infer, "ends", index, count, &end));
    MW_TRY(read_member(infer, "end_masks", index, count, &open));
    begin += begin < 0 ? ref.rank : 0;
    end = open != 0 ? ref.rank : end < 0 ? end + ref.rank : end;
    if (begin < 0 || end > ref.rank || begin > end)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT,
                             "axes %" PRId64 " to %" PRId64 " of ref_tensors[%zu], which has rank %d", begin, end,
                             index, ref.rank);
    if (shape->rank + (end - begin) > MW_RANK_MAX)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "the result would exceed rank %d", MW_RANK_MAX);
    for (int64_t i = begin; i < end; i++)
        shape->dim[shape->rank++] = ref.dim[i];
    return MW_OK;
}

mw_status mw__shape_reshape_like(mw__infer *infer)
{
    const mw__operand *refs;
    const size_t count = mw__arg_values(infer->op, "ref_tensors", &refs);
    mw_shape shape = {.rank = 0};
    char x[240], text[200];
    for (size_t i = 0; i < count; i++)
        MW_TRY(append_part(infer, i, count, mw_tensor_shape(refs[i].value), &shape));
    const int64_t have = mw_shape_count(mw__rule_shape(infer, "x")), want = mw_shape_count(shape);
    if (have >= 0 && want >= 0 && have != want)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "%s does not have the elements of shape %s",
                             mw__arg_print(infer->op, "x", x, sizeof x), mw__shape_print(shape, text, sizeof text));
    return mw__rule_result(infer, mw__rule_dtype(infer, "x"), shape);
}

/* ---- shape ---- */

mw_status mw__shape_shape(mw__infer *infer)
{
    return mw__rule_result(infer, MW_I32, MW_SHAPE(mw__rule_shape(infer, "x").rank));
}

mw_tensor *mw_shape_of(mw_tensor *x)
{
    mw__build build = mw__build_begin("shape", x);
    mw__build_set(&build, "x", x);
    return mw__build_end(&build);
}

/* ---- fill_like ---- */

mw_status mw__shape_fill_like(mw__infer *infer)
{
    const bool given = mw__arg_present(infer->op, "value");
    if (given && mw_shape_count(mw__rule_shape(infer, "value")) != 1)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "value must be a scalar");
    return mw__rule_result(infer, given ? mw__rule_dtype(infer, "value") : MW_F32, mw__rule_shape(infer, "ref_tensor"));
}

mw_tensor *mw_fill_like(mw_tensor *ref, mw_dtype dtype, double value)
{
    MW__FLOAT_SCOPE;
    mw__build build = mw__build_begin("fill_like", ref);
    mw__build_set(&build, "ref_tensor", ref);
    mw__build_scalar(&build, "value", dtype, value);
    return mw__build_end(&build);
}

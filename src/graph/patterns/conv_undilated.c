/* The kernel under one that mw__conv_dilate_weight has spread with zeros: for formats that say dilations of any weight,
 * also of one that is computed. */
#include "base/memory/checked.h"
#include "graph/ir/rule.h"
#include "graph/patterns/conv.h"

#include <string.h>

/* What the operation `kind` that made the value takes; NULL if another did. */
static const mw_tensor *operand_of(const mw_tensor *value, const char *kind)
{
    return value != NULL && value->op != NULL && strcmp(value->op->kind, kind) == 0 ? mw__arg(value->op, "x") : NULL;
}

static bool has_ints(const mw__op *op, const char *name, const int64_t *wanted, size_t count)
{
    int64_t values[2 * MW_RANK_MAX];
    size_t found = 0;
    return mw__arg_ints(op, name, values, 2 * MW_RANK_MAX, &found) && found == count &&
           memcmp(values, wanted, count * sizeof *wanted) == 0;
}

/* step - 1 zeros after each element. */
static bool pads_by(const mw_tensor *padded, int64_t step)
{
    double fill = 1.0;
    const char *mode = mw__arg_string(padded->op, "mode");
    return has_ints(padded->op, "pad", (const int64_t[]){0, step - 1, 0, 0}, 4) && mode != NULL &&
           strcmp(mode, "constant") == 0 && mw__arg_float(padded->op, "constant_val", &fill) && fill == 0.0;
}

/* Without the zeros along one axis, whose step is put into *out_step; the value itself if there are none. */
static const mw_tensor *below_axis(const mw_tensor *value, int axis, int64_t *out_step)
{
    const mw_tensor *padded = operand_of(value, "reshape"), *apart = operand_of(padded, "pad");
    const mw_tensor *inner = operand_of(apart, "reshape");
    *out_step = 1;
    if (inner == NULL)
        return value;
    mw_shape shape = mw_tensor_shape(inner);
    const mw_shape wide = mw_tensor_shape(value);
    if (shape.rank != wide.rank || mw_shape_count(shape) < 1 || wide.dim[axis] % shape.dim[axis] != 0)
        return value;
    const int64_t step = wide.dim[axis] / shape.dim[axis];
    const mw_shape parts = MW_SHAPE(shape.dim[0], mw__shape_span(shape, 1, axis), shape.dim[axis], 1,
                                    mw__shape_span(shape, axis + 1, shape.rank));
    shape.dim[axis] *= step;
    if (step < 2 || !mw_shape_equal(shape, wide) || !mw_shape_equal(mw_tensor_shape(apart), parts) ||
        !pads_by(padded, step))
        return value;
    *out_step = step;
    return inner;
}

const mw_tensor *mw__conv_undilated(const mw_tensor *wide, int64_t *out_dilation)
{
    static const int64_t none[MW_RANK_MAX] = {0};
    const mw_shape shape = mw_tensor_shape(wide);
    const mw_tensor *value = operand_of(wide, "slice_by_size");
    const int axes = shape.rank - 2;
    if (value == NULL || axes < 1 || axes > MW__CONV_AXES || mw_shape_count(shape) < 1 ||
        !has_ints(wide->op, "begin", none, (size_t)shape.rank))
        return NULL;
    for (int i = axes - 1; i >= 0; i--)
        value = below_axis(value, i + 2, &out_dilation[i]);
    mw_shape narrow = mw_tensor_shape(value);
    for (int i = 0; i < axes && narrow.rank == shape.rank; i++)
        narrow.dim[i + 2] = (narrow.dim[i + 2] - 1) * out_dilation[i] + 1;
    return mw_shape_equal(narrow, shape) ? value : NULL;
}

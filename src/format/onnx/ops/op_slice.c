/* Parts and borders. */
#include "base/number/integer.h"
#include "format/onnx/read/import.h"

#include <millwright/ops/compare.h>
#include <millwright/ops/elementwise.h>
#include <millwright/ops/shape.h>

#include <math.h>
#include <string.h>

/* ---- slice ---- */

typedef struct slice_numbers {
    int64_t starts[MW_RANK_MAX], ends[MW_RANK_MAX], axes[MW_RANK_MAX], steps[MW_RANK_MAX];
    size_t count;
} slice_numbers;

static mw_status read_optional(mw__onnx_node *node, const char *name, size_t index, int64_t *out, size_t wanted,
                               bool ascending)
{
    size_t count;
    MW_TRY(mw__onnx_ints_or_input(node, 10, name, index, out, MW_RANK_MAX, &count));
    for (size_t i = 0; count == 0 && i < wanted; i++)
        out[i] = ascending ? (int64_t)i : 1;
    return count == 0 || count == wanted ? MW_OK : mw__onnx_refuse(node, "%zu %s for %zu starts", count, name, wanted);
}

static mw_status read_numbers(mw__onnx_node *node, slice_numbers *out)
{
    size_t ends;
    MW_TRY(mw__onnx_ints_or_input(node, 10, "starts", 1, out->starts, MW_RANK_MAX, &out->count));
    MW_TRY(mw__onnx_ints_or_input(node, 10, "ends", 2, out->ends, MW_RANK_MAX, &ends));
    if (ends != out->count)
        return mw__onnx_refuse(node, "%zu ends for %zu starts", ends, out->count);
    MW_TRY(read_optional(node, "axes", 3, out->axes, out->count, true));
    return read_optional(node, "steps", 4, out->steps, out->count, false);
}

/* What Python's x[start:end:step] takes of an axis, with nothing left to interpret. */
static void take_slice(int64_t extent, int64_t start, int64_t end, int64_t step, mw_slice *out)
{
    const bool forward = step > 0;
    start += start < 0 ? extent : 0;
    end += end < 0 ? extent : 0;
    start = forward ? mw__i64_clamp(start, 0, extent) : mw__i64_clamp(start, 0, extent - 1);
    end = forward ? mw__i64_clamp(end, 0, extent) : mw__i64_clamp(end, -1, extent - 1);
    if (forward && end < start)
        end = start;
    if (!forward && end > start)
        end = start;
    *out = (mw_slice){.begin = start, .end = end, .stride = step};
    if (!forward && end < 0) /* down to the first element */
        *out = (mw_slice){.begin = start, .stride = step, .to_end = true};
}

mw_status mw__onnx_slice(mw__onnx_node *node)
{
    slice_numbers numbers;
    mw_slice slices[MW_RANK_MAX] = {{0}};
    const mw_shape x = mw__onnx_shape(node, 0);
    MW_TRY(read_numbers(node, &numbers));
    for (int i = 0; i < x.rank; i++)
        slices[i] = (mw_slice){.from_start = true, .to_end = true};
    for (size_t i = 0; i < numbers.count; i++) {
        int axis;
        MW_TRY(mw__onnx_axis(node, numbers.axes[i], x.rank, &axis));
        const int64_t step = mw__i64_clamp(numbers.steps[i], -INT32_MAX, INT32_MAX);
        if (step == 0)
            return mw__onnx_refuse(node, "a step of 0");
        take_slice(x.dim[axis], numbers.starts[i], numbers.ends[i], step, &slices[axis]);
        if (x.dim[axis] == 0)
            slices[axis] = (mw_slice){.from_start = true, .to_end = true};
    }
    return mw__onnx_set(node, 0, mw__onnx_type(node, 0), mw_slice_by_index(mw__onnx_in(node, 0), slices));
}

/* ---- pad ---- */

/* The numbers before and after each axis; `pads` lists those before all axes first. */
static mw_status read_pads(mw__onnx_node *node, int rank, int64_t *pad)
{
    int64_t list[2 * MW_RANK_MAX], axes[MW_RANK_MAX];
    size_t count, axis_count = 0;
    MW_TRY(mw__onnx_ints_or_input(node, 11, "pads", 1, list, 2 * MW_RANK_MAX, &count));
    if (mw__onnx_has(node, 3))
        MW_TRY(mw__onnx_known_ints(node, 3, axes, MW_RANK_MAX, &axis_count));
    for (int i = 0; axis_count == 0 && i < rank; i++)
        axes[i] = i;
    axis_count = axis_count == 0 ? (size_t)rank : axis_count;
    if (count != 2 * axis_count)
        return mw__onnx_refuse(node, "%zu pads for %zu axes", count, axis_count);
    for (size_t i = 0; i < axis_count; i++) {
        int axis;
        MW_TRY(mw__onnx_axis(node, axes[i], rank, &axis));
        pad[2 * axis] = list[i];
        pad[2 * axis + 1] = list[axis_count + i];
    }
    for (int i = 0; i < 2 * rank; i++)
        if (pad[i] < -INT32_MAX || pad[i] > INT32_MAX)
            return mw__onnx_refuse(node, "a border of %lld", (long long)pad[i]);
    return MW_OK;
}

/* Negative borders take away, and are then none. */
static mw_status cut_borders(mw__onnx_node *node, mw_shape shape, int64_t *pad, mw_tensor **x)
{
    mw_slice slices[MW_RANK_MAX] = {{0}};
    bool any = false;
    for (int i = 0; i < shape.rank; i++) {
        const int64_t before = pad[2 * i] < 0 ? -pad[2 * i] : 0, after = pad[2 * i + 1] < 0 ? -pad[2 * i + 1] : 0;
        if (before + after > shape.dim[i])
            return mw__onnx_refuse(node, "its borders take more than there is");
        slices[i] = (mw_slice){.begin = before, .end = shape.dim[i] - after};
        pad[2 * i] += before;
        pad[2 * i + 1] += after;
        any = any || before + after > 0;
    }
    if (any)
        *x = mw_slice_by_index(*x, slices);
    return MW_OK;
}

static mw_status read_value(mw__onnx_node *node, double *out)
{
    size_t count = 0;
    *out = node->opset < 11 ? mw__onnx_float(node, "value", 0) : 0;
    if (node->opset < 11 || !mw__onnx_has(node, 2))
        return MW_OK;
    MW_TRY(mw__onnx_known_floats(node, 2, out, 1, &count));
    return count == 1 ? MW_OK : mw__onnx_refuse(node, "its value is not one number");
}

/* MIL pads the last axes of floating-point tensors; from the first one on that has a border. */
static mw_tensor *add_border(mw_tensor *x, const int64_t *pad, mw_pad_mode mode, double value, int type)
{
    const int rank = x != NULL ? mw_tensor_shape(x).rank : 0;
    int first = 0;
    while (first < rank && pad[2 * first] == 0 && pad[2 * first + 1] == 0)
        first++;
    if (first == rank)
        return x;
    const mw_dtype dtype = mw__onnx_is_float(type) ? mw__onnx_dtype(type) : MW_F32;
    mw_tensor *padded = mw_pad(mw__onnx_to(x, dtype), pad + 2 * (size_t)first, rank - first, mode, (float)value);
    return mw__onnx_to(padded, mw__onnx_dtype(type));
}

mw_status mw__onnx_pad(mw__onnx_node *node)
{
    int64_t pad[2 * MW_RANK_MAX] = {0};
    double value;
    const mw_shape shape = mw__onnx_shape(node, 0);
    const int type = mw__onnx_type(node, 0);
    MW_TRY(read_pads(node, shape.rank, pad));
    MW_TRY(read_value(node, &value));
    const bool reflect = mw__onnx_is(node, "mode", "reflect"), edge = mw__onnx_is(node, "mode", "edge");
    if (!reflect && !edge && mw__onnx_attribute(node, "mode") != NULL && !mw__onnx_is(node, "mode", "constant"))
        return mw__onnx_refuse(node, "its mode is not constant, reflect or edge");
    if (mw__onnx_is_integer(type) && fabs(value) > 1 << 24)
        return mw__onnx_refuse(node, "integers of more than 24 bits are not supported");
    mw_tensor *x = mw__onnx_in(node, 0);
    MW_TRY(cut_borders(node, shape, pad, &x));
    const mw_pad_mode mode = reflect ? MW_PAD_REFLECT : edge ? MW_PAD_REPLICATE : MW_PAD_CONSTANT;
    return mw__onnx_set(node, 0, type, add_border(x, pad, mode, value, type));
}

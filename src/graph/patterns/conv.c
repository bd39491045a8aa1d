/* The compact forms of convolution and its gradients, and what both forms share. The forms for chips are in
 * conv_decomposed.c. */
#include "graph/patterns/conv.h"

#include "base/memory/checked.h"
#include "graph/ir/rule.h"
#include "graph/patterns/conv_decomposed.h"
#include <millwright/ops/conv.h>
#include <millwright/ops/elementwise.h>
#include <millwright/ops/reduce.h>
#include <millwright/ops/shape.h>

#include <inttypes.h>

/* ---- pieces ---- */

mw_tensor *mw__conv_fit(mw_tensor *x, int axes, const int64_t *before, const int64_t *after)
{
    mw_shape shape = mw_tensor_shape(x);
    int64_t pad[2 * MW__CONV_AXES], begin[MW_RANK_MAX] = {0};
    bool grows = false, shrinks = false;
    if (x == NULL)
        return NULL;
    for (int i = 0; i < axes; i++) {
        const int at = shape.rank - axes + i;
        pad[2 * i] = before[i] > 0 ? before[i] : 0;
        pad[2 * i + 1] = after[i] > 0 ? after[i] : 0;
        begin[at] = before[i] < 0 ? -before[i] : 0;
        shape.dim[at] += before[i] + after[i];
        grows = grows || before[i] > 0 || after[i] > 0;
        shrinks = shrinks || before[i] < 0 || after[i] < 0;
    }
    if (grows)
        x = mw_pad(x, pad, axes, MW_PAD_CONSTANT, 0.0f);
    return shrinks ? mw_slice_by_size(x, begin, shape.dim) : x;
}

/* step - 1 zeros after every element along one axis: [A, B, extent, 1, rest] has rank 5, which chips allow. */
static mw_tensor *spread_axis(mw_tensor *x, int axis, int64_t step)
{
    mw_shape shape = mw_tensor_shape(x);
    const int64_t middle = mw__shape_span(shape, 1, axis), rest = mw__shape_span(shape, axis + 1, shape.rank);
    mw_tensor *apart = mw__reshape_to(x, MW_SHAPE(shape.dim[0], middle, shape.dim[axis], 1, rest));
    mw_tensor *wide = mw_pad(apart, (const int64_t[]){0, step - 1, 0, 0}, 2, MW_PAD_CONSTANT, 0.0f);
    shape.dim[axis] *= step;
    return mw__reshape_to(wide, shape);
}

/* The same along the spatial axes of [.., .., *S]. */
static mw_tensor *spread_axes(mw_tensor *x, int axes, const int64_t *step)
{
    for (int i = 0; i < axes; i++)
        if (step[i] > 1)
            x = spread_axis(x, i + 2, step[i]);
    return x;
}

/* Spreading multiplies extents, so they must be known and stay in int32. */
static bool check_dilated(mw_tensor *weight, int axis, int64_t dilation)
{
    const mw_shape shape = mw_tensor_shape(weight);
    const int64_t extent = shape.dim[2 + axis];
    char text[200];
    int64_t wide;
    if (dilation < 1)
        mw__graph_fail(weight->graph, MW_ERROR_ARGUMENT, "conv: dilation %" PRId64 " of spatial axis %d is below 1",
                       dilation, axis);
    else if (mw_shape_count(shape) < 0)
        mw__graph_fail(weight->graph, MW_ERROR_SHAPE,
                       "conv: a weight %s that is computed can be dilated only if every extent is known",
                       mw__shape_print(shape, text, sizeof text));
    else if (extent == 0)
        mw__graph_fail(weight->graph, MW_ERROR_SHAPE, "conv: the kernel has extent 0 on spatial axis %d", axis);
    else if (!mw__mul_i64(extent, dilation, &wide) || wide > INT32_MAX)
        mw__graph_fail(weight->graph, MW_ERROR_SHAPE,
                       "conv: the kernel of spatial axis %d, %" PRId64 " with dilation %" PRId64 ", is too wide", axis,
                       extent, dilation);
    return weight->graph->error.status == MW_OK;
}

mw_tensor *mw__conv_dilate_weight(mw_tensor *weight, const int64_t *dilation)
{
    const int axes = mw_tensor_shape(weight).rank - 2;
    static const int64_t none[MW__CONV_AXES] = {0};
    int64_t after[MW__CONV_AXES] = {0};
    if (weight == NULL || axes < 1 || axes > MW__CONV_AXES)
        return weight; /* refused by the shape rule of conv */
    for (int i = 0; i < axes; i++) {
        if (!check_dilated(weight, i, dilation[i]))
            return NULL;
        after[i] = 1 - dilation[i];
    }
    const mw__composite record = {.name = "conv_dilate", .inputs = &weight, .input_count = 1, .spread = true};
    return mw__composite_attach(mw__conv_fit(spread_axes(weight, axes, dilation), axes, none, after), &record);
}

mw_tensor *mw__conv_undilate_gradient(mw_tensor *dy, const mw_tensor *weight)
{
    const mw_shape narrow = mw_tensor_shape(weight), wide = mw_tensor_shape(dy);
    const mw__composite *made = dy->composite;
    mw_slice slices[MW_RANK_MAX];
    if (made != NULL && made->spread && mw_shape_equal(mw_tensor_shape(made->inputs[0]), narrow))
        return made->inputs[0];
    for (int i = 0; i < narrow.rank; i++) {
        const int64_t gaps = narrow.dim[i] - 1;
        slices[i] = (mw_slice){.from_start = true, .to_end = true, .stride = gaps > 0 ? (wide.dim[i] - 1) / gaps : 1};
    }
    return mw_slice_by_index(dy, slices);
}

/* [A, B, *S] -> [B, A, *S] within each of `groups` groups of A: [G A', B, *S] -> [G B, A', *S]. */
static mw_tensor *swap_channels(mw_tensor *x, int64_t groups)
{
    mw_shape shape = mw_tensor_shape(x);
    const int64_t a = shape.dim[0], b = shape.dim[1];
    if (groups == 1) {
        mw_axes perm = {.count = shape.rank, .axis = {1, 0, 2, 3, 4, 5, 6, 7}};
        return mw_transpose(x, perm);
    }
    const int64_t rest = a * b != 0 ? mw_shape_count(shape) / (a * b) : 0;
    mw_tensor *apart = mw__reshape_to(x, MW_SHAPE(groups, a / groups, b, rest));
    shape.dim[0] = groups * b;
    shape.dim[1] = a / groups;
    return mw__reshape_to(mw_transpose(apart, MW_AXES(0, 2, 1, 3)), shape);
}

/* The kernel read from its end. */
static mw_tensor *reverse_kernel(const mw__conv *conv, mw_tensor *weight)
{
    mw_axes axes = {0};
    for (int i = 0; i < conv->axes; i++)
        if (conv->kernel[i] > 1)
            axes.axis[axes.count++] = i + 2;
    return axes.count > 0 ? mw_reverse(weight, axes) : weight;
}

/* ---- y ---- */

/* Custom borders cannot leave out elements at the end; those that a further window would reach are cut off. */
static mw_tensor *native_y(const mw__conv *conv, mw_tensor *x, mw_tensor *weight)
{
    mw_conv_options options = mw_conv_defaults();
    int64_t after[MW__CONV_AXES];
    bool cut = false, border = false;
    for (int i = 0; i < conv->axes; i++) {
        after[i] = mw__conv_after(conv, i);
        cut = cut || after[i] <= -conv->stride[i];
        border = border || after[i] > 0 || conv->before[i] > 0;
    }
    if (cut)
        x = mw__conv_fit(x, conv->axes, conv->before, after);
    for (int i = 0; i < conv->axes; i++) {
        options.stride[i] = conv->stride[i];
        options.dilation[i] = conv->dilation[i];
        options.pad[2 * i] = cut ? 0 : conv->before[i];
        options.pad[2 * i + 1] = cut || after[i] < 0 ? 0 : after[i];
    }
    options.groups = conv->groups;
    options.pad_type = cut || !border ? MW_PAD_VALID : MW_PAD_CUSTOM;
    return mw_conv(x, weight, NULL, &options);
}

static bool is_decomposed(const mw_tensor *x) { return x->graph->lowering == MW__LOWERING_DECOMPOSED; }

mw_tensor *mw__conv_narrow(mw__conv *conv, mw_tensor *weight)
{
    int64_t dilation[MW__CONV_AXES];
    const mw__composite *record = weight->composite;
    if (!is_decomposed(weight) || record == NULL || !record->spread || mw__conv_undilated(weight, dilation) == NULL)
        return weight;
    for (int i = 0; i < conv->axes; i++) {
        conv->kernel[i] = mw_tensor_shape(record->inputs[0]).dim[i + 2];
        conv->dilation[i] = dilation[i];
    }
    return record->inputs[0];
}

mw_tensor *mw__conv_y(const mw__conv *conv, mw_tensor *x, mw_tensor *weight)
{
    if (x == NULL || weight == NULL)
        return NULL;
    if (!is_decomposed(x) || mw__is_constant(weight))
        return native_y(conv, x, weight);
    mw__conv narrow = *conv;
    weight = mw__conv_narrow(&narrow, weight);
    return mw__conv_decomposed_y(&narrow, x, weight);
}

/* ---- dx ---- */

/* With a constant weight: conv_transpose, then zeros for elements at the end that no window reaches. False if nothing
 * but such elements are left. */
static bool fits_transpose(const mw__conv *conv)
{
    for (int i = 0; i < conv->axes; i++)
        if (conv->in[i] + mw__conv_after(conv, i) < 1)
            return false;
    return true;
}

static mw_tensor *transposed_dx(const mw__conv *conv, mw_tensor *dy, mw_tensor *weight)
{
    static const int64_t none[MW__CONV_AXES] = {0};
    mw_conv_options options = mw_conv_defaults();
    int64_t rest[MW__CONV_AXES];
    for (int i = 0; i < conv->axes; i++) {
        const int64_t after = mw__conv_after(conv, i);
        options.stride[i] = conv->stride[i];
        options.dilation[i] = conv->dilation[i];
        options.pad[2 * i] = conv->before[i];
        options.pad[2 * i + 1] = after > 0 ? after : 0;
        rest[i] = after < 0 ? -after : 0;
    }
    options.groups = conv->groups;
    options.pad_type = MW_PAD_CUSTOM;
    return mw__conv_fit(mw_conv_transpose(dy, weight, NULL, &options), conv->axes, none, rest);
}

/* The convolution of dy, spread by the stride, with the reversed kernel. */
static mw_tensor *spread_dx(const mw__conv *conv, mw_tensor *dy, mw_tensor *weight)
{
    mw__conv back = *conv;
    int64_t before[MW__CONV_AXES], after[MW__CONV_AXES];
    bool cut = false;
    for (int i = 0; i < conv->axes; i++) {
        back.stride[i] = 1;
        back.in[i] = conv->out[i] * conv->stride[i];
        back.out[i] = conv->in[i];
        back.before[i] = before[i] = mw__conv_cover(conv, i) - 1 - conv->before[i];
        after[i] = conv->in[i] + conv->before[i] - back.in[i];
        cut = cut || before[i] < 0;
    }
    dy = spread_axes(dy, conv->axes, conv->stride);
    if (cut)
        dy = mw__conv_fit(dy, conv->axes, before, after);
    for (int i = 0; cut && i < conv->axes; i++) {
        back.in[i] += before[i] + after[i];
        back.before[i] = 0;
    }
    mw_tensor *kernel = reverse_kernel(conv, weight);
    return mw__conv_y(&back, dy, swap_channels(kernel, conv->groups));
}

/* The gradients of what is spread would multiply its zeros, too. */
mw_tensor *mw__conv_dx(const mw__conv *conv, mw_tensor *dy, mw_tensor *weight)
{
    if (dy == NULL || weight == NULL)
        return NULL;
    if (mw__is_constant(weight) && fits_transpose(conv))
        return transposed_dx(conv, dy, weight);
    mw__conv narrow = *conv;
    weight = mw__conv_narrow(&narrow, weight);
    mw_tensor *inputs[] = {dy, weight};
    const mw__composite record = {.name = "conv_transpose", .inputs = inputs, .input_count = 2, .transposed = &narrow};
    mw_tensor *dx = spread_dx(&narrow, dy, weight);
    return dx != NULL ? mw__composite_attach(dx, &record) : NULL;
}

/* ---- dweight ---- */

/* [N, G C', *S] -> [C', G N, *S]: every channel of a group is an example, every example a channel. */
static mw_tensor *examples_as_channels(mw_tensor *x, int64_t groups)
{
    if (groups == 1)
        return swap_channels(x, 1);
    mw_shape shape = mw_tensor_shape(x);
    const int64_t n = shape.dim[0], c = shape.dim[1], rest = n * c != 0 ? mw_shape_count(shape) / (n * c) : 0;
    mw_tensor *apart = mw__reshape_to(x, MW_SHAPE(n, groups, c / groups, rest));
    shape.dim[0] = c / groups;
    shape.dim[1] = groups * n;
    return mw__reshape_to(mw_transpose(apart, MW_AXES(2, 1, 0, 3)), shape);
}

/* A convolution of x with dy as its kernel: strides and dilations change places. */
static mw_tensor *native_dweight(const mw__conv *conv, mw_tensor *x, mw_tensor *dy)
{
    mw__conv over = *conv;
    for (int i = 0; i < conv->axes; i++) {
        over.kernel[i] = conv->out[i];
        over.out[i] = conv->kernel[i];
        over.stride[i] = conv->dilation[i];
        over.dilation[i] = conv->stride[i];
    }
    mw_tensor *signal = examples_as_channels(x, conv->groups);
    return swap_channels(native_y(&over, signal, swap_channels(dy, 1)), 1);
}

mw_tensor *mw__conv_dweight(const mw__conv *conv, mw_tensor *x, mw_tensor *dy)
{
    if (x == NULL || dy == NULL)
        return NULL;
    return is_decomposed(x) ? mw__conv_decomposed_dweight(conv, x, dy) : native_dweight(conv, x, dy);
}

/* ---- bias ---- */

mw_tensor *mw__conv_dbias(mw_tensor *dy)
{
    if (dy == NULL)
        return NULL;
    if (is_decomposed(dy))
        return mw__conv_decomposed_dbias(dy);
    const mw_axes axes = {.count = mw_tensor_shape(dy).rank - 1, .axis = {0, 2, 3, 4, 5, 6, 7}};
    return mw_reduce_sum(dy, axes, false);
}

mw_tensor *mw__conv_add_bias(mw_tensor *y, mw_tensor *bias)
{
    if (y == NULL || bias == NULL)
        return NULL;
    mw_shape shape = {.rank = mw_tensor_shape(y).rank, .dim = {1, -1, 1, 1, 1, 1, 1, 1}};
    if (mw_tensor_shape(bias).rank == 1)
        shape.dim[1] = mw_tensor_shape(bias).dim[0];
    return mw_add(y, mw__reshape_to(bias, shape));
}

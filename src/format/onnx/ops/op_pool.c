/* Pooling. */
#include "format/onnx/window.h"

#include <millwright/ops/elementwise.h>
#include <millwright/ops/pool.h>
#include <millwright/ops/reduce.h>
#include <millwright/ops/shape.h>

#include <math.h>
#include <string.h>

static bool is_square_padding(const mw__onnx_window *window)
{
    for (int i = 0; i < window->axes; i++)
        if (window->pad[2 * i] != window->pad[2 * i + 1])
            return false;
    return true;
}

static mw_pool_options options_of(const mw__onnx_window *window)
{
    mw_shape kernel = {.rank = window->axes};
    memcpy(kernel.dim, window->kernel, sizeof window->kernel);
    mw_pool_options options = mw_pool_defaults(kernel);
    memcpy(options.stride, window->stride, sizeof options.stride);
    for (int i = window->axes; i < MW__ONNX_SPATIAL_MAX; i++)
        options.stride[i] = 1;
    options.ceil_mode = window->ceil_mode;
    if (mw__onnx_window_pads(window)) {
        options.pad_type = MW_PAD_CUSTOM;
        memcpy(options.pad, window->pad, sizeof window->pad);
    }
    return options;
}

static bool is_dilated(const mw__onnx_window *window)
{
    for (int i = 0; i < window->axes; i++)
        if (window->dilation[i] != 1)
            return true;
    return false;
}

static mw_status read_window(mw__onnx_node *node, mw__onnx_window *window)
{
    MW_TRY(mw__onnx_window_read(node, mw__onnx_shape(node, 0), NULL, window));
    if (window->ceil_mode && (window->axes > 2 || !is_square_padding(window)))
        return mw__onnx_refuse(node, "ceil_mode is supported with one or two axes of equal padding only");
    if (is_dilated(window) && window->ceil_mode)
        return mw__onnx_refuse(node, "ceil_mode together with dilations is not supported");
    return MW_OK;
}

/* ---- a dilated window, as the elements that it takes of each axis, one axis after the other ---- */

/* The largest of x[o s + k d] over k along one axis: strided slices, joined by maximum. */
static mw_tensor *max_along(mw_tensor *x, int axis, int64_t kernel, int64_t stride, int64_t dilation)
{
    if (x == NULL)
        return NULL;
    const mw_shape shape = mw_tensor_shape(x);
    const int64_t count = (shape.dim[axis] - (kernel - 1) * dilation - 1) / stride + 1;
    mw_tensor *largest = NULL;
    for (int64_t k = 0; k < kernel; k++) {
        mw_slice slices[MW_RANK_MAX] = {{0}};
        for (int i = 0; i < shape.rank; i++)
            slices[i] = (mw_slice){.from_start = true, .to_end = true};
        slices[axis] = (mw_slice){k * dilation, k * dilation + (count - 1) * stride + 1, stride, false, false, false};
        mw_tensor *part = mw_slice_by_index(x, slices);
        largest = largest == NULL ? part : mw_maximum(largest, part);
    }
    return largest;
}

static mw_status dilated_max_pool(mw__onnx_node *node, const mw__onnx_window *window)
{
    mw_tensor *x = mw__onnx_in(node, 0);
    if (mw__onnx_window_pads(window))
        x = mw_pad(x, window->pad, window->axes, MW_PAD_CONSTANT, -INFINITY);
    for (int i = 0; i < window->axes; i++) {
        const int64_t extent = x != NULL ? mw_tensor_shape(x).dim[2 + i] : 0;
        if (window->kernel[i] > 256 || (window->kernel[i] - 1) * window->dilation[i] + 1 > extent)
            return mw__onnx_refuse(node, "a dilated window of %lld elements over %lld", (long long)window->kernel[i],
                                   (long long)extent);
        x = max_along(x, 2 + i, window->kernel[i], window->stride[i], window->dilation[i]);
    }
    return mw__onnx_set(node, 0, mw__onnx_type(node, 0), x);
}

/* ---- operators ---- */

mw_status mw__onnx_max_pool(mw__onnx_node *node)
{
    mw__onnx_window window;
    const int type = mw__onnx_type(node, 0);
    if (node->out_count > 1)
        return mw__onnx_refuse(node, "its indices are not supported");
    MW_TRY(read_window(node, &window));
    if (is_dilated(&window) && mw__onnx_is_float(type))
        return dilated_max_pool(node, &window);
    if (is_dilated(&window) || mw__onnx_type_size(type) > 4)
        return mw__onnx_refuse(node, "it is not supported of this type");
    const mw_pool_options options = options_of(&window);
    const mw_dtype dtype = mw__onnx_is_float(type) ? mw__onnx_dtype(type) : MW_F32;
    mw_tensor *pooled = mw_max_pool(mw__onnx_to(mw__onnx_in(node, 0), dtype), &options);
    return mw__onnx_set(node, 0, type, mw__onnx_to(pooled, mw__onnx_dtype(type)));
}

mw_status mw__onnx_average_pool(mw__onnx_node *node)
{
    mw__onnx_window window;
    MW_TRY(read_window(node, &window));
    if (is_dilated(&window))
        return mw__onnx_refuse(node, "dilations are not supported");
    mw_pool_options options = options_of(&window);
    options.exclude_padding = mw__onnx_int(node, "count_include_pad", 0) == 0;
    return mw__onnx_set(node, 0, mw__onnx_type(node, 0), mw_avg_pool(mw__onnx_in(node, 0), &options));
}

mw_status mw__onnx_lp_pool(mw__onnx_node *node)
{
    mw__onnx_window window;
    MW_TRY(read_window(node, &window));
    if (is_dilated(&window) || window.axes > 2 || mw__onnx_int(node, "p", 2) != 2)
        return mw__onnx_refuse(node, "p = 2 over one or two axes without dilations is supported");
    const mw_pool_options options = options_of(&window);
    return mw__onnx_set(node, 0, mw__onnx_type(node, 0), mw_l2_pool(mw__onnx_in(node, 0), &options));
}

mw_status mw__onnx_global_pool(mw__onnx_node *node)
{
    const int rank = mw__onnx_shape(node, 0).rank;
    mw_tensor *x = mw__onnx_in(node, 0);
    mw_axes axes = {.count = rank - 2};
    if (rank < 3)
        return mw__onnx_refuse(node, "its input has rank %d", rank);
    for (int i = 0; i < axes.count; i++)
        axes.axis[i] = 2 + i;
    const char *name = node->proto->op_type;
    if (strcmp(name, "GlobalLpPool") == 0 && mw__onnx_int(node, "p", 2) != 2)
        return mw__onnx_refuse(node, "p = 2 is supported");
    mw_tensor *made = strcmp(name, "GlobalMaxPool") == 0       ? mw_reduce_max(x, axes, true)
                      : strcmp(name, "GlobalAveragePool") == 0 ? mw_reduce_mean(x, axes, true)
                                                               : mw_reduce_l2_norm(x, axes, true);
    return mw__onnx_set(node, 0, mw__onnx_type(node, 0), made);
}

/* Convolution and its transpose. */
#include "format/onnx/window.h"

#include <millwright/ops/conv.h>
#include <millwright/ops/elementwise.h>
#include <millwright/ops/shape.h>

#include <string.h>

static mw_conv_options options_of(const mw__onnx_window *window, int64_t groups)
{
    mw_conv_options options = mw_conv_defaults();
    options.groups = groups;
    for (int i = 0; i < window->axes; i++) {
        options.stride[i] = window->stride[i];
        options.dilation[i] = window->dilation[i];
    }
    if (mw__onnx_window_pads(window)) {
        options.pad_type = MW_PAD_CUSTOM;
        memcpy(options.pad, window->pad, sizeof window->pad);
    }
    return options;
}

static mw_status read_window(mw__onnx_node *node, mw__onnx_window *window)
{
    const mw_shape x = mw__onnx_shape(node, 0), weight = mw__onnx_shape(node, 1);
    if (weight.rank != x.rank)
        return mw__onnx_refuse(node, "its weight has rank %d, its input %d", weight.rank, x.rank);
    if (!mw__onnx_is_float(mw__onnx_type(node, 0)))
        return mw__onnx_refuse(node, "it is supported of floating-point numbers only");
    return mw__onnx_window_read(node, x, weight.dim + 2, window);
}

mw_status mw__onnx_conv(mw__onnx_node *node)
{
    mw__onnx_window window;
    MW_TRY(read_window(node, &window));
    const mw_conv_options options = options_of(&window, mw__onnx_int(node, "group", 1));
    mw_tensor *x = mw__onnx_in(node, 0), *weight = mw__onnx_in(node, 1), *bias = mw__onnx_in(node, 2);
    return mw__onnx_set(node, 0, mw__onnx_type(node, 0), mw_conv(x, weight, bias, &options));
}

/* What is cut off before and behind an axis, of which `total` goes. A negative one adds zeros behind. Of an odd one the
 * larger half lies before but for SAME_UPPER; operator sets before 11 had it the other way round. */
static void split_crop(const mw__onnx_node *node, const mw__onnx_window *window, int64_t total, int64_t *pad)
{
    const bool upper = window->same && !window->same_lower;
    const bool less_before = window->same ? upper : node->opset < 11;
    pad[0] = total < 0 ? 0 : less_before ? total / 2 : total - total / 2;
    pad[1] = total - pad[0];
}

/* Cuts what auto_pad or output_shape leave over: total = s (S - 1) + output_padding + covered - out. */
static void crop_to(const mw__onnx_node *node, const mw__onnx_window *window, const int64_t *extra, const int64_t *want,
                    int64_t *pad)
{
    const mw_shape x = mw__onnx_shape(node, 0);
    for (int i = 0; i < window->axes; i++) {
        const int64_t covered = (window->kernel[i] - 1) * window->dilation[i] + 1;
        const int64_t total = window->stride[i] * (x.dim[2 + i] - 1) + extra[i] + covered - want[i];
        split_crop(node, window, total, pad + 2 * (size_t)i);
    }
}

static mw_status check_numbers(mw__onnx_node *node, const char *name, const int64_t *list, size_t count, int axes)
{
    if (count != 0 && count != (size_t)axes)
        return mw__onnx_refuse(node, "%s has %zu numbers for %d spatial axes", name, count, axes);
    for (size_t i = 0; i < count; i++)
        if (list[i] < 0 || list[i] > INT32_MAX)
            return mw__onnx_refuse(node, "%s has the number %lld", name, (long long)list[i]);
    return MW_OK;
}

/* What of the whole result is cut off, before and after each axis; negative = zeros are added. */
static mw_status find_crop(mw__onnx_node *node, const mw__onnx_window *window, int64_t *pad)
{
    int64_t extra[MW__ONNX_SPATIAL_MAX] = {0}, want[MW__ONNX_SPATIAL_MAX] = {0};
    const mw_shape x = mw__onnx_shape(node, 0);
    size_t extra_count, count;
    MW_TRY(mw__onnx_ints(node, "output_padding", extra, MW__ONNX_SPATIAL_MAX, &extra_count));
    MW_TRY(mw__onnx_ints(node, "output_shape", want, MW__ONNX_SPATIAL_MAX, &count));
    MW_TRY(check_numbers(node, "output_padding", extra, extra_count, window->axes));
    MW_TRY(check_numbers(node, "output_shape", want, count, window->axes));
    for (int i = 0; count == 0 && window->same && i < window->axes; i++)
        want[i] = x.dim[2 + i] * window->stride[i];
    if (count != 0 || window->same)
        crop_to(node, window, extra, want, pad);
    else
        memcpy(pad, window->pad, sizeof window->pad);
    for (int i = 0; i < window->axes; i++) {
        pad[2 * i + 1] -= extra[i];
        if (pad[2 * i] > INT32_MAX || pad[2 * i + 1] > INT32_MAX || pad[2 * i + 1] < -INT32_MAX)
            return mw__onnx_refuse(node, "its padding is out of range");
    }
    return MW_OK;
}

/* Zeros behind the result, where output_padding reaches beyond what the kernel covers; they get the bias. */
static mw_tensor *extend(mw_tensor *x, int axes, const int64_t *pad)
{
    int64_t more[2 * MW__ONNX_SPATIAL_MAX] = {0};
    bool any = false;
    for (int i = 0; i < axes; i++) {
        more[2 * i + 1] = pad[2 * i + 1] < 0 ? -pad[2 * i + 1] : 0;
        any = any || more[2 * i + 1] > 0;
    }
    return any ? mw_pad(x, more, axes, MW_PAD_CONSTANT, 0) : x;
}

static mw_tensor *add_bias(mw_tensor *x, mw_tensor *bias)
{
    if (x == NULL || bias == NULL)
        return NULL;
    mw_shape shape = {.rank = mw_tensor_shape(x).rank - 1, .dim = {mw_tensor_shape(bias).dim[0], 1, 1, 1}};
    return mw_add(x, mw_reshape(bias, shape));
}

mw_status mw__onnx_conv_transpose(mw__onnx_node *node)
{
    mw__onnx_window window;
    int64_t pad[2 * MW__ONNX_SPATIAL_MAX] = {0};
    MW_TRY(read_window(node, &window));
    MW_TRY(find_crop(node, &window, pad));
    mw_conv_options options = options_of(&window, mw__onnx_int(node, "group", 1));
    options.pad_type = MW_PAD_CUSTOM;
    bool extends = false;
    for (int i = 0; i < 2 * window.axes; i++) {
        options.pad[i] = pad[i] > 0 ? pad[i] : 0;
        extends = extends || pad[i] < 0;
    }
    mw_tensor *x = mw__onnx_in(node, 0), *weight = mw__onnx_in(node, 1), *bias = mw__onnx_in(node, 2);
    mw_tensor *made = mw_conv_transpose(x, weight, extends ? NULL : bias, &options);
    if (extends)
        made = extend(made, window.axes, pad);
    if (extends && bias != NULL)
        made = add_bias(made, bias);
    return mw__onnx_set(node, 0, mw__onnx_type(node, 0), made);
}

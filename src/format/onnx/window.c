/* Kernels, strides and borders of convolution and pooling, read. */
#include "format/onnx/window.h"

#include <string.h>

/* Numbers per spatial axis, each `least` or more; `fallback` where the attribute is absent. */
static mw_status read_axes(mw__onnx_node *node, const char *name, int axes, int64_t least, int64_t fallback,
                           int64_t *out)
{
    size_t count;
    MW_TRY(mw__onnx_ints(node, name, out, (size_t)axes, &count));
    for (int i = 0; count == 0 && i < axes; i++)
        out[i] = fallback;
    if (count != 0 && count != (size_t)axes)
        return mw__onnx_refuse(node, "%s has %zu numbers for %d spatial axes", name, count, axes);
    for (int i = 0; count != 0 && i < axes; i++)
        if (out[i] < least || out[i] > INT32_MAX)
            return mw__onnx_refuse(node, "%s has the number %lld", name, (long long)out[i]);
    return MW_OK;
}

/* ONNX lists all numbers before, then all after. */
static mw_status read_pads(mw__onnx_node *node, mw__onnx_window *out)
{
    int64_t pads[2 * MW__ONNX_SPATIAL_MAX] = {0};
    size_t count;
    MW_TRY(mw__onnx_ints(node, "pads", pads, (size_t)(2 * out->axes), &count));
    if (count != 0 && count != (size_t)(2 * out->axes))
        return mw__onnx_refuse(node, "pads has %zu numbers for %d spatial axes", count, out->axes);
    for (int i = 0; i < out->axes; i++) {
        out->pad[2 * i] = pads[i];
        out->pad[2 * i + 1] = pads[out->axes + i];
        if (pads[i] < 0 || pads[out->axes + i] < 0 || pads[i] > INT32_MAX || pads[out->axes + i] > INT32_MAX)
            return mw__onnx_refuse(node, "pads has a number that is out of range");
    }
    return MW_OK;
}

/* So much border that the result has ceil(extent / stride). */
static void pad_same(mw_shape x, mw__onnx_window *window)
{
    for (int i = 0; i < window->axes; i++) {
        const int64_t extent = x.dim[2 + i], result = (extent + window->stride[i] - 1) / window->stride[i];
        const int64_t covered = (window->kernel[i] - 1) * window->dilation[i] + 1;
        int64_t total = (result - 1) * window->stride[i] + covered - extent;
        total = total > 0 ? total : 0;
        window->pad[2 * i] = window->same_lower ? total - total / 2 : total / 2;
        window->pad[2 * i + 1] = total - window->pad[2 * i];
    }
}

/* Extents and kernels that positions in int64 are computed of without overflow. */
static mw_status check_extents(mw__onnx_node *node, mw_shape x, const mw__onnx_window *window)
{
    for (int i = 0; i < window->axes; i++)
        if (x.dim[2 + i] > INT32_MAX || window->kernel[i] > INT32_MAX)
            return mw__onnx_refuse(node, "spatial axis %d has the extent %lld and a kernel of %lld", i,
                                   (long long)x.dim[2 + i], (long long)window->kernel[i]);
    return MW_OK;
}

static mw_status read_auto_pad(mw__onnx_node *node, mw__onnx_window *out)
{
    out->same_lower = mw__onnx_is(node, "auto_pad", "SAME_LOWER");
    out->same = out->same_lower || mw__onnx_is(node, "auto_pad", "SAME_UPPER");
    const bool valid = mw__onnx_is(node, "auto_pad", "VALID");
    if (valid)
        memset(out->pad, 0, sizeof out->pad);
    if (out->same || valid || mw__onnx_attribute(node, "auto_pad") == NULL || mw__onnx_is(node, "auto_pad", "NOTSET") ||
        mw__onnx_is(node, "auto_pad", ""))
        return MW_OK;
    return mw__onnx_refuse(node, "its auto_pad is not NOTSET, SAME_UPPER, SAME_LOWER or VALID");
}

mw_status mw__onnx_window_read(mw__onnx_node *node, mw_shape x, const int64_t *kernel, mw__onnx_window *out)
{
    *out = (mw__onnx_window){.axes = x.rank - 2};
    if (out->axes < 1 || out->axes > MW__ONNX_SPATIAL_MAX)
        return mw__onnx_refuse(node, "%d spatial axes; 1 to %d are supported", out->axes, MW__ONNX_SPATIAL_MAX);
    MW_TRY(read_axes(node, "kernel_shape", out->axes, 1, 0, out->kernel));
    if (kernel != NULL)
        memcpy(out->kernel, kernel, (size_t)out->axes * sizeof *kernel);
    if (out->kernel[0] == 0)
        return mw__onnx_refuse(node, "it has no kernel_shape");
    MW_TRY(read_axes(node, "strides", out->axes, 1, 1, out->stride));
    MW_TRY(read_axes(node, "dilations", out->axes, 1, 1, out->dilation));
    MW_TRY(read_pads(node, out));
    out->ceil_mode = mw__onnx_int(node, "ceil_mode", 0) != 0;
    MW_TRY(check_extents(node, x, out));
    MW_TRY(read_auto_pad(node, out));
    if (out->same)
        pad_same(x, out);
    return MW_OK;
}

bool mw__onnx_window_pads(const mw__onnx_window *window)
{
    for (int i = 0; i < 2 * window->axes; i++)
        if (window->pad[i] != 0)
            return true;
    return false;
}

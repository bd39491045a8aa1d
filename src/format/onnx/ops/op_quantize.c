/* Quantized numbers and arithmetic on them. Integers of 8 bits are int32 here, so that nothing saturates unasked. */
#include "format/onnx/read/import.h"
#include "format/onnx/window.h"

#include <millwright/ops/compare.h>
#include <millwright/ops/conv.h>
#include <millwright/ops/elementwise.h>
#include <millwright/ops/matmul.h>
#include <millwright/ops/reduce.h>
#include <millwright/ops/shape.h>

#include <string.h>

/* A scale or zero point [n] or [] along `axis` of a tensor of `rank`. */
static mw_tensor *along_axis(mw_tensor *v, int axis, int rank)
{
    if (v == NULL || mw_tensor_shape(v).rank != 1)
        return v;
    if (mw_tensor_shape(v).dim[0] == 1)
        return mw_reshape(v, mw_shape_scalar());
    mw_shape shape = {.rank = rank};
    for (int i = 0; i < rank; i++)
        shape.dim[i] = i == axis ? mw_tensor_shape(v).dim[0] : 1;
    return mw_reshape(v, shape);
}

static mw_tensor *bound(mw_tensor *x, int type)
{
    int64_t low, high;
    mw__onnx_type_range(type, &low, &high);
    return mw_clip(x, (float)low, (float)high);
}

/* clip(round(x / scale) + zero), as int32. */
static mw_tensor *quantize(mw_tensor *x, mw_tensor *scale, mw_tensor *zero, int type)
{
    mw_tensor *steps = mw_round(mw_real_div(x, scale));
    if (zero != NULL)
        steps = mw_add(steps, mw__onnx_to(zero, mw_tensor_dtype(x)));
    return mw__onnx_to(bound(steps, type), MW_I32);
}

static mw_status read_axis(mw__onnx_node *node, int *out)
{
    const int rank = mw__onnx_shape(node, 0).rank;
    *out = 0;
    if (mw__onnx_shape(node, 1).rank > 1 || mw__onnx_int(node, "block_size", 0) != 0)
        return mw__onnx_refuse(node, "scales of blocks are not supported");
    if (mw__onnx_shape(node, 1).rank == 0 || mw__onnx_shape(node, 1).dim[0] == 1)
        return MW_OK;
    return mw__onnx_axis(node, mw__onnx_int(node, "axis", 1), rank, out);
}

mw_status mw__onnx_quantize_linear(mw__onnx_node *node)
{
    int axis;
    MW_TRY(read_axis(node, &axis));
    const int rank = mw__onnx_shape(node, 0).rank;
    const int type = mw__onnx_has(node, 2) ? mw__onnx_type(node, 2) : MW__ONNX_UINT8;
    if (mw__onnx_type_size(type) != 1 || !mw__onnx_is_integer(type))
        return mw__onnx_refuse(node, "it is supported to int8, uint8, int4 and uint4");
    mw_tensor *x = mw__onnx_in(node, 0), *scale = along_axis(mw__onnx_in(node, 1), axis, rank);
    if (x != NULL && mw_tensor_dtype(x) == MW_I32)
        x = mw_cast(x, MW_F32);
    return mw__onnx_set(node, 0, type, quantize(x, scale, along_axis(mw__onnx_in(node, 2), axis, rank), type));
}

static mw_tensor *dequantize(mw_tensor *x, mw_tensor *scale, mw_tensor *zero)
{
    if (zero != NULL)
        x = mw_sub(x, zero);
    return scale != NULL ? mw_mul(mw__onnx_to(x, mw_tensor_dtype(scale)), scale) : NULL;
}

mw_status mw__onnx_dequantize_linear(mw__onnx_node *node)
{
    int axis;
    MW_TRY(read_axis(node, &axis));
    const int rank = mw__onnx_shape(node, 0).rank;
    mw_tensor *scale = along_axis(mw__onnx_in(node, 1), axis, rank);
    mw_tensor *zero = along_axis(mw__onnx_in(node, 2), axis, rank);
    return mw__onnx_set(node, 0, mw__onnx_type(node, 1), dequantize(mw__onnx_in(node, 0), scale, zero));
}

/* The range, with 0 in it, on 0 .. 255. */
mw_status mw__onnx_dynamic_quantize(mw__onnx_node *node)
{
    mw_tensor *x = mw__onnx_in(node, 0), *zero = mw_scalar(node->graph, MW_F32, 0);
    mw_tensor *high = mw_maximum(mw_reduce_max(x, MW_ALL_AXES, false), zero);
    mw_tensor *low = mw_minimum(mw_reduce_min(x, MW_ALL_AXES, false), zero);
    mw_tensor *span = mw_sub(high, low);
    mw_tensor *scale = mw_real_div(span, mw_scalar(node->graph, MW_F32, 255));
    mw_tensor *point = mw_clip(mw_round(mw_real_div(mw_neg(low), scale)), 0, 255);
    MW_TRY(mw__onnx_set(node, 0, MW__ONNX_UINT8, quantize(x, scale, mw__onnx_to(point, MW_I32), MW__ONNX_UINT8)));
    MW_TRY(mw__onnx_set(node, 1, MW__ONNX_FLOAT, scale));
    return mw__onnx_set(node, 2, MW__ONNX_UINT8, mw__onnx_to(point, MW_I32));
}

/* ---- products of integers ---- */

/* An operand without its zero point, as floating-point numbers: products of 8 bits are exact in fp32 up to sums of
 * 2^24 / 2^16 = 256 terms of the largest size, and int32 is used where the operation takes it. */
static mw_tensor *centered(mw__onnx_node *node, size_t index, size_t zero, int axis)
{
    mw_tensor *x = mw__onnx_in(node, index);
    if (!mw__onnx_has(node, zero))
        return x;
    return mw_sub(x, along_axis(mw__onnx_in(node, zero), axis, mw__onnx_shape(node, index).rank));
}

static mw_tensor *integer_product(mw__onnx_node *node, size_t a, size_t a_zero, size_t b, size_t b_zero)
{
    const int rows = mw__onnx_shape(node, a).rank - 2, columns = mw__onnx_shape(node, b).rank - 1;
    mw_tensor *x = centered(node, a, a_zero, rows), *y = centered(node, b, b_zero, columns);
    return mw_matmul(x, y, MW_TRANSPOSE_NONE);
}

mw_status mw__onnx_matmul_integer(mw__onnx_node *node)
{
    return mw__onnx_set(node, 0, MW__ONNX_INT32, integer_product(node, 0, 2, 1, 3));
}

/* The sum a b, of scales a and b, in steps of the result's scale. */
static mw_status give_scaled(mw__onnx_node *node, mw_tensor *sum, mw_tensor *a, mw_tensor *b, size_t y)
{
    const int type = mw__onnx_type(node, y + 1);
    mw_tensor *factor = mw_mul(a, b);
    mw_tensor *real = mw_mul(mw__onnx_to(sum, MW_F32), factor);
    mw_tensor *scale = along_axis(mw__onnx_in(node, y), 0, 0), *zero = along_axis(mw__onnx_in(node, y + 1), 0, 0);
    return mw__onnx_set(node, 0, type, quantize(real, scale, zero, type));
}

static mw_status check_result(mw__onnx_node *node, size_t y)
{
    for (size_t i = y; i < y + 2; i++)
        if (mw_shape_count(mw__onnx_shape(node, i)) != 1)
            return mw__onnx_refuse(node, "the scale of its result is not one number");
    return MW_OK;
}

mw_status mw__onnx_matmul_quantized(mw__onnx_node *node)
{
    const int rows = mw__onnx_shape(node, 0).rank - 2, columns = mw__onnx_shape(node, 3).rank - 1;
    MW_TRY(check_result(node, 6));
    mw_tensor *a = along_axis(mw__onnx_in(node, 1), rows, mw__onnx_shape(node, 0).rank);
    mw_tensor *b = along_axis(mw__onnx_in(node, 4), columns, mw__onnx_shape(node, 3).rank);
    return give_scaled(node, integer_product(node, 0, 2, 3, 5), a, b, 6);
}

/* ---- convolution of integers ---- */

/* The border counts as the zero point, which is 0 once it is taken out. */
static mw_status convolve(mw__onnx_node *node, mw_tensor *x, mw_tensor *weight, size_t index, mw_tensor **out)
{
    mw__onnx_window window;
    mw_conv_options options = mw_conv_defaults();
    const mw_shape shape = mw__onnx_shape(node, index);
    if (shape.rank != mw__onnx_shape(node, 0).rank)
        return mw__onnx_refuse(node, "its weight has rank %d", shape.rank);
    MW_TRY(mw__onnx_window_read(node, mw__onnx_shape(node, 0), shape.dim + 2, &window));
    options.groups = mw__onnx_int(node, "group", 1);
    options.pad_type = MW_PAD_CUSTOM;
    for (int i = 0; i < window.axes; i++) {
        options.stride[i] = window.stride[i];
        options.dilation[i] = window.dilation[i];
    }
    memcpy(options.pad, window.pad, sizeof window.pad);
    x = mw__onnx_to(x, MW_F32);
    *out = mw_conv(x, mw__onnx_to(weight, MW_F32), NULL, &options);
    return MW_OK;
}

mw_status mw__onnx_conv_integer(mw__onnx_node *node)
{
    mw_tensor *sum = NULL, *x = centered(node, 0, 2, 0), *weight = centered(node, 1, 3, 0);
    MW_TRY(convolve(node, x, weight, 1, &sum));
    return mw__onnx_set(node, 0, MW__ONNX_INT32, mw__onnx_to(sum, MW_I32));
}

mw_status mw__onnx_conv_quantized(mw__onnx_node *node)
{
    mw_tensor *sum = NULL;
    const int rank = mw__onnx_shape(node, 0).rank;
    MW_TRY(check_result(node, 6));
    mw_tensor *x = centered(node, 0, 2, 0), *weight = centered(node, 3, 5, 0);
    MW_TRY(convolve(node, x, weight, 3, &sum));
    if (mw__onnx_has(node, 8))
        sum = mw_add(sum, along_axis(mw__onnx_to(mw__onnx_in(node, 8), MW_F32), 1, rank));
    x = along_axis(mw__onnx_in(node, 1), 1, rank);
    weight = along_axis(mw__onnx_in(node, 4), 1, rank);
    return give_scaled(node, sum, x, weight, 6);
}

/* Convolution and its transpose: shape rules of ops/conv.def, and the numbers of an operation for other rooms. The
 * constructors are in op_conv_build.c, the gradient forms in patterns/conv.c. */
#include "graph/patterns/conv.h"

#include "base/memory/checked.h"
#include "graph/geometry/window.h"
#include "graph/ir/rule.h"

#include <inttypes.h>
#include <string.h>

/* ---- operands ---- */

static mw_status fail_operands(const mw__infer *infer, const char *rule)
{
    char x[240], weight[240];
    return mw__rule_fail(infer, MW_ERROR_SHAPE, "%s: %s and %s", rule, mw__arg_print(infer->op, "x", x, sizeof x),
                         mw__arg_print(infer->op, "weight", weight, sizeof weight));
}

static mw_status read_groups(const mw__infer *infer, int64_t inputs, int64_t outputs, int64_t *out)
{
    MW_TRY(mw__rule_int(infer, "groups", out));
    if (*out < 1)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "groups %" PRId64 " must be at least 1", *out);
    const int64_t wrong = inputs > 0 && inputs % *out != 0 ? inputs : outputs > 0 && outputs % *out != 0 ? outputs : 0;
    if (wrong != 0)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "groups %" PRId64 " does not divide %" PRId64 " channels", *out,
                             wrong);
    return MW_OK;
}

static mw_status check_bias(const mw__infer *infer, int64_t channels)
{
    if (!mw__arg_present(infer->op, "bias"))
        return MW_OK;
    const mw_shape bias = mw__rule_shape(infer, "bias");
    char text[240];
    if (bias.rank == 1 && mw__dim_fits(bias.dim[0], channels))
        return MW_OK;
    return mw__rule_fail(infer, MW_ERROR_SHAPE, "%s must be [%" PRId64 "], one element per channel of the result",
                         mw__arg_print(infer->op, "bias", text, sizeof text), channels);
}

static mw_status check_ranks(const mw__infer *infer)
{
    const mw_shape x = mw__rule_shape(infer, "x"), weight = mw__rule_shape(infer, "weight");
    if (x.rank < 3 || x.rank > 2 + MW__CONV_AXES)
        return fail_operands(infer, "x must be [batch, channels, 1 to 3 spatial axes]");
    if (weight.rank != x.rank)
        return fail_operands(infer, "weight must have the rank of x");
    return MW_OK;
}

static void set_axis(mw__conv *conv, int i, const mw__window *window)
{
    conv->kernel[i] = window->kernel;
    conv->stride[i] = window->stride;
    conv->dilation[i] = window->dilation;
    conv->before[i] = window->before;
    conv->in[i] = window->in;
    conv->out[i] = window->out;
}

/* ---- conv ---- */

int64_t mw__conv_cover(const mw__conv *conv, int axis) { return (conv->kernel[axis] - 1) * conv->dilation[axis] + 1; }

int64_t mw__conv_after(const mw__conv *conv, int axis)
{
    return (conv->out[axis] - 1) * conv->stride[axis] + mw__conv_cover(conv, axis) - conv->in[axis] -
           conv->before[axis];
}

/* coremltools' documentation of conv: a weight that is no constant is not allowed together with dilations. */
static mw_status check_dilation(const mw__infer *infer, const mw__conv *conv)
{
    for (int i = 0; i < conv->axes; i++)
        if (conv->dilation[i] != 1 && !mw__is_constant(mw__arg(infer->op, "weight")))
            return mw__rule_fail(infer, MW_ERROR_UNSUPPORTED,
                                 "a weight that is computed cannot be dilated; mw_conv spreads it with zeros");
    return MW_OK;
}

static mw_status read_conv(const mw__infer *infer, mw__conv *conv, mw_shape *out)
{
    mw__window windows[MW__WINDOW_AXES];
    MW_TRY(check_ranks(infer));
    const mw_shape x = mw__rule_shape(infer, "x"), weight = mw__rule_shape(infer, "weight");
    *conv = (mw__conv){.axes = x.rank - 2};
    MW_TRY(read_groups(infer, x.dim[1], weight.dim[0], &conv->groups));
    if (x.dim[1] >= 0 && !mw__dim_fits(x.dim[1] / conv->groups, weight.dim[1]))
        return fail_operands(infer, "weight must be [outputs, channels of x / groups, kernel]");
    MW_TRY(check_bias(infer, weight.dim[0]));
    MW_TRY(mw__op_windows(infer->op, x, weight.dim + 2, windows, infer->err));
    *out = x;
    out->dim[1] = weight.dim[0];
    for (int i = 0; i < conv->axes; i++) {
        set_axis(conv, i, &windows[i]);
        out->dim[i + 2] = conv->out[i];
    }
    return MW_OK;
}

mw_status mw__shape_conv(mw__infer *infer)
{
    mw__conv conv;
    mw_shape shape;
    MW_TRY(read_conv(infer, &conv, &shape));
    MW_TRY(check_dilation(infer, &conv));
    return mw__rule_result(infer, mw__rule_dtype(infer, "x"), shape);
}

/* ---- conv_quantized ---- */

/* The numbers of codes: one for all, or one for each channel of the result. */
static mw_status check_numbers(const mw__infer *infer, const char *arg, int64_t channels)
{
    char text[240];
    const int64_t count = mw_shape_count(mw__rule_shape(infer, arg));
    if (count == 1 || (count >= 0 && mw__dim_fits(count, channels)))
        return MW_OK;
    return mw__rule_fail(infer, MW_ERROR_SHAPE,
                         "%s must have one element, or the %" PRId64 " of the channels of the result",
                         mw__arg_print(infer->op, arg, text, sizeof text), channels);
}

/* coremltools names "lut" too, but no argument for the table. */
static mw_status check_quantization(const mw__infer *infer)
{
    const char *type = mw__arg_string(infer->op, "quantization_type");
    int64_t bits;
    MW_TRY(mw__rule_int(infer, "nbits", &bits));
    if (bits < 1 || bits > 8)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "nbits is %" PRId64 "; 1 to 8 are allowed", bits);
    if (type != NULL && strcmp(type, "lut") == 0)
        return mw__rule_fail(infer, MW_ERROR_UNSUPPORTED,
                             "quantization_type is \"lut\", for which MIL has no table; use constexpr_lut_to_dense");
    if (type == NULL || strcmp(type, "linear") != 0)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "quantization_type \"%.40s\" is neither linear nor lut",
                             type != NULL ? type : "");
    return MW_OK;
}

mw_status mw__shape_conv_quantized(mw__infer *infer)
{
    const mw_dtype x = mw__rule_dtype(infer, "x"), weight = mw__rule_dtype(infer, "weight");
    const mw_dtype bias = mw__arg_present(infer->op, "bias") ? mw__rule_dtype(infer, "bias") : x;
    MW_TRY(check_quantization(infer));
    if (weight != MW_U8)
        return mw__rule_fail(infer, MW_ERROR_DTYPE, "weight is %s, not uint8", mw_dtype_name(weight));
    if (bias != x && bias != MW_U8)
        return mw__rule_fail(infer, MW_ERROR_DTYPE, "bias is %s, neither %s as x nor uint8", mw_dtype_name(bias),
                             mw_dtype_name(x));
    MW_TRY(mw__shape_conv(infer));
    const int64_t channels = mw__rule_shape(infer, "weight").dim[0];
    MW_TRY(check_numbers(infer, "quant_scale", channels));
    return check_numbers(infer, "quant_bias", channels);
}

/* ---- conv_transpose ---- */

/* Longer than the scattered elements reach by a whole stride, conv would have another element. */
static mw_status crop(const mw__infer *infer, mw__window *window, int axis, int64_t reach, int64_t wanted)
{
    const int64_t total = reach - wanted;
    if (wanted < 1 || total <= -window->stride)
        return mw__rule_fail(infer, MW_ERROR_SHAPE,
                             "axis %d: output_shape %" PRId64 " must be positive and below %" PRId64, axis, wanted,
                             reach + window->stride);
    window->in = wanted;
    window->before = total > 0 ? total / 2 : 0;
    return MW_OK;
}

/* Turns a window whose `in` is the extent of x round: x has the positions, the result the elements. */
static mw_status turn(const mw__infer *infer, mw__window *window, mw_pad_type type, int axis, int64_t wanted)
{
    const int64_t x = window->in;
    int64_t reach;
    window->out = x;
    window->in = wanted;
    if (x == 0)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "axis %d of x has no elements", axis);
    if (x < 0 || window->kernel < 0)
        return MW_OK;
    if (!mw__mul_i64(x, window->stride, &reach) || !mw__add_i64(reach - window->stride, window->span, &reach) ||
        reach > INT64_MAX / 4)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "axis %d: the result is too long", axis);
    if (wanted >= 0 || type == MW_PAD_SAME)
        return crop(infer, window, axis, reach, wanted >= 0 ? wanted : x * window->stride);
    window->in = reach - window->before - window->after;
    if (window->in < 1)
        return mw__rule_fail(infer, MW_ERROR_SHAPE,
                             "axis %d: pad %" PRId64 " and %" PRId64 " leave nothing of %" PRId64 " elements", axis,
                             window->before, window->after, reach);
    return MW_OK;
}

/* output_shape names all extents; MW_DIM_UNKNOWN ones where it is absent. */
static mw_status read_output_shape(const mw__infer *infer, mw_shape plain, int64_t wanted[2 + MW__CONV_AXES])
{
    int64_t given[2 * MW__CONV_AXES];
    char text[200];
    for (int i = 0; i < plain.rank; i++)
        wanted[i] = MW_DIM_UNKNOWN;
    if (!mw__arg_present(infer->op, "output_shape"))
        return MW_OK;
    size_t count;
    bool known;
    MW_TRY(mw__rule_ints(infer, "output_shape", given, 2 * MW__CONV_AXES, &count, &known));
    if (count != (size_t)plain.rank || !mw__dim_fits(plain.dim[0], given[0]) || !mw__dim_fits(plain.dim[1], given[1]))
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "output_shape must have %d extents, the first two of %s",
                             plain.rank, mw__shape_print(plain, text, sizeof text));
    for (int i = 2; i < plain.rank; i++) {
        if (given[i] < 1)
            return mw__rule_fail(infer, MW_ERROR_SHAPE, "output_shape[%d] %" PRId64 " must be positive", i, given[i]);
        wanted[i] = given[i];
    }
    return MW_OK;
}

static mw_status read_transpose(const mw__infer *infer, mw__conv *conv, mw_shape *out)
{
    mw__window windows[MW__WINDOW_AXES];
    mw_pad_type type;
    int64_t wanted[2 + MW__CONV_AXES];
    MW_TRY(check_ranks(infer));
    const mw_shape x = mw__rule_shape(infer, "x"), weight = mw__rule_shape(infer, "weight");
    *conv = (mw__conv){.axes = x.rank - 2};
    MW_TRY(read_groups(infer, x.dim[1], weight.dim[0], &conv->groups));
    if (!mw__dim_fits(x.dim[1], weight.dim[0]))
        return fail_operands(infer, "weight must be [channels of x, outputs / groups, kernel]");
    MW_TRY(mw__window_read(infer->op, x, weight.dim + 2, windows, &type, infer->err));
    if (type == MW_PAD_SAME_LOWER)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "pad_type is \"same_lower\", not valid, custom or same");
    *out = (mw_shape){.rank = x.rank, .dim = {x.dim[0], MW_DIM_UNKNOWN, -1, -1, -1}};
    if (weight.dim[1] >= 0 && !mw__mul_i64(weight.dim[1], conv->groups, &out->dim[1]))
        return fail_operands(infer, "the result has too many channels");
    MW_TRY(check_bias(infer, out->dim[1]));
    MW_TRY(read_output_shape(infer, *out, wanted));
    for (int i = 0; i < conv->axes; i++) {
        MW_TRY(turn(infer, &windows[i], type, i + 2, wanted[i + 2]));
        set_axis(conv, i, &windows[i]);
        out->dim[i + 2] = conv->in[i];
    }
    return MW_OK;
}

mw_status mw__shape_conv_transpose(mw__infer *infer)
{
    mw__conv conv;
    mw_shape shape;
    MW_TRY(read_transpose(infer, &conv, &shape));
    return mw__rule_result(infer, mw__rule_dtype(infer, "x"), shape);
}

/* ---- for other rooms ---- */

bool mw__conv_read(const mw__op *op, mw__conv *out)
{
    mw_error err = {0};
    mw_shape shape;
    const mw__infer infer = {.op = op, .err = &err};
    const bool transpose = strcmp(op->kind, "conv_transpose") == 0;
    if ((transpose ? read_transpose(&infer, out, &shape) : read_conv(&infer, out, &shape)) != MW_OK)
        return false;
    return mw_shape_count(shape) >= 0;
}

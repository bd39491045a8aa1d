/* Quantized numbers and arithmetic on them. Integers of 8 bits are int32 here, so that nothing saturates unasked; but
 * between QuantizeLinear and DequantizeLinear of known scales they are the codes that MIL's operations have, and so are
 * the weights of a file. */
#include "base/number/float_mode.h"
#include "format/onnx/read/import.h"
#include "format/onnx/window.h"
#include "graph/constants/shared_payload.h"
#include "graph/ir/ir.h"

#include <millwright/ops/compare.h>
#include <millwright/ops/conv.h>
#include <millwright/ops/elementwise.h>
#include <millwright/ops/matmul.h>
#include <millwright/ops/quantize.h>
#include <millwright/ops/reduce.h>
#include <millwright/ops/shape.h>

#include <math.h>
#include <string.h>

/* ---- by MIL's operations ---- */

/* How numbers are coded, where the file says it. */
typedef struct coding {
    const mw__onnx_literal *scale, *zero; /* zero: NULL = 0 */
    int type, axis;                       /* of the codes; along which vectors lie */
} coding;

static bool is_byte(int type) { return type == MW__ONNX_INT8 || type == MW__ONNX_UINT8; }

/* Of input `scale` and the zero point behind it. False: a scale is computed, or there is no such operation in the
 * graph's operator set. */
static bool read_coding_at(mw__onnx_node *node, size_t scale, int axis, int type, coding *out)
{
    *out = (coding){.type = type, .axis = axis, .scale = node->in[scale]->literal};
    if (mw__onnx_has(node, scale + 1))
        out->zero = node->in[scale + 1]->literal;
    return node->import->options->opset >= MW_IOS17 && out->scale != NULL && mw__onnx_is_plain(out->scale->type) &&
           mw__onnx_is_float(out->scale->type) && out->scale->count > 0 &&
           (!mw__onnx_has(node, scale + 1) ||
            (out->zero != NULL && out->zero->type == type && out->zero->count == out->scale->count));
}

static bool read_coding(mw__onnx_node *node, int axis, int type, coding *out)
{
    return read_coding_at(node, 1, axis, type, out);
}

static bool is_all_zero(const mw__onnx_literal *literal)
{
    for (size_t i = 0; i < literal->count; i++)
        if (mw__onnx_literal_int(literal, i) != 0)
            return false;
    return true;
}

static size_t number_of(const mw__onnx_literal *literal, size_t index) { return literal->count == 1 ? 0 : index; }

/* Scales or zero points as a constant: one number, [n] or, with a rank, [1, .., n, .., 1]. */
static mw_tensor *numbers(mw__onnx_node *node, const mw__onnx_literal *literal, int axis, int rank)
{
    mw_shape shape = mw_shape_scalar();
    if (literal == NULL)
        return NULL;
    const int64_t count = (int64_t)literal->count;
    if (rank > 0)
        shape.rank = rank;
    else if (count > 1)
        shape = MW_SHAPE(count);
    for (int i = 0; i < rank; i++)
        shape.dim[i] = i == axis ? count : 1;
    const mw_dtype dtype = literal->type == MW__ONNX_INT8    ? MW_I8
                           : literal->type == MW__ONNX_UINT8 ? MW_U8
                                                             : mw__onnx_dtype(literal->type);
    return mw_constant(node->graph, dtype, shape, literal->data);
}

/* The codes of a file, with the bytes that they have there. */
static mw_tensor *stored_codes(mw__onnx_node *node, const mw__onnx_literal *literal)
{
    const mw_dtype dtype = literal->type == MW__ONNX_INT8 ? MW_I8 : MW_U8;
    if (mw__onnx_charge(node->import, literal->count, 1) != MW_OK)
        return NULL;
    if (literal->shared != NULL && mw__shared_payload_is_of(literal->shared, node->graph->allocator))
        return mw__constant_of_shared_payload(node->graph, dtype, literal->shape, literal->shared, literal->data,
                                              literal->entry);
    return mw_constant(node->graph, dtype, literal->shape, literal->data);
}

/* What quantize gave, from which an int32 was made for whoever wants that; NULL if the value is none. */
static mw_tensor *made_codes(const mw__onnx_value *value)
{
    const mw__op *op = value->tensor != NULL ? value->tensor->op : NULL;
    mw_tensor *codes = op != NULL && mw__op_is(op, "cast") ? mw__op_operand(op, "x") : NULL;
    const mw_dtype dtype = value->type == MW__ONNX_INT8 ? MW_I8 : MW_U8;
    return codes != NULL && mw_tensor_dtype(codes) == dtype ? codes : NULL;
}

/* A constant that stays as the file has it, or an operation. */
static mw_tensor *decode_stored(mw__onnx_node *node, const mw__onnx_literal *literal, const coding *c)
{
    mw_tensor *codes = stored_codes(node, literal);
    const int rank = literal->shape.rank;
    if (codes == NULL)
        return NULL;
    if (node->import->options->opset >= MW_IOS18 && rank > 0)
        return mw_constexpr_blockwise_shift_scale(
            codes, numbers(node, c->scale, c->axis, rank),
            c->zero != NULL && !is_all_zero(c->zero) ? numbers(node, c->zero, c->axis, rank) : NULL);
    return mw_dequantize(codes, numbers(node, c->scale, 0, 0), numbers(node, c->zero, 0, 0), c->axis);
}

/* One code; 0 for a NaN. */
static int encode_number(double number, const coding *c, size_t channel)
{
    int64_t low, high;
    mw__onnx_type_range(c->type, &low, &high);
    const float scale = (float)mw__onnx_literal_float(c->scale, number_of(c->scale, channel));
    const float zero = c->zero != NULL ? (float)mw__onnx_literal_int(c->zero, number_of(c->zero, channel)) : 0.0f;
    const float steps = rintf((float)number / scale) + zero;
    return isnan(steps) ? 0 : (int)fminf(fmaxf(steps, (float)low), (float)high);
}

/* The node gives a constant of x's shape, of elements of `size` bytes, which are the caller's to fill: NULL for lack of
 * memory. */
static void *give_constant(mw__onnx_node *node, int type, size_t size)
{
    const mw__onnx_literal *x = node->in[0]->literal;
    if (mw__onnx_charge(node->import, x->count, size) != MW_OK)
        return NULL;
    mw__onnx_literal *literal = mw__arena_alloc(&node->import->arena, 1, sizeof *literal, node->import->err);
    void *data = mw__arena_alloc(&node->import->arena, x->count + 1, size, node->import->err);
    if (literal == NULL || data == NULL)
        return NULL;
    *literal = (mw__onnx_literal){.type = type, .shape = x->shape, .count = x->count, .data = data};
    node->out[0] = (mw__onnx_value){.type = type, .shape = x->shape, .literal = literal};
    return data;
}

/* The channel of element i is i / inner % extent. */
typedef struct channels {
    size_t inner, extent;
} channels;

static channels channels_of(const mw__onnx_literal *x, const coding *c)
{
    const int rank = x->shape.rank;
    if (rank == 0)
        return (channels){1, 1};
    return (channels){(size_t)mw__shape_span(x->shape, c->axis + 1, rank), (size_t)x->shape.dim[c->axis]};
}

/* Weights that the file has as floating-point numbers, and quantizes: their codes are known. */
static mw_status give_codes(mw__onnx_node *node, const coding *c)
{
    MW__FLOAT_SCOPE;
    const mw__onnx_literal *x = node->in[0]->literal;
    const channels of = channels_of(x, c);
    uint8_t *codes = give_constant(node, c->type, 1);
    for (size_t i = 0; codes != NULL && i < x->count; i++)
        codes[i] = (uint8_t)encode_number(mw__onnx_literal_float(x, i), c, i / of.inner % of.extent);
    return codes != NULL ? MW_OK : node->import->err->status;
}

/* A bias of int32, as the numbers that it stands for. */
static mw_status give_numbers(mw__onnx_node *node, const coding *c)
{
    MW__FLOAT_SCOPE;
    const mw__onnx_literal *x = node->in[0]->literal;
    const channels of = channels_of(x, c);
    float *numbers = give_constant(node, MW__ONNX_FLOAT, sizeof *numbers);
    for (size_t i = 0; numbers != NULL && i < x->count; i++) {
        const size_t channel = i / of.inner % of.extent;
        const int64_t zero = c->zero != NULL ? mw__onnx_literal_int(c->zero, number_of(c->zero, channel)) : 0;
        numbers[i] = (float)(mw__onnx_literal_int(x, i) - zero) *
                     (float)mw__onnx_literal_float(c->scale, number_of(c->scale, channel));
    }
    return numbers != NULL ? MW_OK : node->import->err->status;
}

/* Whether vectors have the extent of the axis; else the shape rules of the operations say what is wrong. */
static bool suits_axis(const coding *c, mw_shape shape)
{
    const int64_t extent = shape.rank > 0 ? shape.dim[c->axis] : 1;
    return (c->scale->count == 1 || (int64_t)c->scale->count == extent) &&
           (c->zero == NULL || c->zero->count == 1 || (int64_t)c->zero->count == extent);
}

/* ---- from other operations ---- */

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

/* The codes of x, and the int32 that made_codes finds them by. */
static mw_status give_coded(mw__onnx_node *node, mw_tensor *x, const coding *c)
{
    mw_tensor *scale = numbers(node, c->scale, 0, 0);
    x = mw_quantize(scale != NULL ? mw__onnx_to(x, mw_tensor_dtype(scale)) : NULL, scale, numbers(node, c->zero, 0, 0),
                    c->axis, c->type == MW__ONNX_INT8 ? MW_I8 : MW_U8);
    return mw__onnx_set(node, 0, c->type, mw_cast(x, MW_I32));
}

mw_status mw__onnx_quantize_linear(mw__onnx_node *node)
{
    int axis;
    MW_TRY(read_axis(node, &axis));
    const int rank = mw__onnx_shape(node, 0).rank;
    const int type = mw__onnx_has(node, 2) ? mw__onnx_type(node, 2) : MW__ONNX_UINT8;
    if (mw__onnx_type_size(type) != 1 || !mw__onnx_is_integer(type))
        return mw__onnx_refuse(node, "it is supported to int8, uint8, int4 and uint4");
    coding c;
    const bool coded = is_byte(type) && read_coding(node, axis, type, &c);
    if (coded && node->in[0]->literal != NULL && mw__onnx_is_float(node->in[0]->literal->type) &&
        suits_axis(&c, node->in[0]->literal->shape))
        return give_codes(node, &c);
    mw_tensor *x = mw__onnx_in(node, 0), *scale = along_axis(mw__onnx_in(node, 1), axis, rank);
    if (x != NULL && mw_tensor_dtype(x) == MW_I32)
        x = mw_cast(x, MW_F32);
    if (coded)
        return give_coded(node, x, &c);
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
    const int rank = mw__onnx_shape(node, 0).rank, type = mw__onnx_type(node, 0);
    coding c;
    const bool coded = read_coding(node, axis, type, &c) && suits_axis(&c, mw__onnx_shape(node, 0));
    if (coded && type == MW__ONNX_INT32 && c.scale->type == MW__ONNX_FLOAT && node->in[0]->literal != NULL)
        return give_numbers(node, &c);
    if (coded && is_byte(type)) {
        mw_tensor *codes = made_codes(node->in[0]);
        if (node->in[0]->literal != NULL)
            return mw__onnx_set(node, 0, mw__onnx_type(node, 1), decode_stored(node, node->in[0]->literal, &c));
        if (codes != NULL)
            return mw__onnx_set(node, 0, mw__onnx_type(node, 1),
                                mw_dequantize(codes, numbers(node, c.scale, 0, 0), numbers(node, c.zero, 0, 0), axis));
    }
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

/* ---- products of codes ---- */

/* QLinearConv and QLinearMatMul between quantized values: inputs 0, 3 and 6 are x, the weight and the result's scale.
 */
typedef struct coded_product {
    coding x, weight, y;
    mw_tensor *codes; /* of x */
} coded_product;

/* Whether all scales are known, x has been quantized, and the weight is of the file: then the numbers that codes stand
 * for are multiplied, and an engine sees what it can do with the codes themselves. */
static bool read_coded(mw__onnx_node *node, int axis, coded_product *p)
{
    const mw__onnx_literal *weight = node->in[3]->literal;
    const int x = mw__onnx_type(node, 0), y = mw__onnx_type(node, 7);
    p->codes = is_byte(x) ? made_codes(node->in[0]) : NULL;
    return p->codes != NULL && weight != NULL && is_byte(weight->type) && is_byte(y) &&
           read_coding_at(node, 1, 0, x, &p->x) && p->x.scale->count == 1 && p->x.scale->type == MW__ONNX_FLOAT &&
           read_coding_at(node, 4, axis, weight->type, &p->weight) && p->weight.scale->type == MW__ONNX_FLOAT &&
           suits_axis(&p->weight, weight->shape) && read_coding_at(node, 6, 0, y, &p->y) &&
           p->y.scale->type == MW__ONNX_FLOAT;
}

static mw_tensor *decode_x(mw__onnx_node *node, const coded_product *p)
{
    return mw_dequantize(p->codes, numbers(node, p->x.scale, 0, 0), numbers(node, p->x.zero, 0, 0), 0);
}

mw_status mw__onnx_matmul_quantized(mw__onnx_node *node)
{
    const int rows = mw__onnx_shape(node, 0).rank - 2, columns = mw__onnx_shape(node, 3).rank - 1;
    coded_product p;
    MW_TRY(check_result(node, 6));
    if (read_coded(node, columns, &p))
        return give_coded(
            node,
            mw_matmul(decode_x(node, &p), decode_stored(node, node->in[3]->literal, &p.weight), MW_TRANSPOSE_NONE),
            &p.y);
    mw_tensor *a = along_axis(mw__onnx_in(node, 1), rows, mw__onnx_shape(node, 0).rank);
    mw_tensor *b = along_axis(mw__onnx_in(node, 4), columns, mw__onnx_shape(node, 3).rank);
    return give_scaled(node, integer_product(node, 0, 2, 3, 5), a, b, 6);
}

/* ---- convolution of integers ---- */

/* The border counts as the zero point, which is 0 once it is taken out. */
static mw_status convolve(mw__onnx_node *node, mw_tensor *x, mw_tensor *weight, mw_tensor *bias, size_t index,
                          mw_tensor **out)
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
    *out = mw_conv(x, mw__onnx_to(weight, MW_F32), bias, &options);
    return MW_OK;
}

mw_status mw__onnx_conv_integer(mw__onnx_node *node)
{
    mw_tensor *sum = NULL, *x = centered(node, 0, 2, 0), *weight = centered(node, 1, 3, 0);
    MW_TRY(convolve(node, x, weight, NULL, 1, &sum));
    return mw__onnx_set(node, 0, MW__ONNX_INT32, mw__onnx_to(sum, MW_I32));
}

/* The bias of codes as the numbers that it stands for: steps of both scales. */
static mw_tensor *decode_bias(mw__onnx_node *node, const coded_product *p)
{
    MW__FLOAT_SCOPE;
    const mw__onnx_literal *bias = node->in[8]->literal, *scale = p->weight.scale;
    if (mw__onnx_charge(node->import, bias->count, sizeof(float)) != MW_OK)
        return NULL;
    float *values = mw__arena_alloc(&node->import->arena, bias->count + 1, sizeof *values, node->import->err);
    for (size_t i = 0; values != NULL && i < bias->count; i++)
        values[i] = (float)mw__onnx_literal_int(bias, i) * ((float)mw__onnx_literal_float(p->x.scale, 0) *
                                                            (float)mw__onnx_literal_float(scale, number_of(scale, i)));
    return values != NULL ? mw_constant(node->graph, MW_F32, bias->shape, values) : NULL;
}

static bool bias_suits(mw__onnx_node *node, const coded_product *p)
{
    if (!mw__onnx_has(node, 8))
        return true;
    const mw__onnx_literal *bias = node->in[8]->literal;
    return bias != NULL && bias->type == MW__ONNX_INT32 && bias->shape.rank == 1 &&
           (p->weight.scale->count == 1 || p->weight.scale->count == bias->count);
}

mw_status mw__onnx_conv_quantized(mw__onnx_node *node)
{
    mw_tensor *sum = NULL;
    coded_product p;
    const int rank = mw__onnx_shape(node, 0).rank;
    MW_TRY(check_result(node, 6));
    if (read_coded(node, 0, &p) && bias_suits(node, &p)) {
        mw_tensor *bias = mw__onnx_has(node, 8) ? decode_bias(node, &p) : NULL;
        MW_TRY(convolve(node, decode_x(node, &p), decode_stored(node, node->in[3]->literal, &p.weight), bias, 3, &sum));
        return give_coded(node, sum, &p.y);
    }
    mw_tensor *x = centered(node, 0, 2, 0), *weight = centered(node, 3, 5, 0);
    MW_TRY(convolve(node, x, weight, NULL, 3, &sum));
    if (mw__onnx_has(node, 8))
        sum = mw_add(sum, along_axis(mw__onnx_to(mw__onnx_in(node, 8), MW_F32), 1, rank));
    x = along_axis(mw__onnx_in(node, 1), 1, rank);
    weight = along_axis(mw__onnx_in(node, 4), 1, rank);
    return give_scaled(node, sum, x, weight, 6);
}

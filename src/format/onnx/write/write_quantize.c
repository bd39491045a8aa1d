/* Quantized values and weights. Scales of fp16 are computed with in fp32, as operator set 17 has no others. */
#include "format/onnx/write/write_args.h"

static const char *as_single(mw__onnx_writer *w, const mw__op *op, const char *name)
{
    const char *value = arg(w, op, name);
    return mw__arg(op, name)->type->dtype == MW_F32 ? value : mw__onnx_cast_to(w, NULL, value, MW_F32);
}

/* The zero point, or zeros in the shape of the scale: its element type is that of the codes. */
static const char *zero_of(mw__onnx_writer *w, const mw__op *op, mw_dtype codes)
{
    const mw_shape shape = mw__arg_shape(op, "scale");
    if (mw__arg_present(op, "zero_point"))
        return arg(w, op, "zero_point");
    const void *zeros = mw__onnx_alloc(w, (size_t)mw_shape_count(shape), 1);
    return zeros != NULL ? mw__onnx_tensor(w, codes, shape, zeros) : NULL;
}

static pb_node *put_linear(mw__onnx_writer *w, const mw__op *op, const char *operation, const char *out, const char *x,
                           mw_dtype codes)
{
    const char *const in[] = {x, as_single(w, op, "scale"), zero_of(w, op, codes)};
    pb_node *node = mw__onnx_node_of(w, operation, out, in, 3);
    if (mw__arg_shape(op, "scale").rank > 0)
        mw__onnx_put_int(w, node, "axis", axis_of(op, "axis", result_shape(op).rank));
    return node;
}

void mw__onnx_write_quantize(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    if (mw_shape_count(mw__arg_shape(op, "scale")) < 0)
        mw__onnx_cannot(w, op, "the shape of its scale is not known");
    else
        put_linear(w, op, operation, result(w, op), as_single(w, op, "input"), dtype_of(op));
}

void mw__onnx_write_dequantize(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    const bool single = dtype_of(op) == MW_F32;
    if (mw_shape_count(mw__arg_shape(op, "scale")) < 0) {
        mw__onnx_cannot(w, op, "the shape of its scale is not known");
        return;
    }
    const pb_node *node = put_linear(w, op, operation, single ? result(w, op) : NULL, arg(w, op, "input"),
                                     mw__arg(op, "input")->type->dtype);
    if (!single)
        mw__onnx_cast_to(w, result(w, op), mw__onnx_name(node), dtype_of(op));
}

/* Shape rules, constructors and layers of ops/conv.def: what they give and what they refuse. */
#include "shape_words.h"

#define OPTIONS(...) fill(&(mw_conv_options){__VA_ARGS__})
#define ZEROS(...)   zeros(g, MW_SHAPE(__VA_ARGS__))

static mw_tensor *zeros(mw_graph *g, mw_shape shape)
{
    static const float data[256];
    return mw_constant(g, MW_F32, shape, data);
}

/* What is left 0 gets its default. */
static const mw_conv_options *fill(mw_conv_options *partial)
{
    const mw_conv_options standard = mw_conv_defaults();
    for (int i = 0; i < 3; i++) {
        partial->stride[i] = partial->stride[i] != 0 ? partial->stride[i] : 1;
        partial->dilation[i] = partial->dilation[i] != 0 ? partial->dilation[i] : 1;
    }
    partial->struct_size = standard.struct_size;
    partial->groups = partial->groups != 0 ? partial->groups : 1;
    partial->pad_type = partial->pad_type != 0 ? partial->pad_type : MW_PAD_VALID;
    return partial;
}

static void test_conv_extents(void)
{
    GIVES(MW_F32, S(2, 4, 3, 3), mw_conv(F(2, 3, 5, 4), F(4, 3, 3, 2), NULL, NULL));
    GIVES(MW_F16, S(2, 4, 5), mw_conv(H(2, 3, 5), H(4, 3, 1), H(4), NULL));
    GIVES(MW_F32, S(1, 2, 2, 3, 4), mw_conv(F(1, 1, 3, 4, 5), F(2, 1, 2, 2, 2), NULL, NULL));
    GIVES(MW_F32, S(2, 4, 3),
          mw_conv(F(2, 3, 5), F(4, 3, 3), NULL, OPTIONS(.stride = {3}, .pad_type = MW_PAD_CUSTOM, .pad = {2, 2})));
    GIVES(MW_F32, S(2, 4, 3), mw_conv(F(2, 3, 7), F(4, 3, 3), NULL, OPTIONS(.dilation = {2})));
    GIVES(MW_F32, S(2, 4, 3), mw_conv(F(2, 3, 7), ZEROS(4, 3, 3), NULL, OPTIONS(.dilation = {2})));
    GIVES(MW_F32, S(2, 4, 3), mw_conv(F(2, 6, 5), F(4, 3, 3), NULL, OPTIONS(.groups = 2)));
    GIVES(MW_F32, S(2, 4, 4), mw_conv(F(2, 3, 7), F(4, 3, 3), NULL, OPTIONS(.stride = {2}, .pad_type = MW_PAD_SAME)));
    GIVES(MW_F32, S(0, 4, 3), mw_conv(F(0, 3, 5), F(4, 3, 3), NULL, NULL));
    REFUSES(MW_ERROR_SHAPE, "spatial axis 0 of x has extent 0", mw_conv(F(2, 3, 0), F(4, 3, 3), NULL, NULL));
}

/* A computed bias is an argument from ios17 on, else an addition. */
static void test_conv_bias_by_opset(void)
{
    GIVES_IN(MW_IOS15, MW_F32, S(2, 4, 3), mw_conv(F(2, 3, 5), F(4, 3, 3), F(4), NULL));
    GIVES_IN(MW_IOS16, MW_F32, S(2, 4, 3), mw_conv(F(2, 3, 5), F(4, 3, 3), ZEROS(4), NULL));
    GIVES_IN(MW_IOS17, MW_F32, S(2, 4, 3), mw_conv(F(2, 3, 5), F(4, 3, 3), F(4), NULL));
}

static void test_conv_unknown_extents(void)
{
    GIVES(MW_F32, S(-1, 4, 3, -1), mw_conv(F(-1, 3, 5, -1), F(4, 3, 3, 2), NULL, NULL));
    GIVES(MW_F32, S(2, 4, 3), mw_conv(F(2, -1, 5), F(4, 3, 3), NULL, NULL));
    GIVES(MW_F32, S(2, -1, 3), mw_conv(F(2, 3, 5), F(-1, 3, 3), F(4), NULL));
    GIVES(MW_F32, S(2, 4, -1), mw_conv(F(2, 3, 5), F(4, 3, -1), NULL, NULL));
}

static void test_conv_refuses_operands(void)
{
    REFUSES(MW_ERROR_SHAPE, "weight must have the rank of x: x \"h\" [2, 3, 5] and weight \"k\" [4, 3]",
            mw_conv(mw_input(g, "h", MW_F32, S(2, 3, 5)), mw_input(g, "k", MW_F32, S(4, 3)), NULL, NULL));
    REFUSES(MW_ERROR_SHAPE, "conv: x must be [batch, channels, 1 to 3 spatial axes]: x",
            mw_conv(F(2, 3), F(4, 3), NULL, NULL));
    REFUSES(MW_ERROR_SHAPE, "1 to 3 spatial axes", mw_conv(F(1, 1, 1, 1, 1, 1), F(1, 1, 1, 1, 1, 1), NULL, NULL));
    REFUSES(MW_ERROR_SHAPE, "weight must have the rank of x: x", mw_conv(F(2, 3, 5), F(4, 3, 3, 3), NULL, NULL));
    REFUSES(MW_ERROR_SHAPE, "weight must be [outputs, channels of x / groups, kernel]: x",
            mw_conv(F(2, 3, 5), F(4, 2, 3), NULL, NULL));
    REFUSES(MW_ERROR_ARGUMENT, "the kernel has extent 0 on spatial axis 0",
            mw_conv(F(2, 3, 5), F(4, 3, 0), NULL, NULL));
    REFUSES(MW_ERROR_SHAPE, "spatial axis 0 of x has extent",
            mw_conv(F(2, 3, INT64_C(1) << 60), F(4, 3, 1), NULL, NULL));
    REFUSES(MW_ERROR_SHAPE, "[3] must be [4], one element per channel", mw_conv(F(2, 3, 5), F(4, 3, 3), F(3), NULL));
    REFUSES(MW_ERROR_DTYPE, "int32", mw_conv(N(2, 3, 5), N(4, 3, 3), NULL, NULL));
    REFUSES_IN(MW_IOS16, MW_ERROR_DTYPE, "fp16", mw_conv(F(2, 3, 5), H(4, 3, 3), NULL, NULL));
    GIVES(MW_F32, S(2, 4, 3), mw_conv(F(2, 3, 5), H(4, 3, 3), NULL, NULL));
    REFUSES(MW_ERROR_DTYPE, "bias is fp32 but weight is fp16", mw_conv(F(2, 3, 5), H(4, 3, 3), ZEROS(4), NULL));
    REFUSES(MW_ERROR_SHAPE, "the window spans 5 on spatial axis 1, x with its padding only 4",
            mw_conv(F(2, 3, 5, 4), ZEROS(4, 3, 1, 3), NULL, OPTIONS(.dilation = {1, 2})));
    REFUSES(MW_ERROR_SHAPE, "the window spans 6 on spatial axis 0, x with its padding only 5",
            mw_conv(F(2, 3, 2), F(4, 3, 6), NULL, OPTIONS(.pad_type = MW_PAD_CUSTOM, .pad = {1, 2})));
}

static void test_conv_refuses_numbers(void)
{
    REFUSES(MW_ERROR_ARGUMENT, "strides[1] is 0, it must be at least 1",
            op(g, "conv", "x", F(2, 3, 5, 4), "weight", F(4, 3, 3, 2), "strides", INTS(1, 0), NULL));
    REFUSES(MW_ERROR_ARGUMENT, "strides[0] is -1, it must be at least 1",
            mw_conv(F(2, 3, 5), F(4, 3, 3), NULL, OPTIONS(.stride = {-1})));
    REFUSES(MW_ERROR_ARGUMENT, "dilations[0] is 0, it must be at least 1",
            op(g, "conv", "x", F(2, 3, 5), "weight", ZEROS(4, 3, 3), "dilations", INTS(0), NULL));
    REFUSES(MW_ERROR_ARGUMENT, "pad[1] is -1, it must be at least 0",
            mw_conv(F(2, 3, 5), F(4, 3, 3), NULL, OPTIONS(.pad_type = MW_PAD_CUSTOM, .pad = {0, -1})));
    REFUSES(MW_ERROR_ARGUMENT, "groups 0 must be at least 1",
            op(g, "conv", "x", F(2, 3, 5), "weight", F(4, 3, 3), "groups", one(g, 0), NULL));
    REFUSES(MW_ERROR_SHAPE, "groups 2 does not divide 3 channels",
            mw_conv(F(2, 3, 5), F(4, 3, 3), NULL, OPTIONS(.groups = 2)));
    REFUSES(MW_ERROR_SHAPE, "groups 2 does not divide 5 channels",
            mw_conv(F(2, 4, 5), F(5, 2, 3), NULL, OPTIONS(.groups = 2)));
    REFUSES(MW_ERROR_ARGUMENT, "pad_type 9 is none",
            mw_conv(F(2, 3, 5), F(4, 3, 3), NULL, OPTIONS(.pad_type = (mw_pad_type)9)));
    REFUSES(MW_ERROR_ARGUMENT, "were not made by mw_conv_defaults",
            mw_conv(F(2, 3, 5), F(4, 3, 3), NULL, &(mw_conv_options){0}));
}

static void test_conv_by_name(void)
{
    GIVES(MW_F32, S(2, 4, 3), op(g, "conv", "x", F(2, 3, 5), "weight", F(4, 3, 3), NULL));
    GIVES(MW_F32, S(2, 4, 5),
          op(g, "conv", "x", F(2, 3, 5), "weight", F(4, 3, 3), "pad_type", mw_text(g, "SAME"), NULL));
    GIVES_IN(MW_IOS15, MW_F32, S(2, 4, 3),
             op(g, "conv", "x", F(2, 3, 5), "weight", F(4, 3, 3), "bias", F(4), NULL)); /* added */
    REFUSES(MW_ERROR_UNSUPPORTED, "a weight that is computed cannot be dilated; mw_conv spreads it",
            op(g, "conv", "x", F(2, 3, 5), "weight", F(4, 3, 2), "dilations", INTS(2), NULL));
    REFUSES(MW_ERROR_ARGUMENT, "strides has 2 elements",
            op(g, "conv", "x", F(2, 3, 5), "weight", F(4, 3, 3), "strides", INTS(1, 1), NULL));
    REFUSES(
        MW_ERROR_ARGUMENT, "pad has 1 elements, the spatial axes need 2",
        op(g, "conv", "x", F(2, 3, 5), "weight", F(4, 3, 3), "pad", INTS(1), "pad_type", mw_text(g, "custom"), NULL));
    REFUSES(MW_ERROR_ARGUMENT, "pad_type is \"full\", not valid, custom, same or same_lower",
            op(g, "conv", "x", F(2, 3, 5), "weight", F(4, 3, 3), "pad_type", mw_text(g, "full"), NULL));
    REFUSES_IN(MW_IOS15, MW_ERROR_UNSUPPORTED, "pad_type same_lower needs opset ios16",
               op(g, "conv", "x", F(2, 3, 5), "weight", F(4, 3, 3), "pad_type", mw_text(g, "same_lower"), NULL));
    GIVES_IN(MW_IOS16, MW_F32, S(2, 4, 5),
             op(g, "conv", "x", F(2, 3, 5), "weight", F(4, 3, 3), "pad_type", mw_text(g, "same_lower"), NULL));
}

/* ---- conv_quantized ---- */

static mw_tensor *codes(mw_graph *g, mw_shape shape)
{
    static const uint8_t data[256];
    return mw_constant(g, MW_U8, shape, data);
}

#define QUANTIZED(x_, weight_, scale_, offset_, type_, ...)                                                            \
    op(g, "conv_quantized", "x", x_, "weight", weight_, "quant_scale", scale_, "quant_bias", offset_,                  \
       "quantization_type", mw_text(g, type_), __VA_ARGS__)
#define CODES(...) codes(g, MW_SHAPE(__VA_ARGS__))

static void test_conv_quantized_extents(void)
{
    GIVES_IN(MW_IOS15, MW_F32, S(2, 4, 3), QUANTIZED(F(2, 3, 5), CODES(4, 3, 3), ZEROS(1), ZEROS(4), "linear", NULL));
    GIVES(MW_F32, S(2, 4, 3, 3),
          QUANTIZED(F(2, 6, 5, 5), CODES(4, 3, 3, 3), ZEROS(4), mw_scalar(g, MW_F32, 1), "linear", "groups", one(g, 2),
                    "nbits", one(g, 4), "bias", CODES(4), NULL));
    GIVES(MW_F32, S(2, 4, 5),
          QUANTIZED(F(2, 3, 5), CODES(4, 3, 3), ZEROS(1), ZEROS(1), "linear", "pad_type", mw_text(g, "same"), "bias",
                    ZEROS(4), NULL));
    GIVES(MW_F32, S(2, 4, -1), QUANTIZED(F(2, 3, -1), CODES(4, 3, 3), ZEROS(1), ZEROS(1), "linear", NULL));
}

static void test_conv_quantized_refuses(void)
{
    REFUSES(MW_ERROR_UNSUPPORTED, "conv_quantized: quantization_type is \"lut\", for which MIL has no table",
            QUANTIZED(F(2, 3, 5), CODES(4, 3, 3), ZEROS(1), ZEROS(1), "lut", NULL));
    REFUSES(MW_ERROR_ARGUMENT, "quantization_type \"cubic\" is neither linear nor lut",
            QUANTIZED(F(2, 3, 5), CODES(4, 3, 3), ZEROS(1), ZEROS(1), "cubic", NULL));
    REFUSES(MW_ERROR_ARGUMENT, "nbits is 9; 1 to 8 are allowed",
            QUANTIZED(F(2, 3, 5), CODES(4, 3, 3), ZEROS(1), ZEROS(1), "linear", "nbits", one(g, 9), NULL));
    REFUSES(MW_ERROR_DTYPE, "weight is fp32, not uint8",
            QUANTIZED(F(2, 3, 5), ZEROS(4, 3, 3), ZEROS(1), ZEROS(1), "linear", NULL));
    REFUSES(MW_ERROR_DTYPE, "bias is int32, neither fp32 as x nor uint8",
            QUANTIZED(F(2, 3, 5), CODES(4, 3, 3), ZEROS(1), ZEROS(1), "linear", "bias", INTS(1, 2, 3, 4), NULL));
    REFUSES(MW_ERROR_SHAPE, "quant_scale [3] must have one element, or the 4 of the channels",
            QUANTIZED(F(2, 3, 5), CODES(4, 3, 3), ZEROS(3), ZEROS(1), "linear", NULL));
    REFUSES(MW_ERROR_SHAPE, "quant_bias [2, 4] must have one element, or the 4 of the channels",
            QUANTIZED(F(2, 3, 5), CODES(4, 3, 3), ZEROS(1), ZEROS(2, 4), "linear", NULL));
    REFUSES(MW_ERROR_DTYPE, "fp16", QUANTIZED(H(2, 3, 5), CODES(4, 3, 3), ZEROS(1), ZEROS(1), "linear", NULL));
    REFUSES(MW_ERROR_ARGUMENT, "quant_scale must be a constant",
            QUANTIZED(F(2, 3, 5), CODES(4, 3, 3), F(1), ZEROS(1), "linear", NULL));
    REFUSES(MW_ERROR_SHAPE, "weight must be [outputs, channels of x / groups, kernel]",
            QUANTIZED(F(2, 3, 5), CODES(4, 2, 3), ZEROS(1), ZEROS(1), "linear", NULL));
}

static void test_conv_transpose_extents(void)
{
    GIVES(MW_F32, S(2, 4, 9, 7), mw_conv_transpose(F(2, 3, 4, 4), ZEROS(3, 4, 3, 1), NULL, OPTIONS(.stride = {2, 2})));
    GIVES(MW_F32, S(2, 4, 8), mw_conv_transpose(F(2, 3, 4), ZEROS(3, 4, 2), NULL, OPTIONS(.stride = {2})));
    GIVES(MW_F32, S(2, 4, 6),
          mw_conv_transpose(F(2, 3, 4), ZEROS(3, 4, 3), NULL,
                            OPTIONS(.stride = {2}, .pad_type = MW_PAD_CUSTOM, .pad = {1, 2})));
    GIVES(MW_F32, S(2, 4, 12),
          mw_conv_transpose(F(2, 3, 4), ZEROS(3, 4, 2), NULL, OPTIONS(.stride = {3}, .pad_type = MW_PAD_SAME)));
    GIVES(MW_F32, S(2, 8, 8),
          mw_conv_transpose(F(2, 4, 4), ZEROS(4, 4, 3), NULL, OPTIONS(.dilation = {2}, .groups = 2)));
    GIVES(MW_F32, S(2, 4, 5),
          mw_conv_transpose(F(2, 3, 4), ZEROS(3, 4, 3), ZEROS(4), OPTIONS(.output_shape = {3, {2, 4, 5}})));
    GIVES(MW_F32, S(-1, 4, -1), mw_conv_transpose(F(-1, 3, -1), ZEROS(3, 4, 3), NULL, NULL));
    GIVES(MW_F32, S(2, 4, 9), mw_conv_transpose(F(2, 3, 4), F(3, 4, 3), F(4), OPTIONS(.stride = {2})));
    GIVES(MW_F32, S(2, 4, 6), op(g, "conv_transpose", "x", F(2, 3, 4), "weight", F(3, 4, 3), NULL));
}

static void test_conv_transpose_refuses(void)
{
    REFUSES(MW_ERROR_SHAPE, "conv_transpose: weight must be [channels of x, outputs / groups, kernel]: x",
            mw_conv_transpose(F(2, 3, 4), ZEROS(2, 4, 3), NULL, NULL));
    REFUSES(MW_ERROR_SHAPE, "weight must have the rank of x", mw_conv_transpose(F(2, 3, 4), ZEROS(3, 4), NULL, NULL));
    REFUSES(MW_ERROR_SHAPE, "groups 2 does not divide 3 channels",
            mw_conv_transpose(F(2, 3, 4), ZEROS(3, 4, 3), NULL, OPTIONS(.groups = 2)));
    REFUSES(MW_ERROR_SHAPE, "axis 2: pad 3 and 3 leave nothing of 6 elements",
            mw_conv_transpose(F(2, 3, 4), ZEROS(3, 4, 3), NULL, OPTIONS(.pad_type = MW_PAD_CUSTOM, .pad = {3, 3})));
    REFUSES(MW_ERROR_SHAPE, "axis 2 of x has no elements", mw_conv_transpose(F(2, 3, 0), ZEROS(3, 4, 3), NULL, NULL));
    REFUSES(MW_ERROR_SHAPE, "output_shape must have 3 extents, the first two of [2, 4, ?]",
            mw_conv_transpose(F(2, 3, 4), ZEROS(3, 4, 3), NULL, OPTIONS(.output_shape = {3, {2, 3, 5}})));
    REFUSES(
        MW_ERROR_SHAPE, "axis 2: output_shape 11 must be positive and below 11",
        mw_conv_transpose(F(2, 3, 4), ZEROS(3, 4, 3), NULL, OPTIONS(.stride = {2}, .output_shape = {3, {2, 4, 11}})));
    REFUSES(MW_ERROR_ARGUMENT, "pad_type is \"same_lower\", not valid, custom or same",
            mw_conv_transpose(F(2, 3, 4), ZEROS(3, 4, 3), NULL, OPTIONS(.pad_type = MW_PAD_SAME_LOWER)));
    REFUSES(MW_ERROR_UNSUPPORTED, "every extent must be known", mw_conv_transpose(F(2, 3, -1), F(3, 4, 3), NULL, NULL));
    REFUSES(MW_ERROR_ARGUMENT, "argument weight is missing",
            op(g, "conv_transpose", "x", F(2, 3, 4), "bias", F(4), NULL));
}

static void test_layers(void)
{
    GIVES(MW_F32, S(2, 8, 5, 4), mw_conv_layer(F(2, 3, 5, 4), 8, S(3, 3), "c", OPTIONS(.pad_type = MW_PAD_SAME)));
    GIVES(MW_F32, S(2, 8, 4),
          mw_conv_layer(F(2, 4, 7), 8, S(3), "c", OPTIONS(.stride = {2}, .pad_type = MW_PAD_SAME, .groups = 4)));
    GIVES(MW_F32, S(2, 8, 3), mw_conv_layer(F(2, 4, 7), 8, S(3), "c", OPTIONS(.dilation = {2})));
    GIVES(MW_F32, S(2, 6, 9, 9), mw_conv_transpose_layer(F(2, 4, 4, 4), 6, S(3, 3), "c", OPTIONS(.stride = {2, 2})));
    REFUSES(MW_ERROR_ARGUMENT, "conv: the name is empty", mw_conv_layer(F(2, 3, 5), 8, S(3), "", NULL));
    REFUSES(MW_ERROR_ARGUMENT, "conv \"c\": channels 0 must be positive",
            mw_conv_layer(F(2, 3, 5), 0, S(3), "c", NULL));
    REFUSES(MW_ERROR_SHAPE, "conv \"c\": the kernel has 2 extents, x 1 spatial axes",
            mw_conv_layer(F(2, 3, 5), 8, S(3, 3), "c", NULL));
    REFUSES(MW_ERROR_SHAPE, "conv_transpose \"c\": groups 2 must divide the 3 channels of x and the 8 of the result",
            mw_conv_transpose_layer(F(2, 3, 5), 8, S(3), "c", OPTIONS(.groups = 2)));
    REFUSES(MW_ERROR_SHAPE, "x [2, ?, 5] must be [batch, channels", mw_conv_layer(F(2, -1, 5), 8, S(3), "c", NULL));
    REFUSES(MW_ERROR_SHAPE, "conv \"c\": the window spans 7", mw_conv_layer(F(2, 3, 5), 8, S(7), "c", NULL));
}

static void test_layers_name_parameters_as_pytorch(void)
{
    mw_graph *g = make_graph(MW_IOS18, NULL);
    mw_conv_layer(F(2, 4, 7, 7), 6, S(3, 2), "a", OPTIONS(.groups = 2, .bias = true));
    mw_conv_transpose_layer(F(2, 4, 7, 7), 6, S(3, 2), "b", OPTIONS(.groups = 2));
    CHECK_TYPE(mw_graph_find(g, "a.weight"), MW_F32, S(6, 2, 3, 2));
    CHECK_TYPE(mw_graph_find(g, "a.bias"), MW_F32, S(6));
    CHECK_TYPE(mw_graph_find(g, "b.weight"), MW_F32, S(4, 3, 3, 2));
    CHECK(mw_graph_find(g, "b.bias") == NULL);
    mw_graph_destroy(g);
}

int main(void)
{
    RUN(test_conv_extents);
    RUN(test_conv_bias_by_opset);
    RUN(test_conv_unknown_extents);
    RUN(test_conv_refuses_operands);
    RUN(test_conv_refuses_numbers);
    RUN(test_conv_by_name);
    RUN(test_conv_quantized_extents);
    RUN(test_conv_quantized_refuses);
    RUN(test_conv_transpose_extents);
    RUN(test_conv_transpose_refuses);
    RUN(test_layers);
    RUN(test_layers_name_parameters_as_pytorch);
    return check_finish();
}

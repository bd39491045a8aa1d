/* Cases of ops/conv.def. To cover a row: one builder if none fits, one line in the table. */
#include "support/cases/op_case_rows.h"

#include "base/number/fp16.h"

/* Weights that must be constants: small numbers that are exact in fp16. */
static mw_tensor *constant(mw_tensor *like, mw_shape shape)
{
    float wide[64];
    uint16_t half[64];
    for (int i = 0; i < 64; i++) {
        wide[i] = (float)(i * 37 % 23 - 11) / 16.0f;
        half[i] = mw__fp16_from_float(wide[i]);
    }
    const mw_dtype dtype = mw_tensor_dtype(like);
    return mw_constant(mw_tensor_graph(like), dtype, shape, dtype == MW_F16 ? (const void *)half : wide);
}

#define OPTIONS(...)                                                                                                   \
    &(mw_conv_options) { .struct_size = sizeof(mw_conv_options), __VA_ARGS__ }
#define STRIDE(...) .stride = {__VA_ARGS__}
#define DILATE(...) .dilation = {__VA_ARGS__}
#define PAD(...)    .pad_type = MW_PAD_CUSTOM, .pad = {__VA_ARGS__}
#define ONES        1, 1, 1
#define VALID       .pad_type = MW_PAD_VALID
#define SAME        .pad_type = MW_PAD_SAME
#define LOWER       .pad_type = MW_PAD_SAME_LOWER

/* clang-format off */
BUILD(plain, mw_conv(in[0], in[1], NULL, NULL))
BUILD(bias, mw_conv(in[0], in[1], in[2], NULL))
BUILD(strides, mw_conv(in[0], in[1], NULL, OPTIONS(STRIDE(2, 3), DILATE(ONES), .groups = 1, PAD(1, 0, 2, 3))))
BUILD(wide_stride, mw_conv(in[0], in[1], NULL, OPTIONS(STRIDE(4, 4), DILATE(ONES), .groups = 1, VALID)))
BUILD(wide_border, mw_conv(in[0], in[1], NULL, OPTIONS(STRIDE(2, 1), DILATE(ONES), .groups = 1, PAD(4, 1, 0, 5))))
BUILD(dilated, mw_conv(in[0], in[1], NULL, OPTIONS(STRIDE(1, 2), DILATE(2, 3), .groups = 1, PAD(2, 1, 1, 2))))
BUILD(groups, mw_conv(in[0], in[1], in[2], OPTIONS(STRIDE(2, 1), DILATE(ONES), .groups = 2, PAD(1, 1, 0, 1))))
BUILD(depthwise, mw_conv(in[0], in[1], NULL, OPTIONS(STRIDE(ONES), DILATE(ONES), .groups = 3, SAME)))
BUILD(same, mw_conv(in[0], in[1], NULL, OPTIONS(STRIDE(2, 1), DILATE(ONES), .groups = 1, SAME)))
BUILD(same_small, mw_conv(in[0], in[1], NULL, OPTIONS(STRIDE(3, 3), DILATE(ONES), .groups = 1, SAME)))
BUILD(same_lower, mw_conv(in[0], in[1], NULL, OPTIONS(STRIDE(2, 1), DILATE(1, 1), .groups = 1, LOWER)))
BUILD(line, mw_conv(in[0], in[1], in[2], OPTIONS(STRIDE(2), DILATE(1), .groups = 1, PAD(1, 2))))
BUILD(space, mw_conv(in[0], in[1], NULL, OPTIONS(STRIDE(1, 2, 1), DILATE(ONES), .groups = 1, PAD(1, 0, 0, 1, 0, 0))))
BUILD(space_groups, mw_conv(in[0], in[1], NULL, OPTIONS(STRIDE(2, 1, 1), DILATE(1, 1, 2), .groups = 2, SAME)))
BUILD(fixed, mw_conv(in[0], constant(in[0], MW_SHAPE(3, 2, 2, 2)), in[1],
                     OPTIONS(STRIDE(2, 1), DILATE(2, 1), .groups = 1, PAD(1, 0, 1, 1))))
BUILD(fixed_rest, mw_conv(in[0], constant(in[0], MW_SHAPE(3, 2, 2, 2)), NULL,
                          OPTIONS(STRIDE(3, 4), DILATE(ONES), .groups = 1, VALID)))
BUILD(fixed_groups, mw_conv(in[0], constant(in[0], MW_SHAPE(4, 2, 3)), NULL,
                            OPTIONS(STRIDE(2), DILATE(2), .groups = 2, SAME)))
BUILD(transpose, mw_conv_transpose(in[0], constant(in[0], MW_SHAPE(2, 3, 2, 3)), NULL, NULL))
BUILD(transpose_bias, mw_conv_transpose(in[0], constant(in[0], MW_SHAPE(2, 3, 2, 3)), constant(in[0], MW_SHAPE(3)),
                                        OPTIONS(STRIDE(2, 3), DILATE(2, 1), .groups = 1, PAD(1, 0, 2, 1))))
BUILD(transpose_groups, mw_conv_transpose(in[0], constant(in[0], MW_SHAPE(4, 2, 3)), NULL,
                                          OPTIONS(STRIDE(2), DILATE(1), .groups = 2, SAME)))
BUILD(transpose_gap, mw_conv_transpose(in[0], constant(in[0], MW_SHAPE(2, 2, 2)), NULL,
                                       OPTIONS(STRIDE(3), DILATE(1), .groups = 1, SAME)))
BUILD(transpose_shape, mw_conv_transpose(in[0], constant(in[0], MW_SHAPE(2, 2, 3, 2)), NULL,
                                         OPTIONS(STRIDE(2, 2), DILATE(ONES), .groups = 1, VALID,
                                                 .output_shape = {4, {2, 2, 4, 5}})))
BUILD(transpose_space, mw_conv_transpose(in[0], constant(in[0], MW_SHAPE(2, 1, 2, 2, 3)), NULL,
                                         OPTIONS(STRIDE(1, 2, 1), DILATE(1, 1, 2), .groups = 2,
                                                 PAD(0, 1, 1, 0, 1, 1))))
BUILD(transpose_computed, mw_conv_transpose(in[0], in[1], NULL,
                                            OPTIONS(STRIDE(2, 1), DILATE(1, 2), .groups = 2, PAD(1, 0, 0, 1))))
/* clang-format on */

/* ---- conv_quantized ---- */

/* Weights that are exact in fp16: codes / 64 - 1.5, and in each channel another of both numbers. */
typedef struct quantized {
    mw_shape weight;
    mw_tensor *codes; /* NULL = constants */
    bool along, biased;
    const int64_t strides[3], dilations[3];
    int64_t groups;
} quantized;

static mw_tensor *vector(mw_tensor *like, int64_t count, double first, double step)
{
    float wide[8];
    uint16_t half[8];
    for (int i = 0; i < 8; i++) {
        wide[i] = (float)(first + step * i);
        half[i] = mw__fp16_from_float(wide[i]);
    }
    const mw_dtype dtype = mw_tensor_dtype(like);
    return mw_constant(mw_tensor_graph(like), dtype, MW_SHAPE(count), dtype == MW_F16 ? (const void *)half : wide);
}

static mw_tensor *integers(mw_tensor *like, const int64_t *values, int64_t count)
{
    int32_t narrow[3];
    for (int i = 0; i < 3; i++)
        narrow[i] = (int32_t)values[i];
    return mw_constant(mw_tensor_graph(like), MW_I32, MW_SHAPE(count), narrow);
}

static mw_tensor *codes_of(mw_tensor *like, mw_shape shape)
{
    uint8_t codes[64];
    for (int i = 0; i < 64; i++)
        codes[i] = (uint8_t)(i * 89 % 256);
    return mw_constant(mw_tensor_graph(like), MW_U8, shape, codes);
}

static mw_tensor *conv_quantized(mw_tensor *x, quantized q)
{
    mw_graph *graph = mw_tensor_graph(x);
    const int64_t axes = q.weight.rank - 2, channels = q.weight.dim[0];
    mw_tensor *weight = q.codes != NULL ? q.codes : codes_of(x, q.weight);
    mw_tensor *scale = vector(x, q.along ? channels : 1, 1.0 / 64, q.along ? 1.0 / 64 : 0);
    mw_tensor *offset = vector(x, q.along ? channels : 1, -1.5, q.along ? -1.0 / 4 : 0);
    mw_tensor *bias = vector(x, channels, 0.25, 0.5), *groups = mw_scalar(graph, MW_I32, (double)q.groups);
    mw_tensor *strides = integers(x, q.strides, axes), *dilations = integers(x, q.dilations, axes);
    mw_tensor *same = mw_text(graph, "same"), *linear = mw_text(graph, "linear"), *y = NULL;
    const mw_argument arguments[] = {{"x", &x, 1},
                                     {"weight", &weight, 1},
                                     {"quant_scale", &scale, 1},
                                     {"quant_bias", &offset, 1},
                                     {"quantization_type", &linear, 1},
                                     {"strides", &strides, 1},
                                     {"dilations", &dilations, 1},
                                     {"groups", &groups, 1},
                                     {"pad_type", &same, 1},
                                     {"bias", &bias, 1}};
    mw_op(graph, "conv_quantized", arguments, q.biased ? 10 : 9, &y, 1, NULL);
    return y;
}

#define QUANTIZED(...) conv_quantized(in[0], (quantized){__VA_ARGS__})

/* clang-format off */
BUILD(codes, QUANTIZED(.weight = {4, {3, 2, 2, 3}}, .strides = {1, 1}, .dilations = {1, 1}, .groups = 1))
BUILD(codes_along, QUANTIZED(.weight = {4, {4, 2, 1, 2}}, .along = true, .biased = true, .strides = {2, 1},
                             .dilations = {1, 2}, .groups = 2))
BUILD(codes_line, QUANTIZED(.weight = {3, {2, 3, 4}}, .along = true, .strides = {3}, .dilations = {1}, .groups = 1))
BUILD(codes_computed, QUANTIZED(.weight = {4, {2, 2, 2, 2}}, .codes = mw_cast(in[1], MW_U8), .along = true,
                                .biased = true, .strides = {1, 2}, .dilations = {1, 1}, .groups = 1))
/* clang-format on */

#define X(...) F(4, -1, 1, __VA_ARGS__)
#define W(...) F(4, -1, 1, __VA_ARGS__)

/* clang-format off */
static const op_case rows[] = {
    LOOSE("conv", "", b_plain, 32, 8, SUM, X(2, 3, 5, 4), W(4, 3, 3, 2)),
    LOOSE("conv", "1 x 1", b_bias, 32, 8, SUM, X(2, 3, 3, 4), W(4, 3, 1, 1), F(1, -1, 1, 4)),
    LOOSE("conv", "bias", b_bias, 32, 8, SUM, X(2, 2, 4, 4), W(3, 2, 2, 3), F(1, -1, 1, 3)),
    LOOSE("conv", "strides and pads", b_strides, 32, 8, SUM, X(2, 2, 6, 5), W(3, 2, 3, 2)),
    LOOSE("conv", "stride beyond the kernel", b_wide_stride, 32, 8, SUM, X(1, 2, 7, 5), W(2, 2, 2, 1)),
    LOOSE("conv", "pads beyond the kernel", b_wide_border, 32, 8, SUM, X(1, 2, 3, 4), W(2, 2, 2, 2)),
    LOOSE("conv", "dilations", b_dilated, 32, 8, SUM, X(2, 2, 6, 7), W(3, 2, 3, 2)),
    LOOSE("conv", "groups", b_groups, 32, 8, SUM, X(2, 4, 5, 3), W(6, 2, 3, 2), F(1, -1, 1, 6)),
    LOOSE("conv", "depthwise", b_depthwise, 32, 8, SUM, X(2, 3, 4, 5), W(6, 1, 3, 2)),
    LOOSE("conv", "same", b_same, 32, 8, SUM, X(2, 2, 5, 4), W(3, 2, 2, 4)),
    LOOSE("conv", "same, stride beyond the kernel", b_same_small, 32, 8, SUM, X(1, 2, 7, 8), W(2, 2, 2, 1)),
    LOOSE("conv", "same_lower", b_same_lower, 32, 8, SUM, X(2, 2, 6, 4), W(3, 2, 3, 2)),
    LOOSE("conv", "1-D", b_line, 32, 8, SUM, F(3, -1, 1, 2, 3, 9), F(3, -1, 1, 4, 3, 4), F(1, -1, 1, 4)),
    LOOSE("conv", "3-D", b_space, 32, 8, SUM, F(5, -1, 1, 1, 2, 3, 4, 3), F(5, -1, 1, 2, 2, 2, 3, 2)),
    LOOSE("conv", "3-D groups", b_space_groups, 32, 8, SUM, F(5, -1, 1, 1, 4, 3, 2, 3), F(5, -1, 1, 2, 2, 2, 2, 2)),
    LOOSE("conv", "constant weight", b_fixed, 32, 8, SUM, X(2, 2, 5, 4), F(1, -1, 1, 3)),
    LOOSE("conv", "constant weight, elements left over", b_fixed_rest, 32, 8, SUM, X(2, 2, 7, 5)),
    LOOSE("conv", "constant weight, groups", b_fixed_groups, 32, 8, SUM, F(3, -1, 1, 2, 4, 7)),
    LOOSE("conv", "many tiles", b_plain, 64, 24, SUM, X(3, 2, 16, 15), W(3, 2, 2, 2)),
    LOOSE("conv_quantized", "", b_codes, 32, 16, SUM, X(2, 2, 3, 4)),
    LOOSE("conv_quantized", "numbers of each channel, groups", b_codes_along, 32, 16, SUM, X(2, 4, 5, 4)),
    LOOSE("conv_quantized", "1-D", b_codes_line, 32, 16, SUM, F(3, -1, 1, 2, 3, 9)),
    LOOSE("conv_quantized", "computed codes", b_codes_computed, 32, 32, SUM, X(1, 2, 3, 4), I(4, 0, 256, 2, 2, 2, 2)),
    LOOSE("conv_transpose", "", b_transpose, 32, 8, SUM, X(2, 2, 3, 4)),
    LOOSE("conv_transpose", "bias, strides, dilations, pads", b_transpose_bias, 32, 8, SUM, X(2, 2, 3, 3)),
    LOOSE("conv_transpose", "1-D groups, same", b_transpose_groups, 32, 8, SUM, F(3, -1, 1, 2, 4, 5)),
    LOOSE("conv_transpose", "same, stride beyond the kernel", b_transpose_gap, 32, 8, SUM, F(3, -1, 1, 2, 2, 4)),
    LOOSE("conv_transpose", "output_shape", b_transpose_shape, 32, 8, SUM, X(2, 2, 2, 2)),
    LOOSE("conv_transpose", "3-D depthwise", b_transpose_space, 32, 8, SUM, F(5, -1, 1, 1, 2, 3, 2, 2)),
    LOOSE("conv", "conv_transpose with a computed weight", b_transpose_computed, 32, 8, SUM, X(2, 4, 3, 3),
          W(4, 1, 2, 2)),
};
/* clang-format on */

static const op_unrecorded unrecorded[] = {{"conv_quantized", "PyTorch has no such operation"}, {NULL, NULL}};

OP_CASES_UNRECORDED(conv, rows, unrecorded)

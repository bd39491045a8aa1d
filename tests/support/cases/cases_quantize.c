/* Cases of ops/quantize.def. Constants have no run-time input: a case multiplies one by its input, so that it takes
 * part in kernels and derivatives alike. */
#include "support/cases/op_case_rows.h"

#include <string.h>

/* ---- constants ---- */

enum { CODES_MAX = 256 };

/* `count` codes of `bits` bits, packed LSB first, by a fixed rule. */
static mw_tensor *codes(mw_tensor *x, mw_dtype dtype, mw_shape shape)
{
    unsigned char data[CODES_MAX] = {0};
    const int bits = mw_dtype_bits(dtype);
    uint32_t state = 12345;
    for (int64_t i = 0; i < mw_shape_count(shape); i++) {
        state = state * 1664525u + 1013904223u;
        for (int b = 0; b < bits; b++) {
            const int64_t at = i * bits + b;
            data[at / 8] = (unsigned char)(data[at / 8] | (state >> (24 - b) & 1u) << (at % 8));
        }
    }
    return mw_constant(mw_tensor_graph(x), dtype, shape, data);
}

/* Numbers that fp16 holds, in the float type of x. */
static mw_tensor *numbers(mw_tensor *x, mw_shape shape)
{
    float single[CODES_MAX];
    const int64_t count = mw_shape_count(shape);
    for (int64_t i = 0; i < count; i++)
        single[i] = (float)((i * 7) % 32 + 1) / 16.0f;
    mw_tensor *constant = mw_constant(mw_tensor_graph(x), MW_F32, shape, single);
    if (mw_tensor_dtype(x) == MW_F32)
        return constant;
    uint16_t half[CODES_MAX];
    for (int64_t i = 0; i < count; i++) { /* 1/16 to 2: exponent and mantissa by hand, apart from the library */
        int exponent = 11;
        float mantissa = single[i] * 16.0f;
        for (; mantissa >= 2.0f; mantissa /= 2.0f)
            exponent++;
        half[i] = (uint16_t)(exponent << 10 | (int)((mantissa - 1.0f) * 1024.0f));
    }
    return mw_constant(mw_tensor_graph(x), MW_F16, shape, half);
}

/* Powers of two, by which fp16 rounds nothing here. */
static mw_tensor *powers(mw_tensor *x, mw_shape shape)
{
    float single[CODES_MAX];
    uint16_t half[CODES_MAX];
    for (int64_t i = 0; i < mw_shape_count(shape); i++) {
        single[i] = 1.0f / (float)(1 << (i % 4));
        half[i] = (uint16_t)((15 - i % 4) << 10);
    }
    const bool halves = mw_tensor_dtype(x) == MW_F16;
    return mw_constant(mw_tensor_graph(x), mw_tensor_dtype(x), shape, halves ? (const void *)half : single);
}

static mw_tensor *bytes(mw_tensor *x, mw_dtype dtype, int count)
{
    static const int8_t values[] = {3, -4, 5, 6, -7, 8, 9, -1};
    return mw_constant(mw_tensor_graph(x), dtype, MW_SHAPE(count), values);
}

static mw_tensor *single(mw_tensor *x, double value)
{
    return mw_scalar(mw_tensor_graph(x), mw_tensor_dtype(x), value);
}

/* ---- builders ---- */

static mw_tensor *blocks(mw_tensor *x, mw_dtype dtype, mw_shape parts, bool offset)
{
    mw_tensor *data = codes(x, dtype, mw_tensor_shape(x));
    return mw_mul(x,
                  mw_constexpr_blockwise_shift_scale(data, powers(x, parts), offset ? codes(x, dtype, parts) : NULL));
}

static mw_tensor *table(mw_tensor *x, mw_dtype dtype, mw_shape indices, mw_shape lut, int axis)
{
    return mw_mul(x, mw_constexpr_lut_to_dense(codes(x, dtype, indices), numbers(x, lut), axis));
}

/* Both results of an operation of a mask, scattered again. */
static mw_tensor *pair(mw_tensor *x, const char *operation, const mw_argument *arguments, size_t count)
{
    mw_tensor *results[2];
    if (mw_op(mw_tensor_graph(x), operation, arguments, count, results, 2, NULL) != MW_OK)
        return NULL;
    return mw_mul(x, mw_constexpr_sparse_to_dense(results[1], results[0]));
}

/* [2, 8]: 7 of the first line, 2 of the second. */
static mw_tensor *mask_of(mw_tensor *x)
{
    static const unsigned char bits[] = {0x7f, 0x82};
    return mw_constant(mw_tensor_graph(x), MW_U1, MW_SHAPE(2, 8), bits);
}

static mw_tensor *lut_to_sparse(mw_tensor *x, int vector, int at)
{
    mw_tensor *mask = mask_of(x), *values = codes(x, MW_U2, MW_SHAPE(9));
    mw_tensor *lut = numbers(x, MW_SHAPE(2, 1, 4, vector)), *axis = mw_scalar(mw_tensor_graph(x), MW_I32, at);
    const mw_argument arguments[] = {
        {"indices_mask", &mask, 1}, {"indices_nonzero_data", &values, 1}, {"lut", &lut, 1}, {"vector_axis", &axis, 1}};
    return pair(x, "constexpr_lut_to_sparse", arguments, 4);
}

static mw_tensor *sparse_shift_scale(mw_tensor *x)
{
    mw_tensor *mask = mask_of(x), *values = codes(x, MW_I8, MW_SHAPE(9));
    mw_tensor *scale = powers(x, MW_SHAPE(1, 4)), *offset = codes(x, MW_I8, MW_SHAPE(1, 4));
    const mw_argument arguments[] = {
        {"data_mask", &mask, 1}, {"nonzero_data", &values, 1}, {"scale", &scale, 1}, {"offset", &offset, 1}};
    return pair(x, "constexpr_sparse_blockwise_shift_scale", arguments, 4);
}

static mw_tensor *affine(mw_tensor *x)
{
    mw_graph *graph = mw_tensor_graph(x);
    mw_tensor *data = codes(x, MW_U8, mw_tensor_shape(x)), *scale = powers(x, MW_SHAPE(3));
    mw_tensor *zero = mw_constant(graph, MW_U8, mw_shape_scalar(), "\x7b"), *axis = mw_scalar(graph, MW_I32, -2), *y;
    const mw_argument arguments[] = {
        {"quantized_data", &data, 1}, {"scale", &scale, 1}, {"zero_point", &zero, 1}, {"axis", &axis, 1}};
    mw_op(graph, "constexpr_affine_dequantize", arguments, 4, &y, 1, NULL);
    return mw_mul(x, y);
}

static mw_tensor *widened(mw_tensor *x)
{
    static const uint16_t halves[] = {0x3c00, 0xbc00, 0x3555, 0x0001, 0x3bff, 0x8000};
    mw_graph *graph = mw_tensor_graph(x);
    mw_tensor *source = mw_constant(graph, MW_F16, MW_SHAPE(6), halves), *dtype = mw_text(graph, "fp32"), *y;
    const mw_argument arguments[] = {{"source_val", &source, 1}, {"output_dtype", &dtype, 1}};
    mw_op(graph, "constexpr_cast", arguments, 2, &y, 1, NULL);
    return mw_mul(x, mw_cast(y, mw_tensor_dtype(x)));
}

static mw_tensor *quantized(mw_tensor *x, mw_tensor *scale, mw_tensor *zero_point, int axis, mw_dtype dtype)
{
    return mw_add(x, mw_cast(mw_quantize(x, scale, zero_point, axis, dtype), mw_tensor_dtype(x)));
}

static mw_tensor *dequantized(mw_tensor *x, mw_tensor *scale, mw_tensor *zero_point, int axis, mw_dtype dtype)
{
    return mw_mul(x, mw_dequantize(codes(x, dtype, mw_tensor_shape(x)), scale, zero_point, axis));
}

/* clang-format off */
BUILD(quantize_i8, quantized(in[0], single(in[0], 0.25), NULL, 0, MW_I8))
BUILD(quantize_u8, quantized(in[0], numbers(in[0], MW_SHAPE(3)), bytes(in[0], MW_U8, 3), 1, MW_U8))
BUILD(quantize_last, quantized(in[0], powers(in[0], MW_SHAPE(5)), bytes(in[0], MW_I8, 5), -1, MW_I8))
BUILD(dequantize_i8, dequantized(in[0], single(in[0], 0.125), NULL, 0, MW_I8))
BUILD(dequantize_u8, dequantized(in[0], powers(in[0], MW_SHAPE(3)), bytes(in[0], MW_U8, 3), 1, MW_U8))
BUILD(dequantize_scale, mw_dequantize(codes(in[0], MW_I8, MW_SHAPE(4, 3)), in[0], bytes(in[0], MW_I8, 3), 1))
BUILD(dequantize_one_scale, mw_dequantize(codes(in[0], MW_U8, MW_SHAPE(4, 3)), in[0], NULL, 0))
BUILD(dequantize_of, mw_add(in[0], mw_dequantize(mw_quantize(in[0], single(in[0], 0.25), NULL, 0, MW_I8), single(in[0], 0.25), NULL, 0)))
BUILD(blocks_i4, blocks(in[0], MW_I4, MW_SHAPE(2, 3), true))
BUILD(blocks_u4, blocks(in[0], MW_U4, MW_SHAPE(4, 1), false))
BUILD(blocks_i8, blocks(in[0], MW_I8, MW_SHAPE(1, 1, 5), true))
BUILD(blocks_u8, blocks(in[0], MW_U8, MW_SHAPE(1), true))
BUILD(table_1, table(in[0], MW_U1, MW_SHAPE(4, 6), MW_SHAPE(1, 1, 2, 1), 0))
BUILD(table_2, table(in[0], MW_U2, MW_SHAPE(4, 6), MW_SHAPE(2, 3, 4, 1), 0))
BUILD(table_3, table(in[0], MW_U3, MW_SHAPE(4, 6), MW_SHAPE(4, 1, 8, 1), 0))
BUILD(table_4, table(in[0], MW_U4, MW_SHAPE(3, 5), MW_SHAPE(1, 5, 16, 1), 0))
BUILD(table_6, table(in[0], MW_U6, MW_SHAPE(7), MW_SHAPE(1, 64, 1), 0))
BUILD(table_8, table(in[0], MW_U8, MW_SHAPE(4, 6), MW_SHAPE(1, 1, 256, 1), 0))
BUILD(vector_first, table(in[0], MW_U2, MW_SHAPE(2, 6), MW_SHAPE(2, 1, 4, 2), 0))
BUILD(vector_last, table(in[0], MW_U2, MW_SHAPE(4, 2), MW_SHAPE(1, 2, 4, 3), -1))
BUILD(sparse, mw_mul(in[0], mw_constexpr_sparse_to_dense(numbers(in[0], MW_SHAPE(9)), mask_of(in[0]))))
BUILD(lut_to_sparse, lut_to_sparse(in[0], 1, 0))
BUILD(vectors_to_sparse, lut_to_sparse(in[0], 2, 0))
BUILD(vectors_to_sparse_last, lut_to_sparse(in[0], 3, 1))
BUILD(sparse_shift_scale, sparse_shift_scale(in[0]))
BUILD(affine, affine(in[0]))
BUILD(widened, widened(in[0]))

static const op_case rows[] = {
    EXACT("quantize", "int8", b_quantize_i8, F(2, -3, 3, 4, 6)),
    EXACT("quantize", "uint8, a vector, saturating", b_quantize_u8, F(3, -60, 300, 2, 3, 5)),
    EXACT("quantize", "last axis", b_quantize_last, F(3, -3, 3, 2, 130, 5)),
    EXACT("dequantize", "int8", b_dequantize_i8, F(2, -2, 2, 4, 6)),
    EXACT("dequantize", "uint8, a vector", b_dequantize_u8, F(3, -2, 2, 2, 3, 5)),
    EXACT("dequantize", "computed scales", b_dequantize_scale, F(1, 0.1, 2, 3)),
    EXACT("dequantize", "a computed scale", b_dequantize_one_scale, F(0, 0.1, 2, 1)),
    EXACT("dequantize", "of quantized values", b_dequantize_of, F(2, -3, 3, 4, 6)),
    EXACT("constexpr_affine_dequantize", "", b_affine, F(3, -2, 2, 2, 3, 5)),
    EXACT("constexpr_cast", "", b_widened, F(1, -0.5, 0.5, 6)),
    EXACT("constexpr_blockwise_shift_scale", "int4", b_blocks_i4, F(2, -2, 2, 4, 6)),
    EXACT("constexpr_blockwise_shift_scale", "uint4, columns", b_blocks_u4, F(2, -2, 2, 4, 6)),
    EXACT("constexpr_blockwise_shift_scale", "int8, rows", b_blocks_i8, F(3, -2, 2, 2, 3, 5)),
    EXACT("constexpr_blockwise_shift_scale", "uint8, one block", b_blocks_u8, F(1, -2, 2, 17)),
    EXACT("constexpr_lut_to_dense", "1 bit", b_table_1, F(2, -2, 2, 4, 6)),
    EXACT("constexpr_lut_to_dense", "2 bits, blocks", b_table_2, F(2, -2, 2, 4, 6)),
    EXACT("constexpr_lut_to_dense", "3 bits, rows", b_table_3, F(2, -2, 2, 4, 6)),
    EXACT("constexpr_lut_to_dense", "4 bits, columns", b_table_4, F(2, -2, 2, 3, 5)),
    EXACT("constexpr_lut_to_dense", "6 bits", b_table_6, F(1, -2, 2, 7)),
    EXACT("constexpr_lut_to_dense", "8 bits", b_table_8, F(2, -2, 2, 4, 6)),
    EXACT("constexpr_lut_to_dense", "vectors, first axis", b_vector_first, F(2, -2, 2, 4, 6)),
    EXACT("constexpr_lut_to_dense", "vectors, last axis", b_vector_last, F(2, -2, 2, 4, 6)),
    EXACT("constexpr_sparse_to_dense", "", b_sparse, F(2, -2, 2, 2, 8)),
    EXACT("constexpr_lut_to_sparse", "", b_lut_to_sparse, F(2, -2, 2, 2, 8)),
    EXACT("constexpr_lut_to_sparse", "vectors", b_vectors_to_sparse, F(2, -2, 2, 4, 8)),
    EXACT("constexpr_lut_to_sparse", "vectors, last axis", b_vectors_to_sparse_last, F(2, -2, 2, 2, 24)),
    EXACT("constexpr_sparse_blockwise_shift_scale", "", b_sparse_shift_scale, F(2, -2, 2, 2, 8)),
};
/* clang-format on */

static const op_unrecorded unrecorded[] = {
    {"quantize",
     "PyTorch 1.13 has it for quantized tensors only; tests/autograd/vjp/test_quantize.c compares with fake_quantize"},
    {"dequantize", "likewise"},
    {"constexpr_affine_dequantize", "a constant: tests/mil/test_compressed.c has it as interpreter and coremltools do"},
    {"constexpr_cast", "likewise"},
    {"constexpr_blockwise_shift_scale", "likewise"},
    {"constexpr_lut_to_dense", "likewise"},
    {"constexpr_sparse_to_dense", "likewise"},
    {"constexpr_lut_to_sparse", "likewise"},
    {"constexpr_sparse_blockwise_shift_scale", "likewise"},
    {NULL, NULL}};

OP_CASES_UNRECORDED(quantize, rows, unrecorded)

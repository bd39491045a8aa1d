/* Shape rules of ops/quantize.def; those of constants are in tests/mil/test_compressed.c, as text. */
#include "shape_words.h"

#define VECTOR(dtype, count)                                                                                           \
    mw_constant(g, dtype, MW_SHAPE(count), "\1\2\3\4\5\6\7\1\2\3\4\5\6\7\1\2\3\4\5\6\7\1\2\3\4\5\6\7")
#define HALF mw_scalar(g, MW_F32, 0.5)

static void test_quantize(void)
{
    GIVES(MW_I8, S(2, 3, 5), mw_quantize(F(2, 3, 5), HALF, NULL, 0, MW_I8));
    GIVES(MW_U8, S(2, 3, 5), mw_quantize(F(2, 3, 5), VECTOR(MW_F32, 3), VECTOR(MW_U8, 3), -2, MW_U8));
    GIVES(MW_U8, S(-1, 3), mw_quantize(F(-1, 3), VECTOR(MW_F32, 3), NULL, 1, MW_U8));
    REFUSES(MW_ERROR_ARGUMENT, "quantize: output_dtype \"int4\" is neither int8 nor uint8",
            mw_quantize(F(2, 3), HALF, NULL, 0, MW_I4));
    REFUSES(MW_ERROR_DTYPE, "quantize: zero_point is int8, not uint8 as the quantized values",
            mw_quantize(F(2, 3), VECTOR(MW_F32, 3), VECTOR(MW_I8, 3), 1, MW_U8));
    REFUSES(MW_ERROR_SHAPE, "scale must be a scalar or have the 2 elements of axis 0, not [3]",
            mw_quantize(F(2, 3), VECTOR(MW_F32, 3), NULL, 0, MW_U8));
    REFUSES(MW_ERROR_ARGUMENT, "axis 2 is outside [-2, 2)", mw_quantize(F(2, 3), VECTOR(MW_F32, 3), NULL, 2, MW_U8));
    REFUSES(MW_ERROR_ARGUMENT, "a vector of scales or zero points needs axis",
            op(g, "quantize", "input", F(2, 3), "scale", VECTOR(MW_F32, 3), "output_dtype", mw_text(g, "int8"), NULL));
    REFUSES(MW_ERROR_DTYPE, "input is fp32 but scale is fp16; convert one with cast",
            mw_quantize(F(2, 3), mw_scalar(g, MW_F16, 1), NULL, 0, MW_U8));
    REFUSES(MW_ERROR_DTYPE, "input is int32, not fp16 or fp32", mw_quantize(N(2, 3), HALF, NULL, 0, MW_U8));
    REFUSES_IN(MW_IOS16, MW_ERROR_UNSUPPORTED, "ios17", mw_quantize(F(2, 3), HALF, NULL, 0, MW_U8));
}

static void test_dequantize(void)
{
    GIVES(MW_F32, S(2, 3), mw_dequantize(leaf(g, MW_I8, S(2, 3)), HALF, NULL, 0));
    GIVES(MW_F16, S(2, 3), mw_dequantize(leaf(g, MW_U8, S(2, 3)), VECTOR(MW_F16, 3), VECTOR(MW_U8, 3), 1));
    GIVES(MW_F32, S(2, 3), mw_dequantize(leaf(g, MW_I8, S(2, 3)), F(3), NULL, 1));
    REFUSES(MW_ERROR_DTYPE, "input is int32, not int8 or uint8", mw_dequantize(N(2, 3), HALF, NULL, 0));
    REFUSES(MW_ERROR_DTYPE, "zero_point is int8, not uint8",
            mw_dequantize(leaf(g, MW_U8, S(2, 3)), VECTOR(MW_F16, 3), VECTOR(MW_I8, 3), 1));
}

static void test_constants_take_constants(void)
{
    GIVES(MW_F32, S(7), mw_constexpr_blockwise_shift_scale(VECTOR(MW_I4, 7), VECTOR(MW_F32, 1), VECTOR(MW_I4, 1)));
    REFUSES(MW_ERROR_ARGUMENT, "data must be a constant",
            mw_constexpr_blockwise_shift_scale(leaf(g, MW_I8, S(7)), VECTOR(MW_F32, 1), NULL));
    REFUSES(MW_ERROR_DTYPE, "offset is uint8, neither int8 as data nor a float type",
            mw_constexpr_blockwise_shift_scale(VECTOR(MW_I8, 7), VECTOR(MW_F32, 1), VECTOR(MW_U8, 1)));
    REFUSES(MW_ERROR_SHAPE, "offset [7] must have the shape of scale [1]",
            mw_constexpr_blockwise_shift_scale(VECTOR(MW_I8, 7), VECTOR(MW_F32, 1), VECTOR(MW_I8, 7)));
    REFUSES(MW_ERROR_DTYPE, "indices is int8, not uint1",
            mw_constexpr_lut_to_dense(VECTOR(MW_I8, 7), VECTOR(MW_F32, 4), 0));
    REFUSES(MW_ERROR_DTYPE, "mask is uint8, not uint1",
            mw_constexpr_sparse_to_dense(VECTOR(MW_F32, 3), VECTOR(MW_U8, 3)));
    REFUSES_IN(MW_IOS17, MW_ERROR_UNSUPPORTED, "ios18",
               mw_constexpr_blockwise_shift_scale(VECTOR(MW_I8, 7), VECTOR(MW_F32, 1), NULL));
}

int main(void)
{
    RUN(test_quantize);
    RUN(test_dequantize);
    RUN(test_constants_take_constants);
    return check_finish();
}

/* Shape rules of the later rows of ops/elementwise.def; the others are in test_shapes.c. */
#include "shape_words.h"

static void test_binary(void)
{
    GIVES(MW_F32, S(2, 3), mw_mod(F(2, 1), F(3)));
    GIVES(MW_I32, S(2), mw_mod(N(2), N(2)));
    REFUSES(MW_ERROR_SHAPE, "mod: shapes do not broadcast", mw_mod(F(2), F(3)));
    REFUSES(MW_ERROR_DTYPE, "x is bool, not fp16, fp32 or int32", mw_mod(B(2), B(2)));
}

static void test_unary(void)
{
    GIVES(MW_I32, S(2), mw_exp2(N(2)));
    GIVES(MW_F16, S(2), mw_floor(H(2)));
    GIVES(MW_F32, S(2, -1), mw_round(F(2, -1)));
    GIVES(MW_F32, S(0), mw_atanh(F(0)));
    GIVES(MW_F32, mw_shape_scalar(), mw_sin(SCALAR));
    REFUSES(MW_ERROR_DTYPE, "ceil: x is int32, not fp16 or fp32", mw_ceil(N(2)));
    REFUSES(MW_ERROR_DTYPE, "cosh: x is bool", mw_cosh(B(2)));
}

static void test_threshold(void)
{
    GIVES(MW_F16, S(2), mw_threshold(H(2), 0.5f));
    GIVES(MW_I32, S(2), mw_threshold(N(2), 3));
    REFUSES(MW_ERROR_NUMERIC, "threshold: 0.5 in alpha does not fit int32", mw_threshold(N(2), 0.5f));
    REFUSES(MW_ERROR_DTYPE, "threshold", op(g, "threshold", "x", F(2), "alpha", one(g, 1), NULL));
    REFUSES(MW_ERROR_ARGUMENT, "alpha must be one constant number",
            op(g, "threshold", "x", N(2), "alpha", INTS(1, 2), NULL));
    REFUSES(MW_ERROR_ARGUMENT, "log: epsilon must be one constant number",
            op(g, "log", "x", F(2), "epsilon", mw_constant(g, MW_F32, S(2), (const float[]){1, 2}), NULL));
}

static mw_tensor *half_alpha(mw_graph *g) { return op(g, "elu", "x", F(2), "alpha", mw_scalar(g, MW_F16, 1), NULL); }

static void test_numbers_have_the_type_of_x_before_ios17(void)
{
    GIVES_IN(MW_IOS17, MW_F32, S(2), half_alpha(g));
    REFUSES_IN(MW_IOS16, MW_ERROR_DTYPE, "elu: alpha is fp16 but x is fp32", half_alpha(g));
    GIVES_IN(MW_IOS15, MW_F16, S(2), mw_elu(H(2), 1.0f));
}

static void test_integers_are_int32_before_ios17(void)
{
    static const int8_t shape[] = {3, 2};
    GIVES_IN(MW_IOS17, MW_F32, S(3, 2),
             op(g, "reshape", "x", F(2, 3), "shape", mw_constant(g, MW_I8, S(2), shape), NULL));
    REFUSES_IN(MW_IOS16, MW_ERROR_DTYPE, "reshape: shape is int8, not int32 (the others need ios17)",
               op(g, "reshape", "x", F(2, 3), "shape", mw_constant(g, MW_I8, S(2), shape), NULL));
    GIVES_IN(MW_IOS17, MW_F32, S(5), mw_gather(F(3), leaf(g, MW_U16, S(5)), 0));
    REFUSES_IN(MW_IOS15, MW_ERROR_DTYPE, "indices is uint16, not int32", mw_gather(F(3), leaf(g, MW_U16, S(5)), 0));
}

int main(void)
{
    RUN(test_binary);
    RUN(test_unary);
    RUN(test_threshold);
    RUN(test_numbers_have_the_type_of_x_before_ios17);
    RUN(test_integers_are_int32_before_ios17);
    return check_finish();
}

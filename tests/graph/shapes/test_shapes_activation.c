/* Shape rules of ops/activation.def beyond those that keep the shape of x. */
#include "shape_words.h"

#include <math.h>

#define VECTOR(...)                                                                                                    \
    mw_constant(g, MW_F32, S((int64_t)(sizeof((float[]){__VA_ARGS__}) / sizeof(float))), (const float[]){__VA_ARGS__})

static void test_activations_keep_type_and_shape(void)
{
    GIVES(MW_F32, S(2, -1), mw_relu6(F(2, -1)));
    GIVES(MW_F16, S(2), mw_softplus(H(2)));
    GIVES(MW_F32, mw_shape_scalar(), mw_leaky_relu(SCALAR, 0.01f));
    GIVES(MW_F16, S(2), mw_elu(H(2), 1.0f));
    GIVES(MW_F32, S(0), mw_thresholded_relu(F(0), 1.0f));
    GIVES(MW_F32, S(2), mw_clamped_relu(F(2), 0.1f, INFINITY));
    GIVES(MW_F32, S(2), mw_scaled_tanh(F(2), 1.0f, 2.0f));
    GIVES(MW_F32, S(2), mw_sigmoid_hard(F(2), 0.2f, 0.5f));
    GIVES(MW_F16, S(2), mw_linear_activation(H(2), 0.2f, 0.5f));
    REFUSES(MW_ERROR_DTYPE, "elu: x is int32, not fp16 or fp32", mw_elu(N(2), 1.0f));
    REFUSES(MW_ERROR_NUMERIC, "leaky_relu: 1e+06 in alpha does not fit fp16", mw_leaky_relu(H(2), 1e6f));
}

static void test_scalar_arguments(void)
{
    REFUSES(MW_ERROR_ARGUMENT, "elu: alpha must be one constant number",
            op(g, "elu", "x", F(2), "alpha", VECTOR(1, 2), NULL));
    REFUSES(MW_ERROR_ARGUMENT, "argument beta is missing",
            op(g, "scaled_tanh", "x", F(2), "alpha", mw_scalar(g, MW_F32, 1), NULL));
    REFUSES(MW_ERROR_ARGUMENT, "alpha must be a constant", op(g, "leaky_relu", "x", F(2), "alpha", SCALAR, NULL));
    REFUSES(MW_ERROR_DTYPE, "alpha is int32", op(g, "elu", "x", F(2), "alpha", one(g, 1), NULL));
}

static void test_prelu_channels(void)
{
    GIVES(MW_F32, S(1, 3, 4, 5), mw_prelu(F(1, 3, 4, 5), VECTOR(1, 2, 3)));
    GIVES(MW_F32, S(1, 2, 4), mw_prelu(F(1, 2, 4), VECTOR(2, 2)));
    GIVES(MW_F32, S(-1, -1, 4, -1), mw_prelu(F(-1, -1, 4, -1), VECTOR(1, 2)));
    REFUSES(MW_ERROR_SHAPE, "[2, 3] must have rank 3 to 5; expand_dims can add axes",
            mw_prelu(F(2, 3), VECTOR(1, 2, 3)));
    REFUSES(MW_ERROR_SHAPE, "one element per channel (axis 1) is wanted", mw_prelu(F(1, 4, 4, 5), VECTOR(1, 2, 3)));
    REFUSES(MW_ERROR_SHAPE, "alpha [2, 1] does not fit",
            mw_prelu(F(1, 2, 1, 1), mw_constant(g, MW_F32, S(2, 1), (const float[]){1, 2})));
    REFUSES(MW_ERROR_ARGUMENT, "the slopes alpha must be equal for x of rank 3; reshape x to rank 4",
            mw_prelu(F(1, 2, 4), VECTOR(1, 2)));
    REFUSES(MW_ERROR_ARGUMENT, "for x of rank 5", mw_prelu(F(1, 2, 4, 1, 1), VECTOR(1, 2)));
}

static void test_computed_numbers_per_channel(void)
{
    GIVES(MW_F32, S(1, 3, 4, 5), mw_prelu(F(1, 3, 4, 5), F(3)));
    GIVES(MW_F32, S(1, 3, 4), mw_prelu(F(1, 3, 4), F(3)));
    GIVES(MW_F16, S(1, 3, 4), op(g, "prelu", "x", H(1, 3, 4), "alpha", H(3), NULL));
    GIVES(MW_F32, S(1, 3, 4), mw_softplus_parametric(F(1, 3, 4), F(3), VECTOR(1, 2, 3)));
    GIVES(MW_F32, S(1, 3, 4), op(g, "softplus_parametric", "x", F(1, 3, 4), "alpha", F(3), "beta", F(3), NULL));
    REFUSES(MW_ERROR_SHAPE, "prelu: x must be [N, C, ..] of rank 3 to 5 and alpha [C]", mw_prelu(F(1, 3, 4), F(4)));
    REFUSES(MW_ERROR_SHAPE, "prelu: x must be [N, C, ..]", mw_prelu(F(3, 4), F(4)));
    REFUSES(MW_ERROR_SHAPE, "and beta [C]", mw_softplus_parametric(F(1, 3, 4), F(3), F(3, 1)));
    REFUSES(MW_ERROR_ARGUMENT, "softplus_parametric: argument beta is missing",
            op(g, "softplus_parametric", "x", F(1, 3, 4), "alpha", F(3), NULL));
}

static void test_softplus_parametric_channels(void)
{
    GIVES(MW_F32, S(1, 2, 4), mw_softplus_parametric(F(1, 2, 4), VECTOR(1, 2), VECTOR(3, 4)));
    REFUSES(MW_ERROR_SHAPE, "softplus_parametric: alpha [1] does not fit x",
            mw_softplus_parametric(F(1, 2, 4), VECTOR(1), VECTOR(3, 4)));
    REFUSES(MW_ERROR_SHAPE, "beta [3] does not fit", mw_softplus_parametric(F(1, 2, 4), VECTOR(1, 2), VECTOR(3, 4, 5)));
    REFUSES(MW_ERROR_SHAPE, "must have rank 3 to 5", mw_softplus_parametric(F(2), VECTOR(1, 2), VECTOR(3, 4)));
}

int main(void)
{
    RUN(test_activations_keep_type_and_shape);
    RUN(test_scalar_arguments);
    RUN(test_prelu_channels);
    RUN(test_computed_numbers_per_channel);
    RUN(test_softplus_parametric_channels);
    return check_finish();
}

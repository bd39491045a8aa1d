/* Cases of ops/activation.def. To cover a row: one builder if none fits, one line in the table. */
#include "support/cases/op_case_rows.h"

#include "base/number/fp16.h"

/* clang-format off */
UNARY(sigmoid)
UNARY(relu)
UNARY(silu)
BUILD(gelu_exact, mw_gelu(in[0], MW_GELU_EXACT))
BUILD(gelu_tanh, mw_gelu(in[0], MW_GELU_TANH))
BUILD(gelu_sigmoid, mw_gelu(in[0], MW_GELU_SIGMOID))

UNARY(relu6)
UNARY(softplus)
UNARY(softsign)
BUILD(leaky_relu, mw_leaky_relu(in[0], 0.25f))
BUILD(elu, mw_elu(in[0], 1.5f))
BUILD(thresholded_relu, mw_thresholded_relu(in[0], 0.5f))
BUILD(clamped_relu, mw_clamped_relu(in[0], 0.25f, 1.5f))
BUILD(clamped_below, mw_clamped_relu(in[0], 0.5f, -0.5f))
BUILD(scaled_tanh, mw_scaled_tanh(in[0], 1.5f, 0.75f))
BUILD(sigmoid_hard, mw_sigmoid_hard(in[0], 0.25f, 0.5f))
BUILD(linear_activation, mw_linear_activation(in[0], -1.25f, 0.5f))
BINARY(prelu)
BUILD(softplus_parametric_computed, mw_softplus_parametric(in[0], in[1], in[2]))
/* clang-format on */

/* A constant vector [3] in the element type of x. */
static mw_tensor *three(mw_tensor *x, float a, float b, float c)
{
    const float values[] = {a, b, c};
    const uint16_t halves[] = {mw__fp16_from_float(a), mw__fp16_from_float(b), mw__fp16_from_float(c)};
    const bool half = mw_tensor_dtype(x) == MW_F16;
    return mw_constant(mw_tensor_graph(x), half ? MW_F16 : MW_F32, MW_SHAPE(3), half ? (const void *)halves : values);
}

/* clang-format off */
BUILD(prelu_constant, mw_prelu(in[0], three(in[0], 0.25f, -0.5f, 2.0f)))
BUILD(prelu_equal, mw_prelu(in[0], three(in[0], 0.25f, 0.25f, 0.25f)))
BUILD(softplus_parametric, mw_softplus_parametric(in[0], three(in[0], 0.5f, 1.0f, -2.0f), three(in[0], 1.0f, 2.0f, -0.5f)))

static const op_case rows[] = {
    LOOSE("sigmoid", "", b_sigmoid, 4, 0, LIBM, F(2, -6, 6, 5, 7)),
    EXACT("relu", "", b_relu, F(2, -2, 2, 5, 7)),
    LOOSE("silu", "", b_silu, 6, 0, LIBM, F(2, -5, 5, 5, 7)),
    LOOSE("gelu", "exact", b_gelu_exact, 8, 1, LIBM, F(2, -3, 3, 15, 37)),
    LOOSE("gelu", "tanh", b_gelu_tanh, 8, 1, LIBM, F(2, -3, 3, 15, 37)),
    LOOSE("gelu", "sigmoid", b_gelu_sigmoid, 8, 1, LIBM, F(2, -3, 3, 15, 37)),
    EXACT("relu6", "", b_relu6, F(2, -4, 9, 5, 17)),
    EXACT("leaky_relu", "", b_leaky_relu, F(2, -2, 2, 5, 7)),
    EXACT("prelu", "rank 4", b_prelu_constant, F(4, -2, 2, 2, 3, 5, 7)),
    EXACT("prelu", "rank 4, larger than a tile", b_prelu_constant, F(4, -2, 2, 2, 3, 19, 41)),
    EXACT("prelu", "rank 3, equal slopes", b_prelu_equal, F(3, -2, 2, 2, 3, 5)),
    EXACT("prelu", "rank 5, equal slopes", b_prelu_equal, F(5, -2, 2, 2, 3, 2, 2, 3)),
    EXACT("prelu", "computed slopes", b_prelu, F(4, -2, 2, 2, 3, 2, 3), F(1, -1, 1, 3)),
    EXACT("prelu", "computed slopes, rank 3", b_prelu, F(3, -2, 2, 2, 3, 4), F(1, -1, 1, 3)),
    EXACT("clamped_relu", "", b_clamped_relu, F(2, -3, 3, 5, 17)),
    EXACT("clamped_relu", "bound below zero", b_clamped_below, F(2, -3, 3, 5, 17)),
    EXACT("thresholded_relu", "", b_thresholded_relu, F(2, -2, 2, 5, 7)),
    LOOSE("elu", "", b_elu, 4, 0, LIBM, F(2, -3, 3, 5, 7)),
    LOOSE("softplus", "", b_softplus, 6, 0, LIBM, F(2, -9, 9, 5, 7)),
    LOOSE("softplus_parametric", "", b_softplus_parametric, 8, 0, LIBM, F(4, -3, 3, 2, 3, 5, 7)),
    LOOSE("softplus_parametric", "rank 3", b_softplus_parametric, 8, 0, LIBM, F(3, -3, 3, 2, 3, 5)),
    LOOSE("softplus_parametric", "computed numbers", b_softplus_parametric_computed, 16384, 0,
          "composed: three results are rounded, in fp16 to 11 bits",
          F(4, -3, 3, 2, 3, 2, 3), F(1, -1, 1, 3), F(1, -1, 1, 3)),
    LOOSE("softsign", "", b_softsign, 2, 0, "sum and quotient are rounded in turn", F(2, -5, 5, 5, 7)),
    LOOSE("scaled_tanh", "", b_scaled_tanh, 6, 0, LIBM, F(2, -3, 3, 5, 7)),
    LOOSE("sigmoid_hard", "", b_sigmoid_hard, 2, 0.75, "product and sum are rounded in turn", F(2, -4, 4, 5, 17)),
    LOOSE("linear_activation", "", b_linear_activation, 2, 3, "product and sum are rounded in turn",
          F(2, -2, 2, 5, 7)),
};
/* clang-format on */

OP_CASES(activation, rows)

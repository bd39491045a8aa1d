/* Cases of ops/activation.def. To cover a row: one builder if none fits, one line in the table. */
#include "support/op_case_rows.h"

/* clang-format off */
UNARY(sigmoid)
UNARY(relu)
UNARY(silu)
BUILD(gelu_exact, mw_gelu(in[0], MW_GELU_EXACT))
BUILD(gelu_tanh, mw_gelu(in[0], MW_GELU_TANH))
BUILD(gelu_sigmoid, mw_gelu(in[0], MW_GELU_SIGMOID))

static const op_case rows[] = {
    LOOSE("sigmoid", "", b_sigmoid, 4, 0, LIBM, F(2, -6, 6, 5, 7)),
    EXACT("relu", "", b_relu, F(2, -2, 2, 5, 7)),
    LOOSE("silu", "", b_silu, 6, 0, LIBM, F(2, -5, 5, 5, 7)),
    LOOSE("gelu", "exact", b_gelu_exact, 8, 1, LIBM, F(2, -3, 3, 15, 37)),
    LOOSE("gelu", "tanh", b_gelu_tanh, 8, 1, LIBM, F(2, -3, 3, 15, 37)),
    LOOSE("gelu", "sigmoid", b_gelu_sigmoid, 8, 1, LIBM, F(2, -3, 3, 15, 37)),
};
/* clang-format on */

OP_CASES(activation, rows)

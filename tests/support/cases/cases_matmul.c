/* Cases of matrix products. To cover a row: one builder if none fits, one line in the table. */
#include "support/cases/op_case_rows.h"

/* clang-format off */
BUILD(matmul, mw_matmul(in[0], in[1], MW_TRANSPOSE_NONE))
BUILD(matmul_tx, mw_matmul(in[0], in[1], MW_TRANSPOSE_X))
BUILD(matmul_ty, mw_matmul(in[0], in[1], MW_TRANSPOSE_Y))
BUILD(matmul_txy, mw_matmul(in[0], in[1], MW_TRANSPOSE_X | MW_TRANSPOSE_Y))
BUILD(einsum, mw_einsum(in[0], in[1], "nchw,nwhu->nchu"))
BUILD(einsum_renamed, mw_einsum(in[0], in[1], "aBcD, aDcx -> aBcx"))
BUILD(einsum_3, mw_einsum(in[0], in[1], "chw,whr->chr"))
/* clang-format on */

static mw_tensor *b_linear(mw_tensor *const *in)
{
    mw_graph *graph = mw_tensor_graph(in[0]);
    static const float weight[12] = {0.5f, -1.0f, 0.25f, 2.0f, 0.75f, -0.5f, 1.5f, -0.125f, 1.0f, 0.0f, -2.0f, 0.5f};
    static const uint16_t weight_16[12] = {0x3800, 0xbc00, 0x3400, 0x4000, 0x3a00, 0xb800,
                                           0x3e00, 0xb000, 0x3c00, 0x0000, 0xc000, 0x3800};
    static const float bias[3] = {1.0f, -0.5f, 0.25f};
    static const uint16_t bias_16[3] = {0x3c00, 0xb800, 0x3400};
    mw_dtype real = mw_tensor_dtype(in[0]);
    bool half = real == MW_F16;
    mw_tensor *w = mw_constant(graph, real, MW_SHAPE(3, 4), half ? (const void *)weight_16 : weight);
    return mw_linear(in[0], w, mw_constant(graph, real, MW_SHAPE(3), half ? (const void *)bias_16 : bias));
}

/* clang-format off */
static const op_case rows[] = {
    LOOSE("matmul", "", b_matmul, 16, 4, SUM, F(2, -1, 1, 5, 7), F(2, -1, 1, 7, 3)),
    LOOSE("matmul", "transposed x", b_matmul_tx, 16, 4, SUM, F(2, -1, 1, 7, 5), F(2, -1, 1, 7, 3)),
    LOOSE("matmul", "transposed y", b_matmul_ty, 16, 4, SUM, F(2, -1, 1, 5, 7), F(2, -1, 1, 3, 7)),
    LOOSE("matmul", "both transposed", b_matmul_txy, 16, 4, SUM, F(2, -1, 1, 7, 5), F(2, -1, 1, 3, 7)),
    LOOSE("matmul", "batch", b_matmul, 16, 4, SUM, F(3, -1, 1, 2, 5, 7), F(3, -1, 1, 2, 7, 3)),
    LOOSE("matmul", "batch broadcast", b_matmul_ty, 16, 4, SUM, F(4, -1, 1, 2, 1, 5, 7), F(3, -1, 1, 3, 4, 7)),
    LOOSE("matmul", "rank 1 x", b_matmul, 16, 4, SUM, F(1, -1, 1, 7), F(3, -1, 1, 2, 7, 3)),
    LOOSE("matmul", "rank 1 y", b_matmul, 16, 4, SUM, F(3, -1, 1, 2, 5, 7), F(1, -1, 1, 7)),
    LOOSE("matmul", "dot", b_matmul, 16, 4, SUM, F(1, -1, 1, 7), F(1, -1, 1, 7)),
    LOOSE("matmul", "large", b_matmul, 64, 12, SUM, F(2, -1, 1, 37, 130), F(2, -1, 1, 130, 65)),
    EXACT("matmul", "int32", b_matmul, I(2, -9, 9, 5, 7), I(2, -9, 9, 7, 3)),
    LOOSE("linear", "", b_linear, 16, 4, SUM, F(2, -1, 1, 6, 4)),
    LOOSE("linear", "rank 3", b_linear, 16, 4, SUM, F(3, -1, 1, 2, 3, 4)),
    LOOSE("einsum", "", b_einsum, 16, 4, SUM, F(4, -1, 1, 2, 3, 4, 5), F(4, -1, 1, 2, 5, 4, 6)),
    LOOSE("einsum", "rank 3", b_einsum_3, 16, 4, SUM, F(3, -1, 1, 3, 4, 5), F(3, -1, 1, 5, 4, 2)),
    LOOSE("einsum", "other letters, broadcast n of a and h of b", b_einsum_renamed, 16, 4, SUM, F(4, -1, 1, 1, 3, 4, 5), F(4, -1, 1, 2, 5, 1, 6)),
    LOOSE("einsum", "broadcast h of a", b_einsum_3, 16, 4, SUM, F(3, -1, 1, 3, 1, 5), F(3, -1, 1, 5, 4, 2)),
    LOOSE("einsum", "large", b_einsum, 64, 12, SUM, F(4, -1, 1, 1, 9, 2, 70), F(4, -1, 1, 1, 70, 2, 65)),
    EXACT("einsum", "int32", b_einsum, I(4, -9, 9, 2, 3, 4, 5), I(4, -9, 9, 2, 5, 4, 6)),
};
/* clang-format on */

OP_CASES(matmul, rows)

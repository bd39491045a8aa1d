/* Cases of reductions. To cover a row: one builder if none fits, one line in the table. */
#include "support/cases/op_case_rows.h"

/* clang-format off */
BUILD(reduce_sum, mw_reduce_sum(in[0], MW_AXES(-1), false))
BUILD(reduce_sum_first, mw_reduce_sum(in[0], MW_AXES(0), true))
BUILD(reduce_sum_middle, mw_reduce_sum(in[0], MW_AXES(1), false))
BUILD(reduce_sum_outer, mw_reduce_sum(in[0], MW_AXES(0, 2), false))
BUILD(reduce_sum_all, mw_reduce_sum(in[0], MW_ALL_AXES, false))
BUILD(reduce_mean, mw_reduce_mean(in[0], MW_AXES(1), true))
BUILD(reduce_max, mw_reduce_max(in[0], MW_AXES(-1), false))
BUILD(reduce_max_first, mw_reduce_max(in[0], MW_AXES(0), false))
BUILD(reduce_min, mw_reduce_min(in[0], MW_AXES(0, 1), true))
BUILD(reduce_lse, mw_reduce_log_sum_exp(in[0], MW_AXES(-1), false))
BUILD(reduce_lse_first, mw_reduce_log_sum_exp(in[0], MW_AXES(0), true))
BUILD(reduce_prod, mw_reduce_prod(in[0], MW_AXES(-1), false))
BUILD(reduce_prod_first, mw_reduce_prod(in[0], MW_AXES(0), true))
BUILD(reduce_prod_outer, mw_reduce_prod(in[0], MW_AXES(0, 2), false))
BUILD(reduce_prod_all, mw_reduce_prod(in[0], MW_ALL_AXES, false))
BUILD(reduce_sum_square, mw_reduce_sum_square(in[0], MW_AXES(-1), false))
BUILD(reduce_sum_square_first, mw_reduce_sum_square(in[0], MW_AXES(0), true))
BUILD(reduce_l1_norm, mw_reduce_l1_norm(in[0], MW_AXES(-1), false))
BUILD(reduce_l1_norm_first, mw_reduce_l1_norm(in[0], MW_AXES(0), true))
BUILD(reduce_l2_norm, mw_reduce_l2_norm(in[0], MW_AXES(-1), false))
BUILD(reduce_l2_norm_first, mw_reduce_l2_norm(in[0], MW_AXES(0), true))
BUILD(reduce_l2_norm_all, mw_reduce_l2_norm(in[0], MW_ALL_AXES, false))
BUILD(reduce_log_sum, mw_reduce_log_sum(in[0], MW_AXES(-1), false))
BUILD(reduce_log_sum_first, mw_reduce_log_sum(in[0], MW_AXES(0), true))
BUILD(argmax, mw_reduce_argmax(in[0], -1, false))
BUILD(argmax_kept, mw_reduce_argmax(in[0], 1, true))
BUILD(argmin, mw_reduce_argmin(in[0], -1, false))
BUILD(argmin_first, mw_reduce_argmin(in[0], 0, false))
BUILD(cumsum, mw_cumsum(in[0], 0, false, false))
BUILD(cumsum_last, mw_cumsum(in[0], -1, false, true))
BUILD(cumsum_exclusive, mw_cumsum(in[0], -2, true, false))
BUILD(cumsum_both, mw_cumsum(in[0], 1, true, true))

/* The positions as uint16, converted to int32 for the comparison. */
static mw_tensor *narrow(const char *operation, mw_tensor *x)
{
    mw_tensor *dtype = mw_text(mw_tensor_graph(x), "uint16"), *position = NULL;
    const mw_argument arguments[] = {{"x", &x, 1}, {"output_dtype", &dtype, 1}};
    mw_op(mw_tensor_graph(x), operation, arguments, 2, &position, 1, NULL);
    return mw_cast(position, MW_I32);
}
BUILD(argmax_narrow, narrow("reduce_argmax", in[0]))
BUILD(argmin_narrow, narrow("reduce_argmin", in[0]))
/* clang-format on */

/* clang-format off */
static const op_case rows[] = {
    LOOSE("reduce_sum", "last", b_reduce_sum, 64, 8, SUM, F(2, -1, 1, 5, 70)),
    LOOSE("reduce_sum", "first", b_reduce_sum_first, 64, 8, SUM, F(2, -1, 1, 70, 33)),
    LOOSE("reduce_sum", "middle", b_reduce_sum_middle, 16, 4, SUM, F(3, -1, 1, 3, 9, 5)),
    LOOSE("reduce_sum", "outer", b_reduce_sum_outer, 16, 4, SUM, F(3, -1, 1, 4, 3, 5)),
    LOOSE("reduce_sum", "all", b_reduce_sum_all, 128, 16, SUM, F(2, -1, 1, 40, 30)),
    EXACT("reduce_sum", "int32", b_reduce_sum, I(2, -9, 9, 5, 7)),
    LOOSE("reduce_mean", "", b_reduce_mean, 16, 1, SUM, F(3, -1, 1, 3, 9, 5)),
    EXACT("reduce_max", "", b_reduce_max, F(2, -1, 1, 5, 70)),
    EXACT("reduce_max", "first", b_reduce_max_first, F(2, -1, 1, 9, 7)),
    EXACT("reduce_min", "", b_reduce_min, F(3, -1, 1, 3, 4, 5)),
    LOOSE("reduce_log_sum_exp", "", b_reduce_lse, 8, 4, LIBM, F(2, -9, 9, 5, 7)),
    LOOSE("reduce_log_sum_exp", "first", b_reduce_lse_first, 8, 4, LIBM, F(2, -3, 3, 9, 7)),
    EXACT("reduce_prod", "last", b_reduce_prod, F(2, -2, 2, 5, 7)),
    EXACT("reduce_prod", "first", b_reduce_prod_first, F(2, -2, 2, 9, 7)),
    EXACT("reduce_prod", "outer", b_reduce_prod_outer, F(3, -2, 2, 2, 3, 5)),
    EXACT("reduce_prod", "all", b_reduce_prod_all, F(2, 0.5, 2, 3, 4)),
    EXACT("reduce_prod", "one element", b_reduce_prod, F(2, -2, 2, 5, 1)),
    EXACT("reduce_prod", "int32", b_reduce_prod, I(2, -4, 5, 5, 7)),
    EXACT("reduce_sum_square", "int32", b_reduce_sum_square, I(2, -9, 9, 5, 7)),
    EXACT("reduce_mean", "int32, truncated", b_reduce_mean, I(3, -9, 9, 3, 9, 5)),
    EXACT("reduce_max", "int32", b_reduce_max, I(2, -9, 9, 5, 7)),
    EXACT("reduce_min", "int32", b_reduce_min, I(3, -9, 9, 3, 4, 5)),
    EXACT("reduce_l2_norm", "int32, truncated", b_reduce_l2_norm, I(2, -9, 9, 5, 7)),
    EXACT("reduce_log_sum", "int32, truncated", b_reduce_log_sum, I(2, 1, 900, 5, 7)),
    EXACT("reduce_log_sum_exp", "int32, truncated", b_reduce_lse, I(2, -9, 9, 5, 7)),
    EXACT("reduce_log_sum_exp", "int32, first", b_reduce_lse_first, I(2, -90, 90, 9, 7)),
    EXACT("reduce_l1_norm", "int32", b_reduce_l1_norm, I(2, -9, 9, 5, 7)),
    LOOSE("reduce_sum_square", "last", b_reduce_sum_square, 16, 1, SUM, F(2, -1, 1, 5, 70)),
    LOOSE("reduce_sum_square", "first", b_reduce_sum_square_first, 16, 1, SUM, F(2, -1, 1, 70, 33)),
    LOOSE("reduce_l1_norm", "last", b_reduce_l1_norm, 16, 1, SUM, F(2, -1, 1, 5, 70)),
    LOOSE("reduce_l1_norm", "first", b_reduce_l1_norm_first, 16, 1, SUM, F(2, -1, 1, 70, 33)),
    LOOSE("reduce_l2_norm", "last", b_reduce_l2_norm, 4, 1, SUM, F(2, -1, 1, 5, 70)),
    LOOSE("reduce_l2_norm", "first", b_reduce_l2_norm_first, 4, 1, SUM, F(2, -1, 1, 70, 33)),
    LOOSE("reduce_l2_norm", "all", b_reduce_l2_norm_all, 4, 1, SUM, F(2, -1, 1, 7, 9)),
    LOOSE("reduce_log_sum", "last", b_reduce_log_sum, 4, 1, SUM, F(2, 0.1, 2, 5, 70)),
    LOOSE("reduce_log_sum", "first", b_reduce_log_sum_first, 4, 1, SUM, F(2, 0.1, 2, 9, 7)),
    EXACT("reduce_argmax", "", b_argmax, F(2, -1, 1, 5, 70)),
    EXACT("reduce_argmax", "kept", b_argmax_kept, F(3, -1, 1, 2, 9, 3)),
    EXACT("reduce_argmax", "ties", b_argmax, I(2, -2, 2, 9, 8)),
    EXACT("reduce_argmax", "uint16", b_argmax_narrow, F(2, -1, 1, 5, 7)),
    EXACT("reduce_argmin", "", b_argmin, F(2, -1, 1, 5, 70)),
    EXACT("reduce_argmin", "first", b_argmin_first, F(3, -1, 1, 6, 2, 3)),
    EXACT("reduce_argmin", "ties", b_argmin_first, I(2, -2, 2, 9, 8)),
    EXACT("reduce_argmin", "uint16", b_argmin_narrow, F(2, -1, 1, 5, 7)),
    EXACT("cumsum", "", b_cumsum, F(2, -1, 1, 9, 7)),
    EXACT("cumsum", "reverse", b_cumsum_last, F(2, -1, 1, 5, 70)),
    EXACT("cumsum", "exclusive", b_cumsum_exclusive, F(3, -1, 1, 2, 9, 3)),
    EXACT("cumsum", "exclusive, reverse", b_cumsum_both, F(3, -1, 1, 2, 9, 300)),
    EXACT("cumsum", "int32", b_cumsum_both, I(3, -9, 9, 2, 9, 3)),
};
/* clang-format on */

OP_CASES(reduce, rows)

/* Cases of reductions. To cover a row: one builder if none fits, one line in the table. */
#include "support/op_case_rows.h"

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
};
/* clang-format on */

OP_CASES(reduce, rows)

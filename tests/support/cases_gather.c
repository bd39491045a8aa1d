/* Cases of choosing elements by indices. To cover a row: one builder if none fits, one line in the table. */
#include "support/op_case_rows.h"

/* clang-format off */
BUILD(one_hot, mw_mul(in[1], mw_one_hot(in[0], 5, -1, mw_tensor_dtype(in[1]), 2.0, -1.0)))
BUILD(one_hot_first, mw_mul(in[1], mw_one_hot(in[0], 5, 0, mw_tensor_dtype(in[1]), 1.0, 0.0)))
BUILD(gather, mw_gather(in[0], in[1], 1))
BUILD(gather_rows, mw_gather(in[0], in[1], 0))
/* clang-format on */

static mw_tensor *b_gather_batch(mw_tensor *const *in)
{
    mw_graph *graph = mw_tensor_graph(in[0]);
    mw_tensor *axis = mw_scalar(graph, MW_I32, 2), *batch = mw_scalar(graph, MW_I32, 1), *y = NULL;
    const mw_argument arguments[] = {
        {"axis", &axis, 1}, {"batch_dims", &batch, 1}, {"indices", &in[1], 1}, {"x", &in[0], 1}};
    mw_op(graph, "gather", arguments, 4, &y, 1, NULL);
    return y;
}

/* clang-format off */
static const op_case rows[] = {
    EXACT("one_hot", "", b_one_hot, I(2, -1, 6, 3, 2), F(3, -1, 1, 3, 2, 5)),
    EXACT("one_hot", "first axis", b_one_hot_first, I(1, 0, 5, 3), F(2, -1, 1, 5, 3)),
    EXACT("gather", "", b_gather, F(3, -2, 2, 3, 5, 2), I(2, 0, 5, 2, 4)),
    EXACT("gather", "rows", b_gather_rows, F(2, -2, 2, 5, 9), I(1, 0, 5, 7)),
    EXACT("gather", "scalar index", b_gather_rows, F(2, -2, 2, 5, 9), I(0, 0, 5, 0)),
    EXACT("gather", "batch", b_gather_batch, F(4, -2, 2, 2, 3, 5, 2), I(2, 0, 5, 2, 4)),
};
/* clang-format on */

OP_CASES(gather, rows)

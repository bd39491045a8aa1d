/* Cases of ops/attention.def. To cover a row: one builder if none fits, one line in the table. */
#include "support/cases/op_case_rows.h"

/* A boolean mask under which every row keeps its first key. */
static mw_tensor *keeping(mw_tensor *mask, mw_tensor *x)
{
    const mw_shape shape = mw_tensor_shape(mask);
    if (shape.rank == 0)
        return NULL;
    mw_tensor *numbers = mw_range_1d(mw_tensor_graph(x), MW_I32, 0.0, (double)shape.dim[shape.rank - 1], 1.0);
    mw_tensor *first = mw_equal(numbers, mw_scalar(mw_tensor_graph(x), MW_I32, 0.0));
    return mw_select(first, first, mask);
}

/* clang-format off */
BUILD(attention, mw_scaled_dot_product_attention(in[0], in[1], in[2], NULL))
BUILD(masked, mw_scaled_dot_product_attention(in[0], in[1], in[2], in[3]))
BUILD(masked_bool, mw_scaled_dot_product_attention(in[0], in[1], in[2], keeping(in[3], in[0])))
/* clang-format on */

#define WEIGHTS "the exponential of a score, which is a rounded sum, weighs each term of another sum"

/* clang-format off */
static const op_case rows[] = {
    LOOSE("scaled_dot_product_attention", "", b_attention, 32, 2, WEIGHTS, F(3, -2, 2, 2, 5, 4), F(3, -2, 2, 2, 7, 4), F(3, -2, 2, 2, 7, 3)),
    LOOSE("scaled_dot_product_attention", "heads", b_attention, 32, 2, WEIGHTS, F(4, -2, 2, 2, 3, 4, 5), F(4, -2, 2, 2, 3, 6, 5), F(4, -2, 2, 2, 3, 6, 2)),
    LOOSE("scaled_dot_product_attention", "several blocks of rows", b_attention, 64, 2, WEIGHTS, F(3, -2, 2, 2, 71, 9), F(3, -2, 2, 2, 40, 9), F(3, -2, 2, 2, 40, 17)),
    LOOSE("scaled_dot_product_attention", "one key", b_attention, 32, 2, WEIGHTS, F(3, -2, 2, 2, 3, 4), F(3, -2, 2, 2, 1, 4), F(3, -2, 2, 2, 1, 3)),
    LOOSE("scaled_dot_product_attention", "mask", b_masked, 32, 2, WEIGHTS, F(3, -2, 2, 2, 5, 4), F(3, -2, 2, 2, 7, 4), F(3, -2, 2, 2, 7, 3), F(3, -2, 2, 2, 5, 7)),
    LOOSE("scaled_dot_product_attention", "mask of all batches", b_masked, 32, 2, WEIGHTS, F(4, -2, 2, 2, 2, 5, 4), F(4, -2, 2, 2, 2, 7, 4), F(4, -2, 2, 2, 2, 7, 3), F(2, -2, 2, 5, 7)),
    LOOSE("scaled_dot_product_attention", "mask by row", b_masked, 32, 2, WEIGHTS, F(4, -2, 2, 2, 2, 5, 4), F(4, -2, 2, 2, 2, 7, 4), F(4, -2, 2, 2, 2, 7, 3), F(4, -2, 2, 2, 1, 5, 1)),
    LOOSE("scaled_dot_product_attention", "mask by key", b_masked, 32, 2, WEIGHTS, F(4, -2, 2, 2, 2, 5, 4), F(4, -2, 2, 2, 2, 7, 4), F(4, -2, 2, 2, 2, 7, 3), F(4, -2, 2, 2, 1, 1, 7)),
    LOOSE("scaled_dot_product_attention", "boolean mask", b_masked_bool, 32, 2, WEIGHTS, F(4, -2, 2, 2, 2, 5, 4), F(4, -2, 2, 2, 2, 7, 4), F(4, -2, 2, 2, 2, 7, 3), B(3, 2, 5, 7)),
};
/* clang-format on */

OP_CASES(attention, rows)

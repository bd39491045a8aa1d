/* Cases of ops/sort.def. To cover a row: one builder if none fits, one line in the table. */
#include "support/op_case_rows.h"

/* clang-format off */
BUILD(argsort, mw_argsort(in[0], -1, false))
BUILD(argsort_up, mw_argsort(in[0], -1, true))
BUILD(argsort_middle, mw_argsort(in[0], 1, true))
BUILD(argsort_first, mw_argsort(in[0], -2, false))
/* clang-format on */

static mw_tensor *b_argsort_default(mw_tensor *const *in)
{
    const mw_argument arguments[] = {{"x", &in[0], 1}};
    mw_tensor *y = NULL;
    mw_op(mw_tensor_graph(in[0]), "argsort", arguments, 1, &y, 1, NULL);
    return y;
}

/* Both results in one. */
static mw_tensor *both(mw_tensor *values, mw_tensor *indices)
{
    return mw_add(values, mw_cast(indices, mw_tensor_dtype(values)));
}

static mw_tensor *topk(mw_tensor *x, int64_t k, int axis, bool ascending)
{
    mw_tensor *values, *indices;
    mw_topk(x, k, axis, ascending, &values, &indices);
    return both(values, indices);
}

/* clang-format off */
BUILD(topk, topk(in[0], 3, -1, false))
BUILD(topk_up, topk(in[0], 3, -1, true))
BUILD(topk_middle, topk(in[0], 2, 1, false))
BUILD(topk_first, topk(in[0], 2, 0, true))
BUILD(topk_all, topk(in[0], 40, 0, false))
/* clang-format on */

static mw_tensor *b_topk_values(mw_tensor *const *in)
{
    mw_tensor *values;
    mw_topk(in[0], 3, 1, false, &values, NULL);
    return values;
}

static mw_tensor *b_topk_default(mw_tensor *const *in)
{
    const mw_argument arguments[] = {{"x", &in[0], 1}};
    mw_tensor *y[2] = {NULL, NULL};
    mw_op(mw_tensor_graph(in[0]), "topk", arguments, 1, y, 2, NULL);
    return both(y[0], y[1]);
}

/* Every argument of the newest row; unsorted results come sorted. */
static mw_tensor *topk_indices(mw_tensor *x, const char *dtype)
{
    mw_graph *graph = mw_tensor_graph(x);
    mw_tensor *k = mw_scalar(graph, MW_I32, 4), *sort = mw_scalar(graph, MW_BOOL, 0), *name = mw_text(graph, dtype);
    const mw_argument arguments[] = {
        {"k", &k, 1}, {"output_indices_dtype", &name, 1}, {"sort", &sort, 1}, {"x", &x, 1}};
    mw_tensor *y[2] = {NULL, NULL};
    mw_op(graph, "topk", arguments, 4, y, 2, NULL);
    return both(y[0], mw_cast(y[1], MW_I32));
}

/* clang-format off */
BUILD(topk_uint16, topk_indices(in[0], "uint16"))
BUILD(topk_int8, topk_indices(in[0], "int8"))

static const op_case rows[] = {
    EXACT("argsort", "", b_argsort, F(2, -2, 2, 5, 9)),
    EXACT("argsort", "defaults", b_argsort_default, F(1, -2, 2, 7)),
    EXACT("argsort", "ascending, a long row", b_argsort_up, F(2, -2, 2, 2, 301)),
    EXACT("argsort", "a middle axis", b_argsort_middle, F(3, -2, 2, 3, 17, 4)),
    EXACT("argsort", "a negative axis", b_argsort_first, F(2, -2, 2, 33, 5)),
    EXACT("argsort", "ties, descending", b_argsort, I(2, -2, 3, 4, 50)),
    EXACT("argsort", "ties, ascending", b_argsort_up, I(2, -2, 3, 4, 50)),
    EXACT("argsort", "one element", b_argsort, F(2, -2, 2, 3, 1)),
    EXACT("topk", "", b_topk, F(2, -2, 2, 5, 9)),
    EXACT("topk", "defaults", b_topk_default, F(2, -2, 2, 5, 9)),
    EXACT("topk", "ascending", b_topk_up, F(3, -2, 2, 2, 3, 70)),
    EXACT("topk", "a middle axis", b_topk_middle, F(3, -2, 2, 3, 6, 4)),
    EXACT("topk", "axis 0, ascending", b_topk_first, F(2, -2, 2, 6, 4)),
    EXACT("topk", "all", b_topk_all, F(1, -2, 2, 40)),
    EXACT("topk", "ties", b_topk, I(2, 0, 3, 7, 40)),
    EXACT("topk", "values only", b_topk_values, F(3, -2, 2, 3, 6, 4)),
    EXACT("topk", "indices uint16, not sorted", b_topk_uint16, F(2, -2, 2, 3, 20)),
    EXACT("topk", "indices int8, not sorted", b_topk_int8, F(2, -2, 2, 3, 20)),
};
/* clang-format on */

OP_CASES(sort, rows)

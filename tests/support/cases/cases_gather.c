/* Cases of choosing elements by indices. To cover a row: one builder if none fits, one line in the table. */
#include "support/cases/op_case_rows.h"

#include <math.h>

/* -0.0 is zero, NaN is not */
static const float sparse[6] = {0.5f, 0.0f, -0.0f, NAN, 0.0f, -1e-30f};
static const int32_t integers[4] = {-1, 0, 0, 256};
static const uint8_t flags[4] = {0, 1, 1, 0};

/* clang-format off */
BUILD(one_hot, mw_mul(in[1], mw_one_hot(in[0], 5, -1, mw_tensor_dtype(in[1]), 2.0, -1.0)))
BUILD(one_hot_first, mw_mul(in[1], mw_one_hot(in[0], 5, 0, mw_tensor_dtype(in[1]), 1.0, 0.0)))
BUILD(gather, mw_gather(in[0], in[1], 1))
BUILD(gather_rows, mw_gather(in[0], in[1], 0))
BUILD(gather_along_first, mw_gather_along_axis(in[0], in[1], 0))
BUILD(gather_along, mw_gather_along_axis(in[0], in[1], 1))
BUILD(gather_along_last, mw_gather_along_axis(in[0], in[1], -1))
BUILD(gather_nd, mw_gather_nd(in[0], in[1], 0))
BUILD(gather_nd_batch, mw_gather_nd(in[0], in[1], 1))
BUILD(gather_nd_batches, mw_gather_nd(in[0], in[1], 2))
BUILD(non_zero, mw_add(in[0], mw_non_zero(mw_constant(mw_tensor_graph(in[0]), MW_F32, MW_SHAPE(2, 3), sparse))))
BUILD(non_zero_int, mw_add(in[0], mw_non_zero(mw_constant(mw_tensor_graph(in[0]), MW_I32, MW_SHAPE(4), integers))))
BUILD(non_zero_bool, mw_add(in[0], mw_non_zero(mw_constant(mw_tensor_graph(in[0]), MW_BOOL, MW_SHAPE(1, 2, 2), flags))))
BUILD(gather_computed, mw_gather(in[0], mw_reshape(mw_gather(in[1], in[2], 0), MW_SHAPE(2, 3)), 0))

#define SCATTERS(mode, word)                                                                                           \
    BUILD(scatter_##mode, mw_scatter(in[0], in[1], in[2], 1, word))                                                    \
    BUILD(scatter_along_##mode, mw_scatter_along_axis(in[0], in[1], in[2], 1, word))                                   \
    BUILD(scatter_nd_##mode, mw_scatter_nd(in[0], in[1], in[2], word))
SCATTERS(update, MW_SCATTER_UPDATE)
SCATTERS(add, MW_SCATTER_ADD)
SCATTERS(sub, MW_SCATTER_SUB)
SCATTERS(mul, MW_SCATTER_MUL)
SCATTERS(div, MW_SCATTER_DIV)
SCATTERS(max, MW_SCATTER_MAX)
SCATTERS(min, MW_SCATTER_MIN)
BUILD(scatter_first, mw_scatter(in[0], in[1], in[2], 0, MW_SCATTER_ADD))
BUILD(scatter_last, mw_scatter(in[0], in[1], in[2], -1, MW_SCATTER_UPDATE))
BUILD(scatter_along_last, mw_scatter_along_axis(in[0], in[1], in[2], -1, MW_SCATTER_ADD))
/* clang-format on */

/* The default of MIL: mode and axis left out. */
static mw_tensor *b_scatter_default(mw_tensor *const *in)
{
    const mw_argument arguments[] = {{"data", &in[0], 1}, {"indices", &in[1], 1}, {"updates", &in[2], 1}};
    mw_tensor *y = NULL;
    mw_op(mw_tensor_graph(in[0]), "scatter", arguments, 3, &y, 1, NULL);
    return y;
}

static mw_tensor *b_gather_batch(mw_tensor *const *in)
{
    mw_graph *graph = mw_tensor_graph(in[0]);
    mw_tensor *axis = mw_scalar(graph, MW_I32, 2), *batch = mw_scalar(graph, MW_I32, 1), *y = NULL;
    const mw_argument arguments[] = {
        {"axis", &axis, 1}, {"batch_dims", &batch, 1}, {"indices", &in[1], 1}, {"x", &in[0], 1}};
    mw_op(graph, "gather", arguments, 4, &y, 1, NULL);
    return y;
}

/* data, indices with repetitions, updates */
#define SLICES(low, high)      F(3, low, high, 3, 5, 2), I(1, 0, 5, 7), F(3, low, high, 3, 7, 2)
#define ELEMENTS(low, high)    F(3, low, high, 3, 5, 2), I(3, 0, 5, 3, 7, 2), F(3, low, high, 3, 7, 2)
#define COORDINATES(low, high) F(3, low, high, 3, 4, 2), I(2, 0, 3, 9, 2), F(2, low, high, 9, 2)
#define ACCUMULATED            "several updates of one element, each rounded"

/* clang-format off */
static const op_case rows[] = {
    EXACT("one_hot", "", b_one_hot, I(2, -1, 6, 3, 2), F(3, -1, 1, 3, 2, 5)),
    EXACT("one_hot", "first axis", b_one_hot_first, I(1, 0, 5, 3), F(2, -1, 1, 5, 3)),
    EXACT("gather", "", b_gather, F(3, -2, 2, 3, 5, 2), I(2, 0, 5, 2, 4)),
    EXACT("gather", "rows", b_gather_rows, F(2, -2, 2, 5, 9), I(1, 0, 5, 7)),
    EXACT("gather", "scalar index", b_gather_rows, F(2, -2, 2, 5, 9), I(0, 0, 5, 0)),
    EXACT("gather", "batch", b_gather_batch, F(4, -2, 2, 2, 3, 5, 2), I(2, 0, 5, 2, 4)),
    EXACT("gather", "indices outside", b_gather_rows, F(2, -2, 2, 5, 9), I(1, -3, 9, 12)),
    EXACT("gather", "a computed index", b_gather_computed, F(2, -2, 2, 5, 4), I(1, 0, 5, 7), I(1, 0, 7, 6)),
    EXACT("gather_along_axis", "", b_gather_along, F(3, -2, 2, 3, 5, 2), I(3, 0, 5, 3, 4, 2)),
    EXACT("gather_along_axis", "axis 0, more than there are", b_gather_along_first, F(2, -2, 2, 3, 4), I(2, 0, 3, 7, 4)),
    EXACT("gather_along_axis", "last axis", b_gather_along_last, F(2, -2, 2, 6, 5), I(2, 0, 5, 6, 3)),
    EXACT("gather_along_axis", "indices outside", b_gather_along, F(2, -2, 2, 4, 5), I(2, -3, 8, 4, 6)),
    EXACT("gather_along_axis", "integers", b_gather_along, I(2, -9, 9, 4, 5), I(2, 0, 5, 4, 6)),
    EXACT("gather_nd", "", b_gather_nd, F(3, -2, 2, 3, 4, 5), I(3, 0, 3, 2, 3, 2)),
    EXACT("gather_nd", "single elements", b_gather_nd, F(2, -2, 2, 3, 4), I(2, 0, 3, 7, 2)),
    EXACT("gather_nd", "one coordinate", b_gather_nd, F(2, -2, 2, 5, 4), I(2, 0, 5, 7, 1)),
    EXACT("gather_nd", "a scalar", b_gather_nd, F(2, -2, 2, 5, 4), I(1, 0, 4, 2)),
    EXACT("gather_nd", "indices outside", b_gather_nd, F(3, -2, 2, 3, 4, 5), I(2, -1, 5, 9, 2)),
    EXACT("gather_nd", "batch", b_gather_nd_batch, F(4, -2, 2, 3, 4, 5, 2), I(3, 0, 4, 3, 6, 2)),
    EXACT("gather_nd", "two batch axes", b_gather_nd_batches, F(4, -2, 2, 3, 2, 5, 2), I(4, 0, 5, 3, 2, 4, 1)),
    EXACT("gather_nd", "batch, one coordinate set each", b_gather_nd_batch, F(3, -2, 2, 3, 4, 5), I(2, 0, 4, 3, 2)),
    EXACT("non_zero", "", b_non_zero, I(2, -9, 9, 3, 2)),
    EXACT("non_zero", "integers", b_non_zero_int, I(2, -9, 9, 2, 1)),
    EXACT("non_zero", "booleans", b_non_zero_bool, I(2, -9, 9, 2, 3)),
    EXACT("scatter", "update", b_scatter_update, SLICES(-2, 2)),
    LOOSE("scatter", "add", b_scatter_add, 8, 8, ACCUMULATED, SLICES(-2, 2)),
    LOOSE("scatter", "sub", b_scatter_sub, 8, 8, ACCUMULATED, SLICES(-2, 2)),
    LOOSE("scatter", "mul", b_scatter_mul, 8, 0, ACCUMULATED, SLICES(0.5, 2)),
    LOOSE("scatter", "div", b_scatter_div, 8, 0, ACCUMULATED, SLICES(0.5, 2)),
    EXACT("scatter", "max", b_scatter_max, SLICES(-2, 2)),
    EXACT("scatter", "min", b_scatter_min, SLICES(-2, 2)),
    LOOSE("scatter", "defaults", b_scatter_default, 8, 8, ACCUMULATED, F(2, -2, 2, 5, 3), I(1, 0, 5, 7), F(2, -2, 2, 7, 3)),
    LOOSE("scatter", "axis 0, indices outside", b_scatter_first, 8, 8, ACCUMULATED, F(2, -2, 2, 40, 3), I(1, -3, 44, 70),
          F(2, -2, 2, 70, 3)),
    EXACT("scatter", "last axis, indices outside", b_scatter_last, F(2, -2, 2, 3, 5), I(1, -2, 8, 6), F(2, -2, 2, 3, 6)),
    EXACT("scatter", "integers", b_scatter_add, I(2, -9, 9, 3, 5), I(1, 0, 5, 7), I(2, -9, 9, 3, 7)),
    EXACT("scatter", "integers, div", b_scatter_div, I(2, -99, 99, 3, 5), I(1, 0, 5, 4), I(2, 1, 4, 3, 4)),
    EXACT("scatter_along_axis", "update", b_scatter_along_update, ELEMENTS(-2, 2)),
    LOOSE("scatter_along_axis", "add", b_scatter_along_add, 8, 8, ACCUMULATED, ELEMENTS(-2, 2)),
    LOOSE("scatter_along_axis", "sub", b_scatter_along_sub, 8, 8, ACCUMULATED, ELEMENTS(-2, 2)),
    LOOSE("scatter_along_axis", "mul", b_scatter_along_mul, 8, 0, ACCUMULATED, ELEMENTS(0.5, 2)),
    LOOSE("scatter_along_axis", "div", b_scatter_along_div, 8, 0, ACCUMULATED, ELEMENTS(0.5, 2)),
    EXACT("scatter_along_axis", "max", b_scatter_along_max, ELEMENTS(-2, 2)),
    EXACT("scatter_along_axis", "min", b_scatter_along_min, ELEMENTS(-2, 2)),
    LOOSE("scatter_along_axis", "last axis, indices outside", b_scatter_along_last, 8, 8, ACCUMULATED, F(2, -2, 2, 9, 5),
          I(2, -2, 7, 9, 8), F(2, -2, 2, 9, 8)),
    EXACT("scatter_nd", "update", b_scatter_nd_update, COORDINATES(-2, 2)),
    LOOSE("scatter_nd", "add", b_scatter_nd_add, 8, 8, ACCUMULATED, COORDINATES(-2, 2)),
    LOOSE("scatter_nd", "sub", b_scatter_nd_sub, 8, 8, ACCUMULATED, COORDINATES(-2, 2)),
    LOOSE("scatter_nd", "mul", b_scatter_nd_mul, 8, 0, ACCUMULATED, COORDINATES(0.5, 2)),
    LOOSE("scatter_nd", "div", b_scatter_nd_div, 8, 0, ACCUMULATED, COORDINATES(0.5, 2)),
    EXACT("scatter_nd", "max", b_scatter_nd_max, COORDINATES(-2, 2)),
    EXACT("scatter_nd", "min", b_scatter_nd_min, COORDINATES(-2, 2)),
    LOOSE("scatter_nd", "single elements, indices outside", b_scatter_nd_add, 8, 8, ACCUMULATED, F(2, -2, 2, 3, 4),
          I(3, -1, 4, 4, 3, 2), F(2, -2, 2, 4, 3)),
    EXACT("scatter_nd", "one update", b_scatter_nd_update, F(2, -2, 2, 3, 4), I(1, 0, 3, 2), F(0, -2, 2, 0)),
};
/* clang-format on */

OP_CASES(gather, rows)

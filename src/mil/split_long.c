/* Operations on values whose long axis is cut into blocks. */
#include "mil/split.h"

#include <millwright/millwright.h>
#include <string.h>

static bool is_one_of(const mw__op *op, const char *const *kinds)
{
    while (*kinds != NULL && !mw__split_is(op, *kinds))
        kinds++;
    return *kinds != NULL;
}

/* Each element of the result depends on that of the operands; extents of 1 are repeated. */
static bool is_elementwise(const mw__op *op)
{
    static const char *const kinds[] = {
        "add",         "sub",         "mul",        "real_div",    "floor_div",    "mod",
        "maximum",     "minimum",     "pow",        "abs",         "sign",         "square",
        "sqrt",        "rsqrt",       "inverse",    "exp",         "log",          "erf",
        "tanh",        "exp2",        "floor",      "ceil",        "round",        "sin",
        "cos",         "threshold",   "clip",       "cast",        "relu",         "sigmoid",
        "silu",        "gelu",        "relu6",      "leaky_relu",  "clamped_relu", "thresholded_relu",
        "elu",         "softplus",    "softsign",   "scaled_tanh", "sigmoid_hard", "linear_activation",
        "equal",       "not_equal",   "less",       "less_equal",  "greater",      "greater_equal",
        "logical_not", "logical_and", "logical_or", "logical_xor", "select",       "identity",
        NULL};
    return is_one_of(op, kinds);
}

/* How the reductions of blocks are reduced to that of all. */
static const char *join_of(const mw__op *op)
{
    static const char *const rows[][2] = {
        {"reduce_sum", "reduce_sum"},
        {"reduce_mean", "reduce_sum"},
        {"reduce_max", "reduce_max"},
        {"reduce_min", "reduce_min"},
        {"reduce_prod", "reduce_prod"},
        {"reduce_sum_square", "reduce_sum"},
        {"reduce_l1_norm", "reduce_sum"},
        {"reduce_l2_norm", "reduce_l2_norm"},
        {"reduce_log_sum_exp", "reduce_log_sum_exp"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (mw__split_is(op, rows[i][0]))
            return rows[i][1];
    return NULL;
}

/* ---- matmul ---- */

/* The axes that are summed over. */
static void contracted(const mw__op *op, int *out_x, int *out_y)
{
    bool flip_x = false, flip_y = false;
    mw__arg_bool(op, "transpose_x", &flip_x);
    mw__arg_bool(op, "transpose_y", &flip_y);
    *out_x = mw_tensor_shape(mw__arg(op, "x")).rank - (flip_x ? 2 : 1);
    *out_y = mw_tensor_shape(mw__arg(op, "y")).rank - (flip_y ? 1 : 2);
}

static bool is_contraction(const mw__split *split, const mw__op *op)
{
    int x, y;
    contracted(op, &x, &y);
    return mw__split_axis(split, mw__arg(op, "x")) == x && mw__split_axis(split, mw__arg(op, "y")) == y;
}

static bool matmul_fits(const mw__split *split, const mw__op *op)
{
    int x, y;
    const mw_tensor *left = mw__arg(op, "x"), *right = mw__arg(op, "y");
    contracted(op, &x, &y);
    if (mw_tensor_shape(left).rank < 2 || mw_tensor_shape(right).rank < 2)
        return false;
    const bool contracts = mw__split_axis(split, left) == x || mw__split_axis(split, right) == y;
    return contracts ? is_contraction(split, op) && mw__split_axis(split, op->results[0]) == -1
                     : mw__split_axis(split, op->results[0]) >= 0;
}

/* sum over k of the products of blocks */
static void emit_contraction(mw__split *split, mw__clone *clone, const mw__op *op)
{
    const mw_tensor *result = op->results[0];
    const int64_t blocks = mw__split_blocks_of(split, mw__arg(op, "x"));
    mw_tensor *sum = NULL;
    for (int64_t b = 0; b < blocks && split->to->error.status == MW_OK; b++) {
        mw__split_copy_op(split, clone, op, b, 1, 0);
        mw_tensor *product = mw__clone_get(clone, result);
        sum = sum == NULL ? product : mw_add(sum, product);
    }
    mw__clone_set(clone, result, sum);
}

/* ---- linear ---- */

static const mw_tensor *bias_of(const mw__op *op) { return mw__arg_present(op, "bias") ? mw__arg(op, "bias") : NULL; }

/* Of many outputs, with the constants that MIL wants. */
static bool linear_fits(const mw__split *split, const mw__op *op)
{
    const mw_tensor *weight = mw__arg(op, "weight"), *bias = bias_of(op);
    return mw__split_is_source(split, weight) && mw__split_axis(split, weight) == 0 &&
           (bias == NULL || mw__split_is_source(split, bias)) && mw__split_axis(split, mw__arg(op, "x")) == -1 &&
           mw__split_axis(split, op->results[0]) >= 0;
}

static void emit_linear(mw__split *split, mw__clone *clone, const mw__op *op)
{
    const mw_tensor *bias = bias_of(op), *result = op->results[0];
    mw_tensor *x = mw__clone_get(clone, mw__arg(op, "x"));
    for (int64_t b = 0; b < mw__split_blocks_of(split, result); b++) {
        mw_tensor *weight = mw__split_part(split, clone, mw__arg(op, "weight"), b, 1, 0);
        mw_tensor *y = mw_matmul(x, weight, false, true);
        if (bias != NULL)
            y = mw_add(y, mw__split_part(split, clone, bias, b, 1, 0));
        mw__split_set(split, clone, result, b, 1, 0, y);
    }
}

/* ---- shapes ---- */

/* The long axis of x is one of the result, with as many elements before it. */
static bool reshape_fits(const mw__split *split, const mw__op *op)
{
    const mw_shape from = mw_tensor_shape(mw__arg(op, "x")), to = mw_tensor_shape(op->results[0]);
    const int a = mw__split_axis(split, mw__arg(op, "x")), b = mw__split_axis(split, op->results[0]);
    return a >= 0 && b >= 0 && from.dim[a] == to.dim[b] && mw__shape_span(from, 0, a) == mw__shape_span(to, 0, b);
}

static bool concat_fits(const mw__split *split, const mw__op *op)
{
    int64_t axis = 0;
    bool interleaves = false;
    const mw_shape shape = mw_tensor_shape(op->results[0]);
    mw__arg_bool(op, "interleave", &interleaves);
    const int along = mw__split_axis(split, op->results[0]);
    return mw__arg_int(op, "axis", &axis) && !interleaves && along >= 0 &&
           along != (int)(axis < 0 ? axis + shape.rank : axis);
}

static bool tile_fits(const mw__split *split, const mw__op *op)
{
    const int along = mw__split_axis(split, op->results[0]);
    return along >= 0 && along == mw__split_axis(split, mw__arg(op, "x")) &&
           mw_tensor_shape(mw__arg(op, "x")).dim[along] == mw_tensor_shape(op->results[0]).dim[along];
}

/* The long axis is taken whole, and nothing says how long it is. */
static bool slice_fits(const mw__split *split, const mw__op *op)
{
    bool from_start[MW_RANK_MAX], to_end[MW_RANK_MAX];
    size_t starts = 0, ends = 0;
    const mw_tensor *x = mw__arg(op, "x");
    const int along = mw__split_axis(split, x);
    return along >= 0 && mw__split_axis(split, op->results[0]) >= 0 &&
           mw__arg_bools(op, "begin_mask", from_start, MW_RANK_MAX, &starts) &&
           mw__arg_bools(op, "end_mask", to_end, MW_RANK_MAX, &ends) && along < (int)starts && along < (int)ends &&
           from_start[along] && to_end[along] &&
           mw_tensor_shape(op->results[0]).dim[mw__split_axis(split, op->results[0])] == mw_tensor_shape(x).dim[along];
}

static void emit_reshape(mw__split *split, mw__clone *clone, const mw__op *op)
{
    const mw_tensor *x = mw__arg(op, "x"), *result = op->results[0];
    const int digits = mw__split_is_wide(split, result) ? 2 : 1;
    const int64_t blocks = mw__split_blocks_of(split, result);
    for (int64_t b = 0; b < blocks; b++)
        for (int d = 0; d < digits; d++) {
            mw_tensor *part = mw__split_part(split, clone, x, blocks > 1 ? b : MW__SPLIT_WHOLE, digits, d);
            mw__split_set(split, clone, result, b, digits, d, mw_reshape(part, mw__split_extents(split, result, b)));
        }
}

/* ---- what has a rule ---- */

static bool index_fits(const mw__split *split, const mw__op *op)
{
    int64_t axis = 0;
    const bool makes = mw__split_is(op, "one_hot");
    const mw_tensor *table = makes ? op->results[0] : mw__arg(op, mw__split_is(op, "scatter") ? "data" : "x");
    const int rank = mw_tensor_shape(table).rank;
    mw__arg_int(op, "axis", &axis);
    return mw__split_takes(split, op) && mw__split_axis(split, table) == (int)(axis < 0 ? axis + rank : axis) &&
           mw__split_axis(split, mw__arg(op, "indices")) == -1 &&
           (makes || mw__split_is(op, "scatter") || mw__split_axis(split, op->results[0]) == -1);
}

bool mw__split_long_fits(const mw__split *split, const mw__op *op)
{
    for (size_t i = 0; i < op->result_count; i++)
        if (mw__split_axis(split, op->results[i]) == -2)
            return false;
    if (mw__split_is_index_op(op))
        return index_fits(split, op);
    if (is_elementwise(op))
        return mw__split_axis(split, op->results[0]) >= 0;
    if (mw__split_is(op, "matmul"))
        return matmul_fits(split, op);
    if (join_of(op) != NULL || mw__split_is(op, "softmax") || mw__split_is(op, "transpose"))
        return mw__split_axis(split, mw__arg(op, "x")) >= 0;
    if (mw__split_is(op, "reshape") || mw__split_is(op, "expand_dims") || mw__split_is(op, "squeeze"))
        return reshape_fits(split, op);
    if (mw__split_is(op, "concat"))
        return concat_fits(split, op);
    if (mw__split_is(op, "linear"))
        return linear_fits(split, op);
    if (mw__split_is(op, "slice_by_index"))
        return slice_fits(split, op);
    return mw__split_is(op, "tile") && tile_fits(split, op);
}

/* ---- reductions ---- */

static mw_tensor *reduce(const char *reduction, mw_tensor *x, int axis)
{
    mw__build build = mw__build_begin(reduction, x);
    mw__build_set(&build, "x", x);
    mw__build_ints(&build, "axes", (int64_t[]){axis}, 1);
    mw__build_bool(&build, "keep_dims", true);
    return mw__build_end(&build);
}

mw_tensor *mw__split_join(mw_tensor *const *partials, int64_t count, const char *reduction, int axis)
{
    for (int64_t i = 0; i < count; i++)
        if (partials[i] == NULL)
            return NULL;
    return reduce(reduction, mw_concat(partials, (size_t)count, axis), axis);
}

static mw_tensor **allocate(mw__split *split, int64_t count)
{
    return mw__arena_alloc(&split->to->arena, (size_t)count, sizeof(mw_tensor *), &split->to->error);
}

/* The reduction of one block, with the extents of 1. */
static mw_tensor *reduce_block(mw__split *split, mw__clone *clone, const mw__op *op, int64_t block)
{
    const mw_tensor *x = mw__arg(op, "x");
    int64_t axes[MW_RANK_MAX];
    size_t count = 0;
    const int axis = mw__split_axis(split, x), rank = mw_tensor_shape(x).rank;
    if (!mw__arg_ints(op, "axes", axes, MW_RANK_MAX, &count) || count == 0)
        for (count = 0; (int)count < rank; count++)
            axes[count] = (int64_t)count;
    mw_tensor *part = mw__split_part(split, clone, x, block, 1, 0);
    mw__build build = mw__build_begin(op->kind, part);
    mw__build_set(&build, "x", part);
    mw__build_ints(&build, "axes", axes, count);
    mw__build_bool(&build, "keep_dims", true);
    mw_tensor *y = mw__build_end(&build);
    if (y == NULL || !mw__split_is(op, "reduce_mean"))
        return y;
    const double share = (double)mw_tensor_shape(part).dim[axis] / (double)mw_tensor_shape(x).dim[axis];
    return mw_mul_scalar(y, share);
}

static void emit_reduction(mw__split *split, mw__clone *clone, const mw__op *op)
{
    const mw_tensor *x = mw__arg(op, "x"), *result = op->results[0];
    const int64_t blocks = mw__split_blocks_of(split, x);
    mw_tensor **partials = allocate(split, blocks);
    if (partials == NULL)
        return;
    for (int64_t b = 0; b < blocks; b++)
        partials[b] = reduce_block(split, clone, op, b);
    mw_tensor *y = mw__split_join(partials, blocks, join_of(op), mw__split_axis(split, x));
    mw__clone_set(clone, result, mw_reshape(y, mw_tensor_shape(result)));
}

/* ---- softmax ---- */

/* exp(x - max) / sum of all of it. The sum of that many ones would pass the largest number of fp16, so that what is
 * summed is halved until it cannot. */
static void emit_softmax(mw__split *split, mw__clone *clone, const mw__op *op)
{
    const mw_tensor *x = mw__arg(op, "x"), *result = op->results[0];
    const int axis = mw__split_axis(split, x);
    const int64_t blocks = mw__split_blocks_of(split, x);
    double unit = 1.0;
    mw_tensor **each = allocate(split, blocks), **partials = allocate(split, blocks);
    if (each == NULL || partials == NULL)
        return;
    while ((double)mw_tensor_shape(x).dim[axis] * unit > 32752.0) /* what a matmul of the chip can sum to */
        unit /= 2.0;
    for (int64_t b = 0; b < blocks; b++)
        partials[b] = reduce("reduce_max", mw__split_part(split, clone, x, b, 1, 0), axis);
    mw_tensor *top = mw__split_join(partials, blocks, "reduce_max", axis);
    for (int64_t b = 0; b < blocks; b++) {
        each[b] = mw_exp(mw_sub(mw__split_part(split, clone, x, b, 1, 0), top));
        if (unit != 1.0)
            each[b] = mw_mul_scalar(each[b], unit);
        partials[b] = reduce("reduce_sum", each[b], axis);
    }
    mw_tensor *sum = mw__split_join(partials, blocks, "reduce_sum", axis);
    for (int64_t b = 0; b < blocks; b++)
        mw__split_set(split, clone, result, b, 1, 0, mw_real_div(each[b], sum));
}

/* ---- operations ---- */

static bool softmax_along(const mw__split *split, const mw__op *op)
{
    int64_t axis = -1;
    const mw_tensor *x = mw__arg(op, "x");
    mw__arg_int(op, "axis", &axis);
    return mw__split_axis(split, x) == (int)(axis < 0 ? axis + mw_tensor_shape(x).rank : axis);
}

static bool touches_long(const mw__split *split, const mw__op *op, int64_t *out_blocks)
{
    *out_blocks = 1;
    for (size_t i = 0; i < op->slot_count; i++)
        for (size_t k = 0; op->slots[i].operands != NULL && k < op->slots[i].count; k++) {
            const mw_tensor *value = op->slots[i].operands[k].value;
            if (value != NULL && !mw__split_is_source(split, value) && mw__split_is_long(split, value))
                *out_blocks = mw__split_blocks_of(split, value);
        }
    for (size_t i = 0; i < op->result_count; i++)
        if (mw__split_is_long(split, op->results[i]))
            *out_blocks = mw__split_blocks_of(split, op->results[i]);
    return *out_blocks > 1;
}

bool mw__split_long_op(mw__split *split, mw__clone *clone, const mw__op *op)
{
    int64_t blocks;
    const mw_tensor *result = op->results[0];
    bool wide = false;
    for (size_t i = 0; i < op->result_count; i++)
        wide = wide || mw__split_is_wide(split, op->results[i]);
    if (!touches_long(split, op, &blocks) && !wide)
        return false;
    if (mw__split_is(op, "reshape") || mw__split_is(op, "expand_dims") || mw__split_is(op, "squeeze"))
        emit_reshape(split, clone, op);
    else if (blocks > 1 && join_of(op) != NULL && !mw__split_is_long(split, result))
        emit_reduction(split, clone, op);
    else if (blocks > 1 && mw__split_is(op, "softmax") && softmax_along(split, op))
        emit_softmax(split, clone, op);
    else if (mw__split_is(op, "linear"))
        emit_linear(split, clone, op);
    else if (blocks > 1 && mw__split_is(op, "matmul") && is_contraction(split, op))
        emit_contraction(split, clone, op);
    else
        for (int64_t b = 0; b < blocks; b++)
            for (int d = 0; d < (wide ? 2 : 1); d++)
                mw__split_copy_op(split, clone, op, blocks > 1 ? b : MW__SPLIT_WHOLE, wide ? 2 : 1, d);
    return true;
}

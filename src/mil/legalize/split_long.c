/* Operations on values whose long axis is partitioned into blocks. */
#include "mil/legalize/rewrites.h"

#include <millwright/millwright.h>
#include <string.h>

/* ---- what has parts ---- */

bool mw__split_always(const mw__split *split, const mw__op *op)
{
    (void)split;
    (void)op;
    return true;
}

bool mw__split_casts_integers(const mw__split *split, const mw__op *op)
{
    (void)split;
    return mw__split_is_int(mw__arg(op, "x")) && mw__split_is_int(op->results[0]);
}

bool mw__split_x_is_long(const mw__split *split, const mw__op *op)
{
    return mw__split_axis(split, mw__arg(op, "x")) >= 0;
}

bool mw__split_result_is_long(const mw__split *split, const mw__op *op)
{
    return mw__split_axis(split, op->results[0]) >= 0;
}

/* Blocks of the operation: those of its operands and results that have some, else 1. */
static int64_t count_blocks(const mw__split *split, const mw__op *op)
{
    int64_t blocks = 1;
    for (size_t i = 0; i < op->slot_count; i++)
        for (size_t k = 0; op->slots[i].operands != NULL && k < op->slots[i].count; k++) {
            const mw_tensor *value = op->slots[i].operands[k].value;
            if (value != NULL && !mw__split_is_source(split, value) && mw__split_is_long(split, value))
                blocks = mw__split_blocks_of(split, value);
        }
    for (size_t i = 0; i < op->result_count; i++)
        if (mw__split_is_long(split, op->results[i]))
            blocks = mw__split_blocks_of(split, op->results[i]);
    return blocks;
}

static bool gives_digits(const mw__split *split, const mw__op *op)
{
    bool wide = false;
    for (size_t i = 0; i < op->result_count; i++)
        wide = wide || mw__split_is_wide(split, op->results[i]);
    return wide;
}

bool mw__split_has_parts(const mw__rewriting *pass, const mw__op *op)
{
    const mw__split *split = pass->split;
    return count_blocks(split, op) > 1 || gives_digits(split, op);
}

mw_tensor *mw__split_each_part(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    mw__split *split = pass->split;
    const int64_t blocks = count_blocks(split, op);
    const int digits = gives_digits(split, op) ? 2 : 1;
    for (int64_t b = 0; b < blocks; b++)
        for (int d = 0; d < digits; d++)
            mw__split_copy_op(split, clone, op, blocks > 1 ? b : MW__SPLIT_WHOLE, digits, d);
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

bool mw__split_matmul_fits(const mw__split *split, const mw__op *op)
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

bool mw__split_contracts_blocks(const mw__rewriting *pass, const mw__op *op)
{
    const mw__split *split = pass->split;
    return count_blocks(split, op) > 1 && is_contraction(split, op);
}

/* sum over k of the products of blocks */
mw_tensor *mw__split_contraction(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    mw__split *split = pass->split;
    const mw_tensor *result = op->results[0];
    const int64_t blocks = mw__split_blocks_of(split, mw__arg(op, "x"));
    mw_tensor *sum = NULL;
    for (int64_t b = 0; b < blocks && split->to->error.status == MW_OK; b++) {
        mw__split_copy_op(split, clone, op, b, 1, 0);
        mw_tensor *product = mw__clone_get(clone, result);
        sum = sum == NULL ? product : mw_add(sum, product);
    }
    mw__clone_set(clone, result, sum);
    return NULL;
}

/* ---- linear ---- */

static const mw_tensor *bias_of(const mw__op *op) { return mw__arg_present(op, "bias") ? mw__arg(op, "bias") : NULL; }

/* Of many outputs, with the constants that MIL wants. */
bool mw__split_linear_fits(const mw__split *split, const mw__op *op)
{
    const mw_tensor *weight = mw__arg(op, "weight"), *bias = bias_of(op);
    return mw__split_is_source(split, weight) && mw__split_axis(split, weight) == 0 &&
           (bias == NULL || mw__split_is_source(split, bias)) && mw__split_axis(split, mw__arg(op, "x")) == -1 &&
           mw__split_axis(split, op->results[0]) >= 0;
}

mw_tensor *mw__split_linear(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    mw__split *split = pass->split;
    const mw_tensor *bias = bias_of(op), *result = op->results[0];
    mw_tensor *x = mw__clone_get(clone, mw__arg(op, "x"));
    for (int64_t b = 0; b < mw__split_blocks_of(split, result); b++) {
        mw_tensor *weight = mw__split_part(split, clone, mw__arg(op, "weight"), b, 1, 0);
        mw_tensor *y = mw_matmul(x, weight, MW_TRANSPOSE_Y);
        if (bias != NULL)
            y = mw_add(y, mw__split_part(split, clone, bias, b, 1, 0));
        mw__split_set(split, clone, result, b, 1, 0, y);
    }
    return NULL;
}

/* ---- shapes ---- */

/* The long axis of x is one of the result, with as many elements before it. */
bool mw__split_reshape_fits(const mw__split *split, const mw__op *op)
{
    const mw_shape from = mw_tensor_shape(mw__arg(op, "x")), to = mw_tensor_shape(op->results[0]);
    const int a = mw__split_axis(split, mw__arg(op, "x")), b = mw__split_axis(split, op->results[0]);
    return a >= 0 && b >= 0 && from.dim[a] == to.dim[b] && mw__shape_span(from, 0, a) == mw__shape_span(to, 0, b);
}

bool mw__split_concat_fits(const mw__split *split, const mw__op *op)
{
    int64_t axis = 0;
    bool interleaves = false;
    const mw_shape shape = mw_tensor_shape(op->results[0]);
    mw__arg_bool(op, "interleave", &interleaves);
    const int along = mw__split_axis(split, op->results[0]);
    return mw__arg_int(op, "axis", &axis) && !interleaves && along >= 0 &&
           along != (int)(axis < 0 ? axis + shape.rank : axis);
}

bool mw__split_tile_fits(const mw__split *split, const mw__op *op)
{
    const int along = mw__split_axis(split, op->results[0]);
    return along >= 0 && along == mw__split_axis(split, mw__arg(op, "x")) &&
           mw_tensor_shape(mw__arg(op, "x")).dim[along] == mw_tensor_shape(op->results[0]).dim[along];
}

/* The long axis is taken whole, and no argument has its extent. */
bool mw__split_slice_fits(const mw__split *split, const mw__op *op)
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

mw_tensor *mw__split_reshape(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    mw__split *split = pass->split;
    const mw_tensor *x = mw__arg(op, "x"), *result = op->results[0];
    const int digits = mw__split_is_wide(split, result) ? 2 : 1;
    const int64_t blocks = mw__split_blocks_of(split, result);
    for (int64_t b = 0; b < blocks; b++)
        for (int d = 0; d < digits; d++) {
            mw_tensor *part = mw__split_part(split, clone, x, blocks > 1 ? b : MW__SPLIT_WHOLE, digits, d);
            mw__split_set(split, clone, result, b, digits, d, mw_reshape(part, mw__split_extents(split, result, b)));
        }
    return NULL;
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

bool mw__split_reduces_blocks(const mw__rewriting *pass, const mw__op *op)
{
    const mw__split *split = pass->split;
    return count_blocks(split, op) > 1 && !mw__split_is_long(split, op->results[0]);
}

/* The reduction of one block, with the extents of 1. */
static mw_tensor *reduce_block(mw__split *split, mw__clone *clone, const mw__op *op, int64_t block)
{
    const mw_tensor *x = mw__arg(op, "x");
    int64_t axes[MW_RANK_MAX];
    size_t count = 0;
    const int rank = mw_tensor_shape(x).rank;
    if (!mw__arg_ints(op, "axes", axes, MW_RANK_MAX, &count) || count == 0)
        for (count = 0; (int)count < rank; count++)
            axes[count] = (int64_t)count;
    mw_tensor *part = mw__split_part(split, clone, x, block, 1, 0);
    mw__build build = mw__build_begin(op->kind, part);
    mw__build_set(&build, "x", part);
    mw__build_ints(&build, "axes", axes, count);
    mw__build_bool(&build, "keep_dims", true);
    return mw__build_end(&build);
}

/* `weighted`: each block's result counts as much as it has of the axis. */
static void reduce_blocks(mw__split *split, mw__clone *clone, const mw__op *op, const char *join, bool weighted)
{
    const mw_tensor *x = mw__arg(op, "x"), *result = op->results[0];
    const int axis = mw__split_axis(split, x);
    const int64_t blocks = mw__split_blocks_of(split, x), extent = mw_tensor_shape(x).dim[axis];
    mw_tensor **partials = allocate(split, blocks);
    if (partials == NULL)
        return;
    for (int64_t b = 0; b < blocks; b++) {
        partials[b] = reduce_block(split, clone, op, b);
        if (weighted && partials[b] != NULL)
            partials[b] = mw_mul_scalar(partials[b], (double)mw__split_extents(split, x, b).dim[axis] / (double)extent);
    }
    mw_tensor *y = mw__split_join(partials, blocks, join, axis);
    mw__clone_set(clone, result, mw_reshape(y, mw_tensor_shape(result)));
}

mw_tensor *mw__split_reduction(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    mw__split *split = pass->split;
    reduce_blocks(split, clone, op, op->kind, false);
    return NULL;
}

mw_tensor *mw__split_sum(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    mw__split *split = pass->split;
    reduce_blocks(split, clone, op, "reduce_sum", false);
    return NULL;
}

mw_tensor *mw__split_mean(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    mw__split *split = pass->split;
    reduce_blocks(split, clone, op, "reduce_sum", true);
    return NULL;
}

/* ---- softmax ---- */

bool mw__split_normalizes_blocks(const mw__rewriting *pass, const mw__op *op)
{
    const mw__split *split = pass->split;
    int64_t axis = -1;
    const mw_tensor *x = mw__arg(op, "x");
    mw__arg_int(op, "axis", &axis);
    return count_blocks(split, op) > 1 &&
           mw__split_axis(split, x) == (int)(axis < 0 ? axis + mw_tensor_shape(x).rank : axis);
}

/* exp(x - max) / sum of all of it. The sum of that many ones would pass the largest number of fp16, so that what is
 * summed is halved until it cannot. */
mw_tensor *mw__split_softmax(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    mw__split *split = pass->split;
    const mw_tensor *x = mw__arg(op, "x"), *result = op->results[0];
    const int axis = mw__split_axis(split, x);
    const int64_t blocks = mw__split_blocks_of(split, x);
    double unit = 1.0;
    mw_tensor **each = allocate(split, blocks), **partials = allocate(split, blocks);
    if (each == NULL || partials == NULL)
        return NULL;
    while ((double)mw_tensor_shape(x).dim[axis] * unit > 32752.0) /* what a matmul of the ANE can sum to */
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
    return NULL;
}

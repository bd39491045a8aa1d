/* Operations on integers in digits, and those that take an index: products with one-hot matrices. */
#include "mil/legalize/decompose_index.h"
#include "mil/legalize/rewrites.h"

#include <millwright/millwright.h>
#include <string.h>

/* ---- comparisons ---- */

bool mw__split_compares(const mw__rewriting *pass, const mw__op *op)
{
    const mw__split *split = pass->split;
    return mw__split_is_wide(split, mw__arg(op, "x")) || mw__split_is_wide(split, mw__arg(op, "y"));
}

/* Axis of a shape of lower or equal rank, counted in that of the result. */
static int aligned(int axis, int rank, int result_rank) { return axis + result_rank - rank; }

/* True if `x` has one element along the axis of the result. */
static bool is_single(const mw_tensor *x, int axis, int result_rank)
{
    const mw_shape shape = mw_tensor_shape(x);
    const int own = axis - (result_rank - shape.rank);
    return own < 0 || shape.dim[own] == 1;
}

/* 1 where number `index` is that of its place along the axis: the numbers count up from 0 there. */
static mw_tensor *match_count(mw__split *split, mw__clone *clone, const mw__op *op, const mw_tensor *index, int axis,
                              int64_t block)
{
    const mw_tensor *result = op->results[0];
    const mw_shape shape = mw__split_extents(split, result, block);
    int64_t begin = 0, count = shape.dim[axis];
    if (block != MW__SPLIT_WHOLE && mw__split_axis(split, result) == axis)
        mw__split_block(split, mw_tensor_shape(result).dim[axis], block, &begin, &count);
    const mw__digits digits = mw__split_digits(split, clone, index, block, 2);
    mw_tensor *hot = mw__digits_hot(&digits, mw__shape_span(shape, 0, axis),
                                    mw__shape_span(shape, axis + 1, shape.rank), begin, count, MW_F32);
    return mw_reshape(hot, shape);
}

static mw_tensor *match_block(mw__split *split, mw__clone *clone, const mw__op *op, int64_t block)
{
    const mw_tensor *sides[2] = {mw__arg(op, "x"), mw__arg(op, "y")};
    const int rank = mw_tensor_shape(op->results[0]).rank;
    for (int i = 0; i < 2; i++) {
        int axis;
        if (!mw__split_is_count(split, sides[i], &axis))
            continue;
        axis = aligned(axis, mw_tensor_shape(sides[i]).rank, rank);
        if (is_single(sides[1 - i], axis, rank))
            return match_count(split, clone, op, sides[1 - i], axis, block);
    }
    const mw__digits a = mw__split_digits(split, clone, sides[0], block, 2);
    const mw__digits b = mw__split_digits(split, clone, sides[1], block, 2);
    return mw__digits_equal(&a, &b, MW_F32);
}

mw_tensor *mw__split_comparison(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    mw__split *split = pass->split;
    const mw_tensor *result = op->results[0];
    const int64_t blocks = mw__split_blocks_of(split, result);
    mw__split_form *hot = &split->hots[result->id];
    hot->parts = mw__arena_alloc(&split->to->arena, (size_t)blocks, sizeof(mw_tensor *), &split->to->error);
    if (hot->parts == NULL)
        return NULL;
    hot->blocks = blocks;
    hot->digits = 1;
    for (int64_t b = 0; b < blocks; b++) {
        mw_tensor *match = hot->parts[b] = match_block(split, clone, op, blocks > 1 ? b : MW__SPLIT_WHOLE);
        mw_tensor *half = mw_scalar(split->to, MW_F32, 0.5);
        mw__split_set(split, clone, result, b, 1, 0,
                      mw__op_is(op, "equal") ? mw_greater(match, half) : mw_less(match, half));
    }
    return NULL;
}

static bool is_number(const mw_tensor *value, double number)
{
    return value->payload != NULL && value->payload->data != NULL && mw_shape_count(mw_tensor_shape(value)) == 1 &&
           mw__payload_float(value->payload, 0) == number;
}

/* select(a = b, 1, 0) */
bool mw__split_is_match(const mw__rewriting *pass, const mw__op *op)
{
    const mw__split *split = pass->split;
    const mw_tensor *hit = mw__arg(op, "cond"), *result = op->results[0];
    const mw_dtype dtype = mw_tensor_dtype(result);
    return split->hots[hit->id].digits != 0 && mw_shape_equal(mw_tensor_shape(hit), mw_tensor_shape(result)) &&
           (dtype == MW_F32 || dtype == MW_F16) && mw__op_is(hit->op, "equal") && is_number(mw__arg(op, "a"), 1.0) &&
           is_number(mw__arg(op, "b"), 0.0);
}

mw_tensor *mw__split_match(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    mw__split *split = pass->split;
    const mw_tensor *result = op->results[0];
    const mw__split_form *hot = &split->hots[mw__arg(op, "cond")->id];
    const mw_dtype dtype = mw_tensor_dtype(result);
    for (int64_t b = 0; b < hot->blocks; b++)
        mw__split_set(split, clone, result, b, 1, 0, dtype == MW_F32 ? hot->parts[b] : mw_cast(hot->parts[b], dtype));
    return NULL;
}

/* ---- the smallest and the largest ---- */

bool mw__split_result_is_wide(const mw__rewriting *pass, const mw__op *op)
{
    const mw__split *split = pass->split;
    return mw__split_is_wide(split, op->results[0]);
}

typedef struct axes {
    int64_t axis[MW_RANK_MAX];
    size_t count;
} axes;

static mw_tensor *reduce_part(const mw__op *op, mw_tensor *part, const axes *over)
{
    mw__build build = mw__build_begin(op->kind, part);
    mw__build_set(&build, "x", part);
    mw__build_ints(&build, "axes", over->axis, over->count);
    mw__build_bool(&build, "keep_dims", true);
    return mw__build_end(&build);
}

/* The reduction over `blocks` blocks from `first` on. */
static mw_tensor *reduce_parts(mw__split *split, const mw__op *op, mw_tensor *const *parts, int64_t blocks,
                               const axes *over)
{
    mw_tensor **partials = mw__arena_alloc(&split->to->arena, (size_t)blocks, sizeof(mw_tensor *), &split->to->error);
    if (partials == NULL)
        return NULL;
    for (int64_t b = 0; b < blocks; b++)
        partials[b] = reduce_part(op, parts[b], over);
    return blocks == 1 ? partials[0]
                       : mw__split_join(partials, blocks, op->kind, mw__split_axis(split, mw__arg(op, "x")));
}

/* The first digit decides; the second among those that have it. */
static void extreme_of(mw__split *split, mw__clone *clone, const mw__op *op, int64_t first, int64_t blocks,
                       const axes *over, int64_t result_block)
{
    const mw_tensor *x = mw__arg(op, "x"), *result = op->results[0];
    const double never = mw__op_is(op, "reduce_min") ? MW__DIGIT_BASE : -1.0;
    mw_tensor **parts[2];
    for (int i = 0; i < 2; i++)
        parts[i] = mw__arena_alloc(&split->to->arena, (size_t)blocks, sizeof(mw_tensor *), &split->to->error);
    if (parts[0] == NULL || parts[1] == NULL)
        return;
    for (int64_t b = 0; b < blocks; b++)
        parts[0][b] = mw__split_part(split, clone, x, first + b, 2, 0);
    mw_tensor *high = reduce_parts(split, op, parts[0], blocks, over);
    for (int64_t b = 0; b < blocks; b++) {
        mw_tensor *leads = mw_equal(parts[0][b], high);
        mw_tensor *part = mw__split_part(split, clone, x, first + b, 2, 1);
        parts[1][b] = mw_select(leads, part, mw_scalar(split->to, MW_F32, never));
    }
    mw_tensor *low = reduce_parts(split, op, parts[1], blocks, over);
    const mw_shape shape = mw__split_extents(split, result, result_block);
    mw__split_set(split, clone, result, result_block, 2, 0, mw_reshape(high, shape));
    mw__split_set(split, clone, result, result_block, 2, 1, mw_reshape(low, shape));
}

mw_tensor *mw__split_extreme(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    mw__split *split = pass->split;
    axes over = {.count = 0};
    const mw_tensor *x = mw__arg(op, "x");
    const int64_t blocks = mw__split_blocks_of(split, x);
    if (!mw__arg_ints(op, "axes", over.axis, MW_RANK_MAX, &over.count) || over.count == 0)
        for (over.count = 0; (int)over.count < mw_tensor_shape(x).rank; over.count++)
            over.axis[over.count] = (int64_t)over.count;
    if (blocks == 1 || !mw__split_is_long(split, op->results[0])) {
        extreme_of(split, clone, op, 0, blocks, &over, 0);
        return NULL;
    }
    for (int64_t b = 0; b < blocks; b++)
        extreme_of(split, clone, op, b, 1, &over, b);
    return NULL;
}

/* ---- operations that take indices ---- */

/* What takes nothing is no product, also where its own row is left out. */
bool mw__split_is_taken(const mw__rewriting *pass, const mw__op *op)
{
    return mw__split_takes(pass->split, op) && !mw__split_takes_nothing(pass, op);
}

/* A table seen as [batch, outer, extent, inner], and the indices that choose of extent: [batch, count]. */
typedef struct table {
    const mw_tensor *value;
    int axis;
    int64_t blocks; /* of `extent` */
    int64_t batch, outer, extent, inner, count;
    mw__digits indices;
} table;

static int axis_of(const mw__op *op, int rank)
{
    int64_t axis = 0;
    mw__arg_int(op, "axis", &axis);
    return (int)(axis < 0 ? axis + rank : axis);
}

static mw__digits read_indices(mw__split *split, mw__clone *clone, const mw__op *op, int64_t extent)
{
    const mw_tensor *indices = mw__arg(op, "indices");
    mw__digits digits = mw__split_digits(split, clone, indices, 0, mw__split_is_wide(split, indices) ? 2 : 1);
    if (digits.count == 1)
        digits.digit[0] = mw__decompose_int(digits.digit[0]);
    const bool wraps = op->row->since < MW_IOS17 && mw__split_indexing_of(split, op)->table != NULL;
    return wraps ? mw__digits_wrap(&digits, extent) : digits;
}

static table read_table(mw__split *split, mw__clone *clone, const mw__op *op)
{
    const mw__split_indexing *indexing = mw__split_indexing_of(split, op);
    const mw_tensor *value = mw__arg(op, indexing->table);
    const mw_shape shape = mw_tensor_shape(value);
    int64_t batch = 0;
    if (indexing->batched && op->row->since >= MW_IOS16)
        mw__arg_int(op, "batch_dims", &batch);
    table t = {.value = value, .axis = axis_of(op, shape.rank)};
    t.batch = mw__shape_span(shape, 0, (int)batch);
    t.outer = mw__shape_span(shape, (int)batch, t.axis);
    t.extent = shape.dim[t.axis];
    t.inner = mw__shape_span(shape, t.axis + 1, shape.rank);
    t.count = t.batch > 0 ? mw_shape_count(mw_tensor_shape(mw__arg(op, "indices"))) / t.batch : 0;
    const mw_tensor *divided = indexing->puts ? op->results[0] : value;
    t.blocks = mw__split_axis(split, divided) == t.axis ? mw__split_blocks_of(split, divided) : 1;
    t.indices = read_indices(split, clone, op, t.extent);
    return t;
}

static void block_of(const mw__split *split, const table *t, int64_t block, int64_t *out_begin, int64_t *out_count)
{
    *out_begin = 0;
    *out_count = t->extent;
    if (t->blocks > 1)
        mw__split_block(split, t->extent, block, out_begin, out_count);
}

/* Of integers, the same numbers in floating point. */
static mw_tensor *part_of(mw__split *split, mw__clone *clone, const table *t, int64_t block)
{
    return mw__decompose_number(mw__split_part(split, clone, t->value, t->blocks > 1 ? block : MW__SPLIT_WHOLE, 1, 0));
}

/* In which the numbers of a result are found. */
static mw_dtype number_dtype(const mw_tensor *result) { return mw_tensor_dtype(result) == MW_F16 ? MW_F16 : MW_F32; }

/* `found` as the result. */
static void set_found(mw__clone *clone, const mw_tensor *result, mw_tensor *found)
{
    mw__clone_set(clone, result,
                  mw__decompose_restore(mw_reshape(found, mw_tensor_shape(result)), mw_tensor_dtype(result)));
}

/* One row for an index: [batch, 1, count, rows of the block], or rank 2 if there is one table. */
static mw_tensor *one_hot_rows(const mw__split *split, const table *t, int64_t block, mw_dtype dtype)
{
    int64_t begin, rows;
    block_of(split, t, block, &begin, &rows);
    mw_tensor *hot = mw__digits_hot(&t->indices, t->batch * t->count, 1, begin, rows, dtype);
    return mw_reshape(hot, t->batch * t->outer == 1 ? MW_SHAPE(t->count, rows) : MW_SHAPE(t->batch, 1, t->count, rows));
}

/* `rows` rows of each table, in the rank of one_hot_rows. */
static mw_tensor *as_rows(const table *t, mw_tensor *x, int64_t rows)
{
    return mw_reshape(x, t->batch * t->outer == 1 ? MW_SHAPE(rows, t->inner)
                                                  : MW_SHAPE(t->batch, t->outer, rows, t->inner));
}

static bool is_empty(const mw_tensor *value) { return mw_shape_count(mw_tensor_shape(value)) == 0; }

/* Without elements there is nothing to match: what is taken is 0 (or not there), and nothing is put. */
bool mw__split_takes_nothing(const mw__rewriting *pass, const mw__op *op)
{
    const mw__split *split = pass->split;
    const mw__split_indexing *indexing = mw__split_indexing_of(split, op);
    const mw_tensor *result = op->results[0];
    if (indexing == NULL)
        return false;
    const mw_tensor *moved = indexing->table == NULL ? result : mw__arg(op, indexing->puts ? "updates" : "x");
    return mw__split_takes(split, op) && (is_empty(result) || is_empty(moved)) && !mw__split_is_long(split, result);
}

mw_tensor *mw__split_nothing(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    mw__split *split = pass->split;
    const mw__split_indexing *indexing = mw__split_indexing_of(split, op);
    const mw_tensor *result = op->results[0];
    mw__clone_set(clone, result,
                  indexing->puts ? mw_identity(mw__clone_get(clone, mw__arg(op, indexing->table)))
                                 : mw_fill(split->to, mw_tensor_dtype(result), mw_tensor_shape(result), 0.0));
    return NULL;
}

/* The sum over the blocks is exact: every index finds its row in one of them, and zeros in the others. */
mw_tensor *mw__split_gather(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    mw__split *split = pass->split;
    const table t = read_table(split, clone, op);
    const mw_tensor *result = op->results[0];
    mw_tensor *sum = NULL;
    for (int64_t b = 0; b < t.blocks && split->to->error.status == MW_OK; b++) {
        int64_t begin, rows;
        block_of(split, &t, b, &begin, &rows);
        mw_tensor *hot = one_hot_rows(split, &t, b, number_dtype(result));
        mw_tensor *part = as_rows(&t, part_of(split, clone, &t, b), rows);
        mw_tensor *found = mw_matmul(hot, part, MW_TRANSPOSE_NONE);
        sum = sum == NULL ? found : mw_add(sum, found);
    }
    set_found(clone, result, sum);
    return NULL;
}

static bool is_zeros(const mw_tensor *value)
{
    double number;
    if (value->op != NULL && mw__op_is(value->op, "fill"))
        return mw__arg_float(value->op, "value", &number) && number == 0.0;
    return is_number(value, 0.0);
}

mw_tensor *mw__split_scatter(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    mw__split *split = pass->split;
    const table t = read_table(split, clone, op);
    const mw_tensor *result = op->results[0];
    mw_tensor *updates =
        as_rows(&t, mw__split_part(split, clone, mw__arg(op, "updates"), MW__SPLIT_WHOLE, 1, 0), t.count);
    for (int64_t b = 0; b < t.blocks && split->to->error.status == MW_OK; b++) {
        mw_tensor *hot = one_hot_rows(split, &t, b, mw_tensor_dtype(result));
        mw_tensor *sum = mw_reshape(mw_matmul(hot, updates, MW_TRANSPOSE_X), mw__split_extents(split, result, b));
        if (!is_zeros(t.value))
            sum = mw_add(part_of(split, clone, &t, b), sum);
        mw__split_set(split, clone, result, b, 1, 0, sum);
    }
    return NULL;
}

mw_tensor *mw__split_one_hot(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    mw__split *split = pass->split;
    const mw_tensor *result = op->results[0];
    const mw_dtype dtype = mw_tensor_dtype(result), number = number_dtype(result);
    const mw_shape whole = mw_tensor_shape(result);
    const int axis = axis_of(op, whole.rank);
    const mw__digits digits = read_indices(split, clone, op, whole.dim[axis]);
    double on = 1.0, off = 0.0;
    mw__arg_float(op, "on_value", &on);
    mw__arg_float(op, "off_value", &off);
    for (int64_t b = 0; b < mw__split_blocks_of(split, result); b++) {
        const mw_shape shape = mw__split_extents(split, result, b);
        int64_t begin = 0, count = shape.dim[axis];
        if (mw__split_is_long(split, result))
            mw__split_block(split, whole.dim[axis], b, &begin, &count);
        mw_tensor *hot = mw__digits_hot(&digits, mw__shape_span(shape, 0, axis),
                                        mw__shape_span(shape, axis + 1, shape.rank), begin, count, number);
        if (on != 1.0 || off != 0.0 || number != dtype) {
            mw_tensor *is_hot = mw_greater(hot, mw_scalar(split->to, number, 0.5)),
                      *high = mw_scalar(split->to, dtype, on);
            hot = mw_select(is_hot, high, mw_scalar(split->to, dtype, off));
        }
        mw__split_set(split, clone, result, b, 1, 0, mw_reshape(hot, shape));
    }
    return NULL;
}

/* y[a, j, b] = sum over i of x[a, i, b] where i is the index at [a, j, b] */
mw_tensor *mw__split_along_axis(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    mw__split *split = pass->split;
    const table t = read_table(split, clone, op);
    const mw_tensor *result = op->results[0];
    const int64_t lookups = mw_tensor_shape(result).dim[t.axis];
    mw_tensor *sum = NULL;
    for (int64_t b = 0; b < t.blocks && split->to->error.status == MW_OK; b++) {
        int64_t begin, rows;
        block_of(split, &t, b, &begin, &rows);
        mw_tensor *hot = mw__digits_hot(&t.indices, t.outer * lookups, t.inner, begin, rows, MW_F32);
        mw_tensor *shaped = mw_reshape(hot, MW_SHAPE(t.outer, lookups, rows, t.inner));
        mw_tensor *hit = mw_greater(shaped, mw_scalar(split->to, MW_F32, 0.5));
        mw_tensor *x = mw_reshape(part_of(split, clone, &t, b), MW_SHAPE(t.outer, 1, rows, t.inner));
        mw_tensor *zero = mw_scalar(split->to, number_dtype(result), 0.0);
        mw_tensor *found = mw_reduce_sum(mw_select(hit, x, zero), MW_AXES(2), false);
        sum = sum == NULL ? found : mw_add(sum, found);
    }
    set_found(clone, result, sum);
    return NULL;
}

/* ---- casts ---- */

mw_tensor *mw__split_cast(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    mw__split *split = pass->split;
    const mw_tensor *x = mw__arg(op, "x"), *result = op->results[0];
    for (int64_t b = 0; b < mw__split_blocks_of(split, result); b++)
        for (int d = 0; d < 2; d++)
            mw__split_set(split, clone, result, b, 2, d, mw__split_part(split, clone, x, b, 2, d));
    return NULL;
}

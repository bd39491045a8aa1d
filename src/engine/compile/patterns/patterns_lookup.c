/* Rows of a table that the text takes by a product with a matrix of zeros and ones, and what it adds to rows of one in
 * the same way (graph/patterns/digits.h, embedding.h), as programs for chips do: here by the indices of the ones. What
 * products with the zeros would add is 0, so that no bit of a finite sum changes. */
#include "engine/compile/patterns/patterns.h"
#include "engine/core/kernel.h"
#include "engine/kernels/pattern_plans.h"

#include "base/number/fp16.h"

#include <math.h>

/* ---- numbers that differ ---- */

static bool is_wide(const mw_tensor *value)
{
    const mw_dtype dtype = mw__dtype_of(value);
    return dtype == MW_F16 || dtype == MW_F32 || dtype == MW_I32;
}

/* What is the same numbers, of those that all these types hold, in another shape or type. */
static const mw_tensor *below_forms(const mw_tensor *value)
{
    const mw_tensor *below = value;
    while (below != NULL && is_wide(below)) {
        value = below;
        below = mw__pattern_below(value, "reshape");
        below = below != NULL ? below : mw__pattern_below(value, "cast");
    }
    return value;
}

static bool is_number(const mw_tensor *value, float number)
{
    const mw__payload *payload = value != NULL ? value->payload : NULL;
    if (payload == NULL || payload->data == NULL || (mw__count_of(value) != 1 && !payload->splat))
        return false;
    if (mw__dtype_of(value) == MW_F16)
        return mw__fp16_to_float(*(const uint16_t *)payload->data) == number;
    return mw__dtype_of(value) == MW_F32 && *(const float *)payload->data == number;
}

#define COUNTED 2048.0 /* fp16 holds every integer up to this, however the numbers are held */

/* first, first + 1, ..: no two of them equal. */
static bool counts_up(const mw_tensor *value)
{
    const mw__op *range = below_forms(value)->op;
    double start = 0.0, end = 0.0, step = 0.0;
    if (!mw__pattern_is_named(range, "range_1d") || !mw__arg_float(range, "start", &start) ||
        !mw__arg_float(range, "end", &end) || !mw__arg_float(range, "step", &step))
        return false;
    const bool whole = mw__dtype_of(value) == MW_I32 && mw__dtype_of(range->results[0]) == MW_I32;
    return step == 1.0 && start == floor(start) && (whole || (start >= -COUNTED && end - 1.0 <= COUNTED));
}

/* ---- rows with a one at most ---- */

/* So many axes at the end are 1. */
static int ones_behind(mw_shape shape)
{
    int count = 0;
    while (count < shape.rank && shape.dim[shape.rank - 1 - count] == 1)
        count++;
    return count;
}

/* select(equal(number of the row, number of the column), 1, 0) as a matrix of `rows`: its truths. */
static const mw_tensor *truths_of(const mw_tensor *hot, int64_t rows)
{
    const mw_tensor *cond = mw__pattern_is_named(hot->op, "select") ? mw__arg(hot->op, "cond") : NULL;
    if (cond == NULL || !mw__pattern_is_named(cond->op, "equal") || !is_number(mw__arg(hot->op, "a"), 1.0f) ||
        !is_number(mw__arg(hot->op, "b"), 0.0f) || !mw_shape_equal(mw__shape_of(cond), mw__shape_of(hot)))
        return NULL;
    const mw_tensor *number = mw__arg(cond->op, "x"), *column = mw__arg(cond->op, "y");
    if (!counts_up(column)) {
        const mw_tensor *other = number;
        number = column, column = other;
    }
    const bool apart = mw__shape_of(column).rank <= ones_behind(mw__shape_of(number)) && mw__count_of(number) == rows &&
                       mw__count_of(hot) == rows * mw__count_of(column);
    return apart && counts_up(column) ? cond : NULL;
}

/* The matrix before the columns behind its first `columns` are cut off; itself where none are. */
static const mw_tensor *below_cut(const mw_tensor *value, int64_t rows, int64_t columns)
{
    const mw_tensor *wide = mw__pattern_below(value, "slice_by_size");
    int64_t begin[MW_RANK_MAX];
    size_t count = 0;
    if (wide == NULL)
        return value;
    bool first = mw__arg_ints(value->op, "begin", begin, MW_RANK_MAX, &count);
    for (size_t i = 0; i < count; i++)
        first = first && begin[i] == 0;
    const mw_shape shape = MW_SHAPE(rows, columns, 1), whole = mw__shape_of(wide);
    return first && mw_shape_equal(mw__shape_of(value), shape) && whole.rank == 3 && whole.dim[0] == rows &&
                   whole.dim[2] == 1
               ? wide
               : NULL;
}

/* [rows, highs, 1] times [rows, 1, lows]. */
static bool read_digits(const mw_tensor *high, const mw_tensor *low, mw__lookup_match *out)
{
    const mw_shape a = mw__shape_of(high), b = mw__shape_of(low);
    if (a.rank != b.rank || a.rank < 3 || a.dim[0] != out->rows || b.dim[0] != out->rows || a.dim[2] != 1 ||
        b.dim[1] != 1 || ones_behind(a) < a.rank - 2 || ones_behind(b) < a.rank - 3)
        return false;
    out->high = truths_of(high, out->rows), out->low = truths_of(low, out->rows);
    return out->high != NULL && out->low != NULL;
}

/* x as a matrix of out->rows and `columns`. */
static bool read_hot(const mw_tensor *x, int64_t columns, mw__lookup_match *out)
{
    const mw_tensor *hot = below_cut(below_forms(x), out->rows, columns);
    hot = hot != NULL ? below_forms(hot) : NULL;
    if (hot == NULL)
        return false;
    if (mw__pattern_is_named(hot->op, "mul")) {
        const mw_tensor *a = mw__arg(hot->op, "x"), *b = mw__arg(hot->op, "y");
        return read_digits(a, b, out) || read_digits(b, a, out);
    }
    out->low = truths_of(hot, out->rows);
    return out->low != NULL;
}

/* ---- the pattern ---- */

/* One matrix, [rows, columns]; an axis more is one matrix, too. */
static bool is_matrix(const mw_tensor *value)
{
    const mw_shape shape = mw__shape_of(value);
    return shape.rank >= 2 && mw__count_of(value) == shape.dim[shape.rank - 2] * shape.dim[shape.rank - 1];
}

mw_status mw__match_lookup(mw__finder *f, size_t at, mw_error *err)
{
    const mw__op *op = f->body->ops[at];
    const mw_tensor *x = mw__arg(op, "x"), *y = mw__arg(op, "y");
    mw__lookup_match match = {.table = y, .result = op->results[0]};
    bool transpose_y = false;
    mw__arg_bool(op, "transpose_x", &match.adds);
    mw__arg_bool(op, "transpose_y", &transpose_y);
    if (transpose_y || !is_matrix(x) || !is_matrix(y))
        return mw__pattern_decline(f, f->row->declined);
    const mw_shape shape = mw__shape_of(x);
    match.rows = shape.dim[shape.rank - 2];
    if (!read_hot(x, shape.dim[shape.rank - 1], &match))
        return mw__pattern_decline(f, f->row->declined);
    if (!mw__lookup_suits(&match, f->config))
        return mw__pattern_decline(f, "the kernel has no such types, or sums another way");
    mw__lookup_match *kept = mw__arena_alloc(f->arena, 1, sizeof *kept, err);
    mw__pattern *pattern = kept != NULL ? mw__pattern_put(f, at, kept, err) : NULL;
    if (pattern == NULL)
        return MW_ERROR_MEMORY;
    *kept = match;
    pattern->reads[0] = match.table, pattern->reads[1] = match.low, pattern->reads[2] = match.high;
    return mw__pattern_add_op(f, pattern, op, err);
}

/* Data movement as one strided copy: transpose, slices and tile read x through a walk and write the result in order.
 * Views make no step at all. Joining and parting is in kernel_shape_join.c, making values in kernel_shape_fill.c. */
#include "engine/kernel.h"

#include <string.h>

typedef struct copy_block {
    mw__walk walk; /* result order; arm: x */
    int64_t start; /* element of x at the walk's begin */
    int64_t elements, count;
    size_t size;
} copy_block;

#define STRIDED(type)                                                                                                  \
    for (int64_t i = 0; i < count; i++)                                                                                \
        ((type *)out)[i] = ((const type *)x)[i * stride];                                                              \
    break;

static void copy_strided(void *out, const void *x, int64_t stride, int64_t count, size_t size)
{
    switch (size) {
    case 1:
        STRIDED(uint8_t)
    case 2:
        STRIDED(uint16_t)
    case 4:
        STRIDED(uint32_t)
    default:
        STRIDED(uint64_t)
    }
}

/* ROWS neighbours in x become ROWS rows of the result: x is read in short contiguous pieces. */
#define ROWS 8
#define TRANSPOSED(type)                                                                                               \
    for (int64_t i = 0; i < width; i++)                                                                                \
        for (int64_t r = 0; r < ROWS; r++)                                                                             \
            ((type *)out)[r * width + i] = ((const type *)x)[i * stride + r];                                          \
    break;

static void copy_transposed(void *out, const void *x, int64_t stride, int64_t width, size_t size)
{
    switch (size) {
    case 1:
        TRANSPOSED(uint8_t)
    case 2:
        TRANSPOSED(uint16_t)
    case 4:
        TRANSPOSED(uint32_t)
    default:
        TRANSPOSED(uint64_t)
    }
}

/* True if ROWS whole rows of the result stand here that are neighbours in x. */
static bool block_here(const mw__walk *walk, const mw__cursor *cursor, int64_t left)
{
    const int last = walk->rank - 1;
    return last > 0 && walk->stride[0][last - 1] == 1 && cursor->index[last] == 0 &&
           left >= ROWS * walk->extent[last] && cursor->index[last - 1] + ROWS <= walk->extent[last - 1];
}

static void copy_run(const mw__kernel_call *call)
{
    const copy_block *block = call->block;
    const mw__walk *walk = &block->walk;
    const int last = walk->rank - 1;
    const int64_t stride = walk->stride[0][last], size = (int64_t)block->size;
    int64_t at, end;
    mw__split_range(call, block->elements, block->count, &at, &end);
    mw__cursor cursor;
    mw__cursor_seek(walk, &cursor, at);
    while (at < end) {
        int64_t run = mw__cursor_run(walk, &cursor, end - at);
        char *out = (char *)call->out[0] + at * size;
        const char *x = (const char *)call->in[0] + (block->start + cursor.offset[0]) * size;
        if (stride == 1) {
            memcpy(out, x, (size_t)(run * size));
        } else if (block_here(walk, &cursor, end - at)) {
            copy_transposed(out, x, stride, run, block->size);
            at += (ROWS - 1) * run;
            cursor.index[last - 1] += ROWS - 1;
            cursor.offset[0] += ROWS - 1;
        } else {
            copy_strided(out, x, stride, run, block->size);
        }
        mw__cursor_step(walk, &cursor, run);
        at += run;
    }
}

static void row_major(mw_shape shape, int64_t *out)
{
    int64_t below = 1;
    for (int axis = shape.rank - 1; axis >= 0; axis--) {
        out[axis] = below;
        below *= shape.dim[axis];
    }
}

/* Plans the copy that `walk` describes (finished here). */
static mw_status plan_copy(mw__planner *planner, const mw__op *op, mw__walk *walk, int64_t start, mw_error *err)
{
    const mw_tensor *x = mw__arg(op, "x"), *result = op->results[0];
    copy_block *block = mw__plan_block(planner, sizeof *block);
    if (block == NULL || mw__count_of(result) == 0)
        return mw__plan_check(planner, err);
    const mw__split split = mw__split_shape(planner, mw__shape_of(result));
    mw__walk_finish(walk);
    *block = (copy_block){.walk = *walk,
                          .start = start,
                          .elements = split.elements,
                          .count = mw__count_of(result),
                          .size = mw__dtype_size(mw__dtype_of(result))};
    const double bytes = 2.0 * (double)block->count * (double)block->size;
    mw__step *step = mw__plan_step(planner, copy_run, op->row->name, split.units, mw__cost(bytes, 0));
    step->block = block;
    mw__step_read(planner, step, mw__plan_buffer(planner, x), MW__WHOLE, 0, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, result), MW__ROWS, (size_t)split.elements * block->size);
    return mw__plan_check(planner, err);
}

static mw_status need_constant(const mw__op *op, const char *arg, mw_error *err)
{
    char subject[128];
    return mw__fail(err, MW_ERROR_UNSUPPORTED, "%s: the engine needs %s as a constant of at most %d elements",
                    mw__op_subject(op, subject, sizeof subject), arg, MW_RANK_MAX);
}

mw_status mw__kernel_view(mw__planner *planner, const mw__op *op, mw_error *err)
{
    mw__plan_view(planner, op->results[0], mw__arg(op, "x"));
    return mw__plan_check(planner, err);
}

mw_status mw__kernel_transpose(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const mw_shape shape = mw__shape_of(mw__arg(op, "x"));
    int64_t perm[MW_RANK_MAX], strides[MW_RANK_MAX];
    size_t count = 0;
    if (!mw__arg_ints(op, "perm", perm, MW_RANK_MAX, &count) || count != (size_t)shape.rank)
        return need_constant(op, "perm", err);
    row_major(shape, strides);
    mw__walk walk = {.arms = 1};
    for (size_t i = 0; i < count; i++) {
        const int64_t axis = perm[i] < 0 ? perm[i] + shape.rank : perm[i];
        mw__walk_add(&walk, shape.dim[axis], &strides[axis]);
    }
    return plan_copy(planner, op, &walk, 0, err);
}

mw_status mw__kernel_tile(mw__planner *planner, const mw__op *op, mw_error *err)
{
    static const int64_t still = 0;
    const mw_shape shape = mw__shape_of(mw__arg(op, "x"));
    int64_t reps[MW_RANK_MAX], strides[MW_RANK_MAX];
    size_t count = 0;
    if (!mw__arg_ints(op, "reps", reps, MW_RANK_MAX, &count) || count != (size_t)shape.rank)
        return need_constant(op, "reps", err);
    row_major(shape, strides);
    mw__walk walk = {.arms = 1};
    for (size_t axis = 0; axis < count; axis++) {
        mw__walk_add(&walk, reps[axis], &still);
        mw__walk_add(&walk, shape.dim[axis], &strides[axis]);
    }
    return plan_copy(planner, op, &walk, 0, err);
}

/* ---- slices ---- */

typedef struct slice_rule {
    int64_t begin[MW_RANK_MAX], end[MW_RANK_MAX], stride[MW_RANK_MAX];
    bool begin_mask[MW_RANK_MAX], end_mask[MW_RANK_MAX], squeeze[MW_RANK_MAX];
} slice_rule;

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

/* Python's x[begin:end:stride] on an axis of extent n: first element and how many. */
static void slice_axis(const slice_rule *r, int axis, int64_t n, int64_t *out_first, int64_t *out_count)
{
    const int64_t stride = r->stride[axis];
    int64_t begin = r->begin[axis] < 0 ? r->begin[axis] + n : r->begin[axis];
    int64_t end = r->end[axis] < 0 ? r->end[axis] + n : r->end[axis];
    if (r->squeeze[axis]) {
        *out_first = clamp(begin, 0, n - 1);
        *out_count = 1;
        return;
    }
    if (stride > 0) {
        begin = r->begin_mask[axis] ? 0 : clamp(begin, 0, n);
        end = r->end_mask[axis] ? n : clamp(end, 0, n);
        *out_count = end > begin ? (end - begin + stride - 1) / stride : 0;
    } else {
        begin = r->begin_mask[axis] ? n - 1 : clamp(begin, -1, n - 1);
        end = r->end_mask[axis] ? -1 : clamp(end, -1, n - 1);
        *out_count = begin > end ? (begin - end - stride - 1) / -stride : 0;
    }
    *out_first = begin;
}

static bool read_rule(const mw__op *op, size_t rank, slice_rule *r)
{
    size_t count = 0;
    bool good = mw__arg_ints(op, "begin", r->begin, MW_RANK_MAX, &count) && count == rank;
    good = good && mw__arg_ints(op, "end", r->end, MW_RANK_MAX, &count) && count == rank;
    for (size_t i = 0; i < rank; i++)
        r->stride[i] = 1;
    if (mw__arg_present(op, "stride"))
        good = good && mw__arg_ints(op, "stride", r->stride, MW_RANK_MAX, &count) && count == rank;
    if (mw__arg_present(op, "begin_mask"))
        good = good && mw__arg_bools(op, "begin_mask", r->begin_mask, MW_RANK_MAX, &count) && count == rank;
    if (mw__arg_present(op, "end_mask"))
        good = good && mw__arg_bools(op, "end_mask", r->end_mask, MW_RANK_MAX, &count) && count == rank;
    if (mw__arg_present(op, "squeeze_mask"))
        good = good && mw__arg_bools(op, "squeeze_mask", r->squeeze, MW_RANK_MAX, &count) && count == rank;
    for (size_t i = 0; good && i < rank; i++)
        good = r->stride[i] != 0;
    return good;
}

static mw_status slice_by_index(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const mw_shape shape = mw__shape_of(mw__arg(op, "x"));
    slice_rule rule = {0};
    int64_t strides[MW_RANK_MAX], start = 0;
    if (!read_rule(op, (size_t)shape.rank, &rule))
        return need_constant(op, "begin, end, stride and masks, each,", err);
    row_major(shape, strides);
    mw__walk walk = {.arms = 1};
    for (int axis = 0; axis < shape.rank; axis++) {
        int64_t first, count;
        slice_axis(&rule, axis, shape.dim[axis], &first, &count);
        start += first * strides[axis];
        const int64_t step = rule.stride[axis] * strides[axis];
        mw__walk_add(&walk, count, &step);
    }
    if (mw__walk_count(&walk) != mw__count_of(op->results[0])) {
        char subject[128];
        return mw__fail(err, MW_ERROR_SHAPE, "%s: the slice has %lld elements, its declared result %lld",
                        mw__op_subject(op, subject, sizeof subject), (long long)mw__walk_count(&walk),
                        (long long)mw__count_of(op->results[0]));
    }
    return plan_copy(planner, op, &walk, start, err);
}

static mw_status slice_by_size(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const mw_shape shape = mw__shape_of(mw__arg(op, "x")), result = mw__shape_of(op->results[0]);
    int64_t begin[MW_RANK_MAX], strides[MW_RANK_MAX], start = 0;
    size_t count = 0;
    if (!mw__arg_ints(op, "begin", begin, MW_RANK_MAX, &count) || count != (size_t)shape.rank)
        return need_constant(op, "begin", err);
    row_major(shape, strides);
    mw__walk walk = {.arms = 1};
    for (int axis = 0; axis < shape.rank; axis++) {
        const int64_t first = begin[axis] < 0 ? begin[axis] + shape.dim[axis] : begin[axis];
        if (first < 0 || first > shape.dim[axis] - result.dim[axis]) {
            char subject[128];
            return mw__fail(err, MW_ERROR_SHAPE, "%s: [%lld, +%lld) is outside axis %d of extent %lld",
                            mw__op_subject(op, subject, sizeof subject), (long long)first, (long long)result.dim[axis],
                            axis, (long long)shape.dim[axis]);
        }
        start += first * strides[axis];
        mw__walk_add(&walk, result.dim[axis], &strides[axis]);
    }
    return plan_copy(planner, op, &walk, start, err);
}

mw_status mw__kernel_slice(mw__planner *planner, const mw__op *op, mw_error *err)
{
    return op->row->id == MW__OP_slice_by_size ? slice_by_size(planner, op, err) : slice_by_index(planner, op, err);
}

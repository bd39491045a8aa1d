/* slice_by_index, slice_by_size and slice_update. The first two are strided copies. A begin that is computed is
 * clamped, so that the part, whose size is declared, lies within x: nothing else is read or written. */
#include "base/number/integer.h"
#include "engine/core/kernel.h"

#include <string.h>

typedef struct slice_rule {
    int64_t begin[MW_RANK_MAX], end[MW_RANK_MAX], stride[MW_RANK_MAX];
    bool begin_mask[MW_RANK_MAX], end_mask[MW_RANK_MAX], squeeze[MW_RANK_MAX];
    bool begin_known, end_known;
} slice_rule;

/* Python's x[begin:end:stride] on an axis of extent n: first element and how many. */
static void slice_axis(const slice_rule *r, int axis, int64_t n, int64_t *out_first, int64_t *out_count)
{
    const int64_t stride = r->stride[axis];
    int64_t begin = r->begin[axis] < 0 ? r->begin[axis] + n : r->begin[axis];
    int64_t end = r->end[axis] < 0 ? r->end[axis] + n : r->end[axis];
    if (r->squeeze[axis]) {
        *out_first = mw__i64_clamp(begin, 0, n - 1);
        *out_count = 1;
        return;
    }
    if (stride > 0) {
        begin = r->begin_mask[axis] ? 0 : mw__i64_clamp(begin, 0, n);
        end = r->end_mask[axis] ? n : mw__i64_clamp(end, 0, n);
        *out_count = end > begin ? (end - begin + stride - 1) / stride : 0;
    } else {
        begin = r->begin_mask[axis] ? n - 1 : mw__i64_clamp(begin, -1, n - 1);
        end = r->end_mask[axis] ? -1 : mw__i64_clamp(end, -1, n - 1);
        *out_count = begin > end ? (begin - end - stride - 1) / -stride : 0;
    }
    *out_first = begin;
}

static bool read_rule(const mw__op *op, size_t rank, slice_rule *r)
{
    size_t count = 0;
    bool good = true;
    r->begin_known = mw__arg_ints(op, "begin", r->begin, MW_RANK_MAX, &count) && count == rank;
    r->end_known = mw__arg_ints(op, "end", r->end, MW_RANK_MAX, &count) && count == rank;
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

/* Of those counts and strides the span has no overflow. */
static bool is_within(int64_t count, int64_t stride, int64_t n)
{
    return count == 0 || (count <= n && count - 1 <= (n - 1) / (stride < 0 ? -stride : stride));
}

/* Where `count[axis]` elements along each axis may begin. */
static mw_status read_origin(mw__planner *planner, const mw__op *op, const slice_rule *rule, const int64_t *count,
                             mw__origin *out, mw_error *err)
{
    const mw_shape shape = mw__shape_of(mw__arg(op, "x"));
    char subject[128];
    mw__nd_row_major(shape, out->stride);
    for (int axis = 0; axis < shape.rank; axis++) {
        const int64_t n = shape.dim[axis];
        int64_t first = 0, ignored;
        if (!is_within(count[axis], rule->stride[axis], n))
            return mw__fail(err, MW_ERROR_SHAPE, "%s: %lld elements do not fit axis %d of extent %lld",
                            mw__op_subject(op, subject, sizeof subject), (long long)count[axis], axis, (long long)n);
        const int64_t span = count[axis] > 0 ? (count[axis] - 1) * rule->stride[axis] : 0;
        const int64_t low = span < 0 ? -span : 0, high = n - 1 - (span > 0 ? span : 0);
        const bool known = rule->begin_known || (rule->begin_mask[axis] && !rule->squeeze[axis]);
        if (known && count[axis] > 0)
            slice_axis(rule, axis, n, &first, &ignored);
        const bool fixed = known || count[axis] == 0;
        out->extent[axis] = n;
        out->low[axis] = fixed ? (count[axis] > 0 ? mw__i64_clamp(first, low, high) : 0) : low;
        out->high[axis] = fixed ? out->low[axis] : high;
        out->rank = fixed ? out->rank : shape.rank;
    }
    if (out->rank == 0)
        return MW_OK;
    out->dtype = mw__dtype_of(mw__arg(op, "begin"));
    if (!mw__is_index(out->dtype))
        return mw__kernel_unsupported(op, out->dtype, err);
    out->begin = mw__plan_buffer(planner, mw__arg(op, "begin"));
    return MW_OK;
}

/* A part whose size is that of the result, wherever it begins. */
static mw_status moving_slice(mw__planner *planner, const mw__op *op, const slice_rule *rule, mw_error *err)
{
    const mw_shape shape = mw__shape_of(mw__arg(op, "x")), result = mw__shape_of(op->results[0]);
    int64_t count[MW_RANK_MAX] = {0};
    mw__copy copy = mw__copy_of(planner, op);
    for (int axis = 0, from = 0; axis < shape.rank; axis++)
        count[axis] = rule->squeeze[axis] ? 1 : result.dim[from++];
    MW_TRY(read_origin(planner, op, rule, count, &copy.origin, err));
    for (int axis = 0; axis < shape.rank; axis++) {
        const int64_t step = rule->stride[axis] * copy.origin.stride[axis];
        copy.start += copy.origin.rank == 0 ? copy.origin.low[axis] * copy.origin.stride[axis] : 0;
        mw__nd_iter_add(&copy.iter, count[axis], &step);
    }
    mw__plan_copy(planner, &copy);
    return mw__plan_check(planner, err);
}

/* As many elements as x has, in their order. */
static bool is_all(const slice_rule *rule, mw_shape x, mw_shape result)
{
    bool all = mw_shape_count(x) == mw_shape_count(result);
    for (int axis = 0; axis < x.rank; axis++)
        all = all && rule->stride[axis] > 0;
    return all;
}

static mw_status slice_by_index(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const mw_shape shape = mw__shape_of(mw__arg(op, "x"));
    slice_rule rule = {0};
    int64_t strides[MW_RANK_MAX];
    if (!read_rule(op, (size_t)shape.rank, &rule))
        return mw__kernel_need_constant(op, "stride and masks, each,", err);
    if (!rule.begin_known || !rule.end_known)
        return moving_slice(planner, op, &rule, err);
    mw__nd_row_major(shape, strides);
    mw__copy copy = mw__copy_of(planner, op);
    for (int axis = 0; axis < shape.rank; axis++) {
        int64_t first, count;
        slice_axis(&rule, axis, shape.dim[axis], &first, &count);
        copy.start += first * strides[axis];
        const int64_t step = rule.stride[axis] * strides[axis];
        mw__nd_iter_add(&copy.iter, count, &step);
    }
    if (mw__nd_iter_count(&copy.iter) != mw__count_of(op->results[0])) {
        char subject[128];
        return mw__fail(err, MW_ERROR_SHAPE, "%s: the slice has %lld elements, its declared result %lld",
                        mw__op_subject(op, subject, sizeof subject), (long long)mw__nd_iter_count(&copy.iter),
                        (long long)mw__count_of(op->results[0]));
    }
    if (is_all(&rule, shape, mw__shape_of(op->results[0])) && mw__plan_rounds(planner, op->results[0]) == 0)
        mw__plan_view(planner, op->results[0], mw__arg(op, "x"));
    else
        mw__plan_copy(planner, &copy);
    return mw__plan_check(planner, err);
}

static mw_status slice_by_size(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const mw_shape shape = mw__shape_of(mw__arg(op, "x")), result = mw__shape_of(op->results[0]);
    int64_t begin[MW_RANK_MAX], strides[MW_RANK_MAX];
    size_t count = 0;
    if (!mw__arg_ints(op, "begin", begin, MW_RANK_MAX, &count)) {
        const slice_rule rule = {.stride = {1, 1, 1, 1, 1, 1, 1, 1}};
        return moving_slice(planner, op, &rule, err);
    }
    if (count != (size_t)shape.rank)
        return mw__kernel_need_constant(op, "begin", err);
    mw__nd_row_major(shape, strides);
    mw__copy copy = mw__copy_of(planner, op);
    for (int axis = 0; axis < shape.rank; axis++) {
        const int64_t first = begin[axis] < 0 ? begin[axis] + shape.dim[axis] : begin[axis];
        if (first < 0 || first > shape.dim[axis] - result.dim[axis]) {
            char subject[128];
            return mw__fail(err, MW_ERROR_SHAPE, "%s: [%lld, +%lld) is outside axis %d of extent %lld",
                            mw__op_subject(op, subject, sizeof subject), (long long)first, (long long)result.dim[axis],
                            axis, (long long)shape.dim[axis]);
        }
        copy.start += first * strides[axis];
        mw__nd_iter_add(&copy.iter, result.dim[axis], &strides[axis]);
    }
    mw__plan_copy(planner, &copy);
    return mw__plan_check(planner, err);
}

mw_status mw__kernel_slice(mw__planner *planner, const mw__op *op, mw_error *err)
{
    return op->row->id == MW__OP_slice_by_size ? slice_by_size(planner, op, err) : slice_by_index(planner, op, err);
}

/* ---- slice_update: a unit is a row of x ---- */

typedef struct update_block {
    int rank; /* >= 1 */
    int64_t extent[MW_RANK_MAX], count[MW_RANK_MAX], step[MW_RANK_MAX];
    mw__origin origin;
    size_t size;
} update_block;

/* The row of x that takes this row of the update. */
static int64_t updated_row(const update_block *block, const int64_t *first, int64_t source)
{
    int64_t row = 0, below = 1;
    for (int axis = block->rank - 2; axis >= 0; axis--) {
        row += (first[axis] + source % block->count[axis] * block->step[axis]) * below;
        source /= block->count[axis];
        below *= block->extent[axis];
    }
    return row;
}

static void update_one(const update_block *block, char *part, const char *update)
{
    const int last = block->rank - 1;
    const size_t size = block->size;
    if (block->step[last] == 1) {
        memcpy(part, update, (size_t)block->count[last] * size);
        return;
    }
    for (int64_t i = 0; i < block->count[last]; i++)
        memcpy(part + i * block->step[last] * (int64_t)size, update + (size_t)i * size, size);
}

/* Where the result stands in the place of x, as of a cache that is kept from run to run, only the update is touched. */
static void update_run(const mw__kernel_call *call)
{
    const update_block *block = call->block;
    const int last = block->rank - 1;
    const size_t width = (size_t)block->extent[last] * block->size, count = (size_t)block->count[last] * block->size;
    const char *x = call->in[0], *update = call->in[1];
    char *out = call->out[0];
    if (out != x)
        memcpy(out + (size_t)call->begin * width, x + (size_t)call->begin * width,
               (size_t)(call->end - call->begin) * width);
    const void *begin = block->origin.rank > 0 ? call->in[2] : NULL;
    int64_t first[MW_RANK_MAX], rows = 1;
    for (int axis = 0; axis < block->rank; axis++)
        first[axis] = mw__origin_at(&block->origin, begin, axis);
    for (int axis = 0; axis <= last; axis++)
        rows *= axis < last || block->count[axis] == 0 ? block->count[axis] : 1;
    for (int64_t source = 0; source < rows; source++) {
        const int64_t row = updated_row(block, first, source);
        if (row >= call->begin && row < call->end)
            update_one(block, out + (size_t)row * width + (size_t)first[last] * block->size,
                       update + (size_t)source * count);
    }
}

static mw_status update_fill(mw__planner *planner, const mw__op *op, update_block *block, mw_error *err)
{
    const mw_shape shape = mw__shape_of(mw__arg(op, "x")), update = mw__shape_of(mw__arg(op, "update"));
    slice_rule rule = {0};
    if (!read_rule(op, (size_t)shape.rank, &rule))
        return mw__kernel_need_constant(op, "stride and masks, each,", err);
    block->rank = shape.rank;
    block->size = mw__dtype_size(mw__dtype_of(mw__arg(op, "x")));
    for (int axis = 0, from = 0; axis < shape.rank; axis++) {
        block->extent[axis] = shape.dim[axis];
        block->count[axis] = rule.squeeze[axis] ? 1 : update.dim[from++];
        block->step[axis] = rule.squeeze[axis] ? 1 : rule.stride[axis];
    }
    return read_origin(planner, op, &rule, block->count, &block->origin, err);
}

mw_status mw__kernel_slice_update(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const mw_tensor *x = mw__arg(op, "x"), *result = op->results[0];
    update_block *block = mw__plan_block(planner, sizeof *block);
    if (block == NULL || mw__count_of(result) == 0)
        return mw__plan_check(planner, err);
    MW_TRY(update_fill(planner, op, block, err));
    const size_t width = (size_t)block->extent[block->rank - 1] * block->size;
    const int64_t rows = mw__count_of(x) / block->extent[block->rank - 1];
    mw__step *step =
        mw__plan_step(planner, update_run, op->row->name, rows, mw__cost(2.0 * (double)rows * (double)width, 0));
    step->block = block;
    mw__step_read(planner, step, mw__plan_buffer(planner, x), MW__ROWS, width, true);
    mw__step_read(planner, step, mw__plan_buffer(planner, mw__arg(op, "update")), MW__WHOLE, 0, false);
    if (block->origin.rank > 0)
        mw__step_read(planner, step, block->origin.begin, MW__WHOLE, 0, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, result), MW__ROWS, width);
    return mw__plan_check(planner, err);
}

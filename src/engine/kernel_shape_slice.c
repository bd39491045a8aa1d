/* slice_by_index and slice_by_size: strided copies whose bounds are known when planned. */
#include "engine/kernel.h"

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
    int64_t strides[MW_RANK_MAX];
    if (!read_rule(op, (size_t)shape.rank, &rule))
        return mw__kernel_need_constant(op, "begin, end, stride and masks, each,", err);
    mw__row_major(shape, strides);
    mw__copy copy = mw__copy_of(planner, op);
    for (int axis = 0; axis < shape.rank; axis++) {
        int64_t first, count;
        slice_axis(&rule, axis, shape.dim[axis], &first, &count);
        copy.start += first * strides[axis];
        const int64_t step = rule.stride[axis] * strides[axis];
        mw__walk_add(&copy.walk, count, &step);
    }
    if (mw__walk_count(&copy.walk) != mw__count_of(op->results[0])) {
        char subject[128];
        return mw__fail(err, MW_ERROR_SHAPE, "%s: the slice has %lld elements, its declared result %lld",
                        mw__op_subject(op, subject, sizeof subject), (long long)mw__walk_count(&copy.walk),
                        (long long)mw__count_of(op->results[0]));
    }
    mw__plan_copy(planner, &copy);
    return mw__plan_check(planner, err);
}

static mw_status slice_by_size(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const mw_shape shape = mw__shape_of(mw__arg(op, "x")), result = mw__shape_of(op->results[0]);
    int64_t begin[MW_RANK_MAX], strides[MW_RANK_MAX];
    size_t count = 0;
    if (!mw__arg_ints(op, "begin", begin, MW_RANK_MAX, &count) || count != (size_t)shape.rank)
        return mw__kernel_need_constant(op, "begin", err);
    mw__row_major(shape, strides);
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
        mw__walk_add(&copy.walk, result.dim[axis], &strides[axis]);
    }
    mw__plan_copy(planner, &copy);
    return mw__plan_check(planner, err);
}

mw_status mw__kernel_slice(mw__planner *planner, const mw__op *op, mw_error *err)
{
    return op->row->id == MW__OP_slice_by_size ? slice_by_size(planner, op, err) : slice_by_index(planner, op, err);
}

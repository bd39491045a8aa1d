/* The strided copy, with which transpose, tile, reverse, windows, slices (kernel_shape_slice.c) and blocks
 * (kernel_space.c) read x through a iter and write the result in order. Views make no step at all. Joining and parting
 * is in kernel_shape_join.c, making values in kernel_shape_fill.c. */
#include "engine/kernels/shape/kernel_shape.h"
#include "engine/kernels/transpose.h"

#include <string.h>

typedef struct copy_block {
    mw__nd_iter iter; /* result order; operand: x */
    int64_t start;    /* element of x at the iter's begin */
    mw__origin origin;
    int64_t elements, count;
    size_t size;
    mw__transpose *transpose; /* of elements of 4 bytes */
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

/* Neighbors in x become whole rows of the result: x is read in contiguous pieces. */
#define ROWS 8
#define TRANSPOSED(type)                                                                                               \
    for (int64_t i = 0; i < width; i++)                                                                                \
        for (int64_t r = 0; r < ROWS; r++)                                                                             \
            ((type *)out)[r * width + i] = ((const type *)x)[i * stride + r];                                          \
    return ROWS;

/* The rows that are written, of `rows`, ROWS or more. */
static int64_t copy_transposed(const copy_block *block, void *out, const void *x, int64_t width, int64_t rows)
{
    const int64_t stride = block->iter.stride[0][block->iter.rank - 1];
    switch (block->size) {
    case 1:
        TRANSPOSED(uint8_t)
    case 2:
        TRANSPOSED(uint16_t)
    case 4:
        block->transpose(x, stride, width, rows, out, width);
        return rows;
    default:
        TRANSPOSED(uint64_t)
    }
}

/* As many whole rows of the result as stand here and are neighbors in x; 0 if they are too few. */
static int64_t rows_here(const mw__nd_iter *iter, const mw__nd_position *position, int64_t left)
{
    const int last = iter->rank - 1;
    if (last == 0 || iter->stride[0][last - 1] != 1 || position->index[last] != 0)
        return 0;
    const int64_t fit = left / iter->extent[last], there = iter->extent[last - 1] - position->index[last - 1];
    const int64_t rows = fit < there ? fit : there;
    return rows >= ROWS ? rows : 0;
}

static int64_t copy_start(const copy_block *block, const mw__kernel_call *call)
{
    int64_t start = block->start;
    for (int axis = 0; axis < block->origin.rank; axis++)
        start += mw__origin_at(&block->origin, call->in[1], axis) * block->origin.stride[axis];
    return start;
}

static void copy_run(const mw__kernel_call *call)
{
    const copy_block *block = call->block;
    const mw__nd_iter *iter = &block->iter;
    const int last = iter->rank - 1;
    const int64_t start = copy_start(block, call), stride = iter->stride[0][last], size = (int64_t)block->size;
    int64_t at, end;
    mw__units_range(call, block->elements, block->count, &at, &end);
    mw__nd_position position;
    mw__nd_position_seek(iter, &position, at);
    while (at < end) {
        const int64_t run = mw__nd_position_run(iter, &position, end - at);
        const int64_t rows = stride != 1 ? rows_here(iter, &position, end - at) : 0;
        char *out = (char *)call->out[0] + at * size;
        const char *x = (const char *)call->in[0] + (start + position.offset[0]) * size;
        if (stride == 1) {
            memcpy(out, x, (size_t)(run * size));
        } else if (rows > 0) {
            const int64_t more = copy_transposed(block, out, x, run, rows) - 1;
            at += more * run;
            position.index[last - 1] += more;
            position.offset[0] += more;
        } else {
            copy_strided(out, x, stride, run, block->size);
        }
        mw__nd_position_step(iter, &position, run);
        at += run;
    }
}

void mw__nd_row_major(mw_shape shape, int64_t *out)
{
    int64_t below = 1;
    for (int axis = shape.rank - 1; axis >= 0; axis--) {
        out[axis] = below;
        below *= shape.dim[axis];
    }
}

void mw__plan_copy(mw__planner *planner, const mw__copy *copy)
{
    const int64_t count = mw_shape_count(copy->shape);
    copy_block *block = mw__plan_block(planner, sizeof *block);
    if (block == NULL || count == 0)
        return;
    const mw__units split = mw__units_of(planner, copy->shape);
    *block = (copy_block){.iter = copy->iter,
                          .start = copy->start,
                          .origin = copy->origin,
                          .elements = split.elements,
                          .count = count,
                          .size = copy->size,
                          .transpose = mw__transpose_choose(mw__plan_level(planner))};
    mw__nd_iter_finish(&block->iter);
    if (mw__plan_tiles(planner, copy, &block->iter))
        return;
    const double bytes = 2.0 * (double)count * (double)copy->size;
    mw__step *step = mw__plan_step(planner, copy_run, copy->label, split.units, mw__cost(bytes, 0));
    step->block = block;
    mw__step_read(planner, step, copy->from, MW__WHOLE, 0, false);
    if (copy->origin.rank > 0)
        mw__step_read(planner, step, copy->origin.begin, MW__WHOLE, 0, false);
    mw__step_write(planner, step, copy->to, MW__ROWS, (size_t)split.elements * copy->size);
}

mw__copy mw__copy_of(mw__planner *planner, const mw__op *op)
{
    const mw_tensor *result = op->results[0];
    return (mw__copy){.label = op->row->name,
                      .from = mw__plan_buffer(planner, mw__arg(op, "x")),
                      .to = mw__plan_buffer(planner, result),
                      .shape = mw__shape_of(result),
                      .size = mw__dtype_size(mw__dtype_of(result)),
                      .iter = {.operands = 1}};
}

mw_status mw__kernel_need_constant(const mw__op *op, const char *arg, mw_error *err)
{
    char subject[128];
    return mw__fail(err, MW_ERROR_UNSUPPORTED, "%s: the engine needs %s as a constant of at most %d elements",
                    mw__op_subject(op, subject, sizeof subject), arg, MW_RANK_MAX);
}

/* A shape that is computed leaves the declared one, which may lie. */
mw_status mw__kernel_view(mw__planner *planner, const mw__op *op, mw_error *err)
{
    char subject[128];
    if (mw__count_of(op->results[0]) != mw__count_of(mw__arg(op, "x")))
        return mw__fail(err, MW_ERROR_SHAPE, "%s: x has %lld elements, its declared result %lld",
                        mw__op_subject(op, subject, sizeof subject), (long long)mw__count_of(mw__arg(op, "x")),
                        (long long)mw__count_of(op->results[0]));
    mw__plan_view(planner, op->results[0], mw__arg(op, "x"));
    return mw__plan_check(planner, err);
}

mw_status mw__kernel_transpose(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const mw_shape shape = mw__shape_of(mw__arg(op, "x"));
    int64_t perm[MW_RANK_MAX], strides[MW_RANK_MAX];
    size_t count = 0;
    if (!mw__arg_ints(op, "perm", perm, MW_RANK_MAX, &count) || count != (size_t)shape.rank)
        return mw__kernel_need_constant(op, "perm", err);
    mw__nd_row_major(shape, strides);
    mw__copy copy = mw__copy_of(planner, op);
    for (size_t i = 0; i < count; i++) {
        const int64_t axis = perm[i] < 0 ? perm[i] + shape.rank : perm[i];
        mw__nd_iter_add(&copy.iter, shape.dim[axis], &strides[axis]);
    }
    mw__plan_copy(planner, &copy);
    return mw__plan_check(planner, err);
}

mw_status mw__kernel_tile(mw__planner *planner, const mw__op *op, mw_error *err)
{
    static const int64_t still = 0;
    const mw_shape shape = mw__shape_of(mw__arg(op, "x")), result = mw__shape_of(op->results[0]);
    int64_t strides[MW_RANK_MAX];
    mw__nd_row_major(shape, strides);
    mw__copy copy = mw__copy_of(planner, op);
    for (int axis = 0; axis < shape.rank; axis++) {
        const int64_t reps = shape.dim[axis] > 0 ? result.dim[axis] / shape.dim[axis] : 1; /* also if computed */
        if (reps * shape.dim[axis] != result.dim[axis])
            return mw__kernel_need_constant(op, "reps, or a result of whole copies,", err);
        mw__nd_iter_add(&copy.iter, reps, &still);
        mw__nd_iter_add(&copy.iter, shape.dim[axis], &strides[axis]);
    }
    mw__plan_copy(planner, &copy);
    return mw__plan_check(planner, err);
}

/* From the last element backwards along the reversed axes. */
mw_status mw__kernel_reverse(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const mw_shape shape = mw__shape_of(mw__arg(op, "x"));
    const bool all = !mw__arg_present(op, "axes");
    int64_t axes[MW_RANK_MAX], strides[MW_RANK_MAX];
    bool backwards[MW_RANK_MAX] = {false};
    size_t count = 0;
    if (!all && !mw__arg_ints(op, "axes", axes, MW_RANK_MAX, &count))
        return mw__kernel_need_constant(op, "axes", err);
    for (size_t i = 0; i < count; i++)
        backwards[axes[i] < 0 ? axes[i] + shape.rank : axes[i]] = true;
    mw__nd_row_major(shape, strides);
    mw__copy copy = mw__copy_of(planner, op);
    for (int axis = 0; axis < shape.rank; axis++) {
        const bool back = all || backwards[axis];
        const int64_t stride = back ? -strides[axis] : strides[axis];
        copy.start += back ? (shape.dim[axis] - 1) * strides[axis] : 0;
        mw__nd_iter_add(&copy.iter, shape.dim[axis], &stride);
    }
    mw__plan_copy(planner, &copy);
    return mw__plan_check(planner, err);
}

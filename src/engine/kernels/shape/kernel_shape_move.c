/* sliding_windows, reverse_sequence, band_part and shape. */
#include "engine/core/kernel.h"

#include <string.h>

/* Windows start `stride` apart and step over the same elements. */
mw_status mw__kernel_sliding_windows(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const mw_shape shape = mw__shape_of(mw__arg(op, "x")), result = mw__shape_of(op->results[0]);
    int64_t strides[MW_RANK_MAX], axis = 0, stride = 1;
    MW_TRY(mw__kernel_axis(op, "axis", shape.rank, &axis, err));
    if (!mw__arg_int(op, "stride", &stride))
        return mw__kernel_need_constant(op, "stride", err);
    mw__nd_row_major(shape, strides);
    mw__copy copy = mw__copy_of(planner, op);
    for (int i = 0; i < shape.rank; i++) {
        const int64_t step = i == axis ? stride * strides[i] : strides[i];
        mw__nd_iter_add(&copy.iter, result.dim[i <= axis ? i : i + 1], &step);
        if (i == axis)
            mw__nd_iter_add(&copy.iter, result.dim[i + 1], &strides[i]);
    }
    mw__plan_copy(planner, &copy);
    return mw__plan_check(planner, err);
}

/* ---- reverse_sequence: a unit is one position of the axes up to the later of the two ---- */

typedef struct sequence_block {
    int64_t length, batch;             /* extents of the axes */
    int64_t length_units, batch_units; /* from one position to the next */
    size_t inner;                      /* bytes of a unit */
    mw_dtype lengths;
} sequence_block;

static void sequence_run(const mw__kernel_call *call)
{
    const sequence_block *block = call->block;
    for (int64_t unit = call->begin; unit < call->end; unit++) {
        const int64_t at = unit / block->length_units % block->length;
        const int64_t count = mw__index_load(call->in[1], block->lengths, unit / block->batch_units % block->batch);
        const int64_t within = count < block->length ? count : block->length;
        const int64_t source = at < within ? unit + (within - 1 - 2 * at) * block->length_units : unit;
        memcpy((char *)call->out[0] + (size_t)unit * block->inner,
               (const char *)call->in[0] + (size_t)source * block->inner, block->inner);
    }
}

mw_status mw__kernel_reverse_sequence(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const mw_tensor *x = mw__arg(op, "x"), *result = op->results[0];
    const mw_shape shape = mw__shape_of(x);
    int64_t seq = 0, batch = 0, strides[MW_RANK_MAX];
    MW_TRY(mw__kernel_axis(op, "seq_axis", shape.rank, &seq, err));
    MW_TRY(mw__kernel_axis(op, "batch_axis", shape.rank, &batch, err));
    const mw_dtype lengths = mw__dtype_of(mw__arg(op, "lengths"));
    if (!mw__is_index(lengths))
        return mw__kernel_unsupported(op, lengths, err);
    sequence_block *block = mw__plan_block(planner, sizeof *block);
    if (block == NULL || mw__count_of(x) == 0)
        return mw__plan_check(planner, err);
    mw__nd_row_major(shape, strides);
    const int64_t inner = strides[seq > batch ? seq : batch], units = mw__count_of(x) / inner;
    *block = (sequence_block){.length = shape.dim[seq],
                              .batch = shape.dim[batch],
                              .length_units = strides[seq] / inner,
                              .batch_units = strides[batch] / inner,
                              .inner = (size_t)inner * mw__dtype_size(mw__dtype_of(x)),
                              .lengths = lengths};
    const double bytes = 2.0 * (double)units * (double)block->inner;
    mw__step *step = mw__plan_step(planner, sequence_run, op->row->name, units, mw__cost(bytes, (double)units * 20.0));
    step->block = block;
    mw__step_read(planner, step, mw__plan_buffer(planner, x), MW__WHOLE, 0, false);
    mw__step_read(planner, step, mw__plan_buffer(planner, mw__arg(op, "lengths")), MW__WHOLE, 0, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, result), MW__ROWS, block->inner);
    return mw__plan_check(planner, err);
}

/* ---- band_part: a unit is a row ---- */

typedef struct band_block {
    int64_t rows, columns; /* of a matrix */
    int64_t lower, upper;  /* at most `rows` and `columns`, which keep all */
    size_t size;
} band_block;

static void band_run(const mw__kernel_call *call)
{
    const band_block *block = call->block;
    const size_t width = (size_t)block->columns * block->size;
    for (int64_t unit = call->begin; unit < call->end; unit++) {
        const int64_t row = unit % block->rows;
        const int64_t low = row - block->lower, high = row + block->upper + 1;
        const int64_t first = low < 0 ? 0 : low < block->columns ? low : block->columns;
        const int64_t last = high < first ? first : high < block->columns ? high : block->columns;
        const char *x = (const char *)call->in[0] + (size_t)unit * width;
        char *out = (char *)call->out[0] + (size_t)unit * width;
        memset(out, 0, (size_t)first * block->size);
        if (out != x)
            memcpy(out + (size_t)first * block->size, x + (size_t)first * block->size,
                   (size_t)(last - first) * block->size);
        memset(out + (size_t)last * block->size, 0, (size_t)(block->columns - last) * block->size);
    }
}

static int64_t diagonals(int64_t wanted, int64_t all) { return wanted < 0 || wanted > all ? all : wanted; }

mw_status mw__kernel_band_part(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const mw_tensor *x = mw__arg(op, "x"), *result = op->results[0];
    const mw_shape shape = mw__shape_of(x);
    int64_t lower = -1, upper = -1;
    if (!mw__arg_int(op, "lower", &lower) || !mw__arg_int(op, "upper", &upper) || shape.rank < 2)
        return mw__kernel_need_constant(op, "lower and upper, each,", err);
    band_block *block = mw__plan_block(planner, sizeof *block);
    if (block == NULL || mw__count_of(x) == 0)
        return mw__plan_check(planner, err);
    const int64_t rows = shape.dim[shape.rank - 2], columns = shape.dim[shape.rank - 1];
    *block = (band_block){.rows = rows,
                          .columns = columns,
                          .lower = diagonals(lower, rows),
                          .upper = diagonals(upper, columns),
                          .size = mw__dtype_size(mw__dtype_of(x))};
    const size_t width = (size_t)columns * block->size;
    const int64_t units = mw__count_of(x) / columns;
    mw__step *step =
        mw__plan_step(planner, band_run, op->row->name, units, mw__cost(2.0 * (double)units * (double)width, 0));
    step->block = block;
    mw__step_read(planner, step, mw__plan_buffer(planner, x), MW__ROWS, width, true);
    mw__step_write(planner, step, mw__plan_buffer(planner, result), MW__ROWS, width);
    return mw__plan_check(planner, err);
}

/* ---- shape ---- */

typedef struct shape_block {
    size_t rank;
    int32_t extent[MW_RANK_MAX];
} shape_block;

static void shape_run(const mw__kernel_call *call)
{
    const shape_block *block = call->block;
    memcpy(call->out[0], block->extent, block->rank * sizeof block->extent[0]);
}

mw_status mw__kernel_shape(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const mw_shape shape = mw__shape_of(mw__arg(op, "x"));
    shape_block *block = mw__plan_block(planner, sizeof *block);
    if (block == NULL || shape.rank == 0)
        return mw__plan_check(planner, err);
    block->rank = (size_t)shape.rank;
    for (int i = 0; i < shape.rank; i++)
        block->extent[i] = (int32_t)shape.dim[i];
    mw__step *step = mw__plan_step(planner, shape_run, op->row->name, 1, mw__cost(32, 0));
    step->block = block;
    mw__step_write(planner, step, mw__plan_buffer(planner, op->results[0]), MW__WHOLE, 0);
    return mw__plan_check(planner, err);
}

/* concat, stack and split: chunks that follow each other along an axis are copied between one whole tensor and its
 * parts. A unit is one position of the axes before it, so that whole and parts are touched by rows. */
#include "engine/core/kernel.h"

#include <string.h>

#define PARTS 8 /* of one step; MW__STEP_WRITES for split */

typedef struct join_block {
    size_t whole;        /* bytes of a unit of the whole */
    size_t offset;       /* of the first part in it */
    size_t chunk[PARTS]; /* bytes of a unit of each part */
    size_t count;        /* parts */
    size_t group, total; /* bytes of all of them: of a unit, of all units */
} join_block;

/* Single elements, as interleaved halves are joined of, are one store. */
static inline void copy_chunk(char *out, const char *x, size_t bytes)
{
    if (bytes == 4)
        memcpy(out, x, 4);
    else if (bytes == 2)
        memcpy(out, x, 2);
    else
        memcpy(out, x, bytes);
}

static void concat_run(const mw__kernel_call *call)
{
    const join_block *block = call->block;
    for (int64_t unit = call->begin; unit < call->end; unit++) {
        char *out = (char *)call->out[0] + (size_t)unit * block->whole + block->offset;
        for (size_t i = 0; i < block->count; out += block->chunk[i++])
            copy_chunk(out, (const char *)call->in[i] + (size_t)unit * block->chunk[i], block->chunk[i]);
    }
}

static void split_run(const mw__kernel_call *call)
{
    const join_block *block = call->block;
    for (int64_t unit = call->begin; unit < call->end; unit++) {
        const char *x = (const char *)call->in[0] + (size_t)unit * block->whole + block->offset;
        for (size_t i = 0; i < block->count; x += block->chunk[i++])
            copy_chunk((char *)call->out[i] + (size_t)unit * block->chunk[i], x, block->chunk[i]);
    }
}

/* ---- few long units, which would keep few partitions busy: a unit of the step is a piece of what the parts hold ----
 */

#define FEW   16 /* units */
#define PIECE 16384

/* A run of bytes that one part holds. */
typedef struct run_of_bytes {
    size_t part, in_part, in_whole, size;
} run_of_bytes;

/* The longest that begins at byte `at` of the group's and ends by `end`. */
static run_of_bytes run_from(const join_block *block, size_t at, size_t end)
{
    const size_t unit = at / block->group, inside = at % block->group;
    size_t i = 0, first = 0;
    while (inside - first >= block->chunk[i])
        first += block->chunk[i++];
    const size_t skip = inside - first, left = block->chunk[i] - skip;
    return (run_of_bytes){.part = i,
                          .in_part = unit * block->chunk[i] + skip,
                          .in_whole = unit * block->whole + block->offset + inside,
                          .size = left < end - at ? left : end - at};
}

static size_t end_of_pieces(const mw__kernel_call *call)
{
    const join_block *block = call->block;
    const size_t end = (size_t)call->end * PIECE;
    return end < block->total ? end : block->total;
}

static void concat_pieces(const mw__kernel_call *call)
{
    const size_t end = end_of_pieces(call);
    for (size_t at = (size_t)call->begin * PIECE; at < end;) {
        const run_of_bytes run = run_from(call->block, at, end);
        memcpy((char *)call->out[0] + run.in_whole, (const char *)call->in[run.part] + run.in_part, run.size);
        at += run.size;
    }
}

static void split_pieces(const mw__kernel_call *call)
{
    const size_t end = end_of_pieces(call);
    for (size_t at = (size_t)call->begin * PIECE; at < end;) {
        const run_of_bytes run = run_from(call->block, at, end);
        memcpy((char *)call->out[run.part] + run.in_part, (const char *)call->in[0] + run.in_whole, run.size);
        at += run.size;
    }
}

/* ---- plans ---- */

typedef struct join_plan {
    const mw_tensor *whole;
    int64_t units;
    size_t unit; /* bytes of the whole */
} join_plan;

/* The axes before `cut` make the units. */
static join_plan join_at(const mw_tensor *whole, int64_t cut)
{
    const mw_shape shape = mw__shape_of(whole);
    return (join_plan){.whole = whole,
                       .units = mw__shape_span(shape, 0, (int)cut),
                       .unit =
                           (size_t)mw__shape_span(shape, (int)cut, shape.rank) * mw__dtype_size(mw__dtype_of(whole))};
}

static size_t chunk_of(const mw_tensor *part, const join_plan *join)
{
    return (size_t)mw__count_of(part) * mw__dtype_size(mw__dtype_of(part)) / (size_t)join->units;
}

/* Whether the step is of pieces, and how its operands are touched. */
typedef struct join_step {
    mw__step *step;
    mw__access access;
} join_step;

static join_step plan_step(mw__planner *planner, const join_plan *join, join_block *block, mw__kernel *const run[2],
                           const char *label)
{
    block->total = block->group * (size_t)join->units;
    const bool pieces = join->units < FEW && block->total >= (size_t)(2 * FEW * PIECE);
    const int64_t units = pieces ? (int64_t)((block->total + PIECE - 1) / PIECE) : join->units;
    mw__step *step = mw__plan_step(planner, run[pieces], label, units, mw__cost(2.0 * (double)block->total, 0));
    step->block = block;
    return (join_step){step, pieces ? MW__WHOLE : MW__ROWS};
}

/* ---- concat ---- */

/* One step for some of the operands. */
static void plan_concat(mw__planner *planner, const join_plan *join, const mw__operand *operands, size_t count,
                        size_t *offset)
{
    static mw__kernel *const run[] = {concat_run, concat_pieces};
    join_block *block = mw__plan_block(planner, sizeof *block);
    if (block == NULL)
        return;
    *block = (join_block){.whole = join->unit, .offset = *offset, .count = count};
    for (size_t i = 0; i < count; i++) {
        block->chunk[i] = chunk_of(operands[i].value, join);
        *offset += block->chunk[i];
    }
    block->group = *offset - block->offset;
    const join_step s = plan_step(planner, join, block, run, join->whole->op->row->name);
    for (size_t i = 0; i < count; i++)
        mw__step_read(planner, s.step, mw__plan_buffer(planner, operands[i].value), s.access, block->chunk[i], false);
    mw__step_write(planner, s.step, mw__plan_buffer(planner, join->whole), s.access, join->unit);
}

static void plan_joined(mw__planner *planner, const mw__op *op, const join_plan *whole)
{
    const mw__operand *operands;
    const size_t count = mw__arg_values(op, "values", &operands);
    size_t offset = 0;
    for (size_t from = 0; from < count; from += PARTS)
        plan_concat(planner, whole, operands + from, count - from < PARTS ? count - from : PARTS, &offset);
}

mw_status mw__kernel_concat(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const mw_tensor *result = op->results[0];
    const mw__operand *operands;
    mw__arg_values(op, "values", &operands);
    int64_t axis = 0;
    bool interleave = false;
    if (mw__shape_of(operands[0].value).rank > 0) { /* scalars make a vector */
        MW_TRY(mw__kernel_axis(op, "axis", mw__shape_of(result).rank, &axis, err));
        mw__arg_bool(op, "interleave", &interleave);
    }
    if (mw__count_of(result) == 0)
        return mw__plan_check(planner, err);
    join_plan whole = join_at(result, axis);
    if (interleave) { /* equal shapes: element i of every operand, then element i + 1 */
        const int64_t extent = mw__shape_of(operands[0].value).dim[axis];
        whole.units *= extent;
        whole.unit /= (size_t)extent;
    }
    plan_joined(planner, op, &whole);
    return mw__plan_check(planner, err);
}

/* The new axis has the operands for its elements. */
mw_status mw__kernel_stack(mw__planner *planner, const mw__op *op, mw_error *err)
{
    int64_t axis = 0;
    MW_TRY(mw__kernel_axis(op, "axis", mw__shape_of(op->results[0]).rank, &axis, err));
    if (mw__count_of(op->results[0]) == 0)
        return mw__plan_check(planner, err);
    const join_plan whole = join_at(op->results[0], axis);
    plan_joined(planner, op, &whole);
    return mw__plan_check(planner, err);
}

/* ---- split ---- */

static void plan_split(mw__planner *planner, const join_plan *join, mw_tensor *const *results, size_t count,
                       size_t *offset)
{
    static mw__kernel *const run[] = {split_run, split_pieces};
    join_block *block = mw__plan_block(planner, sizeof *block);
    if (block == NULL)
        return;
    *block = (join_block){.whole = join->unit, .offset = *offset, .count = count};
    for (size_t i = 0; i < count; i++) {
        block->chunk[i] = chunk_of(results[i], join);
        *offset += block->chunk[i];
    }
    block->group = *offset - block->offset;
    const join_step s = plan_step(planner, join, block, run, "split");
    mw__step_read(planner, s.step, mw__plan_buffer(planner, join->whole), s.access, join->unit, false);
    for (size_t i = 0; i < count; i++)
        mw__step_write(planner, s.step, mw__plan_buffer(planner, results[i]), s.access, block->chunk[i]);
}

mw_status mw__kernel_split(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const mw_tensor *x = mw__arg(op, "x");
    int64_t axis = 0;
    MW_TRY(mw__kernel_axis(op, "axis", mw__shape_of(x).rank, &axis, err));
    if (mw__count_of(x) == 0)
        return mw__plan_check(planner, err);
    const join_plan whole = join_at(x, axis);
    const size_t count = op->result_count;
    size_t offset = 0;
    for (size_t from = 0; from < count; from += MW__STEP_WRITES)
        plan_split(planner, &whole, op->results + from, count - from < MW__STEP_WRITES ? count - from : MW__STEP_WRITES,
                   &offset);
    return mw__plan_check(planner, err);
}

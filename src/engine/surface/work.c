/* Counts what a step does: kernels of products say it themselves, the rest follows from the MIL operations. */
#include "engine/surface/work.h"
#include "engine/core/partition.h"

#include "base/checked.h"
#include "engine/core/kernel.h"

#include <string.h>

/* ---- floating-point operations ---- */

typedef enum rule {
    UNKNOWN,
    NONE,
    MOVES,   /* none: elements of its operands, as they are */
    EACH,    /* `each` for an element of the result */
    COMPARES /* one for an element, if what is compared is floating-point */
} rule;

typedef struct count {
    rule rule;
    double each;
} count;

static const count counts[MW__OP_COUNT] = {
    [MW__OP_add] = {EACH, 1},
    [MW__OP_sub] = {EACH, 1},
    [MW__OP_mul] = {EACH, 1},
    [MW__OP_real_div] = {EACH, 1},
    [MW__OP_maximum] = {EACH, 1},
    [MW__OP_minimum] = {EACH, 1},
    [MW__OP_abs] = {EACH, 1},
    [MW__OP_square] = {EACH, 1},
    [MW__OP_sqrt] = {EACH, 1},
    [MW__OP_rsqrt] = {EACH, 3},
    [MW__OP_inverse] = {EACH, 2},
    [MW__OP_clip] = {EACH, 2},
    [MW__OP_threshold] = {EACH, 1},
    [MW__OP_relu] = {EACH, 1},
    [MW__OP_relu6] = {EACH, 2},
    [MW__OP_leaky_relu] = {EACH, 2},
    [MW__OP_linear_activation] = {EACH, 2},
    [MW__OP_equal] = {COMPARES, 1},
    [MW__OP_not_equal] = {COMPARES, 1},
    [MW__OP_less] = {COMPARES, 1},
    [MW__OP_less_equal] = {COMPARES, 1},
    [MW__OP_greater] = {COMPARES, 1},
    [MW__OP_greater_equal] = {COMPARES, 1},
    [MW__OP_logical_and] = {NONE, 0},
    [MW__OP_logical_or] = {NONE, 0},
    [MW__OP_logical_xor] = {NONE, 0},
    [MW__OP_logical_not] = {NONE, 0},
    [MW__OP_select] = {NONE, 0},
    [MW__OP_cast] = {NONE, 0},
    [MW__OP_one_hot] = {NONE, 0},
    [MW__OP_gather] = {MOVES, 0},
    [MW__OP_gather_ios16] = {MOVES, 0},
    [MW__OP_gather_ios17] = {MOVES, 0},
    [MW__OP_gather_along_axis] = {MOVES, 0},
    [MW__OP_gather_along_axis_ios17] = {MOVES, 0},
    [MW__OP_gather_nd] = {MOVES, 0},
    [MW__OP_gather_nd_ios16] = {MOVES, 0},
    [MW__OP_gather_nd_ios17] = {MOVES, 0},
    [MW__OP_crop] = {MOVES, 0},
    [MW__OP_identity] = {MOVES, 0},
    [MW__OP_reshape] = {MOVES, 0},
    [MW__OP_reshape_like] = {MOVES, 0},
    [MW__OP_flatten2d] = {MOVES, 0},
    [MW__OP_transpose] = {MOVES, 0},
    [MW__OP_expand_dims] = {MOVES, 0},
    [MW__OP_squeeze] = {MOVES, 0},
    [MW__OP_concat] = {MOVES, 0},
    [MW__OP_stack] = {MOVES, 0},
    [MW__OP_split] = {MOVES, 0},
    [MW__OP_slice_by_index] = {MOVES, 0},
    [MW__OP_slice_by_size] = {MOVES, 0},
    [MW__OP_slice_update] = {MOVES, 0},
    [MW__OP_tile] = {MOVES, 0},
    [MW__OP_pad] = {MOVES, 0},
    [MW__OP_fill] = {NONE, 0},
    [MW__OP_fill_like] = {NONE, 0},
    [MW__OP_reverse] = {MOVES, 0},
    [MW__OP_reverse_sequence] = {MOVES, 0},
    [MW__OP_sliding_windows] = {MOVES, 0},
    [MW__OP_band_part] = {MOVES, 0},
    [MW__OP_shape] = {NONE, 0},
    [MW__OP_depth_to_space] = {MOVES, 0},
    [MW__OP_space_to_depth] = {MOVES, 0},
    [MW__OP_pixel_shuffle] = {MOVES, 0},
    [MW__OP_pixel_unshuffle] = {MOVES, 0},
    [MW__OP_space_to_batch] = {MOVES, 0},
    [MW__OP_batch_to_space] = {MOVES, 0},
};

static bool is_float(const mw_tensor *value) { return value->type->dtype == MW_F32 || value->type->dtype == MW_F16; }

static double op_flops(const mw__op *op)
{
    const count *c = op->row != NULL ? &counts[op->row->id] : &counts[MW__OP_const];
    const mw_tensor *result = op->results[0];
    if (c->rule == NONE || c->rule == MOVES || (c->rule == COMPARES && !is_float(mw__arg(op, "x"))) ||
        (c->rule == EACH && !is_float(result)))
        return 0.0;
    return c->rule == UNKNOWN ? MW__FLOPS_UNKNOWN : c->each * (double)mw__count_of(result);
}

/* Steps that stand beside that of the operation. */
static bool is_helper(const char *label)
{
    static const char *const labels[] = {"cast", "copy", "conv.pack", "conv.dweight.sum"};
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++)
        if (strcmp(label, labels[i]) == 0)
            return true;
    return false;
}

static double step_flops(const mw__step *step)
{
    if (step->flops != 0.0 || is_helper(step->label))
        return step->flops;
    if (step->op_count == 0) /* a step of another name does a part of the operation, nobody says which */
        return step->op != NULL && strcmp(step->label, step->op->kind) == 0 ? op_flops(step->op) : MW__FLOPS_UNKNOWN;
    double sum = 0.0;
    for (size_t i = 0; i < step->op_count; i++) {
        const double flops = op_flops(step->ops[i]);
        if (flops < 0.0)
            return MW__FLOPS_UNKNOWN;
        sum += flops;
    }
    return sum;
}

/* ---- bytes ---- */

static uint64_t operand_bytes(const mw__layout *layout, const mw__step *step, const mw__step_operand *operand)
{
    const size_t size = layout->buffers[operand->buffer].size;
    size_t bytes;
    if (operand->access == MW__WHOLE || !mw__mul_size(operand->unit, (size_t)step->units, &bytes))
        return size;
    return bytes < size ? bytes : size;
}

static uint64_t count_operands(const mw__layout *layout, const mw__step *step, const mw__step_operand *operands,
                               size_t operand_count, uint64_t *out)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < operand_count; i++) {
        out[i] = operand_bytes(layout, step, &operands[i]);
        for (size_t j = 0; j < i; j++)
            if (operands[j].buffer == operands[i].buffer)
                out[out[j] < out[i] ? j : i] = 0;
    }
    for (size_t i = 0; i < operand_count; i++)
        sum += out[i];
    return sum;
}

/* What takes a part of its operand reads no more than it writes, what writes a part writes no more than it reads. */
static void limit_moves(const mw__step *step, mw__work *work)
{
    const mw__op *op = step->op;
    if (op == NULL || op->row == NULL || counts[op->row->id].rule != MOVES || strcmp(step->label, op->kind) != 0 ||
        step->read_count == 0)
        return;
    const bool joins = op->row->id == MW__OP_concat || op->row->id == MW__OP_stack;
    if (joins && work->bytes_read < work->bytes_written)
        work->bytes_written = work->written[0] = work->bytes_read;
    if (!joins && work->read[0] > work->bytes_written) {
        work->bytes_read -= work->read[0] - work->bytes_written;
        work->read[0] = work->bytes_written;
    }
}

mw__work mw__step_work(const mw__layout *layout, const mw__step *step)
{
    mw__work work = {.flops = step_flops(step)};
    work.bytes_read = count_operands(layout, step, step->reads, step->read_count, work.read);
    work.bytes_written = count_operands(layout, step, step->writes, step->write_count, work.written);
    limit_moves(step, &work);
    return work;
}

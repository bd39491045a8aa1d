/* Counts what a step does: kernels of products say it themselves, the rest follows from the MIL operations. */
#include "engine/compile/plan/work.h"

#include "base/memory/checked.h"
#include "engine/core/kernel.h"
#include "engine/core/partition.h"
#include "graph/ir/count.h"

#include <string.h>

/* ---- floating-point operations ---- */

static double step_flops(const mw__step *step)
{
    if (step->report.flops != 0.0 || step->report.helper)
        return step->report.flops;
    if (step->group.count == 0) /* a step of another name does an unknown part of the operation */
        return step->op != NULL && strcmp(step->report.label, step->op->kind) == 0 ? mw__op_flops(step->op)
                                                                                   : MW__FLOPS_UNKNOWN;
    double sum = 0.0;
    for (size_t i = 0; i < step->group.count; i++) {
        const double flops = mw__op_flops(step->group.ops[i]);
        if (flops < 0.0)
            return MW__FLOPS_UNKNOWN;
        sum += flops;
    }
    return sum;
}

/* ---- bytes ---- */

static uint64_t operand_bytes(const mw__buffer *buffers, const mw__step *step, const mw__step_operand *operand)
{
    const size_t size = buffers[operand->buffer].size;
    size_t bytes;
    if (operand->access == MW__WHOLE || !mw__mul_size(operand->unit, (size_t)step->units, &bytes))
        return size;
    return bytes < size ? bytes : size;
}

static uint64_t count_operands(const mw__buffer *buffers, const mw__step *step, const mw__step_operand *operands,
                               size_t operand_count, uint64_t *out)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < operand_count; i++) {
        out[i] = operand_bytes(buffers, step, &operands[i]);
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
    if (op == NULL || op->row == NULL || mw__op_count_row_of(op->row->id)->rule != MW__COUNT_MOVES ||
        strcmp(step->report.label, op->kind) != 0 || step->read_count == 0)
        return;
    const bool joins = op->row->id == MW__OP_concat || op->row->id == MW__OP_stack;
    if (joins && work->bytes_read < work->bytes_written)
        work->bytes_written = work->written[0] = work->bytes_read;
    if (!joins && work->read[0] > work->bytes_written) {
        work->bytes_read -= work->read[0] - work->bytes_written;
        work->read[0] = work->bytes_written;
    }
}

mw__work mw__step_work(const mw__buffer *buffers, const mw__step *step, uint64_t *read, uint64_t *written)
{
    mw__work work = {.read = read, .written = written, .flops = step_flops(step)};
    work.bytes_read = count_operands(buffers, step, step->reads, step->read_count, work.read);
    work.bytes_written = count_operands(buffers, step, step->writes, step->write_count, work.written);
    limit_moves(step, &work);
    return work;
}

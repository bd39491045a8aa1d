#include "engine/core/partition.h"

#include "base/number/float_mode.h"

int64_t mw__partition_begin(const mw__step *step, int partition, int partitions)
{
    if (step->units <= 0)
        return 0;
    const int64_t grain = step->grain > 0 ? step->grain : 1;
    const int64_t blocks = (step->units - 1) / grain + 1;
    /* ceil(blocks * partition / partitions) without overflow: partition 0 gets the odd ones */
    const int64_t block =
        blocks / partitions * partition + (blocks % partitions * partition + partitions - 1) / partitions;
    return block >= blocks || block * grain > step->units ? step->units : block * grain;
}

typedef struct range {
    size_t begin, end; /* bytes */
} range;

static range partition_range(const mw__step *step, const mw__step_operand *operand, int partition, int partitions)
{
    const int64_t begin = mw__partition_begin(step, partition, partitions);
    const int64_t end = mw__partition_begin(step, partition + 1, partitions);
    if (begin >= end)
        return (range){0};
    if (operand->access == MW__WHOLE)
        return (range){.end = SIZE_MAX};
    return (range){.begin = (size_t)begin * operand->unit, .end = (size_t)end * operand->unit};
}

bool mw__partitions_disjoint(int partitions, const mw__step *a_step, const mw__step_operand *a, const mw__step *b_step,
                             const mw__step_operand *b)
{
    if (partitions == 1 || (a->access == MW__ROWS && b->access == MW__ROWS && a->unit == b->unit &&
                            a_step->units == b_step->units && a_step->grain == b_step->grain))
        return true;
    for (int i = 0; i < partitions; i++) {
        const range x = partition_range(a_step, a, i, partitions);
        for (int j = 0; j < partitions && x.begin < x.end; j++) {
            const range y = partition_range(b_step, b, j, partitions);
            if (i != j && x.begin < y.end && y.begin < x.end)
                return false;
        }
    }
    return true;
}

bool mw__step_operand_has_units(const mw__step_operand *operand)
{
    return operand->access == MW__ROWS || operand->planes > 0;
}

bool mw__step_operand_goes_with(const mw__step_operand *read, const mw__step_operand *write)
{
    return read->in_place && mw__step_operand_has_units(read) && read->access == write->access &&
           read->unit == write->unit && read->planes == write->planes;
}

bool mw__step_in_place(const mw__step *step, uint32_t read, uint32_t write)
{
    const mw__step_operand *target = NULL;
    for (size_t i = 0; i < step->write_count; i++)
        if (step->writes[i].buffer == write) {
            if (target != NULL)
                return false;
            target = &step->writes[i];
        }
    if (target == NULL || !mw__step_operand_has_units(target))
        return false;
    for (size_t i = 0; i < step->read_count; i++)
        if (step->reads[i].buffer == read && !mw__step_operand_goes_with(&step->reads[i], target))
            return false;
    return true;
}

void mw__execute_step(const mw__step *step, int partitions, bool flush, const void *const *in, void *const *out,
                      void *scratch)
{
    const mw__vector_mode saved = mw__vector_mode_enter(flush);
    for (int partition = 0; partition < partitions; partition++) {
        const mw__kernel_call call = {.block = step->block,
                                      .in = in,
                                      .out = out,
                                      .scratch = scratch,
                                      .begin = mw__partition_begin(step, partition, partitions),
                                      .end = mw__partition_begin(step, partition + 1, partitions)};
        if (call.begin < call.end)
            step->run(&call);
    }
    mw__vector_mode_leave(saved, flush);
}

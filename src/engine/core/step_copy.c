/* The step that copies a buffer. */
#include "base/memory/checked.h"
#include "engine/core/step.h"

#include <string.h>

typedef struct copy_block {
    size_t unit, size;
} copy_block;

static void copy_run(const mw__kernel_call *call)
{
    const copy_block *block = call->block;
    const size_t begin = (size_t)call->begin * block->unit;
    const size_t end = (size_t)call->end * block->unit < block->size ? (size_t)call->end * block->unit : block->size;
    if (begin < end && call->out[0] != call->in[0])
        memmove((char *)call->out[0] + begin, (const char *)call->in[0] + begin, end - begin);
}

bool mw__step_is_copy(const mw__step *step) { return step->run == copy_run; }

static double copy_cost(size_t size) { return 10.0 + (double)size / 8.0; }

static void fill_copy(mw__step *step, copy_block *block, uint32_t from, uint32_t to)
{
    const size_t unit = block->unit;
    step->block = block;
    step->reads[0] = (mw__step_operand){.buffer = from, .access = MW__ROWS, .unit = unit, .in_place = true};
    step->writes[0] = (mw__step_operand){.buffer = to, .access = MW__ROWS, .unit = unit};
    step->read_count = step->write_count = 1;
}

/* The units cut the buffer from end to end; the last may be short. */
static bool covers(const mw__step *step, const mw__step_operand *operand, size_t size)
{
    size_t bytes;
    return mw__mul_size(operand->unit, (size_t)step->units, &bytes) && bytes >= size && bytes - operand->unit < size;
}

mw__step *mw__copy_step(mw__arena *arena, uint32_t from, uint32_t to, size_t size, const mw__step *like,
                        const mw__step_operand *like_operand, mw_error *err)
{
    copy_block *block = mw__arena_alloc(arena, 1, sizeof *block, err);
    mw__step *step = mw__step_create(arena, 1, 1, err);
    if (block == NULL || step == NULL)
        return NULL;
    *block = (copy_block){.unit = 4096, .size = size};
    step->report.label = "copy";
    step->run = copy_run;
    step->cost = copy_cost(size);
    step->report.helper = true;
    step->units = (int64_t)((size + block->unit - 1) / block->unit);
    /* the split of the producer keeps the copy in the producer's phase */
    if (like != NULL && like_operand->access == MW__ROWS && like->units > 0 && like_operand->unit > 0 &&
        covers(like, like_operand, size)) {
        block->unit = like_operand->unit;
        step->units = like->units;
        step->grain = like->grain;
        step->op = like->op;
    }
    fill_copy(step, block, from, to);
    return step;
}

static void hold_run(const mw__kernel_call *call) { copy_run(call); }

mw__step *mw__hold_step(mw__arena *arena, uint32_t from, uint32_t to, size_t size, mw_error *err)
{
    mw__step *step = mw__copy_step(arena, from, to, size, NULL, NULL, err);
    if (step != NULL)
        step->run = hold_run;
    return step;
}

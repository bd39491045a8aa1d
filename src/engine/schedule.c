/* Cuts the order of steps into phases. Inside a phase every lane runs its share of the steps in order without waiting
 * for another lane; so a step may join a phase only if no two lanes touch a common byte that one of them writes. */
#include "engine/engine.h"

#include <string.h>

int64_t mw__lane_begin(const mw__step *step, int lane, int lanes)
{
    if (step->units <= 0)
        return 0;
    const int64_t grain = step->grain > 0 ? step->grain : 1;
    const int64_t blocks = (step->units - 1) / grain + 1;
    /* ceil(blocks * lane / lanes) without overflow: lane 0 gets the odd ones */
    const int64_t block = blocks / lanes * lane + (blocks % lanes * lane + lanes - 1) / lanes;
    return block >= blocks || block * grain > step->units ? step->units : block * grain;
}

typedef struct range {
    size_t begin, end; /* bytes */
} range;

static range lane_range(const mw__step *step, const mw__step_operand *operand, int lane, int lanes)
{
    const int64_t begin = mw__lane_begin(step, lane, lanes);
    const int64_t end = mw__lane_begin(step, lane + 1, lanes);
    if (begin >= end)
        return (range){0};
    if (operand->access == MW__WHOLE)
        return (range){.end = SIZE_MAX};
    return (range){.begin = (size_t)begin * operand->unit, .end = (size_t)end * operand->unit};
}

bool mw__lanes_apart(int lanes, const mw__step *a_step, const mw__step_operand *a, const mw__step *b_step,
                     const mw__step_operand *b)
{
    if (lanes == 1 || (a->access == MW__ROWS && b->access == MW__ROWS && a->unit == b->unit &&
                       a_step->units == b_step->units && a_step->grain == b_step->grain))
        return true;
    for (int i = 0; i < lanes; i++) {
        const range x = lane_range(a_step, a, i, lanes);
        for (int j = 0; j < lanes && x.begin < x.end; j++) {
            const range y = lane_range(b_step, b, j, lanes);
            if (i != j && x.begin < y.end && y.begin < x.end)
                return false;
        }
    }
    return true;
}

#define NONE UINT32_MAX

/* An operand of a step of the current phase. */
typedef struct touch {
    const mw__step *step;
    const mw__step_operand *operand;
    uint32_t next;
} touch;

typedef struct cutter {
    const mw__layout *layout;
    touch *touches;
    uint32_t count;
    uint32_t *reads, *writes; /* by memory: newest touch */
    uint32_t *phase_of;       /* by memory: the phase that the two lists belong to */
    uint32_t phase;
} cutter;

static void enter(cutter *c, uint32_t memory)
{
    if (c->phase_of[memory] != c->phase)
        c->reads[memory] = c->writes[memory] = NONE;
    c->phase_of[memory] = c->phase;
}

static bool apart_from(const cutter *c, uint32_t list, const mw__step *step, const mw__step_operand *operand)
{
    for (; list != NONE; list = c->touches[list].next)
        if (!mw__lanes_apart(c->layout->lanes, c->touches[list].step, c->touches[list].operand, step, operand))
            return false;
    return true;
}

static bool joins(cutter *c, const mw__step *step)
{
    for (size_t i = 0; i < step->read_count; i++) {
        const uint32_t memory = c->layout->memory[step->reads[i].buffer];
        enter(c, memory);
        if (!apart_from(c, c->writes[memory], step, &step->reads[i]))
            return false;
    }
    for (size_t i = 0; i < step->write_count; i++) {
        const uint32_t memory = c->layout->memory[step->writes[i].buffer];
        enter(c, memory);
        if (!apart_from(c, c->writes[memory], step, &step->writes[i]) ||
            !apart_from(c, c->reads[memory], step, &step->writes[i]))
            return false;
    }
    return true;
}

static void note(cutter *c, uint32_t *lists, const mw__step *step, const mw__step_operand *operand)
{
    const uint32_t memory = c->layout->memory[operand->buffer];
    enter(c, memory);
    c->touches[c->count] = (touch){.step = step, .operand = operand, .next = lists[memory]};
    lists[memory] = c->count++;
}

static void place(cutter *c, size_t position)
{
    const mw__step *step = c->layout->steps[position];
    if (!joins(c, step)) {
        c->phase++;
        c->count = 0;
    }
    for (size_t i = 0; i < step->read_count; i++)
        note(c, c->reads, step, &step->reads[i]);
    for (size_t i = 0; i < step->write_count; i++)
        note(c, c->writes, step, &step->writes[i]);
    c->layout->phase[position] = c->phase;
}

mw_status mw__cut_phases(mw__layout *layout, mw_error *err)
{
    mw__arena *arena = layout->arena;
    const size_t touches = layout->step_count * (MW__STEP_READS + MW__STEP_WRITES);
    layout->phase = mw__arena_alloc(layout->keep, layout->step_count, sizeof *layout->phase, err);
    cutter c = {.layout = layout,
                .touches = mw__arena_alloc(arena, touches, sizeof(touch), err),
                .reads = mw__arena_alloc(arena, layout->buffer_count, sizeof(uint32_t), err),
                .writes = mw__arena_alloc(arena, layout->buffer_count, sizeof(uint32_t), err),
                .phase_of = mw__arena_alloc(arena, layout->buffer_count, sizeof(uint32_t), err)};
    if (layout->phase == NULL || c.touches == NULL || c.reads == NULL || c.writes == NULL || c.phase_of == NULL)
        return MW_ERROR_MEMORY;
    memset(c.phase_of, 0xff, layout->buffer_count * sizeof(uint32_t));
    for (size_t i = 0; i < layout->step_count; i++)
        place(&c, i);
    layout->phase_count = layout->step_count > 0 ? (size_t)c.phase + 1 : 0;
    return MW_OK;
}

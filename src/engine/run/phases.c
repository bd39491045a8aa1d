/* Gives every step a phase, and sorts the steps by it. Inside a phase every partition runs its share of the steps in
 * order without waiting for another partition; so a step may join a phase only if no two partitions touch a common byte
 * that one of them writes. A step goes to the first phase that allows it: what does not depend on a reduction over all
 * rows need not wait for its barrier. */
#include "engine/core/partition.h"
#include "engine/run/layout.h"

#include <string.h>

#define NONE UINT32_MAX

/* What is computed early holds its memory for longer. So a step goes back over a few phases only, and only if its
 * results in local memory are small; with larger ones its time is such that a barrier does not count. */
enum { BACK = 4, BACK_BYTES = 256 * 1024 };

/* An operand of a step that has its phase. */
typedef struct touch {
    const mw__step *step;
    const mw__step_operand *operand;
    uint32_t phase;
    uint32_t newest; /* phase when this was noted: nothing further down the list is in a later one */
    uint32_t next;
} touch;

typedef struct phaser {
    mw__layout *layout;
    touch *touches;
    uint32_t count;
    uint32_t *reads, *writes; /* by memory: newest touch */
    uint32_t newest;          /* phase */
    uint32_t wall;            /* no step goes back beyond this one: behind the last that runs blocks */
} phaser;

/* The first phase from `phase` on in which the operand may stand behind those of the list. */
static uint32_t phase_after(const phaser *c, uint32_t list, const mw__step *step, const mw__step_operand *operand,
                            uint32_t phase)
{
    for (; list != NONE && c->touches[list].newest >= phase; list = c->touches[list].next) {
        const touch *t = &c->touches[list];
        if (t->phase >= phase)
            phase = t->phase + !mw__partitions_disjoint(c->layout->partitions, t->step, t->operand, step, operand);
    }
    return phase;
}

static bool may_go_back(const mw__layout *layout, const mw__step *step)
{
    size_t bytes = 0;
    for (size_t i = 0; i < step->write_count; i++) {
        const mw__buffer *buffer = &layout->buffers[step->writes[i].buffer];
        if (buffer->kind == MW__BUFFER_LOCAL && buffer->size > BACK_BYTES - bytes)
            return false;
        bytes += buffer->kind == MW__BUFFER_LOCAL ? buffer->size : 0;
    }
    return true;
}

static uint32_t first_phase(const phaser *c, const mw__step *step)
{
    const mw__layout *layout = c->layout;
    const uint32_t back = may_go_back(layout, step) ? BACK : 0;
    uint32_t phase = c->newest > back ? c->newest - back : 0;
    for (size_t i = 0; i < step->read_count; i++)
        phase = phase_after(c, c->writes[layout->memory[step->reads[i].buffer]], step, &step->reads[i], phase);
    for (size_t i = 0; i < step->write_count; i++) {
        const uint32_t memory = layout->memory[step->writes[i].buffer];
        phase = phase_after(c, c->writes[memory], step, &step->writes[i], phase);
        phase = phase_after(c, c->reads[memory], step, &step->writes[i], phase);
    }
    return phase;
}

static void note_operand(phaser *c, uint32_t *lists, const mw__step *step, const mw__step_operand *operand,
                         uint32_t phase)
{
    const uint32_t memory = c->layout->memory[operand->buffer];
    c->touches[c->count] =
        (touch){.step = step, .operand = operand, .phase = phase, .newest = c->newest, .next = lists[memory]};
    lists[memory] = c->count++;
}

static void place(phaser *c, size_t position)
{
    const mw__step *step = c->layout->steps[position];
    uint32_t phase = first_phase(c, step);
    phase = phase > c->wall ? phase : c->wall;
    if (step->nested != NULL) { /* all partitions run it together, alone in its phase */
        phase = position > 0 ? c->newest + 1 : 0;
        c->wall = phase + 1;
    }
    c->newest = phase > c->newest ? phase : c->newest;
    for (size_t i = 0; i < step->read_count; i++)
        note_operand(c, c->reads, step, &step->reads[i], phase);
    for (size_t i = 0; i < step->write_count; i++)
        note_operand(c, c->writes, step, &step->writes[i], phase);
    c->layout->phase[position] = phase;
}

/* The order of steps of one phase stays. */
static mw_status sort_by_phase(mw__layout *layout, mw_error *err)
{
    const size_t count = layout->step_count;
    size_t *next = mw__arena_alloc(layout->arena, layout->phase_count + 1, sizeof *next, err);
    const mw__step **steps = mw__arena_alloc(layout->keep, count, sizeof *steps, err);
    uint32_t *phase = mw__arena_alloc(layout->keep, count, sizeof *phase, err);
    if (next == NULL || steps == NULL || phase == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < count; i++)
        next[layout->phase[i] + 1]++;
    for (size_t p = 1; p < layout->phase_count; p++)
        next[p] += next[p - 1];
    for (size_t i = 0; i < count; i++) {
        const size_t at = next[layout->phase[i]]++;
        steps[at] = layout->steps[i];
        phase[at] = layout->phase[i];
    }
    layout->steps = steps;
    layout->phase = phase;
    return MW_OK;
}

mw_status mw__assign_phases(mw__layout *layout, mw_error *err)
{
    mw__arena *arena = layout->arena;
    size_t touches = 0;
    for (size_t i = 0; i < layout->step_count; i++)
        touches += layout->steps[i]->read_count + layout->steps[i]->write_count;
    layout->phase = mw__arena_alloc(arena, layout->step_count, sizeof *layout->phase, err);
    phaser c = {.layout = layout,
                .touches = mw__arena_alloc(arena, touches, sizeof(touch), err),
                .reads = mw__arena_alloc(arena, layout->buffer_count, sizeof(uint32_t), err),
                .writes = mw__arena_alloc(arena, layout->buffer_count, sizeof(uint32_t), err)};
    if (layout->phase == NULL || c.touches == NULL || c.reads == NULL || c.writes == NULL)
        return MW_ERROR_MEMORY;
    memset(c.reads, 0xff, layout->buffer_count * sizeof(uint32_t));
    memset(c.writes, 0xff, layout->buffer_count * sizeof(uint32_t));
    for (size_t i = 0; i < layout->step_count; i++)
        place(&c, i);
    layout->phase_count = layout->step_count > 0 ? (size_t)c.newest + 1 : 0;
    return sort_by_phase(layout, err);
}

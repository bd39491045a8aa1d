/* Phase 3: programs between cuts, and in each of them a list scheduler. */
#include "chip/plan/plan.h"

#include <stdlib.h>

/* ---- segments ---- */

/* Layers of one key are one program; a cut is one by itself. */
typedef struct seat {
    size_t stage; /* how many programs are before it */
    bool is_cut;
    size_t layer;
} seat;

static int by_stage(const void *a, const void *b)
{
    const seat *x = a, *y = b;
    if (x->stage != y->stage)
        return x->stage < y->stage ? -1 : 1;
    if (x->is_cut != y->is_cut)
        return x->is_cut ? 1 : -1;
    return (x->layer > y->layer) - (x->layer < y->layer);
}

static seat *make_seats(mw__chip_planner *p)
{
    seat *seats = mw__arena_alloc(&p->scratch, p->layer_count, sizeof *seats, p->err);
    size_t *stages = mw__arena_alloc(&p->scratch, p->layer_count, sizeof *stages, p->err);
    if (seats == NULL || stages == NULL)
        return NULL;
    for (size_t i = 0; i < p->layer_count; i++) {
        for (size_t k = 0; k < p->layers[i].before_count; k++) {
            const size_t from = p->layers[i].before[k];
            const size_t after = stages[from] + (p->layers[from].is_cut || p->layers[i].is_cut ? 1 : 0);
            stages[i] = after > stages[i] ? after : stages[i];
        }
        seats[i] = (seat){.stage = stages[i], .is_cut = p->layers[i].is_cut, .layer = i};
    }
    if (p->layer_count > 0)
        qsort(seats, p->layer_count, sizeof *seats, by_stage);
    return seats;
}

static bool shares_segment(const seat *a, const seat *b) { return a->stage == b->stage && !a->is_cut && !b->is_cut; }

static mw_status add_segment(mw__chip_planner *p, const seat *first, size_t count)
{
    mw_chip_plan *plan = p->plan;
    MW_TRY(mw__grow(plan->allocator, &plan->segments, &plan->segment_capacity, plan->segment_count + 1,
                    sizeof *plan->segments, p->err));
    plan->segments[plan->segment_count++] =
        (mw_chip_segment){.first_layer = p->scheduled, .layer_count = count, .is_bridge = first->is_cut};
    return MW_OK;
}

/* ---- the list scheduler ---- */

typedef struct ready_list {
    size_t *layers;
    size_t count;
    size_t segment; /* its index + 1, as layers are marked with it */
} ready_list;

static size_t pop(const mw__chip_planner *p, ready_list *ready)
{
    size_t best = 0;
    for (size_t i = 1; i < ready->count; i++)
        if (mw__chip_plan_goes_first(p, ready->layers[i], ready->layers[best]))
            best = i;
    const size_t layer = ready->layers[best];
    ready->layers[best] = ready->layers[--ready->count];
    return layer;
}

static void push_ready(const mw__chip_planner *p, ready_list *ready, size_t layer)
{
    if (p->layers[layer].waits == 0 && p->layers[layer].segment == ready->segment)
        ready->layers[ready->count++] = layer;
}

/* Of a program whose layers are seats[0..count). */
static mw_status schedule_segment(mw__chip_planner *p, const seat *seats, size_t count, size_t *room)
{
    ready_list ready = {.layers = room, .segment = p->plan->segment_count + 1};
    for (size_t i = 0; i < count; i++)
        p->layers[seats[i].layer].segment = ready.segment;
    MW_TRY(add_segment(p, seats, count));
    MW_TRY(mw__chip_plan_open_partition(p, p->plan->segment_count - 1));
    for (size_t i = 0; i < count; i++)
        push_ready(p, &ready, seats[i].layer);
    while (ready.count > 0) {
        const size_t layer = pop(p, &ready);
        MW_TRY(mw__chip_plan_append(p, layer));
        for (size_t i = 0; i < p->layers[layer].next_count; i++)
            push_ready(p, &ready, p->layers[layer].next[i]);
    }
    return MW_OK;
}

static void reset(mw__chip_planner *p)
{
    for (size_t i = 0; i < p->layer_count; i++)
        p->layers[i].waits = p->layers[i].before_count;
    for (size_t i = 0; i < p->value_count; i++)
        p->values[i].left = p->values[i].reader_count;
}

mw_status mw__chip_plan_schedule(mw__chip_planner *p)
{
    seat *seats = make_seats(p);
    size_t *room = mw__arena_alloc(&p->scratch, p->layer_count, sizeof *room, p->err);
    p->order = mw__arena_alloc(&p->scratch, p->layer_count, sizeof *p->order, p->err);
    if (seats == NULL || room == NULL || p->order == NULL)
        return MW_ERROR_MEMORY;
    reset(p);
    mw__chip_plan_find_branches(p);
    for (size_t at = 0, count; at < p->layer_count; at += count) {
        for (count = 1; at + count < p->layer_count && shares_segment(&seats[at], &seats[at + count]);)
            count++;
        MW_TRY(schedule_segment(p, &seats[at], count, room));
    }
    return mw__chip_plan_reorder(p);
}

/* Makes the steps of groups and chains, which stand in the place of those that they join. */
#include "engine/compile/fuse/fuse.h"
#include "engine/core/planner.h"

typedef struct emitter {
    const mw__pass *pass;
    mw__arena *scratch;
    uint32_t *readers; /* by buffer: how often it is read by those who do not make it */
    bool *stored;      /* by buffer: a step outside its group reads it */
    mw__step **steps;
    size_t count, capacity;
    mw_error *err;
} emitter;

/* Of each buffer, how often it is read by those who do not make it. */
static void count_item(uint32_t *readers, const mw__fuse_item *item)
{
    for (size_t i = 0; item->group != NULL && i < item->group->read_count; i++)
        readers[item->group->reads[i].buffer]++;
    for (size_t i = 0; item->group == NULL && i < item->step->read_count; i++)
        readers[item->step->reads[i].buffer]++;
}

/* Marks what outsiders need of a group. */
static void mark_stored(const emitter *e, const mw__fuse_group *group)
{
    for (size_t i = 0; i < group->count; i++) {
        const uint32_t made = group->steps[i]->writes[0].buffer;
        e->stored[made] = e->readers[made] > 0 || e->pass->planner->buffers[made].kind == MW__BUFFER_OUTPUT;
    }
}

/* Buffers for the partial sums of columns. */
static mw_status add_partials(const emitter *e, const mw__fuse_group *group, uint32_t *out)
{
    for (size_t i = 0; i < group->sum_count; i++)
        if (mw__sums_columns(mw__step_as_sum(group->sums[i]), &group->view))
            out[i] = mw__plan_temporary(e->pass->planner, mw__column_partials(mw__step_as_sum(group->sums[i])));
    return mw__plan_check(e->pass->planner, e->err);
}

/* The steps of an item: of a group, itself. before: of its chain. */
static mw__step *make_step(const emitter *e, const mw__fuse_group *group, const uint32_t *partials,
                           mw__step *const *before, size_t before_count)
{
    const mw__fused_parts parts = {.steps = group->steps,
                                   .count = group->count,
                                   .stored = e->stored,
                                   .watches = group->watches,
                                   .watch_count = group->watch_count,
                                   .sums = group->sums,
                                   .partials = partials,
                                   .sum_count = group->sum_count,
                                   .view = group->view,
                                   .before = before,
                                   .before_count = before_count,
                                   .level = e->pass->config->level};
    return mw__fused_step(e->pass->arena, &parts, e->err);
}

static mw_status emit_step(emitter *e, mw__step *step)
{
    if (step == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(mw__grow(e->pass->arena->allocator, &e->steps, &e->capacity, e->count + 1, sizeof *e->steps, e->err));
    e->steps[e->count++] = step;
    return MW_OK;
}

static bool reads_splat(const mw__step *step)
{
    for (int i = 0; i < mw__step_as_element(step)->operand_count; i++)
        if (mw__fuse_times_read(step, mw__step_as_element(step)->operand[i].buffer) == 0)
            return true;
    return false;
}

/* A group of one step, outside of a chain, is that step. */
static mw__step *alone(const mw__fuse_chain *chain)
{
    const mw__fuse_group *group = chain->items[0].group;
    if (chain->count > 1)
        return NULL;
    if (group == NULL)
        return chain->items[0].step;
    if (group->count + group->sum_count + group->watch_count > 1)
        return NULL;
    if (group->count == 0)
        return group->sums[0];
    return reads_splat(group->steps[0]) ? NULL : group->steps[0];
}

static mw_status emit_column_sums(emitter *e, const mw__fuse_group *group, const uint32_t *partials)
{
    for (size_t i = 0; i < group->sum_count; i++)
        if (partials[i] != 0)
            MW_TRY(emit_step(
                e, mw__column_sums_step(e->pass->arena, group->sums[i], partials[i], e->pass->config->level, e->err)));
    return MW_OK;
}

static mw_status emit_chain(emitter *e, const mw__fuse_chain *chain)
{
    mw__step *only = alone(chain);
    if (only != NULL) /* nobody reads a splat any more */
        return mw__step_as_number(only) != 0 && e->readers[only->writes[0].buffer] == 0 &&
                       e->pass->planner->buffers[only->writes[0].buffer].kind != MW__BUFFER_OUTPUT
                   ? MW_OK
                   : emit_step(e, only);
    mw__step **steps = mw__arena_alloc(e->scratch, chain->count, sizeof *steps, e->err);
    uint32_t(*partials)[MW__FUSED_SUMS] = mw__arena_alloc(e->scratch, chain->count, sizeof *partials, e->err);
    if (steps == NULL || partials == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < chain->count; i++) {
        MW_TRY(add_partials(e, chain->items[i].group, partials[i]));
        mark_stored(e, chain->items[i].group);
        steps[i] = make_step(e, chain->items[i].group, partials[i], steps, i);
        if (steps[i] == NULL)
            return MW_ERROR_MEMORY;
    }
    const mw__unit_chain parts = {
        .steps = steps, .count = chain->count, .units = steps[0]->units, .buffers = e->pass->planner->buffers};
    MW_TRY(emit_step(e, chain->count == 1 ? steps[0] : mw__unit_chain_step(e->pass->arena, &parts, e->err)));
    for (size_t i = 0; i < chain->count; i++)
        MW_TRY(emit_column_sums(e, chain->items[i].group, partials[i]));
    return MW_OK;
}

static mw_status emit_all(emitter *e, const mw__fuse_item *items, size_t item_count)
{
    mw__fuse_chain *chains;
    size_t count = 0;
    if (e->readers == NULL || e->stored == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(mw__fuse_find_chains(e->pass, items, item_count, e->scratch, &chains, &count, e->err));
    for (size_t c = 0; c < count; c++)
        for (size_t i = 0; i < chains[c].count; i++)
            count_item(e->readers, &chains[c].items[i]);
    for (size_t c = 0; c < count; c++)
        MW_TRY(emit_chain(e, &chains[c]));
    return MW_OK;
}

mw_status mw__fuse_emit(const mw__pass *pass, const mw__fuse_item *items, size_t count, mw__arena *scratch,
                        mw_error *err)
{
    mw__planner *planner = pass->planner;
    const mw_allocator *allocator = pass->arena->allocator;
    emitter e = {.pass = pass,
                 .scratch = scratch,
                 .readers = mw__arena_alloc(scratch, pass->buffer_count, sizeof(uint32_t), err),
                 .stored = mw__arena_alloc(scratch, pass->buffer_count, sizeof(bool), err),
                 .err = err};
    const mw_status status = emit_all(&e, items, count);
    if (status != MW_OK) {
        mw__free(allocator, e.steps);
        return status;
    }
    mw__free(allocator, planner->steps);
    planner->steps = e.steps, planner->step_count = e.count, planner->step_capacity = e.capacity;
    return MW_OK;
}

/* Decides which element-wise steps become one fusion group. Steps are taken in the order of the text. A fusion group
 * collects steps of one count and split; it is closed, and stands in the new order, as soon as something outside it
 * reads one of its values, so that no order is ever changed for anybody else. */
#include "engine/compile/passes.h"
#include "engine/kernels/fused/fused.h"

#include <string.h>

#define OPEN_GROUPS  8
#define WHOLE_CODE   7
#define WATCHED_CODE 4 /* momentum has as many, Adam's first mean has 3 */
#define NONE         UINT32_MAX

typedef struct open_group {
    mw__step *steps[MW__FUSED_CODE];
    size_t count;
    mw__step *watches[MW__STEP_WRITES]; /* that look at what it makes */
    size_t watch_count;
    mw__element_operand reads[MW__STEP_READS]; /* from outside */
    size_t read_count;
} open_group;

typedef struct fuser {
    mw__arena *arena;
    mw__step **steps; /* the new list, written behind the place that is read */
    size_t count;
    uint32_t *readers; /* by buffer: reads that are still to come, or more than all for an output */
    uint32_t *maker;   /* by buffer: the open fused that computes it */
    bool *stored;      /* by buffer: a step outside its group reads it */
    open_group *open;  /* OPEN_GROUPS */
    uint32_t turn;     /* which one gives way when all are open */
    mw__level level;   /* of the code of fusion groups */
    mw_error *err;
} fuser;

/* ---- closing ---- */

static mw_status close_group(fuser *f, uint32_t index)
{
    open_group *fused = &f->open[index];
    if (fused->count == 0)
        return MW_OK;
    mw__step *step = fused->steps[0];
    for (size_t i = 0; i < fused->count; i++) {
        const uint32_t made = fused->steps[i]->writes[0].buffer;
        f->stored[made] = f->readers[made] > 0;
        f->maker[made] = NONE;
    }
    for (size_t i = 0; i < fused->watch_count; i++)
        f->maker[fused->watches[i]->writes[0].buffer] = NONE;
    const mw__fused_parts parts = {.steps = fused->steps,
                                   .count = fused->count,
                                   .stored = f->stored,
                                   .watches = fused->watches,
                                   .watch_count = fused->watch_count,
                                   .level = f->level};
    if (fused->count + fused->watch_count > 1)
        step = mw__fused_step(f->arena, &parts, f->err);
    if (step == NULL)
        return MW_ERROR_MEMORY;
    f->steps[f->count++] = step;
    fused->count = fused->watch_count = fused->read_count = 0;
    return MW_OK;
}

/* ---- joining ---- */

static bool is_read(const open_group *fused, const mw__element_operand *operand)
{
    for (size_t i = 0; i < fused->read_count; i++)
        if (fused->reads[i].buffer == operand->buffer && fused->reads[i].inner == operand->inner &&
            fused->reads[i].period == operand->period)
            return true;
    return false;
}

/* Reads of `buffer` by this step. */
static uint32_t reads_of(const mw__step *step, uint32_t buffer)
{
    uint32_t count = 0;
    for (size_t i = 0; i < step->read_count; i++)
        count += step->reads[i].buffer == buffer;
    return count;
}

/* Values that would have to be stored if the fusion group were closed after `step`. */
static size_t count_stores(const fuser *f, const open_group *fused, const mw__step *step)
{
    size_t stores = 1 + fused->watch_count; /* its own */
    for (size_t i = 0; i < fused->count; i++) {
        const uint32_t made = fused->steps[i]->writes[0].buffer;
        stores += f->readers[made] > reads_of(step, made);
    }
    return stores;
}

static bool fits(const fuser *f, uint32_t index, const mw__step *step)
{
    const open_group *fused = &f->open[index];
    const mw__element *first = fused->steps[0]->element, *element = step->element;
    if (fused->count == MW__FUSED_CODE || first->count != element->count ||
        first->split.units != element->split.units || first->split.elements != element->split.elements)
        return false;
    size_t reads = fused->read_count;
    for (int i = 0; i < element->operand_count; i++) {
        const mw__element_operand *operand = &element->operand[i];
        const bool inside = f->maker[operand->buffer] == index;
        if (inside && operand->period != element->count)
            return false; /* a value of the group, seen through a broadcast */
        reads += !inside && !is_read(fused, operand);
    }
    return reads <= MW__STEP_READS && count_stores(f, fused, step) <= MW__STEP_WRITES;
}

static bool ends_watched(const open_group *fused)
{
    const uint32_t last = fused->steps[fused->count - 1]->writes[0].buffer;
    return fused->watch_count > 0 && fused->watches[fused->watch_count - 1]->reads[0].buffer == last;
}

/* A long computation of which nothing is left to be read but outputs, or whose last result is watched: an update, say.
 * What is independent of it stays apart, so that the same update is the same fusion group wherever it stands; short
 * ones are worth joining. */
static bool is_whole(const fuser *f, const open_group *fused)
{
    if (ends_watched(fused))
        return fused->count >= WATCHED_CODE;
    for (size_t i = 0; i < fused->count; i++) {
        const uint32_t left = f->readers[fused->steps[i]->writes[0].buffer];
        if (left != 0 && left != NONE)
            return false;
    }
    return fused->count >= WHOLE_CODE;
}

/* The open fusion group that the step joins: one whose values it reads before any other. */
static uint32_t find_group(const fuser *f, const mw__step *step)
{
    uint32_t found = NONE;
    for (uint32_t i = 0; i < OPEN_GROUPS; i++) {
        if (f->open[i].count == 0 || !fits(f, i, step))
            continue;
        for (int operand = 0; operand < step->element->operand_count; operand++)
            if (f->maker[step->element->operand[operand].buffer] == i)
                return i;
        found = found == NONE && !is_whole(f, &f->open[i]) ? i : found;
    }
    return found;
}

/* What the step reads of other open fusion groups must be computed before it. */
static mw_status close_sources(fuser *f, const mw__step *step, uint32_t except)
{
    for (size_t i = 0; i < step->read_count; i++) {
        const uint32_t maker = f->maker[step->reads[i].buffer];
        if (maker != NONE && maker != except)
            MW_TRY(close_group(f, maker));
    }
    return MW_OK;
}

static mw_status find_slot(fuser *f, uint32_t *out)
{
    for (*out = 0; *out < OPEN_GROUPS; ++*out)
        if (f->open[*out].count == 0)
            return MW_OK;
    *out = f->turn++ % OPEN_GROUPS;
    return close_group(f, *out);
}

static void join(fuser *f, uint32_t index, mw__step *step)
{
    open_group *fused = &f->open[index];
    for (int i = 0; i < step->element->operand_count; i++) {
        const mw__element_operand *operand = &step->element->operand[i];
        if (f->maker[operand->buffer] != index && !is_read(fused, operand))
            fused->reads[fused->read_count++] = *operand;
    }
    fused->steps[fused->count++] = step;
    f->maker[step->writes[0].buffer] = index;
}

/* The open fusion group that makes what the step looks at and has room for what it says; NONE if there is none. */
static uint32_t find_watched(const fuser *f, const mw__step *step)
{
    const uint32_t index = step->watch != NULL ? f->maker[step->reads[0].buffer] : NONE;
    if (index == NONE)
        return NONE;
    const open_group *fused = &f->open[index];
    size_t writes = fused->watch_count;
    for (size_t i = 0; i < fused->count; i++)
        writes += f->readers[fused->steps[i]->writes[0].buffer] > 0;
    return writes < MW__STEP_WRITES ? index : NONE;
}

static void watch(fuser *f, uint32_t index, mw__step *step)
{
    open_group *fused = &f->open[index];
    fused->watches[fused->watch_count++] = step;
    f->maker[step->writes[0].buffer] = index;
    if (f->readers[step->reads[0].buffer] != NONE)
        f->readers[step->reads[0].buffer]--;
}

static mw_status take(fuser *f, mw__step *step)
{
    const uint32_t watched = find_watched(f, step);
    if (watched != NONE) {
        watch(f, watched, step);
        return MW_OK;
    }
    uint32_t index = step->element != NULL ? find_group(f, step) : NONE;
    MW_TRY(close_sources(f, step, index));
    for (size_t i = 0; i < step->read_count; i++)
        if (f->readers[step->reads[i].buffer] != NONE)
            f->readers[step->reads[i].buffer]--;
    if (step->element == NULL) {
        f->steps[f->count++] = step;
        return MW_OK;
    }
    if (index == NONE)
        MW_TRY(find_slot(f, &index));
    join(f, index, step);
    return MW_OK;
}

/* ---- the whole ---- */

static void count_readers(fuser *f, const mw__buffer *buffers, size_t buffer_count, size_t step_count)
{
    for (size_t s = 0; s < step_count; s++)
        for (size_t i = 0; i < f->steps[s]->read_count; i++)
            f->readers[f->steps[s]->reads[i].buffer]++;
    for (size_t b = 0; b < buffer_count; b++) {
        f->maker[b] = NONE;
        if (buffers[b].kind == MW__BUFFER_OUTPUT)
            f->readers[b] = NONE;
    }
}

static mw_status fuse_all(fuser *f, size_t step_count)
{
    mw__step **steps = f->steps;
    for (size_t s = 0; s < step_count; s++)
        MW_TRY(take(f, steps[s]));
    for (uint32_t i = 0; i < OPEN_GROUPS; i++)
        MW_TRY(close_group(f, i));
    return MW_OK;
}

mw_status mw__fuse_steps(const mw__pass *pass, mw__step **steps, size_t *step_count, mw_error *err)
{
    const size_t buffer_count = pass->buffer_count;
    mw__arena scratch;
    mw__arena_init(&scratch, pass->arena->allocator);
    fuser f = {.arena = pass->arena,
               .level = pass->config->level,
               .steps = steps,
               .readers = mw__arena_alloc(&scratch, buffer_count, sizeof(uint32_t), err),
               .maker = mw__arena_alloc(&scratch, buffer_count, sizeof(uint32_t), err),
               .stored = mw__arena_alloc(&scratch, buffer_count, sizeof(bool), err),
               .open = mw__arena_alloc(&scratch, OPEN_GROUPS, sizeof(open_group), err),
               .err = err};
    mw_status status = MW_ERROR_MEMORY;
    if (f.readers != NULL && f.maker != NULL && f.stored != NULL && f.open != NULL) {
        count_readers(&f, pass->buffers, buffer_count, *step_count);
        status = fuse_all(&f, *step_count);
        *step_count = status == MW_OK ? f.count : *step_count;
    }
    mw__arena_deinit(&scratch);
    return status;
}

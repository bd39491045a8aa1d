/* Values that are kept from a forward pass for the reverse one fill the memory of a training step. Those that a few
 * cheap element-wise steps make of others that are kept anyway are made again where they are read next, rather than
 * kept: a batch norm's result of its x, a GELU of what it was taken of. The steps are the same, so that the bits are.
 *
 * What is kept is what lies across the place where most bytes are alive. */
#include "engine/compile/passes.h"
#include "engine/core/planner.h"
#include "engine/kernels/fused/fused.h"

#include <string.h>

#define NONE     UINT32_MAX
#define ROUNDS   4           /* each may move the place where most bytes are alive */
#define LEAST    (32 * 1024) /* bytes that are worth a step */
#define SMALL    8           /* so much smaller an operand is kept for what is made of it */
#define RECIPE   8           /* steps that make one value again */
#define CHEAP    64.0        /* additions of an element in them */
#define OPERANDS 2           /* large operands of them */
#define WORTH    5.0         /* see is_worth_it */
#define APART    32          /* steps between what makes a value and what reads it next */

typedef struct redo {
    const mw__pass *pass;
    mw__arena *scratch;
    mw__planner *planner;
    uint32_t *maker; /* by buffer: the only step that writes it; NONE: none or several do */
    uint32_t *last;  /* by buffer: the last step that reads it */
    uint32_t *next;  /* by buffer: the first step behind `top` that does; NONE: none does */
    bool *watched;   /* by buffer: a step looks at it as it is made */
    bool *dropped;   /* by buffer: is made again behind `top` */
    uint32_t *again; /* by buffer: that which takes its place behind `top`; NONE = not yet */
    size_t buffers;  /* as many as these have */
    uint32_t top;    /* the step at which most bytes are alive */
    double bytes;    /* that many, and those of ports and constants */
    double cost;     /* of all steps */
    mw_error *err;
} redo;

/* Steps that make a value again, in order. */
typedef struct recipe {
    uint32_t steps[RECIPE];
    size_t count;
    uint32_t large[OPERANDS];
    size_t large_count;
    double additions;
    uint32_t when; /* the step before which they stand */
} recipe;

/* ---- what is alive ---- */

static void note_lives(const redo *r)
{
    memset(r->maker, 0xff, r->buffers * sizeof *r->maker);
    memset(r->last, 0, r->buffers * sizeof *r->last);
    for (uint32_t s = 0; s < r->planner->step_count; s++) {
        const mw__step *step = r->planner->steps[s];
        for (size_t i = 0; i < step->read_count; i++) {
            r->last[step->reads[i].buffer] = s;
            r->watched[step->reads[i].buffer] = r->watched[step->reads[i].buffer] || mw__step_as_check(step) != NULL;
        }
        for (size_t i = 0; i < step->write_count; i++) {
            uint32_t *maker = &r->maker[step->writes[i].buffer];
            *maker = *maker == NONE ? s : (uint32_t)r->planner->step_count;
        }
    }
}

static bool is_local(const redo *r, uint32_t buffer)
{
    return r->planner->buffers[buffer].kind == MW__BUFFER_LOCAL && r->maker[buffer] < r->planner->step_count;
}

/* By step: by how many bytes what is alive grows there. */
static int64_t *list_changes(redo *r)
{
    int64_t *change = mw__arena_alloc(r->scratch, r->planner->step_count + 1, sizeof *change, r->err);
    for (uint32_t b = 0; change != NULL && b < r->buffers; b++) {
        const mw__buffer *buffer = &r->planner->buffers[b];
        if (buffer->kind == MW__BUFFER_INPUT || buffer->kind == MW__BUFFER_CONSTANT)
            r->bytes += (double)buffer->size;
        if (!is_local(r, b) || r->last[b] < r->maker[b])
            continue;
        change[r->maker[b]] += (int64_t)buffer->size;
        change[r->last[b] + 1] -= (int64_t)buffer->size;
    }
    return change;
}

static mw_status find_top(redo *r)
{
    const int64_t *change = list_changes(r);
    int64_t alive = 0, most = -1;
    if (change == NULL)
        return MW_ERROR_MEMORY;
    for (uint32_t s = 0; s < r->planner->step_count; s++) {
        alive += change[s];
        r->cost += r->planner->steps[s]->cost;
        if (alive > most)
            most = alive, r->top = s;
    }
    r->bytes += (double)most;
    return MW_OK;
}

static void note_next(const redo *r)
{
    memset(r->next, 0xff, r->buffers * sizeof *r->next);
    for (uint32_t s = (uint32_t)r->planner->step_count; s-- > r->top + 1;)
        for (size_t i = 0; i < r->planner->steps[s]->read_count; i++)
            r->next[r->planner->steps[s]->reads[i].buffer] = s;
}

static bool is_kept(const redo *r, uint32_t buffer)
{
    return is_local(r, buffer) && r->maker[buffer] <= r->top && r->next[buffer] != NONE;
}

/* ---- what is made again ---- */

static bool may_repeat(const mw__step *step)
{
    const mw__element *element = mw__step_as_element(step);
    return element != NULL && element->dtype == MW_F32 && step->write_count == 1 && !step->varies;
}

static bool put_large(recipe *out, uint32_t buffer)
{
    for (size_t i = 0; i < out->large_count; i++)
        if (out->large[i] == buffer)
            return true;
    if (out->large_count == OPERANDS)
        return false;
    out->large[out->large_count++] = buffer;
    return true;
}

static bool collect(const redo *r, uint32_t buffer, size_t size, recipe *out);

/* What the recipe reads is there, or is made by it, too. */
static bool collect_operand(const redo *r, uint32_t buffer, size_t size, recipe *out)
{
    if (!is_local(r, buffer) || r->planner->buffers[buffer].size <= size / SMALL)
        return r->planner->buffers[buffer].kind != MW__BUFFER_LOCAL || r->maker[buffer] <= r->top;
    const bool stays = is_kept(r, buffer) && !r->dropped[buffer] && r->last[buffer] >= out->when;
    return stays ? put_large(out, buffer) : collect(r, buffer, size, out);
}

static bool collect(const redo *r, uint32_t buffer, size_t size, recipe *out)
{
    const mw__step *step = r->planner->steps[r->maker[buffer]];
    for (size_t i = 0; i < out->count; i++)
        if (out->steps[i] == r->maker[buffer])
            return true;
    if (!may_repeat(step) || r->maker[buffer] > r->top)
        return false;
    for (size_t i = 0; i < step->read_count; i++)
        if (!collect_operand(r, step->reads[i].buffer, size, out))
            return false;
    out->additions += mw__step_as_element(step)->additions;
    if (out->count == RECIPE || out->additions > CHEAP)
        return false;
    out->steps[out->count++] = r->maker[buffer];
    return true;
}

/* The part of the time that it takes is much smaller than the part of memory that it gives back. Elements between the
 * recipe's steps stay in tiles. */
static bool is_worth_it(const redo *r, uint32_t buffer, const recipe *found)
{
    const double size = (double)r->planner->buffers[buffer].size;
    const double cost = mw__cost(size * (double)(1 + found->large_count), size / sizeof(float) * found->additions);
    return cost * r->bytes * WORTH <= size * r->cost;
}

static bool find_recipe(const redo *r, uint32_t buffer, recipe *out)
{
    *out = (recipe){.when = r->next[buffer]};
    return collect(r, buffer, r->planner->buffers[buffer].size, out);
}

static bool may_drop(const redo *r, uint32_t buffer)
{
    recipe found;
    return is_kept(r, buffer) && !r->watched[buffer] && r->next[buffer] - r->maker[buffer] >= APART &&
           r->planner->buffers[buffer].size >= LEAST && find_recipe(r, buffer, &found) &&
           is_worth_it(r, buffer, &found);
}

/* In the order in which they are made: of what is dropped later values are made of what it is made of. */
static bool choose(const redo *r)
{
    bool any = false;
    for (uint32_t s = 0; s <= r->top; s++) {
        const mw__step *step = r->planner->steps[s];
        if (!may_repeat(step))
            continue;
        const uint32_t buffer = step->writes[0].buffer;
        r->dropped[buffer] = may_drop(r, buffer);
        any = any || r->dropped[buffer];
    }
    return any;
}

/* ---- the new steps ---- */

typedef struct rewriter {
    const redo *r;
    mw__step **steps;
    size_t count;
    uint32_t *here; /* by buffer: made again before the step at work; NONE = not */
    uint32_t *made; /* the buffers of which `here` says so */
    size_t made_count;
} rewriter;

static uint32_t replaced(const uint32_t *by, uint32_t buffer) { return by[buffer] != NONE ? by[buffer] : buffer; }

/* They are its own afterwards. */
static mw_status rename_operands(const redo *r, mw__step *step, const uint32_t *by)
{
    mw__element *element = mw__arena_alloc(r->pass->arena, 1, sizeof *element, r->err);
    if (element == NULL)
        return MW_ERROR_MEMORY;
    *element = *mw__step_as_element(step);
    for (int i = 0; i < element->operand_count; i++)
        element->operand[i].buffer = replaced(by, element->operand[i].buffer);
    step->fusion.as.element = element;
    return MW_OK;
}

static mw_status rename_reads(const redo *r, mw__step *step, const uint32_t *by)
{
    if (mw__step_as_element(step) != NULL)
        MW_TRY(rename_operands(r, step, by));
    for (size_t i = 0; i < step->read_count; i++)
        step->reads[i].buffer = replaced(by, step->reads[i].buffer);
    return MW_OK;
}

static mw_status repeat_step(rewriter *w, uint32_t maker)
{
    const redo *r = w->r;
    const mw__step *step = r->planner->steps[maker];
    const uint32_t made = step->writes[0].buffer;
    mw__step *copy = mw__step_copy(r->pass->arena, step, r->err);
    if (copy == NULL || rename_reads(r, copy, w->here) != MW_OK)
        return MW_ERROR_MEMORY;
    w->here[made] = mw__planner_add_buffer(
        r->planner, (mw__buffer){.kind = MW__BUFFER_LOCAL, .size = r->planner->buffers[made].size, .maker = copy});
    copy->writes[0].buffer = w->here[made];
    w->made[w->made_count++] = made;
    w->steps[w->count++] = copy;
    return mw__plan_check(r->planner, r->err);
}

static mw_status make_again(rewriter *w, uint32_t buffer)
{
    recipe found;
    find_recipe(w->r, buffer, &found);
    for (size_t i = 0; i < found.count; i++)
        if (w->here[w->r->planner->steps[found.steps[i]]->writes[0].buffer] == NONE)
            MW_TRY(repeat_step(w, found.steps[i]));
    w->r->again[buffer] = w->here[buffer];
    return MW_OK;
}

static mw_status rewrite_step(rewriter *w, mw__step *step)
{
    const redo *r = w->r;
    bool any = false;
    for (size_t i = 0; i < step->read_count; i++) {
        const uint32_t buffer = step->reads[i].buffer;
        if (buffer >= r->buffers || !r->dropped[buffer])
            continue;
        any = true;
        if (r->again[buffer] == NONE)
            MW_TRY(make_again(w, buffer));
    }
    while (w->made_count > 0)
        w->here[w->made[--w->made_count]] = NONE;
    if (any)
        MW_TRY(rename_reads(r, step, r->again));
    w->steps[w->count++] = step;
    return MW_OK;
}

/* How many steps there may be then. */
static size_t count_repeated(const redo *r)
{
    size_t count = 0;
    for (uint32_t b = 0; b < r->buffers; b++)
        count += r->dropped[b] ? RECIPE : 0;
    return count;
}

static mw_status put_steps(redo *r, const rewriter *w)
{
    mw__planner *planner = r->planner;
    MW_TRY(mw__grow(planner->arena->allocator, &planner->steps, &planner->step_capacity, w->count, sizeof(mw__step *),
                    r->err));
    memcpy(planner->steps, w->steps, w->count * sizeof(mw__step *));
    planner->step_count = w->count;
    return MW_OK;
}

static mw_status rewrite(redo *r)
{
    const size_t before = r->planner->step_count;
    rewriter w = {.r = r,
                  .steps = mw__arena_alloc(r->scratch, before + count_repeated(r), sizeof(mw__step *), r->err),
                  .here = mw__arena_alloc(r->scratch, r->buffers, sizeof *w.here, r->err),
                  .made = mw__arena_alloc(r->scratch, r->buffers, sizeof *w.made, r->err)};
    if (w.steps == NULL || w.here == NULL || w.made == NULL)
        return MW_ERROR_MEMORY;
    memset(w.here, 0xff, r->buffers * sizeof *w.here);
    memset(r->again, 0xff, r->buffers * sizeof *r->again);
    for (uint32_t s = 0; s < before; s++)
        if (s <= r->top)
            w.steps[w.count++] = r->planner->steps[s];
        else
            MW_TRY(rewrite_step(&w, r->planner->steps[s]));
    return put_steps(r, &w);
}

/* ---- the whole ---- */

static mw_status make_room(redo *r)
{
    const size_t count = r->buffers = r->planner->buffer_count;
    r->maker = mw__arena_alloc(r->scratch, count, sizeof *r->maker, r->err);
    r->last = mw__arena_alloc(r->scratch, count, sizeof *r->last, r->err);
    r->next = mw__arena_alloc(r->scratch, count, sizeof *r->next, r->err);
    r->again = mw__arena_alloc(r->scratch, count, sizeof *r->again, r->err);
    r->watched = mw__arena_alloc(r->scratch, count, sizeof *r->watched, r->err);
    r->dropped = mw__arena_alloc(r->scratch, count, sizeof *r->dropped, r->err);
    const bool all = r->maker != NULL && r->last != NULL && r->next != NULL && r->again != NULL && r->watched != NULL &&
                     r->dropped != NULL;
    return all ? MW_OK : MW_ERROR_MEMORY;
}

static mw_status run_round(redo *r, bool *out_any)
{
    MW_TRY(make_room(r));
    note_lives(r);
    MW_TRY(find_top(r));
    note_next(r);
    *out_any = choose(r);
    return *out_any ? rewrite(r) : MW_OK;
}

mw_status mw__plan_redo_steps(const mw__pass *pass, mw_error *err)
{
    mw_status status = MW_OK;
    bool any = pass->planner->step_count > 0;
    for (int round = 0; round < ROUNDS && any && status == MW_OK; round++) {
        mw__arena scratch;
        mw__arena_init(&scratch, pass->arena->allocator);
        redo r = {.pass = pass, .scratch = &scratch, .planner = pass->planner, .err = err};
        status = run_round(&r, &any);
        mw__arena_deinit(&scratch);
    }
    return status;
}

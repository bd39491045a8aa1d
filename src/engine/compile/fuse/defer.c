/* Gradients wait for the flag of a training step, which is made of all of them, and so all are in memory at once. A
 * large one that is a product of two smaller tensors is computed behind the flag instead, where its update is the only
 * one to read it: of the factors is told whether it is within its limit (kernels/within_factors.c). */
#include "engine/compile/fuse/ways.h"
#include "engine/core/planner.h"
#include "engine/kernels/reduce/within.h"

#include <string.h>

#define NONE UINT32_MAX

typedef struct deferrer {
    const mw__pass *pass;
    mw__step **steps; /* the planner's */
    size_t count;
    uint32_t *maker;  /* by buffer: the only step that writes it; NONE: none or several do */
    uint32_t *reader; /* by buffer: the first step that reads it and is no watch */
    uint8_t *watches; /* by buffer: 0, 1, more */
    uint32_t *target; /* by step: before which step it goes; NONE: it stays */
    uint32_t gate;    /* the last watch */
    mw_error *err;
} deferrer;

static void note_step(deferrer *d, uint32_t s)
{
    const mw__step *step = d->steps[s];
    for (size_t i = 0; i < step->write_count; i++) {
        uint32_t *maker = &d->maker[step->writes[i].buffer];
        *maker = *maker == NONE ? s : (uint32_t)d->count; /* of several, none */
    }
    for (size_t i = 0; i < step->read_count; i++) {
        const uint32_t buffer = step->reads[i].buffer;
        if (step->fusion.kind == MW__STEP_CHECK)
            d->watches[buffer] = d->watches[buffer] == 0 ? 1 : 2;
        else if (d->reader[buffer] == NONE)
            d->reader[buffer] = s;
    }
    d->gate = step->fusion.kind == MW__STEP_CHECK ? s : d->gate;
}

static bool is_local(const deferrer *d, uint32_t buffer)
{
    return d->pass->planner->buffers[buffer].kind == MW__BUFFER_LOCAL && d->maker[buffer] < d->count;
}

/* The factors live on in its place: they should be much smaller. */
static bool is_worth_it(const deferrer *d, const mw__step *product)
{
    const mw__buffer *buffers = d->pass->planner->buffers;
    const size_t factors = buffers[product->reads[0].buffer].size + buffers[product->reads[1].buffer].size;
    const mw__fuse_terms terms = {
        .saved = (double)buffers[product->writes[0].buffer].size, .held = (double)factors, .fewer = 1.0};
    return mw__fuse_pays(d->pass->weights, &terms);
}

/* The product whose result the step at `s` watches, if it can wait. */
static mw__step *find_product(const deferrer *d, uint32_t s)
{
    const mw__step *watch = d->steps[s];
    const uint32_t buffer = watch->fusion.kind == MW__STEP_CHECK ? watch->reads[0].buffer : 0;
    if (watch->fusion.kind != MW__STEP_CHECK || !is_local(d, buffer) || d->watches[buffer] != 1 ||
        d->reader[buffer] == NONE || d->reader[buffer] < d->gate)
        return NULL;
    mw__step *product = d->steps[d->maker[buffer]];
    return product->fusion.kind == MW__STEP_PRODUCT && product->grain == 1 && product->write_count == 1 &&
                   product->read_count == 2 && product->writes[0].access == MW__ROWS &&
                   is_local(d, product->reads[0].buffer) && is_local(d, product->reads[1].buffer) &&
                   is_worth_it(d, product)
               ? product
               : NULL;
}

static mw_status defer_one(deferrer *d, uint32_t s)
{
    const mw__step *product = find_product(d, s);
    if (product == NULL)
        return MW_OK;
    const uint32_t buffer = product->writes[0].buffer;
    mw__step *step = mw__finite_check_factors(d->pass->arena, product, d->steps[s], d->pass->config->level, d->err);
    if (step == NULL)
        return MW_ERROR_MEMORY;
    d->steps[s] = step;
    d->target[d->maker[buffer]] = d->reader[buffer];
    return MW_OK;
}

/* Each product goes before the step that reads it; of several that one step reads, the first in the text first. */
static mw_status move(const deferrer *d, mw__arena *scratch)
{
    mw__step **moved = mw__arena_alloc(scratch, d->count, sizeof *moved, d->err);
    uint32_t *first = mw__arena_alloc(scratch, d->count, sizeof *first, d->err);
    uint32_t *next = mw__arena_alloc(scratch, d->count, sizeof *next, d->err);
    if (moved == NULL || first == NULL || next == NULL)
        return MW_ERROR_MEMORY;
    memset(first, 0xff, d->count * sizeof *first);
    for (uint32_t s = (uint32_t)d->count; s-- > 0;)
        if (d->target[s] != NONE) {
            next[s] = first[d->target[s]];
            first[d->target[s]] = s;
        }
    size_t to = 0;
    for (uint32_t s = 0; s < d->count; s++) {
        for (uint32_t product = first[s]; product != NONE; product = next[product])
            moved[to++] = d->steps[product];
        if (d->target[s] == NONE)
            moved[to++] = d->steps[s];
    }
    memcpy(d->steps, moved, d->count * sizeof *moved);
    return MW_OK;
}

static mw_status run_deferral(deferrer *d, mw__arena *scratch)
{
    const size_t buffers = d->pass->buffer_count;
    d->maker = mw__arena_alloc(scratch, buffers, sizeof *d->maker, d->err);
    d->reader = mw__arena_alloc(scratch, buffers, sizeof *d->reader, d->err);
    d->watches = mw__arena_alloc(scratch, buffers, sizeof *d->watches, d->err);
    d->target = mw__arena_alloc(scratch, d->count, sizeof *d->target, d->err);
    if (d->maker == NULL || d->reader == NULL || d->watches == NULL || d->target == NULL)
        return MW_ERROR_MEMORY;
    memset(d->maker, 0xff, buffers * sizeof *d->maker);
    memset(d->reader, 0xff, buffers * sizeof *d->reader);
    memset(d->target, 0xff, d->count * sizeof *d->target);
    for (uint32_t s = 0; s < d->count; s++)
        note_step(d, s);
    for (uint32_t s = 0; s < d->count; s++)
        MW_TRY(defer_one(d, s));
    return move(d, scratch);
}

mw_status mw__fuse_deferred(const mw__pass *pass, mw_error *err)
{
    deferrer d = {.pass = pass, .steps = pass->planner->steps, .count = pass->planner->step_count, .err = err};
    mw__arena scratch;
    if (d.count == 0)
        return MW_OK;
    mw__arena_init(&scratch, pass->arena->allocator);
    const mw_status status = run_deferral(&d, &scratch);
    mw__arena_deinit(&scratch);
    return status;
}

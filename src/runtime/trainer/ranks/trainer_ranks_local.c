/* Ranks that train by themselves and synchronize after some batches: their parameters become the mean, or what an outer
 * optimizer makes of the way since they synchronized last. */
#include "base/number/types.h"
#include "runtime/program/program_object.h"
#include "runtime/trainer/build/trainer_state.h"
#include "runtime/trainer/ranks/trainer_ranks.h"
#include "runtime/trainer/step/trainer_step.h"

#include <stdio.h>
#include <string.h>

/* ---- making ---- */

static mw_status add_local_state(mw__trainer_build *b, const char *name, bool trained, mw_error *err)
{
    mw_trainer *t = b->trainer;
    mw__trainer_ranks *r = t->ranks;
    mw__state_entry *entry = mw__state_find(&t->owner.state, name);
    if (entry == NULL || (entry->dtype != MW_F32 && entry->dtype != MW_F16))
        return MW_OK;
    mw__synchronized *synchronized = &r->synchronized[r->synchronized_count++];
    *synchronized = (mw__synchronized){.entry = (size_t)(entry - t->owner.state.entries),
                                       .count = (size_t)mw_shape_count(entry->shape)};
    if (synchronized->count > r->scratch_count)
        r->scratch_count = synchronized->count;
    if (!trained || (r->outer_rate == 1.0 && r->outer_momentum == 0.0))
        return MW_OK;
    synchronized->anchor = mw__arena_alloc(&t->arena, synchronized->count, sizeof *synchronized->anchor, err);
    synchronized->momentum = mw__arena_alloc(&t->arena, synchronized->count, sizeof *synchronized->momentum, err);
    return synchronized->anchor != NULL && synchronized->momentum != NULL ? MW_OK : MW_ERROR_MEMORY;
}

static mw_status add_average(mw__trainer_build *b, const char *parameter, mw_error *err)
{
    const char *name = mw__trainer_join(b, parameter, MW__AVERAGE, "", err);
    return name != NULL ? add_local_state(b, name, false, err) : MW_ERROR_MEMORY;
}

static mw_status plan_averages(mw__trainer_build *b, mw_error *err)
{
    mw_trainer *t = b->trainer;
    mw__trainer_ranks *r = t->ranks;
    r->synchronized = mw__arena_alloc(&t->arena, 2 * b->count + b->state_count + 1, sizeof *r->synchronized, err);
    if (r->synchronized == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < b->count; i++) {
        MW_TRY(add_local_state(b, b->parameters[i]->name, true, err));
        MW_TRY(add_average(b, b->parameters[i]->name, err));
    }
    MW_TRY(mw__trainer_list_generators(b, err));
    for (size_t i = 0; i < b->state_count; i++)
        if (!mw__trainer_draws(t, b->states[i]->name))
            MW_TRY(add_local_state(b, b->states[i]->name, false, err));
    r->scratch = mw__arena_alloc(&t->arena, r->scratch_count + 1, sizeof *r->scratch, err);
    return r->scratch != NULL ? MW_OK : MW_ERROR_MEMORY;
}

/* ---- synchronizing ---- */

static void read_entry(const mw__state_entry *entry, float *out, size_t count)
{
    const size_t size = entry->dtype == MW_F16 ? 2 : 4;
    for (size_t i = 0; i < count; i++)
        out[i] = mw__trainer_scalar_read((const char *)entry->data + i * size, entry->dtype);
}

static void write_entry(const mw__state_entry *entry, const float *x, size_t count)
{
    const size_t size = entry->dtype == MW_F16 ? 2 : 4;
    for (size_t i = 0; i < count; i++)
        mw__trainer_scalar_write((char *)entry->data + i * size, entry->dtype, x[i]);
}

/* All ranks have the same parameters: from here the next way is measured. */
void mw__trainer_set_anchors(mw_trainer *t)
{
    mw__trainer_ranks *r = t->ranks;
    for (size_t i = 0; i < r->synchronized_count; i++)
        if (r->synchronized[i].anchor != NULL)
            read_entry(&t->owner.state.entries[r->synchronized[i].entry], r->synchronized[i].anchor,
                       r->synchronized[i].count);
}

/* SGD with Nesterov's momentum on the way d = a - mean:  m = momentum m + d,  p = a - rate (d + momentum m). */
static void step_outside(const mw__trainer_ranks *r, const mw__synchronized *synchronized, float *mean)
{
    const float rate = (float)r->outer_rate, momentum = (float)r->outer_momentum;
    for (size_t i = 0; i < synchronized->count; i++) {
        const float d = synchronized->anchor[i] - mean[i];
        synchronized->momentum[i] = momentum * synchronized->momentum[i] + d;
        mean[i] = synchronized->anchor[i] - rate * (d + momentum * synchronized->momentum[i]);
    }
}

static mw_status synchronize_one(mw_trainer *t, const mw__synchronized *synchronized, mw_error *err)
{
    mw__trainer_ranks *r = t->ranks;
    mw__state_entry *entry = &t->owner.state.entries[synchronized->entry];
    const float share = 1.0f / (float)mw__communicator_size(r->communicator);
    read_entry(entry, r->scratch, synchronized->count);
    MW_TRY(mw__ranks_allreduce(r->communicator, r->scratch, synchronized->count, MW_F32, err));
    for (size_t i = 0; i < synchronized->count; i++)
        r->scratch[i] *= share;
    if (synchronized->anchor != NULL)
        step_outside(r, synchronized, r->scratch);
    write_entry(entry, r->scratch, synchronized->count);
    if (synchronized->anchor != NULL)
        read_entry(entry, synchronized->anchor, synchronized->count);
    mw__trainer_drop_low(t, entry);
    return MW_OK;
}

static mw_status synchronize_all(mw_trainer *t, mw_error *err)
{
    mw__trainer_ranks *r = t->ranks;
    MW_TRY(mw__trainer_gather_records(t, &(mw_error){0}, err));
    if (mw__trainer_any_unequal(r)) {
        MW_TRY(mw__trainer_equalize(t, err));
        return MW_OK;
    }
    for (size_t i = 0; i < r->synchronized_count; i++)
        MW_TRY(synchronize_one(t, &r->synchronized[i], err));
    return mw__trainer_send_generators(t, err);
}

static mw_status synchronize(mw_trainer *t, mw_error *err)
{
    mw__trainer_ranks *r = t->ranks;
    if (r->local_batches == 0)
        return MW_OK;
    MW_TRY(mw__communicator_check(r->communicator, "the trainer", err));
    r->local_batches = 0;
    return mw__communicator_end(r->communicator, synchronize_all(t, err), err);
}

/* ---- the strategy ---- */

/* Behind a step of this rank with that status. If it was refused, all end: the others would wait for this rank when
 * they synchronize. */
static mw_status finish_step(mw_trainer *t, mw_status status, mw_error *err)
{
    mw__trainer_ranks *r = t->ranks;
    if (status != MW_OK)
        return mw__communicator_end(r->communicator, status, err);
    mw__trainer_skip_generators(t, (uint64_t)mw__communicator_size(r->communicator) - 1);
    r->local_batches++;
    return r->local_batches == (int64_t)r->local_steps * t->numbers.accumulate ? synchronize(t, err) : MW_OK;
}

/* Whatever this rank fails with, the others learn. */
static mw_status step_local(mw_trainer *t, const mw_batch *batch, float *out_loss, mw_error *err)
{
    mw_error local = {0};
    MW_TRY(mw__communicator_check(t->ranks->communicator, "mw_trainer_step", err));
    const mw_status status = finish_step(t, mw__trainer_step_alone(t, batch, out_loss, &local), &local);
    if (status != MW_OK && err != NULL)
        *err = local;
    return status;
}

const mw__trainer_strategy mw__trainer_local_steps = {.name = "local steps",
                                                      .resolve = plan_averages,
                                                      .step = step_local,
                                                      .synchronize = synchronize,
                                                      .leave = mw__trainer_leave_ranks};

/* Several steps by one dispatch: every slot has inputs and results of its own, all work on the same state. */
#include "base/number/float_mode.h"
#include "runtime/dispatch/dispatch.h"
#include "runtime/trainer/build/trainer_state.h"
#include "runtime/trainer/step/trainer_compare.h"
#include "runtime/trainer/step/trainer_step.h"

#include <string.h>

/* ---- making the slots ---- */

static mw_status make_staged(mw_trainer *t, mw_error *err)
{
    const mw_program *program = t->step.program;
    t->many.staged = mw__arena_alloc(&t->arena, t->many.count * program->input_count, sizeof(void *), err);
    for (size_t i = 0; t->many.staged != NULL && i < t->many.count * program->input_count; i++) {
        const mw__port_place *place = &program->places[i % program->input_count];
        if (!place->staged)
            continue;
        t->many.staged[i] = mw__arena_alloc(&t->arena, place->whole.size, 1, err);
        if (t->many.staged[i] == NULL)
            return MW_ERROR_MEMORY;
    }
    return t->many.staged != NULL ? MW_OK : MW_ERROR_MEMORY;
}

/* The ports of the feeder of one slot are those of the step with other memory. */
static mw_status copy_feeder(mw_trainer *t, size_t slot, mw_error *err)
{
    const mw__feeder *source = &t->step.feeder;
    mw__feeder *feeder = &t->many.feeders[slot];
    feeder->ports = mw__arena_alloc(&t->arena, source->count, sizeof *feeder->ports, err);
    if (feeder->ports == NULL)
        return MW_ERROR_MEMORY;
    memcpy(feeder->ports, source->ports, source->count * sizeof *feeder->ports);
    feeder->count = source->count;
    for (size_t i = 0; i < feeder->count; i++) {
        const size_t port = mw__program_find(t->step.program, feeder->ports[i].name);
        feeder->ports[i].data = mw__trainer_slot_data(t, slot, port);
    }
    return MW_OK;
}

mw_status mw__trainer_make_slots(mw_trainer *t, size_t count, mw_error *err)
{
    const mw_program *program = t->step.program;
    const size_t ports = mw__dispatch_port_count(program->dispatch);
    const mw__device_buffer **bound = mw__arena_alloc(&t->arena, ports, sizeof *bound, err);
    t->many.feeders = mw__arena_alloc(&t->arena, count, sizeof *t->many.feeders, err);
    if (bound == NULL || t->many.feeders == NULL)
        return MW_ERROR_MEMORY;
    mw__device_buffer unused;
    for (size_t i = 0; i < program->port_count; i++)
        for (size_t k = 0; k < program->places[i].count; k++)
            if (mw__trainer_bind(t, &program->ports[i], &unused))
                bound[program->places[i].first + k] =
                    mw__dispatch_buffer(program->dispatch, program->places[i].first + k);
    t->many.series = mw__series_create(program->dispatch, count, bound, err);
    if (t->many.series == NULL)
        return mw__status_or(err, MW_ERROR_DEVICE);
    t->many.count = count;
    MW_TRY(make_staged(t, err));
    for (size_t slot = 0; slot < count; slot++)
        MW_TRY(copy_feeder(t, slot, err));
    return MW_OK;
}

/* ---- running them ---- */

/* The first run of a library that must prove its aliasing is one step, and so is one that is compared. */
size_t mw__trainer_slots(const mw_trainer *t)
{
    return t->step.shadow == NULL && !mw__trainer_compares(t) ? t->many.count : 0;
}

mw_status mw__trainer_stage(mw_trainer *t, size_t slot, const mw_batch *batch, mw_error *err)
{
    const int64_t step = t->progress.steps + 1 + (int64_t)slot;
    MW_TRY(mw__trainer_check_batch(t, batch, err));
    MW_TRY(mw__trainer_feed(t, &t->many.feeders[slot], batch, step, err));
    for (size_t i = 0; i < t->optimizer.scalar_count; i++) {
        const mw__trainer_scalar *scalar = &t->optimizer.scalars[i];
        MW_TRY(mw__trainer_write_scalar(t, scalar, mw__trainer_slot_data(t, slot, scalar->port), step, err));
    }
    return MW_OK;
}

static void show_port(mw_trainer *t, size_t slot, size_t port)
{
    const mw_program *program = t->step.program;
    const size_t bits = (size_t)mw_dtype_bits(program->ports[port].dtype);
    memcpy(mw__program_data(program, port), mw__trainer_slot_data(t, slot, port),
           mw__program_elements(program, port) * bits / 8);
}

/* What was fed to a slot becomes what was fed to the step, so that it can be run again to see what was wrong. */
static void show_slot(mw_trainer *t, size_t slot)
{
    for (size_t i = 0; i < t->step.feeder.count; i++)
        show_port(t, slot, mw__program_find(t->step.program, t->step.feeder.ports[i].name));
    for (size_t i = 0; i < t->optimizer.scalar_count; i++)
        show_port(t, slot, t->optimizer.scalars[i].port);
}

/* Steps behind a refused one have run too; the first refusal is what is reported. */
static mw_status commit_result(mw_trainer *t, size_t slot, const mw_batch *batch, float *out_loss, mw_error *err)
{
    const mw_port *ports = t->step.program->ports;
    const mw__step_result result = {
        .loss =
            mw__trainer_scalar_read(mw__trainer_slot_data(t, slot, t->step.loss_port), ports[t->step.loss_port].dtype),
        .ok = mw__trainer_scalar_read(mw__trainer_slot_data(t, slot, t->step.ok_port), ports[t->step.ok_port].dtype)};
    if (result.ok != 1.0f)
        show_slot(t, slot);
    return mw__trainer_commit(t, &t->step, batch, &result, out_loss, err);
}

typedef struct slot_of {
    const mw__series *series;
    size_t index;
} slot_of;

static void *part_data(const void *user, size_t port)
{
    const slot_of *slot = user;
    return mw__series_data(slot->series, slot->index, port);
}

/* What was fed into copied parts goes there. */
static mw_status push_slots(mw_trainer *t, mw_error *err)
{
    const mw_program *program = t->step.program;
    for (size_t slot = 0; program->staged && slot < t->many.count; slot++) {
        const slot_of of = {t->many.series, slot};
        for (size_t i = 0; i < program->input_count; i++)
            if (program->places[i].staged)
                MW_TRY(mw__place_push(&program->places[i], &program->ports[i], mw__trainer_slot_data(t, slot, i),
                                      part_data, &of, err));
    }
    return MW_OK;
}

mw_status mw__trainer_run_slots(mw_trainer *t, const mw_batch *batches, float *out_losses, mw_error *err)
{
    MW_TRY(push_slots(t, err));
    MW_TRY(mw__series_execute(t->many.series, err));
    mw_error later = {0};
    mw_status status = MW_OK;
    t->progress.last_in_slot = true;
    for (size_t slot = 0; slot < t->many.count; slot++) {
        static const mw_batch unknown = {0};
        const mw_batch *batch = batches != NULL ? &batches[slot] : &unknown;
        const mw_status now = commit_result(t, slot, batch, out_losses != NULL ? &out_losses[slot] : NULL,
                                            status == MW_OK ? err : &later);
        status = status == MW_OK ? now : status;
        later = (mw_error){0};
    }
    return status;
}

static mw_status run_chunk(mw_trainer *t, const mw_batch *batches, float *out_losses, mw_error *err)
{
    for (size_t slot = 0; slot < t->many.count; slot++)
        MW_TRY(mw__trainer_stage(t, slot, &batches[slot], err));
    return mw__trainer_run_slots(t, batches, out_losses, err);
}

static mw_status step_many(mw_trainer *trainer, const mw_batch *batches, size_t count, float *out_losses, mw_error *err)
{
    if (trainer == NULL || (batches == NULL && count > 0))
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_trainer_step_many: %s",
                        trainer == NULL ? "no trainer" : "no batches");
    for (size_t i = 0; out_losses != NULL && i < count; i++)
        out_losses[i] = 0.0f;
    for (size_t done = 0; done < count;) {
        const size_t slots = mw__trainer_slots(trainer);
        float *losses = out_losses != NULL ? out_losses + done : NULL;
        const bool chunk = slots > 0 && count - done >= slots;
        MW_TRY(mw__trainer_check_alive(trainer, err));
        MW_TRY(chunk ? run_chunk(trainer, batches + done, losses, err)
                     : mw_trainer_step(trainer, batches + done, losses, err));
        done += chunk ? slots : 1;
    }
    return MW_OK;
}

mw_status mw_trainer_step_many(mw_trainer *trainer, const mw_batch *batches, size_t count, float *out_losses,
                               mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return err->status;
    mw__entry entry;
    MW_TRY(mw__trainer_enter(&entry, trainer, __func__, MW__LENT_NEVER, err));
    return mw__trainer_leave(&entry, step_many(trainer, batches, count, out_losses, err), err);
}

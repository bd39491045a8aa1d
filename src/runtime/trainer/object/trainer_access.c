/* What other parts read of a trainer. */
#include "runtime/trainer/object/trainer_access.h"

#include "runtime/trainer/object/trainer_object.h"

mw_status mw__trainer_check_alive(const mw_trainer *t, mw_error *err)
{
    if (t->health == MW__TRAINER_TORN)
        return mw__fail(err, MW_ERROR_STATE,
                        "the trainer's parameters are of two steps, as the ranks were cut off while they exchanged "
                        "them: go on from a checkpoint");
    if (t->health == MW__TRAINER_SOUND)
        return MW_OK;
    return mw__fail(err, MW_ERROR_STATE, "the trainer is dead: its first step gave wrong state (%s)",
                    t->step.program->where);
}

mw_status mw__trainer_synchronize(mw_trainer *t, mw_error *err)
{
    return t->strategy->synchronize != NULL ? t->strategy->synchronize(t, err) : MW_OK;
}

/* A dead one would put wrong state into files, or learn nothing from them. */
mw_status mw__trainer_check_path(const mw_trainer *trainer, const char *path, const char *call, mw_error *err)
{
    if (trainer == NULL || path == NULL || path[0] == '\0')
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: no %s", call, trainer == NULL ? "trainer" : "path");
    return mw__trainer_check_alive(trainer, err);
}

mw__state_set *mw__trainer_state(mw_trainer *trainer) { return &trainer->owner.state; }

const mw_allocator *mw__trainer_allocator(const mw_trainer *trainer) { return trainer->allocator; }

const struct mw__lock *mw__trainer_lock(const mw_trainer *trainer) { return trainer->fit.lock; }

void mw__trainer_set_steps(mw_trainer *trainer, int64_t steps, int accumulated)
{
    trainer->progress.steps = steps;
    trainer->progress.accumulated = accumulated;
    trainer->progress.divergence = (mw__divergence_detector){0}; /* of another run */
}

int mw__trainer_accumulate(const mw_trainer *trainer) { return trainer->numbers.accumulate; }

int mw__trainer_accumulated(const mw_trainer *trainer) { return trainer->progress.accumulated; }

uint64_t mw__trainer_seed(const mw_trainer *trainer) { return trainer->compile.seed; }

void mw__trainer_count_state(mw_trainer *trainer, size_t bytes_in, size_t bytes_out)
{
    trainer->progress.unequal = trainer->progress.unequal || bytes_in > 0;
    trainer->progress.counters.state_bytes_in += bytes_in;
    trainer->progress.counters.state_bytes_out += bytes_out;
}

int64_t mw__trainer_batch(const mw_trainer *trainer) { return trainer->progress.batch; }

const char *mw__trainer_description(const mw_trainer *trainer) { return trainer->record.description; }

/* What is fed into copied parts is kept aside until it is run. */
void *mw__trainer_slot_data(const mw_trainer *t, size_t slot, size_t port)
{
    const mw__port_place *place = &t->step.program->places[port];
    return place->staged ? t->many.staged[slot * t->step.program->input_count + port]
                         : mw__series_data(t->many.series, slot, place->first);
}

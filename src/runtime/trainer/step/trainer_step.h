/* One step, and several by one dispatch. */
#ifndef MW__RUNTIME_TRAINER_STEP_TRAINER_STEP_H
#define MW__RUNTIME_TRAINER_STEP_TRAINER_STEP_H

#include "runtime/trainer/object/trainer_object.h"

float mw__trainer_scalar_read(const void *data, mw_dtype dtype);
void mw__trainer_scalar_write(void *data, mw_dtype dtype, float value);
float mw__trainer_read_scalar(const mw_program *program, size_t port);
/* All scalars of the update. */
mw_status mw__trainer_write_scalars(mw_trainer *trainer, int64_t step, mw_error *err);
mw_status mw__trainer_check_batch(const mw_trainer *trainer, const mw_batch *batch, mw_error *err);
mw_status mw__trainer_feed(mw_trainer *trainer, mw__feeder *feeder, const mw_batch *batch, int64_t step, mw_error *err);
mw_status mw__trainer_write_scalar(mw_trainer *trainer, const mw__trainer_scalar *scalar, void *data, int64_t step,
                                   mw_error *err);
typedef struct mw__step_result {
    float loss, ok;
} mw__step_result;
/* Counts what a pass has done, or fails with the reason of its refusal. */
mw_status mw__trainer_commit(mw_trainer *trainer, const mw__trainer_pass *pass, const mw_batch *batch,
                             const mw__step_result *result, float *out_loss, mw_error *err);
/* The same of a step of several ranks, whose batches were all good: what the update made of it. */
mw_status mw__trainer_commit_ranks(mw_trainer *trainer, bool updates, const mw_batch *batch,
                                   const mw__step_result *result, float *out_loss, mw_error *err);

/* The trainer whose inputs have the sizes of the batch: a variant, or this one if none has. */
mw_trainer *mw__trainer_variant_for(mw_trainer *trainer, const mw_batch *batch);

/* A step of this rank, without any other. */
mw_status mw__trainer_step_alone(mw_trainer *trainer, const mw_batch *batch, float *out_loss, mw_error *err);

/* ---- trainer_many.c ---- */

mw_status mw__trainer_make_slots(mw_trainer *trainer, size_t count, mw_error *err);
/* Steps that one dispatch takes now; 0 = only single ones. */
size_t mw__trainer_slots(const mw_trainer *trainer);
/* Feeds the batch of one slot. */
mw_status mw__trainer_stage(mw_trainer *trainer, size_t slot, const mw_batch *batch, mw_error *err);
/* Runs all slots. batches: [slots], for messages, or NULL. */
mw_status mw__trainer_run_slots(mw_trainer *trainer, const mw_batch *batches, float *out_losses, mw_error *err);

#endif

/* A trainer from outside: entering a call on it, and what the files and the loop read of it. */
#ifndef MW__RUNTIME_TRAINER_OBJECT_TRAINER_ACCESS_H
#define MW__RUNTIME_TRAINER_OBJECT_TRAINER_ACCESS_H

#include "runtime/state/owner.h"

#include <millwright/trainer.h>

/* Around a public call; a NULL trainer passes.
 *  errors  MW_ERROR_STATE if the trainer is destroyed, or in use (base/memory/guard.h) */
static inline mw_status mw__trainer_enter(mw__entry *out, mw_trainer *trainer, const char *call, mw__lent lent,
                                          mw_error *err)
{
    return mw__state_owner_enter(out, mw__state_owner_of(trainer), call, lent, err);
}
/* `status`; MW_ERROR_STATE if the trainer was destroyed meanwhile, which frees it. */
static inline mw_status mw__trainer_leave(const mw__entry *entry, mw_status status, mw_error *err)
{
    return mw__state_owner_leave(entry, status, err);
}

/* ---- what files and fit need ---- */

/* The first check of a public call that takes a trainer and a path; `call` is its name. */
mw_status mw__trainer_check_path(const mw_trainer *trainer, const char *path, const char *call, mw_error *err);
mw__state_set *mw__trainer_state(mw_trainer *trainer);
/* The entry whose values stand for a weight to the outside: its moving average if the trainer uses these. */
const mw__state_entry *mw__trainer_exported_entry(const mw_trainer *trainer, const mw__state_entry *entry);
/* What stands for a weight beside it, after its values were replaced: the average becomes them, a second term 0. */
void mw__trainer_follow(mw_trainer *trainer, const mw__state_entry *weight);
/* The second term of a compensated weight becomes 0. */
void mw__trainer_drop_low(mw_trainer *trainer, const mw__state_entry *weight);
const mw_allocator *mw__trainer_allocator(const mw_trainer *trainer);
/* The lock that a running mw_trainer_fit holds on its checkpoint, or NULL. */
const struct mw__lock *mw__trainer_lock(const mw_trainer *trainer);
void mw__trainer_set_steps(mw_trainer *trainer, int64_t steps, int accumulated);
/* Batches for an update, and how many of them have been added up since the last. */
int mw__trainer_accumulate(const mw_trainer *trainer);
int mw__trainer_accumulated(const mw_trainer *trainer);
uint64_t mw__trainer_seed(const mw_trainer *trainer);
/* Where the loss scale stands, and the norm over all watched gradients of the step that ran last; mw_trainer_info. */
float mw__trainer_loss_scale(const mw_trainer *trainer);
double mw__trainer_gradient_norm(const mw_trainer *trainer);
/* Adds to the counters of state bytes that crossed the host boundary. */
void mw__trainer_count_state(mw_trainer *trainer, size_t bytes_in, size_t bytes_out);
/* Ranks that have trained by themselves average their parameters; a call of all ranks, else MW_OK. */
mw_status mw__trainer_synchronize(mw_trainer *trainer, mw_error *err);
/* MW_ERROR_STATE once its state is wrong. */
mw_status mw__trainer_check_alive(const mw_trainer *trainer, mw_error *err);
/* The batch size: first extent of the inputs. */
int64_t mw__trainer_batch(const mw_trainer *trainer);
/* Optimizer and its numbers (but the learning rate) as one line, so that a checkpoint of another optimizer is refused
 * by name. */
const char *mw__trainer_description(const mw_trainer *trainer);

#endif

/* A trainer from outside: entering a call on it, and what the files and the loop read of it. */
#ifndef MW__RUNTIME_TRAINER_TRAINER_ACCESS_H
#define MW__RUNTIME_TRAINER_TRAINER_ACCESS_H

#include "base/memory/guard.h"
#include "runtime/state/state.h"
#include <millwright/trainer.h>

/* Around a public call; a NULL trainer passes.
 *  errors  MW_ERROR_STATE if the trainer is destroyed, or in use (base/memory/guard.h) */
mw_status mw__trainer_enter(mw__entry *out, mw_trainer *trainer, const char *call, mw__lent lent, mw_error *err);
/* `status`; MW_ERROR_STATE if the trainer was destroyed meanwhile, which frees it. */
mw_status mw__trainer_leave(const mw__entry *entry, mw_status status, mw_error *err);

/* ---- what shares state (trainer_share.c) ---- */

/* Being inside all that share, beside the object itself. */
typedef struct mw__family_entry {
    bool inside;
    mw__entry entry;
} mw__family_entry;

/* Whether it shares with anything. */
bool mw__trainer_is_shared(const mw_trainer *trainer);
/* Around the outermost call on an object that shares with the trainer. */
mw_status mw__family_enter(mw_trainer *trainer, mw__family_entry *out, const char *call, mw_error *err);
void mw__family_leave(mw__family_entry *entry);

/* For options.share and state_of: may it lend to what is made for that library? It is entered by the caller. */
struct mw__target;
mw_status mw__trainer_check_lender(const mw_trainer *lender, const struct mw__target *target, const char *option,
                                   mw_error *err);
/* One more that uses its state, until mw__trainer_release, which frees it after the last. */
void mw__trainer_lend(mw_trainer *lender);
void mw__trainer_release(mw_trainer *lender);

/* ---- what files and fit need ---- */

/* The first check of a public call that takes a trainer and a path; `call` is its name. */
mw_status mw__trainer_check_path(const mw_trainer *trainer, const char *path, const char *call, mw_error *err);
mw__state_set *mw__trainer_state(mw_trainer *trainer);
/* The entry whose values stand for a weight to the outside: its moving average if the trainer uses these. */
const mw__state_entry *mw__trainer_shown(const mw_trainer *trainer, const mw__state_entry *entry);
/* What stands for a weight beside it, after its values were replaced: the average becomes them, a second term 0. */
void mw__trainer_follow(mw_trainer *trainer, const mw__state_entry *weight);
/* The second term of a compensated weight becomes 0. */
void mw__trainer_drop_low(mw_trainer *trainer, const mw__state_entry *weight);
const mw_allocator *mw__trainer_allocator(const mw_trainer *trainer);
/* The lock that a running mw_fit holds on its checkpoint, or NULL. */
const struct mw__lock *mw__trainer_lock(const mw_trainer *trainer);
void mw__trainer_set_steps(mw_trainer *trainer, int64_t steps, int accumulated);
/* Batches for an update, and how many of them have been added up since the last. */
int mw__trainer_accumulate(const mw_trainer *trainer);
int mw__trainer_accumulated(const mw_trainer *trainer);
uint64_t mw__trainer_seed(const mw_trainer *trainer);
/* Adds to the counters of state bytes that crossed the host boundary. */
void mw__trainer_count_state(mw_trainer *trainer, size_t bytes_in, size_t bytes_out);
/* The batch size: first extent of the inputs. */
int64_t mw__trainer_batch(const mw_trainer *trainer);
/* Optimizer and its numbers (but the learning rate) as one line, so that a checkpoint of another optimizer is refused
 * by name. */
const char *mw__trainer_description(const mw_trainer *trainer);

#endif

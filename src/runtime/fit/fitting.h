/* One run of mw_trainer_fit: fit.c walks the epochs, fit_save.c keeps the checkpoints, fit_metrics.c writes what is
 * found. Private to the files of fit. */
#ifndef MW__RUNTIME_FIT_FITTING_H
#define MW__RUNTIME_FIT_FITTING_H

#include "base/file/lock.h"
#include "runtime/fit/fit.h"
#include "runtime/fit/fit_best.h"
#include "runtime/fit/fit_metrics.h"
#include "runtime/trainer/object/trainer_access.h"

typedef struct mw__fitting {
    mw_trainer *trainer;
    const mw_fit_options *options;
    mw_fit_options own;   /* what they are if the training set is split .. */
    mw_dataset *parts[2]; /* .. into these */
    mw_loader *loader;
    int64_t batches; /* in an epoch */
    float base_rate; /* what the schedule's factor multiplies */
    double loss_sum; /* over the steps of this epoch */
    char order[160];
    mw__fit_best best;
    int64_t *kept; /* [MW__KEEP_MAX + 1] steps of the saves that stay, rising; NULL = none do */
    size_t kept_count;
    bool resumed;                        /* a checkpoint was there */
    struct mw__learned_classes *learned; /* names of the classes of the training set, until the trainer takes them */
    mw__fit_metrics metrics;
    mw__lock lock;   /* on the checkpoint, for as long as the run */
    double saved_at; /* seconds of the monotonic clock */
    mw_progress progress;
    mw__reporter reporter;
} mw__fitting;

/* ---- fit_ranks.c ---- */

typedef mw_status mw__fit_part(mw__fitting *fit, mw_error *err);
bool mw__fit_is_first(const mw__fitting *fit); /* true without others */
int mw__fit_ranks(const mw__fitting *fit);
/* Runs `part` on rank 0; all ranks get its status. */
mw_status mw__fit_on_first(mw__fitting *fit, mw__fit_part *part, mw_error *err);
/* True if some rank wanted it at the last step; what this one wants now is told at the next. Without others `wanted`.
 */
bool mw__fit_agree(mw__fitting *fit, uint32_t vote, bool wanted);
/* `status`; what only this rank failed with ends the others. */
mw_status mw__fit_alone(mw__fitting *fit, mw_status status, mw_error *err);
mw_loader_position mw__fit_whole_position(const mw__fitting *fit, mw_loader_position own);
/* Batches in an epoch that some number of ranks may have trained on. */
int64_t mw__fit_whole_batches(const mw__fitting *fit);
mw_loader_position mw__fit_own_position(const mw__fitting *fit, mw_loader_position whole);
/* All go on where rank 0 does. */
mw_status mw__fit_share_start(mw__fitting *fit, mw_error *err);
/* Data, order and what is saved are the same on all ranks. */
mw_status mw__fit_compare_ranks(const mw__fitting *fit, mw_error *err);

/* ---- fit_end.c ---- */

/* Part of the training set becomes the validation set, if the options say so. */
mw_status mw__fit_split(mw__fitting *fit, mw_error *err);
/* Fills the summary of the options. */
void mw__fit_summarize(const mw__fitting *fit, mw_status status);

/* Whether the options of saving go together. */
mw_status mw__fit_check_saving(const mw_fit_options *options, mw_error *err);
/* Room for the list of what stays. */
mw_status mw__fit_prepare_keeping(mw__fitting *fit, mw_error *err);
/* Takes the lock, and goes on from the checkpoint if there is one. */
mw_status mw__fit_resume(mw__fitting *fit, mw_error *err);
/* Says now what would fail after an epoch. */
mw_status mw__fit_check_can_save(mw__fitting *fit, mw_error *err);

/* Whether the schedule fits a training of that many steps.
 *  errors  MW_ERROR_ARGUMENT, naming the number and its rule */
mw_status mw__schedule_check(const mw_schedule *schedule, int64_t steps, mw_error *err);
/* Whether a schedule moves the rate; a constant one is left to the callback. */
bool mw__fit_rate_moves(const mw__fitting *fit);
/* The schedule's base rate, which is what is saved: the factor follows from the position. */
mw_status mw__fit_restore_rate(mw__fitting *fit, mw_error *err);
/* The newest checkpoint, and what stays beside it. */
mw_status mw__fit_save(mw__fitting *fit, mw_error *err);
/* The newest checkpoint, at the end of the epoch whose last batch was trained. */
mw_status mw__fit_save_epoch(mw__fitting *fit, mw_error *err);
/* Whether the steps since `before` ended a stretch. The end of an epoch saves by itself. */
bool mw__fit_save_is_due(mw__fitting *fit, int64_t before);

#endif

/* One run of mw_fit: fit.c walks the epochs, fit_save.c keeps the checkpoints. Private to these two. */
#ifndef MW__RUNTIME_FITTING_H
#define MW__RUNTIME_FITTING_H

#include "base/lock.h"
#include "runtime/fit.h"
#include "runtime/trainer/trainer_access.h"

typedef struct mw__fitting {
    mw_trainer *trainer;
    const mw_fit_options *options;
    mw_loader *loader;
    int64_t batches; /* in an epoch */
    float base_rate; /* what the schedule's factor multiplies */
    double loss_sum; /* over the steps of this epoch */
    char order[160];
    int best_metric;   /* whose best checkpoint stays; -1 = the loss */
    char best_by[96];  /* "highest accuracy" */
    double best;       /* of the validations so far .. */
    int64_t best_step; /* .. and after which step; 0 = none */
    int64_t *kept;     /* [MW__KEEP_MAX + 1] steps of the saves that stay, rising; NULL = none do */
    size_t kept_count;
    mw__lock lock;   /* on the checkpoint, for as long as the run */
    double saved_at; /* seconds of the monotonic clock */
    mw_progress progress;
    mw__reporter reporter;
} mw__fitting;

/* Whether the options of saving go together. */
mw_status mw__fit_check_saving(const mw_fit_options *options, mw_error *err);
/* What is compared for the best, and room for the list of what stays. */
mw_status mw__fit_prepare_keeping(mw__fitting *fit, mw_error *err);
/* Takes the lock, and goes on from the checkpoint if there is one. */
mw_status mw__fit_resume(mw__fitting *fit, mw_error *err);
/* Says now what would fail after an epoch. */
mw_status mw__fit_check_can_save(const mw__fitting *fit, mw_error *err);

/* The schedule's base rate, which is what is saved: the factor follows from the position. */
mw_status mw__fit_restore_rate(mw__fitting *fit, mw_error *err);
/* The newest checkpoint, and what stays beside it. */
mw_status mw__fit_save(mw__fitting *fit, mw_error *err);
mw_status mw__fit_save_to(mw__fitting *fit, const char *path, mw_loader_position position, mw_error *err);
/* Whether the steps since `before` ended a stretch. The end of an epoch saves by itself. */
bool mw__fit_save_is_due(const mw__fitting *fit, int64_t before);

#endif

/* What mw_trainer_fit makes of its validations: the best so far, an early end, a smaller rate, the best weights at the
 * end. */
#ifndef MW__RUNTIME_FIT_FIT_BEST_H
#define MW__RUNTIME_FIT_FIT_BEST_H

#include <millwright/fit.h>
#include <millwright/trainer.h>

struct mw__fitting;

/* Epochs since a value was better than the reference by more than min_delta. */
typedef struct mw__fit_patience {
    double reference;
    int64_t waited, seen; /* epochs; those that were compared at all */
} mw__fit_patience;

typedef struct mw__fit_best {
    int metric;   /* that is compared; -1 = the loss */
    char by[96];  /* "highest accuracy"; "" = nothing is */
    double value; /* the best so far .. */
    int64_t step; /* .. and after which step; 0 = none */
    mw__fit_patience early, plateau;
    unsigned char *state; /* that of the trainer after the best epoch, without a checkpoint; or NULL */
    int64_t state_steps;
    float state_rate;
    bool restored;
} mw__fit_best;

/* Whether the options go together. */
mw_status mw__fit_check_best(const mw_fit_options *options, mw_error *err);
mw_status mw__fit_prepare_best(struct mw__fitting *fit, mw_error *err);
/* Whether what validations find decides how a run goes on, so that it is saved. */
bool mw__fit_uses_findings(const mw_fit_options *options);
/* Behind the validation after step `step`: the same on all ranks. */
mw_status mw__fit_judge(struct mw__fitting *fit, int64_t step, mw_error *err);
/* Whether the run is at its end before its last epoch. */
bool mw__fit_is_early(const struct mw__fitting *fit);
/* The run has ended by itself: the trainer becomes what it was after the best epoch, if that is asked for. */
mw_status mw__fit_restore_best(struct mw__fitting *fit, mw_error *err);
void mw__fit_drop_best(struct mw__fitting *fit);

#endif

/* The first step of a trainer beside that of another device (mw_trainer_options.watch); the next step as operations,
 * for the library beside the core that measures it. */
#ifndef MW__RUNTIME_TRAINER_STEP_TRAINER_COMPARE_H
#define MW__RUNTIME_TRAINER_STEP_TRAINER_COMPARE_H

#include "base/visible.h"
#include "runtime/compare/compare.h"
#include "runtime/trainer/object/trainer_object.h"

/* Checks and keeps the options; NULL = nothing is compared. */
mw_status mw__trainer_take_comparison(mw_trainer *trainer, const mw_compare_options *options, mw_error *err);
void mw__trainer_drop_comparison(mw_trainer *trainer);

/* True until a step has passed. */
bool mw__trainer_compares(const mw_trainer *trainer);
/* Compares the step on what it has been fed. It is not run, and its state not touched.
 *  errors  MW_ERROR_NUMERIC if it does not pass, those of mw_comparison_create */
mw_status mw__trainer_compare(mw_trainer *trainer, mw_error *err);
/* The last comparison, or NULL; NULL for what is no trainer. */
MW__SIBLING const mw_comparison *mw__trainer_comparison(const mw_trainer *trainer);

/* The next step of a trainer, which is not run. */
typedef struct mw__trainer_next_step {
    const mw_graph *graph; /* forward, backward and update; freed after the look */
    int threads;
    const mw_allocator *allocator;
    const char *profile;       /* of a trainer for the ANE, if it was given one, or adds in fixed point; else NULL */
    mw__arithmetic arithmetic; /* that */
    mw__compare_fill *fill;    /* feeds a program of the graph as the step is fed, for `user` */
    void *user;
} mw__trainer_next_step;

typedef mw_status mw__trainer_look(void *user, const mw__trainer_next_step *step, mw_error *err);

/* Feeds the batch and lets `look` see the step. A call on the trainer, named `call` in messages; nothing of the trainer
 * changes.
 *  errors  those of mw_trainer_step for the batch; MW_ERROR_UNSUPPORTED for a trainer of several ranks; those of `look` */
MW__SIBLING mw_status mw__trainer_look_at_step(mw_trainer *trainer, const mw_batch *batch, const char *call,
                                               mw__trainer_look *look, void *user, mw_error *err);

#endif

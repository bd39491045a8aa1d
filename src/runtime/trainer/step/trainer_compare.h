/* The first step of a trainer beside that of another device (mw_trainer_options.watch). */
#ifndef MW__RUNTIME_TRAINER_STEP_TRAINER_COMPARE_H
#define MW__RUNTIME_TRAINER_STEP_TRAINER_COMPARE_H

#include "runtime/trainer/object/trainer_object.h"

/* Checks and keeps the options; NULL = nothing is compared. */
mw_status mw__trainer_take_comparison(mw_trainer *trainer, const mw_compare_options *options, mw_error *err);
void mw__trainer_drop_comparison(mw_trainer *trainer);

/* True until a step has passed. */
bool mw__trainer_compares(const mw_trainer *trainer);
/* Compares the step on what it has been fed. It is not run, and its state not touched.
 *  errors  MW_ERROR_NUMERIC if it does not pass, those of mw_comparison_create */
mw_status mw__trainer_compare(mw_trainer *trainer, mw_error *err);

#endif

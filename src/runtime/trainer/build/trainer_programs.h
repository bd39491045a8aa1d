/* The programs of a trainer, from its model: the step, and one that only adds to the accumulated gradients. */
#ifndef MW__RUNTIME_TRAINER_BUILD_TRAINER_PROGRAMS_H
#define MW__RUNTIME_TRAINER_BUILD_TRAINER_PROGRAMS_H

#include "runtime/trainer/build/trainer_build.h"

/* The model in its training form, and all that follows from it. */
mw_status mw__trainer_build_pass(mw__trainer_build *b, mw_error *err);
/* A program whose parameters are what `bind` says, mw__trainer_bind as a rule; `graph` has outputs. pass: whose it is,
 * or NULL. */
mw_program *mw__trainer_compile(mw_trainer *trainer, const mw_graph *graph, mw__program_binder *bind,
                                const char *keep_folder, const mw__trainer_pass *pass, mw_error *err);

/* Where the host writes the scalars of the update that `program` has. */
mw_status mw__trainer_resolve_scalars(mw__trainer_build *b, const mw_program *program, mw_error *err);

/* Both make and resolve the program; the step makes the state set, too. */
mw_status mw__trainer_make_step(mw_trainer *trainer, mw_error *err);
mw_status mw__trainer_make_accumulation(mw_trainer *trainer, mw_error *err);

/* ---- trainer_segments.c ---- */

/* Lets the program of a pass be cut as the trainer was asked to. */
void mw__trainer_allow_cuts(const mw_trainer *trainer, const mw__trainer_pass *pass, mw__program_request *request);
/* Into how many programs a step was cut, and what they hold. */
mw_trainer_parts mw__trainer_parts(const mw_trainer *trainer);

#endif

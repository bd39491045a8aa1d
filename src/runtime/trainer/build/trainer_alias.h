/* The proof, on libraries other than the engine, that state may be updated in place. */
#ifndef MW__RUNTIME_TRAINER_BUILD_TRAINER_ALIAS_H
#define MW__RUNTIME_TRAINER_BUILD_TRAINER_ALIAS_H

#include "runtime/trainer/object/trainer_object.h"

/* Binds inputs of another program to those of the mw_program that is `user` (mw__program_binder). */
bool mw__trainer_bind_inputs(void *user, const mw_port *port, mw__device_buffer *out);
/* Makes the shadow program of a pass where the library needs the proof. */
mw_status mw__trainer_make_shadow(mw_trainer *trainer, mw__trainer_pass *pass, const mw_graph *graph, mw_error *err);
/* Runs shadow and program, compares and drops the shadow. */
mw_status mw__trainer_run_twice(mw_trainer *trainer, mw__trainer_pass *pass, mw_error *err);

#endif

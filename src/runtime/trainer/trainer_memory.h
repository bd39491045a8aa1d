/* Steps that keep to a limit of memory. */
#ifndef MW__RUNTIME_TRAINER_TRAINER_MEMORY_H
#define MW__RUNTIME_TRAINER_TRAINER_MEMORY_H

#include <millwright/trainer.h>

/* trainer_create.c: the trainer with the forward pass in `pieces`, of which all but the last are computed again.
 *  main  whose variant it is, with all state from there; or NULL */
mw_trainer *mw__trainer_create_in(const mw_trainer_options *options, size_t pieces, mw_trainer *main, mw_error *err);

/* Replaces the trainer's model by a copy whose forward pass is recomputed so. */
mw_status mw__trainer_recompute(mw_trainer *trainer, size_t pieces, mw_error *err);

/* The trainer, if its step keeps to options->memory_limit, or one in its place that does, with the fewest pieces that
 * were tried; NULL with an error if there is none. */
mw_trainer *mw__trainer_within_memory(mw_trainer *trainer, const mw_trainer_options *options, mw_error *err);

#endif

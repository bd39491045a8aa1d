/* The trainer's copy of the user's graph. */
#ifndef MW__RUNTIME_TRAINER_TRAINER_MODEL_H
#define MW__RUNTIME_TRAINER_TRAINER_MODEL_H

#include "runtime/trainer/object/trainer_object.h"

mw_status mw__trainer_copy_model(mw_trainer *trainer, const mw_trainer_options *options, mw_error *err);

/* Every value of a graph that the trainer holds, for a copy of it. */
typedef struct mw__trainer_roots {
    mw_tensor **roots, **copies; /* [count] */
    size_t count;
} mw__trainer_roots;
mw_status mw__trainer_hold_roots(mw_trainer *trainer, mw__trainer_roots *out, mw_error *err);
/* With `copied` the trainer holds the copies now. Frees the list. */
void mw__trainer_take_roots(mw_trainer *trainer, mw__trainer_roots *held, bool copied);

#endif

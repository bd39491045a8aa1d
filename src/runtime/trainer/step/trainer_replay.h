/* A refused step as a folder that can be run again (mw_replay_run). */
#ifndef MW__RUNTIME_TRAINER_STEP_TRAINER_REPLAY_H
#define MW__RUNTIME_TRAINER_STEP_TRAINER_REPLAY_H

#include "graph/ir/names.h"
#include "runtime/trainer/object/trainer_object.h"

/* Of the folder. */
#define MW__REPLAY_INPUTS     "inputs.safetensors"
#define MW__REPLAY_OPERATIONS "operations.txt"
#define MW__REPLAY_HEADER     "millwright replay 1\n"
/* Outputs: a number for each thing that is looked at, 1 if it is finite. */
#define MW__REPLAY_OUTPUT "watched."

/* Describes thing number i: its operation, the parameter that it belongs to, a sentence. */
typedef struct mw__nan_origin mw__nan_origin;
typedef void mw__replay_describe(const void *user, size_t index, mw__nan_origin *out);

typedef struct mw__replay_step {
    const mw_graph *graph; /* with the outputs */
    const mw__names *names;
    mw_program *program; /* of it, with what it was fed */
    size_t count;        /* things that are looked at */
    mw__replay_describe *describe;
    const void *user;
} mw__replay_step;

/* Writes the folder; a failure is only logged, as the step has failed already. */
void mw__replay_save(mw_trainer *trainer, const mw__replay_step *step);

#endif

/* How a trainer's step is made and run; chosen when the trainer is created:
 *   alone          one rank: forward, backward and update are one program
 *   data-parallel  ranks sum their gradients in each step, and all update alike
 *   local steps    each rank trains by itself, and they average their parameters after some steps */
#ifndef MW__RUNTIME_TRAINER_OBJECT_TRAINER_STRATEGY_H
#define MW__RUNTIME_TRAINER_OBJECT_TRAINER_STRATEGY_H

#include "runtime/state/state.h"

#include <millwright/trainer.h>

struct mw__trainer_build;

/* Elements of a tensor, as one row. */
typedef struct mw__owned {
    size_t first, count;
} mw__owned;

typedef struct mw__trainer_strategy {
    const char *name;
    bool sums_gradients; /* the step ends with gradients, and programs behind the exchange go on */

    /* While the programs are made, in this order. NULL: nothing is done. */
    mw_status (*end_step)(struct mw__trainer_build *b, mw_error *err); /* outputs for the other ranks */
    mw_status (*plan)(struct mw__trainer_build *b, mw_error *err);     /* before the state set is made */
    mw_status (*resolve)(struct mw__trainer_build *b, mw_error *err);  /* the state set is there */
    mw_status (*finish)(struct mw__trainer_build *b, mw_error *err);   /* the step is compiled */

    /* This rank's part of an optimizer's state of that parameter; false: it has the whole. NULL: always. */
    bool (*own_part)(const mw_trainer *trainer, const char *parameter, mw__owned *out);
    /* The buffer of what is exchanged under that name, of `length` bytes; or NULL. NULL: nothing is. */
    const mw__state_entry *(*find_exchanged)(const mw_trainer *trainer, const char *name, size_t length);
    /* Whether the step is worth cutting, so that its gradients are exchanged while it runs. NULL: no. */
    bool (*wants_overlap)(const mw_trainer *trainer);

    mw_status (*step)(mw_trainer *trainer, const mw_batch *batch, float *out_loss, mw_error *err);
    /* Ranks that have trained by themselves average their parameters; a call of all ranks. NULL: nothing is done. */
    mw_status (*synchronize)(mw_trainer *trainer, mw_error *err);
    void (*leave)(mw_trainer *trainer); /* when the trainer is destroyed; NULL: nothing is done */
} mw__trainer_strategy;

extern const mw__trainer_strategy mw__trainer_alone, mw__trainer_data_parallel, mw__trainer_local_steps;

#endif

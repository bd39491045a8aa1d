/* The state set of a trainer: what it holds, and which ports are bound to it. */
#ifndef MW__RUNTIME_TRAINER_BUILD_TRAINER_STATE_H
#define MW__RUNTIME_TRAINER_BUILD_TRAINER_STATE_H

#include "runtime/trainer/build/trainer_build.h"

/* Adds to an output's name: the next value of the state entry of that name. */
#define MW__NEXT "#next"
/* Add to a parameter's name: its moving average, the sum of its gradients. */
#define MW__AVERAGE "#average"
#define MW__SUM     "#sum"
/* The second term of a compensated parameter. */
#define MW__LOW "#" MW__OPTIMIZER_LOW
/* State of a dynamic loss scale. */
#define MW__SCALE      "#loss_scale"
#define MW__GOOD_STEPS "#good_steps"

/* Weights, states of the optimizers and what else a step assigns, with their first values; the step is built.
 * Parameters that only metrics or prediction need are part of the set, without optimizer state. */
mw_status mw__trainer_build_state(mw__trainer_build *b, mw_error *err);

/* The port of a state entry, or the output of its next value, is bound to its buffer (mw__program_binder). */
bool mw__trainer_bind(void *trainer, const mw_port *port, mw__device_buffer *out);

#endif

/* AdamW written by a user: as the papers and src/autograd/optimizers/optimizer_adam.c have it, from the public header
 * alone. */
#ifndef TESTS_RUNTIME_TRAINER_CUSTOM_ADAM_H
#define TESTS_RUNTIME_TRAINER_CUSTOM_ADAM_H

#include <millwright/millwright.h>

/* epsilon 1e-4, beta1 0.9, beta2 0.999; for what the device stores in fp16 in the form that mw_adam has there. */
mw_optimizer_rule custom_adam_rule(void);
mw_optimizer custom_adam(float rate, float weight_decay, const mw_optimizer_rule *rule);
/* The built-in one with the same numbers. */
mw_optimizer built_in_adam(float rate, float weight_decay);

#endif

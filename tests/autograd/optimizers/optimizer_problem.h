/* One parameter whose gradients are what the test feeds, and every optimizer in double, written from its paper: the
 * oracle of the tests of the optimizers. */
#ifndef TESTS_AUTOGRAD_OPTIMIZERS_OPTIMIZER_PROBLEM_H
#define TESTS_AUTOGRAD_OPTIMIZERS_OPTIMIZER_PROBLEM_H

#include <millwright/millwright.h>

enum { PROBLEM_COUNT = 24 };

/* On the engine, with the parameter "w" [24] of hashed numbers in [-0.5, 0.5). loss_scale 0 = the default. */
mw_trainer *problem_trainer(mw_device device, mw_optimizer optimizer, float loss_scale, mw_error *err);

/* One step with these gradients, which fp16 holds as 256 g. */
void problem_step(mw_trainer *trainer, const float *gradient, mw_error *err);

/* The gradients of tests/data/torch/optimizer_cases.py at `step`, from 0 on. */
void problem_gradient(int step, float *out);

/* Parameter or state "w", "w#low" ..; zeros if there is none. */
void problem_read(mw_trainer *trainer, const char *name, double *out);
/* w + low / 256. */
void problem_read_sum(mw_trainer *trainer, double *out);

/* One element in double. */
typedef struct reference {
    double p, m, v, mean, momentum;
} reference;

/* Step t, from 1 on, with gradient g; all numbers of the optimizer count, epsilon as it is. */
void reference_step(const mw_optimizer *optimizer, reference *element, double g, int64_t t);

/* ---- optimizers to try ---- */

mw_optimizer problem_with_decay(mw_optimizer optimizer, float weight_decay);
mw_optimizer problem_decoupled(mw_optimizer optimizer);
mw_optimizer problem_rmsprop(float alpha, float epsilon, bool centered, float momentum);
mw_optimizer problem_other_adagrad(void);

/* Every kind, with decay of either sort; epsilon is set, since its default follows the device. */
enum { PROBLEM_KINDS = 16 };
size_t problem_all_kinds(mw_optimizer *out);

#endif

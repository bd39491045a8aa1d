/* Optimizers: how a trainer turns gradients into new parameters. The update is part of the step program; only the
 * scalars that change from step to step (learning rate, bias corrections) are fed by the host.
 *
 *     mw_optimizer optimizer = mw_adam(1e-3f);
 *     optimizer.beta2 = 0.99f;
 *
 * In the formulas p is a parameter, g its gradient, t the step from 1, lr the learning rate of the step. */
#ifndef MILLWRIGHT_OPTIMIZER_H
#define MILLWRIGHT_OPTIMIZER_H

#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mw_optimizer_kind { MW_OPTIMIZER_NONE = 0, MW_SGD, MW_ADAM } mw_optimizer_kind;

/** An optimizer and its numbers; made by the functions below, then changed field by field. */
typedef struct mw_optimizer {
    mw_optimizer_kind kind;
    float learning_rate; /* > 0; a schedule multiplies it */
    float weight_decay;  /* >= 0 */
    bool decoupled;      /* weight decay outside the gradient (AdamW) */
    float momentum;      /* SGD: in [0, 1); 0 = no momentum state */
    bool nesterov;       /* SGD with momentum */
    float beta1, beta2;  /* Adam: in [0, 1) */
    float epsilon;       /* Adam: > 0, or 0 = the default: 1e-8; for fp16 parameters 1e-6 with a loss scale of 64 or
                            more, else 1e-4 */
} mw_optimizer;

/** p' = p - lr g. */
MW_API mw_optimizer mw_sgd(float learning_rate);

/** b' = momentum b + g; p' = p - lr b', with nesterov p' = p - lr (g + momentum b').
 *  source  PyTorch's SGD with dampening 0; b starts at 0 */
MW_API mw_optimizer mw_sgd_momentum(float learning_rate, float momentum, bool nesterov);

/** m' = beta1 m + (1 - beta1) g; v' = beta2 v + (1 - beta2) g^2;
 *  p' = p - lr / (1 - beta1^t) * m' / (sqrt(v') / sqrt(1 - beta2^t) + epsilon).
 *  beta1 0.9, beta2 0.999; weight decay, if set, is added to g first.
 *  source  Kingma and Ba 2015; the placing of epsilon is PyTorch's */
MW_API mw_optimizer mw_adam(float learning_rate);

/** Adam with p shrunk by (1 - lr weight_decay) before the update.
 *  source  Loshchilov and Hutter 2019 */
MW_API mw_optimizer mw_adamw(float learning_rate, float weight_decay);

#ifdef __cplusplus
}
#endif
#endif

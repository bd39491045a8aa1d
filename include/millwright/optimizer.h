/* Optimizers: how a trainer turns gradients into new parameters. The update is part of the step program; only the
 * scalars that change from step to step (learning rate, bias corrections) are fed by the host.
 *
 *     mw_optimizer optimizer = mw_adam(1e-3f);
 *     mw_optimizer_set(&optimizer, MW_OPTIMIZER_BETA2, 0.99);
 *
 * One of your own: optimizer_custom.h.
 *
 * In the formulas p is a parameter, g its gradient, t the step from 1, lr the learning rate of the step.
 *
 * Threads: these are plain values; every function here may be called from any thread at any time. */
#ifndef MILLWRIGHT_OPTIMIZER_H
#define MILLWRIGHT_OPTIMIZER_H

#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/** An optimizer with its numbers: a value that may be copied. The functions below make, change and read it; its content
 *  is the library's own, and a struct of zeros is refused. */
typedef struct mw_optimizer {
    uint64_t hidden[12];
} mw_optimizer;

/** The numbers. A switch is 0 or 1.
 *
 *  Weight decay, if set, is added to g first: g + weight_decay p; decoupled, it is taken from p with the change:
 *  p' = p - lr weight_decay p - change.
 *
 *  compensated: the parameter is p + low / 256. These are two tensors of its type: "fc1.weight", which the model reads,
 *  and the state "fc1.weight#low". A step changes their sum by Kahan's summation, written as operations of the program.
 *  So fp16 trains like fp32 weights. Plain fp16 loses every change below half a unit in the last place of p: 8e-6 for a
 *  weight of 0.03, 1.2e-4 for one of 0.3.
 *
 *  It costs one more state for SGD and Lion, and two for the other optimizers. These then keep the root of their sum of
 *  squares in two terms, too ("root" + "root_low" / 16). Measured with beta2 0.999 and a loss scale of 256, on
 *  gradients that fall to 1/350 in 4000 steps: the two-term root is within 1e-3 of the true one, the one-term root of
 *  plain fp16 within 9 %. The means m need no second term: 1 - beta1 is far above the rounding of fp16. It has not been
 *  confirmed that Apple's compiler keeps (p + y) - p unchanged.
 *
 *  In fp16, Adam, RMSprop and Adagrad keep the root of their sum of squares v, because the root has the range of the
 *  gradients. With a loss scale of 256, v itself would be 0 for gradients below 2e-5, and infinite from 1 on. In each
 *  step the decay of the root is dithered by 2^-10, so that changes below the rounding of fp16 count on average.
 *  source  Kahan 1965, "Further remarks on reducing truncation errors"; for weights in training Zamirai et al. 2020,
 *          "Revisiting BFloat16 Training" */
typedef enum mw_optimizer_number {
    MW_OPTIMIZER_LEARNING_RATE = 0,       /* all: > 0; a schedule multiplies it */
    MW_OPTIMIZER_BETA1 = 1,               /* Adam, Lion, Muon's AdamW: in [0, 1) */
    MW_OPTIMIZER_BETA2 = 2,               /* Adam, Lion, Muon's AdamW: in [0, 1) */
    MW_OPTIMIZER_ALPHA = 3,               /* RMSprop: in [0, 1) */
    MW_OPTIMIZER_CENTERED = 4,            /* RMSprop, a switch: divides by the deviation from the mean gradient */
    MW_OPTIMIZER_MOMENTUM = 5,            /* SGD, RMSprop: in [0, 1); 0 = no momentum state. Muon: in [0, 1) */
    MW_OPTIMIZER_NESTEROV = 6,            /* SGD, Muon, a switch: needs a momentum above 0 */
    MW_OPTIMIZER_LR_DECAY = 7,            /* Adagrad: >= 0 */
    MW_OPTIMIZER_INITIAL_ACCUMULATOR = 8, /* Adagrad: >= 0 */
    MW_OPTIMIZER_EPSILON = 9, /* Adam, RMSprop, Adagrad, Muon's AdamW: > 0, or 0 = the default: 1e-8 (Adagrad 1e-10),
                               * for fp16 parameters at least 2e-6 / loss scale */
    MW_OPTIMIZER_WEIGHT_DECAY = 10, /* all, a custom one if its rule `decays`: >= 0 */
    MW_OPTIMIZER_DECOUPLED = 11,    /* all but custom ones, a switch: weight decay outside the gradient (AdamW,
                                     * Lion) */
    MW_OPTIMIZER_COMPENSATED = 12,  /* all but custom ones, a switch: two-term parameters */
    MW_OPTIMIZER_MATCH_RMS = 13     /* Muon, a switch: the scale of its steps */
} mw_optimizer_number;

/* ---- making one ---- */

/** p' = p - lr g. */
MW_API mw_optimizer mw_sgd(float learning_rate);

/** b' = momentum b + g; p' = p - lr b', with nesterov p' = p - lr (g + momentum b').
 *  source  PyTorch's SGD with dampening 0; b starts at 0 */
MW_API mw_optimizer mw_sgd_momentum(float learning_rate, float momentum, bool nesterov);

/** m' = beta1 m + (1 - beta1) g; v' = beta2 v + (1 - beta2) g^2;
 *  p' = p - lr / (1 - beta1^t) * m' / (sqrt(v') / sqrt(1 - beta2^t) + epsilon).
 *  beta1 0.9, beta2 0.999. In fp16 the state "root" is sqrt(v), in fp32 "v" is v.
 *  source  Kingma and Ba 2015; the placing of epsilon is PyTorch's */
MW_API mw_optimizer mw_adam(float learning_rate);

/** Adam with p shrunk by (1 - lr weight_decay) before the update.
 *  source  Loshchilov and Hutter 2019 */
MW_API mw_optimizer mw_adamw(float learning_rate, float weight_decay);

/** v' = alpha v + (1 - alpha) g^2; p' = p - lr g / (sqrt(v') + epsilon).
 *  alpha 0.99. With momentum b' = momentum b + g / (sqrt(v') + epsilon) and p' = p - lr b'. Centered, v' - a'^2 takes
 *  the place of v', a' = alpha a + (1 - alpha) g. The state "root" is the square root of it.
 *  source  Tieleman and Hinton 2012, centered Graves 2013; the placing of epsilon is PyTorch's */
MW_API mw_optimizer mw_rmsprop(float learning_rate);

/** s' = s + g^2; p' = p - lr / (1 + (t - 1) lr_decay) * g / (sqrt(s') + epsilon).
 *  lr_decay 0; s starts at initial_accumulator, 0. The state "root" is sqrt(s).
 *  source  Duchi et al. 2011; epsilon and lr_decay are PyTorch's */
MW_API mw_optimizer mw_adagrad(float learning_rate);

/** p' = p - lr (sign(beta1 m + (1 - beta1) g) + weight_decay p); m' = beta2 m + (1 - beta2) g.
 *  beta1 0.9, beta2 0.99. Every step moves every weight by lr: the paper advises a learning rate 3 to 10 times below
 *  that of AdamW, and a weight decay as many times above.
 *  source  Chen et al. 2023, "Symbolic Discovery of Optimization Algorithms", algorithm 2 */
MW_API mw_optimizer mw_lion(float learning_rate, float weight_decay);

/** Matrices: m' = momentum m + (1 - momentum) g; p' = p - lr (scale U V^T + weight_decay p), where U S V^T is the
 *  matrix (1 - momentum) g + momentum m', or m' without nesterov. All other parameters: mw_adamw with beta1, beta2 and
 *  epsilon. momentum 0.95, nesterov; beta1 0.9, beta2 0.999.
 *
 *  A parameter is a matrix of rows times columns: its first extent, and the product of the others (the kernel of a
 *  convolution), if both are above 1. Tables of an embedding and the last layer learn better by AdamW:
 *  mw_parameter_group_set(&group, MW_GROUP_ADAMW, 1).
 *
 *  scale is 0.2 sqrt(max(rows, columns)) with match_rms, the default: the step of a matrix is then as long as one of
 *  AdamW, and one learning rate serves both (1e-3 is a start). Without match_rms it is sqrt(max(1, rows / columns)),
 *  and learning rates are some ten times higher.
 *
 *  U V^T comes from five steps x' = 3.4445 x - 4.7750 (x x^T) x + 2.0315 (x x^T)^2 x from x over its norm + 1e-7, in
 *  the type of the parameter: its singular values are in [0.7, 1.2]. A step costs 15 matrix products for each matrix.
 *  New weights are looked at before they are written, as for a custom optimizer. Ranks share no states of it
 *  (ranks.shard_states).
 *  source  Jordan et al. 2024, "Muon: An optimizer for hidden layers in neural networks"; match_rms Liu et al. 2025,
 *          "Muon is Scalable for LLM Training" */
MW_API mw_optimizer mw_muon(float learning_rate, float weight_decay);

/* ---- its numbers ---- */

/** Sets a number, which is rounded to single precision.
 *  return  true if it was taken. false if this optimizer does not have the number, or if `value` is out of its range:
 *          the optimizer then keeps its numbers, but remembers the first such call for good, and mw_trainer_create
 *          refuses it with MW_ERROR_ARGUMENT and a message that says the optimizer, the number, the value and the
 *          rule. So the result need not be looked at. false for NULL */
MW_API bool mw_optimizer_set(mw_optimizer *optimizer, mw_optimizer_number number, double value);

/** What a number is; 0 for one that the optimizer does not have, and for NULL. */
MW_API double mw_optimizer_get(const mw_optimizer *optimizer, mw_optimizer_number number);

/** What the optimizer is called in messages and checkpoints: "sgd", "adam" (AdamW too), "rmsprop", "adagrad", "lion",
 *  "muon" or "custom"; "?" for what no function made. Static storage. */
MW_API const char *mw_optimizer_name(const mw_optimizer *optimizer);

/** One number of an optimizer. */
typedef struct mw_optimizer_number_info {
    mw_optimizer_number number;
    const char *name;   /* "beta2"; static storage */
    double value;       /* what it is: behind the function that made the optimizer, the default */
    double least, most; /* what it may be, both included */
    bool is_switch;     /* 0 or 1 */
} mw_optimizer_number_info;

/** Fills *out with the number `index` of those that this optimizer has; false past the last. */
MW_API bool mw_optimizer_number_at(const mw_optimizer *optimizer, size_t index, mw_optimizer_number_info *out);

#ifdef __cplusplus
}
#endif
#endif

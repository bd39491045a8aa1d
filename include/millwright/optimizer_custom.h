/* An optimizer of one's own: the update of a parameter, written as operations, which become part of the step program as
 * those of mw_adam do.
 *
 *     static mw_status states(void *user, const mw_update_parameter *of, mw_update_state *out, size_t *out_count,
 *                             mw_error *err)
 *     {
 *         (void)user, (void)of, (void)err;
 *         out[0].name = "velocity"; // of the parameter's shape, from 0
 *         *out_count = 1;
 *         return MW_OK;
 *     }
 *     static mw_status update(const mw_update_call *call, mw_tensor **out_p, mw_tensor **out_states, mw_error *err)
 *     {
 *         (void)err;
 *         out_states[0] = mw_add(mw_mul_scalar(call->states[0], 0.9), call->g);
 *         *out_p = mw_sub(call->p, mw_mul(out_states[0], mw_update_call_scalar(call, "learning_rate")));
 *         return MW_OK;
 *     }
 *     mw_optimizer_rule rule = mw_optimizer_rule_defaults("momentum", update);
 *     rule.states = states;
 *     mw_trainer_options options = mw_trainer_defaults(loss, mw_optimizer_custom(0.01f, &rule));
 *
 * Everything else of a trainer is as with the other optimizers: groups and their rate_factor, clipping, accumulation,
 * averages, a refused step (which leaves the states as they were), checkpoints (a state is "fc1.weight#velocity"),
 * several ranks, steps in segments or many of a dispatch.
 *
 * Threads: the functions of a rule are called by the thread whose call needs them, one at a time; they may not use the
 * trainer, nor the graph that the trainer was made of. */
#ifndef MILLWRIGHT_OPTIMIZER_CUSTOM_H
#define MILLWRIGHT_OPTIMIZER_CUSTOM_H

#include <millwright/optimizer.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The most states of a parameter, and the most numbers that are fed. */
#define MW_UPDATE_STATES_MAX  8
#define MW_UPDATE_SCALARS_MAX 8

/** What is updated. */
typedef struct mw_update_parameter {
    const char *name; /* "fc1.weight" */
    mw_dtype dtype;   /* F32 or F16, as declared; states and scalars have it too */
    mw_shape shape;
    bool half; /* the device stores it in fp16, whatever is declared */
} mw_update_parameter;

/** What stays on the device beside a parameter, in its type. */
typedef struct mw_update_state {
    const char *name; /* 1 to 63 bytes, without `#`; not "average", "sum" or "gradient"; saved as "fc1.weight#name" */
    mw_shape shape;   /* any known one */
    float initial;    /* of all its elements, before the first step; finite in the parameter's type */
} mw_update_state;

/** The states of one parameter. Called once for each when the trainer is made.
 *  out_states  [MW_UPDATE_STATES_MAX]: before the call without names, in the shape of the parameter, initial 0. The
 *              names are copied
 *  out_count   0 before the call
 *  return      MW_OK, or a status to refuse with; the function may describe it in *err */
typedef mw_status mw_update_states_function(void *user, const mw_update_parameter *parameter,
                                            mw_update_state *out_states, size_t *out_count, mw_error *err);

/** What a number that is fed may depend on. */
typedef struct mw_update_moment {
    int64_t step;         /* from 1 */
    double learning_rate; /* of the step and the parameter's group: schedule and rate_factor are in it */
    double weight_decay;  /* of the group */
    double loss_scale;    /* that gradients have in the program */
    bool half;            /* of parameters that the device stores in fp16 */
} mw_update_moment;

/** A number of a step, computed on the host when the step is fed. One that is not finite, or becomes 0 or infinite in
 *  the type of the parameters, is MW_ERROR_NUMERIC, and the step does not run. */
typedef double mw_update_number(void *user, const mw_update_moment *moment);

/** A number that is fed: an input "optimizer.<name>" of the step program. */
typedef struct mw_update_scalar {
    const char *name;        /* 1 to 63 bytes, without `.` */
    mw_update_number *value; /* NULL = the learning rate */
} mw_update_scalar;

/** What an update is asked. */
typedef struct mw_update_call {
    void *user;                           /* of the rule */
    mw_graph *graph;                      /* to which the update appends: a trainer's own */
    const mw_update_parameter *parameter; /* its name, shape and type */
    mw_tensor *p;                         /* its value */
    mw_tensor *g;     /* gradient of the loss, shape and type of p: clipped, the mean over accumulated batches or ranks;
                       * in the loss scale if the rule says scaled_gradients */
    mw_tensor *probe; /* gradient of the rule's probe, in the same scale; NULL if there is no probe */
    mw_tensor *const *states; /* in the order that `states` declared them, in the type of p */
    size_t state_count;
    const mw_update_scalar *scalars; /* what is fed .. */
    mw_tensor *const *numbers;       /* .. as rank-0 tensors of the type of p */
    size_t scalar_count;
    double weight_decay; /* of the parameter's group */
    double loss_scale;   /* by which g is multiplied; 1 unless the rule says scaled_gradients */
} mw_update_call;

/** Appends the operations of one update with the constructors, on tensors of call->graph only. Called while a trainer
 *  is made, and again where its program is built again (to say why a step was refused, to compare a step); each time it
 *  must append the same. It makes no inputs, parameters, states, random numbers or outputs.
 *  out_p       p': shape and type of p
 *  out_states  [state_count]: the new states, shape and type of the old ones; entries are NULL before
 *  return      MW_OK, or a status to refuse with; the function may describe it in *err */
typedef mw_status mw_update_function(const mw_update_call *call, mw_tensor **out_p, mw_tensor **out_states,
                                     mw_error *err);

/** How parameters are updated. Fill with mw_optimizer_rule_defaults. */
typedef struct mw_optimizer_rule {
    size_t struct_size;
    const char *name;     /* in messages and checkpoints: 1 to 63 bytes of UTF-8 without control characters */
    const char *settings; /* what a checkpoint must agree with besides the name, as "beta=0.95 steps=5", up to 255
                           * bytes; NULL = nothing */
    mw_update_function *update;
    mw_update_states_function *states; /* NULL = no states */
    const mw_update_scalar *scalars;   /* NULL, with 0 = "learning_rate" alone */
    size_t scalar_count;
    bool decays;           /* the update reads weight_decay; else one that is not 0 is refused */
    bool scaled_gradients; /* gradients come in the loss scale (call->loss_scale), where fp16 holds small ones that are
                            * 0 without it; by default it is divided out */
    mw_tensor *probe;      /* another scalar of the loss's graph and type, whose gradient the update gets beside that
                            * of the loss, neither clipped nor accumulated: that of the batch that ends an update. It
                            * costs a backward pass. Not with a communicator, unless local_steps are over 1.
                            * NULL = none */
    void *user;            /* handed to the functions; must stay valid until every trainer with the rule is destroyed */
} mw_optimizer_rule;

/** A rule of this name and update; everything else as said above. */
MW_API mw_optimizer_rule mw_optimizer_rule_defaults(const char *name, mw_update_function *update);

/** The rule as an optimizer. Of the numbers of optimizer.h it has the learning rate and, if the rule `decays`, the
 *  weight decay, of which groups may have others; what else is set is refused.
 *  rule    what it points to must be valid until mw_trainer_create has returned, which copies it, all but `user`
 *  errors  those of the rule come with mw_trainer_create, and say its name and the parameter: what is missing or out of
 *          range; what `states` or `update` refuse; a new value that is NULL, of another graph, shape or type; an
 *          update that makes inputs, states or outputs */
MW_API mw_optimizer mw_optimizer_custom(float learning_rate, const mw_optimizer_rule *rule);

/** What is fed under this name.
 *  return  rank 0, the type of p; lives as long as call->graph. NULL for NULL, and, with an error on call->graph, if
 *          the rule has no such scalar */
MW_API mw_tensor *mw_update_call_scalar(const mw_update_call *call, const char *name);

#ifdef __cplusplus
}
#endif
#endif

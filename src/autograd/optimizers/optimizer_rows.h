/* Optimizers as operations: what the trainer builds the update from. */
#ifndef MW__AUTOGRAD_OPTIMIZERS_OPTIMIZER_ROWS_H
#define MW__AUTOGRAD_OPTIMIZERS_OPTIMIZER_ROWS_H

#include "base/memory/alloc.h"
#include "base/text/text.h"

#include <millwright/optimizer_custom.h>

#define MW__OPTIMIZER_SCALARS 8
#define MW__OPTIMIZER_STATES  8

/* What the host feeds at each step: rank-0 tensors of the parameters' type, in the order of the rows. */
typedef struct mw__optimizer_scalars {
    mw_tensor *scalar[MW__OPTIMIZER_SCALARS];
    double loss_scale; /* the gradients are multiplied by it */
    bool half;         /* the parameters are stored in fp16 */
} mw__optimizer_scalars;

typedef enum mw__optimizer_kind {
    MW__OPTIMIZER_NONE = 0, /* of a struct of zeros */
    MW__SGD,
    MW__ADAM,
    MW__RMSPROP,
    MW__ADAGRAD,
    MW__LION,
    MW__MUON,
    MW__CUSTOM
} mw__optimizer_kind;

/* What an mw_optimizer holds. A number that the kind does not have is 0. */
typedef struct mw__optimizer {
    mw__optimizer_kind kind;
    float learning_rate, weight_decay, momentum, beta1, beta2, epsilon, alpha, lr_decay, initial_accumulator;
    bool decoupled, nesterov, centered, compensated, match_rms;
    const mw_optimizer_rule *rule; /* of a custom one */
    bool was_refused;              /* a call of mw_optimizer_set: the first one was this */
    int refused;
    double refused_value;
} mw__optimizer;

mw__optimizer mw__optimizer_of(const mw_optimizer *optimizer);
mw_optimizer mw__optimizer_hide(const mw__optimizer *optimizer);
/* "adam"; NULL for what is no kind. */
const char *mw__optimizer_kind_name(mw__optimizer_kind kind);
/* With the defaults of the kind's row. */
mw__optimizer mw__optimizer_begin(mw__optimizer_kind kind, float learning_rate);

/* Whether a number may have that value, in single precision; and the rule, "in [0, 1)". */
bool mw__optimizer_takes(mw_optimizer_number number, double value);
const char *mw__optimizer_range_rule(mw_optimizer_number number);

/* Nothing that mw_optimizer_set refused, and every number in its range; the message names the number. */
mw_status mw__optimizer_check(const mw__optimizer *optimizer, mw_error *err);

/* Replaces an epsilon of 0 by the default of the arithmetic: `half` if parameters are stored in fp16. */
void mw__optimizer_set_epsilon(mw__optimizer *optimizer, bool half, double loss_scale);

/* What stays beside a parameter, in its type. */
typedef struct mw__optimizer_state {
    const char *name;
    mw_shape shape;
    double initial;     /* of all its elements */
    double least, most; /* what they may be */
} mw__optimizer_state;
typedef struct mw__optimizer_states {
    mw__optimizer_state items[MW__OPTIMIZER_STATES];
    size_t count;
} mw__optimizer_states;
/* Those of one parameter. `bounded`: its gradients are compared with a limit (mw__optimizer_limit). What the user names
 * is copied into the arena.
 *  errors  what the function of a custom optimizer says */
mw_status mw__optimizer_states_of(const mw__optimizer *optimizer, const mw_update_parameter *parameter,
                                  double loss_scale, bool bounded, mw__arena *arena, mw__optimizer_states *out,
                                  mw_error *err);

/* A parameter as Muon's matrix: its first extent, and the product of the others. */
mw_shape mw__optimizer_matrix(mw_shape shape);
/* Whether an update reads more of its parameter than the element that it changes. */
bool mw__optimizer_needs_whole(const mw__optimizer *optimizer);
/* That of the parameters that Muon leaves to AdamW, for all. */
void mw__optimizer_set_adamw(mw__optimizer *optimizer);

/* Replaces what the user holds of a custom one by a copy in the arena. */
mw_status mw__optimizer_keep(mw__optimizer *optimizer, mw__arena *arena, mw_error *err);

/* What parameters have in common that keep the same states, as a set. */
enum {
    MW__OF_HALF = 1,  /* stored in fp16: they keep other states, and are fed other scalars */
    MW__OF_MATRIX = 2 /* what Muon orthogonalizes */
};

/* Of the built-in ones: state tensors per parameter, each with the parameter's shape and type: "m" and "v", "momentum".
 * `of`: a set of MW__OF_HALF and MW__OF_MATRIX. */
size_t mw__optimizer_state_count(const mw__optimizer *optimizer, unsigned of);
#define MW__OPTIMIZER_LOW "low" /* the name of the second term of a compensated parameter */
const char *mw__optimizer_state_name(const mw__optimizer *optimizer, unsigned of, size_t index);
/* The value of all its elements before the first step. */
double mw__optimizer_state_initial(const mw__optimizer *optimizer, unsigned of, size_t index, double loss_scale);

/* Scalars of a step. `step` counts from 1. With compensated weights some are in the unit of the low term: they are what
 * the program needs, not what the user gave. */
size_t mw__optimizer_scalar_count(const mw__optimizer *optimizer, bool half);
const char *mw__optimizer_scalar_name(const mw__optimizer *optimizer, bool half, size_t index);
double mw__optimizer_scalar_value(const mw__optimizer *optimizer, bool half, size_t index, double loss_scale,
                                  double learning_rate, int64_t step);

/* The numbers that become constants of the program or initial state, by the names of the numbers, as they stand there.
 * 1 - beta and 1 - alpha are not among them: they are at least 2^-24, which fp16 holds. */
#define MW__OPTIMIZER_NUMBERS 14
typedef struct mw__optimizer_constant {
    const char *name;
    double value;
} mw__optimizer_constant;
/* Returns how many there are. */
size_t mw__optimizer_constants(const mw__optimizer *optimizer, double loss_scale,
                               mw__optimizer_constant out[MW__OPTIMIZER_NUMBERS]);

/* Kind and numbers as one line, but for the learning rate: what a checkpoint must agree with. */
void mw__optimizer_describe(const mw__optimizer *optimizer, mw__text *text);
/* " name=value", as such lines have numbers. */
void mw__describe_number(mw__text *text, const char *name, double value);

/* The largest learning rate for which anything is proved. */
#define MW__RATE_MAX 1024.0

/* If |gradient| and |p| are at most these, and the states in their ranges, then p' and state' of an fp32 parameter are
 * finite, and the states in their ranges again. gradient 0: nothing is proved, and the new values have to be looked at.
 * In optimizer_bounds.c, where the proof is. */
typedef struct mw__optimizer_limits {
    double gradient;  /* in the loss scale */
    double parameter; /* INFINITY = any that is finite */
} mw__optimizer_limits;
mw__optimizer_limits mw__optimizer_limit(const mw__optimizer *optimizer, double loss_scale, double learning_rate);
/* What the elements of a state may be: second moments are not negative, and `bounded` ones have the proof's limits. */
void mw__optimizer_state_range(const mw__optimizer *optimizer, unsigned of, size_t index, double loss_scale,
                               bool bounded, double *out_least, double *out_most);

/* What one update of a parameter reads. */
typedef struct mw__optimizer_request {
    const mw__optimizer *optimizer;
    const mw__optimizer_scalars *scalars;
    mw_graph *graph;
    mw_tensor *p, *gradient;
    mw_tensor *probe;        /* of a custom one: another gradient; or NULL */
    mw_tensor *const *state; /* [state_count], in the order of mw__optimizer_states_of */
    size_t state_count;
    const mw__optimizer_states *states; /* what they are; NULL for a built-in one will do */
} mw__optimizer_request;
/* (p, gradient, state) -> (p', state'). */
mw_status mw__optimizer_apply(const mw__optimizer_request *request, mw_tensor **out_p, mw_tensor **out_state,
                              mw_error *err);

#endif

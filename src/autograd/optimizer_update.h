/* What a row of optimizer.c shares with its update in optimizer_update.c. */
#ifndef MW__AUTOGRAD_OPTIMIZER_UPDATE_H
#define MW__AUTOGRAD_OPTIMIZER_UPDATE_H

#include "autograd/optimizer_rows.h"

/* What a state tensor holds. With a loss scale s the gradients are s times too large, and so are the states that are
 * marked so; the scale cancels where such a state divides another, and epsilon is multiplied by it. */
typedef enum mw__optimizer_role {
    MW__ROLE_MOMENTUM, /* sum of steps, without s */
    MW__ROLE_M,        /* mean gradient, times s */
    MW__ROLE_V,        /* mean squared gradient, times s^2 */
    MW__ROLE_MEAN,     /* mean gradient that is subtracted, times s */
    MW__ROLE_ROOT,     /* root of a mean or sum of squares, times s */
    MW__ROLE_ROOT_LOW, /* what ROOT lacks, times s and MW__ROOT_UNIT */
    MW__ROLE_LOW,      /* what the parameter lacks, times MW__LOW_UNIT */
    MW__ROLE_COUNT
} mw__optimizer_role;

_Static_assert((int)MW__ROLE_COUNT == MW__OPTIMIZER_STATES, "one state per role");

/* The low terms are kept times these powers of two, so that in fp16, whose smallest step is 2^-24, they go on where the
 * high terms end. Larger units would let the change of a step overflow sooner: at 65504 / unit. */
#define MW__LOW_UNIT  256.0
#define MW__ROOT_UNIT 16.0

/* What the change of the parameter is multiplied by until it is subtracted. */
static inline double mw__optimizer_unit(const mw_optimizer *optimizer)
{
    return optimizer->compensated ? MW__LOW_UNIT : 1.0;
}

/* The least positive number of fp16. */
#define MW__HALF_LEAST 0x1p-24

/* Whether roots have one term of fp16, whose rounding has to be dithered. */
static inline bool mw__optimizer_dithers(const mw_optimizer *optimizer, bool half)
{
    return half && !optimizer->compensated;
}

typedef struct mw__optimizer_update {
    const mw_optimizer *optimizer;
    const mw__optimizer_scalars *scalars;
    mw_tensor *p, *gradient;
    mw_tensor *state[MW__ROLE_COUNT]; /* by role; NULL if the optimizer keeps none */
    mw_tensor *new_p, *new_state[MW__ROLE_COUNT];
} mw__optimizer_update;

/* They return the change: p' = p - change / unit, before decoupled weight decay. */
mw_tensor *mw__update_sgd(mw__optimizer_update *u);
mw_tensor *mw__update_adam(mw__optimizer_update *u);
mw_tensor *mw__update_adam_half(mw__optimizer_update *u);
mw_tensor *mw__update_rmsprop(mw__optimizer_update *u);
mw_tensor *mw__update_adagrad(mw__optimizer_update *u);
mw_tensor *mw__update_lion(mw__optimizer_update *u);

/* The largest |change| of an fp32 parameter for 1 of the first scalar, if gradients and states are within the limits of
 * optimizer_bounds.c. */
double mw__reach_sgd(const mw_optimizer *optimizer, double loss_scale);
double mw__reach_adam(const mw_optimizer *optimizer, double loss_scale);
double mw__reach_rmsprop(const mw_optimizer *optimizer, double loss_scale);
double mw__reach_adagrad(const mw_optimizer *optimizer, double loss_scale);
double mw__reach_lion(const mw_optimizer *optimizer, double loss_scale);
/* That of the optimizer's row. */
double mw__optimizer_reach(const mw_optimizer *optimizer, double loss_scale);
/* "adam"; NULL for what is no kind. */
const char *mw__optimizer_kind_name(mw_optimizer_kind kind);
/* The default in fp32; 0 = the optimizer divides by nothing. */
double mw__optimizer_epsilon(const mw_optimizer *optimizer);
/* What a state is for, by its index. */
mw__optimizer_role mw__optimizer_role_at(const mw_optimizer *optimizer, bool half, size_t index);

/* Subtracts the change from p, or from p and its low term. */
void mw__update_parameter(mw__optimizer_update *u, mw_tensor *change);

#endif

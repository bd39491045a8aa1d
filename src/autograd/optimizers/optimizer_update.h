/* What an optimizer's file, optimizer_<name>.c, is made with: its row, and parts of updates that several have. */
#ifndef MW__AUTOGRAD_OPTIMIZERS_OPTIMIZER_UPDATE_H
#define MW__AUTOGRAD_OPTIMIZERS_OPTIMIZER_UPDATE_H

#include "autograd/optimizers/optimizer_rows.h"
#include "autograd/vjp/rules.h"

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

_Static_assert((int)MW__ROLE_COUNT <= MW__OPTIMIZER_STATES, "one state per role");

/* The low terms are kept times these powers of two, so that in fp16, whose smallest step is 2^-24, they go on where the
 * high terms end. Larger units would let the change of a step overflow sooner: at 65504 / unit. */
#define MW__LOW_UNIT  256.0
#define MW__ROOT_UNIT 16.0

/* What the change of the parameter is multiplied by until it is subtracted. */
static inline double mw__optimizer_unit(const mw__optimizer *optimizer)
{
    return optimizer->compensated ? MW__LOW_UNIT : 1.0;
}

/* The least positive number of fp16. */
#define MW__HALF_LEAST 0x1p-24

/* Whether roots have one term of fp16, whose rounding has to be dithered. */
static inline bool mw__optimizer_dithers(const mw__optimizer *optimizer, bool half)
{
    return half && !optimizer->compensated;
}

typedef struct mw__optimizer_update {
    const mw__optimizer *optimizer;
    const mw__optimizer_scalars *scalars;
    mw_tensor *p, *gradient;
    mw_tensor *state[MW__ROLE_COUNT]; /* by role; NULL if the optimizer keeps none */
    mw_tensor *new_p, *new_state[MW__ROLE_COUNT];
} mw__optimizer_update;

/* ---- a row ---- */

/* When a scalar is fed. */
typedef struct mw__moment {
    const mw__optimizer *optimizer;
    double rate, loss_scale;
    int64_t step;
} mw__moment;

typedef struct mw__scalar_row {
    const char *name;
    double (*value)(const mw__moment *moment);
} mw__scalar_row;

/* How parameters of a type are updated. */
typedef struct mw__optimizer_form {
    unsigned (*roles)(const mw__optimizer *optimizer); /* of its states, but for LOW, as a set of MW__ROLE_BIT */
    mw__scalar_row scalars[MW__OPTIMIZER_SCALARS];     /* the last one only with decoupled weight decay */
    /* Returns the change: p' = p - change / unit, before decoupled weight decay. */
    mw_tensor *(*update)(mw__optimizer_update *u);
} mw__optimizer_form;

/* Numbers as a set. What all optimizers of the library have is in MW__NUMBERS_COMMON. */
#define MW__NUMBER_BIT(name) (1u << MW_OPTIMIZER_##name)
#define MW__NUMBERS_COMMON                                                                                             \
    (MW__NUMBER_BIT(LEARNING_RATE) | MW__NUMBER_BIT(WEIGHT_DECAY) | MW__NUMBER_BIT(DECOUPLED) |                        \
     MW__NUMBER_BIT(COMPENSATED))

/* In fp16 some have one root for a mean or sum of squares, whose rounding is dithered by what it forgets at a step. */
typedef struct mw__optimizer_row {
    const char *name;
    unsigned numbers;    /* that it has, as a set of MW__NUMBER_BIT */
    mw__optimizer start; /* their defaults that are not 0 */
    double epsilon;      /* the default in fp32; 0 = it has none */
    /* The largest |change| of an fp32 parameter for 1 of the first scalar, if gradients and states are within the
     * limits of optimizer_bounds.c. */
    double (*reach)(const mw__optimizer *optimizer, double loss_scale);
    mw__optimizer_form usual;
    mw__optimizer_form dithered; /* no update: as usual */
    mw__optimizer_form matrix;   /* of MW__OF_MATRIX, in either type; no update: as others. Its scalars are theirs */
} mw__optimizer_row;

#define MW_OPTIMIZER(kind, row) extern const mw__optimizer_row mw__optimizer_##row;
#include "autograd/optimizers/optimizers.def"
#undef MW_OPTIMIZER

/* ---- what rows are made of ---- */

#define MW__ROLE_BIT(name) (1u << MW__ROLE_##name)
unsigned mw__roles_root(const mw__optimizer *optimizer);
unsigned mw__roles_momentum(const mw__optimizer *optimizer);

/* Scalars in the unit of the change. */
double mw__optimizer_value_step(const mw__moment *m);
double mw__optimizer_value_decay(const mw__moment *m);
#define MW__SCALAR_DECAY                                                                                               \
    {                                                                                                                  \
        "weight_decay_step", mw__optimizer_value_decay                                                                 \
    }
/* What share of its square a root forgets, moved by -2^-10 to 2^-10 from step to step. A multiple of fp16's least
 * number, so that it is 0 or held. */
double mw__optimizer_value_dithered(const mw__moment *m, double keep);

/* Limits of gradients and their means; see optimizer_bounds.c. */
#define MW__GRADIENT_LIMIT 0x1p50 /* 1.1e15 */
#define MW__MEAN_LIMIT     (4.0 * MW__GRADIENT_LIMIT)
/* What the sum of steps can become. */
double mw__momentum_limit(const mw__optimizer *optimizer, double loss_scale);

/* Infinity becomes the largest number of fp16: for what may overflow although the gradients did not. */
mw_tensor *mw__update_held(const mw__optimizer_update *u, mw_tensor *x);
/* g + weight_decay p, in the scale of the gradients. */
mw_tensor *mw__update_decayed(const mw__optimizer_update *u);
/* beta m + (1 - beta) x. */
mw_tensor *mw__update_mean(const mw__optimizer_update *u, mw_tensor *m, mw_tensor *x, double beta);
/* root'^2 = keep root^2 + gain x^2 of the state ROOT, and its second term; in fp16 with one term `fall` is dithered. */
mw_tensor *mw__update_root(mw__optimizer_update *u, mw_tensor *x, double keep, double gain);
mw_tensor *mw__update_root_half(mw__optimizer_update *u, mw_tensor *x, double keep, double gain, mw_tensor *fall);
/* Whichever of the two it is, with the second scalar as `fall`. */
mw_tensor *mw__update_root_of(mw__optimizer_update *u, mw_tensor *x, double keep, double gain);
/* x / (deviation + epsilon), both in the scale of the gradients. */
mw_tensor *mw__update_normalized(const mw__optimizer_update *u, mw_tensor *x, mw_tensor *deviation);

/* ---- asking the rows ---- */

/* That of the optimizer's row. */
double mw__optimizer_reach(const mw__optimizer *optimizer, double loss_scale);
/* Whether it has that number. */
bool mw__optimizer_has(mw__optimizer_kind kind, mw_optimizer_number number);
/* The default in fp32; 0 = the optimizer divides by nothing. */
double mw__optimizer_epsilon(const mw__optimizer *optimizer);
/* What a state is for, by its index. */
mw__optimizer_role mw__optimizer_role_at(const mw__optimizer *optimizer, unsigned of, size_t index);

/* Subtracts the change from p, or from p and its low term. */
void mw__update_parameter(mw__optimizer_update *u, mw_tensor *change);

#endif

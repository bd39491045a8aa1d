/* The optimizers: makers, one row each, what is fed at a step. Their numbers are in optimizer_numbers.c, their updates
 * in optimizer_update.c. */
#include "autograd/optimizer_update.h"
#include "base/error.h"

#include <math.h>
#include <string.h>

/* ---- the public makers ---- */

mw_optimizer mw_sgd(float learning_rate) { return (mw_optimizer){.kind = MW_SGD, .learning_rate = learning_rate}; }

mw_optimizer mw_sgd_momentum(float learning_rate, float momentum, bool nesterov)
{
    return (mw_optimizer){.kind = MW_SGD, .learning_rate = learning_rate, .momentum = momentum, .nesterov = nesterov};
}

mw_optimizer mw_adam(float learning_rate)
{
    return (mw_optimizer){.kind = MW_ADAM, .learning_rate = learning_rate, .beta1 = 0.9f, .beta2 = 0.999f};
}

mw_optimizer mw_adamw(float learning_rate, float weight_decay)
{
    mw_optimizer optimizer = mw_adam(learning_rate);
    optimizer.weight_decay = weight_decay;
    optimizer.decoupled = true;
    return optimizer;
}

mw_optimizer mw_rmsprop(float learning_rate)
{
    return (mw_optimizer){.kind = MW_RMSPROP, .learning_rate = learning_rate, .alpha = 0.99f};
}

mw_optimizer mw_adagrad(float learning_rate)
{
    return (mw_optimizer){.kind = MW_ADAGRAD, .learning_rate = learning_rate};
}

mw_optimizer mw_lion(float learning_rate, float weight_decay)
{
    return (mw_optimizer){.kind = MW_LION,
                          .learning_rate = learning_rate,
                          .weight_decay = weight_decay,
                          .decoupled = true,
                          .beta1 = 0.9f,
                          .beta2 = 0.99f};
}

/* ---- scalars of a step, in the unit of the change ---- */

typedef struct moment {
    const mw_optimizer *optimizer;
    double rate, loss_scale;
    int64_t step;
} moment;

/* The unit of SGD's change is in its gradient already. */
static double value_rate(const moment *m) { return m->rate; }

static double value_step(const moment *m) { return m->rate * mw__optimizer_unit(m->optimizer); }

static double value_decay(const moment *m) { return value_step(m) * (double)m->optimizer->weight_decay; }

static double value_adam_step(const moment *m)
{
    return value_step(m) / (1.0 - pow((double)m->optimizer->beta1, (double)m->step));
}

static double value_adagrad_step(const moment *m)
{
    return value_step(m) / (1.0 + (double)(m->step - 1) * (double)m->optimizer->lr_decay);
}

/* sqrt(v') over the v that knows of no steps before the first */
static double adam_share(const moment *m) { return sqrt(1.0 - pow((double)m->optimizer->beta2, (double)m->step)); }

static double value_adam_correction(const moment *m) { return 1.0 / adam_share(m); }

/* m' / (root / share + epsilon) = share m' / (root + share epsilon): two numbers to feed, and no product by a third. */
static double value_adam_half_step(const moment *m) { return value_adam_step(m) * adam_share(m); }

static double value_adam_half_epsilon(const moment *m)
{
    return fmax((double)m->optimizer->epsilon * m->loss_scale * adam_share(m), MW__HALF_LEAST);
}

/* A number of [-1/2, 1/2) for each step, whose runs are spread evenly: multiples of the golden ratio.
 * source  Weyl 1916; Knuth, The Art of Computer Programming 3, section 6.4, exercise 8 */
static double spread(int64_t step) { return ldexp((double)((uint64_t)step * 0x9e3779b97f4a7c15u), -64) - 0.5; }

/* What share of its square a root forgets, moved by -2^-10 to 2^-10 from step to step (mw__update_root). A multiple of
 * fp16's least number, so that it is 0 or held. */
static double dithered(const moment *m, double keep)
{
    return nearbyint((1.0 - keep + 0x1p-9 * spread(m->step)) / MW__HALF_LEAST) * MW__HALF_LEAST;
}

static double value_adam_fall(const moment *m) { return dithered(m, (double)m->optimizer->beta2); }
static double value_rmsprop_fall(const moment *m) { return dithered(m, (double)m->optimizer->alpha); }
static double value_adagrad_fall(const moment *m) { return dithered(m, 1.0); }

/* ---- states ---- */

#define ROLE(name) (1u << MW__ROLE_##name)

static unsigned root_roles(const mw_optimizer *o) { return ROLE(ROOT) | (o->compensated ? ROLE(ROOT_LOW) : 0u); }

static unsigned momentum_role(const mw_optimizer *o) { return o->momentum != 0.0f ? ROLE(MOMENTUM) : 0u; }

static unsigned roles_adam(const mw_optimizer *o) { return ROLE(M) | (o->compensated ? root_roles(o) : ROLE(V)); }
static unsigned roles_adam_half(const mw_optimizer *o) { return ROLE(M) | root_roles(o); }

static unsigned roles_rmsprop(const mw_optimizer *o)
{
    return momentum_role(o) | (o->centered ? ROLE(MEAN) : 0u) | root_roles(o);
}

static unsigned roles_lion(const mw_optimizer *o)
{
    (void)o;
    return ROLE(M);
}

/* ---- the rows ---- */

typedef struct scalar_row {
    const char *name;
    double (*value)(const moment *moment);
} scalar_row;

/* How parameters of a type are updated. */
typedef struct form {
    unsigned (*roles)(const mw_optimizer *optimizer); /* of its states, but for LOW, as a set */
    scalar_row scalars[MW__OPTIMIZER_SCALARS];        /* the last one only with decoupled weight decay */
    mw_tensor *(*update)(mw__optimizer_update *u);
} form;

/* In fp16 some have one root for a mean or sum of squares, whose rounding is dithered by what it forgets at a step. */
typedef struct optimizer_row {
    const char *name;
    double epsilon;                                                    /* the default in fp32; 0 = it has none */
    double (*reach)(const mw_optimizer *optimizer, double loss_scale); /* the largest change; in fp32 */
    form usual;
    form dithered; /* no update: as usual */
} optimizer_row;

#define DECAY                                                                                                          \
    {                                                                                                                  \
        "weight_decay_step", value_decay                                                                               \
    }

static const optimizer_row rows[] = {
    [MW_SGD] = {.name = "sgd",
                .reach = mw__reach_sgd,
                .usual = {momentum_role, {{"learning_rate", value_rate}, DECAY}, mw__update_sgd}},
    [MW_ADAM] = {.name = "adam",
                 .epsilon = 1e-8,
                 .reach = mw__reach_adam,
                 .usual = {roles_adam,
                           {{"adam_step_size", value_adam_step}, {"adam_correction", value_adam_correction}, DECAY},
                           mw__update_adam},
                 .dithered = {roles_adam_half,
                              {{"adam_step_size", value_adam_half_step},
                               {"adam_epsilon", value_adam_half_epsilon},
                               {"adam_fall", value_adam_fall},
                               DECAY},
                              mw__update_adam_half}},
    [MW_RMSPROP] = {.name = "rmsprop",
                    .epsilon = 1e-8,
                    .reach = mw__reach_rmsprop,
                    .usual = {roles_rmsprop, {{"learning_rate", value_step}, DECAY}, mw__update_rmsprop},
                    .dithered = {roles_rmsprop,
                                 {{"learning_rate", value_step}, {"rmsprop_fall", value_rmsprop_fall}, DECAY},
                                 mw__update_rmsprop}},
    [MW_ADAGRAD] =
        {.name = "adagrad",
         .epsilon = 1e-10,
         .reach = mw__reach_adagrad,
         .usual = {root_roles, {{"adagrad_step_size", value_adagrad_step}, DECAY}, mw__update_adagrad},
         .dithered = {root_roles,
                      {{"adagrad_step_size", value_adagrad_step}, {"adagrad_fall", value_adagrad_fall}, DECAY},
                      mw__update_adagrad}},
    [MW_LION] = {.name = "lion",
                 .reach = mw__reach_lion,
                 .usual = {roles_lion, {{"learning_rate", value_step}, DECAY}, mw__update_lion}},
};

static const form *form_of(const mw_optimizer *o, bool half)
{
    const optimizer_row *row = &rows[o->kind];
    return mw__optimizer_dithers(o, half) && row->dithered.update != NULL ? &row->dithered : &row->usual;
}

static const char *const role_names[MW__ROLE_COUNT] = {
    [MW__ROLE_MOMENTUM] = "momentum",  [MW__ROLE_M] = "m",       [MW__ROLE_V] = "v",
    [MW__ROLE_MEAN] = "mean",          [MW__ROLE_ROOT] = "root", [MW__ROLE_ROOT_LOW] = "root_low",
    [MW__ROLE_LOW] = MW__OPTIMIZER_LOW};

const char *mw__optimizer_kind_name(mw_optimizer_kind kind)
{
    const int count = (int)(sizeof rows / sizeof *rows);
    return (int)kind > MW_OPTIMIZER_NONE && (int)kind < count ? rows[kind].name : NULL;
}

double mw__optimizer_epsilon(const mw_optimizer *optimizer) { return rows[optimizer->kind].epsilon; }

/* Of Adagrad's sum of squares, in the scale of the gradients. */
static double initial_root(const mw_optimizer *o, double loss_scale)
{
    return sqrt((double)o->initial_accumulator) * loss_scale;
}

static bool has_role(const mw_optimizer *o, bool half, int role)
{
    const unsigned set = form_of(o, half)->roles(o) | (o->compensated ? ROLE(LOW) : 0u);
    return (set >> role & 1u) != 0;
}

size_t mw__optimizer_state_count(const mw_optimizer *optimizer, bool half)
{
    size_t count = 0;
    for (int role = 0; role < MW__ROLE_COUNT; role++)
        count += has_role(optimizer, half, role);
    return count;
}

/* States are counted in the order of their roles. */
mw__optimizer_role mw__optimizer_role_at(const mw_optimizer *o, bool half, size_t index)
{
    int role = 0;
    for (size_t before = 0; !has_role(o, half, role) || before++ < index;)
        role++;
    return (mw__optimizer_role)role;
}

double mw__optimizer_reach(const mw_optimizer *optimizer, double loss_scale)
{
    return rows[optimizer->kind].reach(optimizer, loss_scale);
}

const char *mw__optimizer_state_name(const mw_optimizer *optimizer, bool half, size_t index)
{
    return role_names[mw__optimizer_role_at(optimizer, half, index)];
}

double mw__optimizer_state_initial(const mw_optimizer *optimizer, bool half, size_t index, double loss_scale)
{
    return mw__optimizer_role_at(optimizer, half, index) == MW__ROLE_ROOT ? initial_root(optimizer, loss_scale) : 0.0;
}

size_t mw__optimizer_scalar_count(const mw_optimizer *optimizer, bool half)
{
    size_t count = 0;
    while (count < MW__OPTIMIZER_SCALARS && form_of(optimizer, half)->scalars[count].name != NULL)
        count++;
    bool decays = optimizer->decoupled && optimizer->weight_decay != 0.0f;
    return decays ? count : count - 1;
}

const char *mw__optimizer_scalar_name(const mw_optimizer *optimizer, bool half, size_t index)
{
    return form_of(optimizer, half)->scalars[index].name;
}

double mw__optimizer_scalar_value(const mw_optimizer *optimizer, bool half, size_t index, double loss_scale,
                                  double learning_rate, int64_t step)
{
    const moment now = {.optimizer = optimizer, .rate = learning_rate, .loss_scale = loss_scale, .step = step};
    return form_of(optimizer, half)->scalars[index].value(&now);
}

mw_status mw__optimizer_apply(const mw__optimizer_request *r, mw_tensor **out_p, mw_tensor **out_state, mw_error *err)
{
    mw__optimizer_update u = {.optimizer = r->optimizer, .scalars = r->scalars, .p = r->p, .gradient = r->gradient};
    const bool half = r->scalars->half;
    for (size_t i = 0; i < r->state_count; i++)
        u.state[mw__optimizer_role_at(r->optimizer, half, i)] = r->state[i];
    mw__update_parameter(&u, form_of(r->optimizer, half)->update(&u));
    *out_p = u.new_p;
    for (size_t i = 0; i < r->state_count; i++)
        out_state[i] = u.new_state[mw__optimizer_role_at(r->optimizer, half, i)];
    return mw_graph_check(r->graph, err);
}

/* ---- epsilon ---- */

/* In fp16 an epsilon that is not far above the least number, 2^-24, would be 0 itself, and the rest that rounding
 * leaves of a mean of nothing, 5 * 2^-24, would count. The program has it times the loss scale. */
#define HALF_EPSILON 2e-6

void mw__optimizer_set_epsilon(mw_optimizer *optimizer, bool half, double loss_scale)
{
    const double single = mw__optimizer_epsilon(optimizer);
    if (single != 0.0 && optimizer->epsilon == 0.0f)
        optimizer->epsilon = (float)(half ? fmax(single, HALF_EPSILON / loss_scale) : single);
}

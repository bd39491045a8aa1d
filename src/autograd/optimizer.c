/* The optimizers: makers, one row each, what is fed at a step, checks. Their updates are in optimizer_update.c. */
#include "autograd/optimizer_update.h"
#include "base/error.h"
#include "base/number.h"

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

/* The unit of SGD's change is in its gradient already. */
static double value_rate(const mw_optimizer *o, double rate, int64_t step)
{
    (void)o, (void)step;
    return rate;
}

static double value_step(const mw_optimizer *o, double rate, int64_t step)
{
    (void)step;
    return rate * mw__optimizer_unit(o);
}

static double value_decay(const mw_optimizer *o, double rate, int64_t step)
{
    (void)step;
    return rate * (double)o->weight_decay * mw__optimizer_unit(o);
}

static double value_adam_step(const mw_optimizer *o, double rate, int64_t step)
{
    return rate * mw__optimizer_unit(o) / (1.0 - pow((double)o->beta1, (double)step));
}

static double value_adagrad_step(const mw_optimizer *o, double rate, int64_t step)
{
    return rate * mw__optimizer_unit(o) / (1.0 + (double)(step - 1) * (double)o->lr_decay);
}

static double value_adam_correction(const mw_optimizer *o, double rate, int64_t step)
{
    (void)rate;
    return 1.0 / sqrt(1.0 - pow((double)o->beta2, (double)step));
}

/* ---- description ---- */

static void put_number(mw__text *text, const char *name, double value)
{
    char number[MW__NUMBER_MAX];
    mw__number_print_float(number, (float)value);
    mw__text_printf(text, " %s=%s", name, number);
}

static void describe_sgd(const mw_optimizer *o, mw__text *text)
{
    put_number(text, "momentum", (double)o->momentum);
    mw__text_printf(text, " nesterov=%d", o->nesterov);
}

static void describe_betas(const mw_optimizer *o, mw__text *text)
{
    put_number(text, "beta1", (double)o->beta1);
    put_number(text, "beta2", (double)o->beta2);
}

static void describe_adam(const mw_optimizer *o, mw__text *text)
{
    describe_betas(o, text);
    put_number(text, "epsilon", (double)o->epsilon);
}

static void describe_rmsprop(const mw_optimizer *o, mw__text *text)
{
    put_number(text, "alpha", (double)o->alpha);
    mw__text_printf(text, " centered=%d", o->centered);
    put_number(text, "momentum", (double)o->momentum);
    put_number(text, "epsilon", (double)o->epsilon);
}

static void describe_adagrad(const mw_optimizer *o, mw__text *text)
{
    put_number(text, "lr_decay", (double)o->lr_decay);
    put_number(text, "initial_accumulator", (double)o->initial_accumulator);
    put_number(text, "epsilon", (double)o->epsilon);
}

/* ---- states ---- */

#define ROLE(name) (1u << MW__ROLE_##name)

static unsigned root_roles(const mw_optimizer *o) { return ROLE(ROOT) | (o->compensated ? ROLE(ROOT_LOW) : 0u); }

static unsigned momentum_role(const mw_optimizer *o) { return o->momentum != 0.0f ? ROLE(MOMENTUM) : 0u; }

static unsigned roles_adam(const mw_optimizer *o) { return ROLE(M) | (o->compensated ? root_roles(o) : ROLE(V)); }

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
    double (*value)(const mw_optimizer *optimizer, double learning_rate, int64_t step);
} scalar_row;

typedef struct optimizer_row {
    const char *name;
    double epsilon;                                                  /* the default in fp32; 0 = it has none */
    void (*describe)(const mw_optimizer *optimizer, mw__text *text); /* its own numbers */
    unsigned (*roles)(const mw_optimizer *optimizer);                /* of its states, but for LOW, as a set */
    scalar_row scalars[MW__OPTIMIZER_SCALARS];                       /* the last one only with decoupled weight decay */
    mw_tensor *(*update)(mw__optimizer_update *u);
    double (*reach)(const mw_optimizer *optimizer, double loss_scale); /* the largest change */
} optimizer_row;

static const optimizer_row rows[] = {
    [MW_SGD] = {"sgd",
                0.0,
                describe_sgd,
                momentum_role,
                {{"learning_rate", value_rate}, {"weight_decay_step", value_decay}},
                mw__update_sgd,
                mw__reach_sgd},
    [MW_ADAM] = {"adam",
                 1e-8,
                 describe_adam,
                 roles_adam,
                 {{"adam_step_size", value_adam_step},
                  {"adam_correction", value_adam_correction},
                  {"weight_decay_step", value_decay}},
                 mw__update_adam,
                 mw__reach_adam},
    [MW_RMSPROP] = {"rmsprop",
                    1e-8,
                    describe_rmsprop,
                    roles_rmsprop,
                    {{"learning_rate", value_step}, {"weight_decay_step", value_decay}},
                    mw__update_rmsprop,
                    mw__reach_rmsprop},
    [MW_ADAGRAD] = {"adagrad",
                    1e-10,
                    describe_adagrad,
                    root_roles,
                    {{"adagrad_step_size", value_adagrad_step}, {"weight_decay_step", value_decay}},
                    mw__update_adagrad,
                    mw__reach_adagrad},
    [MW_LION] = {"lion",
                 0.0,
                 describe_betas,
                 roles_lion,
                 {{"learning_rate", value_step}, {"weight_decay_step", value_decay}},
                 mw__update_lion,
                 mw__reach_lion},
};

static const char *const role_names[MW__ROLE_COUNT] = {[MW__ROLE_MOMENTUM] = "momentum",
                                                       [MW__ROLE_M] = "m",
                                                       [MW__ROLE_V] = "v",
                                                       [MW__ROLE_MEAN] = "mean",
                                                       [MW__ROLE_ROOT] = "root",
                                                       [MW__ROLE_ROOT_LOW] = "root_low",
                                                       [MW__ROLE_LOW] = "low"};

void mw__optimizer_describe(const mw_optimizer *optimizer, mw__text *text)
{
    mw__text_puts(text, rows[optimizer->kind].name);
    rows[optimizer->kind].describe(optimizer, text);
    put_number(text, "weight_decay", (double)optimizer->weight_decay);
    mw__text_printf(text, " decoupled=%d%s", optimizer->decoupled, optimizer->compensated ? " compensated=1" : "");
}

/* Of Adagrad's sum of squares, in the scale of the gradients. */
static double initial_root(const mw_optimizer *o, double loss_scale)
{
    return sqrt((double)o->initial_accumulator) * loss_scale;
}

void mw__optimizer_constants(const mw_optimizer *o, double loss_scale,
                             mw__optimizer_constant out[MW__OPTIMIZER_CONSTANTS])
{
    const mw__optimizer_constant constants[MW__OPTIMIZER_CONSTANTS] = {
        {"weight_decay", (double)o->weight_decay * (o->decoupled ? 1.0 : loss_scale)},
        {"momentum", (double)o->momentum},
        {"beta1", (double)o->beta1},
        {"beta2", (double)o->beta2},
        {"epsilon", (double)o->epsilon * loss_scale},
        {"1 - beta1", 1.0 - (double)o->beta1},
        {"1 - beta2", 1.0 - (double)o->beta2},
        {"alpha", (double)o->alpha},
        {"1 - alpha", 1.0 - (double)o->alpha},
        {"initial_accumulator", initial_root(o, loss_scale)}};
    memcpy(out, constants, sizeof constants);
}

static bool has_role(const mw_optimizer *o, int role)
{
    const unsigned set = rows[o->kind].roles(o) | (o->compensated ? ROLE(LOW) : 0u);
    return (set >> role & 1u) != 0;
}

size_t mw__optimizer_state_count(const mw_optimizer *optimizer)
{
    size_t count = 0;
    for (int role = 0; role < MW__ROLE_COUNT; role++)
        count += has_role(optimizer, role);
    return count;
}

/* States are counted in the order of their roles. */
mw__optimizer_role mw__optimizer_role_at(const mw_optimizer *o, size_t index)
{
    int role = 0;
    for (size_t before = 0; !has_role(o, role) || before++ < index;)
        role++;
    return (mw__optimizer_role)role;
}

double mw__optimizer_reach(const mw_optimizer *optimizer, double loss_scale)
{
    return rows[optimizer->kind].reach(optimizer, loss_scale);
}

const char *mw__optimizer_state_name(const mw_optimizer *optimizer, size_t index)
{
    return role_names[mw__optimizer_role_at(optimizer, index)];
}

double mw__optimizer_state_initial(const mw_optimizer *optimizer, size_t index, double loss_scale)
{
    return mw__optimizer_role_at(optimizer, index) == MW__ROLE_ROOT ? initial_root(optimizer, loss_scale) : 0.0;
}

size_t mw__optimizer_scalar_count(const mw_optimizer *optimizer)
{
    size_t count = 0;
    while (count < MW__OPTIMIZER_SCALARS && rows[optimizer->kind].scalars[count].name != NULL)
        count++;
    bool decays = optimizer->decoupled && optimizer->weight_decay != 0.0f;
    return decays ? count : count - 1;
}

const char *mw__optimizer_scalar_name(const mw_optimizer *optimizer, size_t index)
{
    return rows[optimizer->kind].scalars[index].name;
}

double mw__optimizer_scalar_value(const mw_optimizer *optimizer, size_t index, double learning_rate, int64_t step)
{
    return rows[optimizer->kind].scalars[index].value(optimizer, learning_rate, step);
}

mw_status mw__optimizer_apply(const mw_optimizer *optimizer, mw_graph *graph, const mw__optimizer_scalars *scalars,
                              mw_tensor *p, mw_tensor *gradient, mw_tensor *const *state, size_t state_count,
                              mw_tensor **out_p, mw_tensor **out_state, mw_error *err)
{
    mw__optimizer_update u = {.optimizer = optimizer, .scalars = scalars, .p = p, .gradient = gradient};
    for (size_t i = 0; i < state_count; i++)
        u.state[mw__optimizer_role_at(optimizer, i)] = state[i];
    mw__update_parameter(&u, rows[optimizer->kind].update(&u));
    *out_p = u.new_p;
    for (size_t i = 0; i < state_count; i++)
        out_state[i] = u.new_state[mw__optimizer_role_at(optimizer, i)];
    return mw_graph_check(graph, err);
}

/* ---- checks ---- */

static mw_status check_number(const char *field, float value, bool good, const char *rule, mw_error *err)
{
    if (good)
        return MW_OK;
    return mw__fail(err, MW_ERROR_ARGUMENT, "optimizer: %s is %g; it must be %s", field, (double)value, rule);
}

static mw_status check_unit(const char *field, float value, mw_error *err)
{
    return check_number(field, value, value >= 0.0f && value < 1.0f, "in [0, 1)", err);
}

static mw_status check_positive(const char *field, float value, mw_error *err)
{
    return check_number(field, value, value >= 0.0f && isfinite(value), "0 or more, and finite", err);
}

/* Switches that another kind would ignore. */
static mw_status check_switches(const mw_optimizer *o, mw_error *err)
{
    if (o->nesterov && o->kind != MW_SGD)
        return mw__fail(err, MW_ERROR_ARGUMENT, "optimizer: nesterov is for sgd; %s has none", rows[o->kind].name);
    if (o->nesterov && o->momentum == 0.0f)
        return mw__fail(err, MW_ERROR_ARGUMENT, "optimizer: nesterov needs a momentum above 0");
    if (o->centered && o->kind != MW_RMSPROP)
        return mw__fail(err, MW_ERROR_ARGUMENT, "optimizer: centered is for rmsprop; %s has none", rows[o->kind].name);
    return MW_OK;
}

mw_status mw__optimizer_check(const mw_optimizer *o, mw_error *err)
{
    const int kind = (int)o->kind, count = (int)(sizeof rows / sizeof *rows);
    if (kind <= MW_OPTIMIZER_NONE || kind >= count)
        return mw__fail(
            err, MW_ERROR_ARGUMENT,
            "optimizer: kind %d is none; make one with mw_sgd, mw_adam, mw_adamw, mw_rmsprop, mw_adagrad or "
            "mw_lion",
            kind);
    MW_TRY(check_number("learning_rate", o->learning_rate, o->learning_rate > 0.0f && isfinite(o->learning_rate),
                        "positive and finite", err));
    MW_TRY(check_positive("weight_decay", o->weight_decay, err));
    MW_TRY(check_unit("momentum", o->momentum, err));
    MW_TRY(check_unit("beta1", o->beta1, err));
    MW_TRY(check_unit("beta2", o->beta2, err));
    MW_TRY(check_unit("alpha", o->alpha, err));
    MW_TRY(check_positive("epsilon", o->epsilon, err));
    MW_TRY(check_positive("lr_decay", o->lr_decay, err));
    MW_TRY(check_positive("initial_accumulator", o->initial_accumulator, err));
    return check_switches(o, err);
}

/* In fp16 sqrt(v) is 0 where gradients are small, and epsilon alone bounds the step: 1e-8 would be 0 itself. With a
 * loss scale, by which the constant in the program is multiplied, 1e-6 does; without, 1e-4 is needed. */
void mw__optimizer_set_epsilon(mw_optimizer *optimizer, bool half, double loss_scale)
{
    const double single = rows[optimizer->kind].epsilon;
    if (single != 0.0 && optimizer->epsilon == 0.0f)
        optimizer->epsilon = !half ? (float)single : loss_scale >= 64.0 ? 1e-6f : 1e-4f;
}

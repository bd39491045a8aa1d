/* The optimizers: one row each, and their updates as operations. */
#include "autograd/optimizer.h"
#include "autograd/rules.h"
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

/* ---- updates ---- */

typedef struct update {
    const mw_optimizer *optimizer;
    const mw__optimizer_scalars *scalars;
    mw_tensor *p, *gradient;
    mw_tensor *const *state;
    mw_tensor *new_p, *new_state[MW__OPTIMIZER_STATES];
} update;

/* g + weight_decay p, in the scale of the gradients */
static mw_tensor *decayed(const update *u)
{
    const mw_optimizer *o = u->optimizer;
    if (o->weight_decay == 0.0f || o->decoupled)
        return u->gradient;
    return mw_add(u->gradient, mw_mul_scalar(u->p, (double)o->weight_decay * u->scalars->loss_scale));
}

static void update_sgd(update *u)
{
    const mw_optimizer *o = u->optimizer;
    mw_tensor *g = decayed(u);
    if (u->scalars->loss_scale != 1.0)
        g = mw_mul_scalar(g, 1.0 / u->scalars->loss_scale);
    if (o->momentum != 0.0f) {
        mw_tensor *b = mw_add(mw_mul_scalar(u->state[0], (double)o->momentum), g);
        u->new_state[0] = b;
        g = o->nesterov ? mw_add(g, mw_mul_scalar(b, (double)o->momentum)) : b;
    }
    mw_tensor *change = mw_mul(g, u->scalars->scalar[0]);
    if (o->decoupled && o->weight_decay != 0.0f)
        change = mw_add(change, mw_mul(u->p, u->scalars->scalar[1]));
    u->new_p = mw_sub(u->p, change);
}

/* m and v are kept in the scale of the gradients: it cancels in m / sqrt(v) but for epsilon. (1 - beta2) g^2 is formed
 * as the square of sqrt(1 - beta2) g, which underflows later in fp16. */
static void update_adam(update *u)
{
    const mw_optimizer *o = u->optimizer;
    mw_tensor *g = decayed(u);
    double beta1 = (double)o->beta1, beta2 = (double)o->beta2;
    mw_tensor *m_kept = mw_mul_scalar(u->state[0], beta1);
    mw_tensor *m = mw_add(m_kept, mw_mul_scalar(g, 1.0 - beta1));
    mw_tensor *v_kept = mw_mul_scalar(u->state[1], beta2);
    mw_tensor *v = mw_add(v_kept, mw_square(mw_mul_scalar(g, sqrt(1.0 - beta2))));
    mw_tensor *deviation = mw_mul(mw_sqrt(v), u->scalars->scalar[1]);
    mw_tensor *denominator = mw_add_scalar(deviation, (double)o->epsilon * u->scalars->loss_scale);
    mw_tensor *change = mw_mul(mw_real_div(m, denominator), u->scalars->scalar[0]);
    if (o->decoupled && o->weight_decay != 0.0f)
        change = mw_add(change, mw_mul(u->p, u->scalars->scalar[2]));
    u->new_state[0] = m;
    u->new_state[1] = v;
    u->new_p = mw_sub(u->p, change);
}

/* ---- scalars of a step ---- */

static double value_rate(const mw_optimizer *o, double rate, int64_t step)
{
    (void)o, (void)step;
    return rate;
}

static double value_decay(const mw_optimizer *o, double rate, int64_t step)
{
    (void)step;
    return rate * (double)o->weight_decay;
}

static double value_adam_step(const mw_optimizer *o, double rate, int64_t step)
{
    return rate / (1.0 - pow((double)o->beta1, (double)step));
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

static void describe_adam(const mw_optimizer *o, mw__text *text)
{
    put_number(text, "beta1", (double)o->beta1);
    put_number(text, "beta2", (double)o->beta2);
    put_number(text, "epsilon", (double)o->epsilon);
}

/* ---- the rows ---- */

typedef struct scalar_row {
    const char *name;
    double (*value)(const mw_optimizer *optimizer, double learning_rate, int64_t step);
} scalar_row;

typedef struct optimizer_row {
    const char *name;
    void (*describe)(const mw_optimizer *optimizer, mw__text *text); /* its own numbers */
    const char *states[MW__OPTIMIZER_STATES];
    scalar_row scalars[MW__OPTIMIZER_SCALARS]; /* the last one only with decoupled weight decay */
    void (*update)(update *u);
} optimizer_row;

static const optimizer_row rows[] = {
    [MW_SGD] = {"sgd",
                describe_sgd,
                {"momentum"},
                {{"learning_rate", value_rate}, {"weight_decay_step", value_decay}},
                update_sgd},
    [MW_ADAM] = {"adam",
                 describe_adam,
                 {"m", "v"},
                 {{"adam_step_size", value_adam_step},
                  {"adam_correction", value_adam_correction},
                  {"weight_decay_step", value_decay}},
                 update_adam},
};

void mw__optimizer_describe(const mw_optimizer *optimizer, mw__text *text)
{
    mw__text_puts(text, rows[optimizer->kind].name);
    rows[optimizer->kind].describe(optimizer, text);
    put_number(text, "weight_decay", (double)optimizer->weight_decay);
    mw__text_printf(text, " decoupled=%d", optimizer->decoupled);
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
        {"1 - beta1", 1.0 - (double)o->beta1}};
    memcpy(out, constants, sizeof constants);
}

size_t mw__optimizer_state_count(const mw_optimizer *optimizer)
{
    if (optimizer->kind == MW_SGD && optimizer->momentum == 0.0f)
        return 0;
    size_t count = 0;
    while (count < MW__OPTIMIZER_STATES && rows[optimizer->kind].states[count] != NULL)
        count++;
    return count;
}

const char *mw__optimizer_state_name(const mw_optimizer *optimizer, size_t index)
{
    return rows[optimizer->kind].states[index];
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
    update u = {.optimizer = optimizer, .scalars = scalars, .p = p, .gradient = gradient, .state = state};
    rows[optimizer->kind].update(&u);
    *out_p = u.new_p;
    for (size_t i = 0; i < state_count; i++)
        out_state[i] = u.new_state[i];
    return mw_graph_check(graph, err);
}

/* ---- checks ---- */

static mw_status check_number(const char *field, float value, bool good, const char *rule, mw_error *err)
{
    if (good)
        return MW_OK;
    return mw__fail(err, MW_ERROR_ARGUMENT, "optimizer: %s is %g; it must be %s", field, (double)value, rule);
}

static bool in_unit(float value) { return value >= 0.0f && value < 1.0f; }

mw_status mw__optimizer_check(const mw_optimizer *o, mw_error *err)
{
    if (o->kind != MW_SGD && o->kind != MW_ADAM)
        return mw__fail(err, MW_ERROR_ARGUMENT, "optimizer: kind %d is none; make one with mw_sgd, mw_adam, mw_adamw",
                        (int)o->kind);
    MW_TRY(check_number("learning_rate", o->learning_rate, o->learning_rate > 0.0f && isfinite(o->learning_rate),
                        "positive and finite", err));
    MW_TRY(check_number("weight_decay", o->weight_decay, o->weight_decay >= 0.0f && isfinite(o->weight_decay),
                        "0 or more, and finite", err));
    MW_TRY(check_number("momentum", o->momentum, in_unit(o->momentum), "in [0, 1)", err));
    MW_TRY(check_number("beta1", o->beta1, in_unit(o->beta1), "in [0, 1)", err));
    MW_TRY(check_number("beta2", o->beta2, in_unit(o->beta2), "in [0, 1)", err));
    MW_TRY(
        check_number("epsilon", o->epsilon, o->epsilon >= 0.0f && isfinite(o->epsilon), "0 or more, and finite", err));
    if (o->nesterov && o->momentum == 0.0f)
        return mw__fail(err, MW_ERROR_ARGUMENT, "optimizer: nesterov needs a momentum above 0");
    return MW_OK;
}

/* In fp16 sqrt(v) is 0 where gradients are small, and epsilon alone bounds the step: 1e-8 would be 0 itself. With a
 * loss scale, by which the constant in the program is multiplied, 1e-6 does; without, 1e-4 is needed. */
void mw__optimizer_set_epsilon(mw_optimizer *optimizer, bool half, double loss_scale)
{
    if (optimizer->kind == MW_ADAM && optimizer->epsilon == 0.0f)
        optimizer->epsilon = !half ? 1e-8f : loss_scale >= 64.0 ? 1e-6f : 1e-4f;
}

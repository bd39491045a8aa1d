/* Adagrad. */
#include "autograd/optimizers/optimizer_update.h"

mw_optimizer mw_adagrad(float learning_rate)
{
    const mw__optimizer o = mw__optimizer_begin(MW__ADAGRAD, learning_rate);
    return mw__optimizer_hide(&o);
}

static double step_size(const mw__moment *m)
{
    return mw__optimizer_value_step(m) / (1.0 + (double)(m->step - 1) * (double)m->optimizer->lr_decay);
}

static double fall(const mw__moment *m) { return mw__optimizer_value_dithered(m, 1.0); }

static double adagrad_reach(const mw__optimizer *o, double loss_scale)
{
    return MW__GRADIENT_LIMIT / ((double)o->epsilon * loss_scale);
}

/* The scale cancels in g / root. */
static mw_tensor *adagrad_change(mw__optimizer_update *u)
{
    mw_tensor *g = mw__update_decayed(u);
    return mw_mul(mw__update_normalized(u, g, mw__update_root_of(u, g, 1.0, 1.0)), u->scalars->scalar[0]);
}

const mw__optimizer_row mw__optimizer_adagrad = {
    .name = "adagrad",
    .numbers =
        MW__NUMBERS_COMMON | MW__NUMBER_BIT(LR_DECAY) | MW__NUMBER_BIT(INITIAL_ACCUMULATOR) | MW__NUMBER_BIT(EPSILON),
    .epsilon = 1e-10,
    .reach = adagrad_reach,
    .usual = {mw__roles_root, {{"adagrad_step_size", step_size}, MW__SCALAR_DECAY}, adagrad_change},
    .dithered = {
        mw__roles_root, {{"adagrad_step_size", step_size}, {"adagrad_fall", fall}, MW__SCALAR_DECAY}, adagrad_change}};

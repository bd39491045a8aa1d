/* Lion. */
#include "autograd/optimizers/optimizer_update.h"

mw_optimizer mw_lion(float learning_rate, float weight_decay)
{
    mw__optimizer o = mw__optimizer_begin(MW__LION, learning_rate);
    o.weight_decay = weight_decay;
    return mw__optimizer_hide(&o);
}

static unsigned roles(const mw__optimizer *o)
{
    (void)o;
    return MW__ROLE_BIT(M);
}

static double lion_reach(const mw__optimizer *o, double loss_scale)
{
    (void)o, (void)loss_scale;
    return 1.0;
}

/* m is in the scale of the gradients, of which the sign does not depend. */
static mw_tensor *lion_change(mw__optimizer_update *u)
{
    const double beta1 = (double)u->optimizer->beta1;
    mw_tensor *g = mw__update_decayed(u), *m = u->state[MW__ROLE_M];
    mw_tensor *m_shown = mw_mul_scalar(m, beta1);
    mw_tensor *direction = mw_add(m_shown, mw_mul_scalar(g, 1.0 - beta1));
    u->new_state[MW__ROLE_M] = mw__update_mean(u, m, g, (double)u->optimizer->beta2);
    return mw_mul(mw_sign(direction), u->scalars->scalar[0]);
}

const mw__optimizer_row mw__optimizer_lion = {
    .name = "lion",
    .numbers = MW__NUMBERS_COMMON | MW__NUMBER_BIT(BETA1) | MW__NUMBER_BIT(BETA2),
    .start = {.beta1 = 0.9f, .beta2 = 0.99f, .decoupled = true},
    .reach = lion_reach,
    .usual = {roles, {{"learning_rate", mw__optimizer_value_step}, MW__SCALAR_DECAY}, lion_change}};

/* RMSprop, centered or not, with momentum. */
#include "autograd/optimizers/optimizer_update.h"

mw_optimizer mw_rmsprop(float learning_rate)
{
    const mw__optimizer o = mw__optimizer_begin(MW__RMSPROP, learning_rate);
    return mw__optimizer_hide(&o);
}

static unsigned roles(const mw__optimizer *o)
{
    return mw__roles_momentum(o) | (o->centered ? MW__ROLE_BIT(MEAN) : 0u) | mw__roles_root(o);
}

static double fall(const mw__moment *m) { return mw__optimizer_value_dithered(m, (double)m->optimizer->alpha); }

static double rmsprop_reach(const mw__optimizer *o, double loss_scale)
{
    const double one = MW__GRADIENT_LIMIT / ((double)o->epsilon * loss_scale);
    return o->momentum == 0.0f ? one : mw__momentum_limit(o, loss_scale);
}

/* The scale cancels in g / deviation, and the momentum sums that. Centered, the root is that of the variance, which
 * follows alpha (variance + (1 - alpha) (g - mean)^2): the difference of PyTorch's square_avg and grad_avg^2, which
 * would cancel in fp16 and could be negative. */
static mw_tensor *rmsprop_change(mw__optimizer_update *u)
{
    const mw__optimizer *o = u->optimizer;
    const double alpha = (double)o->alpha;
    mw_tensor *g = mw__update_decayed(u), *x = g;
    if (o->centered) {
        x = mw__update_held(u, mw_sub(g, u->state[MW__ROLE_MEAN]));
        u->new_state[MW__ROLE_MEAN] = mw_add(u->state[MW__ROLE_MEAN], mw_mul_scalar(x, 1.0 - alpha));
    }
    mw_tensor *deviation = mw__update_root_of(u, x, alpha, (o->centered ? alpha : 1.0) * (1.0 - alpha));
    mw_tensor *step = mw__update_normalized(u, g, deviation);
    if (o->momentum != 0.0f) {
        step = mw_add(mw_mul_scalar(u->state[MW__ROLE_MOMENTUM], (double)o->momentum), step);
        u->new_state[MW__ROLE_MOMENTUM] = step;
    }
    return mw_mul(step, u->scalars->scalar[0]);
}

const mw__optimizer_row mw__optimizer_rmsprop = {
    .name = "rmsprop",
    .numbers = MW__NUMBERS_COMMON | MW__NUMBER_BIT(ALPHA) | MW__NUMBER_BIT(CENTERED) | MW__NUMBER_BIT(MOMENTUM) |
               MW__NUMBER_BIT(EPSILON),
    .start = {.alpha = 0.99f},
    .epsilon = 1e-8,
    .reach = rmsprop_reach,
    .usual = {roles, {{"learning_rate", mw__optimizer_value_step}, MW__SCALAR_DECAY}, rmsprop_change},
    .dithered = {roles,
                 {{"learning_rate", mw__optimizer_value_step}, {"rmsprop_fall", fall}, MW__SCALAR_DECAY},
                 rmsprop_change}};

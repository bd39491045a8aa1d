/* SGD with momentum. */
#include "autograd/optimizers/optimizer_update.h"

mw_optimizer mw_sgd(float learning_rate) { return mw_sgd_momentum(learning_rate, 0.0f, false); }

mw_optimizer mw_sgd_momentum(float learning_rate, float momentum, bool nesterov)
{
    mw__optimizer o = mw__optimizer_begin(MW__SGD, learning_rate);
    o.momentum = momentum;
    o.nesterov = nesterov;
    return mw__optimizer_hide(&o);
}

/* The unit of its change is in its gradient already. */
static double value_rate(const mw__moment *m) { return m->rate; }

static double sgd_reach(const mw__optimizer *o, double loss_scale)
{
    const double g = MW__GRADIENT_LIMIT / loss_scale;
    if (o->momentum == 0.0f)
        return g;
    const double sum = mw__momentum_limit(o, loss_scale);
    return o->nesterov ? g + sum : sum;
}

/* In the unit of two-term weights fp16 cannot hold ten times the largest gradient. */
static mw_tensor *in_unit(const mw__optimizer_update *u, mw_tensor *b)
{
    return u->optimizer->compensated ? mw__update_held(u, b) : b;
}

/* The scale is divided out first. */
static mw_tensor *sgd_change(mw__optimizer_update *u)
{
    const mw__optimizer *o = u->optimizer;
    const double factor = mw__optimizer_unit(o) / u->scalars->loss_scale;
    mw_tensor *g = mw__update_decayed(u);
    if (factor != 1.0)
        g = mw_mul_scalar(g, factor);
    if (o->momentum != 0.0f) {
        mw_tensor *b = mw_add(mw_mul_scalar(u->state[MW__ROLE_MOMENTUM], (double)o->momentum), g);
        u->new_state[MW__ROLE_MOMENTUM] = b = in_unit(u, b);
        g = o->nesterov ? in_unit(u, mw_add(g, mw_mul_scalar(b, (double)o->momentum))) : b;
    }
    return mw_mul(g, u->scalars->scalar[0]);
}

const mw__optimizer_row mw__optimizer_sgd = {
    .name = "sgd",
    .numbers = MW__NUMBERS_COMMON | MW__NUMBER_BIT(MOMENTUM) | MW__NUMBER_BIT(NESTEROV),
    .reach = sgd_reach,
    .usual = {mw__roles_momentum, {{"learning_rate", value_rate}, MW__SCALAR_DECAY}, sgd_change}};

/* Adam and AdamW. */
#include "autograd/optimizers/optimizer_update.h"
#include "base/number/fp16.h"

#include <math.h>

mw_optimizer mw_adam(float learning_rate)
{
    const mw__optimizer o = mw__optimizer_begin(MW__ADAM, learning_rate);
    return mw__optimizer_hide(&o);
}

mw_optimizer mw_adamw(float learning_rate, float weight_decay)
{
    mw__optimizer o = mw__optimizer_begin(MW__ADAM, learning_rate);
    o.weight_decay = weight_decay;
    o.decoupled = true;
    return mw__optimizer_hide(&o);
}

static unsigned roles(const mw__optimizer *o)
{
    return MW__ROLE_BIT(M) | (o->compensated ? mw__roles_root(o) : MW__ROLE_BIT(V));
}

static unsigned half_roles(const mw__optimizer *o) { return MW__ROLE_BIT(M) | mw__roles_root(o); }

static double step_size(const mw__moment *m)
{
    return mw__optimizer_value_step(m) / (1.0 - pow((double)m->optimizer->beta1, (double)m->step));
}

/* sqrt(v') over the v that knows of no steps before the first */
static double adam_share(const mw__moment *m) { return sqrt(1.0 - pow((double)m->optimizer->beta2, (double)m->step)); }

static double correction(const mw__moment *m) { return 1.0 / adam_share(m); }

/* m' / (root / share + epsilon) = share m' / (root + share epsilon): two numbers to feed, and no product by a third. */
static double half_step_size(const mw__moment *m) { return step_size(m) * adam_share(m); }

static double half_epsilon(const mw__moment *m)
{
    return fmax((double)m->optimizer->epsilon * m->loss_scale * adam_share(m), MW__HALF_LEAST);
}

static double fall(const mw__moment *m) { return mw__optimizer_value_dithered(m, (double)m->optimizer->beta2); }

static double adam_reach(const mw__optimizer *o, double loss_scale)
{
    return MW__MEAN_LIMIT / ((double)o->epsilon * loss_scale);
}

/* ---- updates ---- */

/* sqrt(v'). (1 - beta2) g^2 is formed as the square of sqrt(1 - beta2) g, which underflows later in fp16. */
static mw_tensor *adam_deviation(mw__optimizer_update *u, mw_tensor *g)
{
    const double beta2 = (double)u->optimizer->beta2;
    if (u->optimizer->compensated)
        return mw__update_root(u, g, beta2, 1.0 - beta2);
    mw_tensor *v_kept = mw_mul_scalar(u->state[MW__ROLE_V], beta2);
    mw_tensor *v = mw_add(v_kept, mw_square(mw_mul_scalar(g, sqrt(1.0 - beta2))));
    u->new_state[MW__ROLE_V] = v;
    return mw_sqrt(v);
}

/* m and the deviation are in the scale of the gradients: it cancels in their quotient. */
static mw_tensor *adam_change(mw__optimizer_update *u)
{
    mw_tensor *g = mw__update_decayed(u);
    mw_tensor *m = mw__update_mean(u, u->state[MW__ROLE_M], g, (double)u->optimizer->beta1);
    mw_tensor *deviation = mw_mul(adam_deviation(u, g), u->scalars->scalar[1]);
    u->new_state[MW__ROLE_M] = m;
    return mw_mul(mw__update_normalized(u, m, deviation), u->scalars->scalar[0]);
}

/* The mean in fp16 where 1 - beta is far above its rounding, which beta's factor may then have: it adds up to 1 with
 * the other, and nothing can overflow. */
static mw_tensor *short_mean(mw_tensor *m, mw_tensor *x, double beta)
{
    const double keep = (double)mw__fp16_to_float(mw__fp16_from_double(beta));
    mw_tensor *kept = mw_mul_scalar(m, keep);
    return mw_add(kept, mw_mul_scalar(x, 1.0 - keep));
}

/* With scalars that have the correction in them. */
static mw_tensor *half_change(mw__optimizer_update *u)
{
    const double beta2 = (double)u->optimizer->beta2;
    mw_tensor *g = mw__update_decayed(u);
    mw_tensor *m = short_mean(u->state[MW__ROLE_M], g, (double)u->optimizer->beta1);
    mw_tensor *deviation = mw__update_root_half(u, g, beta2, 1.0 - beta2, u->scalars->scalar[2]);
    u->new_state[MW__ROLE_M] = m;
    return mw_mul(mw_real_div(m, mw_add(deviation, u->scalars->scalar[1])), u->scalars->scalar[0]);
}

const mw__optimizer_row mw__optimizer_adam = {
    .name = "adam",
    .numbers = MW__NUMBERS_COMMON | MW__NUMBER_BIT(BETA1) | MW__NUMBER_BIT(BETA2) | MW__NUMBER_BIT(EPSILON),
    .start = {.beta1 = 0.9f, .beta2 = 0.999f},
    .epsilon = 1e-8,
    .reach = adam_reach,
    .usual = {roles, {{"adam_step_size", step_size}, {"adam_correction", correction}, MW__SCALAR_DECAY}, adam_change},
    .dithered = {
        half_roles,
        {{"adam_step_size", half_step_size}, {"adam_epsilon", half_epsilon}, {"adam_fall", fall}, MW__SCALAR_DECAY},
        half_change}};

#include "custom_adam.h"

#include <math.h>

static const float beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-4f;
static const double least = 0x1p-24; /* of fp16 */

/* ---- what is fed ---- */

static double share(const mw_update_moment *m) { return sqrt(1.0 - pow((double)beta2, (double)m->step)); }

static double step_size(void *user, const mw_update_moment *m)
{
    (void)user;
    const double size = m->learning_rate / (1.0 - pow((double)beta1, (double)m->step));
    return m->half ? size * share(m) : size;
}

static double correction(void *user, const mw_update_moment *m)
{
    (void)user;
    return m->half ? fmax((double)epsilon * m->loss_scale * share(m), least) : 1.0 / share(m);
}

static double fall(void *user, const mw_update_moment *m)
{
    (void)user;
    const double spread = ldexp((double)((uint64_t)m->step * 0x9e3779b97f4a7c15u), -64) - 0.5;
    return m->half ? nearbyint((1.0 - (double)beta2 + 0x1p-9 * spread) / least) * least : 1.0;
}

static double decay(void *user, const mw_update_moment *m)
{
    (void)user;
    return m->learning_rate * m->weight_decay;
}

static const mw_update_scalar scalars[] = {
    {"step_size", step_size}, {"correction", correction}, {"fall", fall}, {"decay", decay}};

/* ---- operations ---- */

static mw_status states(void *user, const mw_update_parameter *of, mw_update_state *out, size_t *out_count,
                        mw_error *err)
{
    (void)user, (void)err;
    out[0].name = "m";
    out[1].name = of->half ? "root" : "v";
    *out_count = 2;
    return MW_OK;
}

static mw_tensor *change(const mw_update_call *c, mw_tensor **out_states)
{
    mw_tensor *kept = mw_mul_scalar(c->states[0], (double)beta1);
    mw_tensor *m = mw_add(kept, mw_mul_scalar(c->g, 1.0 - (double)beta1));
    mw_tensor *v_kept = mw_mul_scalar(c->states[1], (double)beta2);
    mw_tensor *v = mw_add(v_kept, mw_square(mw_mul_scalar(c->g, sqrt(1.0 - (double)beta2))));
    mw_tensor *deviation = mw_mul(mw_sqrt(v), mw_update_call_scalar(c, "correction"));
    out_states[0] = m, out_states[1] = v;
    mw_tensor *direction = mw_real_div(m, mw_add_scalar(deviation, (double)epsilon * c->loss_scale));
    return mw_mul(direction, mw_update_call_scalar(c, "step_size"));
}

static mw_tensor *half_root(const mw_update_call *c)
{
    mw_tensor *root = c->states[1], *fall_now = mw_update_call_scalar(c, "fall");
    mw_tensor *size = mw_abs(mw_mul_scalar(c->g, sqrt(1.0 - (double)beta2)));
    mw_tensor *ratio = mw_real_div(size, mw_maximum(root, mw_scalar(c->graph, c->parameter->dtype, least)));
    mw_tensor *z = mw_square(mw_clip(ratio, 0.0f, 250.0f));
    mw_tensor *sum = mw_add_scalar(mw_sqrt(mw_add_scalar(z, (double)beta2)), 1.0);
    mw_tensor *moved = mw_add(root, mw_mul(root, mw_real_div(mw_sub(z, fall_now), sum)));
    return mw_maximum(mw_clip(moved, -65504.0f, 65504.0f), size);
}

/* 0.9 as fp16 has it. */
static mw_tensor *half_change(const mw_update_call *c, mw_tensor **out_states)
{
    const double keep = 1843.0 / 2048.0;
    mw_tensor *kept = mw_mul_scalar(c->states[0], keep);
    mw_tensor *m = mw_add(kept, mw_mul_scalar(c->g, 1.0 - keep));
    mw_tensor *root = half_root(c);
    out_states[0] = m, out_states[1] = root;
    mw_tensor *direction = mw_real_div(m, mw_add(root, mw_update_call_scalar(c, "correction")));
    return mw_mul(direction, mw_update_call_scalar(c, "step_size"));
}

static mw_status update(const mw_update_call *c, mw_tensor **out_p, mw_tensor **out_states, mw_error *err)
{
    (void)err;
    mw_tensor *taken = c->parameter->half ? half_change(c, out_states) : change(c, out_states);
    if (c->weight_decay != 0.0)
        taken = mw_add(taken, mw_mul(c->p, mw_update_call_scalar(c, "decay")));
    *out_p = mw_sub(c->p, taken);
    return MW_OK;
}

mw_optimizer_rule custom_adam_rule(void)
{
    mw_optimizer_rule rule = mw_optimizer_rule_defaults("adamw", update);
    rule.settings = "beta1=0.9 beta2=0.999";
    rule.states = states;
    rule.scalars = scalars;
    rule.scalar_count = sizeof scalars / sizeof *scalars;
    rule.decays = true;
    rule.scaled_gradients = true;
    return rule;
}

mw_optimizer custom_adam(float rate, float weight_decay, const mw_optimizer_rule *rule)
{
    mw_optimizer optimizer = mw_optimizer_custom(rate, rule);
    mw_optimizer_set(&optimizer, MW_OPTIMIZER_WEIGHT_DECAY, weight_decay);
    return optimizer;
}

mw_optimizer built_in_adam(float rate, float weight_decay)
{
    mw_optimizer optimizer = mw_adamw(rate, weight_decay);
    mw_optimizer_set(&optimizer, MW_OPTIMIZER_EPSILON, epsilon);
    return optimizer;
}

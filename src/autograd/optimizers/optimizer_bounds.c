/* Bounds within which the update of an fp32 parameter is finite, so that a program need not look at what it writes: the
 * gradients, and sometimes the parameters, are compared with a limit instead, once, where they are at hand anyway.
 *
 * What is proved. A change of less than 2^103, half a unit in the last place of the largest number, rounds no finite
 * parameter to infinity; with decoupled decay that also holds as long as learning rate times decay is at most 1. Means
 * and roots of gradients stay within the largest gradient but for rounding, which four times that leaves room for. In
 * fp16 the quotient of a mean and a root can overflow by underflow of the root, so nothing is proved there. */
#include "autograd/optimizers/optimizer_update.h"

#include <float.h>
#include <math.h>

#define GRADIENT  MW__GRADIENT_LIMIT
#define MEAN      MW__MEAN_LIMIT
#define ROOT      0x1p80 /* Adagrad's grows with the number of steps */
#define CHANGE    0x1p101
#define PARAMETER 0x1p20 /* weights are smaller: a limit below would refuse what is sound */

static bool divides_by_epsilon(const mw__optimizer *o) { return mw__optimizer_epsilon(o) != 0.0; }

static double summed(double change, double momentum) { return 2.0 * change / (1.0 - momentum); }

/* What the sum of steps can become; 2 is for rounding. */
double mw__momentum_limit(const mw__optimizer *o, double loss_scale)
{
    const double one = divides_by_epsilon(o) ? GRADIENT / ((double)o->epsilon * loss_scale) : GRADIENT / loss_scale;
    return summed(one, (double)o->momentum);
}

/* ---- the limits ---- */

static bool decays_after(const mw__optimizer *o) { return o->decoupled && o->weight_decay != 0.0f; }

static bool is_bounded(const mw__optimizer *o, double loss_scale, double learning_rate)
{
    if (o->rule != NULL || o->compensated || !(learning_rate <= MW__RATE_MAX))
        return false;
    if (divides_by_epsilon(o) && !((double)o->epsilon * loss_scale >= FLT_MIN))
        return false;
    if (decays_after(o) && !(learning_rate * (double)o->weight_decay <= 1.0))
        return false;
    const double rate = mw__optimizer_scalar_value(o, false, 0, loss_scale, MW__RATE_MAX, 1);
    return rate * mw__optimizer_reach(o, loss_scale) <= CHANGE;
}

mw__optimizer_limits mw__optimizer_limit(const mw__optimizer *o, double loss_scale, double learning_rate)
{
    mw__optimizer_limits limits = {.gradient = 0.0, .parameter = INFINITY};
    if (!is_bounded(o, loss_scale, learning_rate))
        return limits;
    limits.gradient = GRADIENT;
    if (o->decoupled || o->weight_decay == 0.0f)
        return limits;
    limits.gradient = GRADIENT / 2.0; /* the decay is the other half */
    limits.parameter = GRADIENT / 2.0 / ((double)o->weight_decay * loss_scale);
    return limits.parameter >= PARAMETER ? limits : (mw__optimizer_limits){.gradient = 0.0, .parameter = INFINITY};
}

/* ---- states ---- */

static double role_limit(const mw__optimizer *o, mw__optimizer_role role, double loss_scale)
{
    switch (role) {
    case MW__ROLE_MOMENTUM:
        return mw__momentum_limit(o, loss_scale);
    case MW__ROLE_M:
    case MW__ROLE_MEAN:
        return MEAN;
    case MW__ROLE_V:
        return MEAN * MEAN;
    case MW__ROLE_ROOT:
        return ROOT;
    default:
        return INFINITY;
    }
}

void mw__optimizer_state_range(const mw__optimizer *o, unsigned of, size_t index, double loss_scale, bool bounded,
                               double *out_least, double *out_most)
{
    const mw__optimizer_role role = mw__optimizer_role_at(o, of, index);
    *out_most = bounded ? role_limit(o, role, loss_scale) : INFINITY;
    *out_least = role == MW__ROLE_V || role == MW__ROLE_ROOT ? 0.0 : -*out_most;
}

/* Within which numbers the update of a parameter is finite, so that the step need not look at it. */
#include "base/number/fp16.h"
#include "runtime/trainer/options/trainer_numbers.h"
#include "runtime/trainer/options/trainer_options.h"

#include <float.h>
#include <math.h>

double mw__trainer_largest(const mw_trainer *t, const mw_tensor *x)
{
    return mw__trainer_stored(t, mw_tensor_dtype(x)) == MW_F16 ? (double)MW__FP16_MAX : (double)FLT_MAX;
}

const mw__optimizer_limits *mw__trainer_limits(const mw_trainer *t, const mw_tensor *parameter)
{
    static const mw__optimizer_limits none = {.gradient = 0.0, .parameter = INFINITY};
    if (mw__trainer_stored(t, mw_tensor_dtype(parameter)) != MW_F32)
        return &none;
    return &t->optimizer.groups[mw__trainer_group_of(t, mw_tensor_name(parameter))].limits;
}

/* A norm that is clipped must stay below the limit of gradients; an average is between two parameters. */
static mw__optimizer_limits group_limits(const mw_trainer *t, const mw__trainer_group *group)
{
    const mw__optimizer_limits none = {.gradient = 0.0, .parameter = INFINITY};
    const double rate = (double)t->numbers.learning_rate * group->rate_factor;
    mw__optimizer_limits limits = mw__optimizer_limit(&group->optimizer, t->numbers.loss_scale, rate);
    if (t->numbers.clip_norm * t->numbers.loss_scale > limits.gradient / 2.0)
        return none;
    if (t->numbers.average_decay != 0.0)
        limits.parameter = fmin(limits.parameter, 0x1p100);
    return limits;
}

void mw__trainer_set_limits(mw_trainer *t)
{
    for (size_t i = 0; i < t->optimizer.group_count; i++)
        t->optimizer.groups[i].limits = group_limits(t, &t->optimizer.groups[i]);
}

mw_status mw__trainer_check_rate(const mw_trainer *t, float learning_rate, mw_error *err)
{
    for (size_t i = 0; i < t->optimizer.group_count; i++) {
        const mw__trainer_group *group = &t->optimizer.groups[i];
        const double rate = (double)learning_rate * group->rate_factor;
        if (group->frozen || group->limits.gradient == 0.0 ||
            mw__optimizer_limit(&group->optimizer, t->numbers.loss_scale, rate).gradient > 0.0)
            continue;
        return mw__fail(
            err, MW_ERROR_ARGUMENT,
            "learning rate %g (with weight_decay %g) is beyond what this trainer's program was made for: at "
            "most %g, and 1 / weight_decay where decay is decoupled; create the trainer with that rate",
            rate, (double)group->optimizer.weight_decay, MW__RATE_MAX);
    }
    return MW_OK;
}

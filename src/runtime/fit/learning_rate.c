/* Schedules: the factor on the learning rate as a function of the step alone. Who feeds it is not their business. */
#include "base/memory/guard.h"
#include "base/number/float_mode.h"
#include "base/text/error.h"
#include "runtime/fit/fitting.h"

#include <inttypes.h>
#include <math.h>

static const double pi = 3.141592653589793;

/* ---- makers ---- */

mw_schedule mw_schedule_constant(void) { return (mw_schedule){.kind = MW_SCHEDULE_CONSTANT}; }

mw_schedule mw_schedule_step(int64_t period, double gamma)
{
    return (mw_schedule){.kind = MW_SCHEDULE_STEP, .period = period, .gamma = gamma};
}

mw_schedule mw_schedule_cosine(double floor_factor)
{
    return (mw_schedule){.kind = MW_SCHEDULE_COSINE, .end = floor_factor};
}

mw_schedule mw_schedule_linear(double end) { return (mw_schedule){.kind = MW_SCHEDULE_LINEAR, .end = end}; }

mw_schedule mw_schedule_one_cycle(double rise, double start_divisor, double end_divisor)
{
    return (mw_schedule){
        .kind = MW_SCHEDULE_ONE_CYCLE, .rise = rise, .start_divisor = start_divisor, .end_divisor = end_divisor};
}

mw_schedule mw_schedule_custom(mw_schedule_function *function, void *user)
{
    return (mw_schedule){.kind = MW_SCHEDULE_CUSTOM, .function = function, .user = user};
}

/* ---- checks ---- */

static mw_status check_at_least_0(const char *what, double number, mw_error *err)
{
    if (isfinite(number) && number >= 0.0)
        return MW_OK;
    return mw__fail(err, MW_ERROR_ARGUMENT, "schedule: the %s is %g; it must be finite and 0 or more", what, number);
}

static mw_status check_divisor(const char *what, double number, mw_error *err)
{
    if (isfinite(number) && number > 0.0)
        return MW_OK;
    return mw__fail(err, MW_ERROR_ARGUMENT,
                    "schedule: the %s divisor of one cycle is %g; it must be finite and positive", what, number);
}

static mw_status check_kind(const mw_schedule *schedule, mw_error *err)
{
    switch (schedule->kind) {
    case MW_SCHEDULE_CONSTANT:
        return MW_OK;
    case MW_SCHEDULE_STEP:
        if (schedule->period < 1)
            return mw__fail(err, MW_ERROR_ARGUMENT, "schedule: a period of %" PRId64 " steps, not at least 1",
                            schedule->period);
        return check_at_least_0("gamma", schedule->gamma, err);
    case MW_SCHEDULE_COSINE:
        return check_at_least_0("floor of the cosine", schedule->end, err);
    case MW_SCHEDULE_LINEAR:
        return check_at_least_0("end factor", schedule->end, err);
    case MW_SCHEDULE_ONE_CYCLE:
        if (!(schedule->rise >= 0.0 && schedule->rise <= 1.0))
            return mw__fail(err, MW_ERROR_ARGUMENT, "schedule: one cycle that rises for %g of its steps, not 0 .. 1",
                            schedule->rise);
        MW_TRY(check_divisor("start", schedule->start_divisor, err));
        return check_divisor("end", schedule->end_divisor, err);
    case MW_SCHEDULE_CUSTOM:
        if (schedule->function == NULL)
            return mw__fail(err, MW_ERROR_ARGUMENT, "schedule: the function is NULL");
        return MW_OK;
    }
    return mw__fail(err, MW_ERROR_ARGUMENT, "schedule: no kind %d", (int)schedule->kind);
}

mw_status mw__schedule_check(const mw_schedule *schedule, int64_t steps, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return err->status;
    if (schedule == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "schedule: it is NULL");
    if (steps < 1)
        return mw__fail(err, MW_ERROR_ARGUMENT, "schedule: a training of %" PRId64 " steps, not at least 1", steps);
    if (schedule->warmup_steps < 0 || schedule->warmup_steps > steps)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "schedule: a warm-up of %" PRId64 " steps in a training of %" PRId64 "; it must fit in",
                        schedule->warmup_steps, steps);
    MW_TRY(check_at_least_0("start factor of the warm-up", schedule->warmup_start, err));
    return check_kind(schedule, err);
}

/* ---- factors ---- */

/* A half cosine from `from` to `to`; a way of no length is at its end. */
static double anneal(double from, double to, double way, double length)
{
    const double part = length > 0.0 ? way / length : 1.0;
    return to + (from - to) * 0.5 * (1.0 + cos(pi * part));
}

static double one_cycle(const mw_schedule *schedule, double t, double total)
{
    const double start = 1.0 / schedule->start_divisor;
    const double peak = schedule->rise * total - 1.0, last = total - 1.0;
    if (t <= peak)
        return anneal(start, 1.0, t, peak);
    return anneal(1.0, start / schedule->end_divisor, fmin(t, last) - peak, last - peak);
}

static double call_function(const mw_schedule *schedule, int64_t t, int64_t total)
{
    const mw__callback outer = mw__callback_begin("function of the schedule", MW__LENT_NEVER);
    const double factor = schedule->function(schedule->user, t, total);
    mw__callback_end(outer);
    return factor;
}

/* Of a sound schedule; not inlined, so that nothing of it is computed outside of its caller's mode. */
__attribute__((noinline)) static double factor(const mw_schedule *schedule, int64_t step, int64_t steps)
{
    const int64_t warmup = schedule->warmup_steps;
    if (step < warmup)
        return schedule->warmup_start + (1.0 - schedule->warmup_start) * ((double)step / (double)warmup);
    const int64_t total = steps - warmup, t = step - warmup;
    const double part = t < total ? (double)t / (double)total : 1.0;
    switch (schedule->kind) {
    case MW_SCHEDULE_STEP:
        return pow(schedule->gamma, (double)(t / schedule->period));
    case MW_SCHEDULE_COSINE:
        return anneal(1.0, schedule->end, part, 1.0);
    case MW_SCHEDULE_LINEAR:
        return 1.0 + (schedule->end - 1.0) * part;
    case MW_SCHEDULE_ONE_CYCLE:
        return one_cycle(schedule, (double)t, (double)total);
    case MW_SCHEDULE_CUSTOM:
        return call_function(schedule, t, total);
    case MW_SCHEDULE_CONSTANT:
        break;
    }
    return 1.0;
}

double mw_schedule_factor(const mw_schedule *schedule, int64_t step, int64_t steps)
{
    MW__FLOAT_SCOPE;
    mw_error refused = {0};
    if (mw__schedule_check(schedule, steps, &refused) != MW_OK || step < 0)
        return (double)NAN;
    return factor(schedule, step, steps);
}

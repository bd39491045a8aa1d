/* Plans and profiles as users see them; the core makes them (runtime/plan). */
#include "inspect/plan.h"
#include "base/memory/live.h"

mw_status mw_program_profile(mw_program *program, size_t runs, mw_error *err)
{
    return mw__program_profile(program, runs, err);
}

mw_status mw_trainer_profile(mw_trainer *trainer, mw_trainer_part part, size_t runs, mw_error *err)
{
    return mw__trainer_profile(trainer, part, runs, err);
}

mw_plan *mw_plan_create(mw_program *program, mw_error *err) { return mw__program_plan_create(program, err); }

mw_plan *mw_plan_create_trainer(mw_trainer *trainer, mw_trainer_part part, mw_error *err)
{
    return mw__trainer_plan_create(trainer, part, err);
}

void mw_plan_destroy(mw_plan *plan) { mw__program_plan_destroy(plan, __func__); }

/* ---- reading ---- */

mw_plan_totals mw_plan_get_totals(const mw_plan *plan)
{
    return mw__live_has(plan, MW__LIVE_PLAN) ? plan->totals : (mw_plan_totals){0};
}

bool mw_plan_step_at(const mw_plan *plan, size_t index, mw_plan_step *out_step)
{
    if (!mw__live_has(plan, MW__LIVE_PLAN) || out_step == NULL || index >= plan->totals.step_count)
        return false;
    *out_step = plan->steps[index];
    return true;
}

bool mw_plan_buffer_at(const mw_plan *plan, size_t index, mw_plan_buffer *out_buffer)
{
    if (!mw__live_has(plan, MW__LIVE_PLAN) || out_buffer == NULL || index >= plan->totals.buffer_count)
        return false;
    *out_buffer = plan->buffers[index];
    return true;
}

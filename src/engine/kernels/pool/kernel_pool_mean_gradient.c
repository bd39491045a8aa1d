/* The gradient of avg_pool (compile/patterns_pool.c): each element takes the sum of dy of the windows that hold it, in
 * their order and in double, divided by the size of the kernel and rounded once: what avg_pool makes of dy between
 * zeros. fp32, any windows of up to three axes; one plane of dx a unit. */
#include "engine/kernels/pattern_plans.h"
#include "engine/kernels/pool/kernel_pool_lanes.h"

static void means_run(const mw__kernel_call *call)
{
    const mw__pool_lanes *s = call->block;
    float *const dx = call->scratch, *const dy = dx + s->x_most * MW__POOL_LANES;
    for (int64_t plane = call->begin; plane < call->end; plane += MW__POOL_LANES) {
        const int64_t left = call->end - plane, used = left < MW__POOL_LANES ? left : MW__POOL_LANES;
        for (mw__pool_range band = {.end = {0}}; mw__pool_next_band(s, true, &band);) {
            const mw__pool_range windows = mw__pool_windows(s, &band);
            mw__pool_gather(s, (const float *)call->in[0] + plane * s->out, true, &windows, used, dy);
            s->code->means(s, &band, &windows, used, NULL, dy, dx);
            mw__pool_scatter(s, dx, false, &band, used, (float *)call->out[0] + plane * s->in);
        }
    }
}

mw_status mw__plan_avg_pool_gradient(mw__planner *planner, const mw__avg_pool_gradient_match *match, mw_error *err)
{
    mw__pool_lanes *s = mw__plan_block(planner, sizeof *s);
    if (s == NULL)
        return mw__plan_check(planner, err);
    const mw_shape shape = mw__shape_of(match->dx);
    s->planes = shape.dim[0] * shape.dim[1];
    double held = 1.0;
    for (int i = 0; i < MW__WINDOW_AXES; i++) {
        s->axis[i] = match->axis[i];
        held *= (double)(match->axis[i].kernel - 1) / (double)match->axis[i].stride + 1.0;
    }
    if (!mw__pool_lanes_prepare(planner, s, false, true))
        return mw__plan_check(planner, err);
    const double elements = (double)mw__count_of(match->dx);
    mw__step *step = mw__plan_step(planner, means_run, "avg_pool.gradient", s->planes,
                                   mw__cost(5.0 * elements, (1.0 + held) * elements));
    step->block = s;
    step->grain = mw__pool_grain(planner, s->planes);
    step->scratch = (s->x_most + s->y_most) * MW__POOL_LANES * sizeof(float);
    mw__step_read(planner, step, mw__plan_buffer(planner, match->dy), MW__ROWS, (size_t)s->out * sizeof(float), false);
    mw__step_write(planner, step, mw__plan_buffer(planner, match->dx), MW__ROWS, (size_t)s->in * sizeof(float));
    return mw__plan_check(planner, err);
}

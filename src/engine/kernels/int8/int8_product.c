/* Products of codes: what their sums are multiplied by, and which of the ways computes them. */
#include "engine/kernels/int8/int8.h"

#include <math.h>

enum { BIAS_MOST = 1 << 30 };

#define SUM_MOST  0x1p31f /* with its bias */
#define REAL_MOST 0x1p30f

/* A bias is kept as int32 in steps of the sum, as files of quantized networks have it, if each of its numbers is one
 * but for the rounding to fp32. */
static bool is_whole(const mw__int8_product_match *m)
{
    for (int64_t o = 0; m->bias != NULL && o < m->outputs; o++) {
        const float step = m->x_scale * m->scales[o], steps = rintf(m->bias[o] / step);
        if (!(fabsf(steps) < (float)BIAS_MOST) || fabsf(steps * step - m->bias[o]) > fabsf(m->bias[o]) * 0x1p-21f)
            return false;
    }
    return true;
}

/* Divided by the scale of the result in the order in which others do it, so that the bits are theirs. */
static void fill_numbers(const mw__int8_product_match *m, mw__int8_numbers *numbers)
{
    const bool real = numbers->finish.dtype == MW_F32, whole = is_whole(m);
    for (int64_t o = 0; o < m->outputs; o++) {
        const float step = m->x_scale * m->scales[o], bias = m->bias != NULL ? m->bias[o] : 0.0f;
        numbers->scale[o] = real ? step : step / m->y_scale;
        numbers->add[o] = whole ? (int32_t)rintf(bias / step) : 0;
        numbers->shift[o] = whole ? 0.0f : real ? bias : bias / m->y_scale;
        numbers->finish.shifts = numbers->finish.shifts || numbers->shift[o] != 0.0f;
        numbers->finish.fits =
            numbers->finish.fits && numbers->scale[o] * SUM_MOST + fabsf(numbers->shift[o]) < REAL_MOST;
    }
}

static mw_status plan_product(mw__planner *planner, const mw__int8_product_match *m, mw_error *err)
{
    const size_t outputs = (size_t)m->outputs;
    mw__int8_numbers numbers = {.finish = {.dtype = mw__dtype_of(m->result),
                                           .low = (float)(m->low - m->y_zero),
                                           .high = (float)(m->high - m->y_zero),
                                           .zero = m->y_zero,
                                           .fits = true},
                                .add = mw__plan_block(planner, outputs * sizeof *numbers.add),
                                .scale = mw__plan_block(planner, outputs * sizeof *numbers.scale),
                                .shift = mw__plan_block(planner, outputs * sizeof *numbers.shift)};
    if (numbers.add == NULL || numbers.scale == NULL || numbers.shift == NULL)
        return mw__plan_check(planner, err);
    fill_numbers(m, &numbers);
    mw__plan_note(planner, mw__int8_code_of(mw__plan_level(planner))->name, NULL);
    return mw__op_is(m->op, "conv") ? mw__int8_plan_conv(planner, m, &numbers, err)
                                    : mw__int8_plan_rows(planner, m, &numbers, err);
}

/* What is no product has more behind its match. */
mw_status mw__plan_int8_product(mw__planner *planner, const mw__int8_product_match *m, mw_error *err)
{
    if (mw__op_is(m->op, "add"))
        return mw__int8_plan_sum(planner, (const mw__int8_sum_match *)m, err);
    if (mw__op_is(m->op, "max_pool"))
        return mw__int8_plan_pool(planner, (const mw__int8_pool_match *)m, err);
    return plan_product(planner, m, err);
}

/* Sums of two tensors of codes, as codes: the arithmetic is that of the operations one by one, so that the bits are.
 * They divide by the scale; where multiplying by its reciprocal gives the same code for every pair of codes, which is
 * tried for all of them, that is done. */
#include "engine/kernels/int8/int8.h"

#include "base/number/bits.h"

#include <string.h>

#define ROUNDER 12582912.0f /* int8_finish.c; here the integer is taken from the last bits of the sum */

typedef struct sum_block {
    mw__int8_sum sum;
    int64_t elements, count; /* of a unit, of the tensor */
} sum_block;

MW__INLINE void add_codes(const mw__int8_sum *b, const uint8_t *x, const uint8_t *y, int64_t count, uint8_t *out,
                          const bool divides)
{
    const float sx = b->scale[0], sy = b->scale[1], low = b->low, high = b->high;
    const float scale = b->y_scale, inverse = 1.0f / b->y_scale;
    const int32_t least_x = b->least[0], least_y = b->least[1];
    const int32_t zero = (int32_t)((uint32_t)b->y_zero - mw__bits_of(ROUNDER));
    const uint8_t flip_x = b->flip[0], flip_y = b->flip[1];
    MW__VECTORIZE
    for (int64_t i = 0; i < count; i++) {
        const float sum = (float)((x[i] ^ flip_x) + least_x) * sx + (float)((y[i] ^ flip_y) + least_y) * sy;
        float kept = divides ? sum / scale : sum * inverse;
        kept = kept > low ? kept : low;
        kept = kept < high ? kept : high;
        out[i] = (uint8_t)((int32_t)mw__bits_of(kept + ROUNDER) + zero);
    }
}

MW__INLINE void divide_body(const mw__int8_sum *b, const uint8_t *x, const uint8_t *y, int64_t count, uint8_t *out)
{
    add_codes(b, x, y, count, out, true);
}
MW__BASE_AVX2_AVX512(divide, (const mw__int8_sum *b, const uint8_t *x, const uint8_t *y, int64_t count, uint8_t *out),
                     (b, x, y, count, out))

MW__INLINE void multiply_body(const mw__int8_sum *b, const uint8_t *x, const uint8_t *y, int64_t count, uint8_t *out)
{
    add_codes(b, x, y, count, out, false);
}
MW__BASE_AVX2_AVX512(multiply, (const mw__int8_sum *b, const uint8_t *x, const uint8_t *y, int64_t count, uint8_t *out),
                     (b, x, y, count, out))

/* Whether both give the same code for every pair. */
static bool may_multiply(const mw__int8_sum *b, mw__level level)
{
    uint8_t all[256], same[256], divided[256], multiplied[256];
    for (int i = 0; i < 256; i++)
        all[i] = (uint8_t)i;
    for (int x = 0; x < 256; x++) {
        memset(same, x, sizeof same);
        MW__DISPATCH_BEST(divide, level)(b, same, all, 256, divided);
        MW__DISPATCH_BEST(multiply, level)(b, same, all, 256, multiplied);
        if (memcmp(divided, multiplied, sizeof divided) != 0)
            return false;
    }
    return true;
}

static void run_sum(const mw__kernel_call *call)
{
    const sum_block *b = call->block;
    int64_t at, end;
    mw__units_range(call, b->elements, b->count, &at, &end);
    b->sum.add(&b->sum, (const uint8_t *)call->in[0] + at, (const uint8_t *)call->in[1] + at, end - at,
               (uint8_t *)call->out[0] + at);
}

mw__int8_sum mw__int8_sum_of(const mw__int8_sum_match *m, bool quads, mw__level level)
{
    mw__int8_sum sum = {.y_scale = m->base.y_scale,
                        .low = (float)(m->base.low - m->base.y_zero),
                        .high = (float)(m->base.high - m->base.y_zero),
                        .y_zero = m->base.y_zero + (quads && mw__dtype_of(m->base.result) == MW_I8 ? 128 : 0)};
    for (int i = 0; i < 2; i++) {
        const bool of_signs = mw__dtype_of(m->x[i]) == MW_I8;
        sum.scale[i] = m->scale[i];
        sum.flip[i] = of_signs && !quads ? 128 : 0, sum.least[i] = (of_signs ? -128 : 0) - m->zero[i];
    }
    sum.divides = !may_multiply(&sum, level);
    sum.fits = (sum.scale[0] + sum.scale[1]) * 512.0f < sum.y_scale * 0x1p30f;
    sum.add = sum.divides ? MW__DISPATCH_BEST(divide, level) : MW__DISPATCH_BEST(multiply, level);
    return sum;
}

mw_status mw__int8_plan_sum(mw__planner *planner, const mw__int8_sum_match *m, mw_error *err)
{
    const mw__units split = mw__units_of(planner, mw__shape_of(m->base.result));
    sum_block *b = mw__plan_block(planner, sizeof *b);
    if (b == NULL)
        return mw__plan_check(planner, err);
    *b = (sum_block){.sum = mw__int8_sum_of(m, mw__int8_in_quads(&m->base, m->x[0]), mw__plan_level(planner)),
                     .elements = split.elements,
                     .count = mw__count_of(m->base.result)};
    const uint32_t to = mw__int8_plan_result(planner, &m->base, m->x[0]);
    mw__step *step = mw__plan_step(planner, run_sum, "int8.sum", split.units, mw__cost(3.0 * (double)b->count, 0));
    for (int i = 0; i < 2; i++)
        mw__step_read(planner, step, mw__plan_buffer(planner, m->x[i]), MW__ROWS, (size_t)split.elements, false);
    step->block = b;
    mw__step_write(planner, step, to, MW__ROWS, (size_t)split.elements);
    mw__int8_plan_unweave(planner, &m->base, to);
    return mw__plan_check(planner, err);
}

/* Sums in fp16, which a source says of a chip (rules/arithmetic.def, narrow_sums): slow, and for looking. */
#include "engine/kernels/reduce/kernel_reduce.h"

#include "engine/kernels/math/math_scalar.h"

static float narrow_sum(const mw__reduce_block *s, const float *x)
{
    float sum = 0.0f;
    mw__nd_position position;
    mw__nd_position_seek(&s->inner, &position, 0);
    for (int64_t i = 0; i < s->reduced; i++) {
        sum = mw__round_to_half(sum + x[position.offset[0]]);
        mw__nd_position_step(&s->inner, &position, 1);
    }
    return sum;
}

void mw__reduce_narrow(const mw__kernel_call *call)
{
    const mw__reduce_block *s = call->block;
    int64_t at, end;
    mw__units_range(call, s->elements, s->count, &at, &end);
    mw__nd_position position;
    mw__nd_position_seek(&s->outer, &position, at);
    for (; at < end; at++) {
        ((float *)call->out[0])[at] = narrow_sum(s, (const float *)call->in[0] + position.offset[0]);
        mw__nd_position_step(&s->outer, &position, 1);
    }
}

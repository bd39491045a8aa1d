/* Activations with numbers per channel: rows of math.c whose scalar arguments are vectors [C]. The others are unary
 * operations (kernel_elementwise.c). */
#include "engine/core/kernel.h"
#include "engine/kernels/math/math.h"

typedef struct channel_block {
    int64_t elements, count, channels, inner; /* x is [count / (channels inner), channels, inner] */
    mw_dtype dtype;
    mw__loop1 *loop;
} channel_block;

static void channel_run(const mw__kernel_call *call)
{
    const channel_block *block = call->block;
    const float *p = call->in[1], *q = call->in[2];
    float tile[MW__TILE];
    int64_t at, end;
    mw__units_range(call, block->elements, block->count, &at, &end);
    while (at < end) {
        const int64_t channel = at / block->inner % block->channels, left = block->inner - at % block->inner;
        int64_t run = left < end - at ? left : end - at;
        run = run < MW__TILE ? run : MW__TILE;
        const float *x = mw__tile_load(call->in[0], block->dtype, at, run, tile);
        block->loop(tile, x, run, p[channel], q[channel]);
        mw__tile_store(call->out[0], block->dtype, at, run, tile);
        at += run;
    }
}

static void read_vector(mw__planner *planner, mw__step *step, const mw_tensor *vector, uint32_t values)
{
    mw__step_read(planner, step, values, MW__WHOLE, (size_t)mw__count_of(vector) * sizeof(float), false);
}

mw_status mw__kernel_per_channel(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const mw__function1 *function = mw__function1_find(op->row->id, NULL);
    const mw_tensor *x = mw__arg(op, "x"), *result = op->results[0];
    const mw_tensor *p = mw__arg(op, function->p), *q = function->q != NULL ? mw__arg(op, function->q) : p;
    const mw_shape shape = mw__shape_of(result);
    const mw_dtype dtype = mw__dtype_of(result);
    if (dtype != MW_F32 && dtype != MW_F16)
        return mw__kernel_unsupported(op, dtype, err);
    channel_block *block = mw__plan_block(planner, sizeof *block);
    if (block == NULL || mw__count_of(result) == 0)
        return mw__plan_check(planner, err);
    const mw__units split = mw__units_of(planner, shape);
    *block = (channel_block){.elements = split.elements,
                             .count = mw__count_of(result),
                             .channels = shape.dim[1],
                             .inner = mw__shape_span(shape, 2, shape.rank),
                             .dtype = dtype,
                             .loop = function->at[mw__plan_level(planner)]};
    const uint32_t fp32_p = mw__plan_floats(planner, p), fp32_q = q != p ? mw__plan_floats(planner, q) : fp32_p;
    const size_t unit = (size_t)split.elements * mw__dtype_size(dtype);
    const double count = (double)block->count;
    mw__plan_note(planner, mw__level_name(mw__plan_level(planner)), NULL);
    mw__step *step = mw__plan_step(planner, channel_run, op->row->name, split.units,
                                   mw__cost(2.0 * count * (double)mw__dtype_size(dtype), count * function->additions));
    step->block = block;
    mw__step_read(planner, step, mw__plan_buffer(planner, x), MW__ROWS, unit, true);
    read_vector(planner, step, p, fp32_p);
    read_vector(planner, step, q, fp32_q);
    mw__step_write(planner, step, mw__plan_buffer(planner, result), MW__ROWS, unit);
    return mw__plan_check(planner, err);
}

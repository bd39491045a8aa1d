/* Quantization of values. Constants that are stored compressed are no steps: compile/weights.c makes literals of them.
 */
#include "engine/core/kernel.h"

typedef struct quantize_block {
    int64_t elements, count;   /* of a unit, of the tensor */
    int64_t inner, scales;     /* elements that share a scale side by side, and how many scales follow each other */
    const float *scale, *zero; // [scales]
    mw_dtype from, to;
    void (*quantize)(const float *x, int64_t count, float scale, float zero, mw_dtype to, uint8_t *out);
    void (*dequantize)(const uint8_t *x, int64_t count, float scale, float zero, mw_dtype from, float *out);
} quantize_block;

/* What stands from element `at` to `end` under one scale. */
static int64_t run_of(const quantize_block *block, int64_t at, int64_t end, int64_t *out_scale)
{
    int64_t left = block->inner - at % block->inner;
    *out_scale = at / block->inner % block->scales;
    left = left < MW__TILE ? left : MW__TILE;
    return left < end - at ? left : end - at;
}

/* A number and 1.5 2^23 have a sum whose last bit is worth 1, so that adding and subtracting that rounds, ties to even;
 * bounds are whole numbers, so that it does not matter which comes first. A NaN gives 0. */
#define ROUNDER 12582912.0f

MW__INLINE void quantize_body(const float *x, int64_t count, float scale, float zero, mw_dtype to, uint8_t *out)
{
    const float low = (to == MW_I8 ? -128.0f : 0.0f) - zero, high = (to == MW_I8 ? 127.0f : 255.0f) - zero;
    const int32_t offset = (int32_t)zero;
    MW__VECTORIZE
    for (int64_t i = 0; i < count; i++) {
        const float number = x[i] / scale;
        float kept = number > low ? number : low;
        kept = kept < high ? kept : high;
        const int32_t code = (int32_t)(kept + ROUNDER - ROUNDER) + offset;
        out[i] = (uint8_t)(number == number ? code : 0);
    }
}
MW__BASE_AVX2_AVX512(quantize, (const float *x, int64_t count, float scale, float zero, mw_dtype to, uint8_t *out),
                     (x, count, scale, zero, to, out))

MW__INLINE void dequantize_body(const uint8_t *x, int64_t count, float scale, float zero, mw_dtype from, float *out)
{
    const uint8_t flip = from == MW_I8 ? 128 : 0;
    const int32_t least = from == MW_I8 ? -128 : 0;
    MW__VECTORIZE
    for (int64_t i = 0; i < count; i++)
        out[i] = ((float)((x[i] ^ flip) + least) - zero) * scale;
}
MW__BASE_AVX2_AVX512(dequantize, (const uint8_t *x, int64_t count, float scale, float zero, mw_dtype from, float *out),
                     (x, count, scale, zero, from, out))

static void quantize_run(const mw__kernel_call *call)
{
    const quantize_block *block = call->block;
    float tile[MW__TILE];
    int64_t at, end, scale;
    mw__units_range(call, block->elements, block->count, &at, &end);
    for (int64_t run; at < end; at += run) {
        run = run_of(block, at, end, &scale);
        const float *x = mw__tile_load(call->in[0], block->from, at, run, tile);
        block->quantize(x, run, block->scale[scale], block->zero[scale], block->to, (uint8_t *)call->out[0] + at);
    }
}

static void dequantize_run(const mw__kernel_call *call)
{
    const quantize_block *block = call->block;
    float tile[MW__TILE];
    int64_t at, end, scale;
    mw__units_range(call, block->elements, block->count, &at, &end);
    for (int64_t run; at < end; at += run) {
        run = run_of(block, at, end, &scale);
        const uint8_t *x = (const uint8_t *)call->in[0] + at;
        block->dequantize(x, run, block->scale[scale], block->zero[scale], block->from, tile);
        mw__tile_store(call->out[0], block->to, at, run, tile);
    }
}

/* Numbers of an argument, `count` of them; one is repeated, an absent one is 0. */
static const float *numbers_of(mw__planner *planner, const mw__op *op, const char *arg, int64_t count)
{
    float *numbers = mw__plan_block(planner, (size_t)count * sizeof *numbers);
    const mw_tensor *value = mw__arg(op, arg);
    for (int64_t i = 0; numbers != NULL && value != NULL && i < count; i++)
        numbers[i] = (float)mw__payload_float(value->payload, mw__count_of(value) == 1 ? 0 : (size_t)i);
    return numbers;
}

static mw_status need_constants(const mw__op *op, mw_error *err)
{
    static const char *const args[] = {"scale", "zero_point"};
    for (size_t i = 0; i < sizeof args / sizeof *args; i++) {
        const mw_tensor *value = mw__arg(op, args[i]);
        if (value != NULL && (value->payload == NULL || value->payload->data == NULL))
            return mw__kernel_need_constant(op, args[i], err);
    }
    return MW_OK;
}

static mw_status plan(mw__planner *planner, const mw__op *op, mw__kernel *run, mw_error *err)
{
    const mw_tensor *x = mw__arg(op, "input"), *y = op->results[0], *scale = mw__arg(op, "scale");
    const mw_tensor *zero = mw__arg(op, "zero_point");
    const mw_shape shape = mw__shape_of(x);
    int64_t axis = 0;
    MW_TRY(need_constants(op, err));
    if (mw__arg_present(op, "axis"))
        MW_TRY(mw__kernel_axis(op, "axis", shape.rank, &axis, err));
    const mw__units split = mw__units_of(planner, shape);
    quantize_block *block = mw__plan_block(planner, sizeof *block);
    if (block == NULL || mw__count_of(x) == 0)
        return mw__plan_check(planner, err);
    const bool vector = mw__shape_of(scale).rank > 0 || (zero != NULL && mw__shape_of(zero).rank > 0);
    *block = (quantize_block){.elements = split.elements,
                              .count = mw__count_of(x),
                              .inner = vector ? mw__shape_span(shape, (int)axis + 1, shape.rank) : mw__count_of(x),
                              .scales = vector ? shape.dim[axis] : 1,
                              .from = mw__dtype_of(x),
                              .to = mw__dtype_of(y),
                              .quantize = MW__DISPATCH_BEST(quantize, mw__plan_level(planner)),
                              .dequantize = MW__DISPATCH_BEST(dequantize, mw__plan_level(planner))};
    block->scale = numbers_of(planner, op, "scale", block->scales);
    block->zero = numbers_of(planner, op, "zero_point", block->scales);
    const size_t from = mw__dtype_size(block->from), to = mw__dtype_size(block->to);
    const double count = (double)block->count;
    mw__step *step =
        mw__plan_step(planner, run, op->kind, split.units, mw__cost(count * (double)(from + to), 4 * count));
    step->block = block;
    mw__step_read(planner, step, mw__plan_buffer(planner, x), MW__ROWS, (size_t)split.elements * from, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, y), MW__ROWS, (size_t)split.elements * to);
    return mw__plan_check(planner, err);
}

mw_status mw__kernel_quantize(mw__planner *planner, const mw__op *op, mw_error *err)
{
    return plan(planner, op, quantize_run, err);
}

mw_status mw__kernel_dequantize(mw__planner *planner, const mw__op *op, mw_error *err)
{
    return plan(planner, op, dequantize_run, err);
}

/* Its results are literals by now. */
mw_status mw__kernel_constexpr(mw__planner *planner, const mw__op *op, mw_error *err)
{
    (void)op;
    return mw__plan_check(planner, err);
}

/* Conversion between F16, F32, I32, BOOL and the 8- and 16-bit integers. A float becomes an integer by truncation
 * toward zero; out of range it saturates and NaN is 0. MIL leaves both undefined. Anything becomes BOOL by x != 0. */
#include "engine/kernels/fused/fused.h"
#include "engine/kernels/math/math_chip.h"
#include "engine/kernels/math/round.h"

#include "base/number/fp16.h"
#include "base/number/types.h"

#include <string.h>

typedef struct cast_block {
    int64_t elements, count;
    mw_dtype from, to;
    mw__loop1 *round; /* of an F32 result that is declared fp16; NULL: none */
    mw__loop1 *fed;   /* of what is read of a port; NULL: as it is */
} cast_block;

/* Every source type fits a double exactly, so each conversion rounds once. */
static void load_doubles(double *out, const void *data, mw_dtype dtype, int64_t at, int64_t count)
{
#define LOAD(type)                                                                                                     \
    for (int64_t i = 0; i < count; i++)                                                                                \
        out[i] = ((const type *)data)[at + i];                                                                         \
    break;
    switch (dtype) {
    case MW_F32:
        LOAD(float)
    case MW_I32:
        LOAD(int32_t)
    case MW_I16:
        LOAD(int16_t)
    case MW_U16:
        LOAD(uint16_t)
    case MW_I8:
        LOAD(int8_t)
    case MW_U8:
        LOAD(uint8_t)
    case MW_BOOL:
        for (int64_t i = 0; i < count; i++)
            out[i] = ((const uint8_t *)data)[at + i] != 0;
        break;
    default:
        for (int64_t i = 0; i < count; i++)
            out[i] = mw__fp16_to_float(((const uint16_t *)data)[at + i]);
    }
#undef LOAD
}

/* The bounds are exact doubles; NaN fails both comparisons. */
#define SATURATE(type, low, high, v) ((type)((v) >= (low) ? ((v) <= (high) ? (v) : (high)) : ((v) != (v) ? 0 : (low))))

static void store_doubles(void *data, mw_dtype dtype, int64_t at, int64_t count, const double *in)
{
#define STORE(type, expression)                                                                                        \
    for (int64_t i = 0; i < count; i++) {                                                                              \
        const double v = in[i];                                                                                        \
        ((type *)data)[at + i] = (expression);                                                                         \
    }                                                                                                                  \
    break;
    switch (dtype) {
    case MW_F32:
        STORE(float, (float)v)
    case MW_I32:
        STORE(int32_t, SATURATE(int32_t, -2147483648.0, 2147483647.0, v))
    case MW_I16:
        STORE(int16_t, SATURATE(int16_t, -32768.0, 32767.0, v))
    case MW_U16:
        STORE(uint16_t, SATURATE(uint16_t, 0.0, 65535.0, v))
    case MW_I8:
        STORE(int8_t, SATURATE(int8_t, -128.0, 127.0, v))
    case MW_U8:
        STORE(uint8_t, SATURATE(uint8_t, 0.0, 255.0, v))
    case MW_BOOL:
        STORE(uint8_t, v != 0.0)
    default:
        STORE(uint16_t, mw__fp16_from_double(v))
    }
#undef STORE
}

/* The pairs that masks and labels need often; false for others. */
static bool cast_direct(const cast_block *block, void *out, const void *in, int64_t begin, int64_t end)
{
    const uint8_t *truth = in;
    const int32_t *integer = in;
    if (block->from == MW_BOOL && block->to == MW_F32)
        for (int64_t i = begin; i < end; i++)
            ((float *)out)[i] = truth[i] != 0 ? 1.0f : 0.0f;
    else if (block->from == MW_BOOL && block->to == MW_F16)
        for (int64_t i = begin; i < end; i++)
            ((uint16_t *)out)[i] = truth[i] != 0 ? 0x3c00 : 0;
    else if (block->from == MW_BOOL && block->to == MW_I32)
        for (int64_t i = begin; i < end; i++)
            ((int32_t *)out)[i] = truth[i] != 0;
    else if (block->from == MW_I32 && block->to == MW_F32)
        for (int64_t i = begin; i < end; i++)
            ((float *)out)[i] = (float)integer[i];
    else
        return false;
    return true;
}

static void cast_run(const mw__kernel_call *call)
{
    const cast_block *block = call->block;
    int64_t begin, end;
    mw__units_range(call, block->elements, block->count, &begin, &end);
    if (block->from == MW_F32 && block->to == MW_F32) {
        block->round((float *)call->out[0] + begin, (const float *)call->in[0] + begin, end - begin, 0, 0);
        return;
    }
    if (block->from == MW_F16 && block->to == MW_F32) {
        float *out = (float *)call->out[0] + begin;
        mw__fp16_to_float_n(out, (const uint16_t *)call->in[0] + begin, (size_t)(end - begin));
        if (block->fed != NULL)
            block->fed(out, out, end - begin, 0, 0);
        return;
    }
    if (block->from == MW_F32 && block->to == MW_F16) {
        mw__fp16_from_float_n((uint16_t *)call->out[0] + begin, (const float *)call->in[0] + begin,
                              (size_t)(end - begin));
        return;
    }
    if (cast_direct(block, call->out[0], call->in[0], begin, end))
        return;
    double tile[MW__TILE];
    for (int64_t at = begin; at < end; at += MW__TILE) {
        const int64_t run = end - at < MW__TILE ? end - at : MW__TILE;
        load_doubles(tile, call->in[0], block->from, at, run);
        store_doubles(call->out[0], block->to, at, run, tile);
    }
}

static bool castable(mw_dtype dtype)
{
    return dtype == MW_F16 || dtype == MW_F32 || dtype == MW_I32 || dtype == MW_BOOL || dtype == MW_I8 ||
           dtype == MW_U8 || dtype == MW_I16 || dtype == MW_U16;
}

static mw__step *plan_cast(mw__planner *planner, const mw_tensor *x, uint32_t out, mw_dtype to)
{
    const mw_shape shape = mw__shape_of(x);
    const mw__units split = mw__units_of(planner, shape);
    cast_block *block = mw__plan_block(planner, sizeof *block);
    if (block == NULL || mw_shape_count(shape) == 0)
        return NULL;
    const size_t from_size = mw__dtype_size(mw__dtype_of(x)), to_size = mw__dtype_size(to);
    *block =
        (cast_block){.elements = split.elements, .count = mw_shape_count(shape), .from = mw__dtype_of(x), .to = to};
    block->fed = mw__plan_fed(planner, block->from);
    const double count = (double)block->count;
    mw__step *step =
        mw__plan_step(planner, cast_run, "cast", split.units, mw__cost(count * (double)(from_size + to_size), count));
    step->block = block;
    step->report.helper = true;
    mw__step_read(planner, step, mw__plan_buffer(planner, x), MW__ROWS, (size_t)split.elements * from_size,
                  from_size == to_size);
    mw__step_write(planner, step, out, MW__ROWS, (size_t)split.elements * to_size);
    return step;
}

static void copy_loop(float *out, const float *x, int64_t count, float p, float q)
{
    (void)p, (void)q;
    memmove(out, x, (size_t)count * sizeof *out);
}

mw_status mw__kernel_cast(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const mw_tensor *x = mw__arg(op, "x"), *result = op->results[0];
    const unsigned how = mw__dtype_of(result) == MW_F32 ? mw__plan_rounds(planner, result) : 0;
    if (mw__dtype_of(x) == mw__dtype_of(result) && how == 0) {
        mw__plan_view(planner, result, x);
        return mw__plan_check(planner, err);
    }
    if (!castable(mw__dtype_of(x)) || !castable(mw__dtype_of(result)))
        return mw__kernel_unsupported(op, castable(mw__dtype_of(x)) ? mw__dtype_of(result) : mw__dtype_of(x), err);
    mw__step *step = plan_cast(planner, x, mw__plan_buffer(planner, result), mw__dtype_of(result));
    if (step != NULL && mw__plan_is_operand(planner, result))
        ((cast_block *)(uintptr_t)step->block)->fed = NULL;
    if (step == NULL || !mw__number_dtype_is_float(mw__dtype_of(x)) || !mw__number_dtype_is_float(mw__dtype_of(result)))
        return mw__plan_check(planner, err);
    step->rounds = true;
    ((cast_block *)(uintptr_t)step->block)->round = mw__round_loop(mw__plan_level(planner), how);
    if (!mw__plan_is_operand(planner, result)) /* what is fused feeds its operands */
        mw__step_element(planner, step, &(mw__element){.unary = copy_loop, .additions = 1}, result, &x, 1);
    return mw__plan_check(planner, err);
}

const mw_tensor *mw__before_widening(const mw_tensor *value)
{
    const mw_tensor *x = value->op != NULL && strcmp(value->op->kind, "cast") == 0 ? mw__arg(value->op, "x") : NULL;
    return x != NULL && mw__dtype_of(x) == MW_F16 && mw__dtype_of(value) == MW_F32 ? x : NULL;
}

uint32_t mw__plan_as_fp32(mw__planner *planner, const mw_tensor *value)
{
    const uint32_t floats = mw__plan_temporary(planner, (size_t)mw__count_of(value) * sizeof(float));
    plan_cast(planner, value, floats, MW_F32);
    return floats;
}

uint32_t mw__plan_floats(mw__planner *planner, const mw_tensor *value)
{
    return mw__dtype_of(value) == MW_F32 ? mw__plan_buffer(planner, value) : mw__plan_as_fp32(planner, value);
}

/* Arithmetic on one or two tensors with broadcasting: F32, F16 (computed in fp32, rounded once) and I32. The loops over
 * fp32 arrays are in math.c; here are the walk over operands, the integer loops and the plan functions. */
#include "engine/kernel.h"
#include "engine/math.h"

#include "base/fp16.h"

#include <string.h>

/* ---- integers: addition, subtraction and product wrap around; x / 0 is 0, INT_MIN / -1 is INT_MIN ---- */

typedef void loop_i32(int32_t *out, const int32_t *x, const int32_t *y, int64_t count);

static int32_t int_div(int32_t a, int32_t b)
{
    if (b == 0)
        return 0;
    return b == -1 ? (int32_t)(0u - (uint32_t)a) : a / b;
}

static int32_t int_floor_div(int32_t a, int32_t b)
{
    const int32_t quotient = int_div(a, b);
    return b != 0 && b != -1 && a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

/* x^y with wrap-around; a negative exponent truncates 1 / x^-y, and 0 to one is 0. */
static int32_t int_pow(int32_t a, int32_t b)
{
    if (b < 0)
        return a == 1 ? 1 : a == -1 ? (b % 2 == 0 ? 1 : -1) : 0;
    uint32_t result = 1, base = (uint32_t)a;
    for (; b > 0; b /= 2, base *= base)
        result *= b % 2 != 0 ? base : 1;
    return (int32_t)result;
}

#define LOOP_I32(name, expression)                                                                                     \
    static void name(int32_t *out, const int32_t *x, const int32_t *y, int64_t count)                                  \
    {                                                                                                                  \
        MW__VECTORIZE for (int64_t i = 0; i < count; i++)                                                              \
        {                                                                                                              \
            const int32_t a = x[i], b = y[i];                                                                          \
            out[i] = (expression);                                                                                     \
        }                                                                                                              \
    }

LOOP_I32(int_add, (int32_t)((uint32_t)a + (uint32_t)b))
LOOP_I32(int_sub, (int32_t)((uint32_t)a - (uint32_t)b))
LOOP_I32(int_mul, (int32_t)((uint32_t)a *(uint32_t)b))
LOOP_I32(int_real_div, int_div(a, b))
LOOP_I32(int_floor_divide, int_floor_div(a, b))
LOOP_I32(int_maximum, a > b ? a : b)
LOOP_I32(int_minimum, a < b ? a : b)
LOOP_I32(int_power, int_pow(a, b))

static loop_i32 *loop_i32_find(mw__op_id op)
{
    switch (op) {
    case MW__OP_add:
        return int_add;
    case MW__OP_sub:
        return int_sub;
    case MW__OP_mul:
        return int_mul;
    case MW__OP_real_div:
        return int_real_div;
    case MW__OP_floor_div:
        return int_floor_divide;
    case MW__OP_maximum:
        return int_maximum;
    case MW__OP_minimum:
        return int_minimum;
    case MW__OP_pow:
        return int_power;
    default:
        return NULL;
    }
}

/* ---- two operands ---- */

typedef struct binary_block {
    mw__walk walk; /* arms: x, y */
    int64_t elements, count;
    mw_dtype dtype;
    mw__loop2 *loop;
    loop_i32 *integers;
} binary_block;

/* One operand of the running tile. A broadcast element is spread once and kept while it stays the same. */
typedef struct binary_arm {
    const void *data;
    int64_t spread, spread_count; /* which element fills the tile, and how far; -1 for none */
    union {
        float f32[MW__TILE];
        int32_t i32[MW__TILE];
    } tile;
} binary_arm;

static const float *arm_f32(binary_arm *arm, mw_dtype dtype, int64_t offset, int64_t stride, int64_t count)
{
    if (stride != 0)
        return mw__tile_load(arm->data, dtype, offset, count, arm->tile.f32);
    if (arm->spread != offset || arm->spread_count < count) {
        float element;
        const float value = *mw__tile_load(arm->data, dtype, offset, 1, &element);
        for (int64_t i = 0; i < count; i++)
            arm->tile.f32[i] = value;
        arm->spread = offset, arm->spread_count = count;
    }
    return arm->tile.f32;
}

static const int32_t *arm_i32(binary_arm *arm, int64_t offset, int64_t stride, int64_t count)
{
    const int32_t *data = (const int32_t *)arm->data + offset;
    if (stride != 0)
        return data;
    if (arm->spread != offset || arm->spread_count < count) {
        for (int64_t i = 0; i < count; i++)
            arm->tile.i32[i] = *data;
        arm->spread = offset, arm->spread_count = count;
    }
    return arm->tile.i32;
}

static void binary_run(const mw__kernel_call *call)
{
    const binary_block *block = call->block;
    const mw__walk *walk = &block->walk;
    const int last = walk->rank - 1;
    binary_arm x, y;
    x.data = call->in[0], x.spread = -1, x.spread_count = 0;
    y.data = call->in[1], y.spread = -1, y.spread_count = 0;
    float rounded[MW__TILE];
    int64_t at, end;
    mw__split_range(call, block->elements, block->count, &at, &end);
    mw__cursor cursor;
    mw__cursor_seek(walk, &cursor, at);
    while (at < end) {
        const int64_t run = mw__cursor_run(walk, &cursor, end - at < MW__TILE ? end - at : MW__TILE);
        const int64_t sx = walk->stride[0][last], sy = walk->stride[1][last];
        if (block->integers != NULL) {
            block->integers((int32_t *)call->out[0] + at, arm_i32(&x, cursor.offset[0], sx, run),
                            arm_i32(&y, cursor.offset[1], sy, run), run);
        } else {
            float *out = block->dtype == MW_F32 ? (float *)call->out[0] + at : rounded;
            block->loop(out, arm_f32(&x, block->dtype, cursor.offset[0], sx, run),
                        arm_f32(&y, block->dtype, cursor.offset[1], sy, run), run);
            if (block->dtype != MW_F32)
                mw__tile_store(call->out[0], block->dtype, at, run, rounded);
        }
        mw__cursor_step(walk, &cursor, run);
        at += run;
    }
}

mw_status mw__kernel_binary(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const mw_tensor *x = mw__arg(op, "x"), *y = mw__arg(op, "y"), *result = op->results[0];
    const mw_dtype dtype = mw__dtype_of(result);
    MW_TRY(mw__kernel_check_number(op, dtype, err));
    binary_block *block = mw__plan_block(planner, sizeof *block);
    if (block == NULL || mw__count_of(result) == 0)
        return mw__plan_check(planner, err);
    const mw_shape shape = mw__shape_of(result);
    const mw__split split = mw__split_shape(planner, shape);
    *block = (binary_block){.walk = mw__walk_broadcast(shape, (mw_shape[]){mw__shape_of(x), mw__shape_of(y)}, 2),
                            .elements = split.elements,
                            .count = mw__count_of(result),
                            .dtype = dtype,
                            .loop = mw__loop2_find(op->row->id, mw__kernel_level()),
                            .integers = dtype == MW_I32 ? loop_i32_find(op->row->id) : NULL};
    const size_t size = mw__dtype_size(dtype);
    const double flops = op->row->id == MW__OP_pow ? 40 : 1;
    mw__step *step = mw__plan_step(planner, binary_run, op->row->name, split.units,
                                   mw__cost((double)block->count * (double)size * 3, (double)block->count * flops));
    step->block = block;
    mw__step_read_rows(planner, step, x, shape, split, true);
    mw__step_read_rows(planner, step, y, shape, split, true);
    mw__step_write(planner, step, mw__plan_buffer(planner, result), MW__ROWS, (size_t)split.elements * size);
    return mw__plan_check(planner, err);
}

/* ---- one operand ---- */

typedef struct unary_block {
    int64_t elements, count;
    mw_dtype dtype;
    mw__loop1 *loop;
    float p, q;
    mw__op_id id; /* for I32 and BOOL */
} unary_block;

static void unary_integers(mw__op_id id, int32_t *out, const int32_t *x, int64_t count)
{
    if (id == MW__OP_abs)
        for (int64_t i = 0; i < count; i++)
            out[i] = x[i] < 0 ? (int32_t)(0u - (uint32_t)x[i]) : x[i];
    else if (id == MW__OP_sign)
        for (int64_t i = 0; i < count; i++)
            out[i] = (x[i] > 0) - (x[i] < 0);
    else
        for (int64_t i = 0; i < count; i++)
            out[i] = (int32_t)((uint32_t)x[i] * (uint32_t)x[i]);
}

static void unary_run(const mw__kernel_call *call)
{
    const unary_block *block = call->block;
    int64_t begin, end;
    mw__split_range(call, block->elements, block->count, &begin, &end);
    if (block->dtype == MW_F32) {
        block->loop((float *)call->out[0] + begin, (const float *)call->in[0] + begin, end - begin, block->p, block->q);
    } else if (block->dtype == MW_I32) {
        unary_integers(block->id, (int32_t *)call->out[0] + begin, (const int32_t *)call->in[0] + begin, end - begin);
    } else if (block->dtype == MW_BOOL) {
        const uint8_t *x = call->in[0];
        uint8_t *out = call->out[0];
        for (int64_t i = begin; i < end; i++)
            out[i] = x[i] == 0;
    } else {
        float tile[MW__TILE];
        for (int64_t at = begin; at < end; at += MW__TILE) {
            const int64_t run = end - at < MW__TILE ? end - at : MW__TILE;
            block->loop(tile, mw__tile_load(call->in[0], block->dtype, at, run, tile), run, block->p, block->q);
            mw__tile_store(call->out[0], block->dtype, at, run, tile);
        }
    }
}

static mw__function1 gelu_function(const mw__op *op)
{
    const char *mode = mw__arg_string(op, "mode");
    if (mode == NULL || strcmp(mode, "EXACT") == 0)
        return MW__F1_GELU_EXACT;
    if (strcmp(mode, "TANH_APPROXIMATION") == 0)
        return MW__F1_GELU_TANH;
    return strcmp(mode, "SIGMOID_APPROXIMATION") == 0 ? MW__F1_GELU_SIGMOID : MW__F1_NONE;
}

static mw__function1 unary_function(const mw__op *op)
{
    switch (op->row->id) {
    case MW__OP_abs:
        return MW__F1_ABS;
    case MW__OP_sign:
        return MW__F1_SIGN;
    case MW__OP_square:
        return MW__F1_SQUARE;
    case MW__OP_sqrt:
        return MW__F1_SQRT;
    case MW__OP_rsqrt:
        return MW__F1_RSQRT;
    case MW__OP_inverse:
        return MW__F1_INVERSE;
    case MW__OP_relu:
        return MW__F1_RELU;
    case MW__OP_clip:
        return MW__F1_CLIP;
    case MW__OP_exp:
        return MW__F1_EXP;
    case MW__OP_log:
        return MW__F1_LOG;
    case MW__OP_erf:
        return MW__F1_ERF;
    case MW__OP_tanh:
        return MW__F1_TANH;
    case MW__OP_sigmoid:
        return MW__F1_SIGMOID;
    case MW__OP_silu:
        return MW__F1_SILU;
    case MW__OP_gelu:
        return gelu_function(op);
    default:
        return MW__F1_NONE;
    }
}

/* MIL rounds a scalar argument to the type of x: 1e-12 is 0 in fp16. */
static float scalar_argument(const mw__op *op, const char *name, mw_dtype dtype)
{
    double value = 0.0;
    mw__arg_float(op, name, &value);
    return dtype == MW_F16 ? mw__fp16_to_float(mw__fp16_from_double(value)) : (float)value;
}

static mw_status unary_block_fill(const mw__op *op, unary_block *block, mw_error *err)
{
    const mw__op_id id = op->row->id;
    const mw_dtype dtype = block->dtype;
    const mw__function1 function = unary_function(op);
    const bool integer = id == MW__OP_abs || id == MW__OP_sign || id == MW__OP_square;
    if (dtype == MW_BOOL ? id != MW__OP_logical_not : dtype == MW_I32 ? !integer : dtype != MW_F32 && dtype != MW_F16)
        return mw__kernel_unsupported(op, dtype, err);
    if (dtype != MW_BOOL && function == MW__F1_NONE) {
        char subject[128];
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "%s: the engine does not know this operation or mode",
                        mw__op_subject(op, subject, sizeof subject));
    }
    block->id = id;
    block->loop = mw__loop1_find(function, mw__kernel_level());
    if (id == MW__OP_rsqrt || id == MW__OP_inverse || id == MW__OP_log)
        block->p = scalar_argument(op, "epsilon", dtype);
    if (id == MW__OP_clip)
        block->p = scalar_argument(op, "alpha", dtype), block->q = scalar_argument(op, "beta", dtype);
    return MW_OK;
}

mw_status mw__kernel_unary(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const mw_tensor *x = mw__arg(op, "x"), *result = op->results[0];
    unary_block *block = mw__plan_block(planner, sizeof *block);
    if (block == NULL || mw__count_of(result) == 0)
        return mw__plan_check(planner, err);
    const mw__split split = mw__split_shape(planner, mw__shape_of(result));
    block->elements = split.elements, block->count = mw__count_of(result), block->dtype = mw__dtype_of(result);
    MW_TRY(unary_block_fill(op, block, err));
    const size_t unit = (size_t)split.elements * mw__dtype_size(block->dtype);
    const double bytes = 2.0 * (double)block->count * (double)mw__dtype_size(block->dtype);
    mw__step *step = mw__plan_step(planner, unary_run, op->row->name, split.units,
                                   mw__cost(bytes, (double)block->count * mw__loop1_flops(unary_function(op))));
    step->block = block;
    mw__step_read(planner, step, mw__plan_buffer(planner, x), MW__ROWS, unit, true);
    mw__step_write(planner, step, mw__plan_buffer(planner, result), MW__ROWS, unit);
    return mw__plan_check(planner, err);
}

/* Arithmetic on one or two tensors with broadcasting: F32, F16 (computed in fp32, rounded once) and I32. The loops
 * are rows of math.c and math_pair.c; here are the iter over operands and the plan functions. */
#include "engine/core/kernel.h"
#include "engine/kernels/fused/fused.h"
#include "engine/kernels/math/math.h"
#include "engine/kernels/math/math_chip.h"
#include "engine/kernels/math/round.h"

#include "base/number/fp16.h"

/* ---- two operands ---- */

typedef struct binary_block {
    const mw__nd_iter *iter; /* operands: x, y */
    int64_t elements, count;
    mw_dtype from[2], dtype; /* F16 and F32 may be mixed (engine/compile/storage/fp16_storage.h) */
    mw__loop2 *loop;
    mw__loop1 *fed[2]; /* of what is read of memory (math_chip.h) */
    mw__loop1 *round;  /* of an F32 result; NULL: none */
    mw__loop2_i32 *integers;
} binary_block;

/* One operand of the running tile. A broadcast element is spread once and kept while it stays the same. */
typedef struct binary_operand {
    const void *data;
    int64_t spread, spread_count; /* which element fills the tile, and how far; -1 for none */
    union {
        float f32[MW__TILE];
        int32_t i32[MW__TILE];
    } tile;
} binary_operand;

static const float *arm_f32(binary_operand *operand, mw_dtype dtype, mw__loop1 *fed, int64_t offset, int64_t stride,
                            int64_t count)
{
    if (stride != 0)
        return mw__tile_read(operand->data, dtype, fed, offset, count, operand->tile.f32);
    if (operand->spread != offset || operand->spread_count < count) {
        float element;
        const float value = *mw__tile_read(operand->data, dtype, fed, offset, 1, &element);
        for (int64_t i = 0; i < count; i++)
            operand->tile.f32[i] = value;
        operand->spread = offset, operand->spread_count = count;
    }
    return operand->tile.f32;
}

static const int32_t *arm_i32(binary_operand *operand, int64_t offset, int64_t stride, int64_t count)
{
    const int32_t *data = (const int32_t *)operand->data + offset;
    if (stride != 0)
        return data;
    if (operand->spread != offset || operand->spread_count < count) {
        for (int64_t i = 0; i < count; i++)
            operand->tile.i32[i] = *data;
        operand->spread = offset, operand->spread_count = count;
    }
    return operand->tile.i32;
}

static void binary_run(const mw__kernel_call *call)
{
    const binary_block *block = call->block;
    const mw__nd_iter *iter = block->iter;
    const int last = iter->rank - 1;
    binary_operand x, y;
    x.data = call->in[0], x.spread = -1, x.spread_count = 0;
    y.data = call->in[1], y.spread = -1, y.spread_count = 0;
    float rounded[MW__TILE];
    int64_t at, end;
    mw__units_range(call, block->elements, block->count, &at, &end);
    mw__nd_position position;
    mw__nd_position_seek(iter, &position, at);
    while (at < end) {
        const int64_t run = mw__nd_position_run(iter, &position, end - at < MW__TILE ? end - at : MW__TILE);
        const int64_t sx = iter->stride[0][last], sy = iter->stride[1][last];
        if (block->integers != NULL) {
            block->integers((int32_t *)call->out[0] + at, arm_i32(&x, position.offset[0], sx, run),
                            arm_i32(&y, position.offset[1], sy, run), run);
        } else {
            float *out = block->dtype == MW_F32 ? (float *)call->out[0] + at : rounded;
            block->loop(out, arm_f32(&x, block->from[0], block->fed[0], position.offset[0], sx, run),
                        arm_f32(&y, block->from[1], block->fed[1], position.offset[1], sy, run), run);
            if (block->round != NULL)
                block->round(out, out, run, 0, 0);
            if (block->dtype != MW_F32)
                mw__tile_store(call->out[0], block->dtype, at, run, rounded);
        }
        mw__nd_position_step(iter, &position, run);
        at += run;
    }
}

/* One of F16 is rounded when it is stored. */
static mw__loop1 *round_of(const mw__planner *planner, const mw_tensor *result)
{
    const unsigned how = mw__plan_rounds(planner, result);
    const bool stored = mw__dtype_of(result) != MW_F32 && how <= MW__ROUND_HALF;
    return stored ? NULL : mw__round_loop(mw__plan_level(planner), how);
}

/* What a chip computes in place of IEEE's function; NULL: nothing else. */
static mw__loop2 *half_function2(const mw__planner *planner, const mw__op *op)
{
    if (!mw__plan_is_half(planner, op->results[0]))
        return NULL;
    return mw__math_chip_function2(op->row->id, mw__plan_level(planner), mw__plan_config(planner)->arithmetic);
}

mw_status mw__kernel_binary(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const mw_tensor *x = mw__arg(op, "x"), *y = mw__arg(op, "y"), *result = op->results[0];
    const mw_dtype dtype = mw__dtype_of(result);
    const mw__function2 *function = mw__function2_find(op->row->id);
    mw__loop2 *const special = half_function2(planner, op);
    MW_TRY(mw__kernel_check_number(op, dtype, err));
    binary_block *block = mw__plan_block(planner, sizeof *block);
    const mw_shape shape = mw__shape_of(result);
    const mw__nd_iter *iter = mw__plan_broadcast(planner, shape, (mw_shape[]){mw__shape_of(x), mw__shape_of(y)}, 2);
    if (block == NULL || iter == NULL || mw__count_of(result) == 0)
        return mw__plan_check(planner, err);
    const mw__units split = mw__units_of(planner, shape);
    *block = (binary_block){.iter = iter,
                            .elements = split.elements,
                            .count = mw__count_of(result),
                            .from = {mw__dtype_of(x), mw__dtype_of(y)},
                            .fed = {mw__plan_fed(planner, mw__dtype_of(x)), mw__plan_fed(planner, mw__dtype_of(y))},
                            .dtype = dtype,
                            .loop = special != NULL ? special : function->at[mw__plan_level(planner)],
                            .round = round_of(planner, result),
                            .integers = dtype == MW_I32 ? function->integers : NULL};
    const size_t size = mw__dtype_size(dtype);
    mw__plan_note(planner, mw__level_name(mw__plan_level(planner)), NULL);
    mw__step *step =
        mw__plan_step(planner, binary_run, op->row->name, split.units,
                      mw__cost((double)block->count * (double)size * 3, (double)block->count * function->additions));
    step->block = block;
    step->rounds = true;
    mw__step_read_rows(planner, step, x, shape, split, true);
    mw__step_read_rows(planner, step, y, shape, split, true);
    mw__step_write(planner, step, mw__plan_buffer(planner, result), MW__ROWS, (size_t)split.elements * size);
    if (block->integers == NULL)
        mw__step_element(
            planner, step,
            &(mw__element){.binary = block->loop, .special = special != NULL, .additions = function->additions}, result,
            (const mw_tensor *[]){x, y}, 2);
    return mw__plan_check(planner, err);
}

/* ---- one operand ---- */

typedef struct unary_block {
    int64_t elements, count;
    mw_dtype from, dtype; /* as in binary_block */
    mw__loop1 *loop, *round, *fed;
    mw__loop1_i32 *integers;
    mw__loop1_bool *bools;
    float p, q;
    int32_t whole; /* p of integers */
    bool special;  /* the loop is a chip's */
} unary_block;

static void unary_run(const mw__kernel_call *call)
{
    const unary_block *block = call->block;
    int64_t begin, end;
    mw__units_range(call, block->elements, block->count, &begin, &end);
    if (block->dtype == MW_F32 && block->from == MW_F32 && block->round == NULL) {
        block->loop((float *)call->out[0] + begin, (const float *)call->in[0] + begin, end - begin, block->p, block->q);
    } else if (block->dtype == MW_I32) {
        block->integers((int32_t *)call->out[0] + begin, (const int32_t *)call->in[0] + begin, end - begin,
                        block->whole);
    } else if (block->dtype == MW_BOOL) {
        block->bools((uint8_t *)call->out[0] + begin, (const uint8_t *)call->in[0] + begin, end - begin);
    } else {
        float tile[MW__TILE];
        for (int64_t at = begin; at < end; at += MW__TILE) {
            const int64_t run = end - at < MW__TILE ? end - at : MW__TILE;
            block->loop(tile, mw__tile_read(call->in[0], block->from, block->fed, at, run, tile), run, block->p,
                        block->q);
            if (block->round != NULL)
                block->round(tile, tile, run, 0, 0);
            mw__tile_store(call->out[0], block->dtype, at, run, tile);
        }
    }
}

/* MIL rounds a scalar argument to the type of x: 1e-12 is 0 in fp16. */
static float scalar_argument(const mw__op *op, const char *name, bool half)
{
    double value = 0.0;
    if (name != NULL)
        mw__arg_float(op, name, &value);
    return half ? mw__fp16_to_float(mw__fp16_from_double(value)) : (float)value;
}

static mw_status unary_find(const mw__op *op, const mw__function1 **out, mw_error *err)
{
    const bool has_mode = mw__function1_find(op->row->id, NULL)->mode != NULL;
    *out = mw__function1_find(op->row->id, has_mode ? mw__arg_string(op, "mode") : NULL);
    char subject[128];
    return *out != NULL ? MW_OK
                        : mw__fail(err, MW_ERROR_UNSUPPORTED, "%s: the engine does not know this mode",
                                   mw__op_subject(op, subject, sizeof subject));
}

static mw_status unary_block_fill(const mw__planner *planner, const mw__op *op, const mw__function1 *function,
                                  unary_block *block, mw_error *err)
{
    const mw_dtype dtype = block->dtype;
    const bool real = dtype == MW_F32 || dtype == MW_F16, half = mw__plan_is_half(planner, op->results[0]);
    mw__loop1 *const special = half ? mw__math_chip_function1(op->row->id, function->mode, mw__plan_level(planner),
                                                              mw__plan_config(planner)->arithmetic)
                                    : NULL;
    block->special = special != NULL;
    block->loop = !real ? NULL : special != NULL ? special : function->at[mw__plan_level(planner)];
    block->integers = dtype == MW_I32 ? function->integers : NULL;
    block->bools = dtype == MW_BOOL ? function->bools : NULL;
    if (block->loop == NULL && block->integers == NULL && block->bools == NULL)
        return mw__kernel_unsupported(op, dtype, err);
    if (real)
        block->p = scalar_argument(op, function->p, half), block->q = scalar_argument(op, function->q, half);
    int64_t whole = 0;
    if (dtype == MW_I32 && function->p != NULL)
        mw__arg_int(op, function->p, &whole);
    block->whole = (int32_t)whole;
    return MW_OK;
}

mw_status mw__kernel_unary(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const mw_tensor *x = mw__arg(op, "x"), *result = op->results[0];
    const mw__function1 *function;
    MW_TRY(unary_find(op, &function, err));
    unary_block *block = mw__plan_block(planner, sizeof *block);
    if (block == NULL || mw__count_of(result) == 0)
        return mw__plan_check(planner, err);
    const mw__units split = mw__units_of(planner, mw__shape_of(result));
    block->elements = split.elements, block->count = mw__count_of(result), block->dtype = mw__dtype_of(result);
    block->from = mw__dtype_of(x), block->round = round_of(planner, result);
    block->fed = mw__plan_fed(planner, block->from);
    MW_TRY(unary_block_fill(planner, op, function, block, err));
    const size_t unit = (size_t)split.elements * mw__dtype_size(block->dtype);
    const size_t from = (size_t)split.elements * mw__dtype_size(block->from);
    const double bytes = 2.0 * (double)block->count * (double)mw__dtype_size(block->dtype);
    mw__plan_note(planner, mw__level_name(mw__plan_level(planner)), NULL);
    mw__step *step = mw__plan_step(planner, unary_run, op->row->name, split.units,
                                   mw__cost(bytes, (double)block->count * function->additions));
    step->block = block;
    step->rounds = true;
    mw__step_read(planner, step, mw__plan_buffer(planner, x), MW__ROWS, from, from == unit);
    mw__step_write(planner, step, mw__plan_buffer(planner, result), MW__ROWS, unit);
    if (block->loop != NULL)
        mw__step_element(planner, step,
                         &(mw__element){.name = function->name,
                                        .unary = block->loop,
                                        .special = block->special,
                                        .p = block->p,
                                        .q = block->q,
                                        .additions = function->additions},
                         result, &x, 1);
    return mw__plan_check(planner, err);
}

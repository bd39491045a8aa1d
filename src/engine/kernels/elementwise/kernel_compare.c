/* Comparisons and logic of two tensors and selection by a bool tensor, with broadcasting. logical_not is a unary
 * operation (kernel_elementwise.c). */
#include "engine/kernels/fused/fused.h"
#include "engine/kernels/gather/kernel_select_rows.h"
#include "engine/kernels/math/math_chip.h"

#include <string.h>

/* ---- comparisons: F16 compares as fp32, which is exact; logic of truth ---- */

typedef void compare_i32(uint8_t *out, const int32_t *x, int64_t sx, const int32_t *y, int64_t sy, int64_t count);
typedef void compare_bool(uint8_t *out, const uint8_t *x, int64_t sx, const uint8_t *y, int64_t sy, int64_t count);

/* sx and sy are 0 for an operand that is repeated, else 1; each case is a loop of its own that vectorizes. */
#define COMPARE_LOOP(value) MW__VECTORIZE for (int64_t i = 0; i < count; i++) out[i] = (uint8_t)(value);

/* `test` is a macro of two values. */
#define COMPARE(name, type, suffix, test)                                                                              \
    MW__INLINE void name##_##suffix##_body(uint8_t *out, const type *x, int64_t sx, const type *y, int64_t sy,         \
                                           int64_t count)                                                              \
    {                                                                                                                  \
        if (sx != 0 && sy != 0) {                                                                                      \
            COMPARE_LOOP(test(x[i], y[i]))                                                                             \
        } else if (sx != 0) {                                                                                          \
            const type b = *y;                                                                                         \
            COMPARE_LOOP(test(x[i], b))                                                                                \
        } else if (sy != 0) {                                                                                          \
            const type a = *x;                                                                                         \
            COMPARE_LOOP(test(a, y[i]))                                                                                \
        } else {                                                                                                       \
            memset(out, test(*x, *y), (size_t)count);                                                                  \
        }                                                                                                              \
    }                                                                                                                  \
    MW__BASE_AVX2(name##_##suffix,                                                                                     \
                  (uint8_t * out, const type *x, int64_t sx, const type *y, int64_t sy, int64_t count),                \
                  (out, x, sx, y, sy, count))

#define NUMBERS(name, test)                                                                                            \
    COMPARE(name, float, f32, test)                                                                                    \
    COMPARE(name, int32_t, i32, test)
#define TRUTH(name, test) COMPARE(name, uint8_t, bool, test)

#define EQUAL(a, b)         ((a) == (b))
#define NOT_EQUAL(a, b)     ((a) != (b))
#define LESS(a, b)          ((a) < (b))
#define LESS_EQUAL(a, b)    ((a) <= (b))
#define GREATER(a, b)       ((a) > (b))
#define GREATER_EQUAL(a, b) ((a) >= (b))
#define AND(a, b)           (((a) != 0) & ((b) != 0))
#define OR(a, b)            (((a) != 0) | ((b) != 0))
#define XOR(a, b)           (((a) != 0) ^ ((b) != 0))

NUMBERS(equal, EQUAL)
NUMBERS(not_equal, NOT_EQUAL)
NUMBERS(less, LESS)
NUMBERS(less_equal, LESS_EQUAL)
NUMBERS(greater, GREATER)
NUMBERS(greater_equal, GREATER_EQUAL)
TRUTH(logical_and, AND)
TRUTH(logical_or, OR)
TRUTH(logical_xor, XOR)

/* The loops of an operation, each for the base level and AVX2. */
typedef struct compare_row {
    mw__compare_loop *floats[2];
    compare_i32 *integers[2];
    compare_bool *bools[2];
} compare_row;

#define NUMBER_ROW(name)                                                                                               \
    [MW__OP_##name] = {.floats = MW__BASE_AVX2_LIST(name##_f32), .integers = MW__BASE_AVX2_LIST(name##_i32)}
#define TRUTH_ROW(name) [MW__OP_##name] = {.bools = MW__BASE_AVX2_LIST(name##_bool)}

/* clang-format off */
static const compare_row compare_rows[MW__OP_COUNT] = {
    NUMBER_ROW(equal),
    NUMBER_ROW(not_equal),
    NUMBER_ROW(less),
    NUMBER_ROW(less_equal),
    NUMBER_ROW(greater),
    NUMBER_ROW(greater_equal),
    TRUTH_ROW(logical_and),
    TRUTH_ROW(logical_or),
    TRUTH_ROW(logical_xor),
};
/* clang-format on */

typedef struct compare_block {
    const mw__nd_iter *iter; /* operands: x, y */
    int64_t elements, count;
    mw_dtype dtype, dtype_y; /* differ only as F16 and F32 */
    mw__loop1 *fed[2];       /* of what is read of memory (math_chip.h) */
    mw__compare_loop *floats;
    compare_i32 *integers;
    compare_bool *bools;
} compare_block;

static void compare_run(const mw__kernel_call *call)
{
    const compare_block *block = call->block;
    const mw__nd_iter *iter = block->iter;
    const int64_t sx = iter->stride[0][iter->rank - 1], sy = iter->stride[1][iter->rank - 1];
    float tile_x[MW__TILE], tile_y[MW__TILE];
    int64_t at, end;
    mw__units_range(call, block->elements, block->count, &at, &end);
    mw__nd_position position;
    mw__nd_position_seek(iter, &position, at);
    while (at < end) {
        const int64_t run = mw__nd_position_run(iter, &position, end - at < MW__TILE ? end - at : MW__TILE);
        uint8_t *out = (uint8_t *)call->out[0] + at;
        if (block->dtype == MW_I32)
            block->integers(out, (const int32_t *)call->in[0] + position.offset[0], sx,
                            (const int32_t *)call->in[1] + position.offset[1], sy, run);
        else if (block->dtype == MW_BOOL)
            block->bools(out, (const uint8_t *)call->in[0] + position.offset[0], sx,
                         (const uint8_t *)call->in[1] + position.offset[1], sy, run);
        else
            block->floats(
                out,
                mw__tile_read(call->in[0], block->dtype, block->fed[0], position.offset[0], sx != 0 ? run : 1, tile_x),
                sx,
                mw__tile_read(call->in[1], block->dtype_y, block->fed[1], position.offset[1], sy != 0 ? run : 1,
                              tile_y),
                sy, run);
        mw__nd_position_step(iter, &position, run);
        at += run;
    }
}

mw_status mw__kernel_compare(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const mw_tensor *x = mw__arg(op, "x"), *y = mw__arg(op, "y"), *result = op->results[0];
    const mw_dtype dtype = mw__dtype_of(x);
    const compare_row *row = &compare_rows[op->row->id];
    if (row->bools[0] == NULL)
        MW_TRY(mw__kernel_check_number(op, dtype, err));
    compare_block *block = mw__plan_block(planner, sizeof *block);
    const mw_shape shape = mw__shape_of(result);
    const mw__nd_iter *iter = mw__plan_broadcast(planner, shape, (mw_shape[]){mw__shape_of(x), mw__shape_of(y)}, 2);
    if (block == NULL || iter == NULL || mw__count_of(result) == 0)
        return mw__plan_check(planner, err);
    const mw__units split = mw__units_of(planner, shape);
    block->iter = iter;
    block->elements = split.elements, block->count = mw__count_of(result), block->dtype = dtype;
    block->dtype_y = mw__dtype_of(y);
    block->fed[0] = mw__plan_fed(planner, dtype), block->fed[1] = mw__plan_fed(planner, block->dtype_y);
    const size_t avx2 = mw__plan_level(planner) >= MW__LEVEL_AVX2;
    block->floats = row->floats[avx2], block->integers = row->integers[avx2], block->bools = row->bools[avx2];
    const double count = (double)block->count;
    mw__step *step = mw__plan_step(planner, compare_run, op->row->name, split.units,
                                   mw__cost(count * (double)(2 * mw__dtype_size(dtype) + 1), count));
    step->block = block;
    step->span = 1;
    const bool in_place = dtype == MW_BOOL;
    mw__step_read_rows(planner, step, x, shape, split, in_place);
    mw__step_read_rows(planner, step, y, shape, split, in_place);
    mw__step_write(planner, step, mw__plan_buffer(planner, result), MW__ROWS, (size_t)split.elements);
    if (block->floats != NULL && dtype != MW_I32 && dtype != MW_BOOL)
        mw__step_element(planner, step, &(mw__element){.compare = block->floats, .additions = 1}, result,
                         (const mw_tensor *[]){x, y}, 2);
    return mw__plan_check(planner, err);
}

/* ---- selection: moves elements of 1, 2, 4 or 8 bytes ---- */

#define SELECT(name, type)                                                                                             \
    MW__INLINE void name##_body(void *out, const uint8_t *cond, const void *a, const void *b, int64_t count)           \
    {                                                                                                                  \
        const type *yes = a, *no = b;                                                                                  \
        type *chosen = out;                                                                                            \
        MW__VECTORIZE for (int64_t i = 0; i < count; i++)                                                              \
        {                                                                                                              \
            const type mask = (type) - (type)(cond[i] != 0); /* blends without a branch */                             \
            chosen[i] = (type)((yes[i] & mask) | (no[i] & (type)~mask));                                               \
        }                                                                                                              \
    }                                                                                                                  \
    MW__BASE_AVX2(name, (void *out, const uint8_t *cond, const void *a, const void *b, int64_t count),                 \
                  (out, cond, a, b, count))

SELECT(select_1, uint8_t)
SELECT(select_2, uint16_t)
SELECT(select_4, uint32_t)
SELECT(select_8, uint64_t)

typedef struct select_block {
    const mw__nd_iter *iter; /* operands: cond, a, b */
    int64_t elements, count;
    size_t size; /* of an element */
    mw__select_loop *loop;
    mw_dtype from[2], dtype;
    mw__loop1 *fed[2]; /* as in compare_block */
    bool mixed;        /* F16 and F32 among them, or what is read is changed: chosen as fp32 */
} select_block;

/* The memory itself, or a tile filled with the one element of a repeated operand. */
static const void *select_operand(const void *data, int64_t offset, int64_t stride, int64_t count, size_t size,
                                  void *tile, int64_t *spread)
{
    const char *element = (const char *)data + offset * (int64_t)size;
    if (stride != 0)
        return element;
    if (*spread != offset) { /* all of it, as later runs may be longer */
        for (size_t i = 0; i < MW__TILE; i++)
            memcpy((char *)tile + i * size, element, size);
        *spread = offset;
    }
    (void)count;
    return tile;
}

/* The operand as fp32; a repeated element fills the tile. */
static const float *select_floats(const void *data, mw_dtype dtype, mw__loop1 *fed, int64_t offset, int64_t stride,
                                  int64_t count, float *tile)
{
    if (stride != 0)
        return mw__tile_read(data, dtype, fed, offset, count, tile);
    float element;
    const float value = *mw__tile_read(data, dtype, fed, offset, 1, &element);
    for (int64_t i = 0; i < count; i++)
        tile[i] = value;
    return tile;
}

static void select_mixed(const mw__kernel_call *call, const uint8_t *cond, const mw__nd_position *position, int64_t at,
                         int64_t run)
{
    const select_block *block = call->block;
    const int last = block->iter->rank - 1;
    float tile_a[MW__TILE], tile_b[MW__TILE];
    const float *a = select_floats(call->in[1], block->from[0], block->fed[0], position->offset[1],
                                   block->iter->stride[1][last], run, tile_a);
    const float *b = select_floats(call->in[2], block->from[1], block->fed[1], position->offset[2],
                                   block->iter->stride[2][last], run, tile_b);
    block->loop(tile_a, cond, a, b, run);
    mw__tile_store(call->out[0], block->dtype, at, run, tile_a);
}

static void select_run(const mw__kernel_call *call)
{
    const select_block *block = call->block;
    const mw__nd_iter *iter = block->iter;
    const int last = iter->rank - 1;
    const size_t size = block->size;
    uint8_t tile_cond[MW__TILE];
    uint64_t tile_a[MW__TILE], tile_b[MW__TILE];
    int64_t spread[3] = {-1, -1, -1}, at, end;
    mw__units_range(call, block->elements, block->count, &at, &end);
    mw__nd_position position;
    mw__nd_position_seek(iter, &position, at);
    while (at < end) {
        const int64_t run = mw__nd_position_run(iter, &position, end - at < MW__TILE ? end - at : MW__TILE);
        const void *cond =
            select_operand(call->in[0], position.offset[0], iter->stride[0][last], run, 1, tile_cond, &spread[0]);
        if (block->mixed) {
            select_mixed(call, cond, &position, at, run);
        } else {
            const void *a =
                select_operand(call->in[1], position.offset[1], iter->stride[1][last], run, size, tile_a, &spread[1]);
            const void *b =
                select_operand(call->in[2], position.offset[2], iter->stride[2][last], run, size, tile_b, &spread[2]);
            block->loop((char *)call->out[0] + at * (int64_t)size, cond, a, b, run);
        }
        mw__nd_position_step(iter, &position, run);
        at += run;
    }
}

static mw__select_loop *select_choose(size_t size, mw__level level)
{
    switch (size) {
    case 1:
        return MW__DISPATCH(select_1, level);
    case 2:
        return MW__DISPATCH(select_2, level);
    case 4:
        return MW__DISPATCH(select_4, level);
    default:
        return MW__DISPATCH(select_8, level);
    }
}

mw_status mw__kernel_select(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const mw_tensor *cond = mw__arg(op, "cond"), *a = mw__arg(op, "a"), *b = mw__arg(op, "b");
    const mw_tensor *result = op->results[0];
    const size_t size = mw__dtype_size(mw__dtype_of(result));
    if (mw__count_of(result) > 0 && mw__select_rows_suits(planner, op))
        return mw__plan_select_rows(planner, op, err);
    const mw_shape shape = mw__shape_of(result);
    select_block *block = mw__plan_block(planner, sizeof *block);
    const mw__nd_iter *iter =
        mw__plan_broadcast(planner, shape, (mw_shape[]){mw__shape_of(cond), mw__shape_of(a), mw__shape_of(b)}, 3);
    if (block == NULL || iter == NULL || mw__count_of(result) == 0)
        return mw__plan_check(planner, err);
    const mw__units split = mw__units_of(planner, shape);
    block->iter = iter;
    block->elements = split.elements, block->count = mw__count_of(result), block->size = size;
    block->from[0] = mw__dtype_of(a), block->from[1] = mw__dtype_of(b), block->dtype = mw__dtype_of(result);
    block->fed[0] = mw__plan_fed(planner, block->from[0]), block->fed[1] = mw__plan_fed(planner, block->from[1]);
    block->mixed = block->from[0] != block->dtype || block->from[1] != block->dtype || block->fed[0] != NULL;
    block->loop = select_choose(block->mixed ? sizeof(float) : size, mw__plan_level(planner));
    const double count = (double)block->count;
    mw__step *step =
        mw__plan_step(planner, select_run, op->row->name, split.units, mw__cost(count * (double)(3 * size + 1), count));
    step->block = block;
    step->span = 1;
    mw__step_read_rows(planner, step, cond, shape, split, size == 1);
    mw__step_read_rows(planner, step, a, shape, split, mw__dtype_of(a) == mw__dtype_of(result));
    mw__step_read_rows(planner, step, b, shape, split, mw__dtype_of(b) == mw__dtype_of(result));
    mw__step_write(planner, step, mw__plan_buffer(planner, result), MW__ROWS, (size_t)split.elements * size);
    const mw_dtype dtype = mw__dtype_of(result);
    if (dtype == MW_F32 || dtype == MW_F16) /* tiles of a fused are fp32 */
        mw__step_element(planner, step,
                         &(mw__element){.select = MW__DISPATCH(select_4, mw__plan_level(planner)), .additions = 1},
                         result, (const mw_tensor *[]){cond, a, b}, 3);
    return mw__plan_check(planner, err);
}

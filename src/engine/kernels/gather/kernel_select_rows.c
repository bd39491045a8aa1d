/* select of rows that are taken whole, as the update of a cache in the form for chips has it: the condition is one for
 * all elements of a row, and the rows that are not chosen are those of an input. Where the result stands in the place
 * of that input, only the chosen rows are written. The bits are those of the selection element by element. */
#include "engine/kernels/gather/kernel_select_rows.h"
#include "engine/core/kernel.h"
#include "engine/kernels/math/math_chip.h"

#include <math.h>
#include <string.h>

enum { ROW_LEAST = 16, PIECE = 4096 };

typedef struct rows_block {
    mw__nd_iter iter; /* operands: cond, a; without the two innermost loops, over rows and in a row */
    int64_t rows, width;
    int64_t a_row;        /* elements from a row of a to the next; 0 if it is repeated */
    mw_dtype dtype, from; /* of the result and the input; of a */
    mw__loop1 *fed;       /* of what is read of fp16; or NULL */
    bool is_number;       /* NaN becomes 0 */
    void (*find_nan)(uint16_t *out, const uint16_t *x, int64_t count);
} rows_block;

/* ---- fp16 that is not chosen ---- */

MW__INLINE void find_nan_body(uint16_t *out, const uint16_t *x, int64_t count)
{
    uint16_t found = 0;
    MW__VECTORIZE for (int64_t i = 0; i < count; i++) found |= (uint16_t)((x[i] & 0x7fff) > 0x7c00);
    *out = found;
}
MW__BASE_AVX2(find_nan, (uint16_t * out, const uint16_t *x, int64_t count), (out, x, count))

/* What becomes of it by the profile of a chip. */
static void put_number(const rows_block *s, uint16_t *x, int64_t count)
{
    const uint16_t number = s->fed != NULL ? 0x7c00 : 0;
    if (s->dtype != MW_F16 || (s->fed == NULL && !s->is_number))
        return;
    for (int64_t at = 0, run; at < count; at += run) {
        uint16_t found;
        run = count - at < PIECE ? count - at : PIECE;
        s->find_nan(&found, x + at, run);
        for (int64_t i = at; found != 0 && i < at + run; i++)
            x[i] = (x[i] & 0x7fff) > 0x7c00 ? number : x[i];
    }
}

/* ---- rows that are chosen ---- */

static void put_row(const rows_block *s, const void *a, int64_t from, void *out, int64_t to)
{
    float tile[MW__TILE], numbers[MW__TILE];
    for (int64_t at = 0, count; at < s->width; at += count) {
        count = s->width - at < MW__TILE ? s->width - at : MW__TILE;
        const float *read = mw__tile_read(a, s->from, s->fed, from + at, count, tile);
        for (int64_t i = 0; i < count; i++)
            numbers[i] = s->is_number && isnan(read[i]) ? 0.0f : read[i];
        mw__tile_store(out, s->dtype, to + at, count, numbers);
    }
}

/* A unit is all rows under one place of the loops around them. */
static void rows_run(const mw__kernel_call *call)
{
    const rows_block *s = call->block;
    const int64_t unit = s->rows * s->width;
    const size_t size = mw__dtype_size(s->dtype);
    char *const out = (char *)call->out[0] + (size_t)(call->begin * unit) * size;
    const char *const kept = (const char *)call->in[2] + (size_t)(call->begin * unit) * size;
    if (out != kept)
        memcpy(out, kept, (size_t)((call->end - call->begin) * unit) * size);
    put_number(s, (uint16_t *)out, (call->end - call->begin) * unit);
    mw__nd_position position;
    mw__nd_position_seek(&s->iter, &position, call->begin);
    for (int64_t at = call->begin; at < call->end; at++) {
        const char *cond = (const char *)call->in[0] + position.offset[0];
        for (int64_t row = 0; row < s->rows; row++)
            if (cond[row] != 0)
                put_row(s, call->in[1], position.offset[1] + row * s->a_row, call->out[0], at * unit + row * s->width);
        mw__nd_position_step(&s->iter, &position, 1);
    }
}

/* ---- planning ---- */

/* The two innermost loops, taken off. */
static bool read_loops(const mw_tensor *cond, const mw_tensor *a, mw_shape shape, rows_block *s)
{
    s->iter = mw__nd_iter_broadcast(shape, (mw_shape[]){mw__shape_of(cond), mw__shape_of(a)}, 2);
    const int last = s->iter.rank - 1;
    if (last < 2 || s->iter.stride[0][last] != 0 || s->iter.stride[1][last] != 1 || s->iter.stride[0][last - 1] != 1 ||
        s->iter.extent[last] < ROW_LEAST)
        return false;
    s->width = s->iter.extent[last], s->rows = s->iter.extent[last - 1], s->a_row = s->iter.stride[1][last - 1];
    s->iter.rank -= 2;
    return true;
}

static bool read_rows(const mw__planner *planner, const mw__op *op, rows_block *s)
{
    const mw_tensor *a = mw__arg(op, "a"), *b = mw__arg(op, "b"), *result = op->results[0];
    const unsigned how = mw__plan_rounds(planner, result);
    s->dtype = mw__dtype_of(result), s->from = mw__dtype_of(a);
    const bool moves = s->dtype == MW_F16 ? (how & ~(unsigned)(MW__ROUND_HALF | MW__ROUND_NUMBER)) == 0 : how == 0;
    if (!moves || (s->dtype != MW_F16 && s->dtype != MW_F32) || (s->from != MW_F16 && s->from != MW_F32) ||
        mw__dtype_of(b) != s->dtype || b->op != NULL || b->payload != NULL ||
        !mw_shape_equal(mw__shape_of(b), mw__shape_of(result)))
        return false;
    s->fed = s->dtype == MW_F16 || s->from == MW_F16 ? mw__plan_fed(planner, MW_F16) : NULL;
    s->find_nan = MW__DISPATCH(find_nan, mw__plan_level(planner));
    s->is_number = (how & MW__ROUND_NUMBER) != 0;
    return read_loops(mw__arg(op, "cond"), a, mw__shape_of(result), s);
}

bool mw__select_rows_suits(const mw__planner *planner, const mw__op *op)
{
    rows_block ignored = {0};
    return mw__plan_config(planner)->fuse && mw__plan_level(planner) != MW__LEVEL_REF &&
           read_rows(planner, op, &ignored);
}

mw_status mw__plan_select_rows(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const mw_tensor *result = op->results[0];
    rows_block *s = mw__plan_block(planner, sizeof *s);
    if (s == NULL)
        return mw__plan_check(planner, err);
    read_rows(planner, op, s);
    const size_t unit = (size_t)(s->rows * s->width) * mw__dtype_size(s->dtype);
    const int64_t units = mw__nd_iter_count(&s->iter);
    mw__step *step =
        mw__plan_step(planner, rows_run, "select.rows", units, mw__cost(2.0 * (double)units * (double)unit, 0));
    step->block = s;
    step->rounds = true;
    mw__step_read(planner, step, mw__plan_buffer(planner, mw__arg(op, "cond")), MW__WHOLE, 0, false);
    mw__step_read(planner, step, mw__plan_buffer(planner, mw__arg(op, "a")), MW__WHOLE, 0, false);
    mw__step_read(planner, step, mw__plan_buffer(planner, mw__arg(op, "b")), MW__ROWS, unit, true);
    mw__step_write(planner, step, mw__plan_buffer(planner, result), MW__ROWS, unit);
    return mw__plan_check(planner, err);
}

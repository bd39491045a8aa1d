/* Operations between dequantized and quantized values that are no products: what only moves, and means. */
#include "engine/compile/patterns/patterns_int8.h"
#include "engine/core/kernel.h"
#include "engine/kernels/int8/int8_between.h"

#include <math.h>

/* Puts what is read as its operations are written. */
static mw_status put_between(mw__finder *f, size_t at, const void *match, const mw__op *op, mw_error *err)
{
    mw__pattern *pattern = mw__pattern_put(f, at, match, err);
    if (pattern == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(mw__pattern_add_op(f, pattern, op, err));
    return mw__pattern_add_op(f, pattern, f->body->ops[at], err);
}

/* The operation whose result is quantized; NULL: it is not one that is known and computed in fp32. */
static const mw__op *quantized_op(const mw__finder *f, size_t at, mw__int8_product_match *q)
{
    const mw_tensor *y = NULL;
    mw_error ignored = {0};
    if (mw__pattern_read_quantize(f, f->body->ops[at], q, &y) != NULL || y->op == NULL || y->op->row == NULL ||
        mw__kernel_check(y->op, &ignored) != MW_OK || mw__dtype_of(y) != MW_F32 || mw__pattern_is_rounded(f, y) ||
        mw__count_of(y) == 0)
        return NULL;
    return y->op;
}

/* ---- means ---- */

mw_status mw__match_int8_mean(mw__finder *f, size_t at, mw_error *err)
{
    mw__int8_product_match q;
    const mw__op *op = quantized_op(f, at, &q);
    const mw_tensor *x = NULL;
    if (op != NULL && (mw__op_is(op, "avg_pool") || mw__op_is(op, "reduce_mean")))
        x = mw__pattern_codes_below(f, mw__arg(op, "x"), &q.x_scale, &q.x_zero);
    if (x == NULL || !mw__int8_mean_suits(op))
        return MW_OK;
    mw__int8_mean_match *match = mw__arena_alloc(f->arena, 1, sizeof *match, err);
    if (match == NULL || mw__pattern_quads(f, err) == NULL)
        return MW_ERROR_MEMORY;
    *match = (mw__int8_mean_match){.base = q};
    match->base.op = op, match->base.x = x, match->base.quads = f->quads;
    return put_between(f, at, match, op, err);
}

/* ---- moves ---- */

static size_t operands_of(const mw__op *op, const mw_tensor *out[MW__INT8_MOVED_MOST])
{
    const mw__operand *values = NULL;
    const size_t count = mw__op_is(op, "concat") ? mw__arg_values(op, "values", &values) : 1;
    for (size_t i = 0; i < count && count <= MW__INT8_MOVED_MOST; i++)
        out[i] = values != NULL ? values[i].value : mw__arg(op, "x");
    return count <= MW__INT8_MOVED_MOST ? count : 0;
}

/* Codes of several, each by its own scale; false: one of them is no codes. */
static bool read_moved(const mw__finder *f, const mw__int8_product_match *q, const mw_tensor *const *x, size_t count,
                       mw__int8_moved *moved)
{
    for (size_t i = 0; i < count; i++) {
        float scale;
        int zero;
        moved[i].codes = mw__pattern_codes_below(f, x[i], &scale, &zero);
        if (moved[i].codes == NULL)
            return false;
        moved[i].shape = mw__shape_of(x[i]);
        mw__pattern_fill_table(q, mw__dtype_of(moved[i].codes), scale, zero, moved[i].table);
    }
    return count > 0;
}

static uint8_t fill_of(const mw__op *op, const mw__int8_product_match *q)
{
    double value = 0.0;
    if (!mw__op_is(op, "pad") || !mw__arg_float(op, "constant_val", &value))
        value = 0.0;
    const float steps = rintf((float)value / q->y_scale);
    return (uint8_t)mw__pattern_code_between((double)steps + q->y_zero, q->low, q->high);
}

mw_status mw__match_int8_move(mw__finder *f, size_t at, mw_error *err)
{
    mw__int8_product_match q;
    const mw_tensor *x[MW__INT8_MOVED_MOST];
    const mw__op *op = quantized_op(f, at, &q);
    const size_t count = op != NULL && mw__int8_move_suits(op) ? operands_of(op, x) : 0;
    if (count == 0)
        return MW_OK;
    mw__int8_moved *moved = mw__arena_alloc(f->arena, count, sizeof *moved, err);
    mw__int8_move_match *match = mw__arena_alloc(f->arena, 1, sizeof *match, err);
    if (moved == NULL || match == NULL)
        return MW_ERROR_MEMORY;
    if (!read_moved(f, &q, x, count, moved))
        return MW_OK;
    *match =
        (mw__int8_move_match){.op = op, .result = q.result, .moved = moved, .count = count, .fill = fill_of(op, &q)};
    return put_between(f, at, match, op, err);
}

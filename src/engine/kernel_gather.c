/* gather and one_hot: elements chosen by run-time indices. Every index is checked, so that no index touches memory
 * outside x: gather gives zeros for one out of range, one_hot a row that is all off. Up to ios16 a negative index of
 * gather counts from the end; from ios17 it is out of range. */
#include "engine/kernel.h"

#include "base/fp16.h"

#include <string.h>

static int64_t load_index(const void *indices, mw_dtype dtype, int64_t at)
{
    switch (dtype) {
    case MW_I32:
        return ((const int32_t *)indices)[at];
    case MW_U32:
        return ((const uint32_t *)indices)[at];
    case MW_I16:
        return ((const int16_t *)indices)[at];
    case MW_U16:
        return ((const uint16_t *)indices)[at];
    case MW_I8:
        return ((const int8_t *)indices)[at];
    default:
        return ((const uint8_t *)indices)[at];
    }
}

static bool is_index(mw_dtype dtype)
{
    return dtype == MW_I32 || dtype == MW_U32 || dtype == MW_I16 || dtype == MW_U16 || dtype == MW_I8 || dtype == MW_U8;
}

/* ---- gather: x [batch, outer, n, inner], indices [batch, picks] -> [batch, outer, picks, inner] ---- */

typedef struct gather_block {
    int64_t outer, n, picks;
    size_t inner; /* bytes */
    mw_dtype index;
    bool from_end;
} gather_block;

/* A unit is one slice of the result. */
static void gather_run(const mw__kernel_call *call)
{
    const gather_block *s = call->block;
    for (int64_t unit = call->begin; unit < call->end; unit++) {
        const int64_t pick = unit % s->picks, plane = unit / s->picks, batch = plane / s->outer;
        int64_t index = load_index(call->in[1], s->index, batch * s->picks + pick);
        index += s->from_end && index < 0 ? s->n : 0;
        char *out = (char *)call->out[0] + (size_t)unit * s->inner;
        if (index >= 0 && index < s->n)
            memcpy(out, (const char *)call->in[0] + (size_t)(plane * s->n + index) * s->inner, s->inner);
        else
            memset(out, 0, s->inner);
    }
}

static mw_status gather_fill(const mw__op *op, gather_block *s, mw_error *err)
{
    const mw_shape x = mw__shape_of(mw__arg(op, "x")), indices = mw__shape_of(mw__arg(op, "indices"));
    int64_t axis = 0, batch_dims = 0;
    MW_TRY(mw__kernel_axis(op, "axis", x.rank, &axis, err));
    if (op->row->id != MW__OP_gather)
        mw__arg_int(op, "batch_dims", &batch_dims);
    if (batch_dims < 0 || batch_dims > axis || batch_dims > indices.rank) {
        char subject[128];
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: batch_dims = %lld exceeds axis %lld or the rank of indices, %d",
                        mw__op_subject(op, subject, sizeof subject), (long long)batch_dims, (long long)axis,
                        indices.rank);
    }
    s->outer = s->picks = 1, s->n = x.dim[axis], s->inner = mw__dtype_size(mw__dtype_of(mw__arg(op, "x")));
    for (int i = (int)batch_dims; i < axis; i++)
        s->outer *= x.dim[i];
    for (int i = (int)batch_dims; i < indices.rank; i++)
        s->picks *= indices.dim[i];
    for (int i = (int)axis + 1; i < x.rank; i++)
        s->inner *= (size_t)x.dim[i];
    s->index = mw__dtype_of(mw__arg(op, "indices"));
    s->from_end = op->row->id != MW__OP_gather_ios17;
    return MW_OK;
}

mw_status mw__kernel_gather(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const mw_tensor *x = mw__arg(op, "x"), *indices = mw__arg(op, "indices"), *result = op->results[0];
    if (!is_index(mw__dtype_of(indices)))
        return mw__kernel_unsupported(op, mw__dtype_of(indices), err);
    gather_block *block = mw__plan_block(planner, sizeof *block);
    if (block == NULL || mw__count_of(result) == 0)
        return mw__plan_check(planner, err);
    MW_TRY(gather_fill(op, block, err));
    const double bytes = (double)mw__count_of(result) * (double)mw__dtype_size(mw__dtype_of(result));
    const int64_t units = mw__count_of(result) * (int64_t)mw__dtype_size(mw__dtype_of(result)) / (int64_t)block->inner;
    mw__step *step = mw__plan_step(planner, gather_run, "gather", units, mw__cost(2 * bytes, (double)units * 100.0));
    step->block = block;
    mw__step_read(planner, step, mw__plan_buffer(planner, x), MW__WHOLE, 0, false);
    mw__step_read(planner, step, mw__plan_buffer(planner, indices), MW__WHOLE, 0, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, result), MW__ROWS, block->inner);
    return mw__plan_check(planner, err);
}

/* ---- one_hot: indices [outer, inner] -> [outer, depth, inner] ---- */

typedef struct one_hot_block {
    int64_t depth, inner;
    mw_dtype index;
    size_t size;
    unsigned char on[8], off[8];
} one_hot_block;

#define ALL_OFF(type)                                                                                                  \
    for (int64_t i = 0; i < s->depth; i++)                                                                             \
        memcpy(out + (size_t)i * sizeof(type), s->off, sizeof(type));                                                  \
    break;

/* Constant sizes, so that each copy is one store. */
static void one_hot_row(const one_hot_block *s, char *out, int64_t index)
{
    switch (s->size) {
    case 1:
        ALL_OFF(uint8_t)
    case 2:
        ALL_OFF(uint16_t)
    default:
        ALL_OFF(uint32_t)
    }
    if (index >= 0 && index < s->depth)
        memcpy(out + (size_t)index * s->size, s->on, s->size);
}

/* A unit is one row of `inner` elements, or, on the last axis, the `depth` elements of one index. */
static void one_hot_run(const mw__kernel_call *call)
{
    const one_hot_block *s = call->block;
    const bool last = s->inner == 1;
    const int64_t width = last ? s->depth : s->inner;
    for (int64_t unit = call->begin; unit < call->end; unit++) {
        char *out = (char *)call->out[0] + (size_t)(unit * width) * s->size;
        if (last)
            one_hot_row(s, out, load_index(call->in[0], s->index, unit));
        for (int64_t i = 0; !last && i < width; i++) {
            const int64_t index = load_index(call->in[0], s->index, unit / s->depth * s->inner + i);
            memcpy(out + (size_t)i * s->size, index == unit % s->depth ? s->on : s->off, s->size);
        }
    }
}

static mw_status one_hot_value(const mw__op *op, const char *arg, double fallback, unsigned char *out, mw_error *err)
{
    const mw_dtype dtype = mw__dtype_of(op->results[0]);
    double value = fallback;
    mw__arg_float(op, arg, &value);
    const float f32 = (float)value;
    const uint16_t f16 = mw__fp16_from_double(value);
    const int32_t i32 = value >= -2147483648.0 && value <= 2147483647.0 ? (int32_t)value : 0;
    const uint8_t boolean = value != 0.0;
    switch (dtype) {
    case MW_F32:
        memcpy(out, &f32, sizeof f32);
        return MW_OK;
    case MW_F16:
        memcpy(out, &f16, sizeof f16);
        return MW_OK;
    case MW_I32:
        memcpy(out, &i32, sizeof i32);
        return MW_OK;
    case MW_BOOL:
        memcpy(out, &boolean, sizeof boolean);
        return MW_OK;
    default:
        return mw__kernel_unsupported(op, dtype, err);
    }
}

mw_status mw__kernel_one_hot(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const mw_tensor *indices = mw__arg(op, "indices"), *result = op->results[0];
    const mw_shape shape = mw__shape_of(result);
    int64_t axis = 0;
    if (!is_index(mw__dtype_of(indices)))
        return mw__kernel_unsupported(op, mw__dtype_of(indices), err);
    MW_TRY(mw__kernel_axis(op, "axis", shape.rank, &axis, err));
    one_hot_block *s = mw__plan_block(planner, sizeof *s);
    if (s == NULL || mw__count_of(result) == 0)
        return mw__plan_check(planner, err);
    MW_TRY(one_hot_value(op, "on_value", 1.0, s->on, err));
    MW_TRY(one_hot_value(op, "off_value", 0.0, s->off, err));
    s->depth = shape.dim[axis], s->inner = 1;
    for (int i = (int)axis + 1; i < shape.rank; i++)
        s->inner *= shape.dim[i];
    s->index = mw__dtype_of(indices), s->size = mw__dtype_size(mw__dtype_of(result));
    const int64_t width = s->inner == 1 ? s->depth : s->inner, units = mw__count_of(result) / width;
    const double count = (double)mw__count_of(result);
    mw__step *step =
        mw__plan_step(planner, one_hot_run, "one_hot", units, mw__cost(count * (double)s->size, count * 10));
    step->block = s;
    mw__step_read(planner, step, mw__plan_buffer(planner, indices), MW__WHOLE, 0, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, result), MW__ROWS, (size_t)width * s->size);
    return mw__plan_check(planner, err);
}

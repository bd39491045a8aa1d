/* Helpers of the kernel families: partition, iterators, tiles, checks of operands. No operation is planned here. */
#include "engine/core/kernel.h"

#include "base/memory/checked.h"
#include "base/number/fp16.h"

#include <string.h>

/* ---- partition ---- */

#define BLOCK            64
#define ROWS_A_PARTITION 8

mw__units mw__units_of(const mw__planner *planner, mw_shape shape)
{
    const int64_t count = mw_shape_count(shape), partitions = mw__plan_partitions(planner);
    const int64_t row = shape.rank > 0 ? shape.dim[shape.rank - 1] : 1;
    const int64_t rows = row > 0 ? count / row : 0;
    if (rows > 1 && (rows >= ROWS_A_PARTITION * partitions || rows % partitions == 0))
        return (mw__units){.units = rows, .elements = row};
    return (mw__units){.units = count / BLOCK + (count % BLOCK != 0), .elements = BLOCK};
}

/* ---- iterators ---- */

void mw__nd_iter_add(mw__nd_iter *iter, int64_t extent, const int64_t *stride)
{
    const int at = iter->rank++;
    iter->extent[at] = extent;
    for (int operand = 0; operand < iter->operands; operand++)
        iter->stride[operand][at] = stride[operand];
}

/* True if loop `inner` continues loop `outer` for every operand. */
static bool continues(const mw__nd_iter *iter, int outer, int inner)
{
    for (int operand = 0; operand < iter->operands; operand++)
        if (iter->stride[operand][outer] != iter->stride[operand][inner] * iter->extent[inner])
            return false;
    return true;
}

static void move_loop(mw__nd_iter *iter, int to, int from)
{
    iter->extent[to] = iter->extent[from];
    for (int operand = 0; operand < iter->operands; operand++)
        iter->stride[operand][to] = iter->stride[operand][from];
}

void mw__nd_iter_finish(mw__nd_iter *iter)
{
    int kept = 0;
    for (int loop = 0; loop < iter->rank; loop++) {
        if (iter->extent[loop] == 1)
            continue;
        if (kept > 0 && continues(iter, kept - 1, loop)) {
            const int64_t extent = iter->extent[kept - 1] * iter->extent[loop];
            move_loop(iter, kept - 1, loop);
            iter->extent[kept - 1] = extent;
        } else {
            move_loop(iter, kept++, loop);
        }
    }
    iter->rank = kept;
    if (kept == 0) {
        static const int64_t none[MW__ND_OPERANDS] = {0};
        mw__nd_iter_add(iter, 1, none);
    }
}

mw__nd_iter mw__nd_iter_broadcast(mw_shape shape, const mw_shape *operands, int count)
{
    mw__nd_iter iter = {.operands = count};
    int64_t below[MW__ND_OPERANDS] = {1, 1, 1, 1};
    iter.rank = shape.rank;
    for (int axis = shape.rank - 1; axis >= 0; axis--) {
        iter.extent[axis] = shape.dim[axis];
        for (int operand = 0; operand < count; operand++) {
            const int own = axis - (shape.rank - operands[operand].rank);
            const int64_t extent = own >= 0 ? operands[operand].dim[own] : 1;
            iter.stride[operand][axis] = extent == 1 && shape.dim[axis] != 1 ? 0 : below[operand];
            below[operand] *= extent;
        }
    }
    mw__nd_iter_finish(&iter);
    return iter;
}

int64_t mw__nd_iter_count(const mw__nd_iter *iter)
{
    int64_t count = 1;
    for (int loop = 0; loop < iter->rank; loop++)
        count *= iter->extent[loop];
    return count;
}

void mw__nd_position_seek(const mw__nd_iter *iter, mw__nd_position *position, int64_t at)
{
    for (int operand = 0; operand < iter->operands; operand++)
        position->offset[operand] = 0;
    for (int loop = iter->rank - 1; loop >= 0; loop--) {
        const int64_t extent = iter->extent[loop] > 0 ? iter->extent[loop] : 1; /* an empty loop is not entered */
        const int64_t index = at % extent;
        at /= extent;
        position->index[loop] = index;
        for (int operand = 0; operand < iter->operands; operand++)
            position->offset[operand] += index * iter->stride[operand][loop];
    }
}

void mw__nd_position_carry(const mw__nd_iter *iter, mw__nd_position *position)
{
    for (int loop = iter->rank - 1; position->index[loop] == iter->extent[loop]; loop--) {
        position->index[loop] = 0;
        for (int operand = 0; operand < iter->operands; operand++)
            position->offset[operand] -= iter->extent[loop] * iter->stride[operand][loop];
        if (loop == 0)
            return;
        position->index[loop - 1]++;
        for (int operand = 0; operand < iter->operands; operand++)
            position->offset[operand] += iter->stride[operand][loop - 1];
    }
}

/* ---- tiles ---- */

const float *mw__tile_load(const void *data, mw_dtype dtype, int64_t offset, int64_t count, float *tile)
{
    if (dtype == MW_F32)
        return (const float *)data + offset;
    mw__fp16_to_float_n(tile, (const uint16_t *)data + offset, (size_t)count);
    return tile;
}

void mw__tile_store(void *data, mw_dtype dtype, int64_t offset, int64_t count, const float *tile)
{
    if (dtype == MW_F32)
        memcpy((float *)data + offset, tile, (size_t)count * sizeof *tile);
    else
        mw__fp16_from_float_n((uint16_t *)data + offset, tile, (size_t)count);
}

/* ---- planning ---- */

size_t mw__dtype_size(mw_dtype dtype)
{
    const int bits = mw_dtype_bits(dtype);
    return bits % 8 == 0 ? (size_t)bits / 8 : 0;
}

bool mw__is_index(mw_dtype dtype)
{
    return dtype == MW_I32 || dtype == MW_U32 || dtype == MW_I16 || dtype == MW_U16 || dtype == MW_I8 || dtype == MW_U8;
}

mw_status mw__kernel_unsupported(const mw__op *op, mw_dtype dtype, mw_error *err)
{
    char subject[128];
    return mw__fail(err, MW_ERROR_UNSUPPORTED, "%s: the engine has no kernel of this operation for %s",
                    mw__op_subject(op, subject, sizeof subject), mw_dtype_name(dtype));
}

mw_status mw__kernel_check_number(const mw__op *op, mw_dtype dtype, mw_error *err)
{
    return dtype == MW_F32 || dtype == MW_F16 || dtype == MW_I32 ? MW_OK : mw__kernel_unsupported(op, dtype, err);
}

static mw_status check_value(const mw__op *op, const mw_tensor *value, mw_error *err)
{
    char subject[128], shape[128];
    size_t size = 0;
    if (value->type->kind != MW__TENSOR)
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        "%s: the engine computes with tensors only, not with states or lists",
                        mw__op_subject(op, subject, sizeof subject));
    if (mw__dtype_of(value) == MW_STRING)
        return MW_OK; /* modes and names */
    if (mw__dtype_size(mw__dtype_of(value)) == 0)
        return mw__kernel_unsupported(op, mw__dtype_of(value), err);
    if (!mw__type_bytes(value->type, &size) || size > INT64_MAX / 64)
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "%s: a tensor of shape %s has no known size, or one too large",
                        mw__op_subject(op, subject, sizeof subject),
                        mw__shape_print(mw__shape_of(value), shape, sizeof shape));
    return MW_OK;
}

mw_status mw__kernel_check(const mw__op *op, mw_error *err)
{
    for (size_t slot = 0; slot < op->slot_count; slot++)
        for (size_t i = 0; i < op->slots[slot].count; i++)
            if (op->slots[slot].operands[i].value != NULL)
                MW_TRY(check_value(op, op->slots[slot].operands[i].value, err));
    for (size_t i = 0; i < op->result_count; i++)
        MW_TRY(check_value(op, op->results[i], err));
    return MW_OK;
}

mw_status mw__kernel_axis(const mw__op *op, const char *arg, int rank, int64_t *out, mw_error *err)
{
    char subject[128];
    int64_t axis = 0;
    if (!mw__arg_int(op, arg, &axis))
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "%s: %s must be a constant",
                        mw__op_subject(op, subject, sizeof subject), arg);
    if (axis < -rank || axis >= rank)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: %s = %lld is outside rank %d",
                        mw__op_subject(op, subject, sizeof subject), arg, (long long)axis, rank);
    *out = axis < 0 ? axis + rank : axis;
    return MW_OK;
}

/* True if the operand has every axis of `shape` but the last, which is 1. */
static bool is_column(mw_shape operand, mw_shape shape, mw__units split)
{
    if (operand.rank != shape.rank || shape.rank == 0 || operand.dim[shape.rank - 1] != 1)
        return false;
    for (int axis = 0; axis + 1 < shape.rank; axis++)
        if (operand.dim[axis] != shape.dim[axis])
            return false;
    return split.elements == shape.dim[shape.rank - 1] && split.units * split.elements == mw_shape_count(shape);
}

void mw__step_read_rows(mw__planner *planner, mw__step *step, const mw_tensor *value, mw_shape shape, mw__units split,
                        bool in_place)
{
    const size_t size = mw__dtype_size(mw__dtype_of(value));
    const uint32_t buffer = mw__plan_buffer(planner, value);
    if (mw__count_of(value) == mw_shape_count(shape)) /* broadcasting to the same count permutes nothing */
        mw__step_read(planner, step, buffer, MW__ROWS, (size_t)split.elements * size, in_place);
    else if (is_column(mw__shape_of(value), shape, split))
        mw__step_read(planner, step, buffer, MW__ROWS, size, false);
    else
        mw__step_read(planner, step, buffer, MW__WHOLE, 0, false);
}

/* The gathers, one_hot and non_zero: elements chosen by indices. Every index is checked, so that no index touches
 * memory outside x: a gather gives zeros for one out of range, one_hot a row that is all off. */
#include "engine/kernels/gather/kernel_indices.h"

#include "base/number/fp16.h"
#include "engine/core/unpack.h"

#include <string.h>

/* ---- what the indices mean ---- */

static int64_t count_axes(mw_shape shape, int64_t from, int64_t to)
{
    int64_t count = 1;
    for (int64_t i = from; i < to; i++)
        count = (int64_t)((uint64_t)count * (uint64_t)shape.dim[i]); /* a hostile shape of no elements may overflow */
    return count;
}

static mw_status read_batch(const mw__op *op, int64_t limit, int64_t *out, mw_error *err)
{
    char subject[128];
    *out = 0;
    if (strncmp(op->kind, "gather", 6) == 0 && op->row->since >= MW_IOS16)
        mw__arg_int(op, "batch_dims", out);
    if (*out >= 0 && *out <= limit)
        return MW_OK;
    return mw__fail(err, MW_ERROR_ARGUMENT, "%s: batch_dims = %lld is outside [0, %lld]",
                    mw__op_subject(op, subject, sizeof subject), (long long)*out, (long long)limit);
}

static mw_status read_slices(const mw__op *op, mw_shape x, mw_shape indices, mw__indexed *s, mw_error *err)
{
    int64_t axis = 0, batch = 0;
    MW_TRY(mw__kernel_axis(op, "axis", x.rank, &axis, err));
    MW_TRY(read_batch(op, axis < indices.rank ? axis : indices.rank, &batch, err));
    s->planes = count_axes(x, 0, axis);
    s->outer = count_axes(x, batch, axis);
    s->count = count_axes(indices, batch, indices.rank);
    s->extent[0] = x.dim[axis];
    s->inner = count_axes(x, axis + 1, x.rank);
    return MW_OK;
}

static mw_status read_along_axis(const mw__op *op, mw_shape x, mw_shape indices, mw__indexed *s, mw_error *err)
{
    int64_t axis = 0;
    MW_TRY(mw__kernel_axis(op, "axis", x.rank, &axis, err));
    s->planes = count_axes(x, 0, axis);
    s->count = indices.dim[axis];
    s->extent[0] = x.dim[axis];
    s->inner = count_axes(x, axis + 1, x.rank);
    s->each = true;
    return MW_OK;
}

static mw_status read_nd(const mw__op *op, mw_shape x, mw_shape indices, mw__indexed *s, mw_error *err)
{
    int64_t batch = 0;
    MW_TRY(read_batch(op, indices.rank - 1, &batch, err));
    s->planes = count_axes(x, 0, batch);
    s->count = count_axes(indices, batch, indices.rank - 1);
    s->depth = (int)indices.dim[indices.rank - 1];
    for (int d = 0; d < s->depth; d++)
        s->extent[d] = x.dim[batch + d];
    s->inner = count_axes(x, batch + s->depth, x.rank);
    return MW_OK;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

mw_status mw__indexed_read(const mw__op *op, const char *arg, mw__indexed *out, mw_error *err)
{
    const mw_shape x = mw__shape_of(mw__arg(op, arg)), indices = mw__shape_of(mw__arg(op, "indices"));
    *out = (mw__indexed){.outer = 1, .depth = 1, .rows = 1};
    out->dtype = mw__dtype_of(mw__arg(op, "indices"));
    out->from_end = op->row->since < MW_IOS17;
    if (!mw__is_index(out->dtype))
        return mw__kernel_unsupported(op, out->dtype, err);
    if (ends_with(op->kind, "_nd"))
        MW_TRY(read_nd(op, x, indices, out, err));
    else if (ends_with(op->kind, "_along_axis"))
        MW_TRY(read_along_axis(op, x, indices, out, err));
    else
        MW_TRY(read_slices(op, x, indices, out, err));
    for (int d = 0; d < out->depth; d++)
        out->rows = (int64_t)((uint64_t)out->rows * (uint64_t)out->extent[d]);
    return MW_OK;
}

/* ---- where they point ---- */

/* One index a unit, of the usual type. */
static void find_int32(const mw__indexed *s, const int32_t *index, int64_t count, int64_t *out)
{
    const int64_t extent = s->extent[0], back = s->from_end ? extent : 0;
    for (int64_t i = 0; i < count; i++) {
        const int64_t at = index[i] + (index[i] < 0 ? back : 0);
        out[i] = at < 0 || at >= extent ? -1 : at;
    }
}

/* Rows become places where each element of a slice has an index. */
static void spread_rows(const mw__indexed *s, int64_t first, int64_t count, int64_t *place)
{
    for (int64_t i = 0, k = first % s->inner; i < count; i++, k = k + 1 < s->inner ? k + 1 : 0)
        place[i] = place[i] < 0 ? -1 : place[i] * s->inner + k;
}

void mw__indexed_find(const mw__indexed *s, const void *indices, int64_t plane, int64_t first, int64_t count,
                      mw__places *out)
{
    const int64_t batch = plane / s->outer, across = s->each ? s->inner : 1;
    if (out->count == count && out->batch == batch && out->first == first)
        return;
    out->batch = batch, out->first = first, out->count = count;
    if (s->dtype == MW_I32 && s->depth == 1)
        find_int32(s, (const int32_t *)indices + batch * s->count * across + first, count, out->place);
    for (int64_t i = 0; (s->dtype != MW_I32 || s->depth != 1) && i < count; i++)
        out->place[i] = mw__indexed_row(s, indices, plane, (first + i) / across, (first + i) % across);
    if (s->each)
        spread_rows(s, first, count, out->place);
}

/* ---- the gathers ---- */

typedef struct gather_block {
    mw__indexed indexed;
    size_t size;                  /* bytes that one index takes: a slice, or an element */
    const mw__compressed *packed; /* x, if it stays as it is stored; then indices are the only operand */
    int64_t taken;                /* its elements that one index takes */
    mw_dtype dtype;
    mw__level level;
} gather_block;

/* A unit is the slice that one index takes. */
static void gather_packed_run(const mw__kernel_call *call)
{
    const gather_block *s = call->block;
    float tile[MW__TILE];
    for (int64_t unit = call->begin; unit < call->end; unit++) {
        const int64_t plane = unit / s->indexed.count;
        const int64_t row = mw__indexed_row(&s->indexed, call->in[0], plane, unit % s->indexed.count, 0);
        const int64_t from = (plane * s->indexed.rows + row) * s->taken;
        if (row < 0)
            memset((char *)call->out[0] + (size_t)unit * s->size, 0, s->size);
        for (int64_t at = 0, run; row >= 0 && at < s->taken; at += run) {
            run = s->taken - at < MW__TILE ? s->taken - at : MW__TILE;
            mw__unpack(s->level, s->packed, from + at, run, tile);
            mw__tile_store(call->out[0], s->dtype, unit * s->taken + at, run, tile);
        }
    }
}

#define TAKE_EACH(type)                                                                                                \
    for (int64_t i = 0; i < count; i++)                                                                                \
        ((type *)out)[i] = place[i] < 0 ? 0 : ((const type *)x)[place[i]];                                             \
    break;

/* `count` units of `size` bytes from their places in x. Rows far apart are fetched before their turn. */
static void take_units(void *out, const char *x, const int64_t *place, int64_t count, size_t size)
{
    enum { AHEAD = 8, LINE = 64, LINES_MAX = 8 };
    switch (size) {
    case 2:
        TAKE_EACH(uint16_t)
    case 4:
        TAKE_EACH(uint32_t)
    default:
        for (int64_t i = 0; i < count; i++) {
            const char *next = i + AHEAD < count && place[i + AHEAD] > 0 ? x + (size_t)place[i + AHEAD] * size : x;
            for (size_t line = 0; line < LINES_MAX && line * LINE < size; line++)
                __builtin_prefetch(next + line * LINE);
            if (place[i] < 0)
                memset((char *)out + (size_t)i * size, 0, size);
            else
                memcpy((char *)out + (size_t)i * size, x + (size_t)place[i] * size, size);
        }
    }
}

/* A unit is what one index takes. */
static void gather_run(const mw__kernel_call *call)
{
    const gather_block *s = call->block;
    const int64_t across = s->indexed.each ? s->indexed.inner : 1;
    const int64_t units = s->indexed.count * across; /* of a plane of the result */
    const size_t plane_size = (size_t)(s->indexed.rows * across) * s->size;
    mw__places places;
    places.count = 0;
    for (int64_t unit = call->begin, run; unit < call->end; unit += run) {
        const int64_t plane = unit / units, first = unit % units;
        run = units - first < call->end - unit ? units - first : call->end - unit;
        run = run < MW__PLACES_MAX ? run : MW__PLACES_MAX;
        mw__indexed_find(&s->indexed, call->in[1], plane, first, run, &places);
        take_units((char *)call->out[0] + (size_t)unit * s->size,
                   (const char *)call->in[0] + (size_t)plane * plane_size, places.place, run, s->size);
    }
}

mw_status mw__kernel_gather(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const mw_tensor *x = mw__arg(op, "x"), *result = op->results[0];
    gather_block *block = mw__plan_block(planner, sizeof *block);
    if (block == NULL)
        return mw__plan_check(planner, err);
    MW_TRY(mw__indexed_read(op, "x", &block->indexed, err));
    if (mw__count_of(result) == 0)
        return MW_OK;
    const int64_t taken = block->indexed.each ? 1 : block->indexed.inner, units = mw__count_of(result) / taken;
    block->size = (size_t)taken * mw__dtype_size(mw__dtype_of(result));
    const double bytes = (double)units * (double)block->size;
    block->packed = mw__is_packed(x) && !block->indexed.each ? x->packed : NULL;
    block->taken = taken;
    block->dtype = mw__dtype_of(result);
    block->level = mw__plan_level(planner);
    const uint32_t from = block->packed != NULL ? 0 : mw__plan_buffer(planner, x);
    mw__step *step = mw__plan_step(planner, block->packed != NULL ? gather_packed_run : gather_run, op->row->name,
                                   units, mw__cost(2 * bytes, (double)units * 100.0));
    step->block = block;
    if (block->packed == NULL)
        mw__step_read(planner, step, from, MW__WHOLE, 0, false);
    mw__step_read(planner, step, mw__plan_buffer(planner, mw__arg(op, "indices")), MW__WHOLE, 0, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, result), MW__ROWS, block->size);
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
            one_hot_row(s, out, mw__index_load(call->in[0], s->index, unit));
        for (int64_t i = 0; !last && i < width; i++) {
            const int64_t index = mw__index_load(call->in[0], s->index, unit / s->depth * s->inner + i);
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
    if (!mw__is_index(mw__dtype_of(indices)))
        return mw__kernel_unsupported(op, mw__dtype_of(indices), err);
    MW_TRY(mw__kernel_axis(op, "axis", shape.rank, &axis, err));
    one_hot_block *s = mw__plan_block(planner, sizeof *s);
    if (s == NULL || mw__count_of(result) == 0)
        return mw__plan_check(planner, err);
    MW_TRY(one_hot_value(op, "on_value", 1.0, s->on, err));
    MW_TRY(one_hot_value(op, "off_value", 0.0, s->off, err));
    s->depth = shape.dim[axis], s->inner = mw__shape_span(shape, (int)axis + 1, shape.rank);
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

/* ---- non_zero: the extents of the result are known when planned, from a constant x or as they are declared ---- */

typedef struct non_zero_block {
    int32_t *coordinates; /* [count, rank]; of a constant */
    int64_t rank;
    mw_dtype dtype; /* of a computed x, and the rest too */
    size_t size;
    mw_shape shape;
    int64_t count; /* rows that there is room for */
} non_zero_block;

/* A unit is one row of coordinates. */
static void non_zero_run(const mw__kernel_call *call)
{
    const non_zero_block *s = call->block;
    const size_t row = (size_t)s->rank * sizeof *s->coordinates;
    memcpy((char *)call->out[0] + (size_t)call->begin * row, s->coordinates + call->begin * s->rank,
           (size_t)(call->end - call->begin) * row);
}

static void put_coordinates(const mw_shape *shape, int64_t index, int32_t *out)
{
    for (int axis = shape->rank - 1; axis >= 0; axis--) {
        out[axis] = (int32_t)(index % shape->dim[axis]);
        index /= shape->dim[axis];
    }
}

/* Of every type: -0 is 0, NaN is not. */
static bool is_zero(const unsigned char *element, const non_zero_block *s)
{
    const bool is_float = s->dtype == MW_F16 || s->dtype == MW_F32 || s->dtype == MW_F64;
    unsigned rest = 0;
    for (size_t i = 0; i + 1 < s->size; i++)
        rest |= element[i];
    return rest == 0 && (element[s->size - 1] & (is_float ? 0x7fu : 0xffu)) == 0;
}

/* The first `count` rows; zeros where there are fewer. */
static void non_zero_find(const mw__kernel_call *call)
{
    const non_zero_block *s = call->block;
    const unsigned char *x = call->in[0];
    const int64_t all = mw_shape_count(s->shape);
    int32_t *out = call->out[0];
    int64_t found = 0;
    for (int64_t i = 0; i < all && found < s->count; i++)
        if (!is_zero(x + (size_t)i * s->size, s))
            put_coordinates(&s->shape, i, out + found++ * s->rank);
    memset(out + found * s->rank, 0, (size_t)((s->count - found) * s->rank) * sizeof *out);
}

static mw_status find_non_zero(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const mw_tensor *x = mw__arg(op, "x"), *result = op->results[0];
    const mw_dtype dtype = mw__dtype_of(x);
    if (mw__dtype_size(dtype) == 0)
        return mw__kernel_unsupported(op, dtype, err);
    non_zero_block *s = mw__plan_block(planner, sizeof *s);
    if (s == NULL || mw__count_of(result) == 0)
        return mw__plan_check(planner, err);
    *s = (non_zero_block){.rank = mw__shape_of(x).rank,
                          .dtype = dtype,
                          .size = mw__dtype_size(dtype),
                          .shape = mw__shape_of(x),
                          .count = mw__shape_of(result).dim[0]};
    const double bytes = (double)mw__count_of(x) * (double)s->size;
    mw__step *step = mw__plan_step(planner, non_zero_find, "non_zero", 1, mw__cost(bytes, (double)mw__count_of(x) * 4));
    step->block = s;
    mw__step_read(planner, step, mw__plan_buffer(planner, x), MW__WHOLE, 0, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, result), MW__WHOLE, 0);
    return mw__plan_check(planner, err);
}

/* False unless there are exactly `count`. */
static bool list_coordinates(const mw__payload *x, non_zero_block *s, int64_t count)
{
    const mw_shape shape = x->type->shape;
    const int64_t all = (int64_t)mw__payload_count(x);
    int64_t found = 0;
    for (int64_t i = 0; i < all; i++) {
        if (mw__payload_float(x, (size_t)i) == 0.0)
            continue;
        if (found == count)
            return false;
        put_coordinates(&shape, i, s->coordinates + found++ * shape.rank);
    }
    return found == count;
}

mw_status mw__kernel_non_zero(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const mw_tensor *x = mw__arg(op, "x"), *result = op->results[0];
    const mw__payload *payload = x->payload;
    char subject[128];
    if (payload == NULL || payload->data == NULL)
        return find_non_zero(planner, op, err);
    non_zero_block *s = mw__plan_block(planner, sizeof *s);
    const int64_t values = mw__count_of(result);
    int32_t *coordinates = mw__plan_block(planner, ((size_t)values + 1) * sizeof *coordinates);
    if (s == NULL || coordinates == NULL)
        return mw__plan_check(planner, err);
    *s = (non_zero_block){.coordinates = coordinates, .rank = mw__shape_of(x).rank};
    const int64_t count = mw__shape_of(result).dim[0];
    if (!list_coordinates(payload, s, count))
        return mw__fail(err, MW_ERROR_FORMAT, "%s: x does not have the %lld elements other than 0 that are declared",
                        mw__op_subject(op, subject, sizeof subject), (long long)count);
    if (values == 0)
        return MW_OK;
    mw__step *step = mw__plan_step(planner, non_zero_run, "non_zero", count, mw__cost((double)values * 8.0, 0));
    step->block = s;
    mw__step_write(planner, step, mw__plan_buffer(planner, result), MW__ROWS, (size_t)s->rank * sizeof *coordinates);
    return mw__plan_check(planner, err);
}

/* argsort and topk: a merge sort of one row at a time. An element and its index are one 64-bit number, the element's
 * order above and the index below: no two are equal, so the lower index comes first among equal elements, and the
 * result depends on nothing but the row. NaN is larger than every number, -0 equals 0. */
#include "engine/core/kernel.h"

#include "base/number/fp16.h"

#include <math.h>
#include <string.h>

typedef struct sort_block {
    int64_t extent, kept, inner; /* x [outer, extent, inner] -> [outer, kept, inner] */
    mw_dtype dtype, index;
    size_t size, index_size; /* of an element */
    bool ascending, values;  /* values: the first result holds them, the indices follow if there are two */
    bool indices;
} sort_block;

/* ---- order ---- */

static uint32_t order_of_float(float value)
{
    uint32_t bits;
    if (isnan(value))
        return UINT32_MAX;
    value = value == 0.0f ? 0.0f : value;
    memcpy(&bits, &value, sizeof bits);
    return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}

static uint32_t order_of(const void *data, mw_dtype dtype, int64_t at)
{
    switch (dtype) {
    case MW_F32:
        return order_of_float(((const float *)data)[at]);
    case MW_F16:
        return order_of_float(mw__fp16_to_float(((const uint16_t *)data)[at]));
    default: /* integers of up to 32 bits, which int32 and uint16 hold */
        return (uint32_t)mw__index_load(data, dtype, at) ^ 0x80000000u;
    }
}

/* ---- sorting ---- */

enum { RUN = 16 }; /* sorted by insertion */

static void sort_runs(uint64_t *keys, int64_t count)
{
    for (int64_t from = 0; from < count; from += RUN) {
        const int64_t end = from + RUN < count ? from + RUN : count;
        for (int64_t i = from + 1; i < end; i++) {
            const uint64_t key = keys[i];
            int64_t to = i;
            for (; to > from && keys[to - 1] > key; to--)
                keys[to] = keys[to - 1];
            keys[to] = key;
        }
    }
}

static void merge(uint64_t *out, const uint64_t *left, int64_t left_count, const uint64_t *right, int64_t right_count)
{
    int64_t l = 0, r = 0;
    while (l < left_count && r < right_count) {
        const bool from_left = left[l] < right[r];
        *out++ = from_left ? left[l] : right[r];
        l += from_left;
        r += !from_left;
    }
    memcpy(out, left + l, (size_t)(left_count - l) * sizeof *left);
    memcpy(out + (left_count - l), right + r, (size_t)(right_count - r) * sizeof *right);
}

/* Returns the one of both arrays that holds the sorted keys. */
static const uint64_t *sort_keys(uint64_t *keys, uint64_t *spare, int64_t count)
{
    sort_runs(keys, count);
    for (int64_t run = RUN; run < count; run *= 2) {
        for (int64_t from = 0; from < count; from += 2 * run) {
            const int64_t middle = from + run < count ? from + run : count;
            const int64_t end = middle + run < count ? middle + run : count;
            merge(spare + from, keys + from, middle - from, keys + middle, end - middle);
        }
        uint64_t *const sorted = spare;
        spare = keys;
        keys = sorted;
    }
    return keys;
}

/* ---- the kernel ---- */

static void store_index(void *out, size_t size, int64_t at, uint32_t index)
{
    const uint8_t narrow = (uint8_t)index;
    const uint16_t half = (uint16_t)index;
    const void *from = size == 1 ? (const void *)&narrow : size == 2 ? (const void *)&half : (const void *)&index;
    memcpy((char *)out + (size_t)at * size, from, size);
}

/* A unit is one row of x, strided by `inner`. */
static void sort_run(const mw__kernel_call *call)
{
    const sort_block *s = call->block;
    uint64_t *keys = call->scratch, *spare = keys + s->extent;
    void *const indices = s->indices ? call->out[s->values ? 1 : 0] : NULL;
    for (int64_t unit = call->begin; unit < call->end; unit++) {
        const int64_t outer = unit / s->inner, k = unit % s->inner;
        const int64_t from = outer * s->extent * s->inner + k, to = outer * s->kept * s->inner + k;
        for (int64_t i = 0; i < s->extent; i++) {
            const uint32_t order = order_of(call->in[0], s->dtype, from + i * s->inner);
            keys[i] = (uint64_t)(s->ascending ? order : ~order) << 32 | (uint32_t)i;
        }
        const uint64_t *sorted = sort_keys(keys, spare, s->extent);
        for (int64_t i = 0; i < s->kept; i++) {
            const uint32_t index = (uint32_t)sorted[i];
            if (s->values)
                memcpy((char *)call->out[0] + (size_t)(to + i * s->inner) * s->size,
                       (const char *)call->in[0] + (size_t)(from + (int64_t)index * s->inner) * s->size, s->size);
            if (indices != NULL)
                store_index(indices, s->index_size, to + i * s->inner, index);
        }
    }
}

static void declare(mw__planner *planner, const mw__op *op, mw__step *step, const sort_block *s)
{
    const bool rows = s->inner == 1;
    mw__step_read(planner, step, mw__plan_buffer(planner, mw__arg(op, "x")), rows ? MW__ROWS : MW__WHOLE,
                  rows ? (size_t)s->extent * s->size : 0, false);
    for (size_t i = 0; i < op->result_count; i++) {
        const size_t size = mw__dtype_size(mw__dtype_of(op->results[i]));
        mw__step_write(planner, step, mw__plan_buffer(planner, op->results[i]), rows ? MW__ROWS : MW__WHOLE,
                       rows ? (size_t)s->kept * size : 0);
    }
}

mw_status mw__kernel_sort(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const mw_tensor *x = mw__arg(op, "x"), *last = op->results[op->result_count - 1];
    const mw_shape shape = mw__shape_of(x);
    int64_t axis = 0;
    if (!mw__is_index(mw__dtype_of(x)) || mw__dtype_of(x) == MW_U32)
        MW_TRY(mw__kernel_check_number(op, mw__dtype_of(x), err));
    MW_TRY(mw__kernel_axis(op, "axis", shape.rank, &axis, err));
    sort_block *s = mw__plan_block(planner, sizeof *s);
    if (s == NULL || mw__count_of(last) == 0)
        return mw__plan_check(planner, err);
    s->values = strcmp(op->kind, "topk") == 0;
    s->indices = !s->values || op->result_count == 2;
    s->dtype = mw__dtype_of(x), s->size = mw__dtype_size(s->dtype);
    s->index = mw__dtype_of(last), s->index_size = mw__dtype_size(s->index);
    s->extent = shape.dim[axis], s->kept = mw__shape_of(last).dim[axis];
    s->inner = mw__shape_span(shape, (int)axis + 1, shape.rank);
    mw__arg_bool(op, "ascending", &s->ascending);
    const double count = (double)mw__count_of(x), depth = log2((double)s->extent + 1.0);
    mw__step *step = mw__plan_step(planner, sort_run, op->row->name, mw__count_of(x) / s->extent,
                                   mw__cost(count * 16, count * depth * 40));
    step->block = s;
    step->scratch = 2 * (size_t)s->extent * sizeof(uint64_t);
    declare(planner, op, step, s);
    return mw__plan_check(planner, err);
}

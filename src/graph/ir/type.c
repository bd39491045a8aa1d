/* Types of values: making, comparing, sizing and printing them. */
#include "base/memory/checked.h"
#include "base/text/string_builder.h"
#include "graph/ir/rule.h"

#include <inttypes.h>

mw_status mw__shape_check(mw_shape shape, mw_error *err)
{
    if (shape.rank < 0 || shape.rank > MW_RANK_MAX)
        return mw__fail(err, MW_ERROR_SHAPE, "rank %d is outside 0 to %d", shape.rank, MW_RANK_MAX);
    int64_t count = 1;
    for (int i = 0; i < shape.rank; i++) {
        const int64_t dim = shape.dim[i];
        if (dim < MW_DIM_UNKNOWN)
            return mw__fail(err, MW_ERROR_SHAPE, "extent %" PRId64 " of axis %d is negative", dim, i);
        if (dim > 0 && !mw__mul_i64(count, dim, &count))
            return mw__fail(err, MW_ERROR_SHAPE, "the shape has more than 2^63 elements");
    }
    return MW_OK;
}

/* Where a type would stand among the recent ones. */
static size_t place_of(mw_dtype dtype, const mw_shape *shape)
{
    uint64_t mixed = (uint64_t)dtype * 31 + (uint64_t)shape->rank;
    for (int i = 0; i < shape->rank; i++)
        mixed = (mixed ^ (uint64_t)shape->dim[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(mixed >> 32) % MW__TYPES_RECENT;
}

static bool is_type(const mw__type *type, mw_dtype dtype, const mw_shape *shape)
{
    if (type == NULL || type->dtype != dtype || type->shape.rank != shape->rank)
        return false;
    for (int i = 0; i < shape->rank; i++)
        if (type->shape.dim[i] != shape->dim[i])
            return false;
    return true;
}

const mw__type *mw__type_tensor(mw_graph *graph, mw_dtype dtype, mw_shape shape, mw_error *err)
{
    if (mw__shape_check(shape, err) != MW_OK)
        return NULL;
    const mw__type **recent = &graph->recent[place_of(dtype, &shape)];
    if (is_type(*recent, dtype, &shape))
        return *recent;
    mw__type *type = mw__arena_alloc(&graph->arena, 1, sizeof *type, err);
    if (type == NULL)
        return NULL;
    *recent = type;
    type->kind = MW__TENSOR;
    type->dtype = dtype;
    type->shape.rank = shape.rank;
    for (int i = 0; i < shape.rank; i++)
        type->shape.dim[i] = shape.dim[i];
    return type;
}

static mw__type *hold(mw_graph *graph, mw__type_kind kind, const mw__type *const *held, size_t count, mw_error *err)
{
    mw__type *type = mw__arena_alloc(&graph->arena, 1, sizeof *type, err);
    const mw__type **elements = mw__arena_alloc(&graph->arena, count, sizeof *elements, err);
    if (type == NULL || elements == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        if (held[i] == NULL)
            return NULL;
        elements[i] = held[i];
    }
    *type = (mw__type){.kind = kind, .count = count, .element = elements};
    return type;
}

const mw__type *mw__type_list(mw_graph *graph, const mw__type *element, int64_t length, mw_error *err)
{
    mw__type *type = hold(graph, MW__LIST, &element, 1, err);
    if (type != NULL)
        type->length = length;
    return type;
}

const mw__type *mw__type_dict(mw_graph *graph, const mw__type *key, const mw__type *value, mw_error *err)
{
    return hold(graph, MW__DICT, (const mw__type *const[]){key, value}, 2, err);
}

bool mw__type_equal(const mw__type *a, const mw__type *b)
{
    if (a == b)
        return true;
    if (a == NULL || b == NULL || a->kind != b->kind)
        return false;
    if (a->kind == MW__TENSOR)
        return a->dtype == b->dtype && mw_shape_equal(a->shape, b->shape);
    if (a->count != b->count || (a->kind == MW__LIST && a->length != b->length))
        return false;
    for (size_t i = 0; i < a->count; i++) {
        if (!mw__type_equal(a->element[i], b->element[i]))
            return false;
    }
    return true;
}

bool mw__dim_fits(int64_t a, int64_t b) { return a == b || a == MW_DIM_UNKNOWN || b == MW_DIM_UNKNOWN; }

bool mw__type_fits(const mw__type *declared, mw_dtype dtype, mw_shape shape)
{
    if (declared == NULL || declared->kind != MW__TENSOR || declared->dtype != dtype ||
        declared->shape.rank != shape.rank)
        return false;
    for (int i = 0; i < shape.rank; i++) {
        if (!mw__dim_fits(declared->shape.dim[i], shape.dim[i]))
            return false;
    }
    return true;
}

bool mw__types_fit(const mw__type *a, const mw__type *b)
{
    if (a == b)
        return true;
    if (a == NULL || b == NULL || a->kind != b->kind)
        return false;
    if (a->kind == MW__TENSOR)
        return mw__type_fits(a, b->dtype, b->shape);
    if (a->count != b->count || (a->kind == MW__LIST && !mw__dim_fits(a->length, b->length)))
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (!mw__types_fit(a->element[i], b->element[i]))
            return false;
    return true;
}

/* What either knows, in `into`. */
static void merge_extents(mw_shape *into, mw_shape other)
{
    for (int d = 0; d < into->rank; d++)
        if (into->dim[d] == MW_DIM_UNKNOWN)
            into->dim[d] = other.dim[d];
}

const mw__type *mw__type_merge(mw_graph *graph, const mw__type *a, const mw__type *b, mw_error *err)
{
    mw__type *merged = mw__arena_alloc(&graph->arena, 1, sizeof *merged, err);
    if (merged == NULL)
        return NULL;
    *merged = *a;
    if (a->kind == MW__TENSOR) {
        merge_extents(&merged->shape, b->shape);
        return merged;
    }
    if (a->kind == MW__LIST && a->length == MW_DIM_UNKNOWN)
        merged->length = b->length;
    const mw__type **elements = mw__arena_alloc(&graph->arena, a->count, sizeof *elements, err);
    for (size_t i = 0; elements != NULL && i < a->count; i++) {
        elements[i] = mw__type_merge(graph, a->element[i], b->element[i], err);
        if (elements[i] == NULL)
            return NULL;
    }
    merged->element = elements;
    return elements != NULL ? merged : NULL;
}

bool mw__type_bytes(const mw__type *type, size_t *out)
{
    if (type == NULL || type->kind != MW__TENSOR)
        return false;
    const int64_t count = mw_shape_count(type->shape);
    const int bits = mw_dtype_bits(type->dtype);
    if (count < 0 || bits == 0 || (uint64_t)count > SIZE_MAX)
        return false;
    size_t total;
    if (bits % 8 == 0)
        return mw__mul_size((size_t)count, (size_t)(bits / 8), out);
    if (!mw__mul_size((size_t)count, (size_t)bits, &total))
        return false;
    *out = total / 8 + (total % 8 != 0);
    return true;
}

int64_t mw__shape_span(mw_shape shape, int from, int to)
{
    int64_t count = 1;
    for (int i = from; i < to; i++)
        count *= shape.dim[i];
    return count;
}

const char *mw__shape_print(mw_shape shape, char *buffer, size_t size)
{
    mw__string_builder builder = mw__string_builder_begin(buffer, size);
    mw__string_builder_puts(&builder, "[");
    for (int i = 0; i < shape.rank && i < MW_RANK_MAX; i++) {
        mw__string_builder_puts(&builder, i > 0 ? ", " : "");
        if (shape.dim[i] == MW_DIM_UNKNOWN)
            mw__string_builder_puts(&builder, "?");
        else
            mw__string_builder_number(&builder, shape.dim[i]);
    }
    mw__string_builder_puts(&builder, "]");
    return buffer;
}

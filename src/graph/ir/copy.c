/* Copies of types and literals: a copy never points into the graph that it came from, but for bytes that both hold. */
#include "graph/ir/copy.h"

#include "base/memory/checked.h"
#include "graph/constants/shared_payload.h"
#include "graph/ir/rule.h"

#include <string.h>

/* ---- types ---- */

static const mw__type *const *copy_elements(mw_graph *to, const mw__type *type, mw_error *err)
{
    const mw__type **elements = mw__arena_alloc(&to->arena, type->count, sizeof *elements, err);
    for (size_t i = 0; elements != NULL && i < type->count; i++) {
        elements[i] = mw__type_copy(to, type->element[i], err);
        if (elements[i] == NULL)
            return NULL;
    }
    return (const mw__type *const *)elements;
}

const mw__type *mw__type_copy(mw_graph *to, const mw__type *type, mw_error *err)
{
    if (type->kind == MW__TENSOR)
        return mw__type_tensor(to, type->dtype, type->shape, err);
    mw__type *copy = mw__arena_alloc(&to->arena, 1, sizeof *copy, err);
    if (copy == NULL)
        return NULL;
    *copy = *type;
    if (type->count > 0) {
        copy->element = copy_elements(to, type, err);
        if (copy->element == NULL)
            return NULL;
    }
    return copy;
}

/* ---- literals ---- */

static const char *const *copy_strings(mw_graph *to, const mw__payload *payload, mw_error *err)
{
    const size_t count = payload->splat ? 1 : mw__payload_count(payload);
    const char **strings = mw__arena_alloc(&to->arena, count, sizeof *strings, err);
    for (size_t i = 0; strings != NULL && i < count; i++) {
        strings[i] = mw__arena_string(&to->arena, payload->strings[i], strlen(payload->strings[i]), err);
        if (strings[i] == NULL)
            return NULL;
    }
    return (const char *const *)strings;
}

static const mw__payload *const *copy_members(mw_graph *to, const mw__payload *payload, mw_error *err)
{
    const mw__payload **members = mw__arena_alloc(&to->arena, payload->member_count, sizeof *members, err);
    for (size_t i = 0; members != NULL && i < payload->member_count; i++) {
        members[i] = mw__payload_copy(to, payload->members[i], err);
        if (members[i] == NULL)
            return NULL;
    }
    return (const mw__payload *const *)members;
}

static bool copy_content(mw_graph *to, const mw__payload *from, mw__payload *copy, mw_error *err)
{
    copy->shared = NULL;
    if (from->shared != NULL && mw__shared_payload_is_of(from->shared, to->allocator)) {
        copy->shared = from->shared;
        if (mw__graph_keep(to, from->shared, err) != MW_OK)
            return false;
    } else if (from->data != NULL) {
        void *data = mw__payload_alloc(to, from->size, &copy->shared, err);
        if (data == NULL)
            return false;
        memcpy(data, from->data, from->size);
        copy->data = data;
    }
    if (from->strings != NULL)
        copy->strings = copy_strings(to, from, err);
    if (from->members != NULL)
        copy->members = copy_members(to, from, err);
    if (from->blob_path != NULL)
        copy->blob_path = mw__arena_string(&to->arena, from->blob_path, strlen(from->blob_path), err);
    return (from->strings == NULL || copy->strings != NULL) && (from->members == NULL || copy->members != NULL) &&
           (from->blob_path == NULL || copy->blob_path != NULL);
}

const mw__payload *mw__payload_copy(mw_graph *to, const mw__payload *payload, mw_error *err)
{
    mw__payload *copy = mw__arena_alloc(&to->arena, 1, sizeof *copy, err);
    if (copy == NULL)
        return NULL;
    *copy = *payload;
    copy->type = mw__type_copy(to, payload->type, err);
    return copy->type != NULL && copy_content(to, payload, copy, err) ? copy : NULL;
}

const mw__payload *mw__payload_convert(mw_graph *to, const mw__payload *payload, mw_dtype dtype, mw_error *err)
{
    if (payload->data == NULL) {
        mw__fail(err, MW_ERROR_UNSUPPORTED, "a constant in %s is not loaded and cannot become %s",
                 payload->blob_path != NULL ? payload->blob_path : "the weight file", mw_dtype_name(dtype));
        return NULL;
    }
    const size_t step = (size_t)mw_dtype_bits(dtype) / 8;
    const size_t count = mw__payload_count(payload);
    mw__payload *copy = mw__arena_alloc(&to->arena, 1, sizeof *copy, err);
    const mw__type *type = mw__type_tensor(to, dtype, payload->type->shape, err);
    unsigned char *out = mw__arena_alloc(&to->arena, count, step, err);
    if (copy == NULL || type == NULL || out == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        const double value = mw__payload_float(payload, i);
        if (mw__element_store(out + i * step, dtype, value))
            continue;
        mw__fail(err, MW_ERROR_NUMERIC, "a constant holds %g, which %s cannot", value, mw_dtype_name(dtype));
        return NULL;
    }
    *copy = (mw__payload){.type = type, .data = out, .size = count * step};
    copy->in_blob = payload->in_blob || payload->blob_path != NULL;
    return copy;
}

mw_status mw__attributes_copy(mw_graph *to, const mw__attribute *from, size_t count, mw__attribute **out, mw_error *err)
{
    *out = NULL;
    if (count == 0)
        return MW_OK;
    mw__attribute *copies = mw__arena_alloc(&to->arena, count, sizeof *copies, err);
    if (copies == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < count; i++) {
        copies[i].name = mw__arena_string(&to->arena, from[i].name, strlen(from[i].name), err);
        copies[i].value = mw__payload_copy(to, from[i].value, err);
        if (copies[i].name == NULL || copies[i].value == NULL)
            return MW_ERROR_MEMORY;
    }
    *out = copies;
    return MW_OK;
}

/* Reads one tensor and converts it. What may enter a type is decided in graph/values/values.c; bfloat16 becomes single
 * first, which holds it exactly. */
#include "base/memory/live.h"
#include "base/number/float_mode.h"
#include "base/number/fp16.h"
#include "format/tensors/tensors.h"
#include "graph/values/values.h"

#include <string.h>

static mw_status check_bools(const mw_tensors *tensors, const mw_tensor_info *info, const uint8_t *data, mw_error *err)
{
    for (size_t i = 0; i < info->size; i++)
        if (data[i] > 1)
            return mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\": element %zu of \"%.150s\" is %u, no bool", tensors->path,
                            i, info->name, data[i]);
    return MW_OK;
}

static mw_status read_raw(mw_tensors *tensors, const mw__tensors_item *item, void *out, mw_error *err)
{
    MW_TRY(tensors->format->read(tensors, item, out, err));
    return item->info.dtype == MW_BOOL ? check_bools(tensors, &item->info, out, err) : MW_OK;
}

/* In place from the last element to the first: `data` has room for floats. */
static void widen_bf16(void *data, size_t count)
{
    for (size_t i = count; i-- > 0;) {
        uint16_t half;
        memcpy(&half, (const char *)data + i * sizeof half, sizeof half);
        const float single = mw__bf16_to_float(half);
        memcpy((char *)data + i * sizeof single, &single, sizeof single);
    }
}

static mw_status convert(const mw_tensors *tensors, const mw_tensor_info *info, const void *raw, mw_dtype dtype,
                         void *out, bool finite, mw_error *err)
{
    const mw__values values = {.data = raw,
                               .dtype = info->dtype == MW_BF16 ? MW_F32 : info->dtype,
                               .count = (size_t)mw_shape_count(info->shape)};
    const mw__port_rule rule = {.dtype = dtype, .declared = dtype, .finite = finite};
    mw__refusal refusal;
    if (mw__values_enter(out, &values, &rule, &refusal) == MW_OK)
        return MW_OK;
    if (refusal.element == values.count)
        return mw__fail(err, refusal.status, "\"%.200s\": \"%.150s\": %s", tensors->path, info->name, refusal.text);
    return mw__fail(err, refusal.status, "\"%.200s\": element %zu of \"%.150s\" %s", tensors->path, refusal.element,
                    info->name, refusal.text);
}

mw_status mw__tensors_read(mw_tensors *tensors, const mw__tensors_item *item, mw_dtype dtype, void *out, bool finite,
                           mw_error *err)
{
    const mw_tensor_info *info = &item->info;
    if (dtype == info->dtype && !finite)
        return read_raw(tensors, item, out, err);
    const size_t widened = info->dtype == MW_BF16 ? 2 : 1;
    void *raw = mw__alloc(tensors->allocator, info->size, widened, err);
    if (raw == NULL)
        return MW_ERROR_MEMORY;
    mw_status status = read_raw(tensors, item, raw, err);
    if (status == MW_OK && info->dtype == MW_BF16)
        widen_bf16(raw, info->size / 2);
    if (status == MW_OK)
        status = convert(tensors, info, raw, dtype, out, finite, err);
    mw__free(tensors->allocator, raw);
    return status;
}

static mw_status read_named(mw_tensors *tensors, const char *name, mw_dtype dtype, void *out, size_t count,
                            mw_error *err)
{
    if (name == NULL || out == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_tensors_read: no %s", name == NULL ? "name" : "memory");
    const mw__tensors_item *item = mw__tensors_item_find(tensors, name);
    if (item == NULL)
        return mw__tensors_missing(tensors, name, err);
    if ((uint64_t)mw_shape_count(item->info.shape) != count)
        return mw__fail(err, MW_ERROR_SHAPE, "\"%.200s\": \"%.150s\" has %lld elements, not %zu", tensors->path, name,
                        (long long)mw_shape_count(item->info.shape), count);
    return mw__tensors_read(tensors, item, dtype, out, false, err);
}

mw_status mw_tensors_read(mw_tensors *tensors, const char *name, mw_dtype dtype, void *out, size_t count, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return err->status;
    MW_TRY(mw__live_check(tensors, MW__LIVE_TENSORS, __func__, err));
    mw__entry entry;
    MW_TRY(mw__guard_enter(&entry, &tensors->guard, "tensor file", __func__, MW__LENT_NEVER, err));
    const mw_status status = read_named(tensors, name, dtype, out, count, err);
    if (mw__guard_leave(&entry))
        mw__tensors_free(tensors);
    return status;
}

/* ---- arrays of the header ---- */

static mw_status array_named(mw_tensors *tensors, const char *key, mw_tensors_array *out, mw_error *err)
{
    if (key == NULL || out == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_tensors_read_array: no %s", key == NULL ? "key" : "place for it");
    *out = (mw_tensors_array){0};
    if (tensors->format->array == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "\"%.200s\" is %s, which has no arrays beside its tensors",
                        tensors->path, tensors->format->name);
    return tensors->format->array(tensors, key, out, err);
}

mw_status mw_tensors_read_array(mw_tensors *tensors, const char *key, mw_tensors_array *out, mw_error *err)
{
    if (mw__skips(err))
        return err->status;
    MW_TRY(mw__live_check(tensors, MW__LIVE_TENSORS, __func__, err));
    mw__entry entry;
    MW_TRY(mw__guard_enter(&entry, &tensors->guard, "tensor file", __func__, MW__LENT_NEVER, err));
    const mw_status status = array_named(tensors, key, out, err);
    if (mw__guard_leave(&entry))
        mw__tensors_free(tensors);
    return status;
}

/* ---- orders of elements ---- */

static size_t product(const mw__strided *from, int begin)
{
    size_t count = 1;
    for (int i = begin; i < from->shape.rank; i++)
        count *= (size_t)from->shape.dim[i];
    return count;
}

static void copy_axis(char **out, const char *in, const mw__strided *from, int axis)
{
    if (axis == from->shape.rank) {
        memcpy(*out, in, from->item);
        *out += from->item;
        return;
    }
    for (int64_t i = 0; i < from->shape.dim[axis]; i++)
        copy_axis(out, in + (size_t)(i * from->stride[axis]) * from->item, from, axis + 1);
}

void mw__strided_copy(void *out, const void *in, const mw__strided *from)
{
    char *at = out;
    if (product(from, 0) > 0)
        copy_axis(&at, in, from, 0);
}

void mw__swap_bytes(void *data, size_t item, size_t count)
{
    unsigned char *at = data;
    for (size_t i = 0; i < count; i++, at += item)
        for (size_t k = 0; k < item / 2; k++) {
            const unsigned char byte = at[k];
            at[k] = at[item - 1 - k];
            at[item - 1 - k] = byte;
        }
}

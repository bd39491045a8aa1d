/* The state set: names and device buffers. Weights and files are elsewhere. */
#include "runtime/state/state.h"

#include "base/memory/checked.h"
#include "base/number/fp16.h"
#include "base/text/name.h"
#include "runtime/dispatch/dispatch.h"

#include <math.h>
#include <string.h>

void mw__state_init(mw__state_set *set, const mw_allocator *allocator, const mw__symbols *symbols)
{
    *set = (mw__state_set){.allocator = allocator, .symbols = symbols};
    mw__arena_init(&set->names, allocator);
    mw__map_init(&set->by_name, allocator);
}

void mw__state_deinit(mw__state_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        if (!set->entries[i].borrowed)
            mw__dispatch_buffer_release(set->symbols, &(mw__device_buffer){.object = set->entries[i].buffer});
    mw__free(set->allocator, set->entries);
    mw__arena_deinit(&set->names);
    mw__map_deinit(&set->by_name);
    set->entries = NULL;
    set->count = 0;
}

/* Room for an entry under a copy of the name. */
static mw_status make_room(mw__state_set *set, const char *name, const char **out_name, mw_error *err)
{
    MW_TRY(mw__grow(set->allocator, &set->entries, &set->capacity, set->count + 1, sizeof *set->entries, err));
    *out_name = mw__arena_string(&set->names, name, strlen(name), err);
    return *out_name != NULL ? mw__map_set(&set->by_name, *out_name, (void *)(uintptr_t)(set->count + 1), err)
                             : MW_ERROR_MEMORY;
}

mw_status mw__state_borrow(mw__state_set *set, const mw__state_entry *from, bool is_weight, mw_error *err)
{
    const char *name;
    MW_TRY(make_room(set, from->name, &name, err));
    mw__state_entry *entry = &set->entries[set->count++];
    *entry = *from;
    entry->name = name;
    entry->is_weight = is_weight;
    entry->borrowed = true;
    return MW_OK;
}

mw_status mw__state_add(mw__state_set *set, const char *name, mw_dtype dtype, mw_shape shape, bool is_weight,
                        mw_error *err)
{
    const int64_t count = mw_shape_count(shape);
    size_t size;
    MW_TRY(mw__name_check("state", name, err)); /* it will be saved under this name */
    if (count < 0 || !mw__mul_size((size_t)count, (size_t)(mw_dtype_bits(dtype) / 8), &size))
        return mw__fail(err, MW_ERROR_SHAPE, "parameter \"%s\" has no size that fits", name);
    const char *copy;
    MW_TRY(make_room(set, name, &copy, err));
    mw__device_buffer buffer;
    MW_TRY(mw__dispatch_buffer_alloc(set->symbols, size, &buffer, err));
    set->entries[set->count++] = (mw__state_entry){.name = copy,
                                                   .dtype = dtype,
                                                   .shape = shape,
                                                   .is_weight = is_weight,
                                                   .least = -INFINITY,
                                                   .most = INFINITY,
                                                   .buffer = buffer.object,
                                                   .data = buffer.data,
                                                   .size = size};
    return MW_OK;
}

/* ---- what the elements may be ---- */

static double element(const mw__state_entry *entry, const void *data, size_t index)
{
    if (entry->dtype == MW_F16)
        return (double)mw__fp16_to_float(((const uint16_t *)data)[index]);
    return entry->dtype == MW_F32 ? (double)((const float *)data)[index] : 0.0;
}

mw_status mw__state_check(const mw__state_entry *entry, const void *data, const char *subject, mw_error *err)
{
    const size_t count = (size_t)mw_shape_count(entry->shape);
    for (size_t i = 0; i < count; i++) {
        const double value = element(entry, data, i);
        if (isfinite(value) && value >= entry->least && value <= entry->most)
            continue;
        if (!isfinite(value))
            return mw__fail(err, MW_ERROR_NUMERIC, "%.200s: element %zu of \"%.96s\" is %g as %s, not finite", subject,
                            i, entry->name, value, mw_dtype_name(entry->dtype));
        return mw__fail(err, MW_ERROR_NUMERIC, "%.200s: element %zu of \"%.96s\" is %g; it can only be %g to %g",
                        subject, i, entry->name, value, entry->least, entry->most);
    }
    return MW_OK;
}

mw_status mw__state_check_all(const mw__state_set *set, const char *subject, mw_error *err)
{
    for (size_t i = 0; i < set->count; i++)
        MW_TRY(mw__state_check(&set->entries[i], set->entries[i].data, subject, err));
    return MW_OK;
}

void mw__state_fill(mw__state_entry *entry, double value)
{
    const size_t count = (size_t)mw_shape_count(entry->shape);
    for (size_t i = 0; i < count; i++) {
        if (entry->dtype == MW_F16)
            ((uint16_t *)entry->data)[i] = mw__fp16_from_double(value);
        else
            ((float *)entry->data)[i] = (float)value;
    }
}

mw__state_entry *mw__state_find_n(const mw__state_set *set, const char *name, size_t length)
{
    const uintptr_t place = (uintptr_t)mw__map_get_n(&set->by_name, name, length);
    return place > 0 && place <= set->count ? &set->entries[place - 1] : NULL;
}

mw__state_entry *mw__state_find(const mw__state_set *set, const char *name)
{
    return mw__state_find_n(set, name, strlen(name));
}

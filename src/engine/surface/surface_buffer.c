/* e5rt: buffers. All buffer types are plain memory here; only type 0 is so on Espresso. */
#include "engine/surface/surface.h"

enum { BUFFER_ALIGNMENT = 64 };

static void destroy_buffer(mw__object *object)
{
    mw__buffer_object *buffer = (mw__buffer_object *)object;
    if (buffer->owned)
        mw__free_aligned(&object->allocator, buffer->data);
}

mw_status mw__buffer_make(void **out, uint64_t size, uint32_t type, size_t alignment, mw_error *err)
{
    if (size == 0 || size > PTRDIFF_MAX)
        return mw__fail(err, MW_ERROR_ARGUMENT, "Invalid Function Argument: a buffer cannot have %llu bytes",
                        (unsigned long long)size);
    mw__buffer_object *buffer = mw__object_create(sizeof *buffer, destroy_buffer, err);
    if (buffer == NULL)
        return MW_ERROR_MEMORY;
    buffer->data = mw__alloc_aligned(&buffer->object.allocator, (size_t)size, alignment, err);
    buffer->size = (size_t)size;
    buffer->type = type;
    buffer->owned = true;
    if (buffer->data == NULL) {
        mw__object_release(buffer);
        return MW_ERROR_MEMORY;
    }
    return mw__handle_create(MW__KIND_BUFFER, buffer, out, err);
}

e5rt_error_code mw__buffer_type_end(uint32_t type, mw_error *err)
{
    if (mw__failed(err) || type <= 2)
        return mw__surface_end(err);
    mw__fail(err, MW_ERROR_ARGUMENT, "Invalid BufferType %u: 0, 1 and 2 exist", (unsigned)type);
    mw__surface_end(err);
    return E5RT_INVALID_TYPE;
}

e5rt_error_code e5rt_buffer_object_alloc(void **out, uint64_t size, uint32_t type)
{
    mw_error *err = mw__surface_begin();
    if (mw__surface_out(out, err) == MW_OK && type <= 2)
        mw__buffer_make(out, size, type, BUFFER_ALIGNMENT, err);
    return mw__buffer_type_end(type, err);
}

static mw_status wrap_data(void **out, void *data, uint64_t size, mw_error *err)
{
    MW_TRY(mw__surface_out(out, err));
    if (data == NULL || size == 0 || size > PTRDIFF_MAX)
        return mw__fail(err, MW_ERROR_ARGUMENT, "Invalid Function Argument: %s",
                        data == NULL ? "the data pointer is NULL" : "the size is 0 or too large");
    mw__buffer_object *buffer = mw__object_create(sizeof *buffer, destroy_buffer, err);
    if (buffer == NULL)
        return MW_ERROR_MEMORY;
    buffer->data = data;
    buffer->size = (size_t)size;
    return mw__handle_create(MW__KIND_BUFFER, buffer, out, err);
}

e5rt_error_code e5rt_buffer_object_create_from_data_pointer(void **out, void *data, uint64_t size)
{
    mw_error *err = mw__surface_begin();
    wrap_data(out, data, size, err);
    return mw__surface_end(err);
}

e5rt_error_code e5rt_buffer_object_release(void **buffer)
{
    mw_error *err = mw__surface_begin();
    if (!mw__failed(err))
        mw__handle_release(buffer, MW__KIND_BUFFER, err);
    return mw__surface_end(err);
}

static const mw__buffer_object *get_buffer(void *handle, const void *out, mw_error *err)
{
    const mw__buffer_object *buffer = mw__failed(err) ? NULL : mw__handle_get(handle, MW__KIND_BUFFER, "buffer", err);
    if (buffer == NULL || out != NULL)
        return buffer;
    mw__fail(err, MW_ERROR_ARGUMENT, "Invalid Function Argument: the out pointer is NULL");
    return NULL;
}

e5rt_error_code e5rt_buffer_object_get_data_ptr(void *handle, void **out)
{
    mw_error *err = mw__surface_begin();
    const mw__buffer_object *buffer = get_buffer(handle, out, err);
    if (buffer != NULL)
        *out = buffer->data;
    return mw__surface_end(err);
}

e5rt_error_code e5rt_buffer_object_get_size(void *handle, uint64_t *out)
{
    mw_error *err = mw__surface_begin();
    const mw__buffer_object *buffer = get_buffer(handle, out, err);
    if (buffer != NULL)
        *out = buffer->size;
    return mw__surface_end(err);
}

e5rt_error_code e5rt_buffer_object_get_type(void *handle, uint32_t *out)
{
    mw_error *err = mw__surface_begin();
    const mw__buffer_object *buffer = get_buffer(handle, out, err);
    if (buffer != NULL)
        *out = buffer->type;
    return mw__surface_end(err);
}

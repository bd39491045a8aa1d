/* e5rt: buffers, and memory objects, which are the same by another name. All types are plain memory here; only type 0
 * is so on Espresso. */
#include "engine/surface/surface.h"

#include "base/memory/large_pages.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER_ALIGNMENT = 64 };

/* ---- making ---- */

static void destroy_buffer(mw__object *object)
{
    mw__buffer_object *buffer = (mw__buffer_object *)object;
    if (buffer->origin == MW__BUFFER_OWNED)
        mw__free_aligned(&object->allocator, buffer->data);
    if (buffer->origin == MW__BUFFER_SHARED) {
        munmap(buffer->data, buffer->size);
        close(buffer->descriptor);
    }
    mw__object_release(buffer->parent);
}

/* Of the caller's memory, until it is said otherwise. */
static mw__buffer_object *make_buffer(void *data, uint64_t size, mw_error *err)
{
    if (size == 0 || size > PTRDIFF_MAX) {
        mw__fail(err, MW_ERROR_ARGUMENT, "Invalid Function Argument: a buffer cannot have %llu bytes",
                 (unsigned long long)size);
        return NULL;
    }
    mw__buffer_object *buffer = mw__object_create(sizeof *buffer, destroy_buffer, err);
    if (buffer == NULL)
        return NULL;
    buffer->data = data;
    buffer->size = (size_t)size;
    return buffer;
}

mw_status mw__buffer_make(void **out, mw__kind kind, uint64_t size, uint32_t type, size_t alignment, mw_error *err)
{
    mw__buffer_object *buffer = make_buffer(NULL, size, err);
    if (buffer == NULL)
        return err->status;
    buffer->data = mw__alloc_aligned(&buffer->object.allocator, buffer->size, alignment, err);
    buffer->type = type;
    buffer->origin = MW__BUFFER_OWNED;
    if (buffer->data == NULL) {
        mw__object_release(buffer);
        return MW_ERROR_MEMORY;
    }
    return mw__handle_create(kind, buffer, out, err);
}

e5rt_error_code mw__buffer_type_end(uint32_t type, mw_error *err)
{
    if (mw__failed(err) || type <= 2)
        return mw__surface_end(err);
    mw__fail(err, MW_ERROR_ARGUMENT, "Invalid BufferType %u: 0, 1 and 2 exist", (unsigned)type);
    mw__surface_end(err);
    return E5RT_INVALID_TYPE;
}

static e5rt_error_code alloc(void **out, mw__kind kind, uint64_t size, uint32_t type)
{
    mw_error *err = mw__surface_begin();
    if (mw__surface_out(out, err) == MW_OK && type <= 2)
        mw__buffer_make(out, kind, size, type, mw__pages_alignment(size, BUFFER_ALIGNMENT), err);
    return mw__buffer_type_end(type, err);
}

e5rt_error_code e5rt_buffer_object_alloc(void **out, uint64_t size, uint32_t type)
{
    return alloc(out, MW__KIND_BUFFER, size, type);
}

e5rt_error_code e5rt_memory_object_create(void **out, uint64_t size, uint32_t type)
{
    return alloc(out, MW__KIND_MEMORY, size, type);
}

static mw_status wrap_data(void **out, void *data, uint64_t size, mw_error *err)
{
    MW_TRY(mw__surface_out(out, err));
    if (data == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "Invalid Function Argument: the data pointer is NULL");
    mw__buffer_object *buffer = make_buffer(data, size, err);
    return buffer != NULL ? mw__handle_create(MW__KIND_BUFFER, buffer, out, err) : err->status;
}

e5rt_error_code e5rt_buffer_object_create_from_data_pointer(void **out, void *data, uint64_t size)
{
    mw_error *err = mw__surface_begin();
    wrap_data(out, data, size, err);
    return mw__surface_end(err);
}

e5rt_error_code e5rt_buffer_object_release(void **buffer) { return mw__surface_release(buffer, MW__KIND_BUFFER); }
e5rt_error_code e5rt_memory_object_release(void **memory) { return mw__surface_release(memory, MW__KIND_MEMORY); }

/* ---- parts ---- */

static const char *name_of(mw__kind kind) { return kind == MW__KIND_BUFFER ? "buffer" : "memory"; }

static e5rt_error_code create_alias(void **out, mw__kind kind, void *handle, uint64_t offset, uint64_t size)
{
    mw_error *err = mw__surface_begin();
    mw__buffer_object *parent =
        mw__surface_out(out, err) == MW_OK ? mw__surface_get(handle, kind, name_of(kind), err) : NULL;
    mw__buffer_object *part = NULL;
    if (parent != NULL && offset <= parent->size && size <= parent->size - offset)
        part = make_buffer((char *)parent->data + offset, size, err);
    if (part != NULL) {
        part->type = parent->type;
        part->parent = mw__object_retain(parent);
        mw__handle_create(kind, part, out, err);
    }
    if (parent == NULL || part != NULL || mw__failed(err))
        return mw__surface_end(err);
    mw__fail(err, MW_ERROR_ARGUMENT, "%llu bytes from byte %llu on are no part of a buffer of %zu",
             (unsigned long long)size, (unsigned long long)offset, parent->size);
    mw__surface_end(err);
    return E5RT_OUT_OF_BOUNDS;
}

e5rt_error_code e5rt_buffer_object_create_as_alias(void **out, void *parent, uint64_t offset, uint64_t size)
{
    return create_alias(out, MW__KIND_BUFFER, parent, offset, size);
}

e5rt_error_code e5rt_memory_object_create_as_alias(void **out, void *parent, uint64_t offset, uint64_t size)
{
    return create_alias(out, MW__KIND_MEMORY, parent, offset, size);
}

/* ---- memory of several processes ---- */

/* Beyond its end a mapped file has no memory, only a signal. */
static mw_status check_descriptor(int fd, uint64_t size, mw_error *err)
{
    struct stat what;
    if (fstat(fd, &what) != 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "Invalid Function Argument: %d is no open file", fd);
    if (what.st_size < 0 || (uint64_t)what.st_size < size)
        return mw__fail(err, MW_ERROR_ARGUMENT, "shared memory of %lld bytes is too short for a buffer of %llu",
                        (long long)what.st_size, (unsigned long long)size);
    return MW_OK;
}

static mw_status map_shared(void **out, int fd, uint64_t size, mw_error *err)
{
    MW_TRY(mw__surface_out(out, err));
    MW_TRY(check_descriptor(fd, size, err));
    mw__buffer_object *buffer = make_buffer(NULL, size, err);
    if (buffer == NULL)
        return err->status;
    buffer->descriptor = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    buffer->data = buffer->descriptor >= 0
                       ? mmap(NULL, buffer->size, PROT_READ | PROT_WRITE, MAP_SHARED, buffer->descriptor, 0)
                       : MAP_FAILED;
    if (buffer->data != MAP_FAILED) {
        buffer->origin = MW__BUFFER_SHARED;
        return mw__handle_create(MW__KIND_BUFFER, buffer, out, err);
    }
    if (buffer->descriptor >= 0)
        close(buffer->descriptor);
    mw__object_release(buffer);
    return mw__fail(err, MW_ERROR_ARGUMENT, "%d cannot be mapped to be read and written, %llu bytes", fd,
                    (unsigned long long)size);
}

e5rt_error_code e5rt_mw_buffer_object_create_from_shared_memory(void **out, int fd, uint64_t size)
{
    mw_error *err = mw__surface_begin();
    map_shared(out, fd, size, err);
    return mw__surface_end(err);
}

e5rt_error_code e5rt_mw_buffer_object_get_shared_memory(void *handle, int *out)
{
    mw_error *err = mw__surface_begin();
    const mw__buffer_object *buffer = mw__surface_get_for(handle, MW__KIND_BUFFER, "buffer", out, err);
    if (buffer != NULL && buffer->origin != MW__BUFFER_SHARED)
        mw__fail(err, MW_ERROR_STATE, "the buffer was not made from shared memory");
    else if (buffer != NULL)
        *out = buffer->descriptor;
    return mw__surface_end(err);
}

/* ---- what a buffer is ---- */

static const mw__buffer_object *get_buffer(void *handle, mw__kind kind, const void *out, mw_error *err)
{
    return mw__surface_get_for(handle, kind, name_of(kind), out, err);
}

static e5rt_error_code get_data(void *handle, mw__kind kind, void **out)
{
    mw_error *err = mw__surface_begin();
    const mw__buffer_object *buffer = get_buffer(handle, kind, out, err);
    if (buffer != NULL)
        *out = buffer->data;
    return mw__surface_end(err);
}

static e5rt_error_code get_size(void *handle, mw__kind kind, uint64_t *out)
{
    mw_error *err = mw__surface_begin();
    const mw__buffer_object *buffer = get_buffer(handle, kind, out, err);
    if (buffer != NULL)
        *out = buffer->size;
    return mw__surface_end(err);
}

e5rt_error_code e5rt_buffer_object_get_data_ptr(void *buffer, void **out)
{
    return get_data(buffer, MW__KIND_BUFFER, out);
}

e5rt_error_code e5rt_memory_object_get_data_ptr(void *memory, void **out)
{
    return get_data(memory, MW__KIND_MEMORY, out);
}

e5rt_error_code e5rt_buffer_object_get_size(void *buffer, uint64_t *out)
{
    return get_size(buffer, MW__KIND_BUFFER, out);
}

e5rt_error_code e5rt_memory_object_get_size(void *memory, uint64_t *out)
{
    return get_size(memory, MW__KIND_MEMORY, out);
}

e5rt_error_code e5rt_buffer_object_get_type(void *handle, uint32_t *out)
{
    mw_error *err = mw__surface_begin();
    const mw__buffer_object *buffer = get_buffer(handle, MW__KIND_BUFFER, out, err);
    if (buffer != NULL)
        *out = buffer->type;
    return mw__surface_end(err);
}

#include "base/file/file_parts.h"
#include "base/file/descriptor.h"

#include "base/file/signal_safe.h"
#include "base/text/text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Pages that are written together take the system half the time of those that come 16 KiB at a time. */
enum { PIECE = 1 << 17 };

/* ---- making ---- */

static bool has_room(const char *folder, uint64_t size)
{
    struct statvfs space;
    return statvfs(folder, &space) == 0 && (double)space.f_bavail * (double)space.f_frsize >= 2.0 * (double)size;
}

/* Of that size, all of it a hole. */
static int make_file(const char *path, uint64_t size)
{
    mw__signal_safe quiet;
    const int descriptor = mw__descriptor_above(open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (descriptor < 0)
        return -1;
    bool good = mw__signal_safe_begin(&quiet, descriptor, (size_t)size);
    if (good) {
        good = ftruncate(descriptor, (off_t)size) == 0;
        mw__signal_safe_end(&quiet);
    }
    if (good)
        return descriptor;
    close(descriptor);
    return -1;
}

/* Shared, so that what is written later is seen. */
static mw_status make_parts(mw__file_parts *parts, const mw_allocator *allocator, mw_error *err)
{
    mw__text path;
    parts->piece = mw__alloc(allocator, PIECE, 1, err);
    if (parts->piece == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(mw__private_folder_make(&parts->folder, allocator, (size_t)parts->size, err));
    mw__text_init(&path, allocator);
    mw__text_printf(&path, "%s/parts", parts->folder.path);
    parts->path = path.data; /* an ordinary block */
    MW_TRY(mw__text_check(&path, err));
    if (has_room(parts->folder.path, parts->size))
        parts->descriptor = make_file(parts->path, parts->size);
    if (parts->descriptor < 0)
        return mw__fail(err, MW_ERROR_FILE, "no room for a copy in \"%s\"", parts->folder.path);
    void *data = mmap(NULL, (size_t)parts->size, PROT_READ, MAP_SHARED, parts->descriptor, 0);
    if (data == MAP_FAILED)
        return mw__fail(err, MW_ERROR_FILE, "cannot map \"%s\": %s", parts->path, strerror(errno));
    parts->data = data;
    return MW_OK;
}

mw_status mw__file_parts_make(mw__file_parts *parts, const mw_allocator *allocator, uint64_t size, mw_error *err)
{
    *parts = (mw__file_parts){.descriptor = -1, .allocator = allocator, .size = size};
    if (size == 0 || size > SIZE_MAX / 2)
        return mw__fail(err, MW_ERROR_ARGUMENT, "a file of %llu bytes has no parts", (unsigned long long)size);
    const mw_status status = make_parts(parts, allocator, err);
    if (status != MW_OK)
        mw__file_parts_release(parts, allocator);
    return status;
}

void mw__file_parts_complete(mw__file_parts *parts)
{
    if (parts->descriptor >= 0)
        close(parts->descriptor);
    parts->descriptor = -1;
    mw__free(parts->allocator, parts->piece);
    parts->piece = NULL;
}

void mw__file_parts_release(mw__file_parts *parts, const mw_allocator *allocator)
{
    parts->allocator = allocator; /* that it was made with may be elsewhere by now */
    mw__file_parts_complete(parts);
    if (parts->data != NULL)
        munmap(parts->data, (size_t)parts->size);
    mw__private_folder_remove(&parts->folder, allocator);
    mw__free(allocator, parts->path);
    *parts = (mw__file_parts){.descriptor = -1};
}

/* ---- filling ---- */

bool mw__file_parts_put(const mw__file_parts *parts, uint64_t offset, const void *bytes, size_t size)
{
    return lseek(parts->descriptor, (off_t)offset, SEEK_SET) >= 0 && mw__file_write_all(parts->descriptor, bytes, size);
}

mw_status mw__file_parts_copy_to(const mw__file_parts *parts, uint64_t to, const mw__file *from, uint64_t offset,
                                 uint64_t size, const char *path, bool *out_copied, mw_error *err)
{
    *out_copied = true;
    while (size > 0 && *out_copied) {
        const size_t step = size < PIECE ? (size_t)size : PIECE;
        MW_TRY(mw__file_read_at(from, offset, parts->piece, step, path, err));
        *out_copied = mw__file_parts_put(parts, to, parts->piece, step);
        offset += step;
        to += step;
        size -= step;
    }
    return MW_OK;
}

mw_status mw__file_parts_copy(const mw__file_parts *parts, const mw__file *from, uint64_t offset, uint64_t size,
                              const char *path, bool *out_copied, mw_error *err)
{
    return mw__file_parts_copy_to(parts, offset, from, offset, size, path, out_copied, err);
}

bool mw__file_parts_link(const mw__file_parts *parts, const char *to)
{
    return mw__file_get_calls()->link(parts->path, to) == 0;
}

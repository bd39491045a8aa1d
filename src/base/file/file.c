/* Reading files, whole or in part, and folders. Writing is in file_write.c, reading what a file names in file_below.c.
 * Only regular files are opened: a FIFO or a device named in a model would block or never end. */
#include "base/file/file.h"
#include "base/file/descriptor.h"

#include "base/environment.h"
#include "base/file/stale.h"
#include "base/text/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static mw_status system_error(mw_error *err, const char *what, const char *path)
{
    return mw__fail(err, MW_ERROR_FILE, "cannot %s \"%s\": %s", what, path, strerror(errno));
}

static int open_retrying(int folder, const char *name, int flags)
{
    int descriptor;
    do
        descriptor = mw__descriptor_above(openat(folder, name, flags | O_CLOEXEC));
    while (descriptor < 0 && errno == EINTR);
    return descriptor;
}

mw_status mw__file_adopt(mw__file *file, int descriptor, const char *path, mw_error *err)
{
    struct stat status;
    mw_status result = MW_OK;
    if (fstat(descriptor, &status) != 0)
        result = system_error(err, "examine", path);
    else if (!S_ISREG(status.st_mode))
        result = mw__fail(err, MW_ERROR_FILE, "cannot read \"%s\": it is not a regular file", path);
    if (result != MW_OK) {
        close(descriptor);
        return result;
    }
    *file = (mw__file){.descriptor = descriptor, .size = (uint64_t)status.st_size};
    return MW_OK;
}

mw_status mw__file_open(mw__file *file, const char *path, mw_error *err)
{
    *file = (mw__file){.descriptor = -1};
    const int descriptor = open_retrying(AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0)
        return system_error(err, "open", path);
    return mw__file_adopt(file, descriptor, path, err);
}

mw_status mw__file_map(const mw__file *file, const char *path, void **out, mw_error *err)
{
    *out = NULL;
    if (file->size == 0)
        return MW_OK;
    if (file->size > SIZE_MAX)
        return mw__fail(err, MW_ERROR_MEMORY, "\"%s\" has more bytes than there are addresses", path);
    void *data = mmap(NULL, (size_t)file->size, PROT_READ, MAP_PRIVATE, file->descriptor, 0);
    if (data == MAP_FAILED)
        return system_error(err, "map", path);
    *out = data;
    return MW_OK;
}

void mw__file_unmap(void *data, uint64_t size)
{
    if (data != NULL)
        munmap(data, (size_t)size);
}

void mw__file_close(mw__file *file)
{
    if (file->descriptor >= 0)
        close(file->descriptor);
    *file = (mw__file){.descriptor = -1};
}

bool mw__file_identify(int descriptor, mw__file_identity *out)
{
    struct stat status;
    if (fstat(descriptor, &status) != 0)
        return false;
    *out = (mw__file_identity){.device = (uint64_t)status.st_dev, .node = (uint64_t)status.st_ino};
    return true;
}

bool mw__file_is_at(const mw__file *file, const char *path)
{
    struct stat here, there;
    return fstat(file->descriptor, &here) == 0 && stat(path, &there) == 0 && here.st_dev == there.st_dev &&
           here.st_ino == there.st_ino;
}

mw_status mw__file_read_at(const mw__file *file, uint64_t offset, void *out, size_t size, const char *path,
                           mw_error *err)
{
    if (offset > file->size || size > file->size - offset)
        return mw__fail(err, MW_ERROR_FORMAT, "\"%s\" is too short: %zu bytes at offset %llu, but it has %llu", path,
                        size, (unsigned long long)offset, (unsigned long long)file->size);
    char *at = out;
    while (size > 0) {
        const size_t part = size < (size_t)1 << 30 ? size : (size_t)1 << 30; /* macOS takes no more than INT_MAX */
        const ssize_t got = pread(file->descriptor, at, part, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return system_error(err, "read", path);
        if (got == 0)
            return mw__fail(err, MW_ERROR_FORMAT, "\"%s\" became shorter while it was read", path);
        at += got;
        offset += (uint64_t)got;
        size -= (size_t)got;
    }
    return MW_OK;
}

mw_status mw__file_read_open(const mw_allocator *allocator, const mw__file *file, const char *path, size_t limit,
                             char **out, mw_error *err)
{
    *out = NULL;
    if (file->size > limit || file->size >= SIZE_MAX)
        return mw__fail(err, MW_ERROR_FORMAT, "\"%s\" has %llu bytes, more than the %zu allowed here", path,
                        (unsigned long long)file->size, limit);
    char *data = mw__alloc(allocator, (size_t)file->size + 1, 1, err);
    if (data == NULL)
        return MW_ERROR_MEMORY;
    const mw_status status = mw__file_read_at(file, 0, data, (size_t)file->size, path, err);
    if (status != MW_OK)
        mw__free(allocator, data);
    else
        *out = data;
    return status;
}

mw_status mw__file_read(const mw_allocator *allocator, const char *path, size_t limit, char **out, size_t *out_size,
                        mw_error *err)
{
    *out = NULL;
    *out_size = 0;
    mw__file file;
    MW_TRY(mw__file_open(&file, path, err));
    const mw_status status = mw__file_read_open(allocator, &file, path, limit, out, err);
    if (status == MW_OK)
        *out_size = (size_t)file.size;
    mw__file_close(&file);
    return status;
}

/* ---- folders ---- */

/* A folder on a disk that others write to takes tens of ms to make and to remove, one in memory some us. */
#define MEMORY_FOLDER "/dev/shm"
enum { MEMORY_MOST = 4 << 20, MEMORY_SHARE = 16, MEMORY_REST = 1 << 20 };

static bool memory_has_room(size_t size)
{
    struct statvfs space;
    if (size > MEMORY_MOST || access(MEMORY_FOLDER, W_OK | X_OK) != 0 || statvfs(MEMORY_FOLDER, &space) != 0)
        return false;
    return (double)space.f_bavail * (double)space.f_frsize >= (double)size * MEMORY_SHARE + MEMORY_REST;
}

/* Once in a process: what others left since then is for those that come. */
static void sweep_once(const char *chosen)
{
    static atomic_flag swept = ATOMIC_FLAG_INIT;
    if (atomic_flag_test_and_set(&swept))
        return;
    mw__stale_sweep_folders(chosen != NULL ? chosen : MEMORY_FOLDER);
    if (chosen == NULL)
        mw__stale_sweep_folders("/tmp");
}

mw_status mw__file_make_private_folder(const mw_allocator *allocator, size_t size, char **out, mw_error *err)
{
    *out = NULL;
    const char *parent = mw__environment("TMPDIR");
    sweep_once(parent);
    if (parent == NULL)
        parent = memory_has_room(size) ? MEMORY_FOLDER : "/tmp";
    mw__text path;
    mw__text_init(&path, allocator);
    mw__text_printf(&path, "%s/millwright-XXXXXX", parent);
    mw_status status = mw__text_check(&path, err);
    if (status == MW_OK && mkdtemp(path.data) == NULL)
        status = system_error(err, "make a temporary folder (TMPDIR chooses another place) in", parent);
    if (status != MW_OK) {
        mw__text_deinit(&path);
        return status;
    }
    *out = path.data; /* the text's buffer is an ordinary block of the allocator */
    return MW_OK;
}

void mw__file_remove_folder(const char *path)
{
    const int descriptor = open_retrying(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    DIR *folder = descriptor >= 0 ? fdopendir(descriptor) : NULL;
    if (folder == NULL) {
        if (descriptor >= 0)
            close(descriptor);
        return;
    }
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(descriptor, entry->d_name, 0);
    }
    closedir(folder);
    rmdir(path);
}

mw_status mw__file_make_folders(const char *path, mw_error *err)
{
    char prefix[4096];
    const size_t length = strlen(path);
    struct stat status;
    if (length == 0 || length >= sizeof prefix)
        return mw__fail(err, MW_ERROR_ARGUMENT, "a folder's path has %zu bytes; it must have 1 to %zu", length,
                        sizeof prefix - 1);
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        return MW_OK; /* mkdir would wait for whoever changes its parent */
    for (size_t i = 1; i <= length; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        memcpy(prefix, path, i);
        prefix[i] = '\0';
        /* An existing folder may answer EROFS or EACCES instead of EEXIST: what counts is that it is there. */
        if (mkdir(prefix, 0777) == 0)
            continue;
        const int reason = errno;
        if (stat(prefix, &status) != 0)
            return mw__fail(err, MW_ERROR_FILE, "cannot make the folder \"%s\": %s", prefix, strerror(reason));
        if (!S_ISDIR(status.st_mode))
            return mw__fail(err, MW_ERROR_FILE, "cannot make the folder \"%s\": what has this name is not a folder",
                            prefix);
    }
    return MW_OK;
}

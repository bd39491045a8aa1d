/* Files that appear whole or not at all: a temporary beside the target, made durable, then renamed over it. A process
 * that is killed on the way leaves the old file and perhaps a temporary, never a torn target. */
#include "base/file.h"

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the system calls ---- */

static int call_open(const char *path, int flags, int mode) { return open(path, flags, mode); }

static long call_write(int descriptor, const void *data, size_t size) { return write(descriptor, data, size); }

static int call_fsync(int descriptor)
{
#ifdef F_FULLFSYNC
    /* macOS: fsync leaves the data in the drive's cache (manual page fsync(2)); not every file system has the other */
    if (fcntl(descriptor, F_FULLFSYNC) == 0)
        return 0;
#endif
    return fsync(descriptor);
}

static const mw__file_calls real_calls = {
    .open = call_open,
    .write = call_write,
    .fsync = call_fsync,
    .close = close,
    .rename = rename,
};

/* Mutable for the tests alone, which fail call n; the library never sets it. */
static const mw__file_calls *calls = &real_calls;

void mw__file_set_calls(const mw__file_calls *given) { calls = given != NULL ? given : &real_calls; }

/* ---- the writer ---- */

static bool is_open(const mw__file_writer *writer) { return writer->temporary != NULL && writer->descriptor >= 0; }

/* Reports errno and drops the temporary: after a failed write or fsync nobody knows what is on the disk. */
static mw_status fail_and_drop(mw__file_writer *writer, const char *what, mw_error *err)
{
    const int reason = errno;
    const mw_status status = mw__fail(err, MW_ERROR_FILE, "cannot %s \"%s\": %s", what, writer->path, strerror(reason));
    mw__file_writer_deinit(writer);
    return status;
}

void mw__file_writer_deinit(mw__file_writer *writer)
{
    if (writer->path == NULL && writer->temporary == NULL)
        return; /* zeroed, or deinitialised before */
    if (writer->descriptor >= 0)
        calls->close(writer->descriptor);
    if (writer->temporary != NULL)
        unlink(writer->temporary);
    mw__free(writer->allocator, writer->temporary);
    mw__free(writer->allocator, writer->path);
    *writer = (mw__file_writer){.descriptor = -1};
}

/* `path` with a suffix that no other writer of this machine uses at the same time; the open is exclusive anyway. */
static mw_status name_temporary(mw__file_writer *writer, int attempt, mw_error *err)
{
    mw__text name;
    mw__text_init(&name, writer->allocator);
    mw__text_printf(&name, "%s.%ld-%d.tmp", writer->path, (long)getpid(), attempt);
    const mw_status status = mw__text_check(&name, err);
    mw__free(writer->allocator, writer->temporary);
    writer->temporary = status == MW_OK ? name.data : NULL;
    if (status != MW_OK)
        mw__text_deinit(&name);
    return status;
}

/* Leftovers of killed processes with our id, and our own threads, make a name taken. */
static mw_status open_temporary(mw__file_writer *writer, mw_error *err)
{
    enum { ATTEMPTS = 1000 };
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
    int reason = 0;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        MW_TRY(name_temporary(writer, attempt, err));
        do
            writer->descriptor = calls->open(writer->temporary, flags, 0666);
        while (writer->descriptor < 0 && errno == EINTR);
        if (writer->descriptor >= 0)
            return MW_OK;
        reason = errno;
        if (reason != EEXIST)
            break;
    }
    mw__free(writer->allocator, writer->temporary); /* not ours: deinit must not remove it */
    writer->temporary = NULL;
    return mw__fail(err, MW_ERROR_FILE, "cannot write \"%s\": %s", writer->path, strerror(reason));
}

/* A rename would replace a device or FIFO by a file, and that of a folder fails only after all was written. */
static mw_status check_target(const char *path, mw_error *err)
{
    struct stat status;
    if (lstat(path, &status) != 0 || S_ISREG(status.st_mode) || S_ISLNK(status.st_mode))
        return MW_OK;
    return mw__fail(err, MW_ERROR_FILE, "cannot replace \"%s\": it is not a regular file", path);
}

mw_status mw__file_writer_begin(mw__file_writer *writer, const mw_allocator *allocator, const char *path, bool durable,
                                mw_error *err)
{
    *writer = (mw__file_writer){.allocator = mw__allocator_or_default(allocator), .descriptor = -1, .durable = durable};
    mw__text copy;
    mw__text_init(&copy, allocator);
    mw__text_puts(&copy, path);
    mw_status status = mw__text_check(&copy, err);
    writer->path = copy.data;
    if (status == MW_OK)
        status = check_target(path, err);
    if (status == MW_OK)
        status = open_temporary(writer, err);
    if (status != MW_OK)
        mw__file_writer_deinit(writer);
    return status;
}

mw_status mw__file_writer_write(mw__file_writer *writer, const void *data, size_t size, mw_error *err)
{
    if (!is_open(writer))
        return mw__fail(err, MW_ERROR_STATE, "a write after the file failed or was committed");
    const char *at = data;
    while (size > 0) {
        const size_t part = size < (size_t)1 << 30 ? size : (size_t)1 << 30; /* macOS takes no more than INT_MAX */
        const long written = calls->write(writer->descriptor, at, part);
        if (written < 0 && errno == EINTR)
            continue;
        if (written == 0)
            errno = ENOSPC; /* POSIX has no reason for it; going on could loop for ever */
        if (written <= 0)
            return fail_and_drop(writer, "write", err);
        at += written;
        size -= (size_t)written;
    }
    return MW_OK;
}

static int fsync_retrying(int descriptor)
{
    int result;
    do
        result = calls->fsync(descriptor);
    while (result != 0 && errno == EINTR);
    return result;
}

static mw_status open_folder_of(const mw__file_writer *writer, int *out_descriptor, mw_error *err)
{
    const char *slash = strrchr(writer->path, '/');
    mw__text folder;
    mw__text_init(&folder, writer->allocator);
    if (slash == NULL)
        mw__text_puts(&folder, ".");
    else
        mw__text_append(&folder, writer->path, slash == writer->path ? 1 : (size_t)(slash - writer->path));
    mw_status status = mw__text_check(&folder, err);
    if (status == MW_OK) {
        do
            *out_descriptor = calls->open(folder.data, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
        while (*out_descriptor < 0 && errno == EINTR);
        if (*out_descriptor < 0)
            status = mw__fail(err, MW_ERROR_FILE, "cannot open the folder \"%s\": %s", folder.data, strerror(errno));
    }
    mw__text_deinit(&folder);
    return status;
}

/* Closes and renames; on success the target is the new file. */
static mw_status put_in_place(mw__file_writer *writer, mw_error *err)
{
    const int descriptor = writer->descriptor;
    writer->descriptor = -1;
    if (calls->close(descriptor) != 0 && errno != EINTR) /* interrupted, it is closed all the same */
        return fail_and_drop(writer, "write", err);
    if (calls->rename(writer->temporary, writer->path) != 0)
        return fail_and_drop(writer, "replace", err);
    mw__free(writer->allocator, writer->temporary);
    writer->temporary = NULL;
    return MW_OK;
}

/* The folder is opened before the rename: after it only the folder's own fsync can fail, and then the new file is in
 * place but might be gone after a power cut. */
static mw_status commit_durable(mw__file_writer *writer, mw_error *err)
{
    if (fsync_retrying(writer->descriptor) != 0)
        return fail_and_drop(writer, "make durable", err);
    int folder;
    MW_TRY(open_folder_of(writer, &folder, err)); /* the caller drops the temporary */
    mw_status status = put_in_place(writer, err);
    if (status == MW_OK && fsync_retrying(folder) != 0 && errno != EINVAL) /* EINVAL: no such thing on this system */
        status = fail_and_drop(writer, "make durable the folder of", err);
    calls->close(folder);
    return status;
}

mw_status mw__file_writer_commit(mw__file_writer *writer, mw_error *err)
{
    if (!is_open(writer))
        return mw__fail(err, MW_ERROR_STATE, "a commit after the file failed or was committed");
    const mw_status status = writer->durable ? commit_durable(writer, err) : put_in_place(writer, err);
    mw__file_writer_deinit(writer);
    return status;
}

mw_status mw__file_write(const mw_allocator *allocator, const char *path, const void *data, size_t size, bool durable,
                         mw_error *err)
{
    mw__file_writer writer;
    MW_TRY(mw__file_writer_begin(&writer, allocator, path, durable, err));
    MW_TRY(mw__file_writer_write(&writer, data, size, err));
    return mw__file_writer_commit(&writer, err);
}

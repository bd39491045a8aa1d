/* Files that appear whole or not at all: a temporary beside the target, made durable, then renamed over it. A process
 * that is killed on the way leaves the old file and perhaps a temporary, never a torn target. Every step is relative to
 * the open folder of the target; file_target.c finds it. */
#include "base/file/descriptor.h"
#include "base/file/file.h"
#include "base/file/file_target.h"
#include "base/file/stale.h"

#include "base/file/signal_safe.h"
#include "base/file/temporary.h"
#include "base/text/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- the system calls ---- */

static int call_open(int folder, const char *path, int flags, int mode) { return openat(folder, path, flags, mode); }

static int call_stat(int folder, const char *name, struct stat *out, bool follow)
{
    return fstatat(folder, name, out, follow ? 0 : AT_SYMLINK_NOFOLLOW);
}

static long call_readlink(int folder, const char *name, char *out, size_t size)
{
    return readlinkat(folder, name, out, size);
}

static int call_chown(int descriptor, long owner, long group) { return fchown(descriptor, (uid_t)owner, (gid_t)group); }

static int call_chmod(int descriptor, int mode) { return fchmod(descriptor, (mode_t)mode); }

static long call_write(int descriptor, const void *data, size_t size)
{
    mw__signal_safe quiet;
    if (!mw__signal_safe_begin(&quiet, descriptor, size))
        return -1;
    const long written = write(descriptor, data, size);
    mw__signal_safe_end(&quiet);
    return written;
}

static int call_fsync(int descriptor)
{
#ifdef F_FULLFSYNC
    /* macOS: fsync leaves the data in the drive's cache (manual page fsync(2)); not every file system has the other */
    if (fcntl(descriptor, F_FULLFSYNC) == 0)
        return 0;
#endif
    return fsync(descriptor);
}

static int call_rename(int folder, const char *from, const char *to) { return renameat(folder, from, folder, to); }

static int call_unlink(int folder, const char *name) { return unlinkat(folder, name, 0); }

static int call_link(const char *from, const char *to)
{
    return linkat(AT_FDCWD, from, AT_FDCWD, to, AT_SYMLINK_FOLLOW);
}

static void call_pause(long milliseconds)
{
    const struct timespec time = {.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000};
    nanosleep(&time, NULL);
}

const mw__file_calls mw__file_real_calls = {
    .open = call_open,
    .stat = call_stat,
    .readlink = call_readlink,
    .chown = call_chown,
    .chmod = call_chmod,
    .write = call_write,
    .fsync = call_fsync,
    .close = close,
    .rename = call_rename,
    .unlink = call_unlink,
    .link = call_link,
    .lock = flock,
    .pause = call_pause,
};

/* Mutable for the tests alone, which fail call n; the library never sets it. */
static const mw__file_calls *calls = &mw__file_real_calls;

const mw__file_calls *mw__file_get_calls(void) { return calls; }

void mw__file_set_calls(const mw__file_calls *given) { calls = given != NULL ? given : &mw__file_real_calls; }

/* ---- locks ---- */

bool mw__file_lock_within(int descriptor, long milliseconds)
{
    enum { PAUSE = 10 };
    for (long waited = 0; calls->lock(descriptor, LOCK_EX | LOCK_NB) != 0; waited += PAUSE) {
        if ((errno != EWOULDBLOCK && errno != EINTR) || waited >= milliseconds)
            return false;
        calls->pause(PAUSE);
    }
    return true;
}

/* ---- the writer ---- */

static bool is_open(const mw__file_writer *writer) { return writer->temporary != NULL && writer->descriptor >= 0; }

/* Reports errno and drops the temporary: after a failed write or fsync nobody knows what is on the disk. */
static mw_status fail_and_drop(mw__file_writer *writer, const char *what, mw_error *err)
{
    const int reason = errno;
    const mw_status status =
        mw__fail(err, MW_ERROR_FILE, "cannot %s \"%s\": %s%s", what, writer->path, strerror(reason),
                 reason == EFBIG ? " (the process has a limit on file sizes: ulimit -f)" : "");
    mw__file_writer_deinit(writer);
    return status;
}

void mw__file_writer_deinit(mw__file_writer *writer)
{
    if (writer->path == NULL && writer->name == NULL)
        return; /* zeroed, or deinitialized before */
    if (writer->descriptor >= 0)
        calls->close(writer->descriptor);
    if (writer->temporary != NULL)
        calls->unlink(writer->folder, writer->temporary);
    if (writer->folder >= 0)
        calls->close(writer->folder);
    mw__free(writer->allocator, writer->temporary);
    mw__free(writer->allocator, writer->name);
    mw__free(writer->allocator, writer->path);
    *writer = (mw__file_writer){.folder = -1, .descriptor = -1, .placed = writer->placed};
}

/* A name that no other writer of this machine uses at the same time; the open is exclusive anyway. */
static mw_status name_temporary(mw__file_writer *writer, int attempt, mw_error *err)
{
    char name[MW__NAME_BYTES];
    mw__temporary_name(name, writer->name, attempt);
    mw__free(writer->allocator, writer->temporary);
    writer->temporary = mw__alloc(writer->allocator, strlen(name) + 1, 1, err);
    if (writer->temporary == NULL)
        return MW_ERROR_MEMORY;
    memcpy(writer->temporary, name, strlen(name) + 1);
    return MW_OK;
}

/* Leftovers of killed processes with our id, and our own threads, make a name taken. */
static mw_status open_temporary(mw__file_writer *writer, int mode, mw_error *err)
{
    enum { ATTEMPTS = 1000 };
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
    int reason = 0;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        MW_TRY(name_temporary(writer, attempt, err));
        do
            writer->descriptor = mw__descriptor_above(calls->open(writer->folder, writer->temporary, flags, mode));
        while (writer->descriptor < 0 && errno == EINTR);
        if (writer->descriptor >= 0 && mw__stale_claim(writer->descriptor))
            return MW_OK;
        if (writer->descriptor >= 0) { /* taken for a leftover, and removed: once more */
            calls->close(writer->descriptor);
            writer->descriptor = -1;
            continue;
        }
        reason = errno;
        if (reason != EEXIST)
            break;
    }
    mw__free(writer->allocator, writer->temporary); /* not ours: deinit must not remove it */
    writer->temporary = NULL;
    return mw__fail(err, MW_ERROR_FILE, "cannot write \"%s\": %s", writer->path, strerror(reason));
}

/* Where the group cannot be kept, another one must not get what the old one had. */
static int mode_without_group(int mode) { return (mode & 0707) | (mode & (mode & 07) << 3); }

/* The temporary was made for its owner alone; what fails here leaves it so, or closer to it than the old file. */
static mw_status keep_owner_and_mode(const mw__file_writer *writer, const struct stat *old, mw_error *err)
{
    struct stat new;
    if (calls->stat(writer->folder, writer->temporary, &new, false) != 0)
        return mw__fail(err, MW_ERROR_FILE, "cannot examine what replaces \"%s\": %s", writer->path, strerror(errno));
    int mode = (int)(old->st_mode & 0777);
    const bool owned = new.st_uid == old->st_uid, grouped = new.st_gid == old->st_gid;
    if (!owned && calls->chown(writer->descriptor, (long)old->st_uid, (long)old->st_gid) == 0)
        ; /* who may give away the file may give both */
    else if (!grouped && calls->chown(writer->descriptor, -1, (long)old->st_gid) != 0)
        mode = mode_without_group(mode);
    if ((int)(new.st_mode & 0777) != mode)
        calls->chmod(writer->descriptor, mode);
    return MW_OK;
}

static mw_status begin_file(mw__file_writer *writer, const char *path, mw_error *err)
{
    mw__file_target target;
    mw__text copy;
    mw__text_init(&copy, writer->allocator);
    mw__text_puts(&copy, path);
    writer->path = copy.data; /* NULL if there was no memory */
    MW_TRY(mw__text_check(&copy, err));
    MW_TRY(mw__file_target_find(&target, writer->allocator, path, err));
    writer->folder = target.folder;
    writer->name = target.name;
    mw__stale_sweep_files(writer->folder, writer->name);
    MW_TRY(open_temporary(writer, target.exists ? 0600 : 0666, err));
    return target.exists ? keep_owner_and_mode(writer, &target.status, err) : MW_OK;
}

mw_status mw__file_writer_begin(mw__file_writer *writer, const mw_allocator *allocator, const char *path, bool durable,
                                mw_error *err)
{
    *writer = (mw__file_writer){
        .allocator = mw__allocator_or_default(allocator), .folder = -1, .descriptor = -1, .durable = durable};
    const mw_status status = begin_file(writer, path, err);
    if (status != MW_OK)
        mw__file_writer_deinit(writer);
    return status;
}

bool mw__file_write_all(int descriptor, const void *data, size_t size)
{
    const char *at = data;
    while (size > 0) {
        const size_t part = size < (size_t)1 << 30 ? size : (size_t)1 << 30; /* macOS takes no more than INT_MAX */
        const long written = calls->write(descriptor, at, part);
        if (written < 0 && errno == EINTR)
            continue;
        if (written == 0)
            errno = ENOSPC; /* POSIX has no reason for it; going on could loop for ever */
        if (written <= 0)
            return false;
        at += written;
        size -= (size_t)written;
    }
    return true;
}

mw_status mw__file_writer_write(mw__file_writer *writer, const void *data, size_t size, mw_error *err)
{
    if (!is_open(writer))
        return mw__fail(err, MW_ERROR_STATE, "a write after the file failed or was committed");
    return mw__file_write_all(writer->descriptor, data, size) ? MW_OK : fail_and_drop(writer, "write", err);
}

static int fsync_retrying(int descriptor)
{
    int result;
    do
        result = calls->fsync(descriptor);
    while (result != 0 && errno == EINTR);
    return result;
}

/* Closes and renames; on success the target is the new file. */
static mw_status put_in_place(mw__file_writer *writer, mw_error *err)
{
    const int descriptor = writer->descriptor, held = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    writer->descriptor = -1;
    mw_status status = MW_OK;
    if (calls->close(descriptor) != 0 && errno != EINTR) /* interrupted, it is closed all the same */
        status = fail_and_drop(writer, "write", err);
    else if (calls->rename(writer->folder, writer->temporary, writer->name) != 0)
        status = fail_and_drop(writer, "replace", err);
    if (held >= 0)
        close(held);
    if (status != MW_OK)
        return status;
    writer->placed = true;
    mw__free(writer->allocator, writer->temporary);
    writer->temporary = NULL;
    return MW_OK;
}

/* After the rename only the folder's own fsync can fail, and then the new file is in place but might be gone after a
 * power cut. */
static mw_status commit_durable(mw__file_writer *writer, mw_error *err)
{
    if (fsync_retrying(writer->descriptor) != 0)
        return fail_and_drop(writer, "make durable", err);
    MW_TRY(put_in_place(writer, err));
    if (fsync_retrying(writer->folder) != 0 && errno != EINVAL) /* EINVAL: no such thing on this system */
        return fail_and_drop(writer, "make durable the folder of", err);
    return MW_OK;
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

#include "base/file/lock.h"
#include "base/file/descriptor.h"

#include "base/file/file.h"
#include "base/file/file_target.h"
#include "base/file/signal_safe.h"
#include "base/file/temporary.h"
#include "base/text/log.h"
#include "base/text/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { HOLDER_MAX = 160 };

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static int open_beside(const mw__lock *lock)
{
    const int flags = O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    int opened = mw__descriptor_above(openat(lock->folder, lock->name, O_RDWR | flags, 0666));
    if (opened < 0 && errno == EACCES) /* that of another user: to be looked at, and locked */
        opened = mw__descriptor_above(openat(lock->folder, lock->name, O_RDONLY | (flags & ~O_CREAT)));
    return opened;
}

/* "process 12 on host": for people. A holder who could not write is not named. */
static void write_holder(const mw__lock *lock)
{
    char text[HOLDER_MAX], host[96] = "";
    mw__signal_safe quiet;
    gethostname(host, sizeof host - 1);
    const int length = snprintf(text, sizeof text, "process %ld on %s", (long)getpid(), host);
    if (length < 0 || ftruncate(lock->descriptor, 0) != 0 ||
        !mw__signal_safe_begin(&quiet, lock->descriptor, (size_t)length))
        return;
    if (pwrite(lock->descriptor, text, (size_t)length, 0) < 0)
        errno = 0; /* nobody waits for it */
    mw__signal_safe_end(&quiet);
}

static void read_holder(int descriptor, char out[HOLDER_MAX])
{
    const ssize_t got = pread(descriptor, out, HOLDER_MAX - 1, 0);
    out[got > 0 ? got : 0] = '\0';
    if (strncmp(out, "process ", 8) != 0)
        snprintf(out, HOLDER_MAX, "another process");
}

static mw_status refuse_held_lock(int descriptor, const char *path, mw_error *err)
{
    char holder[HOLDER_MAX];
    read_holder(descriptor, holder);
    return mw__fail(err, MW_ERROR_FILE,
                    "\"%s\" is being written by another training or save, of %s: give each a file of its own, or wait "
                    "until that one has ended",
                    path, holder);
}

static bool held_by(const mw__lock *mine, int descriptor)
{
    struct stat a, b;
    return mine != NULL && mine->name != NULL && fstat(mine->descriptor, &a) == 0 && fstat(descriptor, &b) == 0 &&
           same_file(&a, &b);
}

/* Whether the name still leads to what was locked: its last holder may have removed it meanwhile. */
static bool is_in_place(const mw__lock *lock, int descriptor)
{
    struct stat locked, named;
    return fstat(descriptor, &locked) == 0 && fstatat(lock->folder, lock->name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           same_file(&locked, &named);
}

/* 0 = locked, 1 = held by another or by `mine` (*out_status says which), -1 = not to be had (errno). */
static int try_once(mw__lock *lock, const char *path, const mw__lock *mine, mw_status *out_status, mw_error *err)
{
    struct stat status = {0};
    const int descriptor = open_beside(lock);
    if (descriptor < 0)
        return -1;
    int result = -1;
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
        errno = EINVAL;
    } else if (mw__file_get_calls()->lock(descriptor, LOCK_EX | LOCK_NB) == 0) {
        lock->descriptor = descriptor;
        return 0;
    } else if (errno == EWOULDBLOCK) {
        result = 1;
        *out_status = held_by(mine, descriptor) ? MW_OK : refuse_held_lock(descriptor, path, err);
    }
    const int reason = errno;
    if (result < 0 && S_ISREG(status.st_mode) && status.st_size == 0)
        unlinkat(lock->folder, lock->name, 0); /* what cannot be locked tells nobody anything */
    close(descriptor);
    errno = reason;
    return result;
}

static void drop(mw__lock *lock)
{
    close(lock->folder);
    mw__free(lock->allocator, lock->name);
    *lock = (mw__lock){0};
}

static mw_status take_lock(mw__lock *lock, const char *path, const mw__lock *mine, mw_error *err)
{
    enum { ATTEMPTS = 100 };
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        mw_status status = MW_OK;
        const int result = try_once(lock, path, mine, &status, err);
        if (result == 0 && is_in_place(lock, lock->descriptor)) {
            write_holder(lock);
            return MW_OK;
        }
        if (result == 0) {
            close(lock->descriptor);
            continue;
        }
        if (result < 0)
            mw__log(MW_LOG_WARNING, "\"%s\" cannot be locked (%s): nothing would notice that two processes save to it",
                    path, strerror(errno));
        drop(lock);
        return status;
    }
    drop(lock);
    return MW_OK;
}

mw_status mw__lock_take(mw__lock *lock, const mw_allocator *allocator, const char *path, const mw__lock *mine,
                        mw_error *err)
{
    mw__file_target target;
    mw__text name;
    char stem[MW__NAME_BYTES];
    *lock = (mw__lock){0};
    MW_TRY(mw__file_target_find(&target, allocator, path, err));
    mw__temporary_stem(stem, target.name);
    mw__text_init(&name, allocator);
    mw__text_printf(&name, "%s.mwlock", stem);
    mw__free(allocator, target.name);
    const mw_status status = mw__text_check(&name, err);
    if (status != MW_OK) {
        mw__text_deinit(&name);
        close(target.folder);
        return status;
    }
    *lock = (mw__lock){.allocator = allocator, .name = name.data, .folder = target.folder, .descriptor = -1};
    return take_lock(lock, path, mine, err);
}

/* Removed while it is held, so that nobody finds it in between; whoever opened it before sees that it is gone. */
void mw__lock_release(mw__lock *lock)
{
    if (lock->name == NULL)
        return;
    if (is_in_place(lock, lock->descriptor))
        unlinkat(lock->folder, lock->name, 0);
    close(lock->descriptor);
    drop(lock);
}

#include "base/file/stale.h"
#include "base/file/descriptor.h"

#include "base/file/file.h"
#include "base/file/signal_safe.h"
#include "base/file/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/vfs.h>
#else
#include <sys/mount.h>
#include <sys/param.h>
#endif

enum { NAME_BYTES = 256, DEPTH_MAX = 8 };

/* ---- what may be removed ---- */

/* Locks of these may be the machine's own, while the files are those of several. */
static bool is_local(int descriptor)
{
    struct statfs system;
    if (fstatfs(descriptor, &system) != 0)
        return false;
#ifdef __linux__
    static const unsigned long shared[] = {
        0x6969,     /* NFS */
        0x517b,     /* SMB */
        0xfe534d42, /* SMB 2 */
        0xff534d42, /* CIFS */
        0x5346414f, /* AFS */
        0x00c36400, /* Ceph */
        0x01021997, /* 9P */
        0x65735546, /* FUSE, of whatever kind */
        0x0bd00bd0, /* Lustre */
        0x47504653, /* GPFS */
        0x19830326, /* BeeGFS */
        0x7461636f, /* OCFS2 */
        0x01161970, /* GFS2 */
    };              /* linux/magic.h, and the clients' own sources */
    for (size_t i = 0; i < sizeof shared / sizeof shared[0]; i++)
        if (((unsigned long)system.f_type & 0xffffffff) == shared[i])
            return false;
    return true;
#else
    return (system.f_flags & MNT_LOCAL) != 0;
#endif
}

/* "millwright-XXXXXX", as mkdtemp makes it. */
static bool is_private_folder(const char *entry)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    static const char prefix[] = "millwright-";
    const size_t length = sizeof prefix - 1;
    return strncmp(entry, prefix, length) == 0 && strlen(entry) == length + 6 && strspn(entry + length, letters) == 6;
}

static int open_entry(int folder, const char *name, int flags)
{
    int descriptor;
    do
        descriptor = mw__descriptor_above(openat(folder, name, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
    while (descriptor < 0 && errno == EINTR);
    return descriptor;
}

/* A regular file of this user that nobody holds any more: locked by this, until it is closed. -1 otherwise. */
static int take_dead_file(int folder, const char *name)
{
    struct stat opened, named;
    const int descriptor = open_entry(folder, name, O_RDWR);
    if (descriptor < 0)
        return -1;
    if (fstat(descriptor, &opened) == 0 && S_ISREG(opened.st_mode) && opened.st_uid == geteuid() &&
        is_local(descriptor) && mw__file_get_calls()->lock(descriptor, LOCK_EX | LOCK_NB) == 0 &&
        fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && named.st_dev == opened.st_dev &&
        named.st_ino == opened.st_ino)
        return descriptor;
    close(descriptor);
    return -1;
}

/* ---- going through a folder ---- */

typedef void visitor(int folder, const char *entry, const void *argument);

static void for_each(int folder, visitor *visit, const void *argument)
{
    const int own = open_entry(folder, ".", O_RDONLY | O_DIRECTORY);
    DIR *opened = own >= 0 ? fdopendir(own) : NULL;
    if (opened == NULL) {
        if (own >= 0)
            close(own);
        return;
    }
    for (const struct dirent *entry; (entry = readdir(opened)) != NULL;)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            visit(folder, entry->d_name, argument);
    closedir(opened);
}

/* ---- temporaries ---- */

bool mw__stale_claim(int descriptor)
{
    struct stat status;
    int result;
    do
        result = mw__file_get_calls()->lock(descriptor, LOCK_EX | LOCK_NB);
    while (result != 0 && errno == EINTR);
    if (result != 0)
        return errno != EWOULDBLOCK;
    return fstat(descriptor, &status) != 0 || status.st_nlink > 0;
}

static void sweep_file(int folder, const char *entry, const void *name)
{
    if (!mw__temporary_is_of(entry, name))
        return;
    const int descriptor = take_dead_file(folder, entry);
    if (descriptor < 0)
        return;
    unlinkat(folder, entry, 0);
    close(descriptor);
}

void mw__stale_sweep_files(int folder, const char *name) { for_each(folder, sweep_file, name); }

/* ---- folders beside their target ---- */

int mw__stale_hold_folder(const char *path)
{
    const int folder = open_entry(AT_FDCWD, path, O_RDONLY | O_DIRECTORY);
    if (folder >= 0 && !mw__stale_claim(folder)) {
        close(folder);
        errno = EEXIST;
        return -1;
    }
    return folder;
}

static void empty(int folder, const char *entry, const void *depth);

static bool is_own_and_dead(int folder)
{
    struct stat status;
    return fstat(folder, &status) == 0 && status.st_uid == geteuid() && is_local(folder) &&
           mw__file_get_calls()->lock(folder, LOCK_EX | LOCK_NB) == 0;
}

static void sweep_beside(int parent, const char *entry, const void *name)
{
    const int top = 0;
    const int folder = mw__temporary_is_of(entry, name) ? open_entry(parent, entry, O_RDONLY | O_DIRECTORY) : -1;
    if (folder < 0)
        return;
    if (is_own_and_dead(folder)) {
        for_each(folder, empty, &top);
        unlinkat(parent, entry, AT_REMOVEDIR);
    }
    close(folder);
}

void mw__stale_sweep_beside(const char *path)
{
    char folder[4096] = ".";
    const char *slash = strrchr(path, '/');
    if (slash != NULL && (size_t)(slash - path) + 2 > sizeof folder)
        return;
    if (slash != NULL)
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - path) + 1, path);
    const int opened = open_entry(AT_FDCWD, folder, O_RDONLY | O_DIRECTORY);
    if (opened < 0)
        return;
    for_each(opened, sweep_beside, slash != NULL ? slash + 1 : path);
    close(opened);
}

/* ---- private folders ---- */

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* The text comes after the lock: a marker without it is not looked at again. */
static bool write_marker(int descriptor, const char *name)
{
    enum { WAIT_MS = 1000 }; /* only a process that sweeps can hold it, for an instant */
    mw__signal_safe quiet;
    const size_t length = strlen(name);
    if (!mw__file_lock_within(descriptor, WAIT_MS) || !mw__signal_safe_begin(&quiet, descriptor, length))
        return false;
    const bool written = write(descriptor, name, length) == (ssize_t)length;
    mw__signal_safe_end(&quiet);
    return written;
}

int mw__stale_mark_folder(const char *path)
{
    const int folder = open_entry(AT_FDCWD, path, O_RDONLY | O_DIRECTORY);
    if (folder < 0)
        return -1;
    int marker = mw__descriptor_above(
        openat(folder, MW__STALE_MARKER, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (marker >= 0 && !write_marker(marker, last_part(path))) {
        unlinkat(folder, MW__STALE_MARKER, 0);
        close(marker);
        marker = -1;
    }
    close(folder);
    return marker;
}

static bool names_folder(int marker, const char *name)
{
    char text[NAME_BYTES];
    const ssize_t got = pread(marker, text, sizeof text, 0);
    return got > 0 && (size_t)got == strlen(name) && memcmp(text, name, (size_t)got) == 0;
}

/* Everything but the marker, which goes last: who is killed here leaves a folder that is still marked. */
static void empty(int folder, const char *entry, const void *depth)
{
    const int deeper = *(const int *)depth + 1;
    if (strcmp(entry, MW__STALE_MARKER) == 0 && deeper == 1)
        return;
    if (unlinkat(folder, entry, 0) == 0 || deeper > DEPTH_MAX)
        return;
    const int below = open_entry(folder, entry, O_RDONLY | O_DIRECTORY);
    if (below < 0)
        return;
    for_each(below, empty, &deeper);
    close(below);
    unlinkat(folder, entry, AT_REMOVEDIR);
}

/* Asked before a folder is opened: a start of a process waits for this, however many folders there are. */
static bool has_marker(int parent, const char *entry)
{
    char marker[NAME_BYTES + sizeof MW__STALE_MARKER + 1];
    const int length = snprintf(marker, sizeof marker, "%s/%s", entry, MW__STALE_MARKER);
    return length > 0 && (size_t)length < sizeof marker && faccessat(parent, marker, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static void sweep_folder(int parent, const char *entry, const void *unused)
{
    struct stat status;
    const int top = 0;
    (void)unused;
    if (!is_private_folder(entry) || !has_marker(parent, entry))
        return;
    const int folder = open_entry(parent, entry, O_RDONLY | O_DIRECTORY);
    if (folder < 0)
        return;
    int marker = -1;
    if (fstat(folder, &status) == 0 && status.st_uid == geteuid())
        marker = take_dead_file(folder, MW__STALE_MARKER);
    if (marker >= 0 && names_folder(marker, entry)) {
        for_each(folder, empty, &top);
        unlinkat(folder, MW__STALE_MARKER, 0);
        unlinkat(parent, entry, AT_REMOVEDIR);
    }
    if (marker >= 0)
        close(marker);
    close(folder);
}

void mw__stale_sweep_folders(const char *parent)
{
    int folder;
    do
        folder = mw__descriptor_above(open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    while (folder < 0 && errno == EINTR);
    if (folder < 0)
        return;
    for_each(folder, sweep_folder, NULL);
    close(folder);
}

/* Replaces a folder as a whole. Files in it are written by others (file_write.c); here are its names. */
#include "base/file/fresh_folder.h"
#include "base/file/descriptor.h"
#include "base/file/file.h"
#include "base/file/stale.h"
#include "base/file/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif

enum { DEEPEST = 32, ATTEMPTS = 100 };

/* ---- walking ---- */

/* Opens a folder below another without following a link; -1 if it is none. */
static int open_folder(int parent, const char *name)
{
    return mw__descriptor_above(openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

static bool is_dots(const char *name) { return strcmp(name, ".") == 0 || strcmp(name, "..") == 0; }

/* Empties the folder, whose descriptor it closes. */
static void empty(int folder, int depth)
{
    DIR *opened = fdopendir(folder);
    if (opened == NULL) {
        close(folder);
        return;
    }
    for (const struct dirent *entry; (entry = readdir(opened)) != NULL;) {
        if (is_dots(entry->d_name) || unlinkat(dirfd(opened), entry->d_name, 0) == 0 || depth == DEEPEST)
            continue;
        const int inner = open_folder(dirfd(opened), entry->d_name);
        if (inner >= 0)
            empty(inner, depth + 1);
        unlinkat(dirfd(opened), entry->d_name, AT_REMOVEDIR);
    }
    closedir(opened);
}

void mw__folder_remove(const char *path)
{
    const int folder = open_folder(AT_FDCWD, path);
    if (folder >= 0)
        empty(folder, 0);
    rmdir(path);
}

/* Makes the names in the folder and in those below it durable; closes the descriptor. */
static bool sync_names(int folder, int depth)
{
    DIR *opened = fdopendir(folder);
    if (opened == NULL) {
        close(folder);
        return false;
    }
    bool good = mw__file_get_calls()->fsync(dirfd(opened)) == 0;
    for (const struct dirent *entry; good && depth < DEEPEST && (entry = readdir(opened)) != NULL;) {
        const int inner = is_dots(entry->d_name) ? -1 : open_folder(dirfd(opened), entry->d_name);
        good = inner < 0 || sync_names(inner, depth + 1);
    }
    closedir(opened);
    return good;
}

/* ---- beginning ---- */

/* Where the path leads, if there is something, else the path without slashes at its end. NULL on failure. */
static char *resolve_target(const mw_allocator *allocator, const char *target, mw_error *err)
{
    char *real = realpath(target, NULL); /* the C library's memory, freed here */
    const char *from = real != NULL ? real : target;
    size_t length = strlen(from);
    while (length > 1 && from[length - 1] == '/')
        length--;
    char *out = mw__alloc(allocator, length + 1, 1, err);
    if (out != NULL)
        memcpy(out, from, length);
    free(real);
    return out;
}

/* Where the name in the path begins. */
static size_t name_offset(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? (size_t)(slash - path) + 1 : 0;
}

/* False with the reason in errno; EEXIST asks for the next attempt. */
static bool make_and_hold(mw__fresh_folder *folder)
{
    if (mkdir(folder->path, 0777) != 0)
        return false;
    folder->held = mw__stale_hold_folder(folder->path);
    if (folder->held >= 0)
        return true;
    const int why = errno;
    rmdir(folder->path);
    errno = why;
    return false;
}

static mw_status make_temporary(mw__fresh_folder *folder, mw_error *err)
{
    const size_t offset = name_offset(folder->target);
    folder->path = mw__alloc(folder->allocator, offset + MW__NAME_BYTES, 1, err);
    if (folder->path == NULL)
        return MW_ERROR_MEMORY;
    memcpy(folder->path, folder->target, offset);
    for (int i = 0; i < ATTEMPTS; i++) {
        mw__temporary_name(folder->path + offset, folder->target + offset, i);
        if (make_and_hold(folder))
            return MW_OK;
        if (errno != EEXIST)
            break;
    }
    mw__fail(err, MW_ERROR_FILE, "cannot make the folder \"%.300s\": %s", folder->path, strerror(errno));
    mw__free(folder->allocator, folder->path);
    folder->path = NULL;
    return MW_ERROR_FILE;
}

mw_status mw__fresh_folder_begin(mw__fresh_folder *folder, const mw_allocator *allocator, const char *target,
                                 mw_error *err)
{
    *folder = (mw__fresh_folder){.allocator = allocator, .held = -1};
    folder->target = resolve_target(allocator, target, err);
    if (folder->target == NULL)
        return MW_ERROR_MEMORY;
    mw__stale_sweep_beside(folder->target);
    return make_temporary(folder, err);
}

/* A folder that was zeroed has nothing. */
void mw__fresh_folder_deinit(mw__fresh_folder *folder)
{
    if (folder->path != NULL)
        mw__folder_remove(folder->path);
    if (folder->target != NULL && folder->held >= 0)
        close(folder->held);
    mw__free(folder->allocator, folder->path);
    mw__free(folder->allocator, folder->target);
    *folder = (mw__fresh_folder){0};
}

/* ---- placing ---- */

/* Exchanges two names at once; false where the system or file system cannot. */
static bool exchange(const char *a, const char *b)
{
#if defined(__linux__) && defined(SYS_renameat2)
    enum { EXCHANGE = 2 }; /* RENAME_EXCHANGE of linux/fs.h */
    return syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, EXCHANGE) == 0;
#elif defined(__APPLE__) && defined(RENAME_SWAP)
    return renamex_np(a, b, RENAME_SWAP) == 0;
#else
    (void)a;
    (void)b;
    return false;
#endif
}

static int rename_to(const char *from, const char *to) { return mw__file_get_calls()->rename(AT_FDCWD, from, to); }

/* The old folder aside, the new one in its place; if that fails, the old one back. */
static bool replace(const mw__fresh_folder *folder, char *aside)
{
    if (rename_to(folder->target, aside) != 0)
        return false;
    if (rename_to(folder->path, folder->target) == 0) {
        mw__folder_remove(aside);
        return true;
    }
    const int why = errno;
    rename_to(aside, folder->target);
    errno = why;
    return false;
}

static bool place(const mw__fresh_folder *folder, char *aside)
{
    if (rename_to(folder->path, folder->target) == 0) /* nothing there, or an empty folder */
        return true;
    if (errno != ENOTEMPTY && errno != EEXIST)
        return false;
    if (!exchange(folder->path, folder->target))
        return replace(folder, aside);
    mw__folder_remove(folder->path); /* the old one, by now */
    return true;
}

/* Makes the new name durable, in the folder that holds it; `path` is cut and given back. A failure is no error any
 * more, as the folder is in place. */
static void sync_parent(char *path)
{
    char *slash = strrchr(path, '/');
    char *cut = slash == path ? slash + 1 : slash;
    const char kept = cut != NULL ? *cut : '\0';
    if (cut != NULL)
        *cut = '\0';
    const int parent = mw__descriptor_above(open(cut != NULL ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (cut != NULL)
        *cut = kept;
    if (parent >= 0) {
        mw__file_get_calls()->fsync(parent);
        close(parent);
    }
}

mw_status mw__fresh_folder_commit(mw__fresh_folder *folder, mw_error *err)
{
    const size_t capacity = strlen(folder->path) + sizeof ".old";
    const int opened = open_folder(AT_FDCWD, folder->path);
    if (opened < 0 || !sync_names(opened, 0))
        return mw__fail(err, MW_ERROR_FILE, "cannot make \"%.300s\" durable: %s", folder->path, strerror(errno));
    char *aside = mw__alloc(folder->allocator, capacity, 1, err);
    if (aside == NULL)
        return MW_ERROR_MEMORY;
    snprintf(aside, capacity, "%s.old", folder->path);
    const bool placed = place(folder, aside);
    const int why = errno;
    mw__free(folder->allocator, aside);
    if (!placed)
        return mw__fail(err, MW_ERROR_FILE, "cannot replace \"%.300s\": %s", folder->target, strerror(why));
    sync_parent(folder->target);
    mw__free(folder->allocator, folder->path);
    folder->path = NULL;
    return MW_OK;
}

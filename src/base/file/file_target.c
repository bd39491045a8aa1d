/* Follows a path that is to be written to the folder and name at its end, one link at a time, each relative to the open
 * folder that holds it. Writes nothing. */
#include "base/file/file_target.h"
#include "base/file/descriptor.h"

#include "base/file/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { LINKS_MAX = 40, PATH_BYTES = 4096 }; /* as Linux; what is longer no call takes */

typedef struct walk {
    const char *given;      /* for messages */
    char path[PATH_BYTES];  /* what is left, relative to the folder */
    int folder;             /* open, or AT_FDCWD */
    bool linked;            /* a link was followed */
    bool known;             /* .. and led to a file then */
    struct stat first_seen; /* that file */
} walk;

static mw_status fail_walk(const walk *w, const char *why, mw_error *err)
{
    return mw__fail(err, MW_ERROR_FILE, "cannot replace \"%s\": %s", w->given, why);
}

static mw_status fail_with_reason(const walk *w, const char *what, mw_error *err)
{
    return mw__fail(err, MW_ERROR_FILE, "cannot %s \"%s\": %s", what, w->given, strerror(errno));
}

static const char *kind_of(mode_t mode)
{
    return S_ISDIR(mode)    ? "a folder"
           : S_ISFIFO(mode) ? "a FIFO"
           : S_ISSOCK(mode) ? "a socket"
           : S_ISCHR(mode)  ? "a character device"
           : S_ISBLK(mode)  ? "a block device"
                            : "of an unknown kind";
}

/* A rename would replace a device or FIFO by a file, and that of a folder fails only after all was written. */
static mw_status refuse_kind(const walk *w, mode_t mode, mw_error *err)
{
    return mw__fail(err, MW_ERROR_FILE, "cannot replace \"%s\": it %s %s, not a regular file", w->given,
                    w->linked ? "is a link to" : "is", kind_of(mode));
}

static void leave_walk(walk *w)
{
    if (w->folder != AT_FDCWD)
        mw__file_get_calls()->close(w->folder);
    w->folder = AT_FDCWD;
}

/* Opens the folder part of what is left; *out_name is the rest. */
static mw_status enter_folder(walk *w, const char **out_name, mw_error *err)
{
    char *slash = strrchr(w->path, '/');
    const char *name = slash == NULL ? w->path : slash + 1;
    const char *part = slash == NULL ? "." : slash == w->path ? "/" : w->path;
    if (name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return fail_walk(w, "it names a folder, not a regular file", err);
    if (slash != NULL)
        *slash = '\0';
    int opened;
    do
        opened =
            mw__descriptor_above(mw__file_get_calls()->open(w->folder, part, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0));
    while (opened < 0 && errno == EINTR);
    if (opened < 0)
        return fail_with_reason(w, "open the folder of", err);
    leave_walk(w);
    w->folder = opened;
    *out_name = name;
    return MW_OK;
}

/* Looks through the link before its text is read: /dev/stdout and the like lead to things that have no name. */
static mw_status look_through(walk *w, const char *name, mw_error *err)
{
    const bool again = w->linked;
    struct stat behind;
    w->linked = true;
    if (mw__file_get_calls()->stat(w->folder, name, &behind, true) != 0) {
        if (errno == ENOENT)
            return MW_OK; /* what it leads to will be made */
        return errno == ELOOP ? fail_walk(w, "its links form a loop", err)
                              : fail_with_reason(w, "follow the link", err);
    }
    if (!S_ISREG(behind.st_mode))
        return refuse_kind(w, behind.st_mode, err);
    if (!again) {
        w->known = true;
        w->first_seen = behind;
    }
    return MW_OK;
}

/* In a folder such as /tmp anybody can lay a link under a name that another is about to write (as Linux's
 * protected_symlinks, which sees only the links that the system follows). */
static mw_status check_owner(const walk *w, uid_t owner, mw_error *err)
{
    struct stat folder;
    if (mw__file_get_calls()->stat(w->folder, ".", &folder, false) != 0)
        return fail_with_reason(w, "examine the folder of", err);
    const mode_t shared = S_ISVTX | S_IWOTH;
    if ((folder.st_mode & shared) != shared || owner == geteuid() || owner == folder.st_uid)
        return MW_OK;
    return fail_walk(w, "it is a link that another user made in a folder that all may write to", err);
}

static mw_status follow_link(walk *w, const char *name, uid_t owner, mw_error *err)
{
    char text[PATH_BYTES];
    MW_TRY(check_owner(w, owner, err));
    MW_TRY(look_through(w, name, err));
    const long length = mw__file_get_calls()->readlink(w->folder, name, text, sizeof text);
    if (length < 0)
        return fail_with_reason(w, "read the link", err);
    if (length == 0 || length == (long)sizeof text)
        return fail_walk(w, "the path in its link is empty or too long", err);
    memcpy(w->path, text, (size_t)length);
    w->path[length] = '\0';
    return MW_OK;
}

/* The name that the links lead to must be the file that they open: one that was removed while it is open still has a
 * text in /proc, and so has a file of another name space. */
static mw_status finish_target(walk *w, const char *name, bool exists, mw__file_target *target,
                               const mw_allocator *allocator, mw_error *err)
{
    const struct stat *a = &w->first_seen, *b = &target->status;
    if (w->known && (!exists || a->st_dev != b->st_dev || a->st_ino != b->st_ino))
        return fail_walk(w, "it is a link to a file that has no such name here", err);
    target->name = mw__alloc(allocator, strlen(name) + 1, 1, err);
    if (target->name == NULL)
        return MW_ERROR_MEMORY;
    memcpy(target->name, name, strlen(name) + 1);
    target->exists = exists;
    target->folder = w->folder;
    return MW_OK;
}

static mw_status find_target(walk *w, mw__file_target *target, const mw_allocator *allocator, mw_error *err)
{
    for (int links = 0; links <= LINKS_MAX; links++) {
        const char *name = NULL;
        MW_TRY(enter_folder(w, &name, err));
        const bool exists = mw__file_get_calls()->stat(w->folder, name, &target->status, false) == 0;
        if (!exists && errno != ENOENT)
            return fail_with_reason(w, "examine", err);
        if (!exists || S_ISREG(target->status.st_mode))
            return finish_target(w, name, exists, target, allocator, err);
        if (!S_ISLNK(target->status.st_mode))
            return refuse_kind(w, target->status.st_mode, err);
        MW_TRY(follow_link(w, name, target->status.st_uid, err));
    }
    return fail_walk(w, "its links form a loop", err);
}

mw_status mw__file_target_find(mw__file_target *target, const mw_allocator *allocator, const char *path, mw_error *err)
{
    walk w = {.given = path, .folder = AT_FDCWD};
    *target = (mw__file_target){.folder = -1};
    const size_t length = strlen(path);
    if (length == 0 || length >= sizeof w.path)
        return mw__fail(err, MW_ERROR_FILE, "cannot write \"%.100s\": a path has 1 to %zu bytes, this has %zu", path,
                        sizeof w.path - 1, length);
    memcpy(w.path, path, length + 1);
    const mw_status status = find_target(&w, target, allocator, err);
    if (status != MW_OK)
        leave_walk(&w);
    return status;
}

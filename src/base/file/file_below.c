/* Opens files that other files name, without leaving the tree that they are in. Links are followed here, not by the
 * system: every component is opened relative to the open folder before it, and ".." goes back to the folder that the
 * walk came from, so that nothing can be exchanged under it. */
#include "base/file/descriptor.h"
#include "base/file/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COMPONENT_MAX = 255, PATH_BYTES = 4096, DEPTH_MAX = 64, LINKS_MAX = 40 };

/* What may be entered from a folder. */
typedef enum place {
    IN_TREE,      /* anything */
    IN_STORE,     /* "blobs" */
    IN_SNAPSHOTS, /* nothing: only the way back to the revision leads through it */
} place;

typedef struct level {
    int folder;
    place place;
} level;

typedef struct walk {
    const char *root, *name; /* as given */
    level levels[DEPTH_MAX]; /* the last is where the walk is */
    int depth;
    bool extended;         /* the levels begin with the store of a hub */
    char rest[PATH_BYTES]; /* to be walked */
    int links;
} walk;

static int open_at(int folder, const char *name, int flags)
{
    int descriptor;
    do
        descriptor = mw__descriptor_above(openat(folder, name, O_RDONLY | O_CLOEXEC | flags));
    while (descriptor < 0 && errno == EINTR);
    return descriptor;
}

static void leave_walk(walk *w)
{
    while (w->depth > 0)
        close(w->levels[--w->depth].folder);
}

static mw_status fail_with_reason(const walk *w, mw_error *err)
{
    return mw__fail(err, MW_ERROR_FILE, "cannot open \"%s\" below \"%s\": %s", w->name, w->root, strerror(errno));
}

static mw_status refuse_link(const walk *w, const char *how, mw_error *err)
{
    return mw__fail(err, MW_ERROR_FILE,
                    "cannot open \"%s\" below \"%s\": a link on its way %s; a model's files lie below its folder, or "
                    "in the blobs of the hub's cache that it is in (cp -RL makes a copy without links)",
                    w->name, w->root, how);
}

/* ---- names ---- */

/* Takes the next component off the rest; false if it is longer than any name. */
static bool take_component(walk *w, char out[COMPONENT_MAX + 1])
{
    const char *from = w->rest + strspn(w->rest, "/");
    const size_t length = strcspn(from, "/");
    if (length > COMPONENT_MAX)
        return false;
    memcpy(out, from, length);
    out[length] = '\0';
    memmove(w->rest, from + length, strlen(from + length) + 1);
    return true;
}

/* True for components with single slashes between them, none of which is "." or "..". */
static bool is_plain(const char *path)
{
    if (strlen(path) >= PATH_BYTES)
        return false;
    for (;;) {
        const size_t length = strcspn(path, "/");
        if (length == 0 || (length <= 2 && strncmp(path, "..", length) == 0))
            return false;
        path += length;
        if (*path++ == '\0')
            return true;
    }
}

/* ---- the cache of a hub ---- */

/* The last "/snapshots/" of the path that has a revision behind it; NULL if there is none. */
static char *find_snapshots(char *path)
{
    char *found = NULL;
    for (char *at = path; (at = strstr(at, "/snapshots/")) != NULL; at++)
        if (at[sizeof "/snapshots/" - 1] != '\0')
            found = at;
    return found;
}

/* Opens the folders from the store down to the root; *out_count is 0 unless the last is the root. */
static void open_store(const walk *w, char *store, char *below, level out[DEPTH_MAX], int *out_count)
{
    struct stat here, there;
    int count = 0, opened = open_at(AT_FDCWD, store, O_DIRECTORY);
    char *saved = NULL;
    for (char *part = strtok_r(below, "/", &saved); opened >= 0 && part != NULL && count < DEPTH_MAX - 1;) {
        out[count] = (level){opened, count == 0 ? IN_STORE : count == 1 ? IN_SNAPSHOTS : IN_TREE};
        opened = open_at(out[count++].folder, part, O_DIRECTORY | O_NOFOLLOW);
        part = strtok_r(NULL, "/", &saved);
    }
    const bool same = opened >= 0 && fstat(opened, &here) == 0 && fstat(w->levels[0].folder, &there) == 0 &&
                      here.st_dev == there.st_dev && here.st_ino == there.st_ino;
    if (opened >= 0)
        close(opened);
    while (!same && count > 0)
        close(out[--count].folder);
    *out_count = count;
}

/* Puts the levels above the root under it, at the first link that leads there; false if there are none. */
static bool extend(walk *w)
{
    level above[DEPTH_MAX];
    int count = 0;
    char *path = w->extended ? NULL : realpath(w->root, NULL);
    char *snapshots = path != NULL ? find_snapshots(path) : NULL;
    w->extended = true;
    if (snapshots != NULL) {
        *snapshots = '\0';
        open_store(w, snapshots == path ? "/" : path, snapshots + 1, above, &count);
    }
    free(path);
    if (count == 0 || count + w->depth > DEPTH_MAX) {
        while (count > 0)
            close(above[--count].folder);
        return false;
    }
    memmove(w->levels + count, w->levels, (size_t)w->depth * sizeof *w->levels);
    memcpy(w->levels, above, (size_t)count * sizeof *above);
    w->depth += count;
    return true;
}

/* ---- the walk ---- */

static mw_status go_up(walk *w, mw_error *err)
{
    if (w->depth == 1 && !extend(w))
        return refuse_link(w, "leads out of this folder", err);
    close(w->levels[--w->depth].folder);
    return MW_OK;
}

/* Puts the text of a link before the rest. *out_is_link is false if the component is none. */
static mw_status follow_link(walk *w, const char *component, bool *out_is_link, mw_error *err)
{
    char text[PATH_BYTES];
    const ssize_t length = readlinkat(w->levels[w->depth - 1].folder, component, text, sizeof text);
    *out_is_link = length >= 0;
    if (length < 0)
        return errno == EINVAL ? MW_OK : fail_with_reason(w, err);
    const size_t rest = strlen(w->rest);
    if (w->links++ == LINKS_MAX)
        return refuse_link(w, "is part of a loop", err);
    if (length > 0 && text[0] == '/')
        return refuse_link(w, "is absolute", err);
    if (length == 0 || (size_t)length + rest >= sizeof w->rest)
        return refuse_link(w, "is empty or too long", err);
    memmove(w->rest + length, w->rest, rest + 1);
    memcpy(w->rest, text, (size_t)length);
    return MW_OK;
}

static bool may_enter(const walk *w, const char *component)
{
    const place here = w->levels[w->depth - 1].place;
    return here == IN_TREE || (here == IN_STORE && strcmp(component, "blobs") == 0);
}

static mw_status enter_component(walk *w, const char *component, mw_error *err)
{
    if (w->depth == DEPTH_MAX)
        return refuse_link(w, "leads too deep", err);
    const int opened = open_at(w->levels[w->depth - 1].folder, component, O_DIRECTORY | O_NOFOLLOW);
    if (opened < 0)
        return fail_with_reason(w, err);
    w->levels[w->depth++] = (level){opened, IN_TREE};
    return MW_OK;
}

static mw_status open_last(walk *w, const char *component, mw__file *file, mw_error *err)
{
    const int opened = open_at(w->levels[w->depth - 1].folder, component, O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    return opened >= 0 ? mw__file_adopt(file, opened, w->name, err) : fail_with_reason(w, err);
}

/* One component; the file is open when there are no more. */
static mw_status step(walk *w, mw__file *file, mw_error *err)
{
    char component[COMPONENT_MAX + 1];
    if (!take_component(w, component)) {
        errno = ENAMETOOLONG;
        return fail_with_reason(w, err);
    }
    if (strcmp(component, "..") == 0)
        return go_up(w, err);
    if (component[0] == '\0' || strcmp(component, ".") == 0)
        return MW_OK;
    if (!may_enter(w, component))
        return refuse_link(w, "leads out of this model's part of the hub's cache", err);
    bool is_link = false;
    if (w->levels[w->depth - 1].place == IN_TREE)
        MW_TRY(follow_link(w, component, &is_link, err));
    if (is_link)
        return MW_OK;
    return w->rest[0] != '\0' ? enter_component(w, component, err) : open_last(w, component, file, err);
}

mw_status mw__file_open_below(mw__file *file, const char *root, const char *name, mw_error *err)
{
    walk w = {.root = root, .name = name};
    *file = (mw__file){.descriptor = -1};
    if (!is_plain(name))
        return mw__fail(err, MW_ERROR_FILE, "\"%s\" is not a plain path below \"%s\" (relative, without \"..\")", name,
                        root);
    const int opened = open_at(AT_FDCWD, root, O_DIRECTORY);
    if (opened < 0)
        return mw__fail(err, MW_ERROR_FILE, "cannot open the folder \"%s\": %s", root, strerror(errno));
    w.levels[w.depth++] = (level){opened, IN_TREE};
    snprintf(w.rest, sizeof w.rest, "%s", name);
    mw_status status = MW_OK;
    while (status == MW_OK && file->descriptor < 0 && w.rest[0] != '\0')
        status = step(&w, file, err);
    if (status == MW_OK && file->descriptor < 0)
        status = mw__fail(err, MW_ERROR_FILE, "cannot read \"%s\" below \"%s\": it is not a regular file", name, root);
    leave_walk(&w);
    return status;
}

mw_status mw__file_open_in_folder(mw__file *file, const char *path, mw_error *err)
{
    char folder[PATH_BYTES];
    const char *slash = strrchr(path, '/');
    const size_t length = slash == NULL ? 0 : slash == path ? 1 : (size_t)(slash - path);
    if (length >= sizeof folder)
        return mw__fail(err, MW_ERROR_FILE, "cannot open \"%.100s\": %s", path, strerror(ENAMETOOLONG));
    memcpy(folder, path, length);
    folder[length] = '\0';
    return mw__file_open_below(file, length > 0 ? folder : ".", slash != NULL ? slash + 1 : path, err);
}

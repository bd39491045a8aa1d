#include "engine/cache/bound.h"

#include "base/file/descriptor.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct stored {
    char *folder;
    int64_t seconds, nanoseconds; /* of its last use */
    uint64_t bytes;
} stored;

typedef struct survey {
    const mw_allocator *allocator;
    const char *kept;  /* or NULL */
    const char *model; /* whose entries go at once, or NULL */
    stored *list;
    size_t count, capacity;
    bool incomplete; /* for want of memory: then nothing is removed */
} survey;

typedef void visitor(survey *s, const char *folder);

/* "<64 hexadecimal digits>" */
static bool is_key(const char *name)
{
    return strlen(name) == MW__DIGEST_HEX - 1 && strspn(name, "0123456789abcdef") == MW__DIGEST_HEX - 1;
}

static bool is_build(const char *name) { return strncmp(name, "millwright-", 11) == 0; }

static char *join_path(const survey *s, const char *folder, const char *name)
{
    mw__text path;
    mw__text_init(&path, s->allocator);
    mw__text_puts(&path, folder);
    mw__text_puts(&path, "/");
    mw__text_puts(&path, name);
    if (!path.failed)
        return path.data;
    mw__text_deinit(&path);
    return NULL;
}

/* Folders of such names in the folder; links are none. */
static void for_each(survey *s, const char *folder, bool (*wanted)(const char *name), visitor *visit)
{
    const int descriptor = mw__descriptor_above(open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    DIR *opened = descriptor >= 0 ? fdopendir(descriptor) : NULL;
    if (opened == NULL) {
        if (descriptor >= 0)
            close(descriptor);
        return;
    }
    for (const struct dirent *entry; (entry = readdir(opened)) != NULL;) {
        struct stat status;
        if (!wanted(entry->d_name) || fstatat(descriptor, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISDIR(status.st_mode))
            continue;
        char *path = join_path(s, folder, entry->d_name);
        if (path == NULL)
            s->incomplete = true;
        else
            visit(s, path);
        mw__free(s->allocator, path);
    }
    closedir(opened);
}

/* ---- sizes ---- */

static uint64_t bytes_in(int folder, const char *name, int depth)
{
    uint64_t bytes = 0;
    const int descriptor = mw__descriptor_above(openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    DIR *opened = descriptor >= 0 ? fdopendir(descriptor) : NULL;
    if (opened == NULL) {
        if (descriptor >= 0)
            close(descriptor);
        return 0;
    }
    for (const struct dirent *entry; (entry = readdir(opened)) != NULL;) {
        struct stat status;
        if (fstatat(descriptor, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (S_ISREG(status.st_mode)) /* two names of one file are one */
            bytes += (uint64_t)status.st_size / (status.st_nlink > 0 ? (uint64_t)status.st_nlink : 1);
        else if (S_ISDIR(status.st_mode) && entry->d_name[0] != '.' && depth > 0)
            bytes += bytes_in(descriptor, entry->d_name, depth - 1);
    }
    closedir(opened);
    return bytes;
}

/* ---- entries ---- */

static bool find_use(const survey *s, const char *folder, stored *out)
{
    struct stat status;
    char *manifest = join_path(s, folder, MW__ENTRY_MANIFEST);
    const bool found = manifest != NULL && lstat(manifest, &status) == 0 && S_ISREG(status.st_mode);
    mw__free(s->allocator, manifest);
    if (!found)
        return false;
#if defined(__APPLE__)
    out->seconds = (int64_t)status.st_mtimespec.tv_sec;
    out->nanoseconds = (int64_t)status.st_mtimespec.tv_nsec;
#else
    out->seconds = (int64_t)status.st_mtim.tv_sec;
    out->nanoseconds = (int64_t)status.st_mtim.tv_nsec;
#endif
    return true;
}

static void note_folder(survey *s, const char *folder)
{
    stored found = {.bytes = bytes_in(AT_FDCWD, folder, 1)};
    mw_error ignored = {0};
    if (!find_use(s, folder, &found)) {
        if (s->kept == NULL || strcmp(folder, s->kept) != 0)
            mw__entry_remove(folder, s->allocator);
        return;
    }
    if (mw__grow(s->allocator, &s->list, &s->capacity, s->count + 1, sizeof *s->list, &ignored) == MW_OK)
        found.folder = mw__alloc(s->allocator, strlen(folder) + 1, 1, &ignored);
    if (found.folder == NULL) {
        s->incomplete = true;
        return;
    }
    memcpy(found.folder, folder, strlen(folder));
    s->list[s->count++] = found;
}

static void note_build(survey *s, const char *folder)
{
    for_each(s, folder, is_key, note_folder);
    rmdir(folder); /* of an old build, once it is empty */
}

static int by_use(const void *left, const void *right)
{
    const stored *a = left, *b = right;
    if (a->seconds != b->seconds)
        return a->seconds < b->seconds ? -1 : 1;
    return a->nanoseconds < b->nanoseconds ? -1 : a->nanoseconds > b->nanoseconds;
}

bool mw__cache_keep_bounds(const mw_allocator *allocator, const char *location, const mw__config *config,
                           const char *kept)
{
    survey s = {.allocator = allocator, .kept = kept};
    for_each(&s, location, is_build, note_build);
    uint64_t bytes = 0;
    size_t count = s.count;
    for (size_t i = 0; i < s.count; i++)
        bytes += s.list[i].bytes;
    if (s.count > 0)
        qsort(s.list, s.count, sizeof *s.list, by_use);
    for (size_t i = 0; i < s.count && !s.incomplete; i++) {
        if (count <= config->cache_entries && bytes <= config->cache_bytes)
            break;
        if (kept != NULL && strcmp(s.list[i].folder, kept) == 0)
            continue;
        mw__entry_remove(s.list[i].folder, allocator);
        bytes -= s.list[i].bytes;
        count--;
    }
    const bool fits = kept == NULL || bytes <= config->cache_bytes;
    if (!fits)
        mw__entry_remove(kept, allocator);
    for (size_t i = 0; i < s.count; i++)
        mw__free(allocator, s.list[i].folder);
    mw__free(allocator, s.list);
    return fits;
}

/* ---- purging ---- */

/* One that is damaged serves nobody, and goes with its next compilation. */
static void purge(survey *s, const char *folder)
{
    mw__cache_entry entry;
    mw__record_line model;
    if (!mw__entry_open(&entry, s->allocator, folder, NULL))
        return;
    const bool same = mw__entry_find(&entry, "model", &model) && model.length == strlen(s->model) &&
                      memcmp(model.value, s->model, model.length) == 0;
    mw__entry_deinit(&entry);
    if (same)
        mw__entry_remove(folder, s->allocator);
}

static void purge_build(survey *s, const char *folder) { for_each(s, folder, is_key, purge); }

void mw__cache_purge_model(const mw_allocator *allocator, const char *location, const char *model)
{
    survey s = {.allocator = allocator, .model = model};
    for_each(&s, location, is_build, purge_build);
}

/* Reading, naming and removing entries; entry_store.c writes them. */
#include "engine/cache/entry.h"
#include "engine/cache/sum.h"

#include "base/file/file.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MANIFEST_MAX = 1 << 20 };

static char *join_path(const mw_allocator *allocator, const char *a, const char *b, const char *c)
{
    mw__text path;
    mw__text_init(&path, allocator);
    mw__text_puts(&path, a);
    for (int i = 0; i < 2; i++) {
        const char *part = i == 0 ? b : c;
        if (part != NULL) {
            mw__text_puts(&path, "/");
            mw__text_puts(&path, part);
        }
    }
    if (!path.failed)
        return path.data;
    mw__text_deinit(&path);
    return NULL;
}

char *mw__entry_folder(const mw_allocator *allocator, const char *location, const char *key, mw_error *err)
{
    char *folder = join_path(allocator, location, mw__cache_engine_build(), key);
    if (folder == NULL)
        mw__fail(err, MW_ERROR_MEMORY, "no memory for the path of a bundle");
    return folder;
}

/* ---- reading ---- */

/* The manifest up to its last line, which is the sum of what stands before. */
static bool check_sum(mw__cache_entry *entry)
{
    mw__record_line sum;
    char actual[MW__SUM_HEX];
    size_t at = 0, last = 0;
    while (at < entry->manifest_size) {
        last = at;
        if (!mw__record_next(entry->manifest, entry->manifest_size, &at, &sum))
            return false;
    }
    if (entry->manifest_size == 0 || sum.name_length != 3 || memcmp(sum.name, "sum", 3) != 0)
        return false;
    mw__cache_sum_text(mw__cache_sum_of(entry->manifest, last), actual);
    entry->manifest_size = last;
    return sum.length == strlen(actual) && memcmp(sum.value, actual, sum.length) == 0;
}

/* "size sum name" */
static bool check_file(mw__cache_entry *entry, const mw__record_line *line)
{
    char name[256], actual[MW__SUM_LINE];
    const char *space = memchr(line->value, ' ', line->length);
    space = space != NULL ? memchr(space + 1, ' ', line->length - (size_t)(space + 1 - line->value)) : NULL;
    const size_t length = space != NULL ? line->length - (size_t)(space + 1 - line->value) : 0;
    if (length == 0 || length >= sizeof name)
        return false;
    memcpy(name, space + 1, length);
    name[length] = '\0';
    uint64_t bytes;
    if (!mw__cache_sum_file(entry->allocator, entry->folder, name, actual, &bytes))
        return false;
    entry->bytes += bytes;
    const size_t head = (size_t)(space - line->value);
    return strlen(actual) == head && memcmp(actual, line->value, head) == 0;
}

static bool check_files(mw__cache_entry *entry)
{
    mw__record_line line;
    size_t count = 0;
    for (size_t at = 0; at < entry->manifest_size;) {
        if (!mw__record_next(entry->manifest, entry->manifest_size, &at, &line))
            return false;
        if (line.name_length != 4 || memcmp(line.name, "file", 4) != 0)
            continue;
        if (!check_file(entry, &line))
            return false;
        count++;
    }
    return count >= 2; /* the text and the analytics */
}

bool mw__entry_find(const mw__cache_entry *entry, const char *name, mw__record_line *out)
{
    return mw__record_find(entry->manifest, entry->manifest_size, name, out);
}

static bool read_entry(mw__cache_entry *entry, const mw__text *record)
{
    mw_error ignored = {0};
    mw__file file;
    if (mw__file_open_below(&file, entry->folder, MW__ENTRY_MANIFEST, &ignored) != MW_OK)
        return false;
    const bool read = mw__file_read_open(entry->allocator, &file, MW__ENTRY_MANIFEST, MANIFEST_MAX, &entry->manifest,
                                         &ignored) == MW_OK;
    entry->manifest_size = read ? (size_t)file.size : 0;
    entry->bytes = entry->manifest_size;
    mw__file_close(&file);
    if (!read || !check_sum(entry))
        return false;
    if (record != NULL &&
        (entry->manifest_size < record->size || memcmp(entry->manifest, record->data, record->size) != 0))
        return false;
    return check_files(entry);
}

bool mw__entry_open(mw__cache_entry *entry, const mw_allocator *allocator, const char *folder, const mw__text *record)
{
    *entry = (mw__cache_entry){.allocator = allocator, .folder = join_path(allocator, folder, NULL, NULL)};
    if (entry->folder != NULL && read_entry(entry, record))
        return true;
    mw__entry_deinit(entry);
    return false;
}

void mw__entry_deinit(mw__cache_entry *entry)
{
    mw__free(entry->allocator, entry->folder);
    mw__free(entry->allocator, entry->manifest);
    *entry = (mw__cache_entry){0};
}

/* ---- using and removing ---- */

void mw__entry_touch(const char *folder, const mw_allocator *allocator)
{
    char *path = join_path(allocator, folder, MW__ENTRY_MANIFEST, NULL);
    if (path != NULL)
        utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW); /* who may not write it does not count as a user */
    mw__free(allocator, path);
}

void mw__entry_remove(const char *folder, const mw_allocator *allocator)
{
    char *manifest = join_path(allocator, folder, MW__ENTRY_MANIFEST, NULL);
    char *weights = join_path(allocator, folder, "weights", NULL);
    if (manifest != NULL && weights != NULL) {
        unlink(manifest);
        mw__file_remove_folder(weights);
        mw__file_remove_folder(folder);
    }
    mw__free(allocator, weights);
    mw__free(allocator, manifest);
}

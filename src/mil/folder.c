/* Replaces a model in its folder: new weights under a new name, the text renamed over the old one, then the old weights
 * removed. */
#include "mil/folder.h"

#include "base/file/descriptor.h"

#include "mil/text/print.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define HASHED_PREFIX "weight-"
#define HASHED_SUFFIX ".bin"
enum { HASH_DIGITS = 16, HASHED_LENGTH = sizeof HASHED_PREFIX + HASH_DIGITS + sizeof HASHED_SUFFIX - 2 };

typedef struct replacement {
    const mw_allocator *allocator;
    const char *folder;
    const mw__text *text;
    const mw__blob_list *blobs;
    bool durable;
    int descriptor;       /* of the folder; holds the lock */
    bool had_text;        /* there is a model.mil */
    bool old_names_plain; /* .. that names weights/weight.bin */
    bool found;           /* the new weight file was there before, with the same content */
    char name[sizeof MW__BLOB_FOLDER "/" + HASHED_LENGTH]; /* of the new weight file */
} replacement;

/* ---- the folder ---- */

static mw_status make_folders(const replacement *r, mw_error *err)
{
    return r->blobs->count > 0 ? mw__blob_make_folder(r->allocator, r->folder, err)
                               : mw__file_make_folders(r->folder, err);
}

/* Others hold the lock for as long as a save takes. A file system without locks is no reason to save nothing. */
static mw_status lock_folder(const replacement *r, mw_error *err)
{
    enum { WAIT_MS = 60 * 1000 };
    if (mw__file_lock_within(r->descriptor, WAIT_MS) || errno != EWOULDBLOCK)
        return MW_OK;
    return mw__fail(err, MW_ERROR_FILE,
                    "the model in \"%s\" was not replaced: another process has been writing it for a minute",
                    r->folder);
}

static mw_status open_folder(replacement *r, mw_error *err)
{
    do
        r->descriptor = mw__descriptor_above(
            mw__file_get_calls()->open(AT_FDCWD, r->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0));
    while (r->descriptor < 0 && errno == EINTR);
    if (r->descriptor < 0)
        return mw__fail(err, MW_ERROR_FILE, "cannot open the folder \"%s\": %s", r->folder, strerror(errno));
    return lock_folder(r, err);
}

static mw_status exists(const replacement *r, const char *name, bool *out, mw_error *err)
{
    struct stat status;
    *out = mw__file_get_calls()->stat(r->descriptor, name, &status, false) == 0;
    if (*out || errno == ENOENT || errno == ENOTDIR)
        return MW_OK;
    return mw__fail(err, MW_ERROR_FILE, "cannot examine \"%s/%s\": %s", r->folder, name, strerror(errno));
}

/* Reads the old text in pieces; one that cannot be read keeps its weights. */
static bool old_text_names(const replacement *r, const char *name)
{
    enum { PIECE = 65536 };
    char buffer[PIECE];
    const size_t length = strlen(name);
    size_t kept = 0;
    bool found = false;
    const int opened =
        mw__descriptor_above(openat(r->descriptor, "model.mil", O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    while (opened >= 0 && !found) {
        const ssize_t got = read(opened, buffer + kept, sizeof buffer - kept);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        const size_t size = kept + (size_t)got;
        for (const char *at = buffer; !found && (size_t)(buffer + size - at) >= length; at++) {
            at = memchr(at, name[0], (size_t)(buffer + size - at) - length + 1);
            if (at == NULL)
                break;
            found = memcmp(at, name, length) == 0;
        }
        kept = size < length ? size : length - 1;
        memmove(buffer, buffer + size - kept, kept);
    }
    if (opened >= 0)
        close(opened);
    return found;
}

/* ---- writing ---- */

static mw_status choose_name(replacement *r, mw_error *err)
{
    bool plain;
    MW_TRY(exists(r, "model.mil", &r->had_text, err));
    MW_TRY(exists(r, MW__WEIGHT_FILE, &plain, err));
    r->old_names_plain = r->had_text && plain && old_text_names(r, "\"@model_path/" MW__WEIGHT_FILE "\"");
    if (r->blobs->count == 0 || (!r->had_text && !plain)) {
        snprintf(r->name, sizeof r->name, "%s", MW__WEIGHT_FILE);
        return MW_OK;
    }
    snprintf(r->name, sizeof r->name, MW__BLOB_FOLDER "/" HASHED_PREFIX "%016" PRIx64 HASHED_SUFFIX,
             mw__blob_list_hash(r->blobs));
    return exists(r, r->name, &r->found, err);
}

/* The text with the name of the weight file at every place. */
static mw_status name_weights(const replacement *r, mw__text *out, mw_error *err)
{
    const char *from = r->text->data, *end = from + r->text->size;
    for (size_t i = 0; i < r->blobs->place_count; i++) {
        const char *at = strstr(r->text->data + r->blobs->places[i], MW__WEIGHT_FILE);
        mw__text_append(out, from, (size_t)(at - from));
        mw__text_puts(out, r->name);
        from = at + sizeof MW__WEIGHT_FILE - 1;
    }
    mw__text_append(out, from, (size_t)(end - from));
    return mw__text_check(out, err);
}

static mw_status write_weights(const replacement *r, mw_error *err)
{
    mw__text path;
    mw__text_init(&path, r->allocator);
    mw__text_printf(&path, "%s/%s", r->folder, r->name);
    mw_status status = mw__text_check(&path, err);
    if (status == MW_OK)
        status = mw__blob_list_write(r->blobs, path.data, r->durable, err);
    mw__text_deinit(&path);
    return status;
}

/* *out_placed also when the text is in place and only the fsync of its folder failed. */
static mw_status put_text(const replacement *r, const char *path, const mw__text *text, bool *out_placed, mw_error *err)
{
    mw__file_writer writer;
    mw_status status = mw__file_writer_begin(&writer, r->allocator, path, r->durable, err);
    if (status == MW_OK)
        status = mw__file_writer_write(&writer, text->data, text->size, err);
    if (status == MW_OK)
        status = mw__file_writer_commit(&writer, err);
    *out_placed = writer.placed;
    return status;
}

static mw_status write_text(const replacement *r, bool *out_placed, mw_error *err)
{
    mw__text path, text;
    mw__text_init(&path, r->allocator);
    mw__text_init(&text, r->allocator);
    mw__text_printf(&path, "%s/model.mil", r->folder);
    mw_status status = mw__text_check(&path, err);
    if (status == MW_OK)
        status = name_weights(r, &text, err);
    if (status == MW_OK)
        status = put_text(r, path.data, &text, out_placed, err);
    mw__text_deinit(&text);
    mw__text_deinit(&path);
    return status;
}

/* ---- what the new text does not name ---- */

static bool is_hashed_name(const char *name)
{
    const size_t prefix = sizeof HASHED_PREFIX - 1;
    return strlen(name) == HASHED_LENGTH && memcmp(name, HASHED_PREFIX, prefix) == 0 &&
           strspn(name + prefix, "0123456789abcdef") == HASH_DIGITS &&
           strcmp(name + prefix + HASH_DIGITS, HASHED_SUFFIX) == 0;
}

static void remove_old_weights(const replacement *r)
{
    const char *kept = r->blobs->count > 0 ? r->name + sizeof MW__BLOB_FOLDER : "";
    const int opened = mw__descriptor_above(openat(r->descriptor, MW__BLOB_FOLDER, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    DIR *weights = opened >= 0 ? fdopendir(opened) : NULL;
    if (weights == NULL) {
        if (opened >= 0)
            close(opened);
        return;
    }
    for (const struct dirent *entry; (entry = readdir(weights)) != NULL;) {
        const bool plain = strcmp(entry->d_name, &MW__WEIGHT_FILE[sizeof MW__BLOB_FOLDER]) == 0;
        if (strcmp(entry->d_name, kept) != 0 && (plain ? r->old_names_plain : is_hashed_name(entry->d_name)))
            mw__file_get_calls()->unlink(opened, entry->d_name);
    }
    closedir(weights);
}

/* Weights whose text did not come; the old text may name a file of the same content. */
static mw_status replace(replacement *r, mw_error *err)
{
    const bool weights = r->blobs->count > 0;
    bool placed = false;
    MW_TRY(choose_name(r, err));
    mw_status status = weights ? write_weights(r, err) : MW_OK;
    if (status == MW_OK)
        status = write_text(r, &placed, err);
    if (status == MW_OK && r->had_text)
        remove_old_weights(r);
    else if (status != MW_OK && !placed && weights && !r->found)
        mw__file_get_calls()->unlink(r->descriptor, r->name);
    return status;
}

mw_status mw__mil_write_folder(const mw_allocator *allocator, const char *folder, const mw__text *text,
                               const mw__blob_list *blobs, bool durable, mw_error *err)
{
    replacement r = {
        .allocator = allocator, .folder = folder, .text = text, .blobs = blobs, .durable = durable, .descriptor = -1};
    MW_TRY(make_folders(&r, err));
    mw_status status = open_folder(&r, err);
    if (status == MW_OK)
        status = replace(&r, err);
    if (r.descriptor >= 0) {
        flock(r.descriptor, LOCK_UN); /* a forked child may hold the descriptor, and with it the lock */
        mw__file_get_calls()->close(r.descriptor);
    }
    return status;
}

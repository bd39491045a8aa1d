/* Writing an entry: under the lock of its location, the manifest last. */
#include "engine/cache/analytics.h"
#include "engine/cache/bound.h"
#include "engine/cache/sum.h"

#include "base/file/descriptor.h"
#include "base/file/file.h"
#include "mil/io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct store {
    const mw_allocator *allocator;
    const char *location, *folder;
    const mw__entry_content *content;
    mw__text manifest;
} store;

/* ---- the lock ---- */

/* *out = -1 where there are no locks: then writers may meet, and what they leave is read as damaged at worst. */
static mw_status take_lock(const store *s, int *out, mw_error *err)
{
    enum { WAIT_MS = 5000 };
    mw__text path;
    mw__text_init(&path, s->allocator);
    mw__text_puts(&path, s->location);
    mw__text_puts(&path, "/lock");
    *out = path.failed
               ? -1
               : mw__descriptor_above(open(path.data, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666));
    mw__text_deinit(&path);
    if (*out < 0 || mw__file_lock_within(*out, WAIT_MS) || errno != EWOULDBLOCK)
        return MW_OK;
    close(*out);
    *out = -1;
    return mw__fail(err, MW_ERROR_FILE, "another process has held the lock \"%s/lock\" for %d s", s->location,
                    WAIT_MS / 1000);
}

/* ---- the files ---- */

/* A name that was made is durable once its folder is. */
static void sync_folder(const char *path)
{
    const int descriptor = mw__descriptor_above(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (descriptor < 0)
        return;
    while (mw__file_get_calls()->fsync(descriptor) != 0 && errno == EINTR) {
    }
    close(descriptor);
}

static mw_status make_folder(const store *s, mw_error *err)
{
    char *build = mw__alloc(s->allocator, strlen(s->folder) + 1, 1, err);
    if (build == NULL)
        return MW_ERROR_MEMORY;
    memcpy(build, s->folder, (size_t)(strrchr(s->folder, '/') - s->folder));
    const mw_status status = mw__file_make_folders(s->folder, err);
    if (status == MW_OK) {
        sync_folder(build);
        sync_folder(s->location);
    }
    mw__free(s->allocator, build);
    return status;
}

/* What was planned is no longer what the text says, so that it is read once more. */
static mw_status write_graph(const store *s, mw_graph *graph, mw_error *err)
{
    const mw_write_options options = mw_write_defaults();
    const mw__entry_content *content = s->content;
    mw__arena arena;
    mw__analytics analytics;
    MW_TRY(mw__keep_entry_points(graph, content->options, err));
    MW_TRY(mw__mil_load_blobs(graph, content->source->folder, content->options->owned, err));
    mw__arena_init(&arena, s->allocator);
    mw_status status = mw__analytics_make(content->library, &arena, &analytics, err);
    if (status == MW_OK)
        status = mw__analytics_annotate(&analytics, graph, err);
    if (status == MW_OK)
        status = mw__mil_write(graph, s->folder, &options, MW__WRITE_DURABLE, NULL, err);
    mw__arena_deinit(&arena);
    return status;
}

/* Weights that somebody changes while they are read are not what the key says. */
static mw_status check_weights(const store *s, mw_error *err)
{
    char model[MW__DIGEST_HEX];
    bool made;
    if (s->content->key->weights == 0 || s->content->options->owned)
        return MW_OK;
    MW_TRY(mw__key_make_model(s->content->source, model, &made, err));
    return made && strcmp(model, s->content->key->model) == 0
               ? MW_OK
               : mw__fail(err, MW_ERROR_FILE, "its weights changed while it was compiled");
}

static mw_status write_model(const store *s, mw_error *err)
{
    mw_graph_options options = mw_graph_defaults();
    options.allocator = s->allocator;
    mw_graph *graph = mw_graph_parse_mil(s->content->source->text, s->content->source->size, NULL, &options, err);
    if (graph == NULL)
        return err->status;
    mw_status status = write_graph(s, graph, err);
    mw__graph_free(graph);
    return status == MW_OK ? check_weights(s, err) : status;
}

/* The text under its second name; a copy where there are no links. */
static mw_status name_analytics(const store *s, mw_error *err)
{
    mw__text from, to;
    mw__text_init(&from, s->allocator);
    mw__text_init(&to, s->allocator);
    mw__text_puts(&from, s->folder);
    mw__text_puts(&from, "/model.mil");
    mw__text_puts(&to, s->folder);
    mw__text_puts(&to, "/" MW__ENTRY_ANALYTICS);
    mw_status status = mw__text_check(&from, err);
    if (status == MW_OK)
        status = mw__text_check(&to, err);
    if (status == MW_OK && mw__file_get_calls()->link(from.data, to.data) != 0) {
        char *text = NULL;
        size_t size = 0;
        status = mw__file_read(s->allocator, from.data, SIZE_MAX, &text, &size, err);
        if (status == MW_OK)
            status = mw__file_write(s->allocator, to.data, text, size, true, err);
        mw__free(s->allocator, text);
    }
    mw__text_deinit(&from);
    mw__text_deinit(&to);
    return status;
}

/* ---- the manifest ---- */

static mw_status add_file(store *s, const char *name, mw_error *err)
{
    char line[MW__SUM_LINE + 300], sum[MW__SUM_LINE];
    uint64_t bytes;
    if (strlen(name) > 200 || !mw__cache_sum_file(s->allocator, s->folder, name, sum, &bytes))
        return mw__fail(err, MW_ERROR_FILE, "cannot read \"%s\" of bundle \"%s\"", name, s->folder);
    snprintf(line, sizeof line, "%s %s", sum, name);
    mw__record_put(&s->manifest, "file", line);
    return MW_OK;
}

static mw_status add_weights(store *s, mw_error *err)
{
    mw__text path;
    mw_status status = MW_OK;
    mw__text_init(&path, s->allocator);
    mw__text_puts(&path, s->folder);
    mw__text_puts(&path, "/weights");
    const int descriptor = path.failed ? -1 : mw__descriptor_above(open(path.data, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    DIR *opened = descriptor >= 0 ? fdopendir(descriptor) : NULL;
    if (opened == NULL && descriptor >= 0)
        close(descriptor);
    mw__text_deinit(&path);
    for (const struct dirent *entry; status == MW_OK && opened != NULL && (entry = readdir(opened)) != NULL;) {
        char name[300];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(name, sizeof name, "weights/%s", entry->d_name);
        status = add_file(s, name, err);
    }
    if (opened != NULL)
        closedir(opened);
    return status;
}

static mw_status write_manifest(store *s, mw_error *err)
{
    char sum[MW__SUM_HEX];
    const mw__entry_content *content = s->content;
    mw__text_append(&s->manifest, content->key->record.data, content->key->record.size);
    mw__record_put(&s->manifest, "model", content->key->model);
    mw__record_put(&s->manifest, "backend", mw__backend_of(content->library));
    MW_TRY(add_file(s, "model.mil", err));
    MW_TRY(add_file(s, MW__ENTRY_ANALYTICS, err));
    MW_TRY(add_weights(s, err));
    MW_TRY(mw__text_check(&s->manifest, err));
    mw__cache_sum_text(mw__cache_sum_of(s->manifest.data, s->manifest.size), sum);
    mw__record_put(&s->manifest, "sum", sum);
    mw__text path;
    mw__text_init(&path, s->allocator);
    mw__text_puts(&path, s->folder);
    mw__text_puts(&path, "/" MW__ENTRY_MANIFEST);
    mw_status status = mw__text_check(&path, err);
    if (status == MW_OK)
        status = mw__text_check(&s->manifest, err);
    if (status == MW_OK)
        status = mw__file_write(s->allocator, path.data, s->manifest.data, s->manifest.size, true, err);
    mw__text_deinit(&path);
    return status;
}

/* ---- all of it ---- */

static mw_status write_entry(store *s, mw_error *err)
{
    mw__entry_remove(s->folder, s->allocator); /* what is damaged, or left by who was killed */
    MW_TRY(make_folder(s, err));
    MW_TRY(write_model(s, err));
    MW_TRY(name_analytics(s, err));
    return write_manifest(s, err);
}

static bool is_sound(const store *s)
{
    mw__cache_entry entry;
    if (!mw__entry_open(&entry, s->allocator, s->folder, &s->content->key->record))
        return false;
    mw__entry_deinit(&entry);
    return true;
}

static mw_status refuse_size(const mw__config *config, mw_error *err)
{
    return mw__fail(err, MW_ERROR_FILE, "it is larger than MW_ENGINE_CACHE_BYTES, %" PRIu64, config->cache_bytes);
}

static mw_status store_locked(store *s, const mw__config *config, mw_error *err)
{
    if (!s->content->replace && is_sound(s))
        return MW_OK;
    const mw_status status = write_entry(s, err);
    if (status != MW_OK)
        mw__entry_remove(s->folder, s->allocator);
    const bool fits = mw__cache_keep_bounds(s->allocator, s->location, config, status == MW_OK ? s->folder : NULL);
    return status != MW_OK || fits ? status : refuse_size(config, err);
}

mw_status mw__entry_store(const mw_allocator *allocator, const char *location, const char *folder,
                          const mw__entry_content *content, mw_error *err)
{
    const mw__config *config = content->options->config;
    store s = {.allocator = allocator, .location = location, .folder = folder, .content = content};
    if (content->key->weights > config->cache_bytes)
        return refuse_size(config, err);
    mw__text_init(&s.manifest, allocator);
    int lock;
    mw_status status = take_lock(&s, &lock, err);
    if (status == MW_OK)
        status = store_locked(&s, config, err);
    if (lock >= 0)
        close(lock);
    mw__text_deinit(&s.manifest);
    return status;
}

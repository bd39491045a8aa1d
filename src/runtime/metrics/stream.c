/* Streams of metrics from outside: opening by a path, and what a record may be. */
#include "base/memory/live.h"
#include "base/number/float_mode.h"
#include "base/number/hash.h"
#include "base/text/name.h"
#include "base/text/string.h"
#include "runtime/metrics/metrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* In a folder: TensorBoard wants "tfevents" in the name. */
#define EVENTS_NAME "events.out.tfevents.0.millwright"

mw_metrics_options mw_metrics_defaults(void) { return (mw_metrics_options){.struct_size = sizeof(mw_metrics_options)}; }

/* ---- opening ---- */

static bool is_folder(const char *path)
{
    struct stat status;
    return path[strlen(path) - 1] == '/' || (stat(path, &status) == 0 && S_ISDIR(status.st_mode));
}

static const mw__metrics_row *format_of(const char *path, mw_metrics_format format)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    switch (format) {
    case MW_METRICS_JSONL:
        return &mw__metrics_jsonl;
    case MW_METRICS_CSV:
        return &mw__metrics_csv;
    case MW_METRICS_EVENTS:
        return &mw__metrics_events;
    case MW_METRICS_BY_PATH:
        break;
    }
    if (is_folder(path) || strstr(name, "tfevents") != NULL)
        return &mw__metrics_events;
    if (mw__string_ends(name, ".jsonl") || mw__string_ends(name, ".ndjson"))
        return &mw__metrics_jsonl;
    return mw__string_ends(name, ".csv") ? &mw__metrics_csv : NULL;
}

static mw_status check_options(const char *path, const mw_metrics_options *options, mw_error *err)
{
    if (options->struct_size != sizeof *options)
        return mw__fail(err, MW_ERROR_ARGUMENT, "metrics: options must come from mw_metrics_defaults");
    if (path == NULL || path[0] == '\0')
        return mw__fail(err, MW_ERROR_ARGUMENT, "metrics: no path");
    if ((unsigned)options->format > MW_METRICS_EVENTS)
        return mw__fail(err, MW_ERROR_ARGUMENT, "metrics: no format %d", (int)options->format);
    if (options->step < 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "metrics: to go on after step %" PRId64 "; steps are 0 or more",
                        options->step);
    if (format_of(path, options->format) == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "metrics: the path \"%.300s\" says no format: let it end with .jsonl, .csv, or with / for a "
                        "folder of TensorBoard's, or set `format`",
                        path);
    return MW_OK;
}

static mw_status init(mw_metrics *m, const char *path, const mw_metrics_options *options, const char *without,
                      mw_error *err)
{
    mw__text whole;
    mw__text_init(&whole, m->allocator);
    mw__text_puts(&whole, path);
    if (m->format == &mw__metrics_events && is_folder(path))
        mw__text_printf(&whole, "%s" EVENTS_NAME, mw__string_ends(path, "/") || whole.size == 1 ? "" : "/");
    m->path = whole.data; /* an ordinary block of the allocator, or NULL */
    MW_TRY(mw__text_check(&whole, err));
    const mw__metrics_cut cut = {.step = options->step, .without = without};
    return mw__metrics_file_open(m, options->resume ? &cut : NULL, err);
}

static void free_metrics(mw_metrics *m)
{
    mw__metrics_file_close(m);
    mw__text_deinit(&m->out);
    mw__map_deinit(&m->columns);
    mw__free(m->allocator, m->hashes);
    mw__free(m->allocator, m->names);
    mw__free(m->allocator, m->path);
    mw__free(m->allocator, m);
}

mw_metrics *mw__metrics_create(const char *path, const mw_metrics_options *options, const char *without, mw_error *err)
{
    const mw_metrics_options defaults = mw_metrics_defaults();
    options = options != NULL ? options : &defaults;
    if (check_options(path, options, err) != MW_OK)
        return NULL;
    const mw_allocator *allocator = mw__allocator_or_default(options->allocator);
    mw_metrics *m = mw__live_make(allocator, sizeof *m, MW__LIVE_METRICS, err);
    if (m == NULL)
        return NULL;
    m->allocator = allocator;
    m->format = format_of(path, options->format);
    m->descriptor = -1;
    mw__text_init(&m->out, allocator);
    mw__map_init(&m->columns, allocator);
    mw__crc32c_init(&m->crc);
    if (init(m, path, options, without, err) == MW_OK)
        return m;
    mw_metrics_destroy(m);
    return NULL;
}

mw_metrics *mw_metrics_create(const char *path, const mw_metrics_options *options, mw_error *err)
{
    MW__FLOAT_SCOPE;
    return mw__skips(err) ? NULL : mw__metrics_create(path, options, NULL, err);
}

void mw_metrics_destroy(mw_metrics *metrics)
{
    if (metrics != NULL && mw__live_remove(metrics, MW__LIVE_METRICS, __func__) && mw__guard_close(&metrics->guard))
        free_metrics(metrics);
}

/* ---- records ---- */

bool mw__metrics_stays(const mw__metrics_cut *cut, const char *kind, size_t length, int64_t step)
{
    if (step != cut->step)
        return step < cut->step;
    return cut->without == NULL || strlen(cut->without) != length || memcmp(cut->without, kind, length) != 0;
}

bool mw__metrics_is_frame(const char *kind)
{
    return strcmp(kind, "run") == 0 || strcmp(kind, "resume") == 0 || strcmp(kind, "end") == 0;
}

static bool is_kind(const char *kind)
{
    const size_t length = strlen(kind);
    return length >= 1 && length <= MW__METRICS_KIND_MAX &&
           strspn(kind, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") == length;
}

static mw_status check_name(const char *name, mw_error *err)
{
    if (name == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_metrics_write: a field has no name");
    const char *fault = mw__name_fault(name);
    if (fault != NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_metrics_write: the name \"%.100s\" %s", name, fault);
    if (strlen(name) > MW__METRICS_NAME_MAX)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_metrics_write: the name \"%.100s\" has %zu bytes, at most %d", name,
                        strlen(name), MW__METRICS_NAME_MAX);
    if (strcmp(name, "kind") == 0 || strcmp(name, "step") == 0 || strcmp(name, "non_finite") == 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_metrics_write: every record has a \"%s\" of its own", name);
    return MW_OK;
}

/* There may be one for each of many layers: they are compared by hash. */
static mw_status check_names(mw_metrics *m, const mw_metrics_field *fields, size_t count, mw_error *err)
{
    MW_TRY(mw__grow(m->allocator, &m->hashes, &m->hash_capacity, count, sizeof *m->hashes, err));
    for (size_t i = 0; i < count; i++) {
        MW_TRY(check_name(fields[i].name, err));
        m->hashes[i] = mw__hash64(fields[i].name, strlen(fields[i].name), 0);
    }
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++)
            if (m->hashes[i] == m->hashes[k] && strcmp(fields[i].name, fields[k].name) == 0)
                return mw__fail(err, MW_ERROR_ARGUMENT, "mw_metrics_write: the name \"%.100s\" comes twice",
                                fields[i].name);
    return MW_OK;
}

static mw_status check_record(mw_metrics *m, const mw__metrics_record *r, mw_error *err)
{
    if (m == NULL || r->kind == NULL || (r->fields == NULL && r->count > 0))
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_metrics_write: %s NULL",
                        m == NULL         ? "the stream is"
                        : r->kind == NULL ? "the kind is"
                                          : "the fields are");
    if (!is_kind(r->kind))
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "mw_metrics_write: the kind \"%.60s\"; one has 1 to %d letters, digits, \"_\", \"-\" or \".\"",
                        r->kind, MW__METRICS_KIND_MAX);
    if (r->step < 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_metrics_write: step %" PRId64 "; steps are 0 or more", r->step);
    return check_names(m, r->fields, r->count, err);
}

static mw_status write_record(mw_metrics *m, const mw__metrics_record *r, mw_error *err)
{
    MW_TRY(check_record(m, r, err));
    if (m->dead)
        return mw__fail(err, MW_ERROR_STATE, "mw_metrics_write: \"%.300s\" could not be written before", m->path);
    m->out.size = 0;
    MW_TRY(m->format->put(m, r, &m->out, err));
    if (mw__text_check(&m->out, err) != MW_OK) {
        mw__text_deinit(&m->out); /* later records may be smaller */
        mw__text_init(&m->out, m->allocator);
        return MW_ERROR_MEMORY;
    }
    return m->out.size > 0 ? mw__metrics_file_append(m, m->out.data, m->out.size, err) : MW_OK;
}

mw_status mw_metrics_write(mw_metrics *metrics, const char *kind, int64_t step, const mw_metrics_field *fields,
                           size_t count, mw_error *err)
{
    MW__FLOAT_SCOPE;
    const mw__metrics_record record = {kind, step, fields, count};
    if (mw__skips(err))
        return err->status;
    if (metrics == NULL)
        return check_record(NULL, &record, err);
    mw__entry entry;
    MW_TRY(mw__live_check(metrics, MW__LIVE_METRICS, __func__, err));
    MW_TRY(mw__guard_enter(&entry, &metrics->guard, "stream of metrics", __func__, MW__LENT_NEVER, err));
    const mw_status status = write_record(metrics, &record, err);
    if (!mw__guard_leave(&entry))
        return status;
    free_metrics(metrics);
    mw_error_clear(err);
    return mw__fail(err, MW_ERROR_STATE, "mw_metrics_write: the stream was destroyed meanwhile by another thread");
}

#include "engine/cache/key.h"

#include "base/file/file.h"
#include "base/memory/map.h"
#include "base/number/bytes.h"
#include "base/number/number.h"
#include "engine/cache/normal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- weights ---- */

enum { ENTRY = 64, ENTRY_USED = 32, CHUNK = 1 << 18 };

typedef struct weight_file {
    mw__file file;
    uint64_t budget; /* bytes that may still be read: entries that overlap would have no end */
    unsigned number; /* from 1, in the order of the text */
    struct weight_file *next;
} weight_file;

typedef struct weighing {
    const mw__source *source;
    mw__map files, places; /* by path; by "offset path" */
    weight_file *list;
    char *chunk;
    mw__digest text, weights;
    uint64_t bytes;
} weighing;

static mw_status open_file(weighing *w, const char *path, weight_file **out, mw_error *err)
{
    static const char prefix[] = "@model_path/";
    *out = mw__map_get(&w->files, path);
    if (*out != NULL)
        return MW_OK;
    if (strncmp(path, prefix, sizeof prefix - 1) != 0)
        return mw__fail(err, MW_ERROR_FORMAT, "weight path \"%.100s\"", path);
    weight_file *file = mw__alloc(w->source->allocator, 1, sizeof *file, err);
    if (file == NULL)
        return MW_ERROR_MEMORY;
    const mw_status status = mw__file_open_below(&file->file, w->source->folder, path + sizeof prefix - 1, err);
    if (status != MW_OK) {
        mw__free(w->source->allocator, file);
        return status;
    }
    file->budget = file->file.size;
    file->number = w->list != NULL ? w->list->number + 1 : 1;
    file->next = w->list;
    w->list = *out = file;
    return mw__map_set(&w->files, path, file, err);
}

/* What the reader of weight files looks at: the used half of the entry, and its data (mil/weights/blob.h). */
static mw_status add_entry(weighing *w, weight_file *file, uint64_t offset, const char *path, mw_error *err)
{
    unsigned char entry[ENTRY], version[8];
    MW_TRY(mw__file_read_at(&file->file, 0, version, sizeof version, path, err));
    MW_TRY(mw__file_read_at(&file->file, offset, entry, sizeof entry, path, err));
    uint64_t left = mw__bytes_u64(entry + 8), at = mw__bytes_u64(entry + 16);
    if (left > file->budget)
        return mw__fail(err, MW_ERROR_FORMAT, "%s: entries overlap", path);
    file->budget -= left;
    w->bytes += left;
    mw__digest_add(&w->weights, version, sizeof version);
    mw__digest_add(&w->weights, entry, 16);
    mw__digest_add(&w->weights, entry + 24, ENTRY_USED - 24);
    while (left > 0) {
        const size_t part = left < CHUNK ? (size_t)left : CHUNK;
        MW_TRY(mw__file_read_at(&file->file, at, w->chunk, part, path, err));
        mw__digest_add(&w->weights, w->chunk, part);
        at += part;
        left -= part;
    }
    return MW_OK;
}

static mw_status add_place(weighing *w, const mw__weight_place *place, weight_file **out, mw_error *err)
{
    char key[512];
    const int length =
        snprintf(key, sizeof key, "%" PRIu64 " %.*s", place->offset, (int)place->path_length, place->path);
    if (place->path_length > 400 || length < 0 || (size_t)length >= sizeof key)
        return mw__fail(err, MW_ERROR_FORMAT, "a weight path of %zu bytes", place->path_length);
    const char *path = strchr(key, ' ') + 1;
    MW_TRY(open_file(w, path, out, err));
    if (mw__map_get(&w->places, key) != NULL)
        return MW_OK;
    MW_TRY(mw__map_set(&w->places, key, w, err));
    return add_entry(w, *out, place->offset, path, err);
}

/* The text with a number in the place of each file's name: which file it is counts, not what it is called. */
static mw_status add_text(weighing *w, const mw__text *normal, bool named, mw_error *err)
{
    mw__weight_place place;
    weight_file *file;
    bool found;
    size_t done = 0;
    for (size_t at = 0;;) {
        if (!mw__cache_normal_next_weight(normal, &at, &found, &place))
            return mw__fail(err, MW_ERROR_FORMAT, "a BLOBFILE in another form");
        if (!found)
            break;
        MW_TRY(add_place(w, &place, &file, err));
        if (named)
            continue;
        const size_t begin = (size_t)(place.path - normal->data);
        char number[24];
        mw__digest_add(&w->text, normal->data + done, begin - done);
        mw__digest_add(&w->text, number, (size_t)snprintf(number, sizeof number, "%u", file->number));
        done = begin + place.path_length;
    }
    if (done < normal->size)
        mw__digest_add(&w->text, normal->data + done, normal->size - done);
    return MW_OK;
}

typedef struct model {
    char text[MW__DIGEST_HEX], weights[MW__DIGEST_HEX];
    uint64_t bytes;
} model;

static mw_status weigh_model(const mw__source *source, const mw__text *normal, bool named, model *out, mw_error *err)
{
    const mw_allocator *allocator = source->allocator;
    weighing w = {.source = source, .chunk = mw__alloc(allocator, CHUNK, 1, err)};
    if (w.chunk == NULL)
        return MW_ERROR_MEMORY;
    mw__map_init(&w.files, allocator);
    mw__map_init(&w.places, allocator);
    mw__digest_begin(&w.text);
    mw__digest_begin(&w.weights);
    const mw_status status = add_text(&w, normal, named, err);
    mw__digest_end(&w.text, out->text);
    mw__digest_end(&w.weights, out->weights);
    out->bytes = w.bytes;
    for (weight_file *file = w.list, *next; file != NULL; file = next) {
        next = file->next;
        mw__file_close(&file->file);
        mw__free(allocator, file);
    }
    mw__map_deinit(&w.places);
    mw__map_deinit(&w.files);
    mw__free(allocator, w.chunk);
    return status;
}

static void digest_of(const char *text, size_t size, char out[MW__DIGEST_HEX])
{
    mw__digest digest;
    mw__digest_begin(&digest);
    mw__digest_add(&digest, text, size);
    mw__digest_end(&digest, out);
}

/* ---- the model ---- */

/* `named`: a client may exchange weights by the name of their file. */
static mw_status find_model(const mw__source *source, bool named, model *out, bool *made, mw_error *err)
{
    mw_error reason = {0};
    mw__text normal;
    mw__text_init(&normal, source->allocator);
    mw__cache_normal_append(&normal, source->text, source->size);
    mw_status status = mw__text_check(&normal, &reason);
    if (status == MW_OK)
        status = weigh_model(source, &normal, named, out, &reason);
    mw__text_deinit(&normal);
    *made = status == MW_OK;
    return status == MW_ERROR_MEMORY ? mw__fail(err, status, "%s", reason.message) : MW_OK;
}

static void name_model(const model *m, char out[MW__DIGEST_HEX])
{
    mw__digest digest;
    mw__digest_begin(&digest);
    mw__digest_add(&digest, m->text, sizeof m->text);
    mw__digest_add(&digest, m->weights, sizeof m->weights);
    mw__digest_end(&digest, out);
}

mw_status mw__key_make_model(const mw__source *source, char out[MW__DIGEST_HEX], bool *made, mw_error *err)
{
    model m;
    MW_TRY(find_model(source, false, &m, made, err));
    if (*made)
        name_model(&m, out);
    return MW_OK;
}

/* ---- the record ---- */

#if defined(__APPLE__)
#define SYSTEM "macos"
#elif defined(__linux__)
#define SYSTEM "linux"
#else
#define SYSTEM "posix"
#endif
#if defined(__x86_64__)
#define MACHINE "x86_64"
#elif defined(__aarch64__)
#define MACHINE "arm64"
#else
#define MACHINE "other"
#endif

static void put_number(mw__text *record, const char *name, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    mw__record_put(record, name, text);
}

static void put_config(mw__text *record, const mw__config *config)
{
    mw__record_put(record, "processor", mw__level_name(config->level));
    put_number(record, "avx512f", config->avx512f);
    put_number(record, "reference", config->reference);
    put_number(record, "fuse", config->fuse);
    put_number(record, "exact", config->exact);
    put_number(record, "fold", config->fold);
    put_number(record, "width", config->width);
    put_number(record, "wake", (uint64_t)config->wake);
    put_number(record, "pack", config->pack);
    mw__record_put(record, "profile", config->profile_text);
    put_number(record, "profile_given", config->profile_given);
    put_number(record, "loaded", config->loaded);
    put_number(record, "flush", config->flush);
    put_number(record, "unsound_streams", config->unsound_streams);
    mw__record_put(record, "blas", config->blas);
    for (size_t i = MW__RULE_NONE + 1; i < MW__RULE_COUNT; i++)
        if (mw__pass_set_has(&config->off, (mw__rule_id)i))
            mw__record_put(record, "off", mw__pass_rule_of((mw__rule_id)i)->name);
}

void mw__key_record(mw__text *record, const char *text, const char *weights, const mw__cache_request *request)
{
    const mw__compile_options *o = &request->compile;
    mw__record_put(record, "build", mw__cache_engine_build());
    mw__record_put(record, "platform", SYSTEM "-" MACHINE);
    put_number(record, "mask", o->mask);
    mw__record_put(record, "chip", o->chip != NULL ? o->chip->name : "");
    put_number(record, "threads", (uint64_t)mw__compile_threads(o));
    put_number(record, "threads_asked", o->threads);
    mw__record_put(record, "segmenter", request->segmenter);
    put_number(record, "costs", mw__engine_given_segmenter() != NULL);
    mw__record_put(record, "custom", request->custom);
    mw__record_put(record, "other", request->other);
    for (size_t i = 0; i < o->mutable_path_count; i++)
        mw__record_put(record, "mutable", o->mutable_paths[i]);
    put_config(record, o->config);
    mw__record_put(record, "text", text);
    mw__record_put(record, "weights", weights);
}

mw_status mw__key_make(mw__key *key, const mw__source *source, const mw__cache_request *request, bool *made,
                       mw_error *err)
{
    model m;
    const bool named = request->compile.mutable_path_count > 0;
    *key = (mw__key){0};
    MW_TRY(find_model(source, named, &m, made, err));
    if (!*made)
        return MW_OK;
    name_model(&m, key->model);
    if (named)
        MW_TRY(mw__key_make_model(source, key->model, made, err));
    mw__text_init(&key->record, source->allocator);
    mw__key_record(&key->record, m.text, m.weights, request);
    const mw_status status = mw__text_check(&key->record, err);
    if (status != MW_OK) {
        mw__key_deinit(key);
        return status;
    }
    digest_of(key->record.data, key->record.size, key->name);
    key->weights = m.bytes;
    return MW_OK;
}

void mw__key_deinit(mw__key *key) { mw__text_deinit(&key->record); }

bool mw__record_next(const char *record, size_t size, size_t *at, mw__record_line *out)
{
    const size_t left = size - *at;
    const char *line = record + *at, *equals = memchr(line, '=', left);
    const char *colon = equals != NULL ? memchr(equals, ':', left - (size_t)(equals - line)) : NULL;
    uint64_t length;
    if (colon == NULL || !mw__number_read_u64(equals + 1, (size_t)(colon - equals - 1), &length))
        return false;
    const size_t begin = (size_t)(colon - line) + 1;
    if (length >= left - begin || line[begin + length] != '\n')
        return false;
    *out = (mw__record_line){line, (size_t)(equals - line), line + begin, (size_t)length};
    *at += begin + (size_t)length + 1;
    return true;
}

bool mw__record_find(const char *record, size_t size, const char *name, mw__record_line *out)
{
    for (size_t at = 0; at < size && mw__record_next(record, size, &at, out);)
        if (out->name_length == strlen(name) && memcmp(out->name, name, out->name_length) == 0)
            return true;
    return false;
}

void mw__record_put(mw__text *record, const char *name, const char *value)
{
    value = value != NULL ? value : "";
    mw__text_printf(record, "%s=%zu:", name, strlen(value));
    mw__text_puts(record, value);
    mw__text_puts(record, "\n");
}

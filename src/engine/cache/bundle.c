/* Opening a bundle by its path. */
#include "engine/cache/cache.h"
#include "engine/cache/entry.h"
#include "engine/cache/shared.h"

#include "base/number/number.h"

#include <stdlib.h>
#include <string.h>

/* What the bundle was compiled with; the configuration is that of this process. */
typedef struct asked {
    mw__arena arena;
    mw__config config;
    mw__cache_request request;
    const char *text, *weights; /* digests */
} asked;

static const char *read_text(asked *a, const mw__cache_entry *entry, const char *name, mw_error *err)
{
    mw__record_line line;
    if (!mw__entry_find(entry, name, &line))
        return "";
    return mw__arena_string(&a->arena, line.value, line.length, err);
}

static uint64_t read_number(const mw__cache_entry *entry, const char *name)
{
    mw__record_line line;
    uint64_t number = 0;
    if (mw__entry_find(entry, name, &line))
        mw__number_read_u64(line.value, line.length, &number);
    return number;
}

static const mw__chip_row *find_chip(const char *name)
{
    const mw__chip_row *row;
    for (size_t i = 0; name[0] != '\0' && (row = mw__chip_at(i)) != NULL; i++)
        if (strcmp(row->name, name) == 0)
            return row;
    return NULL;
}

static mw_status read_asked(asked *a, const mw__cache_entry *entry, mw_error *err)
{
    mw__cache_request *request = &a->request;
    mw__config_init(&a->config);
    MW_TRY(mw__config_read_environment(&a->config, err));
    request->path = entry->folder;
    request->segmenter = read_text(a, entry, "segmenter", err);
    request->custom = read_text(a, entry, "custom", err);
    request->other = read_text(a, entry, "other", err);
    a->text = read_text(a, entry, "text", err);
    a->weights = read_text(a, entry, "weights", err);
    const char *chip = read_text(a, entry, "chip", err);
    MW_TRY(err->status);
    request->compile = (mw__compile_options){.config = &a->config,
                                             .mask = read_number(entry, "mask"),
                                             .threads = read_number(entry, "threads_asked"),
                                             .chip = find_chip(chip),
                                             .segmenter = mw__segmenter_named(request->segmenter)};
    return MW_OK;
}

/* Made by this engine on such a processor, with the variables that are set here. */
static mw_status check_record(const asked *a, const mw__cache_entry *entry, mw_error *err)
{
    mw__text record;
    mw__text_init(&record, a->arena.allocator);
    mw__key_record(&record, a->text, a->weights, &a->request);
    mw_status status = mw__text_check(&record, err);
    if (status == MW_OK &&
        (entry->manifest_size < record.size || memcmp(entry->manifest, record.data, record.size) != 0))
        status = mw__fail(err, MW_ERROR_STATE,
                          "bundle \"%.200s\" was made by another engine, on another processor or with other settings. "
                          "Must re-compile the E5 bundle",
                          entry->folder);
    mw__text_deinit(&record);
    return status;
}

static mw_status check_process(const mw__cache_entry *entry, mw_error *err)
{
    mw__record_line line;
    const bool ane = mw__entry_find(entry, "backend", &line) && line.length == 3 && memcmp(line.value, "ane", 3) == 0;
    if (!ane || mw__cache_shared_is_noted(entry->folder))
        return MW_OK;
    return mw__fail(err, MW_ERROR_STATE,
                    "ANE model load has failed: bundle \"%.200s\" was compiled in another process. Must re-compile the "
                    "E5 bundle",
                    entry->folder);
}

static mw__library *plan(const asked *a, const mw__cache_entry *entry, mw_error *err)
{
    mw__library *library = mw__library_compile(entry->folder, &a->request.compile, err);
    if (library == NULL)
        return NULL;
    library->bundle = mw__alloc(&library->object.allocator, strlen(entry->folder) + 1, 1, err);
    if (library->bundle == NULL) {
        mw__object_release(library);
        return NULL;
    }
    memcpy(library->bundle, entry->folder, strlen(entry->folder));
    mw__cache_shared_add(library, entry->bytes);
    mw__entry_touch(entry->folder, entry->allocator);
    return library;
}

static mw__library *open_entry(const mw__cache_entry *entry, mw_error *err)
{
    asked a = {0};
    mw__library *library = NULL;
    mw__arena_init(&a.arena, entry->allocator);
    if (check_process(entry, err) == MW_OK && read_asked(&a, entry, err) == MW_OK &&
        check_record(&a, entry, err) == MW_OK)
        library = plan(&a, entry, err);
    mw__arena_deinit(&a.arena);
    return library;
}

mw__library *mw__cache_open_bundle(const char *path, mw_error *err)
{
    mw__cache_entry entry;
    char *real = realpath(path, NULL);
    mw__library *library = real != NULL ? mw__cache_shared_find(real) : NULL;
    if (library == NULL && real != NULL && mw__entry_open(&entry, mw__engine_allocator(), real, NULL)) {
        library = open_entry(&entry, err);
        mw__entry_deinit(&entry);
    } else if (library == NULL) {
        mw__fail(err, MW_ERROR_FILE, "Invalid E5 path specified: \"%.200s\" %s", path,
                 real == NULL ? "does not exist" : "is no bundle, or is damaged. Must re-compile the E5 bundle");
    }
    free(real);
    return library;
}

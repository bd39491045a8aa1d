/* Looking up, compiling, storing and sharing, in that order. */
#include "engine/cache/cache.h"
#include "engine/cache/bound.h"
#include "engine/cache/shared.h"

#include "base/file/file.h"
#include "base/text/log.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A request on its way. */
typedef struct lookup {
    const mw__cache_request *request;
    const mw_allocator *allocator;
    mw__source source;
    mw__key key;
    bool keyed;     /* there is a key, and a folder for it */
    char *location; /* without links; NULL = it does not exist and cannot be made */
    char *folder;   /* of the bundle */
} lookup;

/* ---- where it is ---- */

/* mw__free frees it. */
static char *find_location(const mw_allocator *allocator, const char *path, bool make)
{
    mw_error reason = {0};
    if (make && mw__file_make_folders(path, &reason) != MW_OK)
        mw__log(MW_LOG_WARNING, "compile cache: %s", reason.message);
    char *real = realpath(path, NULL);
    char *copy = real != NULL ? mw__alloc(allocator, strlen(real) + 1, 1, &reason) : NULL;
    if (copy != NULL)
        memcpy(copy, real, strlen(real));
    free(real);
    return copy;
}

static void lookup_deinit(lookup *l)
{
    mw__free(l->allocator, l->folder);
    mw__free(l->allocator, l->location);
    mw__key_deinit(&l->key);
    if (l->source.allocator != NULL)
        mw__source_deinit(&l->source);
}

static mw_status find_key(lookup *l, bool make, mw_error *err)
{
    l->location = find_location(l->allocator, l->request->location, make);
    if (l->location == NULL)
        return MW_OK;
    MW_TRY(mw__key_make(&l->key, &l->source, l->request, &l->keyed, err));
    if (!l->keyed)
        return MW_OK;
    l->folder = mw__entry_folder(l->allocator, l->location, l->key.name, err);
    return l->folder != NULL ? MW_OK : MW_ERROR_MEMORY;
}

static mw_status lookup_begin(lookup *l, const mw__cache_request *request, bool make, mw_error *err)
{
    *l = (lookup){.request = request, .allocator = mw__engine_allocator()};
    MW_TRY(mw__source_read(&l->source, l->allocator, request->path, err));
    return request->location != NULL ? find_key(l, make, err) : MW_OK;
}

static bool has_entry(const lookup *l)
{
    mw__cache_entry entry;
    if (!l->keyed || !mw__entry_open(&entry, l->allocator, l->folder, &l->key.record))
        return false;
    mw__entry_deinit(&entry);
    return true;
}

/* ---- compiling ---- */

/* True if it is there afterwards. */
static bool store_library(const lookup *l, const mw__library *library, bool replace)
{
    mw_error reason = {0};
    const mw__entry_content content = {
        .library = library, .source = &l->source, .key = &l->key, .options = &l->request->compile, .replace = replace};
    if (mw__entry_store(l->allocator, l->location, l->folder, &content, &reason) == MW_OK)
        return true;
    mw__log(MW_LOG_WARNING, "compile cache: \"%s\" is not stored: %s", l->request->path, reason.message);
    return false;
}

static void share(const lookup *l, mw__library *library)
{
    mw_error ignored = {0};
    library->bundle = mw__alloc(&library->object.allocator, strlen(l->folder) + 1, 1, &ignored);
    if (library->bundle == NULL)
        return;
    memcpy(library->bundle, l->folder, strlen(l->folder));
    mw__cache_shared_note(l->folder);
    mw__cache_shared_add(library, l->key.weights);
}

/* What was compiled before in this process. Its bundle may be gone; then it is written again. */
static mw__library *find_shared(const lookup *l)
{
    struct stat status;
    mw__library *library = l->keyed ? mw__cache_shared_find(l->folder) : NULL;
    if (library == NULL)
        return NULL;
    if (stat(l->folder, &status) == 0 || store_library(l, library, false))
        mw__entry_touch(l->folder, l->allocator);
    return library;
}

static mw__library *compile_new(const lookup *l, bool stored, mw_error *err)
{
    mw__library *library = mw__library_compile_source(&l->source, &l->request->compile, err);
    if (library == NULL || !l->keyed)
        return library;
    if (stored)
        mw__entry_touch(l->folder, l->allocator);
    else if (!store_library(l, library, l->request->force_new))
        return library;
    share(l, library);
    return library;
}

static mw__library *compile_lookup(const lookup *l, mw_error *err)
{
    const mw__cache_request *request = l->request;
    mw__library *library = request->force_new ? NULL : find_shared(l);
    if (library != NULL)
        return library;
    const bool stored = !request->force_new && has_entry(l);
    if (stored || !request->force_fetch)
        return compile_new(l, stored, err);
    mw__fail(
        err, MW_ERROR_FILE, "force_fetch_from_cache: %s \"%s\" for these options; compile it once without that option",
        request->location == NULL ? "no cache folder is set (set_cache_bundle_location), so that there is no bundle of"
                                  : "the cache has no bundle of",
        request->path);
    return NULL;
}

static mw_status check_request(const mw__cache_request *request, mw_error *err)
{
    return request->force_new && request->force_fetch
               ? mw__fail(err, MW_ERROR_ARGUMENT,
                          "force_recompilation and force_fetch_from_cache are both set: one asks for a new bundle, the "
                          "other for one that is there")
               : MW_OK;
}

mw__library *mw__cache_compile(const mw__cache_request *request, mw_error *err)
{
    lookup l = {0};
    mw__library *library = NULL;
    if (check_request(request, err) == MW_OK && lookup_begin(&l, request, true, err) == MW_OK)
        library = compile_lookup(&l, err);
    lookup_deinit(&l);
    return library;
}

mw_status mw__cache_is_compile_required(const mw__cache_request *request, bool *out, mw_error *err)
{
    lookup l = {0};
    *out = true;
    mw_status status = lookup_begin(&l, request, false, err);
    if (status == MW_OK && !request->force_new) {
        mw__library *library = l.keyed ? mw__cache_shared_find(l.folder) : NULL;
        *out = library == NULL && !has_entry(&l);
        mw__object_release(library);
    }
    lookup_deinit(&l);
    return status;
}

mw_status mw__cache_purge(const char *location, const char *path, mw_error *err)
{
    mw__source source;
    char model[MW__DIGEST_HEX];
    bool made = false;
    const mw_allocator *allocator = mw__engine_allocator();
    MW_TRY(mw__source_read(&source, allocator, path, err));
    char *real = location != NULL ? find_location(allocator, location, false) : NULL;
    const mw_status status = mw__key_make_model(&source, model, &made, err);
    if (status == MW_OK && made && real != NULL) {
        mw__cache_purge_model(allocator, real, model);
        mw__cache_shared_drop_inside(real);
    }
    mw__free(allocator, real);
    mw__source_deinit(&source);
    return status;
}

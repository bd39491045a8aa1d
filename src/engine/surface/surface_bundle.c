/* e5rt: bundles, and what a library knows of itself. */
#include "engine/cache/analytics.h"
#include "engine/cache/cache.h"
#include "engine/surface/surface.h"
#include "graph/ir/build_info.h"

#include "base/text/text.h"

#include <pthread.h>
#include <string.h>

/* ---- bundles ---- */

static void open_bundle(void **out, const char *path, mw_error *err)
{
    mw__library *library = NULL;
    if (mw__surface_out(out, err) == MW_OK && mw__surface_text(path, "path", err) == MW_OK)
        library = mw__cache_open_bundle(path, err);
    if (library != NULL)
        mw__handle_create(MW__KIND_LIBRARY, library, out, err);
}

e5rt_error_code e5rt_program_library_create(void **out, const char *path)
{
    mw_error *err = mw__surface_begin();
    open_bundle(out, path, err);
    return mw__surface_end(err);
}

e5rt_error_code e5rt_program_library_get_e5_bundle_path(void *handle, const char **out)
{
    mw_error *err = mw__surface_begin();
    const mw__library *library = mw__surface_get_for(handle, MW__KIND_LIBRARY, "library", out, err);
    if (library != NULL && library->bundle == NULL)
        mw__fail(err, MW_ERROR_STATE,
                 "the library has no bundle: no cache folder was set (set_cache_bundle_location) when it was compiled, "
                 "or nothing could be stored there");
    else if (library != NULL)
        *out = library->bundle;
    return mw__surface_end(err);
}

e5rt_error_code e5rt_mw_program_library_get_placement(void *handle, const char **out_backend, const char **out_fallback)
{
    mw_error *err = mw__surface_begin();
    const mw__library *library = mw__surface_get_for(handle, MW__KIND_LIBRARY, "library", out_backend, err);
    if (library != NULL)
        library = mw__surface_get_for(handle, MW__KIND_LIBRARY, "library", out_fallback, err);
    if (library != NULL) {
        *out_backend = mw__backend_of(library);
        *out_fallback = library->refusal != NULL ? library->refusal : "";
    }
    return mw__surface_end(err);
}

/* ---- what is made when it is first asked for: in the library's arena, under one mutex ---- */

static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

typedef struct dictionary {
    e5rt_mw_dictionary public;
    mw__arena *arena;
    const char **keys, **values;
    size_t capacity;
} dictionary;

static mw_status dictionary_begin(dictionary *d, mw__arena *arena, size_t capacity, mw_error *err)
{
    d->arena = arena;
    d->capacity = capacity;
    d->keys = mw__arena_alloc(arena, capacity, sizeof *d->keys, err);
    d->values = mw__arena_alloc(arena, capacity, sizeof *d->values, err);
    d->public = (e5rt_mw_dictionary){.keys = d->keys, .values = d->values};
    return d->keys != NULL && d->values != NULL ? MW_OK : MW_ERROR_MEMORY;
}

/* Texts that live as long as the library. */
static void dictionary_add(dictionary *d, const char *key, const char *value)
{
    if (d->public.count == d->capacity)
        return;
    d->keys[d->public.count] = key;
    d->values[d->public.count++] = value;
}

/* ---- build info ---- */

/* The dictionary of texts that an attribute of the program is. */
static const mw__payload *find_build_info(const mw_graph *graph)
{
    for (size_t i = 0; i < graph->attribute_count; i++)
        if (strcmp(graph->attributes[i].name, "buildInfo") == 0)
            return graph->attributes[i].value;
    return NULL;
}

static mw_status make_build_info(mw__library *library, const void **out, mw_error *err)
{
    const mw__payload *info = find_build_info(library->graph);
    const size_t members = info != NULL ? info->member_count : 0;
    dictionary *d = mw__arena_alloc(&library->arena, 1, sizeof *d, err);
    if (d == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(dictionary_begin(d, &library->arena, members / 2 + 1, err));
    dictionary_add(d, "engine", mw__cache_engine_build());
    for (size_t i = 0; i + 1 < members; i += 2)
        if (mw__build_info_word(info->members[i]) != NULL && mw__build_info_word(info->members[i + 1]) != NULL)
            dictionary_add(d, mw__build_info_word(info->members[i]), mw__build_info_word(info->members[i + 1]));
    *out = &d->public;
    return MW_OK;
}

/* ---- functions ---- */

static const char *list_ports(mw__library *library, const mw__port_info *ports, size_t count, mw_error *err)
{
    mw__text list;
    mw__text_init(&list, library->arena.allocator);
    for (size_t i = 0; i < count; i++)
        mw__text_printf(&list, "%s%s", i > 0 ? " " : "", ports[i].name);
    const char *copy = mw__text_check(&list, err) == MW_OK
                           ? mw__arena_string(&library->arena, list.data != NULL ? list.data : "", list.size, err)
                           : NULL;
    mw__text_deinit(&list);
    return copy;
}

static const char *name_opset(mw_opset opset)
{
    static const char *const names[] = {
        [MW_IOS15] = "ios15", [MW_IOS16] = "ios16", [MW_IOS17] = "ios17", [MW_IOS18] = "ios18"};
    return (size_t)opset < sizeof names / sizeof *names && names[opset] != NULL ? names[opset] : "";
}

static mw_status make_metadata(mw__library *library, const mw__program *program, const void **out, mw_error *err)
{
    dictionary *d = mw__arena_alloc(&library->arena, 1, sizeof *d, err);
    if (d == NULL)
        return MW_ERROR_MEMORY;
    const char *inputs = list_ports(library, program->inputs, mw__input_ports(program), err);
    const char *outputs = list_ports(library, program->outputs, program->output_count, err);
    if (inputs == NULL || outputs == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(dictionary_begin(d, &library->arena, 6, err));
    dictionary_add(d, "name", program->name);
    dictionary_add(d, "opset", name_opset(library->graph->functions[program - library->programs]->opset));
    dictionary_add(d, "backend", mw__backend_of(library));
    dictionary_add(d, "summary", program->summary);
    dictionary_add(d, "inputs", inputs);
    dictionary_add(d, "outputs", outputs);
    *out = &d->public;
    return MW_OK;
}

static const void *find_metadata(mw__library *library, const char *name, mw_error *err)
{
    const mw__program *program = mw__library_find(library, name, err);
    if (program == NULL)
        return NULL;
    if (library->metadata == NULL)
        library->metadata = mw__arena_alloc(&library->arena, library->count, sizeof *library->metadata, err);
    if (library->metadata == NULL)
        return NULL;
    const void **slot = &library->metadata[program - library->programs];
    if (*slot == NULL)
        make_metadata(library, program, slot, err);
    return *slot;
}

/* ---- analytics ---- */

static mw_status make_analytics(mw__library *library, const void **out, mw_error *err)
{
    mw__analytics found;
    MW_TRY(mw__analytics_make(library, &library->arena, &found, err));
    e5rt_mw_analytics *public = mw__arena_alloc(&library->arena, 1, sizeof *public, err);
    e5rt_mw_placement *list = mw__arena_alloc(&library->arena, found.count, sizeof *list, err);
    if (public == NULL || list == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < found.count; i++) {
        const mw__placement *from = &found.placements[i];
        list[i] = (e5rt_mw_placement){.op_path = from->path,
                                      .op_type = from->kind,
                                      .op_name = from->name,
                                      .selected_backend = from->backend,
                                      .backend_support = from->support,
                                      .validation_messages = from->messages,
                                      .estimated_runtime = from->seconds};
    }
    *public = (e5rt_mw_analytics){.selected_backend = mw__backend_of(library),
                                  .fallback = library->refusal != NULL ? library->refusal : "",
                                  .placements = list,
                                  .placement_count = found.count};
    *out = public;
    return MW_OK;
}

/* ---- calls ---- */

e5rt_error_code e5rt_program_library_get_build_info(void *handle, void **out)
{
    mw_error *err = mw__surface_begin();
    mw__library *library =
        mw__surface_out(out, err) == MW_OK ? mw__surface_get(handle, MW__KIND_LIBRARY, "library", err) : NULL;
    if (library != NULL) {
        pthread_mutex_lock(&making);
        if (library->build_info != NULL || make_build_info(library, &library->build_info, err) == MW_OK)
            *out = (void *)(uintptr_t)library->build_info;
        pthread_mutex_unlock(&making);
    }
    return mw__surface_end(err);
}

e5rt_error_code e5rt_program_library_get_function_metadata(void *handle, const char *name, void **out)
{
    mw_error *err = mw__surface_begin();
    mw__library *library =
        mw__surface_out(out, err) == MW_OK ? mw__surface_get(handle, MW__KIND_LIBRARY, "library", err) : NULL;
    if (library != NULL && mw__surface_text(name, "functionName", err) == MW_OK) {
        pthread_mutex_lock(&making);
        *out = (void *)(uintptr_t)find_metadata(library, name, err);
        pthread_mutex_unlock(&making);
    }
    return mw__surface_end(err);
}

e5rt_error_code e5rt_program_library_get_segmentation_analytics(void *handle, void **out)
{
    mw_error *err = mw__surface_begin();
    mw__library *library =
        mw__surface_out(out, err) == MW_OK ? mw__surface_get(handle, MW__KIND_LIBRARY, "library", err) : NULL;
    if (library != NULL) {
        pthread_mutex_lock(&making);
        if (library->analytics != NULL || make_analytics(library, &library->analytics, err) == MW_OK)
            *out = (void *)(uintptr_t)library->analytics;
        pthread_mutex_unlock(&making);
    }
    return mw__surface_end(err);
}

/* e5rt: compiling, and what the cache has of it. */
#include "engine/cache/cache.h"
#include "engine/surface/surface_options.h"

#include "base/text/text.h"

#include <inttypes.h>

/* ---- what is asked for ---- */

/* Options that change nothing here, and the functions that are compiled: part of what a compilation is known by. */
static void describe_options(const mw__compiler_options *o, mw__text *out)
{
    const bool flags[] = {o->enable_mpsgraph_package,
                          o->enable_profiling,
                          o->enable_reshape_with_minimal_allocations,
                          o->experimental_disable_compile_time_mpsgraph_type_inference,
                          o->experimental_disable_data_dependent_shape,
                          o->experimental_enable_default_function_for_range_dim,
                          o->experimental_force_classic_cpu_backend,
                          o->experimental_match_e5_minimal_cpu_patterns,
                          o->experimental_match_e5_minimal_cpu_patterns_for_states,
                          o->force_bnns_graph,
                          o->force_classic_aot_old_hw};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        mw__text_puts(out, flags[i] ? "1" : "0");
    mw__text_printf(out, " %" PRIu32, o->preferred_cpu_backend);
    for (size_t i = 0; i < o->preferred_cpu_backend_count; i++)
        mw__text_printf(out, ",%" PRIu32, o->preferred_cpu_backends[i]);
    for (size_t i = 0; i < o->entry_point_count; i++)
        mw__text_printf(out, " %s", o->entry_points[i]);
}

/* `other` holds a text of the request's. */
static mw_status make_request(void *by, const char *path, void *handle, mw__cache_request *out, mw__text *other,
                              mw_error *err)
{
    const mw__compiler_object *compiler = mw__surface_get(by, MW__KIND_COMPILER, "compiler", err);
    if (compiler == NULL)
        return err->status;
    MW_TRY(mw__surface_text(path, "path", err));
    const mw__compiler_options *options = mw__surface_get(handle, MW__KIND_OPTIONS, "options", err);
    if (options == NULL)
        return err->status;
    describe_options(options, other);
    MW_TRY(mw__text_check(other, err));
    *out = (mw__cache_request){.location = compiler->cache_bundle_location,
                               .path = path,
                               .compile = {.config = &compiler->config,
                                           .mask = options->compute_device_types_mask,
                                           .chip = options->chip,
                                           .owned = options->owned,
                                           .threads = options->threads,
                                           .entry_points = options->entry_points,
                                           .entry_point_count = options->entry_point_count,
                                           .mutable_paths = options->mutable_paths,
                                           .mutable_path_count = options->mutable_path_count,
                                           .segmenter = mw__segmenter_named(options->segmenter)},
                               .segmenter = options->segmenter,
                               .custom = options->custom_ane_compiler_options,
                               .other = other->data,
                               .force_new = options->force_recompilation,
                               .force_fetch = options->force_fetch_from_cache};
    if (options->listener != NULL)
        out->compile.report = (mw__compile_report){.call = mw__surface_report_pass,
                                                   .user = options->listener,
                                                   .why = options->listener->why,
                                                   .texts = options->listener->texts};
    return MW_OK;
}

/* ---- calls ---- */

static void compile_path(void *compiler, const char *path, void *options, void **out, mw_error *err)
{
    mw__cache_request request;
    mw__text other;
    mw__text_init(&other, mw__engine_allocator());
    mw__library *library = NULL;
    if (mw__surface_out(out, err) == MW_OK && make_request(compiler, path, options, &request, &other, err) == MW_OK)
        library = mw__cache_compile(&request, err);
    if (library != NULL)
        mw__handle_create(MW__KIND_LIBRARY, library, out, err);
    mw__text_deinit(&other);
}

e5rt_error_code e5rt_e5_compiler_compile(void *compiler, const char *path, void *options, void **out_library)
{
    mw_error *err = mw__surface_begin();
    compile_path(compiler, path, options, out_library, err);
    return mw__surface_end(err);
}

e5rt_error_code e5rt_e5_compiler_is_new_compile_required(void *compiler, const char *path, void *options,
                                                         e5rt_bool *out)
{
    mw_error *err = mw__surface_begin();
    mw__cache_request request;
    mw__text other;
    bool required = true;
    mw__text_init(&other, mw__engine_allocator());
    if (!mw__failed(err) && out == NULL)
        mw__fail(err, MW_ERROR_ARGUMENT, "Invalid Function Argument: the out pointer is NULL");
    else if (make_request(compiler, path, options, &request, &other, err) == MW_OK &&
             mw__cache_is_compile_required(&request, &required, err) == MW_OK)
        *out = required;
    mw__text_deinit(&other);
    return mw__surface_end(err);
}

e5rt_error_code e5rt_e5_compiler_purge_e5_bundles_for_input_model(void **handle, const char *path)
{
    mw_error *err = mw__surface_begin();
    if (!mw__failed(err) && handle == NULL)
        mw__fail(err, MW_ERROR_ARGUMENT, "Invalid Function Argument: the address of the compiler is NULL");
    const mw__compiler_object *compiler =
        handle != NULL ? mw__surface_get(*handle, MW__KIND_COMPILER, "compiler", err) : NULL;
    if (compiler != NULL && mw__surface_text(path, "path", err) == MW_OK)
        mw__cache_purge(compiler->cache_bundle_location, path, err);
    return mw__surface_end(err);
}

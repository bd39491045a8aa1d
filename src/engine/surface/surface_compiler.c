/* e5rt: the compiler and libraries; functions are in surface_function.c. */
#include "engine/surface/surface_options.h"

/* ---- compiler ---- */

static void destroy_compiler(mw__object *object)
{
    mw__free(&object->allocator, ((mw__compiler_object *)object)->cache_bundle_location);
}

/* What the environment sets goes before what the program has set. */
static void create_compiler(void **out, const mw__config *set, const char *location, mw_error *err)
{
    mw__config config = *set;
    if (mw__config_read_environment(&config, err) != MW_OK)
        return;
    mw__compiler_object *compiler = mw__object_create(sizeof *compiler, destroy_compiler, err);
    if (compiler == NULL)
        return;
    compiler->config = config;
    if (location != NULL && location[0] != '\0' &&
        mw__surface_copy(&compiler->object, &compiler->cache_bundle_location, location, err) != MW_OK)
        mw__object_release(compiler);
    else
        mw__handle_create(MW__KIND_COMPILER, compiler, out, err);
}

e5rt_error_code e5rt_e5_compiler_create(void **out)
{
    mw_error *err = mw__surface_begin();
    mw__config none;
    mw__config_init(&none);
    if (mw__surface_out(out, err) == MW_OK)
        create_compiler(out, &none, NULL, err);
    return mw__surface_end(err);
}

e5rt_error_code e5rt_e5_compiler_create_with_config(void **out, void *handle)
{
    mw_error *err = mw__surface_begin();
    const mw__config_options *options =
        mw__surface_out(out, err) == MW_OK ? mw__surface_get(handle, MW__KIND_CONFIG, "config", err) : NULL;
    if (options != NULL)
        create_compiler(out, &options->set, options->cache_bundle_location, err);
    return mw__surface_end(err);
}

e5rt_error_code e5rt_e5_compiler_release(void **compiler) { return mw__surface_release(compiler, MW__KIND_COMPILER); }

/* ---- libraries ---- */

e5rt_error_code e5rt_program_library_release(void **library) { return mw__surface_release(library, MW__KIND_LIBRARY); }

e5rt_error_code e5rt_program_library_get_num_functions(void *handle, uint64_t *out)
{
    mw_error *err = mw__surface_begin();
    const mw__library *library = mw__surface_get(handle, MW__KIND_LIBRARY, "library", err);
    if (library != NULL && out == NULL)
        mw__fail(err, MW_ERROR_ARGUMENT, "Invalid Function Argument: the out pointer is NULL");
    else if (library != NULL)
        *out = library->count;
    return mw__surface_end(err);
}

/* The names live as long as the library. */
e5rt_error_code e5rt_program_library_get_function_names(void *handle, uint64_t count, const char **out_names)
{
    mw_error *err = mw__surface_begin();
    const mw__library *library = mw__surface_get(handle, MW__KIND_LIBRARY, "library", err);
    if (library != NULL && out_names == NULL)
        mw__fail(err, MW_ERROR_ARGUMENT, "Invalid Function Argument: names is NULL");
    else if (library != NULL && count > library->count) {
        mw__fail(err, MW_ERROR_ARGUMENT, "%llu names wanted, the library has %zu functions", (unsigned long long)count,
                 library->count);
        mw__surface_end(err);
        return E5RT_OUT_OF_BOUNDS;
    }
    for (uint64_t i = 0; !mw__failed(err) && i < count; i++)
        out_names[i] = library->programs[i].name;
    return mw__surface_end(err);
}

static void destroy_function(mw__object *object) { mw__object_release(((mw__function_object *)object)->library); }

static mw_status retain_function(void *handle, const char *name, void **out, mw_error *err)
{
    MW_TRY(mw__surface_out(out, err));
    mw__library *library = mw__surface_get(handle, MW__KIND_LIBRARY, "library", err);
    if (library == NULL)
        return err->status;
    MW_TRY(mw__surface_text(name, "functionName", err));
    const mw__program *program = mw__library_find(library, name, err);
    mw__function_object *function = program != NULL ? mw__object_create(sizeof *function, destroy_function, err) : NULL;
    if (function == NULL)
        return err->status;
    function->library = mw__object_retain(library);
    function->program = program;
    return mw__handle_create(MW__KIND_FUNCTION, function, out, err);
}

e5rt_error_code e5rt_program_library_retain_program_function(void *library, const char *name, void **out)
{
    mw_error *err = mw__surface_begin();
    retain_function(library, name, out, err);
    return mw__surface_end(err);
}

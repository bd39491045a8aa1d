/* e5rt: the compiler, its options, libraries and functions. Options that only Espresso knows are checked and kept. */
#include "base/shown.h"
#include "engine/surface/surface.h"

#include <string.h>

/* ---- configuration and compiler ---- */

typedef struct config_options {
    mw__object object;
    mw__config set;
    char *cache;
} config_options;

typedef struct compiler_object {
    mw__object object;
    mw__config config;
} compiler_object;

static void destroy_config(mw__object *object) { mw__free(&object->allocator, ((config_options *)object)->cache); }

static mw_status create_object(void **out, size_t size, void (*destroy)(mw__object *), mw__kind kind, mw_error *err)
{
    MW_TRY(mw__surface_out(out, err));
    void *object = mw__object_create(size, destroy, err);
    return object != NULL ? mw__handle_create(kind, object, out, err) : MW_ERROR_MEMORY;
}

static e5rt_error_code release(void **handle, mw__kind kind)
{
    mw_error *err = mw__surface_begin();
    if (!mw__failed(err))
        mw__handle_release(handle, kind, err);
    return mw__surface_end(err);
}

static void *get(void *handle, mw__kind kind, const char *name, mw_error *err)
{
    return mw__failed(err) ? NULL : mw__handle_get(handle, kind, name, err);
}

e5rt_error_code e5rt_e5_compiler_config_options_create(void **out)
{
    mw_error *err = mw__surface_begin();
    if (create_object(out, sizeof(config_options), destroy_config, MW__KIND_CONFIG, err) == MW_OK)
        mw__config_init(&((config_options *)get(*out, MW__KIND_CONFIG, "options", err))->set);
    return mw__surface_end(err);
}

e5rt_error_code e5rt_e5_compiler_config_options_release(void **options) { return release(options, MW__KIND_CONFIG); }

e5rt_error_code e5rt_e5_compiler_config_options_set_cache_bundle_location(void *handle, const char *path)
{
    mw_error *err = mw__surface_begin();
    config_options *options = get(handle, MW__KIND_CONFIG, "options", err);
    if (options != NULL && mw__surface_text(path, "path", err) == MW_OK)
        mw__surface_copy(&options->object, &options->cache, path, err);
    return mw__surface_end(err);
}

e5rt_error_code e5rt_mw_e5_compiler_config_options_set_variable(void *handle, const char *name, const char *value)
{
    mw_error *err = mw__surface_begin();
    config_options *options = get(handle, MW__KIND_CONFIG, "options", err);
    if (options != NULL && mw__surface_text(name, "name", err) == MW_OK &&
        mw__surface_text(value, "value", err) == MW_OK)
        mw__config_set(&options->set, name, value, err);
    return mw__surface_end(err);
}

/* What the environment sets goes before what the program has set. */
static void create_compiler(void **out, const mw__config *set, mw_error *err)
{
    mw__config config = *set;
    if (mw__config_read_environment(&config, err) == MW_OK &&
        create_object(out, sizeof(compiler_object), NULL, MW__KIND_COMPILER, err) == MW_OK)
        ((compiler_object *)get(*out, MW__KIND_COMPILER, "compiler", err))->config = config;
}

e5rt_error_code e5rt_e5_compiler_create(void **out)
{
    mw_error *err = mw__surface_begin();
    mw__config none;
    mw__config_init(&none);
    if (mw__surface_out(out, err) == MW_OK)
        create_compiler(out, &none, err);
    return mw__surface_end(err);
}

e5rt_error_code e5rt_e5_compiler_create_with_config(void **out, void *handle)
{
    mw_error *err = mw__surface_begin();
    const config_options *options =
        mw__surface_out(out, err) == MW_OK ? get(handle, MW__KIND_CONFIG, "config", err) : NULL;
    if (options != NULL)
        create_compiler(out, &options->set, err);
    return mw__surface_end(err);
}

e5rt_error_code e5rt_e5_compiler_release(void **compiler) { return release(compiler, MW__KIND_COMPILER); }

/* ---- options ---- */

typedef struct compiler_options {
    mw__object object;
    uint64_t mask, threads;
    bool owned; /* the folder is the caller's alone */
    char *segmenter, *custom;
} compiler_options;

static void destroy_options(mw__object *object)
{
    compiler_options *options = (compiler_options *)object;
    mw__free(&object->allocator, options->segmenter);
    mw__free(&object->allocator, options->custom);
}

e5rt_error_code e5rt_e5_compiler_options_create(void **out)
{
    mw_error *err = mw__surface_begin();
    if (create_object(out, sizeof(compiler_options), destroy_options, MW__KIND_OPTIONS, err) == MW_OK)
        ((compiler_options *)get(*out, MW__KIND_OPTIONS, "options", err))->mask = E5RT_CPU;
    return mw__surface_end(err);
}

e5rt_error_code e5rt_e5_compiler_options_release(void **options) { return release(options, MW__KIND_OPTIONS); }

e5rt_error_code e5rt_e5_compiler_options_set_compute_device_types_mask(void *handle, uint64_t mask)
{
    mw_error *err = mw__surface_begin();
    compiler_options *options = get(handle, MW__KIND_OPTIONS, "options", err);
    if (options != NULL)
        options->mask = mask; /* checked by compile */
    return mw__surface_end(err);
}

e5rt_error_code e5rt_e5_compiler_options_get_compute_device_types_mask(void *handle, uint64_t *out)
{
    mw_error *err = mw__surface_begin();
    const compiler_options *options = get(handle, MW__KIND_OPTIONS, "options", err);
    if (options != NULL && out == NULL)
        mw__fail(err, MW_ERROR_ARGUMENT, "Invalid Function Argument: the out pointer is NULL");
    else if (options != NULL)
        *out = options->mask;
    return mw__surface_end(err);
}

e5rt_error_code e5rt_e5_compiler_options_set_force_recompilation(void *handle, e5rt_bool value)
{
    mw_error *err = mw__surface_begin();
    (void)value; /* nothing is cached here */
    get(handle, MW__KIND_OPTIONS, "options", err);
    return mw__surface_end(err);
}

e5rt_error_code e5rt_e5_compiler_options_set_segmenter(void *handle, const char *name)
{
    mw_error *err = mw__surface_begin();
    compiler_options *options = get(handle, MW__KIND_OPTIONS, "options", err);
    if (options != NULL && mw__surface_text(name, "segmenter", err) == MW_OK)
        mw__surface_copy(&options->object, &options->segmenter, name, err);
    return mw__surface_end(err);
}

e5rt_error_code e5rt_e5_compiler_options_set_custom_ane_compiler_options(void *handle, const char *text)
{
    mw_error *err = mw__surface_begin();
    compiler_options *options = get(handle, MW__KIND_OPTIONS, "options", err);
    if (options != NULL && mw__surface_text(text, "customOptions", err) == MW_OK)
        mw__surface_copy(&options->object, &options->custom, text, err);
    return mw__surface_end(err);
}

e5rt_error_code e5rt_mw_e5_compiler_options_set_threads(void *handle, uint64_t threads)
{
    mw_error *err = mw__surface_begin();
    compiler_options *options = get(handle, MW__KIND_OPTIONS, "options", err);
    if (options != NULL && threads > MW__THREADS_MAX)
        mw__fail(err, MW_ERROR_ARGUMENT, "%llu threads: at most %d", (unsigned long long)threads, MW__THREADS_MAX);
    else if (options != NULL)
        options->threads = threads;
    return mw__surface_end(err);
}

e5rt_error_code e5rt_mw_e5_compiler_options_set_private(void *handle, e5rt_bool value)
{
    mw_error *err = mw__surface_begin();
    compiler_options *options = get(handle, MW__KIND_OPTIONS, "options", err);
    if (options != NULL)
        options->owned = value != 0;
    return mw__surface_end(err);
}

/* ---- options for the ANE's compiler: KEY=VALUE, with spaces, commas or semicolons between them ---- */

static const char between[] = " \t\r\n,;";

static mw_status fail_architecture(const char *name, size_t length, mw_error *err)
{
    char known[256] = "";
    const mw__chip_row *row;
    for (size_t i = 0, used = 0; (row = mw__chip_at(i)) != NULL; i++)
        used += mw__shown_printf(known + used, sizeof known - used, "%s", row->architectures);
    return mw__fail(err, MW_ERROR_ARGUMENT, "TargetArchitecture=%.*s: no such architecture is known; known are%s",
                    (int)(length < 60 ? length : 60), name, known);
}

static mw_status read_architecture(const char *name, size_t length, const mw__chip_row **out, mw_error *err)
{
    char word[32];
    if (length == 0 || length >= sizeof word)
        return fail_architecture(name, length, err);
    memcpy(word, name, length);
    word[length] = '\0';
    *out = mw__chip_named(word);
    return *out != NULL ? MW_OK : fail_architecture(name, length, err);
}

/* The chip of TargetArchitecture, NULL in *out if none is named; what else is said is for Espresso. */
static mw_status read_custom(const char *text, const mw__chip_row **out, mw_error *err)
{
    static const char key[] = "TargetArchitecture=";
    *out = NULL;
    for (const char *at = text; at != NULL && *at != '\0'; at += strcspn(at, between)) {
        at += strspn(at, between);
        if (strncmp(at, key, sizeof key - 1) == 0)
            MW_TRY(read_architecture(at + sizeof key - 1, strcspn(at + sizeof key - 1, between), out, err));
    }
    return MW_OK;
}

/* ---- compile ---- */

static mw_status compile(void *by, const char *path, void *handle, void **out, mw_error *err)
{
    MW_TRY(mw__surface_out(out, err));
    const compiler_object *compiler = get(by, MW__KIND_COMPILER, "compiler", err);
    if (compiler == NULL)
        return err->status;
    MW_TRY(mw__surface_text(path, "path", err));
    const compiler_options *options = get(handle, MW__KIND_OPTIONS, "options", err);
    if (options == NULL)
        return err->status;
    mw__compile_options chosen = {
        .config = &compiler->config, .mask = options->mask, .threads = options->threads, .owned = options->owned};
    MW_TRY(read_custom(options->custom, &chosen.chip, err));
    mw__library *library = mw__library_compile(path, &chosen, err);
    return library != NULL ? mw__handle_create(MW__KIND_LIBRARY, library, out, err) : err->status;
}

e5rt_error_code e5rt_e5_compiler_compile(void *compiler, const char *path, void *options, void **out_library)
{
    mw_error *err = mw__surface_begin();
    compile(compiler, path, options, out_library, err);
    return mw__surface_end(err);
}

/* ---- libraries and functions ---- */

e5rt_error_code e5rt_program_library_release(void **library) { return release(library, MW__KIND_LIBRARY); }

e5rt_error_code e5rt_program_library_get_num_functions(void *handle, uint64_t *out)
{
    mw_error *err = mw__surface_begin();
    const mw__library *library = get(handle, MW__KIND_LIBRARY, "library", err);
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
    const mw__library *library = get(handle, MW__KIND_LIBRARY, "library", err);
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
    mw__library *library = get(handle, MW__KIND_LIBRARY, "library", err);
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

e5rt_error_code e5rt_program_function_release(void **function) { return release(function, MW__KIND_FUNCTION); }

static const mw__program *get_program(void *handle, const void *out, mw_error *err)
{
    const mw__function_object *function = get(handle, MW__KIND_FUNCTION, "function", err);
    if (function != NULL && out == NULL)
        mw__fail(err, MW_ERROR_ARGUMENT, "Invalid Function Argument: the out pointer is NULL");
    return function != NULL && out != NULL ? function->program : NULL;
}

e5rt_error_code e5rt_program_function_get_name(void *function, const char **out)
{
    mw_error *err = mw__surface_begin();
    const mw__program *program = get_program(function, out, err);
    if (program != NULL)
        *out = program->name;
    return mw__surface_end(err);
}

e5rt_error_code e5rt_mw_program_function_get_summary(void *function, const char **out)
{
    mw_error *err = mw__surface_begin();
    const mw__program *program = get_program(function, out, err);
    if (program != NULL)
        *out = program->summary;
    return mw__surface_end(err);
}

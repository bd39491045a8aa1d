/* e5rt: options. What only Espresso knows is kept and given back; the functions that do no more than that are made from
 * the rows MW_E5RT_SET, MW_E5RT_GET and MW_E5RT_GET_TEXT of symbols.def. */
#include "engine/surface/surface_options.h"
#include "base/text/printable.h"

#include <string.h>

/* ---- objects ---- */

static void destroy_options(mw__object *object) { mw__arena_deinit(&((mw__options *)object)->arena); }

static mw__options *make_options(size_t size, void (*destroy)(mw__object *object), mw_error *err)
{
    mw__options *options = mw__object_create(size, destroy, err);
    if (options == NULL)
        return NULL;
    mw__arena_init(&options->arena, &options->object.allocator);
    options->arena.block_size = 0; /* most hold no text */
    return options;
}

static e5rt_error_code create_object(void **out, size_t size, mw__kind kind)
{
    mw_error *err = mw__surface_begin();
    mw__options *options = mw__surface_out(out, err) == MW_OK ? make_options(size, destroy_options, err) : NULL;
    if (options != NULL && kind == MW__KIND_CONFIG)
        mw__config_init(&((mw__config_options *)options)->set);
    if (options != NULL && kind == MW__KIND_OPTIONS)
        ((mw__compiler_options *)options)->compute_device_types_mask = E5RT_CPU;
    if (options != NULL)
        mw__handle_create(kind, options, out, err);
    return mw__surface_end(err);
}

/* A copy, which takes the place of what is there. */
static mw_status set_text(mw__options *options, const char **slot, const char *text, mw_error *err)
{
    if (*slot != NULL && strcmp(*slot, text) == 0)
        return MW_OK;
    const char *copy = mw__arena_string(&options->arena, text, strlen(text), err);
    if (copy == NULL)
        return MW_ERROR_MEMORY;
    *slot = copy;
    return MW_OK;
}

/* ---- what is kept and given back ---- */

#define OPTIONS_e5_compiler_config_options                mw__config_options, MW__KIND_CONFIG
#define OPTIONS_e5_compiler_options                       mw__compiler_options, MW__KIND_OPTIONS
#define OPTIONS_precompiled_compute_op_create_options     mw__operation_options, MW__KIND_OPERATION_OPTIONS
#define OPTIONS_execution_stream_operation_config_options mw__operation_config, MW__KIND_OPERATION_CONFIG
#define OPTIONS_execution_stream_config_options           mw__stream_config, MW__KIND_STREAM_CONFIG

#define SETTER(object, key, type, ...) SETTER_OF(object, key, type, __VA_ARGS__)
#define SETTER_OF(object, key, type, structure, kind)                                                                  \
    e5rt_error_code e5rt_##object##_set_##key(void *handle, type value)                                                \
    {                                                                                                                  \
        mw_error *err = mw__surface_begin();                                                                           \
        structure *options = mw__surface_get(handle, kind, "options", err);                                            \
        if (options != NULL)                                                                                           \
            options->key = value;                                                                                      \
        return mw__surface_end(err);                                                                                   \
    }

#define GETTER(object, key, type, result, ...) GETTER_OF(object, key, type, result, __VA_ARGS__)
#define GETTER_OF(object, key, type, result, structure, kind)                                                          \
    e5rt_error_code e5rt_##object##_get_##key(void *handle, type *out)                                                 \
    {                                                                                                                  \
        mw_error *err = mw__surface_begin();                                                                           \
        const structure *options = mw__surface_get_for(handle, kind, "options", out, err);                             \
        if (options != NULL)                                                                                           \
            *out = result(options->key);                                                                               \
        return mw__surface_end(err);                                                                                   \
    }

#define AS_IT_IS(value) (value)
#define OR_EMPTY(text)  ((text) != NULL ? (text) : "")

#define MW_E5RT(name, parameters, confidence, source, what)
#define MW_E5RT_ABSENT                                           MW_E5RT
#define MW_E5RT_SET(object, key, type, confidence, source, what) SETTER(object, key, type, OPTIONS_##object)
#define MW_E5RT_GET(object, key, type, confidence, source, what) GETTER(object, key, type, AS_IT_IS, OPTIONS_##object)
#define MW_E5RT_GET_TEXT(object, key, confidence, source, what)                                                        \
    GETTER(object, key, const char *, OR_EMPTY, OPTIONS_##object)
#include "engine/surface/symbols.def"

/* ---- of compilers ---- */

e5rt_error_code e5rt_e5_compiler_config_options_create(void **out)
{
    return create_object(out, sizeof(mw__config_options), MW__KIND_CONFIG);
}

e5rt_error_code e5rt_e5_compiler_config_options_release(void **options)
{
    return mw__surface_release(options, MW__KIND_CONFIG);
}

e5rt_error_code e5rt_e5_compiler_config_options_set_cache_bundle_location(void *handle, const char *path)
{
    mw_error *err = mw__surface_begin();
    mw__config_options *options = mw__surface_get(handle, MW__KIND_CONFIG, "options", err);
    if (options != NULL && mw__surface_text(path, "path", err) == MW_OK)
        set_text(&options->options, &options->cache_bundle_location, path, err);
    return mw__surface_end(err);
}

e5rt_error_code e5rt_mw_e5_compiler_config_options_set_variable(void *handle, const char *name, const char *value)
{
    mw_error *err = mw__surface_begin();
    mw__config_options *options = mw__surface_get(handle, MW__KIND_CONFIG, "options", err);
    if (options != NULL && mw__surface_text(name, "name", err) == MW_OK &&
        mw__surface_text(value, "value", err) == MW_OK)
        mw__config_set(&options->set, name, value, err);
    return mw__surface_end(err);
}

/* ---- of one compilation ---- */

e5rt_error_code e5rt_e5_compiler_options_create(void **out)
{
    return create_object(out, sizeof(mw__compiler_options), MW__KIND_OPTIONS);
}

e5rt_error_code e5rt_e5_compiler_options_release(void **options)
{
    return mw__surface_release(options, MW__KIND_OPTIONS);
}

e5rt_error_code e5rt_mw_e5_compiler_options_set_threads(void *handle, uint64_t threads)
{
    mw_error *err = mw__surface_begin();
    mw__compiler_options *options = mw__surface_get(handle, MW__KIND_OPTIONS, "options", err);
    if (options != NULL && threads > MW__THREADS_MAX)
        mw__fail(err, MW_ERROR_ARGUMENT, "%llu threads: at most %d", (unsigned long long)threads, MW__THREADS_MAX);
    else if (options != NULL)
        options->threads = threads;
    return mw__surface_end(err);
}

static mw_status set_listener(mw__compiler_options *options, const mw__pass_listener *what, mw_error *err)
{
    mw__options *base = &options->options;
    options->listener = NULL;
    if (what->report == NULL)
        return MW_OK;
    mw__pass_listener *copy = mw__arena_alloc(&base->arena, 1, sizeof *copy, err);
    if (copy == NULL)
        return MW_ERROR_MEMORY;
    *copy = *what;
    copy->why = what->why != NULL ? mw__arena_keep(&base->arena, what->why, err) : NULL;
    if (what->why != NULL && copy->why == NULL)
        return MW_ERROR_MEMORY;
    options->listener = copy;
    return MW_OK;
}

e5rt_error_code e5rt_mw_e5_compiler_options_set_pass_report(void *handle, e5rt_mw_pass_report *report, void *user,
                                                            const char *why, e5rt_bool texts)
{
    mw_error *err = mw__surface_begin();
    mw__compiler_options *options = mw__surface_get(handle, MW__KIND_OPTIONS, "options", err);
    if (options != NULL)
        set_listener(options, &(mw__pass_listener){.report = report, .user = user, .why = why, .texts = texts != 0},
                     err);
    return mw__surface_end(err);
}

e5rt_error_code e5rt_mw_e5_compiler_options_set_private(void *handle, e5rt_bool value)
{
    mw_error *err = mw__surface_begin();
    mw__compiler_options *options = mw__surface_get(handle, MW__KIND_OPTIONS, "options", err);
    if (options != NULL)
        options->owned = value;
    return mw__surface_end(err);
}

e5rt_error_code e5rt_e5_compiler_options_set_create_protected_assets(void *handle, e5rt_bool value)
{
    mw_error *err = mw__surface_begin();
    const mw__compiler_options *options = mw__surface_get(handle, MW__KIND_OPTIONS, "options", err);
    if (options != NULL && value != 0)
        mw__fail(err, MW_ERROR_UNSUPPORTED, "create_protected_assets: nothing is encrypted on this platform");
    return mw__surface_end(err);
}

e5rt_error_code e5rt_e5_compiler_options_set_segmenter(void *handle, const char *name)
{
    mw_error *err = mw__surface_begin();
    mw__compiler_options *options = mw__surface_get(handle, MW__KIND_OPTIONS, "options", err);
    if (options == NULL || mw__surface_text(name, "segmenter", err) != MW_OK)
        return mw__surface_end(err);
    if (mw__segmenter_named(name) != MW__SEGMENTER_NONE)
        set_text(&options->options, &options->segmenter, name, err);
    else
        mw__fail(err, MW_ERROR_ARGUMENT, "there is no segmenter \"%.60s\"; there are: coarse, graph, shortest_path",
                 name);
    return mw__surface_end(err);
}

/* ---- lists of names ---- */

static mw_status set_names(mw__compiler_options *options, const char *const *names, uint64_t count, const char ***slot,
                           size_t *out_count, mw_error *err)
{
    if (names == NULL && count > 0)
        return mw__surface_text(NULL, "names", err);
    if (count > SIZE_MAX / sizeof *names)
        return mw__fail(err, MW_ERROR_ARGUMENT, "Invalid Function Argument: %llu names", (unsigned long long)count);
    const char **copies = mw__arena_alloc(&options->options.arena, (size_t)count, sizeof *copies, err);
    for (size_t i = 0; copies != NULL && i < count; i++) {
        MW_TRY(mw__surface_text(names[i], "a name", err));
        MW_TRY(set_text(&options->options, &copies[i], names[i], err));
    }
    if (copies == NULL)
        return MW_ERROR_MEMORY;
    *slot = copies;
    *out_count = (size_t)count;
    return MW_OK;
}

e5rt_error_code e5rt_e5_compiler_options_set_mil_entry_points(void *handle, const char *const *names, uint64_t count)
{
    mw_error *err = mw__surface_begin();
    mw__compiler_options *options = mw__surface_get(handle, MW__KIND_OPTIONS, "options", err);
    if (options != NULL)
        set_names(options, names, count, &options->entry_points, &options->entry_point_count, err);
    return mw__surface_end(err);
}

e5rt_error_code e5rt_mw_e5_compiler_options_set_mutable_weight_paths(void *handle, const char *const *paths,
                                                                     uint64_t count)
{
    mw_error *err = mw__surface_begin();
    mw__compiler_options *options = mw__surface_get(handle, MW__KIND_OPTIONS, "options", err);
    if (options != NULL)
        set_names(options, paths, count, &options->mutable_paths, &options->mutable_path_count, err);
    return mw__surface_end(err);
}

/* ---- backends ---- */

static mw_status set_backends(mw__compiler_options *options, const uint32_t *values, uint64_t count, mw_error *err)
{
    if (values == NULL && count > 0)
        return mw__surface_text(NULL, "values", err);
    if (count > SIZE_MAX / sizeof *values)
        return mw__fail(err, MW_ERROR_ARGUMENT, "Invalid Function Argument: %llu values", (unsigned long long)count);
    uint32_t *copy = mw__arena_alloc(&options->options.arena, (size_t)count, sizeof *copy, err);
    if (copy == NULL)
        return MW_ERROR_MEMORY;
    if (count > 0)
        memcpy(copy, values, (size_t)count * sizeof *copy);
    options->preferred_cpu_backends = copy;
    options->preferred_cpu_backend_count = (size_t)count;
    return MW_OK;
}

e5rt_error_code e5rt_e5_compiler_options_set_preferred_cpu_backends(void *handle, const uint32_t *values,
                                                                    uint64_t count)
{
    mw_error *err = mw__surface_begin();
    mw__compiler_options *options = mw__surface_get(handle, MW__KIND_OPTIONS, "options", err);
    if (options != NULL)
        set_backends(options, values, count, err);
    return mw__surface_end(err);
}

e5rt_error_code e5rt_e5_compiler_options_get_preferred_cpu_backends(void *handle, uint32_t *out_values, uint64_t count)
{
    mw_error *err = mw__surface_begin();
    const void *place = count > 0 ? (const void *)out_values : (const void *)&count;
    const mw__compiler_options *options = mw__surface_get_for(handle, MW__KIND_OPTIONS, "options", place, err);
    const uint64_t there = options != NULL ? options->preferred_cpu_backend_count : 0;
    if (options != NULL && count > 0 && count <= there)
        memcpy(out_values, options->preferred_cpu_backends, (size_t)count * sizeof *out_values);
    return mw__surface_end_bounds(count, there, "values", err);
}

/* ---- options for the ANE's compiler: KEY=VALUE, with spaces, commas or semicolons between them ---- */

static mw_status fail_architecture(const char *name, size_t length, mw_error *err)
{
    char known[256] = "";
    const mw__chip_row *row;
    for (size_t i = 0, used = 0; (row = mw__chip_at(i)) != NULL; i++)
        used += mw__printable_printf(known + used, sizeof known - used, "%s", row->architectures);
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

/* The chip of TargetArchitecture, NULL in *out if none is named. It is the one key that is public. */
static mw_status read_custom(const char *text, const mw__chip_row **out, mw_error *err)
{
    static const char between[] = " \t\r\n,;", key[] = "TargetArchitecture=";
    *out = NULL;
    for (const char *at = text + strspn(text, between); *at != '\0'; at += strspn(at, between)) {
        const size_t length = strcspn(at, between);
        if (length < sizeof key - 1 || memcmp(at, key, sizeof key - 1) != 0)
            return mw__fail(
                err, MW_ERROR_ARGUMENT,
                "\"%.*s\" is no option of the ANE's compiler that is known; known is TargetArchitecture=NAME",
                (int)(length < 60 ? length : 60), at);
        MW_TRY(read_architecture(at + sizeof key - 1, length - (sizeof key - 1), out, err));
        at += length;
    }
    return MW_OK;
}

e5rt_error_code e5rt_e5_compiler_options_set_custom_ane_compiler_options(void *handle, const char *text)
{
    mw_error *err = mw__surface_begin();
    const mw__chip_row *chip = NULL;
    mw__compiler_options *options = mw__surface_get(handle, MW__KIND_OPTIONS, "options", err);
    if (options != NULL && mw__surface_text(text, "customOptions", err) == MW_OK &&
        read_custom(text, &chip, err) == MW_OK &&
        set_text(&options->options, &options->custom_ane_compiler_options, text, err) == MW_OK)
        options->chip = chip;
    return mw__surface_end(err);
}

/* ---- of operations and streams ---- */

static void destroy_operation_options(mw__object *object)
{
    mw__object_release(((mw__operation_options *)object)->weights);
    mw__object_release(((mw__operation_options *)object)->function);
    destroy_options(object);
}

static mw_status create_for_function(void **out, void *handle, mw_error *err)
{
    MW_TRY(mw__surface_out(out, err));
    if (handle == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "Cannot provide program function as nullptr");
    mw__function_object *function = mw__handle_get(handle, MW__KIND_FUNCTION, "function", err);
    mw__options *options =
        function != NULL ? make_options(sizeof(mw__operation_options), destroy_operation_options, err) : NULL;
    if (options == NULL)
        return err->status;
    ((mw__operation_options *)options)->function = mw__object_retain(function);
    return mw__handle_create(MW__KIND_OPERATION_OPTIONS, options, out, err);
}

e5rt_error_code e5rt_precompiled_compute_op_create_options_create_with_program_function(void **out, void *function)
{
    mw_error *err = mw__surface_begin();
    create_for_function(out, function, err);
    return mw__surface_end(err);
}

e5rt_error_code e5rt_precompiled_compute_op_create_options_release(void **options)
{
    return mw__surface_release(options, MW__KIND_OPERATION_OPTIONS);
}

e5rt_error_code e5rt_precompiled_compute_op_create_options_set_operation_name(void *handle, const char *name)
{
    mw_error *err = mw__surface_begin();
    mw__operation_options *options = mw__surface_get(handle, MW__KIND_OPERATION_OPTIONS, "options", err);
    if (options != NULL && mw__surface_text(name, "operationName", err) == MW_OK)
        set_text(&options->options, &options->operation_name, name, err);
    return mw__surface_end(err);
}

e5rt_error_code e5rt_execution_stream_operation_config_options_create(void **out)
{
    return create_object(out, sizeof(mw__operation_config), MW__KIND_OPERATION_CONFIG);
}

e5rt_error_code e5rt_execution_stream_operation_config_options_release(void **options)
{
    return mw__surface_release(options, MW__KIND_OPERATION_CONFIG);
}

e5rt_error_code e5rt_execution_stream_config_options_create(void **out)
{
    return create_object(out, sizeof(mw__stream_config), MW__KIND_STREAM_CONFIG);
}

e5rt_error_code e5rt_execution_stream_config_options_release(void **options)
{
    return mw__surface_release(options, MW__KIND_STREAM_CONFIG);
}

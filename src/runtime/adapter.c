/* Adapters in PEFT's form: adapter_model.safetensors and adapter_config.json in one folder. */
#include "base/file.h"
#include "base/number.h"
#include "base/text.h"
#include "graph/tune.h"
#include "runtime/safetensors.h"
#include "runtime/trainer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PREFIX     "base_model.model."
#define CONFIG_MAX ((size_t)1 << 20)

/* What a trainer's graph says about its adapters. */
typedef struct adapters {
    mw_trainer *trainer;
    mw__arena arena;
    const char **names; /* [state count], in the file; NULL = not part of it */
    int64_t rank;       /* of the first; 0 = there are none */
    double alpha;
} adapters;

static bool ends_with(const char *name, const char *suffix)
{
    const size_t length = strlen(name), tail = strlen(suffix);
    return length > tail && strcmp(name + length - tail, suffix) == 0;
}

static const char *join(adapters *a, const char *first, size_t length, const char *second, mw_error *err)
{
    char text[sizeof PREFIX + 2 * MW__TUNE_NAME];
    const int size = snprintf(text, sizeof text, "%.*s%s", (int)length, first, second);
    if (size < 0 || (size_t)size >= sizeof text) {
        mw__fail(err, MW_ERROR_ARGUMENT, "lora: the name \"%.96s\" is too long", first);
        return NULL;
    }
    return mw__arena_string(&a->arena, text, (size_t)size, err);
}

static mw_status read_numbers(adapters *a, const mw__state_entry *entry, mw_error *err)
{
    const size_t module = strlen(entry->name) - strlen(MW__LORA_A);
    const char *name = join(a, entry->name, module, MW__LORA_SCALE, err);
    if (name == NULL)
        return MW_ERROR_MEMORY;
    const mw_tensor *scale = mw_graph_find(a->trainer->model, name);
    if (scale == NULL || scale->payload == NULL || a->rank != 0)
        return MW_OK;
    a->rank = entry->shape.dim[0];
    a->alpha = mw__payload_float(scale->payload, 0) * (double)a->rank;
    return MW_OK;
}

/* Every parameter is part of the file; frozen ones are states. */
static mw_status name_tensors(adapters *a, mw_error *err)
{
    const mw__state_set *state = &a->trainer->state;
    a->names = mw__arena_alloc(&a->arena, state->count, sizeof *a->names, err);
    if (a->names == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < state->count; i++) {
        const mw__state_entry *entry = &state->entries[i];
        const mw_tensor *value = mw_graph_find(a->trainer->model, entry->name);
        char name[MW__TUNE_NAME];
        if (value == NULL || value->role != MW__PARAMETER)
            continue;
        if (!mw__torch_name(entry->name, name))
            return mw__fail(err, MW_ERROR_ARGUMENT, "lora: the name \"%.96s\" is too long", entry->name);
        a->names[i] = join(a, PREFIX, sizeof PREFIX - 1, name, err);
        if (a->names[i] == NULL)
            return mw__failed(err) ? err->status : MW_ERROR_MEMORY;
        if (ends_with(entry->name, MW__LORA_A))
            MW_TRY(read_numbers(a, entry, err));
    }
    return a->rank > 0
               ? MW_OK
               : mw__fail(err, MW_ERROR_ARGUMENT, "the trainer has no adapter: make its graph with mw_graph_lora");
}

static mw_status begin(adapters *a, mw_trainer *trainer, const char *folder, const char *call, mw_error *err)
{
    MW_TRY(mw__trainer_check_path(trainer, folder, call, err));
    *a = (adapters){.trainer = trainer};
    mw__arena_init(&a->arena, trainer->allocator);
    const mw_status status = name_tensors(a, err);
    if (status != MW_OK)
        mw__arena_deinit(&a->arena);
    return status;
}

/* ---- the configuration ---- */

static void put_string(mw__text *text, const char *string, size_t length)
{
    mw__text_puts(text, "\"");
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)string[i] < 0x20)
            mw__text_printf(text, "\\u%04x", (unsigned)string[i]);
        else
            mw__text_printf(text, string[i] == '"' || string[i] == '\\' ? "\\%c" : "%c", string[i]);
    }
    mw__text_puts(text, "\"");
}

/* The modules with an adapter, or those that are trained themselves. */
static void put_modules(mw__text *text, const adapters *a, bool with_adapter)
{
    const char *before = "";
    mw__text_puts(text, "[");
    for (size_t i = 0; i < a->trainer->state.count; i++) {
        if (a->names[i] == NULL || ends_with(a->names[i], MW__LORA_B) ||
            ends_with(a->names[i], MW__LORA_A) != with_adapter)
            continue;
        const char *name = a->names[i] + sizeof PREFIX - 1, *end = strrchr(name, '.');
        size_t length = end != NULL ? (size_t)(end - name) : strlen(name);
        if (with_adapter)
            length = strlen(name) - strlen(MW__LORA_A);
        mw__text_puts(text, before);
        put_string(text, name, length);
        before = ", ";
    }
    mw__text_puts(text, "]");
}

static mw_status write_config(const adapters *a, const char *path, mw_error *err)
{
    mw__text text;
    char alpha[MW__NUMBER_MAX];
    mw__number_print_float(alpha, (float)a->alpha);
    mw__text_init(&text, a->trainer->allocator);
    mw__text_printf(&text, "{\n  \"peft_type\": \"LORA\",\n  \"r\": %lld,\n  \"lora_alpha\": %s,\n", (long long)a->rank,
                    alpha);
    mw__text_puts(&text, "  \"lora_dropout\": 0.0,\n  \"bias\": \"none\",\n  \"fan_in_fan_out\": false,\n"
                         "  \"inference_mode\": true,\n  \"target_modules\": ");
    put_modules(&text, a, true);
    mw__text_puts(&text, ",\n  \"modules_to_save\": ");
    put_modules(&text, a, false);
    mw__text_puts(&text, "\n}\n");
    mw_status status = mw__text_check(&text, err);
    if (status == MW_OK)
        status = mw__file_write(a->trainer->allocator, path, text.data, text.size, true, err);
    mw__text_deinit(&text);
    return status;
}

#define SPACES " \t\r\n"

/* The closing quote of a string that begins at `at`, or the end of the text. */
static const char *end_of_string(const char *at)
{
    while (*at != '\0' && *at != '"')
        at += *at == '\\' && at[1] != '\0' ? 2 : 1;
    return at;
}

/* The value of a key of the outermost object, in a text that others may have written, with more in it than our JSON
 * reader takes; NULL if there is none. */
static const char *find_value(const char *text, const char *key)
{
    const size_t length = strlen(key);
    int depth = 0;
    for (const char *at = text; *at != '\0'; at++) {
        depth += *at == '{' || *at == '[';
        depth -= *at == '}' || *at == ']';
        if (*at != '"')
            continue;
        const char *name = at + 1;
        at = end_of_string(name);
        if (*at == '\0')
            return NULL;
        const char *behind = at + 1 + strspn(at + 1, SPACES);
        if (depth == 1 && *behind == ':' && (size_t)(at - name) == length && memcmp(name, key, length) == 0)
            return behind + 1 + strspn(behind + 1, SPACES);
    }
    return NULL;
}

static bool find_number(const char *text, const char *key, double *out)
{
    const char *at = find_value(text, key);
    return at != NULL && mw__number_read(at, strcspn(at, ",}" SPACES), MW__NUMBER_F64, out);
}

/* An object whose end is there. */
static bool is_whole(const char *text)
{
    size_t size = strlen(text);
    while (size > 0 && strchr(SPACES, text[size - 1]) != NULL)
        size--;
    return text[strspn(text, SPACES)] == '{' && size > 0 && text[size - 1] == '}';
}

/* Kinds of adapters whose files look the same and mean something else. */
static mw_status check_kind(const char *text, const char *path, mw_error *err)
{
    static const char *const flags[] = {"use_rslora", "use_dora"};
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        const char *value = find_value(text, flags[i]);
        if (value != NULL && strncmp(value, "true", 4) == 0)
            return mw__fail(err, MW_ERROR_UNSUPPORTED, "\"%.200s\" has %s: such adapters are not known here", path,
                            flags[i]);
    }
    const char *alphas = find_value(text, "alpha_pattern");
    if (alphas != NULL && *alphas == '{' && alphas[1 + strspn(alphas + 1, SPACES)] != '}')
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "\"%.200s\" has an alpha_pattern: one alpha for all is known here",
                        path);
    return MW_OK;
}

/* A file of another scale would train on as something else. */
static mw_status check_scale(const adapters *a, const char *text, const char *path, mw_error *err)
{
    double alpha = 0.0, rank = 0.0;
    if (!is_whole(text) || !find_number(text, "lora_alpha", &alpha) || !find_number(text, "r", &rank))
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\" has no lora_alpha and r, or is cut off", path);
    MW_TRY(check_kind(text, path, err));
    if (rank == (double)a->rank && fabs(alpha - a->alpha) <= 1e-6 * fabs(a->alpha))
        return MW_OK;
    return mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\" has r = %g and lora_alpha = %g, the trainer %lld and %g", path,
                    rank, alpha, (long long)a->rank, a->alpha);
}

static mw_status check_config(const adapters *a, const char *path, mw_error *err)
{
    char *text = NULL;
    size_t size = 0;
    MW_TRY(mw__file_read(a->trainer->allocator, path, CONFIG_MAX, &text, &size, err));
    const mw_status status = check_scale(a, text, path, err);
    mw__free(a->trainer->allocator, text);
    return status;
}

/* ---- names of others ---- */

static bool same_but_dots(const char *a, const char *b)
{
    for (; *a != '\0' && *b != '\0'; a++, b++)
        if (*a != *b && !((*a == '.' || *a == '_') && (*b == '.' || *b == '_')))
            return false;
    return *a == *b;
}

/* The one tensor that `name` may mean; NULL if there is none or more than one. */
static const char *find_similar(const mw__safetensors *file, const char *name)
{
    const char *found = NULL;
    for (size_t i = 0; i < file->count; i++) {
        if (!same_but_dots(file->tensors[i].name, name))
            continue;
        if (found != NULL)
            return NULL;
        found = file->tensors[i].name;
    }
    return found;
}

/* A text has underscores where the modules of PyTorch have dots. */
static mw_status match_names(adapters *a, const char *path, mw_error *err)
{
    mw__safetensors file;
    mw_status status = mw__safetensors_open(&file, a->trainer->allocator, path, err);
    if (status != MW_OK)
        return status;
    for (size_t i = 0; i < a->trainer->state.count && status == MW_OK; i++) {
        if (a->names[i] == NULL || mw__safetensors_find(&file, a->names[i]) != NULL)
            continue;
        const char *similar = find_similar(&file, a->names[i]);
        if (similar == NULL)
            continue;
        a->names[i] = mw__arena_string(&a->arena, similar, strlen(similar), err);
        status = a->names[i] != NULL ? MW_OK : MW_ERROR_MEMORY;
    }
    mw__safetensors_close(&file);
    return status;
}

/* ---- public ---- */

static mw_status make_paths(adapters *a, const char *folder, const char **out_tensors, const char **out_config,
                            mw_error *err)
{
    const size_t length = strlen(folder), size = length + sizeof "/adapter_model.safetensors";
    char *tensors = mw__arena_alloc(&a->arena, size, 1, err), *config = mw__arena_alloc(&a->arena, size, 1, err);
    if (tensors == NULL || config == NULL)
        return MW_ERROR_MEMORY;
    snprintf(tensors, size, "%s/adapter_model.safetensors", folder);
    snprintf(config, size, "%s/adapter_config.json", folder);
    *out_tensors = tensors;
    *out_config = config;
    return MW_OK;
}

mw_status mw_trainer_save_lora(mw_trainer *trainer, const char *folder, mw_error *err)
{
    if (mw__skips(err))
        return err->status;
    adapters a;
    const char *tensors, *config;
    MW_TRY(begin(&a, trainer, folder, "mw_trainer_save_lora", err));
    mw_status status = make_paths(&a, folder, &tensors, &config, err);
    if (status == MW_OK)
        status = mw__file_make_folders(folder, err);
    if (status == MW_OK)
        status = mw__weights_write(trainer, tensors, a.names, err);
    if (status == MW_OK)
        status = write_config(&a, config, err);
    mw__arena_deinit(&a.arena);
    return status;
}

mw_status mw_trainer_load_lora(mw_trainer *trainer, const char *folder, mw_error *err)
{
    if (mw__skips(err))
        return err->status;
    adapters a;
    const char *tensors, *config;
    MW_TRY(begin(&a, trainer, folder, "mw_trainer_load_lora", err));
    mw_status status = make_paths(&a, folder, &tensors, &config, err);
    if (status == MW_OK)
        status = check_config(&a, config, err);
    if (status == MW_OK)
        status = match_names(&a, tensors, err);
    if (status == MW_OK)
        status = mw__weights_read(trainer, tensors, a.names, err);
    mw__arena_deinit(&a.arena);
    return status;
}

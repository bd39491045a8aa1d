/* Adapters in PEFT's form: adapter_model.safetensors and adapter_config.json in one folder. */
#include "base/file.h"
#include "base/float_mode.h"
#include "base/number.h"
#include "base/text.h"
#include "graph/transform/trainable.h"
#include "runtime/adapter_config.h"
#include "runtime/safetensors.h"
#include "runtime/trainer/trainer_object.h"
#include "runtime/weights.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PREFIX     "base_model.model."
#define ALPHA_NOTE "mw.lora_alpha" /* in the metadata of the tensors */

/* What is known of adapters from a trainer's graph. */
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

static mw_status write_tensors(const adapters *a, const char *path, mw_error *err)
{
    char alpha[MW__NUMBER_MAX];
    mw__number_print_float(alpha, (float)a->alpha);
    return mw__weights_write(a->trainer, path, a->names, &(mw__safetensors_note){ALPHA_NOTE, alpha}, err);
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

/* A file of another scale would train on as something else. */
static mw_status check_scale(const adapters *a, const mw__adapter_config *config, const char *path, mw_error *err)
{
    if (config->rank == (double)a->rank && fabs(config->alpha - a->alpha) <= 1e-6 * fabs(a->alpha))
        return MW_OK;
    return mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\" has r = %g and lora_alpha = %g, the trainer %lld and %g", path,
                    config->rank, config->alpha, (long long)a->rank, a->alpha);
}

static bool same_but_dots(const char *a, const char *b);

/* True if the trainer trains a module itself that has this name, or a name that ends with it behind a dot. */
static bool trains_module(const adapters *a, const char *module)
{
    const size_t length = strlen(module);
    for (size_t i = 0; i < a->trainer->state.count; i++) {
        char name[MW__TUNE_NAME];
        if (a->names[i] == NULL || ends_with(a->names[i], MW__LORA_A) || ends_with(a->names[i], MW__LORA_B))
            continue;
        snprintf(name, sizeof name, "%s", a->names[i] + sizeof PREFIX - 1);
        char *end = strrchr(name, '.');
        if (end != NULL)
            *end = '\0';
        const size_t own = strlen(name);
        if (own >= length && same_but_dots(name + own - length, module) &&
            (own == length || name[own - length - 1] == '.' || name[own - length - 1] == '_'))
            return true;
    }
    return false;
}

static mw_status check_config(const adapters *a, const char *path, mw_error *err)
{
    mw__adapter_config config;
    mw_status status = mw__adapter_config_read(a->trainer->allocator, path, &config, err);
    if (status == MW_OK)
        status = check_scale(a, &config, path, err);
    if (status == MW_OK && config.module_count > a->trainer->state.count)
        status = mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\" has %zu modules_to_save, the trainer %zu tensors", path,
                          config.module_count, a->trainer->state.count);
    for (size_t i = 0; status == MW_OK && i < config.module_count; i++)
        if (!trains_module(a, config.modules[i]))
            status = mw__fail(err, MW_ERROR_UNSUPPORTED,
                              "\"%.200s\" has modules_to_save \"%.96s\", which the trainer's graph does not train",
                              path, config.modules[i]);
    mw__adapter_config_deinit(&config);
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

/* The two files cannot be replaced in one: new tensors beside an old configuration would have another scale. */
static mw_status check_same_save(const adapters *a, const mw__safetensors *file, mw_error *err)
{
    const char *said = mw__safetensors_metadata(file, ALPHA_NOTE);
    double alpha = 0.0;
    if (said == NULL || (mw__number_read(said, strlen(said), MW__NUMBER_F64, &alpha) &&
                         fabs(alpha - a->alpha) <= 1e-6 * fabs(a->alpha)))
        return MW_OK;
    return mw__fail(
        err, MW_ERROR_FORMAT,
        "\"%.200s\" was saved with lora_alpha = %.40s, the adapter_config.json beside it says %g: they are of "
        "two saves",
        file->path, said, a->alpha);
}

/* A text has underscores where the modules of PyTorch have dots. */
static mw_status match_names(adapters *a, const char *path, mw_error *err)
{
    mw__safetensors file;
    mw_status status = mw__safetensors_open_in_folder(&file, a->trainer->allocator, path, err);
    if (status != MW_OK)
        return status;
    status = check_same_save(a, &file, err);
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

static mw_status save_lora(mw_trainer *trainer, const char *folder, mw_error *err)
{
    adapters a;
    const char *tensors, *config;
    MW_TRY(begin(&a, trainer, folder, "mw_trainer_save_lora", err));
    mw_status status = make_paths(&a, folder, &tensors, &config, err);
    if (status == MW_OK)
        status = mw__file_make_folders(folder, err);
    if (status == MW_OK)
        status = write_tensors(&a, tensors, err);
    if (status == MW_OK)
        status = write_config(&a, config, err);
    mw__arena_deinit(&a.arena);
    return status;
}

mw_status mw_trainer_save_lora(mw_trainer *trainer, const char *folder, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return err->status;
    mw__entry entry;
    MW_TRY(mw__trainer_enter(&entry, trainer, __func__, MW__LENT_IN_PROGRESS, err));
    return mw__trainer_leave(&entry, save_lora(trainer, folder, err), err);
}

static mw_status load_lora(mw_trainer *trainer, const char *folder, mw_error *err)
{
    adapters a;
    const char *tensors, *config;
    MW_TRY(begin(&a, trainer, folder, "mw_trainer_load_lora", err));
    mw_status status = make_paths(&a, folder, &tensors, &config, err);
    if (status == MW_OK)
        status = check_config(&a, config, err);
    if (status == MW_OK)
        status = match_names(&a, tensors, err);
    if (status == MW_OK)
        status = mw__weights_read(trainer, tensors, true, a.names, err);
    mw__arena_deinit(&a.arena);
    return status;
}

mw_status mw_trainer_load_lora(mw_trainer *trainer, const char *folder, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return err->status;
    mw__entry entry;
    MW_TRY(mw__trainer_enter(&entry, trainer, __func__, MW__LENT_IN_PROGRESS, err));
    return mw__trainer_leave(&entry, load_lora(trainer, folder, err), err);
}

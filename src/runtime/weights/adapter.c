/* Adapters in PEFT's form: adapter_model.safetensors and adapter_config.json in one folder. */
#include "runtime/weights/adapter.h"
#include "base/file/file.h"
#include "base/number/number.h"
#include "base/text/json_write.h"
#include "base/text/string.h"
#include "base/text/text.h"
#include "runtime/weights/adapter_config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define PREFIX "base_model.model."

static const char *join_name(mw__adapters *a, const char *first, size_t length, const char *second, mw_error *err)
{
    char text[sizeof PREFIX + 2 * MW__TUNE_NAME];
    const int size = snprintf(text, sizeof text, "%.*s%s", (int)length, first, second);
    if (size < 0 || (size_t)size >= sizeof text) {
        mw__fail(err, MW_ERROR_ARGUMENT, "lora: the name \"%.96s\" is too long", first);
        return NULL;
    }
    return mw__arena_string(&a->arena, text, (size_t)size, err);
}

mw_status mw__adapter_scale(const mw_graph *graph, const char *name, mw_shape shape, mw__adapter_numbers *out,
                            mw_error *err)
{
    char scale[2 * MW__TUNE_NAME];
    if (out->rank != 0 || !mw__string_ends(name, MW__LORA_A))
        return MW_OK;
    const int module = (int)(strlen(name) - strlen(MW__LORA_A));
    const int size = snprintf(scale, sizeof scale, "%.*s%s", module, name, MW__LORA_SCALE);
    if (size < 0 || (size_t)size >= sizeof scale)
        return mw__fail(err, MW_ERROR_ARGUMENT, "lora: the name \"%.96s\" is too long", name);
    const mw_tensor *value = mw_graph_find(graph, scale);
    if (value == NULL || value->payload == NULL)
        return MW_OK;
    out->rank = shape.dim[0];
    out->alpha = mw__payload_float(value->payload, 0) * (double)out->rank;
    return MW_OK;
}

static mw_status name_tensor(mw__adapters *a, mw__weight_slot *slot, mw_error *err)
{
    char name[MW__TUNE_NAME];
    if (!mw__tune_torch_name(slot->name, name))
        return mw__fail(err, MW_ERROR_ARGUMENT, "lora: the name \"%.96s\" is too long", slot->name);
    slot->in_file = join_name(a, PREFIX, sizeof PREFIX - 1, name, err);
    return slot->in_file != NULL ? MW_OK : mw__failed(err) ? err->status : MW_ERROR_MEMORY;
}

/* ---- the two files ---- */

static mw_status make_paths(mw__adapters *a, const char *folder, mw_error *err)
{
    const size_t length = strlen(folder), size = length + sizeof "/adapter_model.safetensors";
    a->tensors_path = mw__arena_alloc(&a->arena, size, 1, err);
    a->config_path = mw__arena_alloc(&a->arena, size, 1, err);
    if (a->tensors_path == NULL || a->config_path == NULL)
        return MW_ERROR_MEMORY;
    snprintf(a->tensors_path, size, "%s/adapter_model.safetensors", folder);
    snprintf(a->config_path, size, "%s/adapter_config.json", folder);
    return MW_OK;
}

static bool has_entry(const char *folder, const char *name)
{
    struct stat status;
    char path[4096];
    const int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    return length > 0 && (size_t)length < sizeof path && stat(path, &status) == 0;
}

/* A folder with weights of a model, as hubs have them, is none; one without either is said to lack its configuration.
 */
bool mw__is_adapter_folder(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode))
        return false;
    return has_entry(path, "adapter_config.json") ||
           (!has_entry(path, MW__TENSORS_MODEL) && !has_entry(path, MW__TENSORS_INDEX));
}

mw_status mw__adapters_check_options(const mw_weights_options *options, const char *folder, mw_error *err)
{
    if (options == NULL)
        return MW_OK;
    MW_TRY(mw__weights_check_load_options(options, false, err));
    const char *given = options->prefix_count > 0 ? "prefixes"
                        : options->name != NULL   ? "name"
                        : options->report != NULL ? "report"
                        : options->partial        ? "partial"
                        : options->new_heads      ? "new_heads"
                        : options->base           ? "base"
                                                  : NULL;
    if (given == NULL)
        return MW_OK;
    return mw__fail(err, MW_ERROR_ARGUMENT,
                    "\"%.200s\" is an adapter, whose names say what they belong to: `%s` is for "
                    "files of tensors",
                    folder, given);
}

mw_status mw__adapters_init(mw__adapters *a, const mw__weight_slots *slots, mw__adapter_numbers numbers,
                            const char *folder, mw_error *err)
{
    *a = (mw__adapters){.slots = *slots, .numbers = numbers};
    mw__arena_init(&a->arena, slots->allocator);
    if (numbers.rank == 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s has no adapter: make its graph with mw_graph_lora", slots->owner);
    for (size_t i = 0; i < slots->count; i++)
        if (slots->slot[i].in_file != NULL)
            MW_TRY(name_tensor(a, &slots->slot[i], err));
    return make_paths(a, folder, err);
}

void mw__adapters_deinit(mw__adapters *a) { mw__arena_deinit(&a->arena); }

/* ---- the configuration ---- */

/* The modules with an adapter, or those that are trained themselves. */
static void put_modules(mw__text *text, const mw__adapters *a, bool with_adapter)
{
    const char *before = "";
    mw__text_puts(text, "[");
    for (size_t i = 0; i < a->slots.count; i++) {
        const char *in_file = a->slots.slot[i].in_file;
        if (in_file == NULL || mw__string_ends(in_file, MW__LORA_B) ||
            mw__string_ends(in_file, MW__LORA_A) != with_adapter)
            continue;
        const char *name = in_file + sizeof PREFIX - 1, *end = strrchr(name, '.');
        size_t length = end != NULL ? (size_t)(end - name) : strlen(name);
        if (with_adapter)
            length = strlen(name) - strlen(MW__LORA_A);
        mw__text_puts(text, before);
        mw__json_put_bytes(text, name, length, MW__JSON_EXACT);
        before = ", ";
    }
    mw__text_puts(text, "]");
}

mw_status mw__adapters_write_config(const mw__adapters *a, mw_error *err)
{
    mw__text text;
    char alpha[MW__NUMBER_MAX];
    mw__number_print_float(alpha, (float)a->numbers.alpha);
    mw__text_init(&text, a->slots.allocator);
    mw__text_printf(&text, "{\n  \"peft_type\": \"LORA\",\n  \"r\": %lld,\n  \"lora_alpha\": %s,\n",
                    (long long)a->numbers.rank, alpha);
    mw__text_puts(&text, "  \"lora_dropout\": 0.0,\n  \"bias\": \"none\",\n  \"fan_in_fan_out\": false,\n"
                         "  \"inference_mode\": true,\n  \"target_modules\": ");
    put_modules(&text, a, true);
    mw__text_puts(&text, ",\n  \"modules_to_save\": ");
    put_modules(&text, a, false);
    mw__text_puts(&text, "\n}\n");
    mw_status status = mw__text_check(&text, err);
    if (status == MW_OK)
        status = mw__file_write(a->slots.allocator, a->config_path, text.data, text.size, true, err);
    mw__text_deinit(&text);
    return status;
}

/* A file of another scale would train on as something else. */
static mw_status check_scale(const mw__adapters *a, const mw__adapter_config *config, mw_error *err)
{
    const mw__adapter_numbers *own = &a->numbers;
    if (config->rank == (double)own->rank && fabs(config->alpha - own->alpha) <= 1e-6 * fabs(own->alpha))
        return MW_OK;
    return mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\" has r = %g and lora_alpha = %g, %s %lld and %g", a->config_path,
                    config->rank, config->alpha, a->slots.owner, (long long)own->rank, own->alpha);
}

static bool same_but_dots(const char *a, const char *b);

/* True if a module is trained itself that has this name, or a name that ends with it behind a dot. */
static bool trains_module(const mw__adapters *a, const char *module)
{
    const size_t length = strlen(module);
    for (size_t i = 0; i < a->slots.count; i++) {
        char name[MW__TUNE_NAME];
        const char *in_file = a->slots.slot[i].in_file;
        if (in_file == NULL || mw__string_ends(in_file, MW__LORA_A) || mw__string_ends(in_file, MW__LORA_B))
            continue;
        snprintf(name, sizeof name, "%s", in_file + sizeof PREFIX - 1);
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

static mw_status check_modules(const mw__adapters *a, const mw__adapter_config *config, mw_error *err)
{
    if (config->module_count > a->slots.count)
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\" has %zu modules_to_save, %s %zu tensors", a->config_path,
                        config->module_count, a->slots.owner, a->slots.count);
    for (size_t i = 0; i < config->module_count; i++)
        if (!trains_module(a, config->modules[i]))
            return mw__fail(err, MW_ERROR_UNSUPPORTED,
                            "\"%.200s\" has modules_to_save \"%.96s\", which the graph of %s does not train",
                            a->config_path, config->modules[i], a->slots.owner);
    return MW_OK;
}

static mw_status check_config(const mw__adapters *a, mw_error *err)
{
    mw__adapter_config config;
    mw_status status = mw__adapter_config_read(a->slots.allocator, a->config_path, &config, err);
    if (status == MW_OK)
        status = check_scale(a, &config, err);
    if (status == MW_OK)
        status = check_modules(a, &config, err);
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
static mw_status check_same_save(const mw__adapters *a, const mw__safetensors *file, mw_error *err)
{
    const double own = a->numbers.alpha;
    const char *said = mw__safetensors_metadata(file, MW__ADAPTER_NOTE);
    double alpha = 0.0;
    if (said == NULL ||
        (mw__number_read(said, strlen(said), MW__NUMBER_F64, &alpha) && fabs(alpha - own) <= 1e-6 * fabs(own)))
        return MW_OK;
    return mw__fail(err, MW_ERROR_FORMAT,
                    "\"%.200s\" was saved with lora_alpha = %.40s, the adapter_config.json beside it says %g: they are "
                    "of two saves",
                    file->path, said, own);
}

/* A text has underscores where the modules of PyTorch have dots. */
static mw_status match_names(mw__adapters *a, mw_error *err)
{
    mw__safetensors file;
    mw_status status = mw__safetensors_open_in_folder(&file, a->slots.allocator, a->tensors_path, err);
    if (status != MW_OK)
        return status;
    status = check_same_save(a, &file, err);
    for (size_t i = 0; i < a->slots.count && status == MW_OK; i++) {
        mw__weight_slot *slot = &a->slots.slot[i];
        if (slot->in_file == NULL || mw__safetensors_find(&file, slot->in_file) != NULL)
            continue;
        const char *similar = find_similar(&file, slot->in_file);
        if (similar == NULL)
            continue;
        slot->in_file = mw__arena_string(&a->arena, similar, strlen(similar), err);
        status = slot->in_file != NULL ? MW_OK : MW_ERROR_MEMORY;
    }
    mw__safetensors_close(&file);
    return status;
}

mw_status mw__adapters_check(mw__adapters *a, mw_error *err)
{
    MW_TRY(check_config(a, err));
    return match_names(a, err);
}

/* Reads adapter_config.json. The keys are those that PEFT 0.19 writes for LoRA (huggingface/peft,
 * src/peft/tuners/lora/config.py). */
#include "runtime/weights/adapter_config.h"

#include "base/file/file.h"
#include "base/number/number.h"
#include "base/text/error.h"
#include "base/text/json.h"

#include <string.h>

#define CONFIG_MAX ((size_t)1 << 20)

typedef enum key_kind {
    NEUTRAL, /* whatever has no row here: null, false, {} or [] */
    ANY,     /* without effect on the numbers: where the adapter comes from, how it was trained */
    WORD,    /* one of `words`, or null */
    RANK,
    ALPHA,
    MODULES
} key_kind;

typedef struct key_row {
    const char *key;
    key_kind kind;
    const char *words[4];
} key_row;

/* init_lora_weights: pissa, olora, loftq and their kin change the weights that the adapter is added to. */
static const key_row rows[] = {
    {"r", RANK, {NULL}},
    {"lora_alpha", ALPHA, {NULL}},
    {"modules_to_save", MODULES, {NULL}},
    {"peft_type", WORD, {"LORA"}},
    {"bias", WORD, {"none"}},
    {"init_lora_weights", WORD, {"true", "gaussian", "orthogonal"}},
    {"auto_mapping", ANY, {NULL}},
    {"base_model_name_or_path", ANY, {NULL}},
    {"exclude_modules", ANY, {NULL}},
    {"inference_mode", ANY, {NULL}},
    {"layers_pattern", ANY, {NULL}},
    {"layers_to_transform", ANY, {NULL}},
    {"lora_dropout", ANY, {NULL}},
    {"megatron_core", ANY, {NULL}}, /* a default that counts with megatron_config only */
    {"peft_version", ANY, {NULL}},
    {"qalora_group_size", ANY, {NULL}}, /* counts with use_qalora only */
    {"revision", ANY, {NULL}},
    {"target_modules", ANY, {NULL}}, /* the same follows from the tensors' names */
    {"task_type", ANY, {NULL}},
};

static const key_row unknown = {.kind = NEUTRAL};

typedef struct config_reader {
    mw__adapter_config *config;
    const char *path;
    char key[100];      /* of the outermost object, cut: for messages */
    const key_row *row; /* of that key */
    bool has_rank, has_alpha;
} config_reader;

static const key_row *find_row(const char *key)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].key, key) == 0)
            return &rows[i];
    return &unknown;
}

static mw_status refuse_config_key(const config_reader *reader, mw_error *err)
{
    return mw__fail(err, MW_ERROR_UNSUPPORTED, "\"%.200s\" has a value of %s that is not known here", reader->path,
                    reader->key);
}

static mw_status take_number(const config_reader *reader, const mw__json_item *item, double *out, mw_error *err)
{
    if (item->event == MW__JSON_NUMBER)
        *out = (double)item->number;
    else if (item->event != MW__JSON_REAL || !mw__number_read(item->text, item->length, MW__NUMBER_F64, out))
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\": %s is no number", reader->path, reader->key);
    return MW_OK;
}

static mw_status check_word(const config_reader *reader, const mw__json_item *item, mw_error *err)
{
    const char *word = item->event == MW__JSON_STRING ? item->text : item->event == MW__JSON_TRUE ? "true" : "";
    for (size_t i = 0; i < sizeof reader->row->words / sizeof *reader->row->words; i++)
        if (reader->row->words[i] != NULL && strcmp(reader->row->words[i], word) == 0)
            return MW_OK;
    if (item->event == MW__JSON_STRING)
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "\"%.200s\" has %s \"%.60s\": only \"%s\" is known here",
                        reader->path, reader->key, item->text, reader->row->words[0]);
    return item->event == MW__JSON_NULL || item->event == MW__JSON_FALSE ? MW_OK : refuse_config_key(reader, err);
}

static mw_status take_module(config_reader *reader, const mw__json_item *item, mw_error *err)
{
    mw__adapter_config *config = reader->config;
    if (item->event != MW__JSON_STRING)
        return refuse_config_key(reader, err);
    const char *name = mw__arena_string(&config->arena, item->text, item->length, err);
    if (name == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(mw__grow(config->arena.allocator, (void **)&config->modules, &config->module_capacity,
                    config->module_count + 1, sizeof *config->modules, err));
    config->modules[config->module_count++] = name;
    return MW_OK;
}

/* A value of the outermost object. */
static mw_status take_value(config_reader *reader, const mw__json_item *item, mw_error *err)
{
    const bool opens = item->event == MW__JSON_BEGIN_OBJECT || item->event == MW__JSON_BEGIN_ARRAY;
    switch (reader->row->kind) {
    case RANK:
        reader->has_rank = true;
        return take_number(reader, item, &reader->config->rank, err);
    case ALPHA:
        reader->has_alpha = true;
        return take_number(reader, item, &reader->config->alpha, err);
    case WORD:
        return check_word(reader, item, err);
    case MODULES:
        return item->event == MW__JSON_NULL || item->event == MW__JSON_BEGIN_ARRAY ? MW_OK
                                                                                   : refuse_config_key(reader, err);
    case NEUTRAL:
        return opens || item->event == MW__JSON_NULL || item->event == MW__JSON_FALSE ? MW_OK
                                                                                      : refuse_config_key(reader, err);
    case ANY:
        break;
    }
    return MW_OK;
}

/* Depth 0 is the object itself, 1 its keys and values, 2 what is within them. */
static mw_status on_item(void *user, const mw__json_item *item, mw_error *err)
{
    config_reader *reader = user;
    const bool closes = item->event == MW__JSON_END_OBJECT || item->event == MW__JSON_END_ARRAY;
    if (item->depth == 0 && item->event != MW__JSON_BEGIN_OBJECT && item->event != MW__JSON_END_OBJECT)
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\" holds no object", reader->path);
    if (item->depth == 0 || closes)
        return MW_OK;
    if (item->depth == 1 && item->event == MW__JSON_KEY) {
        reader->row = find_row(item->text);
        strncpy(reader->key, item->text, sizeof reader->key - 1);
        return MW_OK;
    }
    if (item->depth == 1)
        return take_value(reader, item, err);
    if (reader->row->kind == MODULES)
        return take_module(reader, item, err);
    return reader->row->kind == ANY ? MW_OK : refuse_config_key(reader, err);
}

static mw_status read_config(config_reader *reader, const char *text, size_t size, mw_error *err)
{
    mw_error reason = {0};
    const mw_status status = mw__json_read_all(reader->config->arena.allocator, text, size, on_item, reader, &reason);
    if (status != MW_OK && reason.text_line == 0)
        return mw__fail(err, status, "%s", reason.message);
    if (status != MW_OK) {
        mw__fail(err, status, "\"%.200s\": %.250s", reader->path, reason.message);
        mw__error_position(err, reason.text_line, reason.text_column);
        return status;
    }
    return reader->has_rank && reader->has_alpha
               ? MW_OK
               : mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\" has no lora_alpha and r", reader->path);
}

/* The folder has it by convention: links in it do not lead out of its tree. */
static mw_status read_text(const mw_allocator *allocator, const char *path, char **out, size_t *out_size, mw_error *err)
{
    mw__file file;
    MW_TRY(mw__file_open_in_folder(&file, path, err));
    const mw_status status = mw__file_read_open(allocator, &file, path, CONFIG_MAX, out, err);
    *out_size = (size_t)file.size;
    mw__file_close(&file);
    return status;
}

mw_status mw__adapter_config_read(const mw_allocator *allocator, const char *path, mw__adapter_config *out,
                                  mw_error *err)
{
    char *text = NULL;
    size_t size = 0;
    *out = (mw__adapter_config){.rank = 0};
    mw__arena_init(&out->arena, allocator);
    MW_TRY(read_text(allocator, path, &text, &size, err));
    config_reader reader = {.config = out, .path = path, .row = &unknown};
    const mw_status status = read_config(&reader, text, size, err);
    mw__free(allocator, text);
    return status;
}

void mw__adapter_config_deinit(mw__adapter_config *config)
{
    mw__free(config->arena.allocator, (void *)config->modules);
    mw__arena_deinit(&config->arena);
}

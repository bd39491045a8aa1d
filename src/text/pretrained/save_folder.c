/* Writes a folder: weights under the names of a folder, in its shards and types, and the files that make it whole. */
#include "base/file/fresh_folder.h"
#include "base/number/fp16.h"
#include "base/text/string.h"
#include "base/text/text.h"
#include "text/pretrained/save.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_MOST = 4300 };

/* A folder that is being made. */
typedef struct folder_saving {
    mw__saving *saving;
    const char *folder;
    mw__arena arena;
} folder_saving;

static mw_status path_in(const char *folder, const char *name, char out[PATH_MOST], mw_error *err)
{
    const int size = snprintf(out, PATH_MOST, "%s/%s", folder, name);
    return size > 0 && size < PATH_MOST ? MW_OK : mw__fail(err, MW_ERROR_ARGUMENT, "save: a path is too long");
}

/* ---- elements ---- */

static mw_dtype saved_dtype(const folder_saving *f, mw_dtype own)
{
    const char *type = f->saving->options->type;
    if (type == NULL || (own != MW_F16 && own != MW_F32 && own != MW_BF16))
        return own;
    return strcmp(type, "F16") == 0 ? MW_F16 : strcmp(type, "BF16") == 0 ? MW_BF16 : MW_F32;
}

/* Floats become halves in place: each takes less room than it had. */
static mw_status narrow(const char *name, float *data, size_t count, mw_dtype dtype, mw_error *err)
{
    uint16_t *out = (uint16_t *)(void *)data;
    for (size_t i = 0; i < count; i++) {
        const float value = data[i];
        uint16_t half = dtype == MW_F16 ? mw__fp16_from_float(value) : 0;
        if (dtype == MW_BF16)
            mw__bf16_from_float_n(&half, &value, 1);
        if (isfinite(value) && (half & 0x7fff) == (dtype == MW_F16 ? 0x7c00 : 0x7f80))
            return mw__fail(err, MW_ERROR_NUMERIC, "element %zu of \"%.150s\" is %g, which %s does not hold", i, name,
                            (double)value, mw_dtype_name(dtype));
        memcpy(&out[i], &half, sizeof half);
    }
    return MW_OK;
}

/* The elements of a weight in the type that they are saved in. */
static mw_status put_weight(folder_saving *f, size_t weight, const char *name, mw_dtype dtype, mw_tensor_values *out,
                            mw_error *err)
{
    const mw_shape shape = f->saving->source.weights[weight].shape;
    const size_t count = (size_t)mw_shape_count(shape);
    float *data = mw__arena_alloc(&f->arena, count, sizeof *data, err);
    if (data == NULL)
        return MW_ERROR_MEMORY;
    *out = (mw_tensor_values){.name = name, .dtype = dtype, .shape = shape, .data = data};
    MW_TRY(mw__saving_read(f->saving, weight, data, err));
    return dtype != MW_F32 ? narrow(name, data, count, dtype, err) : MW_OK;
}

/* A tensor that no part of the network is: as it is. */
static mw_status put_other(folder_saving *f, const mw_tensor_info *info, mw_tensor_values *out, mw_error *err)
{
    void *data = mw__arena_alloc(&f->arena, info->size, 1, err);
    if (data == NULL)
        return MW_ERROR_MEMORY;
    *out = (mw_tensor_values){.name = info->name, .dtype = info->dtype, .shape = info->shape, .data = data};
    return mw_tensors_read(f->saving->source.tensors, info->name, info->dtype, data,
                           (size_t)mw_shape_count(info->shape), err);
}

/* ---- from a folder ---- */

/* The weight that a tensor of the source is; -1 = none. A head that is tied is the table of words. */
static int64_t weight_of(const mw__pretrained *p, const char *name)
{
    const mw__pretrained_weight *found = mw__pretrained_named(p, name);
    return found != NULL ? found - p->weights : -1;
}

static const char *name_in(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* All tensors of one file of the source. */
static mw_status write_shard(folder_saving *f, const char *file, mw_error *err)
{
    const mw__pretrained *p = &f->saving->source;
    const size_t most = mw_tensors_get_info(p->tensors).count;
    char path[PATH_MOST];
    size_t count = 0;
    mw__arena_init(&f->arena, mw__allocator_default());
    mw_tensor_values *values = mw__arena_alloc(&f->arena, most, sizeof *values, err);
    mw_status status = values != NULL ? path_in(f->folder, name_in(file), path, err) : MW_ERROR_MEMORY;
    for (size_t i = 0; i < most && status == MW_OK; i++) {
        const mw_tensor_info *info = mw_tensors_at(p->tensors, i);
        const int64_t weight = weight_of(p, info->name);
        if (strcmp(info->file, file) != 0)
            continue;
        status = weight < 0
                     ? put_other(f, info, &values[count++], err)
                     : put_weight(f, (size_t)weight, info->name, saved_dtype(f, info->dtype), &values[count++], err);
    }
    if (status == MW_OK)
        status = mw_tensors_write(path, values, count, err);
    mw__arena_deinit(&f->arena);
    return status;
}

static bool is_first_of_file(const mw_tensors *tensors, size_t i)
{
    const char *file = mw_tensors_at(tensors, i)->file;
    for (size_t k = 0; k < i; k++)
        if (strcmp(mw_tensors_at(tensors, k)->file, file) == 0)
            return false;
    return true;
}

static mw_status write_shards(folder_saving *f, mw_error *err)
{
    const mw_tensors *tensors = f->saving->source.tensors;
    for (size_t i = 0; i < mw_tensors_get_info(tensors).count; i++)
        if (i == 0 || strcmp(mw_tensors_at(tensors, i)->file, mw_tensors_at(tensors, i - 1)->file) != 0)
            if (is_first_of_file(tensors, i))
                MW_TRY(write_shard(f, mw_tensors_at(tensors, i)->file, err));
    return MW_OK;
}

/* ---- files beside the weights ---- */

/* "torch_dtype": "float32" becomes the type that the weights have now. */
static mw_status put_config(const char *text, const char *type, mw__text *out, mw_error *err)
{
    const char *key = type != NULL ? strstr(text, "\"torch_dtype\"") : NULL;
    key = key == NULL && type != NULL ? strstr(text, "\"dtype\"") : key;
    const char *begin = key != NULL ? strchr(strchr(key + 1, '"') + 1, '"') : NULL;
    const char *end = begin != NULL ? strchr(begin + 1, '"') : NULL;
    const size_t kept = end != NULL ? (size_t)(begin + 1 - text) : strlen(text);
    mw__text_append(out, text, kept);
    if (end != NULL) {
        mw__text_puts(out, strcmp(type, "F16") == 0 ? "float16" : strcmp(type, "BF16") == 0 ? "bfloat16" : "float32");
        mw__text_puts(out, end);
    }
    return mw__text_check(out, err);
}

static mw_status copy_file(const folder_saving *f, const char *name, mw_error *err)
{
    char from[PATH_MOST], to[PATH_MOST], *text = NULL;
    size_t size = 0;
    struct stat found;
    mw__text out;
    MW_TRY(path_in(f->saving->source.path, name, from, err));
    MW_TRY(path_in(f->folder, name, to, err));
    if (stat(from, &found) != 0)
        return MW_OK;
    MW_TRY(mw__file_read(mw__allocator_default(), from, (size_t)1 << 30, &text, &size, err));
    mw__text_init(&out, NULL);
    mw_status status = MW_OK;
    if (strcmp(name, "config.json") == 0)
        status = put_config(text, f->saving->options->type, &out, err);
    else
        mw__text_append(&out, text, size);
    if (status == MW_OK)
        status = mw__text_check(&out, err);
    if (status == MW_OK)
        status = mw__file_write(mw__allocator_default(), to, out.data, out.size, true, err);
    mw__text_deinit(&out);
    mw__free(mw__allocator_default(), text);
    return status;
}

static mw_status copy_files(const folder_saving *f, mw_error *err)
{
    static const char *const names[] = {"config.json",
                                        "generation_config.json",
                                        "model.safetensors.index.json",
                                        "tokenizer.json",
                                        "tokenizer.model",
                                        "tokenizer.bin",
                                        "tokenizer.gguf",
                                        "vocab.json",
                                        "merges.txt",
                                        "vocab.txt",
                                        "added_tokens.json",
                                        "tokenizer_config.json",
                                        "chat_template.json",
                                        "special_tokens_map.json",
                                        "chat_template.jinja",
                                        "modules.json",
                                        "sentence_bert_config.json",
                                        "config_sentence_transformers.json",
                                        "LICENSE",
                                        "NOTICE",
                                        "README.md"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        MW_TRY(copy_file(f, names[i], err));
    return mw__saving_copy_modules(f->saving->source.path, f->folder, err);
}

/* ---- from a file ---- */

static mw_status write_config(const folder_saving *f, mw_dtype dtype, mw_error *err)
{
    char path[PATH_MOST];
    mw__text text;
    MW_TRY(path_in(f->folder, "config.json", path, err));
    mw__text_init(&text, NULL);
    mw__pretrained_put_config(&f->saving->source.config, dtype, &text);
    mw_status status = mw__text_check(&text, err);
    if (status == MW_OK)
        status = mw__file_write(mw__allocator_default(), path, text.data, text.size, true, err);
    mw__text_deinit(&text);
    return status;
}

/* tokenizer.json, which others read as well; where it has no form for a vocabulary, that of GGUF has. */
static mw_status write_tokenizer(const folder_saving *f, const mw_tokenizer *tokenizer, mw_error *err)
{
    char path[PATH_MOST];
    mw_error own = {0};
    const mw__pretrained *p = &f->saving->source;
    const bool check = f->saving->options->check_only;
    MW_TRY(path_in(f->folder, "tokenizer.json", path, err));
    const mw_status status = mw__saving_tokenizer_json(tokenizer, check ? NULL : path, &own);
    if (status == MW_ERROR_UNSUPPORTED) {
        MW_TRY(path_in(f->folder, "tokenizer.gguf", path, err));
        return mw__saving_vocabulary_file(p->path, tokenizer, p->config.words, check ? NULL : path, err);
    }
    if (status != MW_OK)
        *err = own;
    if (status != MW_OK || check || p->form != &mw__pretrained_gguf)
        return status;
    MW_TRY(path_in(f->folder, "tokenizer_config.json", path, err));
    return mw__saving_tokenizer_config(p, tokenizer, path, err);
}

/* llama2.c and llm.c keep their vocabulary elsewhere: where it is not found, the folder has none. */
static mw_status write_vocabulary(const folder_saving *f, mw_error *err)
{
    mw_error own = {0};
    const mw__pretrained *p = &f->saving->source;
    const bool needed = p->form == &mw__pretrained_gguf;
    mw_tokenizer *tokenizer = mw__pretrained_tokenizer(p->path, needed ? err : &own);
    if (tokenizer == NULL)
        return needed ? err->status : MW_OK;
    const mw_status status = write_tokenizer(f, tokenizer, err);
    mw_tokenizer_destroy(tokenizer);
    return status;
}

static mw_dtype own_dtype(const mw__pretrained *p, const mw__pretrained_weight *w)
{
    const mw_tensor_info *info = p->form == &mw__pretrained_gguf ? mw_tensors_find(p->tensors, w->gguf) : NULL;
    return info != NULL && (info->dtype == MW_F16 || info->dtype == MW_BF16) ? info->dtype : MW_F32;
}

static mw_status write_whole(folder_saving *f, mw_error *err)
{
    const mw__pretrained *p = &f->saving->source;
    char path[PATH_MOST];
    MW_TRY(path_in(f->folder, "model.safetensors", path, err));
    mw__arena_init(&f->arena, mw__allocator_default());
    mw_tensor_values *values = mw__arena_alloc(&f->arena, p->count, sizeof *values, err);
    mw_status status = values != NULL ? MW_OK : MW_ERROR_MEMORY;
    for (size_t i = 0; i < p->count && status == MW_OK; i++)
        status = put_weight(f, i, p->weights[i].name, saved_dtype(f, own_dtype(p, &p->weights[i])), &values[i], err);
    if (status == MW_OK)
        status = mw_tensors_write(path, values, p->count, err);
    mw__arena_deinit(&f->arena);
    MW_TRY(status);
    MW_TRY(write_config(f, saved_dtype(f, own_dtype(p, &p->weights[0])), err));
    if (mw__language_family(p->config.family)->encoder)
        MW_TRY(mw__saving_write_modules(p, f->folder, err));
    return write_vocabulary(f, err);
}

/* ---- the folder ---- */

/* Nobody's other files are removed: what stands there is empty, or a model. */
static mw_status check_target(const char *path, mw_error *err)
{
    char file[PATH_MOST];
    struct stat found;
    MW_TRY(path_in(path, "config.json", file, err));
    if (stat(path, &found) != 0 || stat(file, &found) == 0)
        return MW_OK;
    if (!S_ISDIR(found.st_mode))
        return mw__fail(err, MW_ERROR_FILE, "\"%.200s\" is to be a folder, and is a file", path);
    return mw__fail(err, MW_ERROR_FILE, "\"%.200s\" is there, and no folder of a model: it is not replaced", path);
}

static mw_status write_or_check(folder_saving *f, mw_error *err)
{
    const bool from_folder = f->saving->source.form == &mw__pretrained_folder;
    if (f->saving->options->check_only)
        return from_folder ? MW_OK : write_vocabulary(f, err);
    if (!from_folder)
        return write_whole(f, err);
    MW_TRY(write_shards(f, err));
    return copy_files(f, err);
}

mw_status mw__saving_folder(mw__saving *s, mw_error *err)
{
    mw__fresh_folder fresh;
    MW_TRY(check_target(s->path, err));
    mw_status status = mw__fresh_folder_begin(&fresh, mw__allocator_default(), s->path, err);
    folder_saving f = {.saving = s, .folder = fresh.path};
    if (status == MW_OK)
        status = write_or_check(&f, err);
    if (status == MW_OK && !s->options->check_only)
        status = mw__fresh_folder_commit(&fresh, err);
    mw__fresh_folder_deinit(&fresh);
    return status;
}

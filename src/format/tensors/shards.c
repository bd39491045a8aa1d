/* Safetensors in shards: model.safetensors.index.json says which tensor is in which file of its folder.
 *     {"metadata":{"total_size":123}, "weight_map":{"embed.weight":"model-00001-of-00002.safetensors", ..}}
 * Shards hold what the index says and nothing else, and are opened below its folder. */
#include "base/text/json.h"
#include "base/text/name.h"
#include "format/tensors/safetensors.h"
#include "format/tensors/tensors.h"

#include <string.h>

enum { SHARDS_MOST = 1024 };
#define INDEX_MAX ((size_t)100 * 1000 * 1000) /* bytes of an index */

typedef struct shard {
    const char *name;
    mw__safetensors file;
    bool checked;
} shard;

typedef struct shards {
    mw_tensors *tensors;
    char *folder;
    mw__map by_file;   /* name of a file -> its shard */
    mw__map by_tensor; /* name of a tensor -> its shard */
    shard *list[SHARDS_MOST];
    size_t count;
    /* while the index is read */
    const char *key;
    bool in_map, seen_map;
    size_t named;
} shards;

static mw_status malformed_index(const shards *s, const char *what, mw_error *err)
{
    return mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\" is no sound index of safetensors: %s", s->tensors->path, what);
}

/* ---- the index ---- */

static mw_status find_shard(shards *s, const char *file, shard **out, mw_error *err)
{
    *out = mw__map_get(&s->by_file, file);
    if (*out != NULL)
        return MW_OK;
    if (s->count == SHARDS_MOST)
        return malformed_index(s, "more than 1024 files", err);
    if (mw__name_fault(file) != NULL)
        return malformed_index(s, "the name of a file that is empty or has control characters", err);
    *out = mw__arena_alloc(&s->tensors->arena, 1, sizeof **out, err);
    const char *name = mw__tensors_string(s->tensors, file, strlen(file), err);
    if (*out == NULL || name == NULL)
        return MW_ERROR_MEMORY;
    (*out)->name = name;
    (*out)->file.file.descriptor = -1;
    MW_TRY(mw__map_set(&s->by_file, name, *out, err));
    s->list[s->count++] = *out;
    return MW_OK;
}

static mw_status on_string(shards *s, const mw__json_item *item, mw_error *err)
{
    shard *in;
    if (!s->in_map || item->depth != 2)
        return MW_OK; /* metadata */
    if (strlen(item->text) != item->length)
        return malformed_index(s, "the name of a file with a zero byte", err);
    MW_TRY(find_shard(s, item->text, &in, err));
    s->named++;
    return mw__map_set(&s->by_tensor, s->key, in, err);
}

static mw_status on_key(shards *s, const mw__json_item *item, mw_error *err)
{
    if (item->depth == 1) {
        s->in_map = strcmp(item->text, "weight_map") == 0;
        s->seen_map = s->seen_map || s->in_map;
        return MW_OK;
    }
    if (!s->in_map)
        return MW_OK;
    if (item->depth != 2 || mw__name_fault(item->text) != NULL)
        return malformed_index(s, "a name that is empty or has control characters, or an object in weight_map", err);
    s->key = mw__tensors_string(s->tensors, item->text, item->length, err);
    return s->key != NULL ? MW_OK : MW_ERROR_MEMORY;
}

static mw_status on_item(void *user, const mw__json_item *item, mw_error *err)
{
    shards *s = user;
    if (item->event == MW__JSON_KEY)
        return on_key(s, item, err);
    if (item->event == MW__JSON_STRING && item->depth > 0)
        return on_string(s, item, err);
    const bool opens = item->event == MW__JSON_BEGIN_OBJECT, closes = item->event == MW__JSON_END_OBJECT;
    if (item->depth == 0 && !opens && !closes)
        return malformed_index(s, "it is no JSON object", err);
    if (s->in_map && item->depth > 0 && !((opens || closes) && item->depth == 1))
        return malformed_index(s, "weight_map holds what is no name of a file", err);
    return MW_OK;
}

static mw_status read_index(shards *s, const mw__file *file, mw_error *err)
{
    char *text = NULL;
    MW_TRY(mw__file_read_open(s->tensors->allocator, file, s->tensors->path, INDEX_MAX, &text, err));
    mw_error reason = {0};
    const mw_status status = mw__json_read_all(s->tensors->allocator, text, (size_t)file->size, on_item, s, &reason);
    mw__free(s->tensors->allocator, text);
    if (status != MW_OK)
        return mw__fail(err, status, "\"%.200s\": %.250s", s->tensors->path, reason.message);
    return s->seen_map && s->named > 0 ? MW_OK : malformed_index(s, "it has no weight_map with a tensor", err);
}

/* ---- the files ---- */

static mw_status add_tensors(shards *s, const shard *in, size_t *out_found, mw_error *err)
{
    for (size_t i = 0; i < in->file.count; i++) {
        const mw__safetensors_tensor *tensor = &in->file.tensors[i];
        if (mw__map_get(&s->by_tensor, tensor->name) != in)
            return mw__fail(
                err, MW_ERROR_FORMAT,
                "\"%.150s\": the file \"%.100s\" has the tensor \"%.100s\", which the index does not say of it",
                s->tensors->path, in->name, tensor->name);
        ++*out_found;
        if (tensor->foreign != NULL) {
            MW_TRY(mw__tensors_leave_out_type(s->tensors, tensor->name, tensor->foreign, err));
            continue;
        }
        const mw_tensor_info info = {.name = tensor->name,
                                     .dtype = tensor->dtype,
                                     .shape = tensor->shape,
                                     .stored = mw__safetensors_dtype_name(tensor->dtype),
                                     .file = in->name};
        MW_TRY(mw__tensors_add(s->tensors, &info, tensor, err));
    }
    return MW_OK;
}

static mw_status open_shard(shards *s, shard *in, size_t *out_found, mw_error *err)
{
    mw__file file;
    MW_TRY(mw__file_open_below(&file, s->folder, in->name, err));
    mw__safetensors opened;
    MW_TRY(mw__safetensors_adopt(&opened, s->tensors->allocator, file, in->name, err));
    in->file = opened;
    return add_tensors(s, in, out_found, err);
}

static mw_status open_all(shards *s, mw_error *err)
{
    size_t found = 0;
    for (size_t i = 0; i < s->count; i++)
        MW_TRY(open_shard(s, s->list[i], &found, err));
    if (found != s->named)
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\" names %zu tensors, but its files have %zu of them",
                        s->tensors->path, s->named, found);
    return MW_OK;
}

static mw_status find_folder(shards *s, mw_error *err)
{
    const char *path = s->tensors->path, *slash = strrchr(path, '/');
    s->folder = slash == NULL   ? mw__tensors_string(s->tensors, ".", 1, err)
                : slash == path ? mw__tensors_string(s->tensors, "/", 1, err)
                                : mw__tensors_string(s->tensors, path, (size_t)(slash - path), err);
    return s->folder != NULL ? MW_OK : MW_ERROR_MEMORY;
}

static mw_status open_shards(mw_tensors *tensors, mw__file file, mw_error *err)
{
    shards *s = mw__arena_alloc(&tensors->arena, 1, sizeof *s, err);
    if (s == NULL) {
        mw__file_close(&file);
        return MW_ERROR_MEMORY;
    }
    s->tensors = tensors;
    mw__map_init(&s->by_file, tensors->allocator);
    mw__map_init(&s->by_tensor, tensors->allocator);
    tensors->state = s;
    mw_status status = find_folder(s, err);
    if (status == MW_OK)
        status = read_index(s, &file, err);
    mw__file_close(&file);
    return status == MW_OK ? open_all(s, err) : status;
}

static mw_status read_shards(mw_tensors *tensors, const mw__tensors_item *item, void *out, mw_error *err)
{
    const shards *s = tensors->state;
    shard *in = mw__map_get(&s->by_tensor, item->info.name);
    if (!in->checked)
        MW_TRY(mw__safetensors_check(&in->file, err));
    in->checked = true;
    return mw__safetensors_read(&in->file, item->own, out, err);
}

static void close_shards(mw_tensors *tensors)
{
    shards *s = tensors->state;
    for (size_t i = 0; i < s->count; i++)
        if (s->list[i]->file.allocator != NULL)
            mw__safetensors_close(&s->list[i]->file);
    mw__map_deinit(&s->by_file);
    mw__map_deinit(&s->by_tensor);
}

const mw__tensors_format mw__tensors_shards = {
    .name = "safetensors shards", .open = open_shards, .read = read_shards, .close = close_shards};

/* Files of named tensors: finds out what a file is, and holds the list of its tensors. Reading is in read.c, the
 * formats in files of their names. */
#include "format/tensors/tensors.h"

#include "base/memory/checked.h"
#include "base/memory/live.h"
#include "base/number/float_mode.h"
#include "base/text/name.h"
#include "base/text/text.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { LEFT_OUT_MAX = 1000 };

/* ---- the list ---- */

char *mw__tensors_string(mw_tensors *tensors, const char *text, size_t length, mw_error *err)
{
    return mw__arena_string(&tensors->arena, text, length, err);
}

static mw_status check_info(const mw_tensors *tensors, const mw_tensor_info *info, size_t *out_size, mw_error *err)
{
    const char *fault = mw__name_fault(info->name);
    const int64_t count = mw_shape_count(info->shape);
    if (fault != NULL)
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\": the name of tensor %zu (\"%.100s\") %s", tensors->path,
                        tensors->count, info->name, fault);
    if (mw__map_get(&tensors->by_name, info->name) != NULL)
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\": tensor \"%.150s\" is there twice", tensors->path,
                        info->name);
    if (count < 0 || (uint64_t)count > SIZE_MAX ||
        !mw__mul_size((size_t)count, (size_t)mw_dtype_bits(info->dtype) / 8, out_size))
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\": tensor \"%.150s\": its size overflows", tensors->path,
                        info->name);
    return MW_OK;
}

mw_status mw__tensors_add(mw_tensors *tensors, const mw_tensor_info *info, const void *own, mw_error *err)
{
    size_t size = 0;
    MW_TRY(check_info(tensors, info, &size, err));
    MW_TRY(mw__grow(tensors->allocator, &tensors->items, &tensors->capacity, tensors->count + 1, sizeof *tensors->items,
                    err));
    mw__tensors_item *item = &tensors->items[tensors->count];
    *item = (mw__tensors_item){.info = *info, .own = own};
    item->info.size = size;
    if (info->file == NULL)
        item->info.file = tensors->path;
    MW_TRY(mw__map_set(&tensors->by_name, info->name, (void *)(uintptr_t)(tensors->count + 1), err));
    tensors->count++;
    return MW_OK;
}

static mw_status copy_note(mw_tensors *tensors, const char *key, const char *value, mw_tensors_note *out, mw_error *err)
{
    out->key = mw__tensors_string(tensors, key, strlen(key), err);
    out->value = mw__tensors_string(tensors, value, strlen(value), err);
    return out->key != NULL && out->value != NULL ? MW_OK : MW_ERROR_MEMORY;
}

mw_status mw__tensors_note(mw_tensors *tensors, const char *key, const char *value, mw_error *err)
{
    MW_TRY(mw__grow(tensors->allocator, &tensors->notes, &tensors->note_capacity, tensors->note_count + 1,
                    sizeof *tensors->notes, err));
    MW_TRY(copy_note(tensors, key, value, &tensors->notes[tensors->note_count], err));
    tensors->note_count++;
    return MW_OK;
}

mw_status mw__tensors_leave_out(mw_tensors *tensors, const char *name, const char *why, mw_error *err)
{
    if (tensors->left_out_count == LEFT_OUT_MAX)
        return MW_OK;
    MW_TRY(mw__grow(tensors->allocator, &tensors->left_out, &tensors->left_out_capacity, tensors->left_out_count + 1,
                    sizeof *tensors->left_out, err));
    MW_TRY(copy_note(tensors, name, why, &tensors->left_out[tensors->left_out_count], err));
    tensors->left_out_count++;
    return MW_OK;
}

mw_status mw__tensors_leave_out_type(mw_tensors *tensors, const char *name, const char *type, mw_error *err)
{
    char why[120];
    snprintf(why, sizeof why, "its elements are of type %.60s, which is not read", type);
    return mw__tensors_leave_out(tensors, name, why, err);
}

mw_status mw__tensors_missing(const mw_tensors *tensors, const char *name, mw_error *err)
{
    for (size_t i = 0; i < tensors->left_out_count; i++)
        if (strcmp(tensors->left_out[i].key, name) == 0)
            return mw__fail(err, MW_ERROR_UNSUPPORTED, "\"%.200s\": \"%.150s\" is not read: %s", tensors->path, name,
                            tensors->left_out[i].value);
    return mw__fail(err, MW_ERROR_ARGUMENT, "\"%.200s\" has no tensor \"%.150s\"", tensors->path, name);
}

const mw__tensors_item *mw__tensors_item_find(const mw_tensors *tensors, const char *name)
{
    const uintptr_t place = (uintptr_t)mw__map_get(&tensors->by_name, name);
    return place > 0 ? &tensors->items[place - 1] : NULL;
}

/* ---- what a file is ---- */

enum { LOOKED_AT = 9 };

static bool begins_with(const unsigned char *bytes, size_t size, const char *mark, size_t length)
{
    return size >= length && memcmp(bytes, mark, length) == 0;
}

/* An index of shards is JSON; a safetensors file has 8 bytes, a length, before its JSON. */
static const mw__tensors_format *recognize(const unsigned char *bytes, size_t size)
{
    if (begins_with(bytes, size, "\x93NUMPY", 6))
        return &mw__tensors_npy;
    if (begins_with(bytes, size, "PK\3\4", 4) || begins_with(bytes, size, "PK\5\6", 4))
        return &mw__tensors_npz; /* or PyTorch's: its `open` looks at the names inside */
    if (begins_with(bytes, size, "GGUF", 4))
        return &mw__tensors_gguf;
    if (size == LOOKED_AT && bytes[8] == '{')
        return &mw__tensors_safetensors;
    if (begins_with(bytes, size, "{", 1))
        return &mw__tensors_shards;
    return NULL;
}

/* What others write, and how it gets here. */
static const struct {
    size_t at;
    const char *mark;
    size_t length;
    const char *hint;
} strangers[] = {
    {0, "\x80\2", 2, "a bare pickle: load it where you trust it, and save it with torch.save of PyTorch 1.6 or later"},
    {0, "\x80\4", 2, "a bare pickle: load it where you trust it, and save it with torch.save of PyTorch 1.6 or later"},
    {0, "\x89HDF", 4, "HDF5 (Keras .h5, MATLAB .mat 7.3): read it with h5py and save it with numpy.savez"},
    {0, "MATLAB 5", 8, "a MATLAB .mat file: read it with scipy.io.loadmat and save it with numpy.savez"},
    {4, "TFL3", 4, "TensorFlow Lite: convert it with tf2onnx (--tflite) to ONNX, which is read as a model"},
};

static const char *hint_for(const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < sizeof strangers / sizeof strangers[0]; i++)
        if (size >= strangers[i].at &&
            begins_with(bytes + strangers[i].at, size - strangers[i].at, strangers[i].mark, strangers[i].length))
            return strangers[i].hint;
    return NULL;
}

static mw_status find_format(mw_tensors *tensors, const mw__file *file, mw_error *err)
{
    unsigned char bytes[LOOKED_AT] = {0};
    const size_t size = file->size < sizeof bytes ? (size_t)file->size : sizeof bytes;
    MW_TRY(mw__file_read_at(file, 0, bytes, size, tensors->path, err));
    tensors->format = recognize(bytes, size);
    if (tensors->format != NULL)
        return MW_OK;
    const char *hint = hint_for(bytes, size);
    return mw__fail(err, MW_ERROR_FORMAT,
                    "\"%.200s\" is none of safetensors (or its index), npy, npz, a PyTorch zip archive and GGUF%s%s",
                    tensors->path, hint != NULL ? "; it looks like " : "", hint != NULL ? hint : "");
}

/* ---- opening ---- */

typedef mw_status opener(mw__file *file, const char *path, mw_error *err);

static mw_status open_file(mw_tensors *tensors, opener *open_path, mw_error *err)
{
    mw__file file;
    MW_TRY(open_path(&file, tensors->path, err));
    const mw_status status = find_format(tensors, &file, err);
    if (status == MW_OK)
        return tensors->format->open(tensors, file, err);
    mw__file_close(&file);
    return status;
}

static bool is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* What a folder has by the convention of model hubs. */
static mw_status enter_folder(mw_tensors *tensors, const char *folder, mw_error *err)
{
    static const char *const names[] = {MW__TENSORS_INDEX, MW__TENSORS_MODEL};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        mw__text path;
        mw__text_init(&path, tensors->allocator);
        mw__text_puts(&path, folder);
        mw__text_puts(&path, "/");
        mw__text_puts(&path, names[i]);
        mw_status status = mw__text_check(&path, err);
        struct stat found;
        const bool exists = status == MW_OK && stat(path.data, &found) == 0;
        if (exists)
            tensors->path = mw__tensors_string(tensors, path.data, path.size, err);
        mw__text_deinit(&path);
        if (status != MW_OK || exists)
            return tensors->path != NULL ? status : MW_ERROR_MEMORY;
    }
    return mw__fail(err, MW_ERROR_FILE, "the folder \"%.250s\" has neither %s nor %s", folder, names[0], names[1]);
}

static mw_status open_path(mw_tensors *tensors, const char *path, opener *open_with, mw_error *err)
{
    tensors->path = mw__tensors_string(tensors, path, strlen(path), err);
    if (tensors->path == NULL)
        return MW_ERROR_MEMORY;
    const bool folder = is_folder(path);
    if (folder)
        MW_TRY(enter_folder(tensors, tensors->path, err));
    MW_TRY(open_file(tensors, folder ? mw__file_open_in_folder : open_with, err));
    return tensors->count > 0 || tensors->left_out_count == 0
               ? MW_OK
               : mw__fail(err, MW_ERROR_UNSUPPORTED, "\"%.200s\" has no tensor that can be read: \"%.100s\": %s",
                          tensors->path, tensors->left_out[0].key, tensors->left_out[0].value);
}

void mw__tensors_free(mw_tensors *tensors)
{
    if (tensors->format != NULL && tensors->state != NULL)
        tensors->format->close(tensors);
    mw__map_deinit(&tensors->by_name);
    mw__free(tensors->allocator, tensors->items);
    mw__free(tensors->allocator, tensors->notes);
    mw__free(tensors->allocator, tensors->left_out);
    mw__arena_deinit(&tensors->arena);
    mw__free(tensors->allocator, tensors);
}

static mw_tensors *create_tensors(const mw_allocator *allocator, const char *path, opener *open_with, mw_error *err)
{
    if (path == NULL || path[0] == '\0') {
        mw__fail(err, MW_ERROR_ARGUMENT, "mw_tensors_open: no path");
        return NULL;
    }
    allocator = mw__allocator_or_default(allocator);
    mw_tensors *tensors = mw__alloc(allocator, 1, sizeof *tensors, err);
    if (tensors == NULL)
        return NULL;
    tensors->allocator = allocator;
    mw__arena_init(&tensors->arena, allocator);
    mw__map_init(&tensors->by_name, allocator);
    mw_status status = open_path(tensors, path, open_with, err);
    if (status == MW_OK)
        status = mw__live_add(tensors, MW__LIVE_TENSORS, err);
    if (status == MW_OK)
        return tensors;
    mw__tensors_free(tensors);
    return NULL;
}

mw_tensors *mw__tensors_open(const mw_allocator *allocator, const char *path, mw_error *err)
{
    return create_tensors(allocator, path, mw__file_open, err);
}

mw_tensors *mw__tensors_open_in_folder(const mw_allocator *allocator, const char *path, mw_error *err)
{
    return create_tensors(allocator, path, mw__file_open_in_folder, err);
}

mw_tensors *mw_tensors_open(const char *path, mw_error *err)
{
    MW__FLOAT_SCOPE;
    return mw__skips(err) ? NULL : mw__tensors_open(NULL, path, err);
}

void mw_tensors_destroy(mw_tensors *tensors)
{
    if (tensors != NULL && mw__live_remove(tensors, MW__LIVE_TENSORS, __func__) && mw__guard_close(&tensors->guard))
        mw__tensors_free(tensors);
}

/* ---- queries ---- */

static bool is_open(const mw_tensors *tensors) { return mw__live_has(tensors, MW__LIVE_TENSORS); }

mw_tensors_info mw_tensors_get_info(const mw_tensors *tensors)
{
    if (!is_open(tensors))
        return (mw_tensors_info){.format = ""};
    return (mw_tensors_info){.format = tensors->format->name, .count = tensors->count};
}

const mw_tensor_info *mw_tensors_at(const mw_tensors *tensors, size_t index)
{
    return is_open(tensors) && index < tensors->count ? &tensors->items[index].info : NULL;
}

const mw_tensor_info *mw_tensors_find(const mw_tensors *tensors, const char *name)
{
    const mw__tensors_item *item = is_open(tensors) && name != NULL ? mw__tensors_item_find(tensors, name) : NULL;
    return item != NULL ? &item->info : NULL;
}

const mw_tensors_note *mw_tensors_note_at(const mw_tensors *tensors, size_t index)
{
    return is_open(tensors) && index < tensors->note_count ? &tensors->notes[index] : NULL;
}

const mw_tensors_note *mw_tensors_left_out_at(const mw_tensors *tensors, size_t index)
{
    return is_open(tensors) && index < tensors->left_out_count ? &tensors->left_out[index] : NULL;
}

const char *mw_tensors_note_find(const mw_tensors *tensors, const char *key)
{
    for (size_t i = 0; key != NULL && is_open(tensors) && i < tensors->note_count; i++)
        if (strcmp(tensors->notes[i].key, key) == 0)
            return tensors->notes[i].value;
    return NULL;
}

/* Reads safetensors files from strangers: header, layout, checksum. What a checkpoint must hold is checked in
 * checkpoint.c; writing is in safetensors_write.c. */
#include "format/tensors/safetensors.h"

#include "base/memory/checked.h"
#include "base/number/bytes.h"
#include "base/number/hash.h"
#include "base/text/json.h"
#include "base/text/name.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    mw_dtype dtype;
} types[] = {
    {"F16", MW_F16}, {"F32", MW_F32}, {"F64", MW_F64},   {"BF16", MW_BF16}, {"I8", MW_I8},
    {"U8", MW_U8},   {"I16", MW_I16}, {"U16", MW_U16},   {"I32", MW_I32},   {"U32", MW_U32},
    {"I64", MW_I64}, {"U64", MW_U64}, {"BOOL", MW_BOOL},
};

/* Types of the format that are not read: a tensor of one has its place in the file like any other. */
static const struct {
    const char *name;
    unsigned bits;
} foreign_types[] = {
    {"F8_E4M3", 8}, {"F8_E5M2", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8},
    {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"F4", 4},      {"C64", 64},
};

static unsigned find_foreign(const char *name, const char **out)
{
    for (size_t i = 0; i < sizeof foreign_types / sizeof foreign_types[0]; i++) {
        if (strcmp(foreign_types[i].name, name) == 0) {
            *out = foreign_types[i].name;
            return foreign_types[i].bits;
        }
    }
    return 0;
}

const char *mw__safetensors_dtype_name(mw_dtype dtype)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (types[i].dtype == dtype)
            return types[i].name;
    }
    return NULL;
}

static mw_dtype dtype_of_name(const char *name)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(types[i].name, name) == 0)
            return types[i].dtype;
    }
    return MW_DTYPE_NONE;
}

void mw__safetensors_init(mw__safetensors *file, const mw_allocator *allocator, const char *path)
{
    *file =
        (mw__safetensors){.allocator = mw__allocator_or_default(allocator), .path = path, .file = {.descriptor = -1}};
    mw__map_init(&file->metadata, file->allocator);
    mw__map_init(&file->by_name, file->allocator);
    mw__arena_init(&file->strings, file->allocator);
}

void mw__safetensors_close(mw__safetensors *file)
{
    mw__file_close(&file->file);
    mw__map_deinit(&file->metadata);
    mw__map_deinit(&file->by_name);
    mw__arena_deinit(&file->strings);
    mw__free(file->allocator, file->tensors);
    mw__free(file->allocator, file->note_keys);
    file->tensors = NULL;
    file->note_keys = NULL;
    file->count = 0;
}

/* ---- the header ---- */

enum { HAS_DTYPE = 1, HAS_SHAPE = 2, HAS_OFFSETS = 4, HAS_ALL = 7 };

/* Where in the header the reader is; the rest follows from the depth of the JSON item. */
typedef enum place { AT_ROOT, AT_METADATA, AT_TENSOR } place;

typedef struct header_reader {
    mw__safetensors *file;
    size_t capacity;
    bool started;
    place place;
    int field; /* HAS_.. of the last key of a tensor */
    int seen;  /* fields of this tensor */
    const char *key;
    mw__safetensors_tensor tensor;
    unsigned bits; /* of an element of it */
    uint64_t offsets[2];
    int offset_count;
} header_reader;

static mw_status malformed_safetensors(const header_reader *header, const char *what, mw_error *err)
{
    if (header->place == AT_TENSOR)
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\": tensor \"%.100s\": %s", header->file->path,
                        header->tensor.name, what);
    return mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\": safetensors header: %s", header->file->path, what);
}

static mw_status keep_string(header_reader *header, const mw__json_item *item, const char **out, mw_error *err)
{
    *out = mw__arena_string(&header->file->strings, item->text, item->length, err);
    return *out != NULL ? MW_OK : MW_ERROR_MEMORY;
}

static mw_status on_key(header_reader *header, const mw__json_item *item, mw_error *err)
{
    if (mw__name_fault(item->text) != NULL)
        return malformed_safetensors(header, "a name that is empty or holds control characters", err);
    if (item->depth == 1) {
        MW_TRY(keep_string(header, item, &header->key, err));
        return MW_OK;
    }
    if (header->place == AT_METADATA)
        return keep_string(header, item, &header->key, err);
    header->field = strcmp(item->text, "dtype") == 0          ? HAS_DTYPE
                    : strcmp(item->text, "shape") == 0        ? HAS_SHAPE
                    : strcmp(item->text, "data_offsets") == 0 ? HAS_OFFSETS
                                                              : 0;
    if (header->field == 0)
        return malformed_safetensors(header, "a field other than dtype, shape and data_offsets", err);
    header->seen |= header->field;
    return MW_OK;
}

static mw_status on_begin_object(header_reader *header, const mw__json_item *item, mw_error *err)
{
    if (item->depth == 0) {
        header->started = true;
        return MW_OK;
    }
    if (item->depth != 1)
        return malformed_safetensors(header, "an object inside a tensor or the metadata", err);
    header->seen = 0;
    header->offset_count = 0;
    header->tensor = (mw__safetensors_tensor){.name = header->key};
    header->place = strcmp(header->key, "__metadata__") == 0 ? AT_METADATA : AT_TENSOR;
    return MW_OK;
}

static mw_status on_begin_array(header_reader *header, const mw__json_item *item, mw_error *err)
{
    const bool expected = header->place == AT_TENSOR && item->depth == 2 && header->field != HAS_DTYPE;
    return expected ? MW_OK : malformed_safetensors(header, "an array where none belongs", err);
}

static mw_status add_note(mw__safetensors *file, const char *key, const char *value, mw_error *err)
{
    MW_TRY(mw__grow(file->allocator, &file->note_keys, &file->note_capacity, file->note_count + 1,
                    sizeof *file->note_keys, err));
    file->note_keys[file->note_count++] = key;
    return mw__map_set(&file->metadata, key, (void *)value, err);
}

static mw_status on_string(header_reader *header, const mw__json_item *item, mw_error *err)
{
    if (header->place == AT_METADATA) {
        const char *value;
        MW_TRY(keep_string(header, item, &value, err));
        return add_note(header->file, header->key, value, err);
    }
    if (header->place != AT_TENSOR || item->depth != 2 || header->field != HAS_DTYPE)
        return malformed_safetensors(header, "a string where none belongs", err);
    header->tensor.dtype = dtype_of_name(item->text);
    header->bits = header->tensor.dtype != MW_DTYPE_NONE ? (unsigned)mw_dtype_bits(header->tensor.dtype)
                                                         : find_foreign(item->text, &header->tensor.foreign);
    if (header->bits == 0)
        return malformed_safetensors(header, "its dtype is none of F16 F32 F64 BF16 I8 U8 I16 U16 I32 U32 I64 U64 BOOL",
                                     err);
    return MW_OK;
}

static mw_status on_number(header_reader *header, const mw__json_item *item, mw_error *err)
{
    if (header->place != AT_TENSOR || item->depth != 3)
        return malformed_safetensors(header, "a number where none belongs", err);
    if (header->field == HAS_OFFSETS) {
        if (header->offset_count == 2)
            return malformed_safetensors(header, "more than two data_offsets", err);
        header->offsets[header->offset_count++] = item->number;
        return MW_OK;
    }
    mw_shape *shape = &header->tensor.shape;
    if (shape->rank == MW_RANK_MAX)
        return malformed_safetensors(header, "its rank is above 8", err);
    if (item->number > INT64_MAX)
        return malformed_safetensors(header, "an extent above 2^63 - 1", err);
    shape->dim[shape->rank++] = (int64_t)item->number;
    return MW_OK;
}

static mw_status finish_tensor(header_reader *header, mw_error *err)
{
    mw__safetensors_tensor *tensor = &header->tensor;
    if (header->seen != HAS_ALL || header->offset_count != 2)
        return malformed_safetensors(header, "dtype, shape or data_offsets is missing or incomplete", err);
    const int64_t count = mw_shape_count(tensor->shape);
    if (count < 0 || (uint64_t)count > SIZE_MAX || !mw__mul_size((size_t)count, header->bits, &tensor->size))
        return malformed_safetensors(header, "its size overflows", err);
    if (tensor->size % 8 != 0)
        return malformed_safetensors(header, "its elements fill no whole bytes", err);
    tensor->size /= 8;
    if (header->offsets[1] < header->offsets[0] || header->offsets[1] - header->offsets[0] != tensor->size)
        return malformed_safetensors(header, "data_offsets do not agree with dtype and shape", err);
    tensor->offset = header->offsets[0];
    mw__safetensors *file = header->file;
    MW_TRY(mw__grow(file->allocator, &file->tensors, &header->capacity, file->count + 1, sizeof *file->tensors, err));
    file->tensors[file->count++] = *tensor;
    return MW_OK;
}

static mw_status on_item(void *user, const mw__json_item *item, mw_error *err)
{
    header_reader *header = user;
    if (!header->started && item->event != MW__JSON_BEGIN_OBJECT)
        return malformed_safetensors(header, "it is no JSON object", err);
    switch (item->event) {
    case MW__JSON_KEY:
        return on_key(header, item, err);
    case MW__JSON_BEGIN_OBJECT:
        return on_begin_object(header, item, err);
    case MW__JSON_BEGIN_ARRAY:
        return on_begin_array(header, item, err);
    case MW__JSON_STRING:
        return on_string(header, item, err);
    case MW__JSON_NUMBER:
        return on_number(header, item, err);
    case MW__JSON_END_OBJECT:
        if (header->place == AT_TENSOR)
            MW_TRY(finish_tensor(header, err));
        header->place = AT_ROOT;
        return MW_OK;
    case MW__JSON_END_ARRAY:
        return MW_OK;
    case MW__JSON_REAL: /* not in the subset */
    case MW__JSON_TRUE:
    case MW__JSON_FALSE:
    case MW__JSON_NULL:
        break;
    }
    return malformed_safetensors(header, "it cannot be read", err);
}

static int by_offset(const void *left, const void *right)
{
    const mw__safetensors_tensor *a = left, *b = right;
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    return a->size < b->size ? -1 : a->size > b->size;
}

/* In the order of their offsets the tensors fill the data section exactly. */
static mw_status check_layout(const mw__safetensors *file, uint64_t data_size, mw_error *err)
{
    uint64_t end = 0;
    for (size_t i = 0; i < file->count; i++) {
        const mw__safetensors_tensor *tensor = &file->tensors[i];
        if (tensor->offset != end || tensor->size > data_size - end)
            return mw__fail(err, MW_ERROR_FORMAT,
                            "\"%.200s\": tensor \"%.100s\" has %zu bytes at %llu of %llu, where %llu is expected: "
                            "the data has a hole, an overlap or a missing end",
                            file->path, tensor->name, tensor->size, (unsigned long long)tensor->offset,
                            (unsigned long long)data_size, (unsigned long long)end);
        end += tensor->size;
    }
    if (end != data_size)
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\": %llu bytes behind the last tensor", file->path,
                        (unsigned long long)(data_size - end));
    return MW_OK;
}

/* The JSON reader does not know which file it reads. */
static mw_status read_json(header_reader *header, const char *text, size_t size, mw_error *err)
{
    mw_error reason = {0};
    const mw_status status = mw__json_read(header->file->allocator, text, size, on_item, header, &reason);
    if (status == MW_OK)
        return MW_OK;
    if (reason.text_line == 0)
        return mw__fail(err, status, "%s", reason.message);
    mw__fail(err, status, "\"%.200s\": safetensors header: %.250s", header->file->path, reason.message);
    mw__error_position(err, reason.text_line, reason.text_column);
    return status;
}

mw_status mw__safetensors_parse(mw__safetensors *file, const char *text, size_t size, uint64_t data_size, mw_error *err)
{
    header_reader header = {.file = file};
    if (size == 0 || text[0] != '{')
        return malformed_safetensors(&header, "it does not begin with '{'", err);
    MW_TRY(read_json(&header, text, size, err));
    if (file->count > 1)
        qsort(file->tensors, file->count, sizeof *file->tensors, by_offset);
    for (size_t i = 0; i < file->count; i++)
        MW_TRY(mw__map_set(&file->by_name, file->tensors[i].name, &file->tensors[i], err));
    return check_layout(file, data_size, err);
}

/* Reads the digits, takes them out of the text and hashes what is left. */
static mw_status take_checksum(mw__safetensors *file, char *text, size_t size, mw_error *err)
{
    const size_t prefix = sizeof MW__SAFETENSORS_CHECKSUM_PREFIX - 1;
    const char *said = mw__safetensors_metadata(file, "mw.checksum");
    if (said == NULL)
        return MW_OK;
    const char *digits = "0123456789abcdef";
    bool good = strlen(said) == MW__SAFETENSORS_CHECKSUM_DIGITS && size > prefix + MW__SAFETENSORS_CHECKSUM_DIGITS &&
                memcmp(text, MW__SAFETENSORS_CHECKSUM_PREFIX, prefix) == 0;
    for (size_t i = 0; good && i < MW__SAFETENSORS_CHECKSUM_DIGITS; i++) {
        const char *digit = memchr(digits, text[prefix + i], 16);
        good = digit != NULL;
        file->checksum = file->checksum << 4 | (good ? (uint64_t)(digit - digits) : 0);
    }
    if (!good)
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\": its checksum is not where and what it should be",
                        file->path);
    memset(text + prefix, '0', MW__SAFETENSORS_CHECKSUM_DIGITS);
    file->has_checksum = true;
    file->header_hash = mw__hash64(text, size, 0);
    return MW_OK;
}

static mw_status read_header_text(mw__safetensors *file, char **out, size_t *out_size, mw_error *err)
{
    unsigned char length[8];
    MW_TRY(mw__file_read_at(&file->file, 0, length, sizeof length, file->path, err));
    const uint64_t size = mw__bytes_u64(length);
    if (size > MW__SAFETENSORS_HEADER_MAX || size > file->file.size - sizeof length)
        return mw__fail(err, MW_ERROR_FORMAT,
                        "\"%.200s\": a header of %llu bytes in a file of %llu (at most %zu): it is cut off, or no "
                        "safetensors file",
                        file->path, (unsigned long long)size, (unsigned long long)file->file.size,
                        MW__SAFETENSORS_HEADER_MAX);
    char *text = mw__alloc(file->allocator, (size_t)size, 1, err);
    if (text == NULL)
        return MW_ERROR_MEMORY;
    const mw_status status = mw__file_read_at(&file->file, sizeof length, text, (size_t)size, file->path, err);
    if (status != MW_OK) {
        mw__free(file->allocator, text);
        return status;
    }
    file->data_start = sizeof length + size;
    *out = text;
    *out_size = (size_t)size;
    return MW_OK;
}

static mw_status read_header(mw__safetensors *file, mw_error *err)
{
    char *text = NULL;
    size_t size = 0;
    MW_TRY(read_header_text(file, &text, &size, err));
    mw_status status = mw__safetensors_parse(file, text, size, file->file.size - file->data_start, err);
    if (status == MW_OK)
        status = take_checksum(file, text, size, err);
    mw__free(file->allocator, text);
    return status;
}

mw_status mw__safetensors_adopt(mw__safetensors *file, const mw_allocator *allocator, mw__file open, const char *path,
                                mw_error *err)
{
    mw__safetensors_init(file, allocator, path);
    file->file = open;
    const mw_status status = read_header(file, err);
    if (status != MW_OK)
        mw__safetensors_close(file);
    return status;
}

typedef mw_status opener(mw__file *file, const char *path, mw_error *err);

static mw_status open_with(opener *open_path, mw__safetensors *file, const mw_allocator *allocator, const char *path,
                           mw_error *err)
{
    mw__file open;
    mw__safetensors_init(file, allocator, path);
    MW_TRY(open_path(&open, path, err));
    return mw__safetensors_adopt(file, allocator, open, path, err);
}

mw_status mw__safetensors_open(mw__safetensors *file, const mw_allocator *allocator, const char *path, mw_error *err)
{
    return open_with(mw__file_open, file, allocator, path, err);
}

mw_status mw__safetensors_open_in_folder(mw__safetensors *file, const mw_allocator *allocator, const char *path,
                                         mw_error *err)
{
    return open_with(mw__file_open_in_folder, file, allocator, path, err);
}

/* ---- queries and data ---- */

const mw__safetensors_tensor *mw__safetensors_find(const mw__safetensors *file, const char *name)
{
    return mw__map_get(&file->by_name, name);
}

const char *mw__safetensors_metadata(const mw__safetensors *file, const char *key)
{
    return mw__map_get(&file->metadata, key);
}

mw_status mw__safetensors_read(const mw__safetensors *file, const mw__safetensors_tensor *tensor, void *out,
                               mw_error *err)
{
    return mw__file_read_at(&file->file, file->data_start + tensor->offset, out, tensor->size, file->path, err);
}

static size_t piece_size(size_t left) { return left < MW__SAFETENSORS_PIECE ? left : MW__SAFETENSORS_PIECE; }

uint64_t mw__safetensors_chain(uint64_t hash, const void *data, size_t size)
{
    const char *at = data;
    for (size_t done = 0; done < size; done += piece_size(size - done))
        hash = mw__hash64(at + done, piece_size(size - done), hash);
    return hash;
}

/* Hashes a tensor that is not read, through a buffer of one piece. */
static mw_status look_at(const mw__safetensors *file, const mw__safetensors_tensor *tensor, void *piece, uint64_t *hash,
                         mw_error *err)
{
    for (size_t done = 0; done < tensor->size; done += piece_size(tensor->size - done)) {
        const size_t size = piece_size(tensor->size - done);
        MW_TRY(mw__file_read_at(&file->file, file->data_start + tensor->offset + done, piece, size, file->path, err));
        *hash = mw__hash64(piece, size, *hash);
    }
    return MW_OK;
}

static mw_status read_tensors(const mw__safetensors *file, void *const *out, void *piece, mw_error *err)
{
    uint64_t hash = file->header_hash;
    for (size_t i = 0; i < file->count; i++) {
        const mw__safetensors_tensor *tensor = &file->tensors[i];
        if (out[i] != NULL) {
            MW_TRY(mw__safetensors_read(file, tensor, out[i], err));
            if (file->has_checksum)
                hash = mw__safetensors_chain(hash, out[i], tensor->size);
        } else if (file->has_checksum) {
            MW_TRY(look_at(file, tensor, piece, &hash, err));
        }
    }
    if (file->has_checksum && hash != file->checksum)
        return mw__fail(err, MW_ERROR_FORMAT,
                        "\"%.300s\" is damaged: its checksum is %016llx, but its content gives %016llx", file->path,
                        (unsigned long long)file->checksum, (unsigned long long)hash);
    return MW_OK;
}

mw_status mw__safetensors_check(const mw__safetensors *file, mw_error *err)
{
    void **none = mw__alloc(file->allocator, file->count, sizeof *none, err);
    if (none == NULL)
        return MW_ERROR_MEMORY;
    const mw_status status = file->has_checksum ? mw__safetensors_read_all(file, none, err) : MW_OK;
    mw__free(file->allocator, none);
    return status;
}

mw_status mw__safetensors_read_all(const mw__safetensors *file, void *const *out, mw_error *err)
{
    void *piece = mw__alloc(file->allocator, MW__SAFETENSORS_PIECE, 1, err);
    if (piece == NULL)
        return MW_ERROR_MEMORY;
    const mw_status status = read_tensors(file, out, piece, err);
    mw__free(file->allocator, piece);
    return status;
}

/* Writes GGUF: the header is made in memory, tensors go out in pieces as their elements come. */
#include "base/file/file.h"
#include "base/memory/checked.h"
#include "base/memory/map.h"
#include "base/number/float_mode.h"
#include "base/text/error.h"
#include "base/text/name.h"
#include "base/text/text.h"
#include "format/tensors/gguf_blocks.h"

#include <math.h>
#include <millwright/gguf.h>
#include <string.h>

enum { ALIGNMENT = 32, PIECE = 1 << 16, RANK_MOST = 4 };

/* What a tensor takes. */
typedef struct placed {
    const mw__gguf_type *type;
    mw__gguf_packer *pack;
    uint64_t size, offset;
} placed;

typedef struct gguf_writing {
    const mw_gguf_file *file;
    const mw_allocator *allocator;
    placed *places; /* [tensor_count] */
    mw__text header;
    mw__file_writer writer;
    unsigned char *piece;
} gguf_writing;

/* ---- checks ---- */

static mw_status find_type(const mw_gguf_tensor *tensor, placed *out, mw_error *err)
{
    out->type = tensor->type != NULL ? mw__gguf_type_named(tensor->type) : NULL;
    out->pack = out->type != NULL ? mw__gguf_packer_of(out->type) : NULL;
    if (out->pack != NULL)
        return MW_OK;
    return mw__fail(err, MW_ERROR_ARGUMENT,
                    "mw_gguf_write: \"%.96s\" has the type \"%.40s\"; F32, F16, BF16, Q8_0 and Q4_0 are written",
                    tensor->name, tensor->type != NULL ? tensor->type : "");
}

/* The size of a tensor, and its place behind the one before it. */
static mw_status place_tensor(const mw_gguf_tensor *tensor, uint64_t *end, placed *out, mw_error *err)
{
    MW_TRY(mw__name_check("mw_gguf_write", tensor->name, err));
    MW_TRY(find_type(tensor, out, err));
    const int rank = tensor->shape.rank;
    const int64_t count = rank >= 0 && rank <= RANK_MOST ? mw_shape_count(tensor->shape) : -1;
    const uint64_t row = rank > 0 && count >= 0 ? (uint64_t)tensor->shape.dim[rank - 1] : 1;
    size_t size;
    if (count < 0 || !mw__mul_size((size_t)count / out->type->block, out->type->block_size, &size) ||
        size > INT64_MAX - *end - ALIGNMENT)
        return mw__fail(err, MW_ERROR_SHAPE, "mw_gguf_write: the shape of \"%.96s\" is none, or too large",
                        tensor->name);
    if (row % out->type->block != 0)
        return mw__fail(err, MW_ERROR_SHAPE,
                        "mw_gguf_write: \"%.96s\" has rows of %llu elements, no whole blocks of %s", tensor->name,
                        (unsigned long long)row, out->type->name);
    out->offset = (*end + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    out->size = size;
    *end = out->offset + size;
    return MW_OK;
}

static mw_status note_name(mw__map *names, const char *name, mw_error *err)
{
    if (mw__map_get(names, name) != NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_gguf_write: \"%.96s\" is there twice", name);
    return mw__map_set(names, name, names, err);
}

/* Keys and tensors have names of their own. */
static mw_status check_doubles(const mw_gguf_file *file, mw__map *keys, mw__map *names, mw_error *err)
{
    for (size_t i = 0; i < file->value_count; i++)
        MW_TRY(note_name(keys, file->values[i].key, err));
    for (size_t i = 0; i < file->tensor_count; i++)
        MW_TRY(note_name(names, file->tensors[i].name, err));
    return MW_OK;
}

static mw_status check_names(const gguf_writing *w, mw_error *err)
{
    mw__map keys, names;
    mw__map_init(&keys, w->allocator);
    mw__map_init(&names, w->allocator);
    const mw_status status = check_doubles(w->file, &keys, &names, err);
    mw__map_deinit(&keys);
    mw__map_deinit(&names);
    return status;
}

/* ---- the header ---- */

static void put_number(mw__text *out, uint64_t value, int size)
{
    char bytes[8];
    for (int i = 0; i < size; i++)
        bytes[i] = (char)(value >> (8 * i));
    mw__text_append(out, bytes, (size_t)size);
}

static void put_gguf_string(mw__text *out, const char *text)
{
    const size_t size = strlen(text);
    put_number(out, size, 8);
    mw__text_append(out, text, size);
}

static int type_number(const char *name)
{
    for (int i = 0; name != NULL && i < MW__GGUF_TYPES; i++)
        if (i != MW__GGUF_ARRAY && strcmp(mw__gguf_values[i].name, name) == 0)
            return i;
    return -1;
}

static uint64_t bits_at(const void *data, size_t size, size_t i)
{
    uint8_t byte;
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    const char *at = (const char *)data + i * size;
    switch (size) {
    case 1:
        return memcpy(&byte, at, 1), byte;
    case 2:
        return memcpy(&two, at, 2), two;
    case 4:
        return memcpy(&four, at, 4), four;
    default:
        return memcpy(&eight, at, 8), eight;
    }
}

static mw_status put_value(mw__text *out, const mw_gguf_value *value, mw_error *err)
{
    const int type = type_number(value->type);
    const size_t count = value->array ? value->count : 1;
    MW_TRY(mw__name_check("mw_gguf_write", value->key, err));
    if (type < 0 || (value->data == NULL && count > 0))
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_gguf_write: the key \"%.96s\" has %s", value->key,
                        type < 0 ? "a type that GGUF does not have" : "no value");
    put_gguf_string(out, value->key);
    put_number(out, value->array ? MW__GGUF_ARRAY : (uint64_t)type, 4);
    if (value->array) {
        put_number(out, (uint64_t)type, 4);
        put_number(out, count, 8);
    }
    for (size_t i = 0; i < count; i++) {
        if (type != MW__GGUF_STRING)
            put_number(out, bits_at(value->data, mw__gguf_values[type].size, i), (int)mw__gguf_values[type].size);
        else
            put_gguf_string(out, ((const char *const *)value->data)[i]);
    }
    return mw__text_check(out, err);
}

static void put_tensor(mw__text *out, const mw_gguf_tensor *tensor, const placed *place)
{
    put_gguf_string(out, tensor->name);
    put_number(out, (uint64_t)tensor->shape.rank, 4);
    for (int i = tensor->shape.rank; i-- > 0;)
        put_number(out, (uint64_t)tensor->shape.dim[i], 8);
    put_number(out, place->type->number, 4);
    put_number(out, place->offset, 8);
}

static const char zeros[ALIGNMENT];
static size_t padding_after(uint64_t size) { return (size_t)((ALIGNMENT - size % ALIGNMENT) % ALIGNMENT); }

static mw_status make_header(gguf_writing *w, mw_error *err)
{
    uint64_t end = 0;
    for (size_t i = 0; i < w->file->tensor_count; i++)
        MW_TRY(place_tensor(&w->file->tensors[i], &end, &w->places[i], err));
    mw__text_append(&w->header, "GGUF", 4);
    put_number(&w->header, 3, 4);
    put_number(&w->header, w->file->tensor_count, 8);
    put_number(&w->header, w->file->value_count, 8);
    for (size_t i = 0; i < w->file->value_count; i++)
        MW_TRY(put_value(&w->header, &w->file->values[i], err));
    for (size_t i = 0; i < w->file->tensor_count; i++)
        put_tensor(&w->header, &w->file->tensors[i], &w->places[i]);
    mw__text_append(&w->header, zeros, padding_after(w->header.size));
    MW_TRY(mw__text_check(&w->header, err));
    return check_names(w, err);
}

/* ---- data ---- */

/* What the elements become is finite: an infinite scale makes everything of its block infinite. */
static mw_status check_block(const gguf_writing *w, size_t tensor, const float *in, uint64_t at,
                             const unsigned char *block, mw_error *err)
{
    const mw__gguf_type *type = w->places[tensor].type;
    const bool has_half = type->dtype == MW_F16 || type->block > 1;
    const bool too_large = has_half && (block[1] & 0x7c) == 0x7c;
    for (size_t i = 0; i < type->block; i++)
        if (!isfinite(in[i]) || too_large)
            return mw__fail(err, MW_ERROR_NUMERIC,
                            "mw_gguf_write: element %llu of \"%.96s\" is %g, which %s does not hold",
                            (unsigned long long)(at + i), w->file->tensors[tensor].name, (double)in[i], type->name);
    return MW_OK;
}

static mw_status write_data(gguf_writing *w, size_t tensor, const float *in, mw_error *err)
{
    const placed *place = &w->places[tensor];
    const size_t most = PIECE / place->type->block_size;
    const uint64_t blocks = place->size / place->type->block_size;
    for (uint64_t done = 0; done < blocks;) {
        const size_t some = blocks - done < most ? (size_t)(blocks - done) : most;
        for (size_t i = 0; i < some; i++, in += place->type->block) {
            unsigned char *block = w->piece + i * place->type->block_size;
            place->pack(in, block);
            MW_TRY(check_block(w, tensor, in, (done + i) * place->type->block, block, err));
        }
        MW_TRY(mw__file_writer_write(&w->writer, w->piece, some * place->type->block_size, err));
        done += some;
    }
    return mw__file_writer_write(&w->writer, zeros, padding_after(place->size), err);
}

static mw_status write_tensors(gguf_writing *w, mw_error *err)
{
    MW_TRY(mw__file_writer_write(&w->writer, w->header.data, w->header.size, err));
    for (size_t i = 0; i < w->file->tensor_count; i++) {
        const float *data = w->file->source(w->file->user, i, err);
        if (data == NULL)
            return mw__failed(err) ? err->status : mw__fail(err, MW_ERROR_ARGUMENT, "mw_gguf_write: no elements");
        MW_TRY(write_data(w, i, data, err));
    }
    return mw__file_writer_commit(&w->writer, err);
}

static mw_status write_file(gguf_writing *w, const char *path, mw_error *err)
{
    w->places = mw__alloc(w->allocator, w->file->tensor_count, sizeof *w->places, err);
    w->piece = mw__alloc(w->allocator, PIECE, 1, err);
    if (w->places == NULL || w->piece == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(make_header(w, err));
    MW_TRY(mw__file_writer_begin(&w->writer, w->allocator, path, true, err));
    const mw_status status = write_tensors(w, err);
    mw__file_writer_deinit(&w->writer);
    return status;
}

mw_status mw_gguf_write(const char *path, const mw_gguf_file *file, mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw_error own = {0};
    if (mw__skips(err))
        return err->status;
    err = err != NULL ? err : &own;
    if (path == NULL || file == NULL || (file->values == NULL && file->value_count > 0) ||
        (file->tensors == NULL && file->tensor_count > 0) || (file->source == NULL && file->tensor_count > 0))
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_gguf_write: no %s",
                        path == NULL   ? "path"
                        : file == NULL ? "file"
                                       : "values, tensors or source");
    gguf_writing w = {.file = file, .allocator = mw__allocator_default()};
    mw__text_init(&w.header, w.allocator);
    const mw_status status = write_file(&w, path, err);
    mw__text_deinit(&w.header);
    mw__free(w.allocator, w.places);
    mw__free(w.allocator, w.piece);
    return status;
}

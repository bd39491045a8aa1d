/* GGUF: the header is read once, through a buffer; data of a tensor is read in pieces and expanded, and an array of the
 * header when it is asked for. */
#include "base/memory/checked.h"
#include "base/number/bits.h"
#include "base/number/bytes.h"
#include "base/number/fp16.h"
#include "base/number/number.h"
#include "base/text/name.h"
#include "format/tensors/gguf_blocks.h"
#include "format/tensors/tensors.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PIECE = 1 << 16,
    NAME_BYTES = 1000,    /* of a key or the name of a tensor */
    NOTE_BYTES = 1 << 20, /* of a string that is kept */
    ALIGNMENT_DEFAULT = 32,
    NOTES_MOST = 1 << 16,
};
#define TENSOR_LEAST 24u /* bytes of what describes a tensor: name length, dimensions, type, offset */

/* An array of the header, where it stands, and its elements once they were asked for. */
typedef struct gguf_array {
    const char *key;
    uint32_t type;
    uint64_t count, at, size; /* size: bytes in the file */
    mw_tensors_array read;    /* type NULL until then */
} gguf_array;

typedef struct gguf_tensor {
    const mw__gguf_type *type;
    uint64_t offset, size; /* in the file */
} gguf_tensor;

typedef struct gguf {
    mw_tensors *tensors;
    mw__file file;
    uint64_t at; /* of the next byte of the header */
    unsigned char *piece;
    uint64_t piece_at;
    size_t piece_size;
    uint64_t alignment;
    gguf_tensor **list;
    size_t count;
    gguf_array *arrays; /* [array_count] */
    size_t array_count, array_capacity;
} gguf;

static mw_status malformed_gguf(const gguf *g, const char *what, mw_error *err)
{
    return mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\" is no sound GGUF file, at byte %llu: %s", g->tensors->path,
                    (unsigned long long)g->at, what);
}

/* ---- bytes ---- */

static mw_status fill_buffer(gguf *g, mw_error *err)
{
    const uint64_t left = g->file.size - g->at;
    g->piece_at = g->at;
    g->piece_size = left < PIECE ? (size_t)left : PIECE;
    return mw__file_read_at(&g->file, g->at, g->piece, g->piece_size, g->tensors->path, err);
}

static mw_status take_bytes(gguf *g, void *out, size_t size, mw_error *err)
{
    unsigned char *to = out;
    if (size > g->file.size - g->at)
        return malformed_gguf(g, "it is cut off", err);
    while (size > 0) {
        if (g->at - g->piece_at >= g->piece_size)
            MW_TRY(fill_buffer(g, err));
        const size_t from = (size_t)(g->at - g->piece_at);
        const size_t run = g->piece_size - from < size ? g->piece_size - from : size;
        memcpy(to, g->piece + from, run);
        to += run;
        size -= run;
        g->at += run;
    }
    return MW_OK;
}

static mw_status skip_bytes(gguf *g, uint64_t size, mw_error *err)
{
    if (size > g->file.size - g->at)
        return malformed_gguf(g, "it is cut off", err);
    g->at += size;
    if (g->at - g->piece_at >= g->piece_size)
        g->piece_size = 0;
    return MW_OK;
}

static mw_status take_number(gguf *g, size_t size, uint64_t *out, mw_error *err)
{
    unsigned char bytes[8];
    MW_TRY(take_bytes(g, bytes, size, err));
    *out = 0;
    for (size_t i = size; i-- > 0;)
        *out = *out << 8 | bytes[i];
    return MW_OK;
}

/* string ::= length:8 bytes ; a copy in the arena */
static mw_status take_string(gguf *g, size_t limit, const char **out, mw_error *err)
{
    uint64_t length;
    MW_TRY(take_number(g, 8, &length, err));
    if (length > limit || length > g->file.size - g->at)
        return malformed_gguf(g, "a string is cut off, or longer than it may be", err);
    char *text = mw__arena_alloc(&g->tensors->arena, (size_t)length + 1, 1, err);
    if (text == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(take_bytes(g, text, (size_t)length, err));
    *out = text;
    return strlen(text) == length ? MW_OK : malformed_gguf(g, "a string has a zero byte", err);
}

/* ---- notes ---- */

static void print_number(uint32_t type, uint64_t bits, char out[MW__NUMBER_MAX])
{
    const unsigned width = (unsigned)mw__gguf_values[type].size * 8;
    const bool is_signed = type == MW__GGUF_I8 || type == MW__GGUF_I16 || type == MW__GGUF_I32 || type == MW__GGUF_I64;
    if (type == MW__GGUF_F32)
        mw__number_print_float(out, mw__float_of((uint32_t)bits));
    else if (type == MW__GGUF_F64)
        mw__number_print_float(out, (float)mw__double_of(bits));
    else if (type == MW__GGUF_BOOL)
        snprintf(out, MW__NUMBER_MAX, "%s", bits != 0 ? "true" : "false");
    else if (is_signed)
        snprintf(out, MW__NUMBER_MAX, "%" PRId64, (int64_t)(bits << (64 - width)) >> (64 - width));
    else
        snprintf(out, MW__NUMBER_MAX, "%" PRIu64, bits);
}

static mw_status skip_strings(gguf *g, uint64_t count, mw_error *err)
{
    for (uint64_t i = 0; i < count; i++) {
        uint64_t length;
        MW_TRY(take_number(g, 8, &length, err));
        MW_TRY(skip_bytes(g, length, err));
    }
    return MW_OK;
}

static mw_status keep_array(gguf *g, const gguf_array *array, mw_error *err)
{
    char text[64];
    MW_TRY(mw__grow(g->tensors->allocator, &g->arrays, &g->array_capacity, g->array_count + 1, sizeof *g->arrays, err));
    g->arrays[g->array_count++] = *array;
    snprintf(text, sizeof text, "[%" PRIu64 " of %s]", array->count, mw__gguf_values[array->type].name);
    return mw__tensors_note(g->tensors, array->key, text, err);
}

/* array ::= type:4 count:8 values ; its values are read when they are asked for */
static mw_status read_array(gguf *g, const char *key, mw_error *err)
{
    uint64_t type, count;
    MW_TRY(take_number(g, 4, &type, err));
    MW_TRY(take_number(g, 8, &count, err));
    if (type >= MW__GGUF_TYPES || type == MW__GGUF_ARRAY)
        return malformed_gguf(g, "an array of arrays, or of an unknown type", err);
    const uint64_t least = type == MW__GGUF_STRING ? 8 : mw__gguf_values[type].size;
    const uint64_t begin = g->at;
    if (count > (g->file.size - g->at) / least)
        return malformed_gguf(g, "an array is cut off", err);
    if (type == MW__GGUF_STRING)
        MW_TRY(skip_strings(g, count, err));
    else
        MW_TRY(skip_bytes(g, count * least, err));
    const gguf_array array = {.key = key, .type = (uint32_t)type, .count = count, .at = begin, .size = g->at - begin};
    return keep_array(g, &array, err);
}

static mw_status take_alignment(gguf *g, uint64_t type, uint64_t value, mw_error *err)
{
    if (type != MW__GGUF_U32 || value < 8 || value > 1 << 16 || (value & (value - 1)) != 0)
        return malformed_gguf(g, "general.alignment is no power of two from 8 to 65536", err);
    g->alignment = value;
    return MW_OK;
}

/* pair ::= key:string type:4 value */
static mw_status read_pair(gguf *g, mw_error *err)
{
    const char *key, *text;
    uint64_t type, bits;
    char number[MW__NUMBER_MAX];
    MW_TRY(take_string(g, NAME_BYTES, &key, err));
    MW_TRY(take_number(g, 4, &type, err));
    if (mw__name_fault(key) != NULL || type >= MW__GGUF_TYPES)
        return malformed_gguf(g, "a key is no name, or its value of an unknown type", err);
    if (type == MW__GGUF_ARRAY)
        return read_array(g, key, err);
    if (type == MW__GGUF_STRING) {
        MW_TRY(take_string(g, NOTE_BYTES, &text, err));
        return mw__tensors_note(g->tensors, key, text, err);
    }
    MW_TRY(take_number(g, mw__gguf_values[type].size, &bits, err));
    if (strcmp(key, "general.alignment") == 0)
        MW_TRY(take_alignment(g, type, bits, err));
    print_number((uint32_t)type, bits, number);
    return mw__tensors_note(g->tensors, key, number, err);
}

/* ---- tensors ---- */

/* Elements of a type that is not known: how many bytes they take is not known either, and nothing else depends on it.
 */
static mw_status leave_out(gguf *g, const char *name, uint32_t number, mw_error *err)
{
    char why[100];
    snprintf(why, sizeof why, "its elements are of type %u (%s), which is not read", number,
             mw__gguf_type_name(number));
    return mw__tensors_leave_out(g->tensors, name, why, err);
}

/* Extents stand the other way round: the first is that of the innermost axis, and holds whole blocks. */
static mw_status take_shape(gguf *g, mw_shape *out, mw_error *err)
{
    uint64_t rank, extent;
    MW_TRY(take_number(g, 4, &rank, err));
    if (rank > MW_RANK_MAX)
        return malformed_gguf(g, "a tensor has more than 8 dimensions", err);
    out->rank = (int)rank;
    for (int i = out->rank; i-- > 0;) {
        MW_TRY(take_number(g, 8, &extent, err));
        if (extent > INT64_MAX)
            return malformed_gguf(g, "an extent is above 2^63 - 1", err);
        out->dim[i] = (int64_t)extent;
    }
    return MW_OK;
}

static mw_status measure_tensor(const gguf *g, const mw_tensor_info *info, gguf_tensor *tensor, mw_error *err)
{
    const int64_t count = mw_shape_count(info->shape);
    const int64_t row = info->shape.rank > 0 ? info->shape.dim[info->shape.rank - 1] : 1;
    size_t size;
    if (count < 0 || !mw__mul_size((size_t)count / tensor->type->block, tensor->type->block_size, &size))
        return malformed_gguf(g, "the size of a tensor overflows", err);
    if ((uint64_t)row % tensor->type->block != 0)
        return mw__fail(err, MW_ERROR_FORMAT,
                        "\"%.200s\": tensor \"%.150s\" has rows of %lld elements, no whole blocks", g->tensors->path,
                        info->name, (long long)row);
    tensor->size = size;
    return MW_OK;
}

/* tensor ::= name:string rank:4 extent:8{rank} type:4 offset:8 */
static mw_status read_tensor(gguf *g, mw_error *err)
{
    mw_tensor_info info = {0};
    uint64_t number;
    gguf_tensor *tensor = mw__arena_alloc(&g->tensors->arena, 1, sizeof *tensor, err);
    if (tensor == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(take_string(g, NAME_BYTES, &info.name, err));
    MW_TRY(take_shape(g, &info.shape, err));
    MW_TRY(take_number(g, 4, &number, err));
    MW_TRY(take_number(g, 8, &tensor->offset, err));
    tensor->type = mw__gguf_type_find((uint32_t)number);
    if (tensor->type == NULL)
        return leave_out(g, info.name, (uint32_t)number, err);
    MW_TRY(measure_tensor(g, &info, tensor, err));
    info.dtype = tensor->type->dtype;
    info.stored = tensor->type->name;
    MW_TRY(mw__tensors_add(g->tensors, &info, tensor, err));
    g->list[g->count++] = tensor;
    return MW_OK;
}

static int by_offset(const void *left, const void *right)
{
    const gguf_tensor *a = *(gguf_tensor *const *)left, *b = *(gguf_tensor *const *)right;
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    return a->size < b->size ? -1 : a->size > b->size;
}

/* Offsets count from the first aligned byte behind the header. Tensors do not overlap, and lie in the file. */
static mw_status place_tensors(gguf *g, mw_error *err)
{
    const uint64_t mask = g->alignment - 1;
    const uint64_t start = (g->at + mask) & ~mask;
    uint64_t end = 0;
    const uint64_t room = start < g->file.size ? g->file.size - start : 0;
    if (g->count > 1)
        qsort(g->list, g->count, sizeof *g->list, by_offset);
    for (size_t i = 0; i < g->count; i++) {
        gguf_tensor *tensor = g->list[i];
        if ((tensor->offset & mask) != 0 || tensor->offset < end || tensor->offset > room ||
            tensor->size > room - tensor->offset)
            return mw__fail(
                err, MW_ERROR_FORMAT,
                "\"%.200s\": a tensor of %llu bytes at %llu of %llu is not aligned to %llu, overlaps another or "
                "is cut off",
                g->tensors->path, (unsigned long long)tensor->size, (unsigned long long)tensor->offset,
                (unsigned long long)room, (unsigned long long)g->alignment);
        end = tensor->offset + tensor->size;
        tensor->offset += start;
    }
    return MW_OK;
}

/* ---- the file ---- */

/* file ::= GGUF version:4 tensors:8 pairs:8 pair* tensor* padding data */
static mw_status read_header(gguf *g, mw_error *err)
{
    unsigned char mark[4];
    uint64_t version, tensors, pairs;
    MW_TRY(take_bytes(g, mark, sizeof mark, err));
    MW_TRY(take_number(g, 4, &version, err));
    if (version != 2 && version != 3)
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        "\"%.200s\" is GGUF of version %u; 2 and 3 are read, with little-endian numbers",
                        g->tensors->path, (unsigned)version);
    MW_TRY(take_number(g, 8, &tensors, err));
    MW_TRY(take_number(g, 8, &pairs, err));
    if (tensors > (g->file.size - g->at) / TENSOR_LEAST || pairs > NOTES_MOST)
        return malformed_gguf(g, "it has more tensors than bytes for them, or more than 65536 keys", err);
    for (uint64_t i = 0; i < pairs; i++)
        MW_TRY(read_pair(g, err));
    g->list = mw__alloc(g->tensors->allocator, (size_t)tensors, sizeof *g->list, err);
    if (g->list == NULL)
        return MW_ERROR_MEMORY;
    for (uint64_t i = 0; i < tensors; i++)
        MW_TRY(read_tensor(g, err));
    return place_tensors(g, err);
}

static mw_status open_gguf(mw_tensors *tensors, mw__file file, mw_error *err)
{
    gguf *g = mw__arena_alloc(&tensors->arena, 1, sizeof *g, err);
    if (g == NULL) {
        mw__file_close(&file);
        return MW_ERROR_MEMORY;
    }
    *g = (gguf){.tensors = tensors, .file = file, .alignment = ALIGNMENT_DEFAULT};
    tensors->state = g;
    g->piece = mw__arena_alloc(&tensors->arena, PIECE, 1, err);
    if (g->piece == NULL)
        return MW_ERROR_MEMORY;
    const mw_status status = read_header(g, err);
    mw__free(tensors->allocator, g->list);
    g->list = NULL;
    return status;
}

/* ---- data ---- */

typedef mw_status block_sink(void *user, const mw__gguf_type *type, const unsigned char *block, mw_error *err);

static mw_status each_block(gguf *g, const gguf_tensor *tensor, block_sink *sink, void *user, mw_error *err)
{
    const mw__gguf_type *type = tensor->type;
    const size_t most = PIECE / type->block_size * type->block_size;
    for (uint64_t done = 0; done < tensor->size;) {
        const size_t size = tensor->size - done < most ? (size_t)(tensor->size - done) : most;
        MW_TRY(mw__file_read_at(&g->file, tensor->offset + done, g->piece, size, g->tensors->path, err));
        for (size_t at = 0; at < size; at += type->block_size)
            MW_TRY(sink(user, type, g->piece + at, err));
        done += size;
    }
    return MW_OK;
}

static mw_status expand_block(void *user, const mw__gguf_type *type, const unsigned char *block, mw_error *err)
{
    float **out = user;
    (void)err;
    mw__gguf_expand(type, block, *out);
    *out += type->block;
    return MW_OK;
}

static mw_status read_gguf(mw_tensors *tensors, const mw__tensors_item *item, void *out, mw_error *err)
{
    gguf *g = tensors->state;
    const gguf_tensor *tensor = item->own;
    float *floats = out;
    if (tensor->type->split != NULL)
        return each_block(g, tensor, expand_block, &floats, err);
    return mw__file_read_at(&g->file, tensor->offset, out, (size_t)tensor->size, tensors->path, err);
}

/* ---- data as it is stored ---- */

static const mw__tensors_form *form_of(const mw__tensors_item *item)
{
    const mw__gguf_type *type = ((const gguf_tensor *)item->own)->type;
    return type->split != NULL ? &type->form : NULL;
}

typedef struct storing {
    const mw_tensors *tensors;
    const mw_tensor_info *info;
    const mw__tensors_stored *out;
    size_t element, part; /* the next */
    float scale, offset;  /* of the part, as they are kept */
    bool flat;            /* all its elements are the minimum */
} storing;

/* A scale of 0 leaves the minimum alone: 1 (0 - offset). */
static void store_shared(storing *s, const mw__gguf_type *type, const mw__gguf_parts *parts, size_t k)
{
    const bool halves = s->out->dtype == MW_F16;
    const uint16_t half = mw__fp16_from_float(parts->scale[k]);
    s->scale = halves ? mw__fp16_to_float(half) : parts->scale[k];
    s->flat = s->scale == 0.0f && type->form.shifted;
    s->scale = s->flat ? 1.0f : s->scale;
    s->offset = type->form.shifted ? -parts->minimum[k] / s->scale : 0.0f;
    if (type->form.shifted)
        s->out->offset[s->part] = s->offset;
    if (halves)
        ((uint16_t *)s->out->scale)[s->part] = s->flat ? mw__fp16_from_float(1.0f) : half;
    else
        ((float *)s->out->scale)[s->part] = s->scale;
    s->part++;
}

static mw_status check_stored(const storing *s, int code, mw_error *err)
{
    const float value = ((float)code - s->offset) * s->scale;
    if (isfinite(value) && (s->out->dtype != MW_F16 || fabsf(value) < 65520.0f))
        return MW_OK;
    return mw__fail(err, MW_ERROR_NUMERIC, "\"%.200s\": element %zu of \"%.150s\" %s", s->tensors->path, s->element,
                    s->info->name, isfinite(value) ? "is too large for fp16 (up to 65504); scale it" : "is not finite");
}

static void store_code(void *codes, mw_dtype dtype, size_t index, int code)
{
    unsigned char *bytes = codes;
    if (dtype == MW_I8)
        bytes[index] = (unsigned char)code;
    else
        bytes[index / 2] = (unsigned char)(bytes[index / 2] | (code & 15) << (index % 2 * 4));
}

static mw_status store_block(void *user, const mw__gguf_type *type, const unsigned char *block, mw_error *err)
{
    storing *s = user;
    mw__gguf_parts parts;
    type->split(block, &parts);
    for (size_t i = 0; i < type->block; i++, s->element++) {
        if (i % (size_t)type->form.part == 0)
            store_shared(s, type, &parts, i / (size_t)type->form.part);
        const int code = s->flat ? 0 : parts.q[i];
        MW_TRY(check_stored(s, code, err));
        store_code(s->out->codes, type->form.code, s->element, code);
    }
    return MW_OK;
}

static mw_status read_stored(mw_tensors *tensors, const mw__tensors_item *item, const mw__tensors_stored *out,
                             mw_error *err)
{
    storing s = {.tensors = tensors, .info = &item->info, .out = out};
    return each_block(tensors->state, item->own, store_block, &s, err);
}

/* ---- arrays ---- */

/* length:8 bytes, of each: the bytes move to the front, and `ends` say where each ends. Lengths were checked. */
static mw_status unpack_strings(gguf *g, const gguf_array *array, unsigned char *bytes, uint64_t **out, mw_error *err)
{
    uint64_t *ends = mw__arena_alloc(&g->tensors->arena, (size_t)array->count, sizeof *ends, err);
    const unsigned char *from = bytes, *const end = bytes + array->size;
    uint64_t at = 0;
    if (ends == NULL)
        return MW_ERROR_MEMORY;
    for (uint64_t i = 0; i < array->count; i++) {
        const uint64_t length = end - from >= 8 ? mw__bytes_u64(from) : UINT64_MAX;
        if (length == UINT64_MAX || length > (uint64_t)(end - from) - 8)
            return malformed_gguf(g, "it was changed while it was read", err);
        memmove(bytes + at, from + 8, (size_t)length);
        from += 8 + length;
        at += length;
        ends[i] = at;
    }
    *out = ends;
    return MW_OK;
}

static mw_status fetch_array(gguf *g, gguf_array *array, mw_error *err)
{
    uint64_t *ends = NULL;
    unsigned char *bytes = mw__arena_alloc(&g->tensors->arena, (size_t)array->size + 1, 1, err);
    if (bytes == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(mw__file_read_at(&g->file, array->at, bytes, (size_t)array->size, g->tensors->path, err));
    if (array->type == MW__GGUF_STRING)
        MW_TRY(unpack_strings(g, array, bytes, &ends, err));
    array->read = (mw_tensors_array){
        .type = mw__gguf_values[array->type].name, .count = (size_t)array->count, .data = bytes, .ends = ends};
    return MW_OK;
}

static mw_status array_of(mw_tensors *tensors, const char *key, mw_tensors_array *out, mw_error *err)
{
    gguf *g = tensors->state;
    for (size_t i = 0; i < g->array_count; i++) {
        gguf_array *array = &g->arrays[i];
        if (strcmp(array->key, key) != 0)
            continue;
        if (array->read.type == NULL)
            MW_TRY(fetch_array(g, array, err));
        *out = array->read;
        return MW_OK;
    }
    return mw__fail(err, MW_ERROR_ARGUMENT, "\"%.200s\" has no array \"%.150s\"", tensors->path, key);
}

static void close_gguf(mw_tensors *tensors)
{
    gguf *g = tensors->state;
    mw__free(tensors->allocator, g->arrays);
    mw__file_close(&g->file);
}

const mw__tensors_format mw__tensors_gguf = {.name = "GGUF",
                                             .open = open_gguf,
                                             .read = read_gguf,
                                             .close = close_gguf,
                                             .array = array_of,
                                             .form = form_of,
                                             .read_stored = read_stored};

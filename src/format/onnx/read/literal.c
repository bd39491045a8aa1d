/* Tensors of an ONNX file: their elements lie in raw bytes, in lists of numbers by type, or in another file. */
#include "format/onnx/read/literal.h"
#include "base/file/file.h"
#include "base/memory/checked.h"
#include "base/number/fp16.h"
#include "base/number/number.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/* ---- element types ---- */

typedef struct type_row {
    const char *name;
    mw_dtype dtype; /* in a graph */
    size_t size;    /* in a file */
    int64_t low, high;
} type_row;

static const type_row type_rows[] = {
    [MW__ONNX_FLOAT] = {"float", MW_F32, 4, 0, 0},
    [MW__ONNX_UINT8] = {"uint8", MW_I32, 1, 0, UINT8_MAX},
    [MW__ONNX_INT8] = {"int8", MW_I32, 1, INT8_MIN, INT8_MAX},
    [MW__ONNX_UINT16] = {"uint16", MW_I32, 2, 0, UINT16_MAX},
    [MW__ONNX_INT16] = {"int16", MW_I32, 2, INT16_MIN, INT16_MAX},
    [MW__ONNX_INT32] = {"int32", MW_I32, 4, INT32_MIN, INT32_MAX},
    [MW__ONNX_INT64] = {"int64", MW_I32, 8, INT64_MIN, INT64_MAX},
    [MW__ONNX_STRING] = {"string", MW_DTYPE_NONE, 0, 0, 0},
    [MW__ONNX_BOOL] = {"bool", MW_BOOL, 1, 0, 1},
    [MW__ONNX_FLOAT16] = {"float16", MW_F16, 2, 0, 0},
    [MW__ONNX_DOUBLE] = {"double", MW_F32, 8, 0, 0},
    [MW__ONNX_UINT32] = {"uint32", MW_I32, 4, 0, UINT32_MAX},
    [MW__ONNX_UINT64] = {"uint64", MW_I32, 8, 0, INT64_MAX},
    [MW__ONNX_COMPLEX64] = {"complex64", MW_DTYPE_NONE, 0, 0, 0},
    [MW__ONNX_COMPLEX128] = {"complex128", MW_DTYPE_NONE, 0, 0, 0},
    [MW__ONNX_BFLOAT16] = {"bfloat16", MW_DTYPE_NONE, 0, 0, 0},
    [17] = {"float8e4m3fn", MW_DTYPE_NONE, 0, 0, 0},
    [18] = {"float8e4m3fnuz", MW_DTYPE_NONE, 0, 0, 0},
    [19] = {"float8e5m2", MW_DTYPE_NONE, 0, 0, 0},
    [20] = {"float8e5m2fnuz", MW_DTYPE_NONE, 0, 0, 0},
    [MW__ONNX_UINT4] = {"uint4", MW_I32, 1, 0, 15},
    [MW__ONNX_INT4] = {"int4", MW_I32, 1, -8, 7},
    [23] = {"float4e2m1", MW_DTYPE_NONE, 0, 0, 0},
    [24] = {"float8e8m0", MW_DTYPE_NONE, 0, 0, 0},
};

static const type_row *find_type(int type)
{
    static const type_row none = {"", MW_DTYPE_NONE, 0, 0, 0};
    const bool known = type > 0 && (size_t)type < sizeof type_rows / sizeof *type_rows;
    return known ? &type_rows[type] : &none;
}

const char *mw__onnx_type_name(int type, char buffer[16])
{
    const type_row *row = find_type(type);
    if (row->name[0] == '\0')
        snprintf(buffer, 16, "type %d", type);
    return row->name[0] != '\0' ? row->name : buffer;
}

mw_dtype mw__onnx_dtype(int type) { return find_type(type)->dtype; }
size_t mw__onnx_type_size(int type) { return find_type(type)->size; }
bool mw__onnx_is_float(int type)
{
    const mw_dtype dtype = find_type(type)->dtype;
    return dtype == MW_F32 || dtype == MW_F16;
}
bool mw__onnx_is_integer(int type) { return find_type(type)->dtype == MW_I32; }
bool mw__onnx_is_plain(int type)
{
    return type == MW__ONNX_FLOAT || type == MW__ONNX_FLOAT16 || type == MW__ONNX_INT32;
}

void mw__onnx_type_range(int type, int64_t *out_low, int64_t *out_high)
{
    *out_low = find_type(type)->low;
    *out_high = find_type(type)->high;
}

/* ---- elements ---- */

static uint64_t load_element(const mw__onnx_literal *literal, size_t index)
{
    const size_t size = mw__onnx_type_size(literal->type);
    const uint8_t *at = (const uint8_t *)literal->data + index * size;
    uint64_t bits = 0;
    for (size_t i = 0; i < size; i++)
        bits |= (uint64_t)at[i] << (8 * i);
    return bits;
}

int64_t mw__onnx_literal_int(const mw__onnx_literal *literal, size_t index)
{
    const uint64_t bits = load_element(literal, index);
    switch (literal->type) {
    case MW__ONNX_BOOL:
        return bits != 0;
    case MW__ONNX_INT8:
    case MW__ONNX_INT4:
        return (int8_t)bits;
    case MW__ONNX_INT16:
        return (int16_t)bits;
    case MW__ONNX_INT32:
        return (int32_t)bits;
    case MW__ONNX_UINT64:
        return bits > INT64_MAX ? INT64_MAX : (int64_t)bits;
    default:
        return (int64_t)bits;
    }
}

double mw__onnx_literal_float(const mw__onnx_literal *literal, size_t index)
{
    const uint64_t bits = load_element(literal, index);
    const uint32_t low = (uint32_t)bits;
    float single;
    double wide;
    switch (literal->type) {
    case MW__ONNX_FLOAT:
        memcpy(&single, &low, sizeof single);
        return single;
    case MW__ONNX_FLOAT16:
        return mw__fp16_to_float((uint16_t)bits);
    case MW__ONNX_DOUBLE:
        memcpy(&wide, &bits, sizeof wide);
        return wide;
    default:
        return (double)mw__onnx_literal_int(literal, index);
    }
}

/* ---- reading ---- */

static const char *shown(const Mw__Onnx__Tensor *tensor)
{
    return tensor->name[0] != '\0' ? tensor->name : "(no name)";
}

static mw_status read_shape(const Mw__Onnx__Tensor *tensor, mw__onnx_literal *out, mw_error *err)
{
    if (tensor->n_dims > MW_RANK_MAX)
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "tensor \"%s\": %zu axes, at most %d", shown(tensor), tensor->n_dims,
                        MW_RANK_MAX);
    out->shape.rank = (int)tensor->n_dims;
    for (size_t i = 0; i < tensor->n_dims; i++) {
        out->shape.dim[i] = tensor->dims[i];
        if (tensor->dims[i] < 0)
            return mw__fail(err, MW_ERROR_FORMAT, "tensor \"%s\": extent %lld of axis %zu is negative", shown(tensor),
                            (long long)tensor->dims[i], i);
    }
    const int64_t count = mw_shape_count(out->shape);
    size_t size;
    if (count < 0 || !mw__mul_size((size_t)count, mw__onnx_type_size(out->type), &size))
        return mw__fail(err, MW_ERROR_FORMAT, "tensor \"%s\": its extents are too large", shown(tensor));
    out->count = (size_t)count;
    return MW_OK;
}

/* The list that holds elements of the type when there are no raw bytes: its length, and the elements' size in it. */
typedef struct number_list {
    const void *data;
    size_t count, size;
} number_list;

static number_list find_list(const Mw__Onnx__Tensor *tensor)
{
    switch (tensor->data_type) {
    case MW__ONNX_FLOAT:
        return (number_list){tensor->float_data, tensor->n_float_data, 4};
    case MW__ONNX_DOUBLE:
        return (number_list){tensor->double_data, tensor->n_double_data, 8};
    case MW__ONNX_INT64:
        return (number_list){tensor->int64_data, tensor->n_int64_data, 8};
    case MW__ONNX_UINT32:
    case MW__ONNX_UINT64:
        return (number_list){tensor->uint64_data, tensor->n_uint64_data, 8};
    default: /* the smaller types, each in an int32 */
        return (number_list){tensor->int32_data, tensor->n_int32_data, 4};
    }
}

/* Bytes of the elements in a file. */
static size_t file_size(const mw__onnx_literal *literal)
{
    const bool halves = literal->type == MW__ONNX_INT4 || literal->type == MW__ONNX_UINT4;
    return halves ? literal->count / 2 + literal->count % 2 : literal->count * mw__onnx_type_size(literal->type);
}

/* Two elements of 4 bits a byte, the first in the low bits, become a byte each. */
static mw_status unpack_halves(const mw__onnx_source *source, mw__onnx_literal *out, mw_error *err)
{
    const uint8_t *packed = out->data;
    uint8_t *wide = mw__arena_alloc(source->arena, out->count, 1, err);
    if (wide == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < out->count; i++) {
        const uint8_t bits = (uint8_t)(packed[i / 2] >> (4 * (i % 2)) & 15);
        wide[i] = out->type == MW__ONNX_INT4 && bits > 7 ? (uint8_t)(bits | 0xf0) : bits;
    }
    out->data = wide;
    return MW_OK;
}

/* Whether the type has the number, which stands in a wider one. Halves are bits, which some writers extend by a sign;
 * of types below a byte a number holds two. */
static bool holds_number(const mw__onnx_literal *literal, const number_list *list, size_t i)
{
    const bool wide = list->size == sizeof(uint64_t);
    const int64_t value = wide ? (int64_t)((const uint64_t *)list->data)[i] : ((const int32_t *)list->data)[i];
    const type_row *row = find_type(literal->type);
    if (literal->type == MW__ONNX_FLOAT16)
        return value >= INT16_MIN && value <= UINT16_MAX;
    return row->low == row->high || file_size(literal) < literal->count || (value >= row->low && value <= row->high);
}

/* Elements of a list as raw bytes: the low bytes of each, on a machine that is little-endian. */
static mw_status pack_list(const mw__onnx_source *source, const Mw__Onnx__Tensor *tensor, const number_list *list,
                           mw__onnx_literal *out, mw_error *err)
{
    char buffer[16];
    const size_t size = mw__onnx_type_size(out->type);
    if (size == list->size) {
        out->data = list->data;
        return MW_OK;
    }
    uint8_t *packed = mw__arena_alloc(source->arena, list->count, size, err);
    if (packed == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < list->count; i++) {
        if (!holds_number(out, list, i))
            return mw__fail(err, MW_ERROR_FORMAT, "tensor \"%s\": element %zu is beyond its type, %s", shown(tensor), i,
                            mw__onnx_type_name(out->type, buffer));
        memcpy(packed + i * size, (const uint8_t *)list->data + i * list->size, size);
    }
    out->data = packed;
    return MW_OK;
}

static mw_status read_numbers(const mw__onnx_source *source, const Mw__Onnx__Tensor *tensor, mw__onnx_literal *out,
                              mw_error *err)
{
    const size_t size = file_size(out), each = size < out->count ? 1 : mw__onnx_type_size(out->type);
    const number_list list = find_list(tensor);
    if (tensor->raw_data.len == 0 && list.count == size / each)
        return pack_list(source, tensor, &list, out, err);
    if (tensor->raw_data.len != size)
        return mw__fail(err, MW_ERROR_FORMAT, "tensor \"%s\": %zu bytes and %zu numbers, where %zu elements belong",
                        shown(tensor), tensor->raw_data.len, list.count, out->count);
    out->data = tensor->raw_data.data;
    return MW_OK;
}

/* ---- in another file ---- */

typedef struct external_place {
    const char *location;
    uint64_t offset, length;
    bool has_length;
} external_place;

static mw_status read_count(const Mw__Onnx__Tensor *tensor, const Mw__Onnx__StringPair *entry, uint64_t *out,
                            mw_error *err)
{
    if (mw__number_read_u64(entry->value, strlen(entry->value), out))
        return MW_OK;
    return mw__fail(err, MW_ERROR_FORMAT, "tensor \"%s\": the %s \"%.40s\" of its external data is no number",
                    shown(tensor), entry->key, entry->value);
}

static mw_status find_place(const Mw__Onnx__Tensor *tensor, external_place *out, mw_error *err)
{
    *out = (external_place){0};
    for (size_t i = 0; i < tensor->n_external_data; i++) {
        const Mw__Onnx__StringPair *entry = tensor->external_data[i];
        if (strcmp(entry->key, "location") == 0)
            out->location = entry->value;
        else if (strcmp(entry->key, "offset") == 0)
            MW_TRY(read_count(tensor, entry, &out->offset, err));
        else if (strcmp(entry->key, "length") == 0) {
            MW_TRY(read_count(tensor, entry, &out->length, err));
            out->has_length = true;
        }
    }
    if (out->location == NULL)
        return mw__fail(err, MW_ERROR_FORMAT, "tensor \"%s\": its external data have no location", shown(tensor));
    return MW_OK;
}

/* The folder of the model, for external data. */
static mw_status folder_of(const mw__onnx_source *source, char **out, mw_error *err)
{
    const char *slash = strrchr(source->folder_of, '/');
    if (slash == NULL)
        *out = mw__arena_string(source->arena, ".", 1, err);
    else
        *out = mw__arena_string(source->arena, source->folder_of,
                                slash == source->folder_of ? 1 : (size_t)(slash - source->folder_of), err);
    return *out != NULL ? MW_OK : MW_ERROR_MEMORY;
}

static mw_status check_place(const Mw__Onnx__Tensor *tensor, const external_place *place, const mw__file *file,
                             size_t size, mw_error *err)
{
    const bool fits = place->offset <= file->size && file->size - place->offset >= size;
    if (fits && (!place->has_length || place->length == size))
        return MW_OK;
    return mw__fail(err, MW_ERROR_FORMAT,
                    "tensor \"%s\": %zu bytes at %llu do not lie in \"%.200s\", which has %llu (length says %llu)",
                    shown(tensor), size, (unsigned long long)place->offset, place->location,
                    (unsigned long long)file->size, (unsigned long long)place->length);
}

/* Elements that were left out of the message: "field offset length" in the file that it was read from. */
static mw_status open_self(const mw__onnx_source *source, const Mw__Onnx__Tensor *tensor,
                           const mw__onnx_literal *literal, external_place *place, mw__file *file, mw_error *err)
{
    unsigned long long offset = 0, length = 0;
    unsigned field = 0;
    bool there = false;
    for (size_t i = 0; i < tensor->n_external_data && !there; i++)
        there = strcmp(tensor->external_data[i]->key, MW__ONNX_LEFT_OUT_KEY) == 0 &&
                sscanf(tensor->external_data[i]->value, "%9u %20llu %20llu", &field, &offset, &length) == 3;
    *place = (external_place){.location = source->path, .offset = offset, .length = length, .has_length = true};
    if (!there || source->self == NULL)
        return mw__fail(err, MW_ERROR_FORMAT, "tensor \"%s\": its elements lie where nobody knows", shown(tensor));
    const bool suits = field == 9 || (field == 4 && literal->type == MW__ONNX_FLOAT) ||
                       (field == 10 && literal->type == MW__ONNX_DOUBLE);
    if (length != file_size(literal) || !suits)
        return mw__fail(err, MW_ERROR_FORMAT, "tensor \"%s\": %llu bytes and 0 numbers, where %zu elements belong",
                        shown(tensor), length, literal->count);
    MW_TRY(check_place(tensor, place, source->self, file_size(literal), err));
    *file = (mw__file){.descriptor = fcntl(source->self->descriptor, F_DUPFD_CLOEXEC, 3), .size = source->self->size};
    if (file->descriptor >= 0)
        return MW_OK;
    return mw__fail(err, MW_ERROR_FILE, "cannot read \"%.200s\": no descriptor is free", source->path);
}

/* Opens the file in which the elements of a tensor lie, all of them. */
static mw_status open_external(const mw__onnx_source *source, const Mw__Onnx__Tensor *tensor,
                               const mw__onnx_literal *literal, external_place *place, mw__file *file, mw_error *err)
{
    char *folder;
    if (tensor->data_location == MW__ONNX_LEFT_OUT)
        return open_self(source, tensor, literal, place, file, err);
    MW_TRY(find_place(tensor, place, err));
    if (source->folder_of == NULL)
        return mw__fail(err, MW_ERROR_FILE,
                        "tensor \"%s\": its elements lie in \"%.200s\", of which no folder is known", shown(tensor),
                        place->location);
    MW_TRY(folder_of(source, &folder, err));
    const char *name = place->location;
    while (strncmp(name, "./", 2) == 0) /* as some exporters write */
        name += strspn(name + 1, "/") + 1;
    MW_TRY(mw__file_open_below(file, folder, name, err));
    const mw_status status = check_place(tensor, place, file, file_size(literal), err);
    if (status != MW_OK)
        mw__file_close(file);
    return status;
}

static mw_status read_external(const mw__onnx_source *source, const Mw__Onnx__Tensor *tensor, mw__onnx_literal *out,
                               mw_error *err)
{
    external_place place;
    mw__file file;
    MW_TRY(open_external(source, tensor, out, &place, &file, err));
    void *data = mw__arena_alloc(source->arena, file_size(out), 1, err);
    mw_status status = MW_ERROR_MEMORY;
    if (data != NULL)
        status = mw__file_read_at(&file, place.offset, data, file_size(out), place.location, err);
    out->data = data;
    mw__file_close(&file);
    return status;
}

static mw_status check_bools(const Mw__Onnx__Tensor *tensor, const mw__onnx_literal *literal, mw_error *err)
{
    const uint8_t *data = literal->data;
    for (size_t i = 0; i < literal->count; i++)
        if (data[i] > 1)
            return mw__fail(err, MW_ERROR_FORMAT, "tensor \"%s\": element %zu is %u, no bool", shown(tensor), i,
                            data[i]);
    return MW_OK;
}

/* Type and shape. */
static mw_status read_head(const Mw__Onnx__Tensor *tensor, mw__onnx_literal *out, mw_error *err)
{
    char buffer[16];
    *out = (mw__onnx_literal){.type = tensor->data_type};
    if (mw__onnx_dtype(tensor->data_type) == MW_DTYPE_NONE)
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "tensor \"%s\": elements of %s are not supported", shown(tensor),
                        mw__onnx_type_name(tensor->data_type, buffer));
    if (tensor->segment != NULL)
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "tensor \"%s\" is a segment of a larger one", shown(tensor));
    return read_shape(tensor, out, err);
}

mw_status mw__onnx_literal_open(const mw__onnx_source *source, const Mw__Onnx__Tensor *tensor, mw__onnx_literal *out,
                                mw__file *out_file, uint64_t *out_offset, mw_error *err)
{
    external_place place;
    MW_TRY(read_head(tensor, out, err));
    MW_TRY(open_external(source, tensor, out, &place, out_file, err));
    *out_offset = place.offset;
    return MW_OK;
}

mw_status mw__onnx_literal_read(const mw__onnx_source *source, const Mw__Onnx__Tensor *tensor, mw__onnx_literal *out,
                                mw_error *err)
{
    MW_TRY(read_head(tensor, out, err));
    const bool elsewhere = tensor->data_location == MW__ONNX_IN_FILE || tensor->data_location == MW__ONNX_LEFT_OUT;
    MW_TRY(elsewhere ? read_external(source, tensor, out, err) : read_numbers(source, tensor, out, err));
    if (out->type == MW__ONNX_BOOL)
        return check_bools(tensor, out, err);
    return out->type == MW__ONNX_INT4 || out->type == MW__ONNX_UINT4 ? unpack_halves(source, out, err) : MW_OK;
}

/* Writes files of tensors: .npy and .npz as numpy reads them, and safetensors. */
#include "base/memory/checked.h"
#include "base/memory/live.h"
#include "base/memory/map.h"
#include "base/number/float_mode.h"
#include "base/text/name.h"
#include "base/text/string.h"
#include "format/tensors/safetensors.h"
#include "format/tensors/tensors.h"
#include "format/zip_write.h"

#include <string.h>

static const struct {
    mw_dtype dtype;
    const char *descr;
} types[] = {
    {MW_F16, "<f2"}, {MW_F32, "<f4"}, {MW_F64, "<f8"}, {MW_I8, "|i1"},  {MW_U8, "|u1"},  {MW_I16, "<i2"},
    {MW_U16, "<u2"}, {MW_I32, "<i4"}, {MW_U32, "<u4"}, {MW_I64, "<i8"}, {MW_U64, "<u8"}, {MW_BOOL, "|b1"},
};

/* What is written: tensors with their elements, or with those that the source makes one after the other. */
typedef struct writing {
    const mw_allocator *allocator;
    const char *path;
    const mw_tensor_values *tensors;
    size_t count;
    const mw__safetensors_source *source; /* NULL: the tensors have their own */
} writing;

/* ---- .npy ---- */

/* The data begins at a multiple of 64, as numpy has it. */
enum { MARK_SIZE = 10, ALIGNMENT = 64 };

static const char *descr_of(mw_dtype dtype)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (types[i].dtype == dtype)
            return types[i].descr;
    return NULL;
}

static void put_dict(mw__text *text, const mw_tensor_values *tensor)
{
    mw__text_printf(text, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr_of(tensor->dtype));
    for (int i = 0; i < tensor->shape.rank; i++)
        mw__text_printf(text, "%s%lld", i > 0 ? ", " : "", (long long)tensor->shape.dim[i]);
    mw__text_puts(text, tensor->shape.rank == 1 ? ",), }" : "), }");
}

static mw_status make_header(mw__text *text, const mw_tensor_values *tensor, mw_error *err)
{
    mw__text_append(text, "\x93NUMPY\1\0\0\0", MARK_SIZE);
    put_dict(text, tensor);
    while (!text->failed && (text->size + 1) % ALIGNMENT != 0)
        mw__text_puts(text, " ");
    mw__text_puts(text, "\n");
    MW_TRY(mw__text_check(text, err));
    text->data[8] = (char)((text->size - MARK_SIZE) & 255);
    text->data[9] = (char)((text->size - MARK_SIZE) >> 8);
    return MW_OK;
}

static mw_status take_data(const writing *w, size_t i, mw__zip_part *out, mw_error *err)
{
    const mw_tensor_values *tensor = &w->tensors[i];
    out->data = w->source != NULL ? w->source->fetch(w->source->user, i, err) : tensor->data;
    out->size = (size_t)mw_shape_count(tensor->shape) * ((size_t)mw_dtype_bits(tensor->dtype) / 8);
    if (out->data != NULL || out->size == 0)
        return MW_OK;
    return mw__failed(err) ? err->status : MW_ERROR_MEMORY;
}

static mw_status write_npy(mw__file_writer *file, const writing *w, mw_error *err)
{
    mw__zip_part data;
    mw__text header;
    MW_TRY(take_data(w, 0, &data, err));
    mw__text_init(&header, file->allocator);
    mw_status status = make_header(&header, &w->tensors[0], err);
    if (status == MW_OK)
        status = mw__file_writer_write(file, header.data, header.size, err);
    if (status == MW_OK)
        status = mw__file_writer_write(file, data.data, data.size, err);
    mw__text_deinit(&header);
    return status;
}

/* ---- .npz ---- */

static mw_status add_entry(mw__zip_writer *zip, const writing *w, size_t i, mw_error *err)
{
    const mw_tensor_values *tensor = &w->tensors[i];
    mw__zip_part data;
    mw__text name, header;
    MW_TRY(take_data(w, i, &data, err));
    mw__text_init(&name, zip->directory.allocator);
    mw__text_init(&header, zip->directory.allocator);
    mw__text_puts(&name, tensor->name);
    mw__text_puts(&name, ".npy");
    mw_status status = make_header(&header, tensor, err);
    if (status == MW_OK)
        status = mw__text_check(&name, err);
    if (status == MW_OK)
        status = mw__zip_writer_add(zip, name.data, (mw__zip_part[]){{header.data, header.size}, data}, err);
    mw__text_deinit(&name);
    mw__text_deinit(&header);
    return status;
}

static mw_status write_npz(mw__file_writer *file, const writing *w, mw_error *err)
{
    mw__zip_writer zip;
    mw_status status = MW_OK;
    mw__zip_writer_init(&zip, file->allocator, file);
    for (size_t i = 0; i < w->count && status == MW_OK; i++)
        status = add_entry(&zip, w, i, err);
    if (status == MW_OK)
        status = mw__zip_writer_finish(&zip, err);
    mw__zip_writer_deinit(&zip);
    return status;
}

static mw_status write_numpy(const writing *w, bool archive, mw_error *err)
{
    mw__file_writer file;
    MW_TRY(mw__file_writer_begin(&file, w->allocator, w->path, true, err));
    mw_status status = archive ? write_npz(&file, w, err) : write_npy(&file, w, err);
    if (status == MW_OK)
        status = mw__file_writer_commit(&file, err);
    mw__file_writer_deinit(&file);
    return status;
}

/* ---- safetensors ---- */

static mw_status write_safetensors(const writing *w, mw_error *err)
{
    static const mw__safetensors_note notes[] = {{"mw.format", "millwright-weights"}, {"format", "pt"}};
    mw__safetensors_item *items = mw__alloc(w->allocator, w->count, sizeof *items, err);
    if (items == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < w->count; i++) {
        const mw_tensor_values *t = &w->tensors[i];
        items[i] = (mw__safetensors_item){t->name, t->dtype, t->shape, t->data};
    }
    const mw_status status =
        mw__safetensors_write_from(w->allocator, w->path, notes, 2, items, w->count, w->source, err);
    mw__free(w->allocator, items);
    return status;
}

/* ---- checks ---- */

/* Names in a zip archive do not lead out of it, whoever unpacks it. */
static bool is_plain(const char *name)
{
    return name[0] != '/' && strstr(name, "..") == NULL && strpbrk(name, "\\:") == NULL &&
           strncmp(name, "./", 2) != 0 && strstr(name, "/./") == NULL;
}

static mw_status check_tensor(const mw_tensor_values *tensor, bool numpy, bool has_source, mw_error *err)
{
    size_t size;
    MW_TRY(mw__name_check("mw_tensors_write", tensor->name, err));
    const int64_t count = mw_shape_count(tensor->shape);
    if (tensor->shape.rank < 0 || tensor->shape.rank > MW_RANK_MAX || count < 0 ||
        !mw__mul_size((size_t)count, (size_t)mw_dtype_bits(tensor->dtype) / 8, &size))
        return mw__fail(err, MW_ERROR_SHAPE, "mw_tensors_write: the shape of \"%.96s\" is none, or too large",
                        tensor->name);
    if (numpy && descr_of(tensor->dtype) == NULL)
        return mw__fail(err, MW_ERROR_DTYPE, "mw_tensors_write: \"%.96s\" is %s, which .npy does not have",
                        tensor->name, mw_dtype_name(tensor->dtype));
    if (numpy && !is_plain(tensor->name))
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "mw_tensors_write: \"%.96s\" cannot be the name of a file in an archive", tensor->name);
    if (tensor->data == NULL && count > 0 && !has_source)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_tensors_write: \"%.96s\" has no data", tensor->name);
    return MW_OK;
}

static mw_status check_doubles(const mw_allocator *allocator, const mw_tensor_values *tensors, size_t count,
                               mw_error *err)
{
    mw__map names;
    mw_status status = MW_OK;
    mw__map_init(&names, allocator);
    for (size_t i = 0; i < count && status == MW_OK; i++)
        status = mw__map_get(&names, tensors[i].name) != NULL
                     ? mw__fail(err, MW_ERROR_ARGUMENT, "mw_tensors_write: \"%.96s\" is there twice", tensors[i].name)
                     : mw__map_set(&names, tensors[i].name, &names, err);
    mw__map_deinit(&names);
    return status;
}

static mw_status write_from(const writing *w, mw_error *err)
{
    const char *path = w->path;
    const bool npy = mw__string_ends(path, ".npy"), npz = mw__string_ends(path, ".npz");
    if (!npy && !npz && !mw__string_ends(path, ".safetensors"))
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "mw_tensors_write: \"%.200s\" ends with none of .safetensors, .npz and .npy", path);
    if (npy && w->count != 1)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_tensors_write: a .npy has one tensor, not %zu; write a .npz",
                        w->count);
    for (size_t i = 0; i < w->count; i++)
        MW_TRY(check_tensor(&w->tensors[i], npy || npz, w->source != NULL, err));
    MW_TRY(check_doubles(w->allocator, w->tensors, w->count, err));
    return npy || npz ? write_numpy(w, npz, err) : write_safetensors(w, err);
}

mw_status mw__tensors_write(const mw_allocator *allocator, const char *path, const mw_tensor_values *tensors,
                            size_t count, mw_error *err)
{
    if (path == NULL || (tensors == NULL && count > 0))
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_tensors_write: no %s", path == NULL ? "path" : "tensors");
    const writing w = {
        .allocator = mw__allocator_or_default(allocator), .path = path, .tensors = tensors, .count = count};
    return write_from(&w, err);
}

mw_status mw_tensors_write(const char *path, const mw_tensor_values *tensors, size_t count, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return err->status;
    return mw__tensors_write(NULL, path, tensors, count, err);
}

/* ---- from one file into another ---- */

typedef struct conversion {
    mw_tensors *from;
    mw_tensor_values *tensors;
    void *data; /* of the tensor that is written */
} conversion;

static bool is_real(mw_dtype dtype)
{
    return dtype == MW_F64 || dtype == MW_F32 || dtype == MW_F16 || dtype == MW_BF16;
}

static const void *fetch_tensor(void *user, size_t index, mw_error *err)
{
    conversion *c = user;
    const mw_tensor_values *tensor = &c->tensors[index];
    const size_t count = (size_t)mw_shape_count(tensor->shape);
    mw__free(c->from->allocator, c->data);
    c->data = mw__alloc(c->from->allocator, count + 1, (size_t)mw_dtype_bits(tensor->dtype) / 8, err);
    if (c->data == NULL ||
        mw__tensors_read(c->from, &c->from->items[index], tensor->dtype, c->data, false, err) != MW_OK)
        return NULL;
    return c->data;
}

static mw_status convert_all(mw_tensors *from, const char *path, mw_dtype dtype, mw_error *err)
{
    conversion c = {.from = from};
    const mw__safetensors_source source = {.fetch = fetch_tensor, .user = &c};
    c.tensors = mw__alloc(from->allocator, from->count, sizeof *c.tensors, err);
    if (c.tensors == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < from->count; i++) {
        const mw_tensor_info *info = &from->items[i].info;
        const bool changes = dtype != MW_DTYPE_NONE && is_real(info->dtype);
        c.tensors[i] = (mw_tensor_values){info->name, changes ? dtype : info->dtype, info->shape, NULL};
    }
    const writing w = {
        .allocator = from->allocator, .path = path, .tensors = c.tensors, .count = from->count, .source = &source};
    const mw_status status = write_from(&w, err);
    mw__free(from->allocator, c.data);
    mw__free(from->allocator, c.tensors);
    return status;
}

mw_status mw__tensors_convert(mw_tensors *tensors, const char *path, mw_dtype dtype, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (path == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_tensors_convert: no path");
    MW_TRY(mw__live_check(tensors, MW__LIVE_TENSORS, "mw_tensors_convert", err));
    mw__entry entry;
    MW_TRY(mw__guard_enter(&entry, &tensors->guard, "tensor file", "mw_tensors_convert", MW__LENT_NEVER, err));
    const mw_status status = convert_all(tensors, path, dtype, err);
    if (mw__guard_leave(&entry))
        mw__tensors_free(tensors);
    return status;
}

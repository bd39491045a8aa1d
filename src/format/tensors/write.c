/* Writes files of tensors: .npy and .npz as numpy reads them, and safetensors. */
#include "base/checked.h"
#include "base/float_mode.h"
#include "base/map.h"
#include "base/name.h"
#include "format/tensors/safetensors.h"
#include "format/tensors/tensors_write.h"
#include "format/zip_write.h"

#include <string.h>

static const struct {
    mw_dtype dtype;
    const char *descr;
} types[] = {
    {MW_F16, "<f2"}, {MW_F32, "<f4"}, {MW_F64, "<f8"}, {MW_I8, "|i1"},  {MW_U8, "|u1"},  {MW_I16, "<i2"},
    {MW_U16, "<u2"}, {MW_I32, "<i4"}, {MW_U32, "<u4"}, {MW_I64, "<i8"}, {MW_U64, "<u8"}, {MW_BOOL, "|b1"},
};

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

static mw__zip_part data_of(const mw_tensor_values *tensor)
{
    return (mw__zip_part){tensor->data,
                          (size_t)mw_shape_count(tensor->shape) * ((size_t)mw_dtype_bits(tensor->dtype) / 8)};
}

static mw_status write_npy(mw__file_writer *file, const mw_tensor_values *tensor, mw_error *err)
{
    const mw__zip_part data = data_of(tensor);
    mw__text header;
    mw__text_init(&header, file->allocator);
    mw_status status = make_header(&header, tensor, err);
    if (status == MW_OK)
        status = mw__file_writer_write(file, header.data, header.size, err);
    if (status == MW_OK)
        status = mw__file_writer_write(file, data.data, data.size, err);
    mw__text_deinit(&header);
    return status;
}

/* ---- .npz ---- */

static mw_status add_entry(mw__zip_writer *zip, const mw_tensor_values *tensor, mw_error *err)
{
    mw__text name, header;
    mw__text_init(&name, zip->directory.allocator);
    mw__text_init(&header, zip->directory.allocator);
    mw__text_puts(&name, tensor->name);
    mw__text_puts(&name, ".npy");
    mw_status status = make_header(&header, tensor, err);
    if (status == MW_OK)
        status = mw__text_check(&name, err);
    if (status == MW_OK)
        status = mw__zip_writer_add(zip, name.data, (mw__zip_part[]){{header.data, header.size}, data_of(tensor)}, err);
    mw__text_deinit(&name);
    mw__text_deinit(&header);
    return status;
}

static mw_status write_npz(mw__file_writer *file, const mw_tensor_values *tensors, size_t count, mw_error *err)
{
    mw__zip_writer zip;
    mw_status status = MW_OK;
    mw__zip_writer_init(&zip, file->allocator, file);
    for (size_t i = 0; i < count && status == MW_OK; i++)
        status = add_entry(&zip, &tensors[i], err);
    if (status == MW_OK)
        status = mw__zip_writer_finish(&zip, err);
    mw__zip_writer_deinit(&zip);
    return status;
}

static mw_status write_numpy(const mw_allocator *allocator, const char *path, const mw_tensor_values *tensors,
                             size_t count, bool archive, mw_error *err)
{
    mw__file_writer file;
    MW_TRY(mw__file_writer_begin(&file, allocator, path, true, err));
    mw_status status = archive ? write_npz(&file, tensors, count, err) : write_npy(&file, tensors, err);
    if (status == MW_OK)
        status = mw__file_writer_commit(&file, err);
    mw__file_writer_deinit(&file);
    return status;
}

/* ---- safetensors ---- */

static mw_status write_safetensors(const mw_allocator *allocator, const char *path, const mw_tensor_values *tensors,
                                   size_t count, mw_error *err)
{
    static const mw__safetensors_note notes[] = {{"mw.format", "millwright-weights"}, {"format", "pt"}};
    mw__safetensors_item *items = mw__alloc(allocator, count, sizeof *items, err);
    if (items == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < count; i++)
        items[i] = (mw__safetensors_item){tensors[i].name, tensors[i].dtype, tensors[i].shape, tensors[i].data};
    const mw_status status = mw__safetensors_write(allocator, path, notes, 2, items, count, err);
    mw__free(allocator, items);
    return status;
}

/* ---- checks ---- */

/* Names in a zip archive do not lead out of it, whoever unpacks it. */
static bool is_plain(const char *name)
{
    return name[0] != '/' && strstr(name, "..") == NULL && strpbrk(name, "\\:") == NULL &&
           strncmp(name, "./", 2) != 0 && strstr(name, "/./") == NULL;
}

static mw_status check_tensor(const mw_tensor_values *tensor, bool numpy, mw_error *err)
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
    if (tensor->data == NULL && count > 0)
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

static bool ends_with(const char *path, const char *ending)
{
    const size_t length = strlen(path), tail = strlen(ending);
    return length > tail && strcmp(path + length - tail, ending) == 0;
}

mw_status mw__tensors_write(const mw_allocator *allocator, const char *path, const mw_tensor_values *tensors,
                            size_t count, mw_error *err)
{
    if (path == NULL || (tensors == NULL && count > 0))
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_tensors_write: no %s", path == NULL ? "path" : "tensors");
    allocator = mw__allocator_or_default(allocator);
    const bool npy = ends_with(path, ".npy"), npz = ends_with(path, ".npz");
    if (!npy && !npz && !ends_with(path, ".safetensors"))
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "mw_tensors_write: \"%.200s\" ends with none of .safetensors, .npz and .npy", path);
    if (npy && count != 1)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_tensors_write: a .npy has one tensor, not %zu; write a .npz",
                        count);
    for (size_t i = 0; i < count; i++)
        MW_TRY(check_tensor(&tensors[i], npy || npz, err));
    MW_TRY(check_doubles(allocator, tensors, count, err));
    return npy || npz ? write_numpy(allocator, path, tensors, count, npz, err)
                      : write_safetensors(allocator, path, tensors, count, err);
}

mw_status mw_tensors_write(const char *path, const mw_tensor_values *tensors, size_t count, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return err->status;
    return mw__tensors_write(NULL, path, tensors, count, err);
}

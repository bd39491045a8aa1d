/* A .npz: a zip archive of .npy files, each a tensor. Archives of PyTorch are recognized here and go on in torch.c. */
#include "format/tensors/archive.h"
#include "format/tensors/npy.h"

#include <string.h>

static mw_status next(void *user, void *out, size_t size, mw_error *err)
{
    return mw__zip_stream_read(user, out, size, err);
}

/* A .keras file has its weights as HDF5 inside. */
static const char *hint_for(const mw_tensors *tensors)
{
    const bool is_keras = mw__zip_find(mw__archive_zip(tensors), "model.weights.h5") != NULL;
    return is_keras ? "; it is a Keras model: export it to ONNX with tf2onnx, or save its weights with numpy.savez"
                    : "";
}

/* Without ".npy". */
static mw_status name_of(mw_tensors *tensors, const mw__zip_entry *entry, const char **out, mw_error *err)
{
    const size_t length = strlen(entry->name);
    if (length <= 4 || strcmp(entry->name + length - 4, ".npy") != 0)
        return mw__fail(
            err, MW_ERROR_FORMAT,
            "\"%.200s\" is a zip archive, but neither .npz nor PyTorch's: its entry \"%.150s\" is no .npy%s",
            tensors->path, entry->name, hint_for(tensors));
    *out = mw__tensors_string(tensors, entry->name, length - 4, err);
    return *out != NULL ? MW_OK : MW_ERROR_MEMORY;
}

typedef struct npz_tensor {
    const mw__zip_entry *entry;
    mw__npy_header header;
} npz_tensor;

static mw__npy_source source_of(const mw_tensors *tensors, mw__zip_stream *stream)
{
    return (mw__npy_source){.next = next,
                            .user = stream,
                            .allocator = tensors->allocator,
                            .path = tensors->path,
                            .name = stream->entry->name};
}

static mw_status read_header(mw_tensors *tensors, npz_tensor *tensor, mw_error *err)
{
    mw__zip_stream stream;
    const mw__zip *zip = mw__archive_zip(tensors);
    MW_TRY(mw__zip_stream_begin(&stream, zip, tensor->entry, err));
    const mw__npy_source source = source_of(tensors, &stream);
    const mw_status status = mw__npy_read_header(&source, &tensor->header, err);
    mw__zip_stream_end(&stream);
    return status;
}

/* What a message says behind the path of the file, which is said once. */
static const char *without_path(const mw_tensors *tensors, const char *message)
{
    const size_t length = strlen(tensors->path);
    const bool begins =
        strncmp(message + 1, tensors->path, length) == 0 && strncmp(message + 1 + length, "\": ", 3) == 0;
    return begins ? message + length + 4 : message;
}

static mw_status add_entry(mw_tensors *tensors, const mw__zip_entry *entry, mw_error *err)
{
    const char *name = NULL;
    npz_tensor *tensor = mw__arena_alloc(&tensors->arena, 1, sizeof *tensor, err);
    if (tensor == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(name_of(tensors, entry, &name, err));
    tensor->entry = entry;
    mw_error reason = {0};
    const mw_status status = read_header(tensors, tensor, &reason);
    if (status == MW_ERROR_UNSUPPORTED) /* strings, objects: the rest is read */
        return mw__tensors_leave_out(tensors, name, without_path(tensors, reason.message), err);
    if (status != MW_OK)
        return mw__fail(err, status, "%s", reason.message);
    MW_TRY(mw__tensors_add(
        tensors,
        &(mw_tensor_info){
            .name = name, .dtype = tensor->header.dtype, .shape = tensor->header.shape, .stored = tensor->header.descr},
        tensor, err));
    const size_t size = tensors->items[tensors->count - 1].info.size;
    if (entry->size != tensor->header.size + size)
        return mw__fail(err, MW_ERROR_FORMAT,
                        "\"%.200s\": \"%.150s\": its header announces %zu bytes of data, but it has %llu",
                        tensors->path, name, size, (unsigned long long)(entry->size - tensor->header.size));
    return MW_OK;
}

mw_status mw__npz_open(mw_tensors *tensors, mw_error *err)
{
    const mw__zip *zip = mw__archive_zip(tensors);
    for (size_t i = 0; i < zip->count; i++)
        MW_TRY(add_entry(tensors, &zip->entries[i], err));
    return MW_OK;
}

static mw_status skip_header(mw__zip_stream *stream, const npz_tensor *tensor, mw_error *err)
{
    mw__npy_header again;
    const mw__npy_source source = {.next = next,
                                   .user = stream,
                                   .allocator = stream->zip->allocator,
                                   .path = stream->zip->path,
                                   .name = tensor->entry->name};
    return mw__npy_read_header(&source, &again, err);
}

static mw_status read_npz(mw_tensors *tensors, const mw__tensors_item *item, void *out, mw_error *err)
{
    const npz_tensor *tensor = item->own;
    mw__zip_stream stream;
    MW_TRY(mw__zip_stream_begin(&stream, mw__archive_zip(tensors), tensor->entry, err));
    const mw__npy_source source = source_of(tensors, &stream);
    mw_status status = skip_header(&stream, tensor, err);
    if (status == MW_OK)
        status = mw__npy_read_data(&source, &tensor->header, out, err);
    mw__zip_stream_end(&stream);
    return status;
}

const mw__tensors_format mw__tensors_npz = {
    .name = "npz", .open = mw__archive_open, .read = read_npz, .close = mw__archive_close};

/* A .npy file as a file of one tensor. */
#include "format/tensors/npy.h"

#include <string.h>

typedef struct npy_file {
    const mw_tensors *tensors;
    mw__file file;
    uint64_t at; /* of the next bytes */
    mw__npy_header header;
} npy_file;

static mw_status next(void *user, void *out, size_t size, mw_error *err)
{
    npy_file *npy = user;
    MW_TRY(mw__file_read_at(&npy->file, npy->at, out, size, npy->tensors->path, err));
    npy->at += size;
    return MW_OK;
}

static mw__npy_source source_of(npy_file *npy)
{
    return (mw__npy_source){.next = next,
                            .user = npy,
                            .allocator = npy->tensors->allocator,
                            .path = npy->tensors->path,
                            .name = npy->tensors->items != NULL ? npy->tensors->items[0].info.name : ""};
}

/* The file's name without folder and ending. */
static const char *name_of(mw_tensors *tensors, mw_error *err)
{
    const char *slash = strrchr(tensors->path, '/');
    const char *name = slash != NULL ? slash + 1 : tensors->path;
    const size_t length = strlen(name);
    const bool ends = length > 4 && strcmp(name + length - 4, ".npy") == 0;
    return mw__tensors_string(tensors, name, ends ? length - 4 : length, err);
}

static mw_status add_tensor(mw_tensors *tensors, npy_file *npy, mw_error *err)
{
    const char *name = name_of(tensors, err);
    if (name == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(mw__tensors_add(
        tensors,
        &(mw_tensor_info){
            .name = name, .dtype = npy->header.dtype, .shape = npy->header.shape, .stored = npy->header.descr},
        NULL, err));
    const uint64_t behind = npy->file.size - npy->header.size;
    if (behind != tensors->items[0].info.size)
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\": its header announces %zu bytes of data, but it has %llu",
                        tensors->path, tensors->items[0].info.size, (unsigned long long)behind);
    return MW_OK;
}

static mw_status open_npy(mw_tensors *tensors, mw__file file, mw_error *err)
{
    npy_file *npy = mw__arena_alloc(&tensors->arena, 1, sizeof *npy, err);
    if (npy == NULL) {
        mw__file_close(&file);
        return MW_ERROR_MEMORY;
    }
    *npy = (npy_file){.tensors = tensors, .file = file};
    tensors->state = npy;
    const mw__npy_source source = source_of(npy);
    MW_TRY(mw__npy_read_header(&source, &npy->header, err));
    return add_tensor(tensors, npy, err);
}

static mw_status read_npy(mw_tensors *tensors, const mw__tensors_item *item, void *out, mw_error *err)
{
    (void)item;
    npy_file *npy = tensors->state;
    const mw__npy_source source = source_of(npy);
    npy->at = npy->header.size;
    return mw__npy_read_data(&source, &npy->header, out, err);
}

static void close_npy(mw_tensors *tensors) { mw__file_close(&((npy_file *)tensors->state)->file); }

const mw__tensors_format mw__tensors_npy = {.name = "npy", .open = open_npy, .read = read_npy, .close = close_npy};

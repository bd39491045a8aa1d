#include "format/onnx/store.h"

#include "graph/constants/bulk.h"

enum { STORE_LEAST = 1 << 20 }; /* bytes for which a file is made */

/* Elements that graphs hold as they stand in files. */
static bool is_large(const Mw__Onnx__Tensor *tensor, uint64_t *out_bytes)
{
    const bool real = tensor->data_type == MW__ONNX_FLOAT || tensor->data_type == MW__ONNX_FLOAT16;
    mw_shape shape = {.rank = (int)tensor->n_dims};
    const bool elsewhere = tensor->data_location == MW__ONNX_IN_FILE || tensor->data_location == MW__ONNX_LEFT_OUT;
    if (!real || !elsewhere || tensor->n_dims > MW_RANK_MAX)
        return false;
    for (size_t i = 0; i < tensor->n_dims; i++) {
        shape.dim[i] = tensor->dims[i];
        if (tensor->dims[i] < 0)
            return false;
    }
    const int64_t count = mw_shape_count(shape);
    *out_bytes = count > 0 ? (uint64_t)count * mw__onnx_type_size(tensor->data_type) : 0;
    return *out_bytes >= MW__BULK_LEAST && *out_bytes <= SIZE_MAX / 4;
}

/* What cannot be opened is left to whoever reads it. */
static mw_status copy_tensor(mw__onnx_store *store, const mw__onnx_source *source, const Mw__Onnx__Tensor *tensor,
                             mw__onnx_literal *out, mw_error *err)
{
    mw__file file;
    uint64_t offset;
    mw_error own = {0};
    mw__onnx_literal literal;
    const uint64_t entry = out->entry;
    if (mw__onnx_literal_open(source, tensor, &literal, &file, &offset, &own) != MW_OK)
        return own.status == MW_ERROR_MEMORY ? mw__fail(err, MW_ERROR_MEMORY, "%s", own.message) : MW_OK;
    const mw_status status = mw__blob_store_put(&store->blobs, entry, mw__onnx_dtype(literal.type),
                                                literal.count * mw__onnx_type_size(literal.type), &file, offset,
                                                source->path, &literal.data, err);
    mw__file_close(&file);
    literal.bulk = store->blobs.bulk;
    literal.entry = entry;
    if (status == MW_OK && literal.data != NULL)
        *out = literal;
    return status;
}

mw_status mw__onnx_store_fill(mw__onnx_store *store, const mw_allocator *allocator, const mw__onnx_source *source,
                              const Mw__Onnx__Graph *graph, mw_error *err)
{
    uint64_t bytes;
    *store = (mw__onnx_store){.allocator = allocator};
    store->kept = mw__alloc(allocator, graph->n_initializer + 1, sizeof *store->kept, err);
    if (store->kept == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < graph->n_initializer; i++)
        if (is_large(graph->initializer[i], &bytes) && store->blobs.end <= UINT64_MAX / 4)
            store->kept[i].entry = mw__blob_store_count(&store->blobs, bytes);
    if (store->blobs.end < STORE_LEAST || !mw__blob_store_make(&store->blobs, allocator))
        return MW_OK;
    store->count = graph->n_initializer;
    for (size_t i = 0; i < store->count; i++)
        if (store->kept[i].entry != 0)
            MW_TRY(copy_tensor(store, source, graph->initializer[i], &store->kept[i], err));
    mw__blob_store_complete(&store->blobs);
    return MW_OK;
}

void mw__onnx_store_release(mw__onnx_store *store)
{
    mw__free(store->allocator, store->kept);
    mw__blob_store_release(&store->blobs);
    *store = (mw__onnx_store){0};
}

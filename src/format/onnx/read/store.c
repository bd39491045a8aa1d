#include "format/onnx/read/store.h"

#include "format/onnx/read/import.h"
#include "graph/constants/shared_payload.h"

#include <stdlib.h>
#include <string.h>

enum { STORE_LEAST = 1 << 20 }; /* bytes for which a file is made */

/* ---- what is kept ---- */

/* Of elements that become others, which is exact for all but doubles: those are kept where nobody asks for one. */
static bool may_convert(int type, int64_t count)
{
    return type == MW__ONNX_DOUBLE ? count > MW__ONNX_KNOWN_MAX : mw__onnx_is_integer(type);
}

/* The codes of quantized weights stay as they are: few become int32, and then not here. */
static mw_dtype kept_dtype(int type)
{
    return type == MW__ONNX_INT8 ? MW_I8 : type == MW__ONNX_UINT8 ? MW_U8 : mw__onnx_dtype(type);
}

static bool is_kept_so(int type) { return mw__onnx_is_plain(type) || type == MW__ONNX_INT8 || type == MW__ONNX_UINT8; }

/* Bytes in the store; 0 = it is not for it. */
static uint64_t stored_bytes(const Mw__Onnx__Tensor *tensor)
{
    const int type = tensor->data_type;
    mw_shape shape = {.rank = (int)tensor->n_dims};
    const bool elsewhere = tensor->data_location == MW__ONNX_IN_FILE || tensor->data_location == MW__ONNX_LEFT_OUT;
    if (!elsewhere || tensor->n_dims > MW_RANK_MAX || type == MW__ONNX_INT4 || type == MW__ONNX_UINT4)
        return 0;
    for (size_t i = 0; i < tensor->n_dims; i++) {
        shape.dim[i] = tensor->dims[i];
        if (tensor->dims[i] < 0)
            return 0;
    }
    const int64_t count = mw_shape_count(shape);
    if (count <= 0 || (uint64_t)count > SIZE_MAX / 32 || !(is_kept_so(type) || may_convert(type, count)))
        return 0;
    const uint64_t bytes = (uint64_t)count * (uint64_t)mw_dtype_bits(kept_dtype(type)) / 8;
    return bytes >= MW__SHARED_PAYLOAD_LEAST ? bytes : 0;
}

static mw_status note_tensor(mw__onnx_store *store, const Mw__Onnx__Tensor *tensor, mw_error *err)
{
    const uint64_t bytes = stored_bytes(tensor);
    if (bytes == 0 || store->blobs.end > UINT64_MAX / 4)
        return MW_OK;
    MW_TRY(mw__grow(store->allocator, &store->kept, &store->capacity, store->count + 1, sizeof *store->kept, err));
    store->kept[store->count++] =
        (mw__onnx_kept){.tensor = tensor, .literal.entry = mw__blob_store_count(&store->blobs, bytes)};
    return MW_OK;
}

static mw_status note_graph(mw__onnx_store *store, const Mw__Onnx__Graph *graph, mw_error *err);

static mw_status note_nodes(mw__onnx_store *store, Mw__Onnx__Node *const *nodes, size_t count, mw_error *err)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < nodes[i]->n_attribute; k++) {
            const Mw__Onnx__Attribute *attribute = nodes[i]->attribute[k];
            if (attribute->t != NULL && strcmp(nodes[i]->op_type, "Constant") == 0)
                MW_TRY(note_tensor(store, attribute->t, err));
            if (attribute->g != NULL)
                MW_TRY(note_graph(store, attribute->g, err));
            for (size_t g = 0; g < attribute->n_graphs; g++)
                MW_TRY(note_graph(store, attribute->graphs[g], err));
        }
    return MW_OK;
}

static mw_status note_graph(mw__onnx_store *store, const Mw__Onnx__Graph *graph, mw_error *err)
{
    for (size_t i = 0; i < graph->n_initializer; i++)
        MW_TRY(note_tensor(store, graph->initializer[i], err));
    return note_nodes(store, graph->node, graph->n_node, err);
}

static mw_status note_model(mw__onnx_store *store, const Mw__Onnx__Model *model, mw_error *err)
{
    if (model->graph != NULL)
        MW_TRY(note_graph(store, model->graph, err));
    for (size_t i = 0; i < model->n_functions; i++)
        MW_TRY(note_nodes(store, model->functions[i]->node, model->functions[i]->n_node, err));
    return MW_OK;
}

/* ---- elements ---- */

/* A tensor that is copied: where its elements lie. */
typedef struct copying {
    mw__onnx_store *store;
    const mw__onnx_source *source;
    mw__onnx_literal literal; /* of the file's type */
    mw__file file;
    uint64_t offset, entry;
} copying;

enum { PIECE = 1 << 14 }; /* elements */

/* False if int32 does not hold one. */
static bool convert_piece(const mw__onnx_literal *from, void *to)
{
    for (size_t i = 0; i < from->count; i++) {
        const float single = from->type == MW__ONNX_DOUBLE ? (float)mw__onnx_literal_float(from, i) : 0;
        const int64_t wide = from->type == MW__ONNX_DOUBLE ? 0 : mw__onnx_literal_int(from, i);
        const int32_t number = (int32_t)wide;
        if (wide != number)
            return false;
        memcpy((char *)to + 4 * i, from->type == MW__ONNX_DOUBLE ? (const void *)&single : &number, 4);
    }
    return true;
}

/* *out_good is false where an element does not fit or cannot be written; what cannot be read is an error. */
static mw_status put_pieces(const copying *c, uint64_t *raw, uint32_t *made, bool *out_good, mw_error *err)
{
    const size_t size = mw__onnx_type_size(c->literal.type);
    mw__onnx_literal piece = {.type = c->literal.type, .data = raw};
    *out_good = true;
    for (size_t at = 0; at < c->literal.count && *out_good; at += piece.count) {
        piece.count = c->literal.count - at < PIECE ? c->literal.count - at : PIECE;
        MW_TRY(
            mw__file_read_at(&c->file, c->offset + (uint64_t)at * size, raw, piece.count * size, c->source->path, err));
        *out_good = convert_piece(&piece, made) &&
                    mw__blob_store_fill(&c->store->blobs, c->entry, (uint64_t)at * 4, made, piece.count * 4);
    }
    return MW_OK;
}

static mw_status put_converted(const copying *c, bool *out_good, mw_error *err)
{
    const mw_allocator *allocator = c->store->allocator;
    uint64_t *raw = mw__alloc(allocator, PIECE, sizeof *raw, err);
    uint32_t *made = mw__alloc(allocator, PIECE, sizeof *made, err);
    mw_status status = MW_ERROR_MEMORY;
    if (raw != NULL && made != NULL)
        status = put_pieces(c, raw, made, out_good, err);
    mw__free(allocator, made);
    mw__free(allocator, raw);
    return status;
}

static mw_status put_elements(const copying *c, const void **out_data, mw_error *err)
{
    const mw_dtype dtype = kept_dtype(c->literal.type);
    const uint64_t bytes = (uint64_t)c->literal.count * (uint64_t)mw_dtype_bits(dtype) / 8;
    bool good;
    if (is_kept_so(c->literal.type))
        return mw__blob_store_put(&c->store->blobs, c->entry, dtype, bytes, &c->file, c->offset, c->source->path,
                                  out_data, err);
    MW_TRY(put_converted(c, &good, err));
    *out_data = good ? mw__blob_store_finish(&c->store->blobs, c->entry, dtype, bytes) : NULL;
    return MW_OK;
}

/* What cannot be opened is left to whoever reads it. */
static mw_status copy_tensor(mw__onnx_store *store, const mw__onnx_source *source, mw__onnx_kept *kept, mw_error *err)
{
    mw_error own = {0};
    copying c = {.store = store, .source = source, .entry = kept->literal.entry};
    if (mw__onnx_literal_open(source, kept->tensor, &c.literal, &c.file, &c.offset, &own) != MW_OK)
        return own.status == MW_ERROR_MEMORY ? mw__fail(err, MW_ERROR_MEMORY, "%s", own.message) : MW_OK;
    const void *data = NULL;
    const mw_status status = put_elements(&c, &data, err);
    mw__file_close(&c.file);
    if (status != MW_OK || data == NULL)
        return status;
    if (!is_kept_so(c.literal.type))
        c.literal.type = c.literal.type == MW__ONNX_DOUBLE ? MW__ONNX_FLOAT : MW__ONNX_INT32;
    c.literal.data = data;
    c.literal.shared = store->blobs.shared;
    c.literal.entry = c.entry;
    kept->literal = c.literal;
    return MW_OK;
}

/* ---- the store ---- */

static int compare_kept(const void *a, const void *b)
{
    const uintptr_t x = (uintptr_t)((const mw__onnx_kept *)a)->tensor,
                    y = (uintptr_t)((const mw__onnx_kept *)b)->tensor;
    return (x > y) - (x < y);
}

mw_status mw__onnx_store_fill(mw__onnx_store *store, const mw_allocator *allocator, const mw__onnx_source *source,
                              const Mw__Onnx__Model *model, mw_error *err)
{
    *store = (mw__onnx_store){.allocator = allocator};
    MW_TRY(note_model(store, model, err));
    if (store->blobs.end < STORE_LEAST || !mw__blob_store_make(&store->blobs, allocator)) {
        store->count = 0;
        return MW_OK;
    }
    for (size_t i = 0; i < store->count; i++)
        MW_TRY(copy_tensor(store, source, &store->kept[i], err));
    qsort(store->kept, store->count, sizeof *store->kept, compare_kept);
    mw__blob_store_complete(&store->blobs);
    return MW_OK;
}

const mw__onnx_literal *mw__onnx_store_find(const mw__onnx_store *store, const Mw__Onnx__Tensor *tensor)
{
    const mw__onnx_kept key = {.tensor = tensor};
    if (store == NULL || store->count == 0)
        return NULL;
    const mw__onnx_kept *found = bsearch(&key, store->kept, store->count, sizeof key, compare_kept);
    return found != NULL && found->literal.type != 0 ? &found->literal : NULL;
}

void mw__onnx_store_release(mw__onnx_store *store)
{
    mw__free(store->allocator, store->kept);
    mw__blob_store_release(&store->blobs);
    *store = (mw__onnx_store){0};
}

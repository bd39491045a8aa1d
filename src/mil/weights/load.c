/* Fills BLOBFILE constants of a parsed graph from the files below a folder. One entry that several constants name is
 * read once. Payloads are const elsewhere; this file is where those of the graph's own arena are completed. */
#include "base/memory/map.h"
#include "graph/constants/shared_payload.h"
#include "mil/io.h"
#include "mil/weights/blob.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct load_state {
    mw_graph *graph;
    const char *folder;
    mw_error *err;
    mw__map files;       /* path -> opened */
    mw__map entries;     /* "offset bytes path" -> the payload that was read first */
    bool owned;          /* the folder is ours alone: its files are mapped */
    struct opened *list; /* every opened file */
} load_state;

typedef struct opened {
    mw__blob_file file;
    struct opened *next;
} opened;

static const char prefix[] = "@model_path/";

/* What was read from it stays with the graph. */
static void close_file(mw__blob_file *file)
{
    if (file->parts != NULL)
        mw__file_parts_complete(&file->parts->parts);
    mw__shared_payload_release(file->parts);
    mw__file_close(&file->file);
}

/* The graph holds what is mapped. */
static mw_status map_file(const load_state *loader, mw__blob_file *file, const char *path)
{
    file->mapped = mw__shared_payload_map(loader->graph->allocator, &file->file, path, loader->err);
    if (file->mapped == NULL)
        return loader->err->status;
    const mw_status status = mw__graph_keep(loader->graph, file->mapped, loader->err);
    mw__shared_payload_release(file->mapped);
    return status;
}

/* Of a file from which much may be read, a copy that takes no memory of the process until it is used; in memory, if
 * there is no room for one. */
static mw_status copy_file(const load_state *loader, mw__blob_file *file)
{
    enum { LEAST = 1 << 20 };
    file->parts =
        file->file.size >= LEAST ? mw__shared_payload_of_parts(loader->graph->allocator, file->file.size) : NULL;
    return file->parts != NULL ? mw__graph_keep(loader->graph, file->parts, loader->err) : MW_OK;
}

static mw_status prepare_file(const load_state *loader, mw__blob_file *file, const char *path)
{
    const mw_status status = loader->owned ? map_file(loader, file, path) : copy_file(loader, file);
    if (status != MW_OK)
        close_file(file);
    return status;
}

/* The file of a payload, opened at its first use. */
static mw_status open_file(load_state *loader, const char *path, opened **out)
{
    *out = mw__map_get(&loader->files, path);
    if (*out != NULL)
        return MW_OK;
    if (strncmp(path, prefix, sizeof prefix - 1) != 0)
        return mw__fail(loader->err, MW_ERROR_FORMAT, "weight path \"%.100s\" does not start with %s", path, prefix);
    opened *file = mw__alloc(loader->graph->allocator, 1, sizeof *file, loader->err);
    if (file == NULL)
        return MW_ERROR_MEMORY;
    mw_status status = mw__file_open_below(&file->file.file, loader->folder, path + sizeof prefix - 1, loader->err);
    if (status == MW_OK)
        status = prepare_file(loader, &file->file, path);
    if (status != MW_OK) {
        mw__free(loader->graph->allocator, file);
        return status;
    }
    file->file.budget = file->file.file.size;
    file->next = loader->list;
    loader->list = *out = file;
    return mw__map_set(&loader->files, path, file, loader->err);
}

static mw_status load_one_payload(load_state *loader, mw__payload *payload)
{
    char key[512];
    opened *file = NULL;
    size_t bytes;
    if (!mw__type_bytes(payload->type, &bytes))
        return mw__fail(loader->err, MW_ERROR_SHAPE, "BLOBFILE for a type without a size");
    const int length = snprintf(key, sizeof key, "%" PRIu64 " %zu %d %s", payload->blob_offset, bytes,
                                (int)payload->type->dtype, payload->blob_path);
    const bool keyed = length > 0 && (size_t)length < sizeof key;
    const mw__payload *same = keyed ? mw__map_get(&loader->entries, key) : NULL;
    if (same != NULL) {
        payload->data = same->data;
        payload->size = same->size;
        payload->shared = same->shared;
        return MW_OK;
    }
    MW_TRY(open_file(loader, payload->blob_path, &file));
    MW_TRY(mw__blob_read(&file->file, payload->blob_path, loader->graph, payload, loader->err));
    return keyed ? mw__map_set(&loader->entries, key, payload, loader->err) : MW_OK;
}

static mw_status load_payload(load_state *loader, const mw__payload *payload)
{
    if (payload->blob_path != NULL && payload->data == NULL)
        MW_TRY(load_one_payload(loader, (mw__payload *)(uintptr_t)payload));
    for (size_t i = 0; i < payload->member_count; i++)
        MW_TRY(load_payload(loader, payload->members[i]));
    return MW_OK;
}

static mw_status load_operands(load_state *loader, const mw__operand *operands, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (operands[i].inlined)
            MW_TRY(load_payload(loader, operands[i].value->payload));
        MW_TRY(load_operands(loader, operands[i].members, operands[i].member_count));
    }
    return MW_OK;
}

static mw_status load_attributes(load_state *loader, const mw__attribute *attributes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        MW_TRY(load_payload(loader, attributes[i].value));
    return MW_OK;
}

static mw_status load_op(load_state *loader, const mw__op *op)
{
    for (size_t i = 0; i < op->slot_count; i++)
        MW_TRY(load_operands(loader, op->slots[i].operands, op->slots[i].count));
    MW_TRY(load_attributes(loader, op->attributes, op->attribute_count));
    for (size_t i = 0; i < op->result_count; i++)
        if (op->results[i]->payload != NULL)
            MW_TRY(load_payload(loader, op->results[i]->payload));
    return MW_OK;
}

static mw_status load_block(load_state *loader, const mw__block *block)
{
    for (size_t i = 0; i < block->op_count; i++) {
        const mw__op *op = block->ops[i];
        const mw_status status = load_op(loader, op);
        if (status != MW_OK) {
            mw__error_subject(loader->err, op->kind, op->result_count > 0 ? op->results[0]->name : NULL);
            mw__error_position(loader->err, (int)op->line, (int)op->column);
            return status;
        }
        for (size_t k = 0; k < op->block_count; k++)
            MW_TRY(load_block(loader, op->blocks[k]));
    }
    return MW_OK;
}

static mw_status load_graph(load_state *loader)
{
    const mw_graph *graph = loader->graph;
    MW_TRY(load_attributes(loader, graph->attributes, graph->attribute_count));
    for (size_t i = 0; i < graph->function_count; i++) {
        const mw__function *function = graph->functions[i];
        MW_TRY(load_attributes(loader, function->attributes, function->attribute_count));
        MW_TRY(load_block(loader, function->body));
    }
    return MW_OK;
}

mw_status mw__mil_load_blobs(mw_graph *graph, const char *folder, bool owned, mw_error *err)
{
    if (mw__failed(err))
        return err->status;
    mw_error own = {0};
    load_state loader = {.graph = graph, .folder = folder, .err = &own, .owned = owned};
    mw__map_init(&loader.files, graph->allocator);
    mw__map_init(&loader.entries, graph->allocator);
    const mw_status status = load_graph(&loader);
    while (loader.list != NULL) {
        opened *file = loader.list;
        loader.list = file->next;
        close_file(&file->file);
        mw__free(graph->allocator, file);
    }
    mw__map_deinit(&loader.files);
    mw__map_deinit(&loader.entries);
    if (status != MW_OK && err != NULL)
        *err = own;
    return status;
}

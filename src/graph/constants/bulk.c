/* Shared bytes of large constants. Who may share is said in copy.c. */
#include "graph/constants/bulk.h"

mw__bulk *mw__bulk_create(const mw_allocator *allocator, size_t size, mw_error *err)
{
    mw__bulk *bulk = mw__alloc(allocator, 1, sizeof *bulk, err);
    void *data = bulk != NULL ? mw__alloc_aligned(allocator, size, 64, err) : NULL;
    if (data == NULL) {
        mw__free(allocator, bulk);
        return NULL;
    }
    *bulk = (mw__bulk){.references = 1, .allocator = allocator, .data = data, .size = size};
    return bulk;
}

mw__bulk *mw__bulk_map(const mw_allocator *allocator, const mw__file *file, const char *path, mw_error *err)
{
    void *data;
    mw__bulk *bulk = mw__alloc(allocator, 1, sizeof *bulk, err);
    if (bulk == NULL || mw__file_map(file, path, &data, err) != MW_OK) {
        mw__free(allocator, bulk);
        return NULL;
    }
    *bulk = (mw__bulk){.references = 1, .allocator = allocator, .data = data, .size = file->size, .mapped = true};
    return bulk;
}

mw__bulk *mw__bulk_of_parts(const mw_allocator *allocator, uint64_t size)
{
    mw__file_parts parts;
    mw__bulk *bulk = mw__alloc(allocator, 1, sizeof *bulk, NULL);
    if (bulk == NULL || mw__file_parts_make(&parts, allocator, size, NULL) != MW_OK) {
        mw__free(allocator, bulk);
        return NULL;
    }
    *bulk = (mw__bulk){.references = 1, .allocator = allocator, .data = parts.data, .size = size, .parts = parts};
    return bulk;
}

void mw__bulk_release(mw__bulk *bulk)
{
    if (bulk == NULL || atomic_fetch_sub_explicit(&bulk->references, 1, memory_order_acq_rel) != 1)
        return;
    if (bulk->parts.path != NULL)
        mw__file_parts_release(&bulk->parts, bulk->allocator);
    else if (bulk->mapped)
        mw__file_unmap(bulk->data, bulk->size);
    else
        mw__free_aligned(bulk->allocator, bulk->data);
    mw__free(bulk->allocator, bulk);
}

mw_status mw__graph_keep(mw_graph *graph, mw__bulk *bulk, mw_error *err)
{
    for (size_t i = graph->bulk_count; i-- > 0;)
        if (graph->bulks[i] == bulk)
            return MW_OK;
    MW_TRY(mw__grow(graph->allocator, &graph->bulks, &graph->bulk_capacity, graph->bulk_count + 1, sizeof(mw__bulk *),
                    err));
    atomic_fetch_add_explicit(&bulk->references, 1, memory_order_relaxed);
    graph->bulks[graph->bulk_count++] = bulk;
    return MW_OK;
}

void *mw__payload_room(mw_graph *graph, size_t size, mw__bulk **out_bulk, mw_error *err)
{
    *out_bulk = NULL;
    if (size < MW__BULK_LEAST)
        return mw__arena_alloc(&graph->arena, size, 1, err);
    mw__bulk *bulk = mw__bulk_create(graph->allocator, size, err);
    const bool kept = bulk != NULL && mw__graph_keep(graph, bulk, err) == MW_OK;
    mw__bulk_release(bulk); /* the graph has its own reference, or none */
    *out_bulk = kept ? bulk : NULL;
    return kept ? bulk->data : NULL;
}

/* Shared bytes of large constants. Who may share is said in copy.c. */
#include "graph/constants/shared_payload.h"

#include <pthread.h>

mw__shared_payload *mw__shared_payload_create(const mw_allocator *allocator, size_t size, mw_error *err)
{
    mw__shared_payload *bulk = mw__alloc(allocator, 1, sizeof *bulk, err);
    void *data = bulk != NULL ? mw__alloc_aligned(allocator, size, 64, err) : NULL;
    if (data == NULL) {
        mw__free(allocator, bulk);
        return NULL;
    }
    *bulk = (mw__shared_payload){
        .references = 1, .allocator = *mw__allocator_or_default(allocator), .data = data, .size = size};
    return bulk;
}

bool mw__shared_payload_is_of(const mw__shared_payload *bulk, const mw_allocator *allocator)
{
    allocator = mw__allocator_or_default(allocator);
    return bulk->allocator.resize == allocator->resize && bulk->allocator.user == allocator->user;
}

/* ---- files ---- */

/* Those that are mapped now. A file's identity is its own as long as it is mapped. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static mw__shared_payload *shared;

static void retain(mw__shared_payload *bulk) { atomic_fetch_add_explicit(&bulk->references, 1, memory_order_relaxed); }

/* Under the mutex: with a reference for the caller, or NULL. An allocator may go when its objects have. */
static mw__shared_payload *find_shared(const mw_allocator *allocator, const mw__file *file, mw__file_identity identity)
{
    for (mw__shared_payload *bulk = shared; bulk != NULL; bulk = bulk->next)
        if (mw__shared_payload_is_of(bulk, allocator) && bulk->size == file->size &&
            bulk->file.device == identity.device && bulk->file.node == identity.node) {
            retain(bulk);
            return bulk;
        }
    return NULL;
}

/* Under the mutex. */
static void share(mw__shared_payload *bulk, int descriptor)
{
    bulk->shared = mw__file_identify(descriptor, &bulk->file);
    if (!bulk->shared)
        return;
    bulk->next = shared;
    shared = bulk;
}

static mw__shared_payload *map(const mw_allocator *allocator, const mw__file *file, const char *path, mw_error *err)
{
    void *data;
    mw__shared_payload *bulk = mw__alloc(allocator, 1, sizeof *bulk, err);
    if (bulk == NULL || mw__file_map(file, path, &data, err) != MW_OK) {
        mw__free(allocator, bulk);
        return NULL;
    }
    *bulk = (mw__shared_payload){.references = 1,
                                 .allocator = *mw__allocator_or_default(allocator),
                                 .data = data,
                                 .size = file->size,
                                 .mapped = true};
    share(bulk, file->descriptor);
    return bulk;
}

mw__shared_payload *mw__shared_payload_map(const mw_allocator *allocator, const mw__file *file, const char *path,
                                           mw_error *err)
{
    mw__file_identity identity = {0};
    mw__shared_payload *bulk = NULL;
    pthread_mutex_lock(&mutex);
    if (mw__file_identify(file->descriptor, &identity))
        bulk = find_shared(allocator, file, identity);
    if (bulk == NULL)
        bulk = map(allocator, file, path, err);
    pthread_mutex_unlock(&mutex);
    return bulk;
}

mw__shared_payload *mw__shared_payload_of_parts(const mw_allocator *allocator, uint64_t size)
{
    mw__file_parts parts;
    mw__shared_payload *bulk = mw__alloc(allocator, 1, sizeof *bulk, NULL);
    if (bulk == NULL || mw__file_parts_make(&parts, allocator, size, NULL) != MW_OK) {
        mw__free(allocator, bulk);
        return NULL;
    }
    *bulk = (mw__shared_payload){.references = 1,
                                 .allocator = *mw__allocator_or_default(allocator),
                                 .data = parts.data,
                                 .size = size,
                                 .parts = parts};
    pthread_mutex_lock(&mutex);
    share(bulk, parts.descriptor);
    pthread_mutex_unlock(&mutex);
    return bulk;
}

/* ---- references ---- */

/* Whether it was the last. Of one that is shared under the mutex: nobody finds it in between. */
static bool drop(mw__shared_payload *bulk)
{
    if (!bulk->shared)
        return atomic_fetch_sub_explicit(&bulk->references, 1, memory_order_acq_rel) == 1;
    pthread_mutex_lock(&mutex);
    const bool last = atomic_fetch_sub_explicit(&bulk->references, 1, memory_order_acq_rel) == 1;
    mw__shared_payload **at = &shared;
    while (last && *at != bulk)
        at = &(*at)->next;
    if (last)
        *at = bulk->next;
    pthread_mutex_unlock(&mutex);
    return last;
}

void mw__shared_payload_release(mw__shared_payload *bulk)
{
    if (bulk == NULL || !drop(bulk))
        return;
    const mw_allocator allocator = bulk->allocator;
    if (bulk->parts.path != NULL)
        mw__file_parts_release(&bulk->parts, &allocator);
    else if (bulk->mapped)
        mw__file_unmap(bulk->data, bulk->size);
    else
        mw__free_aligned(&allocator, bulk->data);
    mw__free(&allocator, bulk);
}

mw_status mw__graph_keep(mw_graph *graph, mw__shared_payload *bulk, mw_error *err)
{
    for (size_t i = graph->bulk_count; i-- > 0;)
        if (graph->bulks[i] == bulk)
            return MW_OK;
    MW_TRY(mw__grow(graph->allocator, &graph->bulks, &graph->bulk_capacity, graph->bulk_count + 1,
                    sizeof(mw__shared_payload *), err));
    retain(bulk);
    graph->bulks[graph->bulk_count++] = bulk;
    return MW_OK;
}

void *mw__payload_alloc(mw_graph *graph, size_t size, mw__shared_payload **out_bulk, mw_error *err)
{
    *out_bulk = NULL;
    if (size < MW__SHARED_PAYLOAD_LEAST)
        return mw__arena_alloc(&graph->arena, size, 1, err);
    mw__shared_payload *bulk = mw__shared_payload_create(graph->allocator, size, err);
    const bool kept = bulk != NULL && mw__graph_keep(graph, bulk, err) == MW_OK;
    mw__shared_payload_release(bulk); /* the graph has its own reference, or none */
    *out_bulk = kept ? bulk : NULL;
    return kept ? bulk->data : NULL;
}

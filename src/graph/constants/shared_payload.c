/* Shared bytes of large constants. Who may share is said in copy.c. */
#include "graph/constants/shared_payload.h"

#include <pthread.h>

mw__shared_payload *mw__shared_payload_create(const mw_allocator *allocator, size_t size, mw_error *err)
{
    mw__shared_payload *one = mw__alloc(allocator, 1, sizeof *one, err);
    void *data = one != NULL ? mw__alloc_aligned(allocator, size, 64, err) : NULL;
    if (data == NULL) {
        mw__free(allocator, one);
        return NULL;
    }
    *one = (mw__shared_payload){
        .references = 1, .allocator = *mw__allocator_or_default(allocator), .data = data, .size = size};
    return one;
}

bool mw__shared_payload_is_of(const mw__shared_payload *one, const mw_allocator *allocator)
{
    allocator = mw__allocator_or_default(allocator);
    return one->allocator.resize == allocator->resize && one->allocator.user == allocator->user;
}

/* ---- files ---- */

/* Those that are mapped now. A file's identity is its own as long as it is mapped. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static mw__shared_payload *shared;

static void retain(mw__shared_payload *one) { atomic_fetch_add_explicit(&one->references, 1, memory_order_relaxed); }

/* Under the mutex: with a reference for the caller, or NULL. An allocator may go when its objects have. */
static mw__shared_payload *find_shared(const mw_allocator *allocator, const mw__file *file, mw__file_identity identity)
{
    for (mw__shared_payload *one = shared; one != NULL; one = one->next)
        if (mw__shared_payload_is_of(one, allocator) && one->size == file->size &&
            one->file.device == identity.device && one->file.node == identity.node) {
            retain(one);
            return one;
        }
    return NULL;
}

/* Under the mutex. */
static void share(mw__shared_payload *one, int descriptor)
{
    one->shared = mw__file_identify(descriptor, &one->file);
    if (!one->shared)
        return;
    one->next = shared;
    shared = one;
}

static mw__shared_payload *map(const mw_allocator *allocator, const mw__file *file, const char *path, mw_error *err)
{
    void *data;
    mw__shared_payload *one = mw__alloc(allocator, 1, sizeof *one, err);
    if (one == NULL || mw__file_map(file, path, &data, err) != MW_OK) {
        mw__free(allocator, one);
        return NULL;
    }
    *one = (mw__shared_payload){.references = 1,
                                .allocator = *mw__allocator_or_default(allocator),
                                .data = data,
                                .size = file->size,
                                .mapped = true};
    share(one, file->descriptor);
    return one;
}

mw__shared_payload *mw__shared_payload_map(const mw_allocator *allocator, const mw__file *file, const char *path,
                                           mw_error *err)
{
    mw__file_identity identity = {0};
    mw__shared_payload *one = NULL;
    pthread_mutex_lock(&mutex);
    if (mw__file_identify(file->descriptor, &identity))
        one = find_shared(allocator, file, identity);
    if (one == NULL)
        one = map(allocator, file, path, err);
    pthread_mutex_unlock(&mutex);
    return one;
}

mw__shared_payload *mw__shared_payload_of_parts(const mw_allocator *allocator, uint64_t size)
{
    mw__file_parts parts;
    mw__shared_payload *one = mw__alloc(allocator, 1, sizeof *one, NULL);
    if (one == NULL || mw__file_parts_make(&parts, allocator, size, NULL) != MW_OK) {
        mw__free(allocator, one);
        return NULL;
    }
    *one = (mw__shared_payload){.references = 1,
                                .allocator = *mw__allocator_or_default(allocator),
                                .data = parts.data,
                                .size = size,
                                .parts = parts};
    pthread_mutex_lock(&mutex);
    share(one, parts.descriptor);
    pthread_mutex_unlock(&mutex);
    return one;
}

/* ---- references ---- */

/* Whether it was the last. Of one that is shared under the mutex: nobody finds it in between. */
static bool drop(mw__shared_payload *one)
{
    if (!one->shared)
        return atomic_fetch_sub_explicit(&one->references, 1, memory_order_acq_rel) == 1;
    pthread_mutex_lock(&mutex);
    const bool last = atomic_fetch_sub_explicit(&one->references, 1, memory_order_acq_rel) == 1;
    mw__shared_payload **at = &shared;
    while (last && *at != one)
        at = &(*at)->next;
    if (last)
        *at = one->next;
    pthread_mutex_unlock(&mutex);
    return last;
}

void mw__shared_payload_release(mw__shared_payload *one)
{
    if (one == NULL || !drop(one))
        return;
    const mw_allocator allocator = one->allocator;
    if (one->parts.path != NULL)
        mw__file_parts_release(&one->parts, &allocator);
    else if (one->mapped)
        mw__file_unmap(one->data, one->size);
    else
        mw__free_aligned(&allocator, one->data);
    mw__free(&allocator, one);
}

mw_status mw__graph_keep(mw_graph *graph, mw__shared_payload *one, mw_error *err)
{
    for (size_t i = graph->shared_count; i-- > 0;)
        if (graph->shared_payloads[i] == one)
            return MW_OK;
    MW_TRY(mw__grow(graph->allocator, &graph->shared_payloads, &graph->shared_capacity, graph->shared_count + 1,
                    sizeof(mw__shared_payload *), err));
    retain(one);
    graph->shared_payloads[graph->shared_count++] = one;
    return MW_OK;
}

void *mw__payload_alloc(mw_graph *graph, size_t size, mw__shared_payload **out_shared, mw_error *err)
{
    *out_shared = NULL;
    if (size < MW__SHARED_PAYLOAD_LEAST)
        return mw__arena_alloc(&graph->arena, size, 1, err);
    mw__shared_payload *one = mw__shared_payload_create(graph->allocator, size, err);
    const bool kept = one != NULL && mw__graph_keep(graph, one, err) == MW_OK;
    mw__shared_payload_release(one); /* the graph has its own reference, or none */
    *out_shared = kept ? one : NULL;
    return kept ? one->data : NULL;
}

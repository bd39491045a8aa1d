/* The ring of batches between threads and their loader. `begun` and `taken` count since the last rewind; batch n lies
 * in slot n % slots. Threads begin batches in their order, and each makes the whole of one. The slot of the batch that
 * was served last stays the loader's until its next call. */
#include "runtime/data/prefetch.h"
#include "base/text/log.h"
#include "base/thread/thread.h"

#include <pthread.h>
#include <unistd.h>

typedef struct made_batch {
    mw__minibatch_slot slot;
    mw_error error; /* why it could not be made; all zero = it was */
    bool busy;      /* a thread writes it, maybe one that was begun before a rewind */
    bool ready;
} made_batch;

typedef struct worker {
    mw__prefetcher *prefetch;
    mw__minibatch_maker *maker; /* its own; that of the first is the loader's */
    mw__minibatch_maker made;   /* of the others */
    mw__thread *thread;         /* NULL = it did not begin */
} worker;

struct mw__prefetcher {
    mw__minibatch_maker *maker; /* the loader's */
    worker *workers;            /* [worker_count] */
    size_t worker_count;
    made_batch *ring; /* [slots] */
    size_t slots;
    int64_t batches; /* in an epoch */

    bool has_begun; /* there is a thread */
    bool alone;     /* none is to be had: batches are made in the call */
    pid_t process;

    pthread_mutex_t mutex; /* of all below */
    pthread_cond_t changed;
    bool stop;
    bool running;  /* the threads may make batches */
    bool failed;   /* one could not be made: none behind it is begun before a rewind */
    bool lent;     /* batch `taken` is the loader's */
    uint64_t turn; /* rewinds: what was begun before one is dropped */
    uint64_t begun, taken;
    mw_loader_position next;        /* to be made */
    mw__prefetch_owner *free_owner; /* if the thread `own` was told to free it */
    void *owner;
    const worker *freeing; /* that is told so */
};

/* The worker whose thread this is. */
static _Thread_local worker *own;

/* ---- the thread ---- */

static bool has_work(const mw__prefetcher *p)
{
    return p->running && !p->failed && p->next.batch < p->batches && p->begun - p->taken < p->slots &&
           !p->ring[p->begun % p->slots].busy;
}

/* With the mutex held, but not while the batch is made. */
static void make_next(worker *w)
{
    mw__prefetcher *p = w->prefetch;
    const uint64_t turn = p->turn;
    const mw_loader_position position = p->next;
    made_batch *out = &p->ring[p->begun % p->slots];
    p->begun++;
    p->next.batch++;
    out->busy = true;
    pthread_mutex_unlock(&p->mutex);
    out->error = (mw_error){0};
    const mw_status status = mw__minibatch_make(w->maker, position, &out->slot, &out->error);
    pthread_mutex_lock(&p->mutex);
    out->busy = false;
    out->ready = p->turn == turn;
    p->failed = p->failed || (out->ready && status != MW_OK);
    pthread_cond_broadcast(&p->changed);
}

static void *work(void *argument)
{
    worker *w = argument;
    mw__prefetcher *p = w->prefetch;
    own = w;
    pthread_mutex_lock(&p->mutex);
    while (!p->stop) {
        if (has_work(p))
            make_next(w);
        else
            pthread_cond_wait(&p->changed, &p->mutex);
    }
    mw__prefetch_owner *const free_owner = p->freeing == w ? p->free_owner : NULL;
    void *const owner = p->owner;
    pthread_mutex_unlock(&p->mutex);
    own = NULL; /* the thread may be the host's, and another prefetch get the address */
    if (free_owner != NULL)
        free_owner(owner);
    return NULL;
}

static void begin_prefetch(mw__prefetcher *p)
{
    p->process = getpid();
    for (size_t i = 0; i < p->worker_count; i++) {
        p->workers[i].thread = mw__thread_start("mw prefetch", work, &p->workers[i]);
        p->has_begun = p->has_begun || p->workers[i].thread != NULL;
    }
    p->alone = !p->has_begun;
    if (p->alone)
        mw__log(MW_LOG_WARNING,
                "loader: neither the system nor the host gives a thread, so that batches are not made ahead");
}

/* ---- the loader's side ---- */

/* A new run of batches, from `position`. */
static void restart(mw__prefetcher *p, mw_loader_position position)
{
    p->turn++;
    p->next = position;
    p->begun = p->taken = 0;
    p->failed = false;
    p->running = true;
    for (size_t i = 0; i < p->slots; i++)
        p->ring[i].ready = false;
    pthread_cond_broadcast(&p->changed);
}

static mw_status wait_for_batch(mw__prefetcher *p, mw_loader_position position, const mw_batch **out, mw_error *err)
{
    if (!p->running)
        restart(p, position);
    else if (p->lent) {
        p->ring[p->taken % p->slots].ready = false;
        p->taken++;
        pthread_cond_broadcast(&p->changed);
    }
    p->lent = true;
    const made_batch *batch = &p->ring[p->taken % p->slots];
    while (!batch->ready)
        pthread_cond_wait(&p->changed, &p->mutex);
    if (batch->error.status == MW_OK) {
        *out = &batch->slot.batch;
        return MW_OK;
    }
    p->running = p->lent = false; /* the next call tries it again */
    if (err != NULL)
        *err = batch->error;
    return batch->error.status;
}

static mw_status check_thread(const mw__prefetcher *p, mw_error *err)
{
    if (own != NULL && own->prefetch == p)
        return mw__fail(err, MW_ERROR_STATE, "mw_loader_next: called by the function of the loader's own data set");
    if (p->has_begun && p->process != getpid())
        return mw__fail(err, MW_ERROR_STATE,
                        "mw_loader_next: this process was forked from one in which the loader's "
                        "thread had begun (mw_dataset_prefetch): make a new loader here, or fork first");
    return MW_OK;
}

mw_status mw__prefetch_take(mw__prefetcher *prefetch, mw_loader_position position, const mw_batch **out, mw_error *err)
{
    *out = NULL;
    MW_TRY(check_thread(prefetch, err));
    if (!prefetch->has_begun && !prefetch->alone)
        begin_prefetch(prefetch);
    if (prefetch->alone) {
        *out = &prefetch->ring[0].slot.batch;
        return mw__minibatch_make(prefetch->workers[0].maker, position, &prefetch->ring[0].slot, err);
    }
    pthread_mutex_lock(&prefetch->mutex);
    const mw_status status = wait_for_batch(prefetch, position, out, err);
    pthread_mutex_unlock(&prefetch->mutex);
    return status;
}

void mw__prefetch_rewind(mw__prefetcher *prefetch)
{
    if (!prefetch->has_begun || prefetch->process != getpid())
        return;
    pthread_mutex_lock(&prefetch->mutex);
    prefetch->turn++;
    prefetch->running = prefetch->lent = false;
    pthread_mutex_unlock(&prefetch->mutex);
}

/* ---- beginning and end ---- */

static mw_status init_workers(mw__prefetcher *p, mw__minibatch_maker *maker, const mw_loader_options *options,
                              mw_error *err)
{
    const size_t count = (size_t)options->dataset->prefetch_threads;
    p->workers = mw__alloc(maker->allocator, count, sizeof *p->workers, err);
    if (p->workers == NULL)
        return MW_ERROR_MEMORY;
    for (; p->worker_count < count; p->worker_count++) {
        worker *w = &p->workers[p->worker_count];
        const bool is_first = p->worker_count == 0;
        w->prefetch = p;
        w->maker = is_first ? maker : &w->made;
        const mw_status status = is_first ? MW_OK : mw__minibatch_maker_init(&w->made, options, err);
        if (status != MW_OK) {
            mw__minibatch_maker_deinit(&w->made);
            return status;
        }
    }
    return MW_OK;
}

static mw_status init_ring(mw__prefetcher *p, mw__minibatch_maker *maker, size_t slots, mw_error *err)
{
    p->ring = mw__alloc(maker->allocator, slots, sizeof *p->ring, err);
    if (p->ring == NULL)
        return MW_ERROR_MEMORY;
    for (; p->slots < slots; p->slots++) {
        const mw_status status = mw__minibatch_slot_init(&p->ring[p->slots].slot, maker, err);
        if (status != MW_OK) {
            mw__minibatch_slot_deinit(&p->ring[p->slots].slot, maker);
            return status;
        }
    }
    return MW_OK;
}

mw_status mw__prefetch_create(mw__prefetcher **out, mw__minibatch_maker *maker, const mw_loader_options *options,
                              int64_t batches, mw_error *err)
{
    mw__prefetcher *p = mw__alloc(maker->allocator, 1, sizeof *p, err);
    *out = p;
    if (p == NULL)
        return MW_ERROR_MEMORY;
    p->maker = maker;
    p->batches = batches;
    pthread_mutex_init(&p->mutex, NULL);
    pthread_cond_init(&p->changed, NULL);
    MW_TRY(init_workers(p, maker, options, err));
    return init_ring(p, maker, (size_t)options->dataset->prefetch + 1, err);
}

/* All threads but this one. */
static void join_workers(mw__prefetcher *p)
{
    for (size_t i = 0; i < p->worker_count; i++) {
        if (&p->workers[i] == own)
            continue;
        mw__thread_join(p->workers[i].thread);
        p->workers[i].thread = NULL;
    }
}

bool mw__prefetch_stop(mw__prefetcher *prefetch, mw__prefetch_owner *free_owner, void *owner)
{
    if (prefetch == NULL || !prefetch->has_begun || prefetch->process != getpid())
        return true;
    const bool itself = own != NULL && own->prefetch == prefetch;
    pthread_mutex_lock(&prefetch->mutex);
    prefetch->stop = true;
    if (itself) {
        prefetch->free_owner = free_owner;
        prefetch->owner = owner;
        prefetch->freeing = own;
    }
    pthread_cond_broadcast(&prefetch->changed);
    pthread_mutex_unlock(&prefetch->mutex);
    join_workers(prefetch);
    if (itself)
        mw__thread_leave(own->thread);
    prefetch->has_begun = itself;
    return !itself;
}

void mw__prefetch_free(mw__prefetcher *prefetch)
{
    if (prefetch == NULL)
        return;
    const mw_allocator *allocator = prefetch->maker->allocator;
    const bool elsewhere = prefetch->has_begun && prefetch->process != getpid();
    for (size_t i = 0; i < prefetch->worker_count; i++) {
        if (elsewhere)
            mw__thread_join(prefetch->workers[i].thread); /* only frees it here */
        if (i > 0)
            mw__minibatch_maker_deinit(&prefetch->workers[i].made);
    }
    for (size_t i = 0; i < prefetch->slots; i++)
        mw__minibatch_slot_deinit(&prefetch->ring[i].slot, prefetch->maker);
    mw__free(allocator, prefetch->workers);
    mw__free(allocator, prefetch->ring);
    if (!elsewhere) { /* there the thread of the parent may hold them */
        pthread_mutex_destroy(&prefetch->mutex);
        pthread_cond_destroy(&prefetch->changed);
    }
    mw__free(allocator, prefetch);
}

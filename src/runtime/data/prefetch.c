/* The ring of batches between a thread and its loader. `made` and `taken` count since the last rewind; batch n lies in
 * slot n % slots. The slot of the batch that was served last stays the loader's until its next call. */
#include "runtime/data/prefetch.h"
#include "base/text/log.h"
#include "base/thread/thread.h"

#include <pthread.h>
#include <unistd.h>

typedef struct made_batch {
    mw__minibatch_slot slot;
    mw_error error; /* why it could not be made; all zero = it was */
} made_batch;

struct mw__prefetcher {
    mw__minibatch_maker *maker;
    made_batch *ring; /* [slots] */
    size_t slots;
    int64_t batches; /* in an epoch */

    mw__thread *thread;
    bool begun; /* there is a thread */
    bool alone; /* none is to be had: batches are made in the call */
    pid_t process;

    pthread_mutex_t mutex; /* of all below */
    pthread_cond_t changed;
    bool stop;
    bool running;  /* the thread may make batches */
    bool failed;   /* it could not make the last one, and waits for a rewind */
    bool lent;     /* batch `taken` is the loader's */
    uint64_t turn; /* rewinds: what was begun before one is dropped */
    uint64_t made, taken;
    mw_loader_position next;        /* to be made */
    mw__prefetch_owner *free_owner; /* if the thread was told to free it */
    void *owner;
};

/* The prefetch whose thread this is. */
static _Thread_local const mw__prefetcher *own;

/* ---- the thread ---- */

static bool has_work(const mw__prefetcher *p)
{
    return p->running && !p->failed && p->next.batch < p->batches && p->made - p->taken < p->slots;
}

/* With the mutex held, but not while the batch is made. */
static void make_next(mw__prefetcher *p)
{
    const uint64_t turn = p->turn;
    const mw_loader_position position = p->next;
    made_batch *out = &p->ring[p->made % p->slots];
    pthread_mutex_unlock(&p->mutex);
    out->error = (mw_error){0};
    const mw_status status = mw__minibatch_make(p->maker, position, &out->slot, &out->error);
    pthread_mutex_lock(&p->mutex);
    if (p->turn != turn)
        return;
    p->failed = status != MW_OK;
    p->made++;
    p->next.batch++;
    pthread_cond_broadcast(&p->changed);
}

static void *work(void *argument)
{
    mw__prefetcher *p = argument;
    own = p;
    pthread_mutex_lock(&p->mutex);
    while (!p->stop) {
        if (has_work(p))
            make_next(p);
        else
            pthread_cond_wait(&p->changed, &p->mutex);
    }
    mw__prefetch_owner *const free_owner = p->free_owner;
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
    p->thread = mw__thread_start("mw prefetch", work, p);
    p->begun = p->thread != NULL;
    p->alone = !p->begun;
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
    p->made = p->taken = 0;
    p->failed = false;
    p->running = true;
    pthread_cond_broadcast(&p->changed);
}

static mw_status wait_for_batch(mw__prefetcher *p, mw_loader_position position, const mw_batch **out, mw_error *err)
{
    if (!p->running)
        restart(p, position);
    else if (p->lent) {
        p->taken++;
        pthread_cond_broadcast(&p->changed);
    }
    p->lent = true;
    while (p->made == p->taken)
        pthread_cond_wait(&p->changed, &p->mutex);
    const made_batch *batch = &p->ring[p->taken % p->slots];
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
    if (own == p)
        return mw__fail(err, MW_ERROR_STATE, "mw_loader_next: called by the function of the loader's own data set");
    if (p->begun && p->process != getpid())
        return mw__fail(err, MW_ERROR_STATE,
                        "mw_loader_next: this process was forked from one in which the loader's "
                        "thread had begun (mw_dataset_prefetch): make a new loader here, or fork first");
    return MW_OK;
}

mw_status mw__prefetch_take(mw__prefetcher *prefetch, mw_loader_position position, const mw_batch **out, mw_error *err)
{
    *out = NULL;
    MW_TRY(check_thread(prefetch, err));
    if (!prefetch->begun && !prefetch->alone)
        begin_prefetch(prefetch);
    if (prefetch->alone) {
        *out = &prefetch->ring[0].slot.batch;
        return mw__minibatch_make(prefetch->maker, position, &prefetch->ring[0].slot, err);
    }
    pthread_mutex_lock(&prefetch->mutex);
    const mw_status status = wait_for_batch(prefetch, position, out, err);
    pthread_mutex_unlock(&prefetch->mutex);
    return status;
}

void mw__prefetch_rewind(mw__prefetcher *prefetch)
{
    if (!prefetch->begun || prefetch->process != getpid())
        return;
    pthread_mutex_lock(&prefetch->mutex);
    prefetch->turn++;
    prefetch->running = prefetch->lent = false;
    pthread_mutex_unlock(&prefetch->mutex);
}

/* ---- beginning and end ---- */

mw_status mw__prefetch_create(mw__prefetcher **out, mw__minibatch_maker *maker, int ahead, int64_t batches,
                              mw_error *err)
{
    mw__prefetcher *p = mw__alloc(maker->allocator, 1, sizeof *p, err);
    *out = p;
    if (p == NULL)
        return MW_ERROR_MEMORY;
    p->maker = maker;
    p->batches = batches;
    pthread_mutex_init(&p->mutex, NULL);
    pthread_cond_init(&p->changed, NULL);
    p->ring = mw__alloc(maker->allocator, (size_t)ahead + 1, sizeof *p->ring, err);
    if (p->ring == NULL)
        return MW_ERROR_MEMORY;
    for (p->slots = 0; p->slots < (size_t)ahead + 1; p->slots++) {
        const mw_status status = mw__minibatch_slot_init(&p->ring[p->slots].slot, maker, err);
        if (status != MW_OK) {
            mw__minibatch_slot_deinit(&p->ring[p->slots].slot, maker);
            return status;
        }
    }
    return MW_OK;
}

bool mw__prefetch_stop(mw__prefetcher *prefetch, mw__prefetch_owner *free_owner, void *owner)
{
    if (prefetch == NULL || !prefetch->begun || prefetch->process != getpid())
        return true;
    const bool itself = own == prefetch;
    pthread_mutex_lock(&prefetch->mutex);
    prefetch->stop = true;
    if (itself) {
        prefetch->free_owner = free_owner;
        prefetch->owner = owner;
    }
    pthread_cond_broadcast(&prefetch->changed);
    pthread_mutex_unlock(&prefetch->mutex);
    if (itself)
        mw__thread_leave(prefetch->thread);
    else
        mw__thread_join(prefetch->thread);
    prefetch->begun = itself;
    return !itself;
}

void mw__prefetch_free(mw__prefetcher *prefetch)
{
    if (prefetch == NULL)
        return;
    const mw_allocator *allocator = prefetch->maker->allocator;
    const bool elsewhere = prefetch->begun && prefetch->process != getpid();
    if (elsewhere)
        mw__thread_join(prefetch->thread); /* only frees it here */
    for (size_t i = 0; i < prefetch->slots; i++)
        mw__minibatch_slot_deinit(&prefetch->ring[i].slot, prefetch->maker);
    mw__free(allocator, prefetch->ring);
    if (!elsewhere) { /* there the thread of the parent may hold them */
        pthread_mutex_destroy(&prefetch->mutex);
        pthread_cond_destroy(&prefetch->changed);
    }
    mw__free(allocator, prefetch);
}

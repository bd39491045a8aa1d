#include "ranks_pair.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SLOTS = 32, SLOT_BYTES = 2 << 20 };

/* A message: of the sender while `full` is false, of the receiver while it is true. */
typedef struct slot {
    atomic_bool full;
    int tag;
    uint64_t order;
    double ready;
    size_t size;
    char data[SLOT_BYTES];
} slot;

typedef struct line {
    slot slots[SLOTS];
    uint64_t sent;
    double free_at;
} line;

typedef struct place {
    const pair_network *network;
    line *out, *in;
} place;

typedef struct request {
    bool receives;
    int tag;
    void *data;
    double done_at;
} request;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static slot *free_slot(line *l)
{
    for (;; sched_yield())
        for (int i = 0; i < SLOTS; i++)
            if (!atomic_load(&l->slots[i].full))
                return &l->slots[i];
}

static mw_status send(void *user, int to, int tag, const void *data, size_t size, void **out_request, mw_error *err)
{
    const place *at = user;
    const pair_network *n = at->network;
    (void)to, (void)err;
    if (size > SLOT_BYTES)
        return MW_ERROR_ARGUMENT;
    slot *s = free_slot(at->out);
    const double start = at->out->free_at > now() ? at->out->free_at : now();
    at->out->free_at = start + (n->bytes_per_second > 0.0 ? (double)size / n->bytes_per_second : 0.0);
    s->tag = tag, s->size = size, s->order = at->out->sent++;
    s->ready = at->out->free_at + n->latency;
    memcpy(s->data, data, size);
    atomic_store(&s->full, true);
    request *r = malloc(sizeof *r);
    *r = (request){.done_at = at->out->free_at};
    *out_request = r;
    return MW_OK;
}

static mw_status receive(void *user, int from, int tag, void *data, size_t size, void **out_request, mw_error *err)
{
    (void)user, (void)from, (void)size, (void)err;
    request *r = malloc(sizeof *r);
    *r = (request){.receives = true, .tag = tag, .data = data};
    *out_request = r;
    return MW_OK;
}

static slot *find(line *l, int tag)
{
    slot *first = NULL;
    for (int i = 0; i < SLOTS; i++) {
        slot *s = &l->slots[i];
        if (atomic_load(&s->full) && s->tag == tag && (first == NULL || s->order < first->order))
            first = s;
    }
    return first != NULL && first->ready <= now() ? first : NULL;
}

static mw_status test(void *user, void *object, bool *out_done, size_t *out_size, mw_error *err)
{
    const place *at = user;
    request *r = object;
    (void)err;
    slot *s = r->receives ? find(at->in, r->tag) : NULL;
    *out_done = r->receives ? s != NULL : r->done_at <= now();
    if (s != NULL) {
        memcpy(r->data, s->data, s->size);
        *out_size = s->size;
        atomic_store(&s->full, false);
    }
    if (*out_done)
        free(r);
    return MW_OK;
}

static void cancel(void *user, void *object)
{
    (void)user;
    free(object);
}

static void run(const pair_network *network, line *lines, int rank, pair_job *job, void *result)
{
    place at = {.network = network, .out = &lines[rank], .in = &lines[1 - rank]};
    mw_transport transport = mw_transport_defaults("pair", rank, 2);
    transport.user = &at;
    transport.send = send;
    transport.receive = receive;
    transport.test = test;
    transport.cancel = cancel;
    mw_communicator *c = mw_communicator_create(&transport, NULL, NULL);
    job(c, rank, result);
    mw_communicator_finish(c, NULL);
}

static void in_child(const pair_network *network, line *lines, int rank, pair_job *job, void *result)
{
    run(network, lines, rank, job, result);
    fflush(NULL);
    _exit(0);
}

/* Both are children: the engine's threads do not survive a fork. */
bool pair_run(const pair_network *network, pair_job *job, void *result)
{
    line *lines = mmap(NULL, 2 * sizeof *lines, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bool good = lines != MAP_FAILED;
    fflush(NULL); /* or children print it again */
    for (int rank = 0; good && rank < 2; rank++)
        if (fork() == 0)
            in_child(network, lines, rank, job, result);
    for (int rank = 0; good && rank < 2; rank++) {
        int status;
        good = wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    if (lines != MAP_FAILED)
        munmap(lines, 2 * sizeof *lines);
    return good;
}

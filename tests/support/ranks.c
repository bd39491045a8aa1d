#include "support/ranks.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct letter {
    struct letter *next;
    int from, to, tag;
    double ready; /* when it is there */
    size_t size;
    char data[];
} letter;

typedef struct world {
    const ranks_network *network;
    pthread_mutex_t mutex;
    letter *letters;           /* in the order of sending */
    double free_at[RANKS_MAX]; /* when a rank's line is free again */
    int sent[RANKS_MAX];
    unsigned random;
    ranks_job *job;
    void *user;
} world;

typedef struct place {
    world *world;
    int rank;
} place;

typedef struct request {
    bool receives;
    int peer, tag;
    double done_at; /* of a send */
    void *data;
    size_t size;
} request;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static request *new_request(bool receives, int peer, int tag, void *data, size_t size)
{
    request *r = calloc(1, sizeof *r);
    *r = (request){.receives = receives, .peer = peer, .tag = tag, .data = data, .size = size};
    return r;
}

/* Between 0 and four latencies. */
static double detour(world *w)
{
    if (w->network->shuffle == 0)
        return 0.0;
    w->random = w->random * 1664525u + 1013904223u;
    return (w->network->latency + 1e-4) * 4.0 * (double)(w->random >> 8) / (double)(1 << 24);
}

static void deliver(world *w, letter *l)
{
    letter **end = &w->letters;
    for (; *end != NULL; end = &(*end)->next) /* those of one tag keep their order */
        if ((*end)->from == l->from && (*end)->to == l->to && (*end)->tag == l->tag && (*end)->ready > l->ready)
            l->ready = (*end)->ready;
    *end = l;
}

static mw_status send(void *user, int to, int tag, const void *data, size_t size, void **out_request, mw_error *err)
{
    const place *at = user;
    world *w = at->world;
    const ranks_network *n = w->network;
    pthread_mutex_lock(&w->mutex);
    const int sent = ++w->sent[at->rank];
    const bool fails = n->failing_after > 0 && n->failing == at->rank && sent >= n->failing_after;
    const bool is_silent = n->silent_after > 0 && n->silent == at->rank && sent >= n->silent_after;
    const double start = w->free_at[at->rank] > now() ? w->free_at[at->rank] : now();
    w->free_at[at->rank] = start + (n->bytes_per_second > 0.0 ? (double)size / n->bytes_per_second : 0.0);
    if (!fails && !is_silent) {
        letter *l = calloc(1, sizeof *l + size);
        *l = (letter){.from = at->rank, .to = to, .tag = tag, .size = size};
        l->ready = w->free_at[at->rank] + n->latency + detour(w);
        memcpy(l->data, data, size);
        deliver(w, l);
    }
    request *r = new_request(false, to, tag, NULL, size);
    r->done_at = w->free_at[at->rank];
    pthread_mutex_unlock(&w->mutex);
    *out_request = r;
    if (!fails)
        return MW_OK;
    free(r);
    if (err != NULL)
        *err = (mw_error){.status = MW_ERROR_COMMUNICATION, .message = "the cable was pulled"};
    return MW_ERROR_COMMUNICATION;
}

static mw_status receive(void *user, int from, int tag, void *data, size_t size, void **out_request, mw_error *err)
{
    (void)user, (void)err;
    *out_request = new_request(true, from, tag, data, size);
    return MW_OK;
}

/* The first letter that fits. */
static letter **find(world *w, const place *at, const request *r)
{
    for (letter **l = &w->letters; *l != NULL; l = &(*l)->next)
        if ((*l)->to == at->rank && (*l)->from == r->peer && (*l)->tag == r->tag)
            return (*l)->ready <= now() ? l : NULL;
    return NULL;
}

static mw_status test(void *user, void *object, bool *out_done, size_t *out_size, mw_error *err)
{
    (void)err;
    const place *at = user;
    request *r = object;
    pthread_mutex_lock(&at->world->mutex);
    letter **found = r->receives ? find(at->world, at, r) : NULL;
    *out_done = r->receives ? found != NULL : r->done_at <= now();
    if (found != NULL) {
        letter *l = *found;
        *found = l->next;
        *out_size = l->size;
        memcpy(r->data, l->data, l->size < r->size ? l->size : r->size);
        free(l);
    }
    pthread_mutex_unlock(&at->world->mutex);
    if (*out_done)
        free(r);
    return MW_OK;
}

static void cancel(void *user, void *object)
{
    (void)user;
    free(object);
}

static mw_transport transport_of(place *at, int size)
{
    mw_transport transport = mw_transport_defaults("threads", at != NULL ? at->rank : 0, size);
    transport.user = at;
    transport.send = send;
    transport.receive = receive;
    transport.test = test;
    transport.cancel = cancel;
    return transport;
}

mw_transport ranks_alone(void) { return transport_of(NULL, 1); }

static void *run(void *argument)
{
    place *at = argument;
    mw_transport transport = transport_of(at, at->world->network->size);
    mw_communicator *c = mw_communicator_create(&transport, NULL, NULL);
    at->world->job(c, at->rank, at->world->user);
    mw_communicator_destroy(c);
    return NULL;
}

void ranks_run(const ranks_network *network, ranks_job *job, void *user)
{
    world w = {.network = network, .job = job, .user = user, .random = network->shuffle};
    place places[RANKS_MAX];
    pthread_t threads[RANKS_MAX];
    pthread_mutex_init(&w.mutex, NULL);
    for (int i = 0; i < network->size; i++) {
        places[i] = (place){.world = &w, .rank = i};
        if (pthread_create(&threads[i], NULL, run, &places[i]) != 0)
            abort();
    }
    for (int i = 0; i < network->size; i++)
        pthread_join(threads[i], NULL);
    for (letter *l = w.letters, *next; l != NULL; l = next) {
        next = l->next;
        free(l);
    }
    pthread_mutex_destroy(&w.mutex);
}

/* Messages through MPI. Requests are kept in chunks that are used again, so that a step allocates nothing. */
#include "mpi/transport.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Longer than another rank takes to hand on what it heard (NOTICE_TIME of runtime/parallel/communicator.c). */
static const struct timespec parting = {.tv_sec = 1, .tv_nsec = 500000000};

typedef struct request {
    MPI_Request handle;
    bool receives, awaits; /* awaits: no message has met it */
    int peer, tag;
    void *data; /* of a receive */
    size_t size;
    struct request *next; /* of those that are free, or that no message has met */
} request;

enum { CHUNK = 64 };
typedef struct chunk {
    struct chunk *next;
    request requests[CHUNK];
} chunk;

typedef struct link {
    MPI_Comm comm;
    int rank;
    bool finalizes;
    chunk *chunks;
    request *free;
    request *awaiting, **awaiting_end; /* receives that no message has met, in the order in which they were begun */
} link;

/* ---- requests ---- */

static bool grow(link *l)
{
    chunk *more = calloc(1, sizeof *more);
    if (more == NULL)
        return false;
    more->next = l->chunks;
    l->chunks = more;
    for (int i = CHUNK; i-- > 0;) {
        more->requests[i].next = l->free;
        l->free = &more->requests[i];
    }
    return true;
}

static void give_back(link *l, request *r)
{
    r->next = l->free;
    l->free = r;
}

static request *take_request(link *l, const request *as, mw_error *err)
{
    if (!mw__mpi_is_up())
        mw__mpi_fail(err, MW_ERROR_STATE, "MPI is finalized: finish the communicator first");
    else if (as->size > INT_MAX)
        mw__mpi_fail(err, MW_ERROR_ARGUMENT, "MPI: a message of %zu bytes; at most %d", as->size, INT_MAX);
    else if (l->free == NULL && !grow(l))
        mw__mpi_fail(err, MW_ERROR_MEMORY, "MPI: out of memory for requests");
    else {
        request *r = l->free;
        l->free = r->next;
        *r = *as;
        r->handle = MPI_REQUEST_NULL;
        return r;
    }
    return NULL;
}

static mw_status fail_message(const request *r, int code, mw_error *err)
{
    char what[64];
    snprintf(what, sizeof what, "MPI: a message %s rank %d failed", r->receives ? "from" : "to", r->peer);
    return mw__mpi_fail_code(err, code, what);
}

/* ---- sends ---- */

static mw_status send(void *user, int to, int tag, const void *data, size_t size, void **out_request, mw_error *err)
{
    link *l = user;
    request *r = take_request(l, &(request){.peer = to, .tag = tag, .size = size}, err);
    if (r == NULL)
        return err != NULL ? err->status : MW_ERROR_COMMUNICATION;
    const int code = MPI_Isend(data, (int)size, MPI_BYTE, to, tag, l->comm, &r->handle);
    if (code == MPI_SUCCESS) {
        *out_request = r;
        return MW_OK;
    }
    const mw_status status = fail_message(r, code, err);
    give_back(l, r);
    return status;
}

/* ---- receives ---- */

/* MPI gets to know of a receive when its message is there. A message that is longer than its receive is an error by
 * MPI's rules, but its transports have written behind the end of memory (Open MPI 4.1, between processes of one
 * machine), and the error goes to the handler of MPI_COMM_WORLD, which ends all (MPICH 4.0). So the length is looked at
 * before. */
static mw_status receive(void *user, int from, int tag, void *data, size_t size, void **out_request, mw_error *err)
{
    link *l = user;
    request *r = take_request(
        l, &(request){.receives = true, .awaits = true, .peer = from, .tag = tag, .data = data, .size = size}, err);
    if (r == NULL)
        return err != NULL ? err->status : MW_ERROR_COMMUNICATION;
    r->next = NULL;
    *l->awaiting_end = r;
    l->awaiting_end = &r->next;
    *out_request = r;
    return MW_OK;
}

/* The place of a receive among those that no message has met; NULL if the next message is for one begun before it. */
static request **find_turn(link *l, const request *r)
{
    request **at = &l->awaiting;
    while ((*at)->peer != r->peer || (*at)->tag != r->tag)
        at = &(*at)->next;
    return *at == r ? at : NULL;
}

static void stop_awaiting(link *l, request **at)
{
    request *r = *at;
    *at = r->next;
    if (l->awaiting_end == &r->next)
        l->awaiting_end = at;
}

static mw_status meet(link *l, request **at, MPI_Message message, MPI_Status *status, mw_error *err)
{
    request *r = *at;
    int size = 0;
    int code = MPI_Get_count(status, MPI_BYTE, &size);
    if (code == MPI_SUCCESS && (size_t)size > r->size)
        return mw__mpi_fail(
            err, MW_ERROR_COMMUNICATION,
            "rank %d sent %d bytes where rank %d expects %zu: the ranks do not make the same calls in the "
            "same order",
            r->peer, size, l->rank, r->size);
    if (code == MPI_SUCCESS)
        code = MPI_Imrecv(r->data, size, MPI_BYTE, &message, &r->handle);
    if (code != MPI_SUCCESS)
        return fail_message(r, code, err);
    stop_awaiting(l, at);
    r->awaits = false;
    r->size = (size_t)size;
    return MW_OK;
}

/* Begins to receive the message, if it is there. */
static mw_status look(link *l, request *r, mw_error *err)
{
    MPI_Message message;
    MPI_Status status;
    int found = 0;
    request **at = find_turn(l, r);
    if (at == NULL)
        return MW_OK;
    const int code = MPI_Improbe(r->peer, r->tag, l->comm, &found, &message, &status);
    if (code != MPI_SUCCESS)
        return fail_message(r, code, err);
    return found ? meet(l, at, message, &status, err) : MW_OK;
}

/* ---- both ---- */

/* A request that failed stays, to be canceled. */
static mw_status test(void *user, void *object, bool *out_done, size_t *out_size, mw_error *err)
{
    link *l = user;
    request *r = object;
    int done = 0;
    *out_done = false;
    if (!mw__mpi_is_up())
        return mw__mpi_fail(err, MW_ERROR_STATE, "MPI is finalized: finish the communicator first");
    const mw_status status = r->awaits ? look(l, r, err) : MW_OK;
    if (status != MW_OK)
        return status;
    const int code = r->awaits ? MPI_SUCCESS : MPI_Test(&r->handle, &done, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS)
        return fail_message(r, code, err);
    if (!done)
        return MW_OK;
    *out_done = true;
    *out_size = r->size;
    give_back(l, r);
    return MW_OK;
}

/* MPI is not let go on here: messages that are half done cannot be taken back, and the memory of others that were given
 * up before is gone when a communicator is freed. */
static void cancel(void *user, void *object)
{
    link *l = user;
    request *r = object;
    if (r->awaits) {
        request **at = &l->awaiting;
        while (*at != r)
            at = &(*at)->next;
        stop_awaiting(l, at);
    }
    if (mw__mpi_is_up() && r->handle != MPI_REQUEST_NULL)
        MPI_Request_free(&r->handle);
    give_back(l, r);
}

static void abort_all(void *user, int code)
{
    const link *l = user;
    if (mw__mpi_is_up())
        MPI_Abort(l->comm, code);
}

/* ---- making and ending ---- */

static void finish_transport(void *user, bool clean)
{
    link *l = user;
    const bool is_up = mw__mpi_is_up();
    if (is_up && clean)
        MPI_Comm_free(&l->comm);
    if (is_up && clean && l->finalizes)
        MPI_Finalize();
    else if (is_up && l->finalizes) /* soon the process ends, and all others with it */
        nanosleep(&parting, NULL);
    for (chunk *c = l->chunks, *next; c != NULL; c = next) {
        next = c->next;
        free(c);
    }
    free(l);
}

void *mw__mpi_link_create(MPI_Comm comm, bool finalizes)
{
    link *l = calloc(1, sizeof *l);
    if (l == NULL)
        return NULL;
    l->comm = comm;
    l->finalizes = finalizes;
    l->awaiting_end = &l->awaiting;
    return l;
}

mw_transport mw__mpi_transport(void *user, int rank, int size)
{
    mw_transport t = mw_transport_defaults("MPI", rank, size);
    ((link *)user)->rank = rank;
    t.user = user;
    t.send = send;
    t.receive = receive;
    t.test = test;
    t.cancel = cancel;
    t.abort = abort_all;
    t.finish = finish_transport;
    return t;
}

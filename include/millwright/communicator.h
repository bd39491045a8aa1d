/* Several processes that train one model: ranks 0 to size - 1, each with the same program and data of its own. All of
 * libmillwright_ranks, beside the core. One process needs none of it, so <millwright/millwright.h> does not include
 * it: the core's trainer only takes a communicator.
 *
 *     mw_communicator *ranks = mw_mpi_start(&argc, &argv, &err);    // <millwright/mpi.h>, library millwright_mpi
 *     options.ranks.communicator = ranks;                           // of the trainer; docs/many-machines.md
 *     ...
 *     mw_communicator_finish(ranks, &err);
 *
 * How bytes get from one rank to another is a transport: libmillwright_mpi has one for MPI, and a program may bring its
 * own. What is made of them stands here once for all transports: sums in the order of the ranks, so that their bits
 * depend on the number of ranks alone and never on timing; the time after which a rank that does not answer is named;
 * the message by which a rank that fails ends the others.
 *
 * Programs that include this link with libmillwright_ranks too: find_package(millwright COMPONENTS ranks), or
 * pkg-config millwright_ranks. libmillwright_mpi brings it.
 *
 * All ranks make the same calls in the same order. After the first failure of a call with messages a communicator is
 * dead on all ranks: the others learn the reason, and each later call is MW_ERROR_STATE with it.
 *
 * Threads: calls on one communicator come one at a time, from any thread, and not while a trainer that has it is in a
 * step. */
#ifndef MILLWRIGHT_COMMUNICATOR_H
#define MILLWRIGHT_COMMUNICATOR_H

#include <millwright/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The most ranks of a communicator. */
#define MW_RANKS_MAX 4096

/** The most bytes of one message of a transport. */
#define MW_MESSAGE_MAX ((size_t)1 << 26)

/** How messages travel. All functions are called in the thread that calls the communicator or steps its trainer, and
 *  return at once.
 *  errors  a function that fails fills *err, with a status of its choice */
typedef struct mw_transport {
    size_t struct_size;
    const char *name; /* "MPI", for messages; must live as long as the communicator */
    int rank, size;
    void *user; /* the first argument of each */

    /* Begin to send to a rank or receive from one. `data` stays as it is until the request is done. Messages from one
     * rank to another with the same tag (0 to 32767) arrive in the order in which they were sent; different tags do not
     * wait for each other. Nobody sends to itself. */
    mw_status (*send)(void *user, int to, int tag, const void *data, size_t size, void **out_request, mw_error *err);
    mw_status (*receive)(void *user, int from, int tag, void *data, size_t size, void **out_request, mw_error *err);
    /* Whether a request is done; then it is gone. out_size: bytes that were received (of a send anything). */
    mw_status (*test)(void *user, void *request, bool *out_done, size_t *out_size, mw_error *err);
    /* Gives a request up. What is half done may go on while other requests are tested; behind the last of them its
     * memory is free to go. */
    void (*cancel)(void *user, void *request);
    /* Ends the processes of all ranks, this one too, where it can; NULL = it cannot. */
    void (*abort)(void *user, int code);
    /* With the communicator; NULL = nothing. `clean`: all ranks are here and no message is under way. */
    void (*finish)(void *user, bool clean);
} mw_transport;

/** Returns a transport with everything but its functions. */
MW_API mw_transport mw_transport_defaults(const char *name, int rank, int size);

typedef struct mw_communicator mw_communicator;

/** A communicator over a transport, which is copied.
 *  allocator  NULL = the C library's heap
 *  errors     MW_ERROR_ARGUMENT for a missing function, or a rank and size that do not fit. transport->finish is
 *             called on every failure, except if struct_size is wrong */
MW_API mw_communicator *mw_communicator_create(const mw_transport *transport, const mw_allocator *allocator,
                                               mw_error *err);

/** Waits for all ranks, and frees the communicator in any case; as mw_communicator_destroy if the error is set.
 *  errors  as a barrier; MW_ERROR_STATE if it is dead */
MW_API mw_status mw_communicator_finish(mw_communicator *communicator, mw_error *err);
/** Frees the communicator without waiting: after an error. Ranks that go on and wait for this one learn that it left. A
 *  trainer that has it must be gone. NULL is fine. */
MW_API void mw_communicator_destroy(mw_communicator *communicator);

/** How long a call waits for a rank that does not send or take anything, in seconds; 30 at first. What a rank computes
 *  between two calls counts: it must be longer than the slowest rank needs for a step, a validation or a checkpoint
 *  beyond what the fastest does.
 *  errors  MW_ERROR_ARGUMENT unless 0 < seconds <= 86400 */
MW_API mw_status mw_communicator_set_timeout(mw_communicator *communicator, double seconds, mw_error *err);

/* ---- what ranks do together ----
 *
 * errors of all: MW_ERROR_COMMUNICATION if a rank does not answer in time, left, failed or sent something of another
 * size, which is named; what the transport says; MW_ERROR_STATE if the communicator is dead */

/** Returns when all ranks have called it. */
MW_API mw_status mw_communicator_barrier(mw_communicator *communicator, mw_error *err);
/** `size` bytes of rank `root` to all. */
MW_API mw_status mw_communicator_broadcast(mw_communicator *communicator, int root, void *data, size_t size,
                                           mw_error *err);
/** out: [ranks][size], the record of each, on every rank. */
MW_API mw_status mw_communicator_gather(mw_communicator *communicator, const void *record, size_t size, void *out,
                                        mw_error *err);
/** data[i] becomes the sum over all ranks, ((rank 0 + rank 1) + rank 2) + ..., each addition rounded to the type: the
 *  same bits on all ranks and in every run. Sends 2 (ranks - 1) / ranks of the data.
 *  dtype   MW_F32, MW_F16 or MW_F64
 *  errors  MW_ERROR_DTYPE for another type */
MW_API mw_status mw_communicator_allreduce(mw_communicator *communicator, void *data, size_t count, mw_dtype dtype,
                                           mw_error *err);

/** Tells all ranks that this one fails: what they wait for ends with "rank 2: <reason>". The communicator is dead. */
MW_API void mw_communicator_fail(mw_communicator *communicator, const char *reason);
/** Ends the processes of all ranks by the transport; returns where that cannot. */
MW_API void mw_communicator_abort(mw_communicator *communicator, int code);

/** Where a rank stands. */
typedef struct mw_communicator_info {
    int rank, size;                      /* of this process, from 0; of how many */
    uint64_t bytes_sent, bytes_received; /* since it was made, without the transport's own */
    uint64_t messages_sent;
    double seconds_waited; /* in calls, and at the ends of steps */
} mw_communicator_info;
/** Where this rank stands. For NULL the only one: rank 0 of 1. */
MW_API mw_communicator_info mw_communicator_get_info(const mw_communicator *communicator);

#ifdef __cplusplus
}
#endif
#endif

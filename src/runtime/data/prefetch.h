/* Threads that make batches ahead of the loader that serves them. The maker is the first thread's, the others have
 * their own; the position of what is served stays the loader's. */
#ifndef MW__RUNTIME_DATA_PREFETCH_H
#define MW__RUNTIME_DATA_PREFETCH_H

#include "runtime/data/batch.h"

typedef struct mw__prefetcher mw__prefetcher;

/* What frees the owner of a prefetch, in its thread. */
typedef void mw__prefetch_owner(void *owner);

/* Memory for one batch more than the data set's `prefetch`; its threads begin with the first mw__prefetch_take.
 *  options  of the loader, from which the maker was made
 *  batches  in an epoch */
mw_status mw__prefetch_create(mw__prefetcher **out, mw__minibatch_maker *maker, const mw_loader_options *options,
                              int64_t batches, mw_error *err);

/* Waits for the batches that are being made. NULL is fine. In a child of fork() the threads are not there, and what
 * they may hold is left alone. False if the calling thread is one of this prefetch (the owner was destroyed in the
 * function of its data set): it calls free_owner(owner) when it ends, and the owner frees nothing now. */
bool mw__prefetch_stop(mw__prefetcher *prefetch, mw__prefetch_owner *free_owner, void *owner);
/* After a stop. NULL is fine. */
void mw__prefetch_free(mw__prefetcher *prefetch);

/* The batch at `position`, or its error; it stays until the next call. Positions follow one another within an epoch,
 * unless mw__prefetch_rewind came between.
 *  errors  MW_ERROR_STATE in a child of fork(), and in a thread of this prefetch */
mw_status mw__prefetch_take(mw__prefetcher *prefetch, mw_loader_position position, const mw_batch **out, mw_error *err);

/* What was made ahead is dropped: the next take may have any position. */
void mw__prefetch_rewind(mw__prefetcher *prefetch);

#endif

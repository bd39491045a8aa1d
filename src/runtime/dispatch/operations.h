/* Compiled operations in one stream, in the order in which they were added: what a program of the ane_e5rt_* ABI is
 * made of. They share buffers and events. Bindings are frozen from a run until another operation is added. */
#ifndef MW__RUNTIME_OPERATIONS_H
#define MW__RUNTIME_OPERATIONS_H

#include "runtime/dispatch/dispatch.h"

typedef struct mw__stream_entry {
    mw__dispatch *dispatch;
    void *event;  /* signaled when the operation is done, if the library has events; or NULL */
    void **waits; /* events of others that it waits for */
    size_t wait_count, wait_capacity;
} mw__stream_entry;

typedef struct mw__operations {
    const mw_allocator *allocator;
    mw__symbols symbols;
    void *stream;
    mw__stream_entry *entries;
    size_t count, capacity;
    bool used;      /* something is on the stream */
    bool committed; /* everything is */
} mw__operations;

/* Makes the stream; `operations` is zeroed first. */
mw_status mw__operations_init(mw__operations *operations, const mw_allocator *allocator, const mw__symbols *symbols,
                              mw_error *err);
void mw__operations_deinit(mw__operations *operations);

/* Appends a dispatch with all its ports bound and no stream, and takes it, but not when it fails. Unfreezes. */
mw_status mw__operations_add(mw__operations *operations, mw__dispatch *dispatch, mw_error *err);
/* Binds the buffer of an output to an input, whose own is released; the input's size is then the larger of the two.
 * Fails if the memory does not cover both ports. Indices are in range. */
mw_status mw__operations_share(mw__operations *operations, size_t from, size_t output, size_t to, size_t input,
                               mw_error *err);
/* Binds a port to shared memory of at least its size, whose descriptor is duplicated. */
mw_status mw__operations_bind_memory(mw__operations *operations, size_t index, size_t port, int fd, mw_error *err);
/* Lets operation `to` wait for the event of `from`, which comes before it. `name` is that of an event that must still
 * be made. */
mw_status mw__operations_chain(mw__operations *operations, size_t from, size_t to, const char *name, mw_error *err);
/* Encodes what is not. A failure leaves everything as it was: to be mended and tried again. */
mw_status mw__operations_commit(mw__operations *operations, mw_error *err);
/* Runs all of them in order. */
mw_status mw__operations_execute(mw__operations *operations, mw_error *err);

#endif

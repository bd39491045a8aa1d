/* What the files of the e5rt call sequence share: one operation (dispatch_core.c), a chain of several
 * (dispatch_chain.c), and either several times in one stream (dispatch_series.c). */
#ifndef MW__RUNTIME_DISPATCH_CORE_H
#define MW__RUNTIME_DISPATCH_CORE_H

#include "runtime/dispatch/dispatch.h"

typedef struct mw__dispatch_port_binding {
    char *name;
    void *port;
    mw__device_buffer buffer;
    bool is_output;
    bool owned;  /* the buffer is ours to release */
    bool shared; /* it lies in memory of its size, not rounded up */
} mw__dispatch_port_binding;

typedef struct mw__dispatch_stream_operation {
    void *options, *object;
} mw__dispatch_stream_operation;

/* Operations that are bound to buffers, in the order of their execution. */
typedef struct mw__calls {
    mw__dispatch_stream_operation *operations;
    void **ports;
    size_t operation_count, port_count;
} mw__calls;

struct mw__dispatch {
    const mw_allocator *allocator;
    mw__symbols symbols;
    void *library, *function, *stream;
    mw__dispatch_stream_operation operation;
    mw__dispatch_port_binding *ports;
    size_t port_count, port_capacity;
    bool encoded;
    const mw__chain *chain; /* what there is instead of a function and its operation; or NULL */
    mw__device_buffer *between;
    mw__calls calls;
    struct mw__call_watch *watch; /* events of a chain's calls; or NULL */
};

/* ---- dispatch_passes.c ---- */

/* Hands a pass on to the mw__pass_log that is `user` (e5rt_mw_pass_report). */
void mw__dispatch_hear_pass(void *user, const e5rt_mw_pass *pass);

/* ---- dispatch_chain.c ---- */

/* Room for what `times` calls of mw__calls_add make. */
mw_status mw__calls_reserve(const mw__dispatch *dispatch, size_t times, mw__calls *calls, mw_error *err);
/* The operations of the dispatch, one or those of its chain, on `buffers` in place of its own, one for each port. */
mw_status mw__calls_add(const mw__dispatch *dispatch, const mw__device_buffer *buffers, mw__calls *calls,
                        mw_error *err);
mw_status mw__calls_encode(const mw__symbols *symbols, const mw__calls *calls, void *stream, mw_error *err);
void mw__calls_release(const mw__dispatch *dispatch, mw__calls *calls);

/* Buffers between the calls, and all of them encoded: the bindings are frozen. */
mw_status mw__chain_finish(mw__dispatch *dispatch, mw_error *err);
void mw__chain_release(mw__dispatch *dispatch);

/* ---- dispatch_watch.c ---- */

/* An event for each call; before they are encoded. None, and no error, where the library has no events. */
mw_status mw__dispatch_watch_make(mw__dispatch *dispatch, mw_error *err);
void mw__dispatch_watch_release(mw__dispatch *dispatch);

/* ---- dispatch_core.c ---- */

/* An operation of the function of `dispatch`. What is there after a failure is to be released. */
mw_status mw__dispatch_stream_operation_make(const mw__dispatch *dispatch, const char *name,
                                             mw__dispatch_stream_operation *out, mw_error *err);
void mw__dispatch_stream_operation_release(const mw__symbols *symbols, mw__dispatch_stream_operation *operation);

/* Retains the port of that name and binds it, to `shared` or to a zeroed buffer of its own. operation NULL: the buffer
 * alone. */
mw_status mw__dispatch_port_bind(const mw__symbols *symbols, void *operation, mw__dispatch_port_binding *port,
                                 size_t size, const mw__device_buffer *shared, mw_error *err);
/* Leaves the name. */
void mw__dispatch_port_release(const mw__symbols *symbols, mw__dispatch_port_binding *port);

#endif

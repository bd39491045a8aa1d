/* What the two files of the e5rt call sequence share: one operation (dispatch_core.c) and several of the same function
 * in one stream (dispatch_series.c). */
#ifndef MW__RUNTIME_DISPATCH_CORE_H
#define MW__RUNTIME_DISPATCH_CORE_H

#include "runtime/dispatch.h"

typedef struct mw__port_binding {
    char *name;
    void *port;
    mw__device_buffer buffer;
    bool is_output;
    bool owned;  /* the buffer is ours to release */
    bool shared; /* it lies in memory of its size, not rounded up */
} mw__port_binding;

typedef struct mw__stream_operation {
    void *options, *object;
} mw__stream_operation;

struct mw__dispatch {
    const mw_allocator *allocator;
    mw__symbols symbols;
    void *library, *function, *stream;
    mw__stream_operation operation;
    mw__port_binding *ports;
    size_t port_count, port_capacity;
    bool encoded;
};

/* An operation of the function of `dispatch`. What is there after a failure is to be released. */
mw_status mw__stream_operation_make(const mw__dispatch *dispatch, const char *name, mw__stream_operation *out,
                                    mw_error *err);
void mw__stream_operation_release(const mw__symbols *symbols, mw__stream_operation *operation);

/* Retains the port of that name and binds it, to `shared` or to a zeroed buffer of its own. */
mw_status mw__port_bind(const mw__symbols *symbols, void *operation, mw__port_binding *port, size_t size,
                        const mw__device_buffer *shared, mw_error *err);
/* Leaves the name. */
void mw__port_release(const mw__symbols *symbols, mw__port_binding *port);

#endif

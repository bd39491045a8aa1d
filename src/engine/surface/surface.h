/* What the surface files share: the objects behind the handles, and how a call begins and ends. */
#ifndef MW__ENGINE_SURFACE_SURFACE_H
#define MW__ENGINE_SURFACE_SURFACE_H

/* Public in the objects; libmillwright's symbol list hides the names, that of libmillwright_e5rt shows them. */
#define E5RT_EXPORT
#include "engine/compile/compile.h"
#include "engine/run/queue.h"
#include <e5rt/e5rt.h>

/* Empties the calling thread's last error; in a forked child it is set at once, and every step after it declines. */
mw_error *mw__surface_begin(void);
/* The code for the caller. */
e5rt_error_code mw__surface_end(const mw_error *err);

/* NULL with err set if the text is NULL. */
mw_status mw__surface_text(const char *text, const char *name, mw_error *err);
/* Replaces *slot by a copy of `text`. */
mw_status mw__surface_copy(const mw__object *owner, char **slot, const char *text, mw_error *err);
/* Clears *out; fails if `out` is NULL. */
mw_status mw__surface_out(void **out, mw_error *err);

/* The object, or NULL with err set, also if it is already; `name` is the argument's. */
void *mw__surface_get(void *handle, mw__kind kind, const char *name, mw_error *err);
/* The same where an answer goes to `out`, which may not be NULL. */
void *mw__surface_get_for(void *handle, mw__kind kind, const char *name, const void *out, mw_error *err);
/* The whole call that releases a handle. */
e5rt_error_code mw__surface_release(void **handle, mw__kind kind);
/* mw__surface_end, which fails if more is wanted than there is of `what`. */
e5rt_error_code mw__surface_end_bounds(uint64_t wanted, uint64_t count, const char *what, mw_error *err);

typedef enum mw__buffer_origin {
    MW__BUFFER_BORROWED, /* the caller's memory, or a part of `parent` */
    MW__BUFFER_OWNED,
    MW__BUFFER_SHARED /* a mapping of `descriptor` */
} mw__buffer_origin;

typedef struct mw__buffer_object {
    mw__object object;
    void *data;
    size_t size;
    uint32_t type;
    mw__buffer_origin origin;
    int descriptor;
    struct mw__buffer_object *parent; /* whose memory it is a part of, or NULL */
} mw__buffer_object;

/* Zero-filled memory of `size` bytes as a handle: MW__KIND_BUFFER or MW__KIND_MEMORY, behind which is the same. */
mw_status mw__buffer_make(void **out, mw__kind kind, uint64_t size, uint32_t type, size_t alignment, mw_error *err);
/* mw__surface_end, with the code that a type beyond 2 has. */
e5rt_error_code mw__buffer_type_end(uint32_t type, mw_error *err);
/* A description of the type as a handle. */
mw_status mw__surface_tensor_desc_make(void **out, const mw__type *type, mw_error *err);

typedef struct mw__function_object {
    mw__object object;
    mw__library *library;
    const mw__program *program;
} mw__function_object;

/* A state is an input and an output of one name, and as both in one an inout. */
typedef enum mw__side { MW__SIDE_INPUT, MW__SIDE_OUTPUT, MW__SIDE_INOUT } mw__side;

const char *mw__side_name(mw__side side);
size_t mw__port_count(const mw__program *program, mw__side side);
/* Of a state the input. */
const mw__port_info *mw__port_at(const mw__program *program, mw__side side, size_t index);
/* NULL if there is none; the message names `owner` ("operation"), its name and what it has. */
const mw__port_info *mw__port_named(const mw__program *program, mw__side side, const char *name, const char *owner,
                                    const char *owner_name, mw_error *err);
/* The end of a call that asks for names; nothing is written if the program is NULL. */
e5rt_error_code mw__port_names(const mw__program *program, mw__side side, uint64_t count, const char **out,
                               mw_error *err);
/* What the port takes, as a handle. */
mw_status mw__port_desc(const mw__program *program, const mw__port_info *info, void **out, mw_error *err);

typedef enum mw__operation_state {
    MW__READY,   /* bindings may change */
    MW__ENCODED, /* on a stream */
    MW__DETACHED /* its stream was reset; bindings are still frozen */
} mw__operation_state;

typedef struct mw__operation {
    mw__object object;
    mw__function_object *function;
    char *name;
    _Atomic(mw__operation_state) state;    /* atomic, as a stream may be let go by the thread of the queue */
    mw__buffer_object **inputs, **outputs; /* by port; NULL = not bound */
    struct mw__weights *weights;           /* what the last of the inputs are in; NULL if all are ports */
    mw__event *completion;
    mw__event **dependents;
    size_t dependent_count;
    mw__command_list commands;
    const mw__pipeline *in_flight; /* of the stream that it is on */
    bool loaded;                   /* it counts (loaded.h), as long as somebody could run it */
    atomic_int runners;            /* who could: its handle, and the stream that it is on; ports cannot */
} mw__operation;

/* Puts the weights of a set, or the function's own (NULL), behind the ports. */
mw_status mw__surface_weights_bind(mw__operation *operation, struct mw__weights *weights, mw_error *err);

/* A runner more, or less: without one it no longer counts, whatever ports of it are kept. */
void mw__operation_add_runner(mw__operation *operation);
void mw__operation_drop_runner(mw__operation *operation);
void mw__operation_drop_dependents(mw__operation *operation);
/* Refused while its stream has work in flight. */
mw_status mw__operation_idle(const mw__operation *operation, mw_error *err);

typedef struct mw__stream {
    mw__object object;
    mw__operation **operations; /* as the steps of the pipeline */
    size_t count, capacity;
    mw__pipeline pipeline;
    mw__intermediates room; /* of the intermediates of the operations */
    bool used;              /* something was encoded since it was made */
} mw__stream;

mw__stream *mw__stream_get(void *handle, mw_error *err);

typedef struct mw__port {
    mw__object object;
    mw__operation *operation;
    mw__buffer_object **slot; /* in the operation */
    mw__buffer_object **next; /* of a state: where its next value goes, too; or NULL */
    const mw__port_info *info;
} mw__port;

#endif

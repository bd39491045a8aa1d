/* What the engine hands out. A handle is a number (index and generation of a cell), never an address, so that a wrong,
 * released or foreign one is refused and not followed. Behind it stands a counted object. */
#ifndef MW__ENGINE_CORE_OBJECT_H
#define MW__ENGINE_CORE_OBJECT_H

#include "base/memory/alloc.h"

#include <stdatomic.h>

typedef enum mw__kind {
    MW__KIND_NONE,
    MW__KIND_CONFIG,
    MW__KIND_COMPILER,
    MW__KIND_OPTIONS,
    MW__KIND_LIBRARY,
    MW__KIND_FUNCTION,
    MW__KIND_OPERATION_OPTIONS,
    MW__KIND_OPERATION_CONFIG,
    MW__KIND_STREAM_CONFIG,
    MW__KIND_OPERATION,
    MW__KIND_PORT,
    MW__KIND_BUFFER,
    MW__KIND_MEMORY,
    MW__KIND_STREAM,
    MW__KIND_EVENT,
    MW__KIND_PLAN,
    MW__KIND_TENSOR_DESC,
    MW__KIND_OPERAND_DESC,
    MW__KIND_DTYPE
} mw__kind;

/* First member of every object. */
typedef struct mw__object {
    atomic_int references;
    mw_allocator allocator; /* a copy: what the object and all that it owns came from */
    void (*destroy)(struct mw__object *object);
} mw__object;

/* Zero-filled, with one reference. `destroy` releases what the object owns, not the object itself; it may be NULL. */
void *mw__object_create(size_t size, void (*destroy)(mw__object *object), mw_error *err);
/* Returns the object. */
void *mw__object_retain(void *object);
/* The same of one that may be on its way out, while its memory is there: NULL if it is. */
void *mw__object_try_retain(void *object);
/* NULL is fine. */
void mw__object_release(void *object);

/* Makes a handle that takes over the caller's reference; on failure the reference is gone and *out is NULL. */
mw_status mw__handle_create(mw__kind kind, void *object, void **out, mw_error *err);
/* The object, or NULL with err set; `name` is the argument's name. The handle keeps its reference. */
void *mw__handle_get(const void *handle, mw__kind kind, const char *name, mw_error *err);
/* True for a live handle of any kind, which is no address: for calls that are given one where an address belongs. */
bool mw__handle_is(const void *value);
/* Gives the reference back and clears *handle. */
mw_status mw__handle_release(void **handle, mw__kind kind, mw_error *err);

/* Process-wide: what objects are made with from now on. */
void mw__engine_set_allocator(mw_allocator allocator);
const mw_allocator *mw__engine_allocator(void);

/* True in a child of fork() whose parent had used the engine. The first call in a process arranges for that. */
bool mw__engine_forked(void);

#endif

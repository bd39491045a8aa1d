/* One compiled program on e5rt with its ports and buffers: what ane_e5rt_*, programs and trainers are made of. Buffers
 * may have another owner (a state set), so that several programs work on the same memory. */
#ifndef MW__RUNTIME_DISPATCH_H
#define MW__RUNTIME_DISPATCH_H

#include "base/memory/alloc.h"
#include "passes/log.h"
#include "runtime/dispatch/symbols.h"

/* An e5rt buffer object and its memory. */
typedef struct mw__device_buffer {
    void *object;
    void *data;
    size_t size; /* bytes asked for; the object has them rounded up to 64 */
} mw__device_buffer;

/* Zero-filled. */
mw_status mw__dispatch_buffer_alloc(const mw__symbols *symbols, size_t size, mw__device_buffer *out, mw_error *err);
/* The memory of a buffer that was asked for with `size` bytes; 0 if there is no such buffer. */
size_t mw__dispatch_buffer_memory(size_t size);
/* An empty buffer is fine. */
void mw__dispatch_buffer_release(const mw__symbols *symbols, mw__device_buffer *buffer);

typedef struct mw__dispatch mw__dispatch;

typedef struct mw__dispatch_options {
    const mw_allocator *allocator; /* not NULL */
    const mw__symbols *symbols;    /* copied */
    const char *mil_path;
    const char *cache_folder; /* or NULL */
    bool reuse;               /* what was compiled before may be taken from there */
    bool owned;               /* the folder of the text is the library's own, and removed once it is compiled */
    bool profiling;           /* asked of the compiler, where it has a switch for it */
    uint64_t mask;
    uint64_t threads; /* 0 = the library's default */
    bool flush_subnormals, exact_convolution;
    const char *custom;  /* custom ANE compiler options, or NULL */
    const char *profile; /* of the ANE model, or NULL */
    const char *off;     /* passes and rules that the engine leaves out, or NULL */
    mw__pass_log *log;   /* who hears of its passes, or NULL */
    const char *name;    /* of the operation, e.g. "main"; NULL = none is made: a function of a chain */
    size_t port_count;   /* how many mw__dispatch_add_port will add */
} mw__dispatch_options;

/* Compiles and makes the operation; NULL with err set. The order of the calls is that of production code on Espresso.
 */
mw__dispatch *mw__dispatch_create(const mw__dispatch_options *options, mw_error *err);
/* NULL is fine. Releases in reverse order, the stream first. */
void mw__dispatch_destroy(mw__dispatch *dispatch);

/* Retains a port and binds it: to `shared`, which must outlive the dispatch, or to a zeroed buffer of its own. Indices
 * count from 0 in the order of the calls: inputs first, then outputs. */
mw_status mw__dispatch_add_port(mw__dispatch *dispatch, const char *name, bool is_output, size_t size,
                                const mw__device_buffer *shared, mw_error *err);
/* Makes the stream, once every port is bound. */
mw_status mw__dispatch_finish(mw__dispatch *dispatch, mw_error *err);

/* Binds a port to a buffer of another owner and drops its own. MW_ERROR_STATE once encoded. */
mw_status mw__dispatch_rebind(mw__dispatch *dispatch, size_t port, const mw__device_buffer *buffer, mw_error *err);
/* Freezes the bindings; nothing if it is done. */
mw_status mw__dispatch_encode(mw__dispatch *dispatch, mw_error *err);
/* Encodes at the first call, then runs. */
mw_status mw__dispatch_execute(mw__dispatch *dispatch, mw_error *err);

/* For what only some libraries have. */
const mw__symbols *mw__dispatch_symbols(const mw__dispatch *dispatch);
void *mw__dispatch_operation(const mw__dispatch *dispatch);

size_t mw__dispatch_port_count(const mw__dispatch *dispatch);
/* The index, or mw__dispatch_port_count if there is none. */
size_t mw__dispatch_find(const mw__dispatch *dispatch, const char *name, bool is_output);
/* The bytes of its elements, 0 where the library does not say. */
size_t mw__dispatch_port_bytes(const mw__dispatch *dispatch, size_t port);
const mw__device_buffer *mw__dispatch_buffer(const mw__dispatch *dispatch, size_t port);
/* How the function was compiled ("CPU, fp32, 2 threads, OpenBLAS"), NULL if the library has no such call. */
const char *mw__dispatch_summary(const mw__dispatch *dispatch);

/* ---- a program of several functions ---- */

typedef struct mw__chain_function {
    mw__dispatch *compiled;   /* without a name; the chain's dispatch destroys it */
    const char *const *ports; /* names: inputs, then outputs */
    size_t input_count, output_count;
} mw__chain_function;

typedef struct mw__chain_call {
    size_t function;
    const size_t *places; /* by port of the function: a port of the dispatch, or behind these a buffer in between */
} mw__chain_call;

/* Calls in their order. What one writes others read, in ports or in between. */
typedef struct mw__chain {
    const mw__chain_function *functions;
    size_t function_count;
    const mw__chain_call *calls;
    size_t call_count;
    const size_t *between;       /* bytes of each buffer */
    const void *const *contents; /* what is always in it, or NULL */
    size_t between_count;
    bool watched; /* it can be submitted, where the library has events */
} mw__chain;

/* As mw__dispatch_create, of the chain, which outlives it. Of the options allocator, symbols and port_count are read.
 * mw__dispatch_finish encodes, so that nothing can be rebound. On failure the functions are destroyed too. */
mw__dispatch *mw__dispatch_create_chain(const mw__dispatch_options *options, const mw__chain *chain, mw_error *err);
/* NULL if it is one function. */
const mw__chain *mw__dispatch_chain(const mw__dispatch *dispatch);

/* ---- runs of a chain that are not waited for (dispatch_watch.c) ---- */

bool mw__dispatch_is_watched(const mw__dispatch *dispatch);
/* Begins a run; until mw__dispatch_wait the ports are the device's, but for those that calls which are done have
 * written.
 */
mw_status mw__dispatch_submit(mw__dispatch *dispatch, mw_error *err);
mw_status mw__dispatch_call_is_done(const mw__dispatch *dispatch, size_t call, bool *out, mw_error *err);
mw_status mw__dispatch_wait(mw__dispatch *dispatch, mw_error *err);

/* ---- several runs by one call ---- */

typedef struct mw__series mw__series;

/* `count` times what `source` executes, which must outlive it, in one stream. Ports are bound to bound[port], which
 * outlives the series; where that is NULL, each time has a zeroed buffer of its own. */
mw__series *mw__series_create(const mw__dispatch *source, size_t count, const mw__device_buffer *const *bound,
                              mw_error *err);
/* NULL is fine. */
void mw__series_destroy(mw__series *series);
/* Runs them in order. Encodes at the first call; one that fails half way leaves the series good for nothing. */
mw_status mw__series_execute(mw__series *series, mw_error *err);
/* The memory of a port at time `index`. */
void *mw__series_data(const mw__series *series, size_t index, size_t port);

/* Compiles and throws the result away: MW_ERROR_UNSUPPORTED if custom options are given and the symbol is absent.
 * *out_code receives e5rt's code of the compilation. */
mw_status mw__dispatch_check(const mw__dispatch_options *options, int32_t *out_code, mw_error *err);

#endif

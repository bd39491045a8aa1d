/* What the files of the ane_e5rt_* ABI share: the program behind the handle, and how a call begins and ends. */
#ifndef MW__RUNTIME_DISPATCH_PROGRAM_H
#define MW__RUNTIME_DISPATCH_PROGRAM_H

#include "runtime/dispatch/block.h"
#include "runtime/dispatch/operations.h"
#include <millwright/ane_e5rt.h>

#include <pthread.h>

struct ane_e5rt_program {
    mw__operations operations; /* 0 is the compiled one */
    char *cache_folder;        /* or NULL */
    uint64_t mask;
    mw__block_literal completion; /* of every submission */
    pthread_mutex_t mutex;        /* around in_flight, which a thread of the library counts down */
    pthread_cond_t landed;
    long in_flight;  /* submissions */
    bool submitted;  /* since the last wait */
    uint64_t before; /* the last signaled value of the final event, before the last submission */
};

/* Names and sizes of the ports on one side. */
typedef struct mw__port_list {
    const char *const *names;
    const size_t *sizes;
    size_t count;
} mw__port_list;

/* Empties the calling thread's last error. */
mw_error *mw__dispatch_begin(void);
/* 0 or -1 for the caller, after the line on standard error. */
int mw__dispatch_end(const char *call, mw_status status);

/* ---- dispatch_async.c ---- */

void mw__dispatch_async_init(ane_e5rt_program_t *program);
/* Waits for what is in flight. */
void mw__dispatch_async_deinit(ane_e5rt_program_t *program);

/* ---- dispatch.c, dispatch_ports.c ---- */

/* Compiles a text and appends it. */
mw_status mw__dispatch_append(ane_e5rt_program_t *program, const char *mil_path, const char *cache_folder,
                              const mw__port_list *inputs, const mw__port_list *outputs, mw_error *err);
mw_status mw__dispatch_need_operation(const ane_e5rt_program_t *program, size_t index, mw_error *err);
/* The index of the port of that name of operation `index`; fails if either does not exist. */
mw_status mw__dispatch_find_port(const ane_e5rt_program_t *program, size_t index, const char *name, bool is_output,
                                 size_t *out, mw_error *err);
mw_status mw__dispatch_set(const ane_e5rt_program_t *program, size_t index, const char *name, const uint16_t *data,
                           size_t n_elems, mw_error *err);
mw_status mw__dispatch_get(const ane_e5rt_program_t *program, size_t index, const char *name, uint16_t *dest,
                           size_t n_elems, mw_error *err);

#endif

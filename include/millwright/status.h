/* Status codes, the error record, the allocator and the hooks for log lines and threads: what every other header builds
 * on.
 *
 *     mw_error err = {0};
 *     mw_graph *graph = mw_graph_open_mil("model/model.mil", NULL, &err);
 *     if (graph == NULL)
 *         fprintf(stderr, "%s\n", err.message);
 *
 * Nothing in Millwright aborts, exits or prints, with two exceptions: mw_trainer_fit shows its progress, and failed
 * calls of ane_e5rt.h print; both can be made quiet. A call that can fail takes a caller-held `mw_error *` as its last
 * argument (NULL is allowed) and returns a status or NULL. If this error is already set, the call does nothing and
 * returns its status, so that a sequence of calls needs one check at its end. The log hook gets a message for each call
 * that was skipped so (MW_LOG_DEBUG). To go on after an error, clear it with mw_error_clear.
 *
 * There is no ABI promise before version 1.0.
 *
 * Threads: every function here may be called from any thread at any time, but mw_log_set and mw_thread_hooks_set, which
 * come before others use the library. An error record belongs to the thread whose calls it is given to. Objects say in
 * their headers what they allow; where calls come one at a time, it is the caller who sees to that, and the object may
 * change threads between them. */
#ifndef MILLWRIGHT_STATUS_H
#define MILLWRIGHT_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define MW_API
#else
#define MW_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** What went wrong, by who can mend it. */
typedef enum mw_status {
    MW_OK = 0,
    MW_ERROR_ARGUMENT = 1,      /* a value that the call cannot take (NULL, out of range, wrong object) */
    MW_ERROR_SHAPE = 2,         /* shapes that do not fit each other or the rule of an operation */
    MW_ERROR_DTYPE = 3,         /* element types that do not fit */
    MW_ERROR_MEMORY = 4,        /* the allocator returned NULL */
    MW_ERROR_FILE = 5,          /* a system call on a file failed; the message carries its reason */
    MW_ERROR_FORMAT = 6,        /* a file or text is malformed; text errors carry line and column */
    MW_ERROR_UNSUPPORTED = 7,   /* well-formed, but no part of this library or device can do it */
    MW_ERROR_NUMERIC = 8,       /* a non-finite loss, gradient or batch; a scalar that fp16 cannot hold */
    MW_ERROR_STATE = 9,         /* a call out of order, after a fork, or on an object that is dead */
    MW_ERROR_DEVICE = 10,       /* the library behind the e5rt symbols refused; the message carries its text */
    MW_ERROR_STOPPED = 11,      /* a callback or a signal asked to stop; nothing is lost */
    MW_ERROR_COMMUNICATION = 12 /* another rank failed, left or does not answer; the message names it */
} mw_status;

/** One error, held by the caller; `mw_error err = {0}` is the empty one.
 *  All text is always NUL-terminated and free of pointers into other objects. It may be shown as it is: control
 *  characters, bytes that are no UTF-8 and what reorders or hides text are written as \n, \x1b or \u202e, and where a
 *  message would be too long the names in it are cut in their middle ("layer.0...weight"). Log lines are made alike. */
typedef struct mw_error {
    mw_status status;
    char message[512];  /* one sentence: operation, tensor, number, rule, hint */
    char operation[64]; /* MIL name of the operation concerned, or "" */
    char tensor[96];    /* name of the tensor concerned, or "" */
    const char *file;   /* source file of the library that raised it (static storage), or NULL */
    int line;           /* line in `file` */
    int text_line;      /* line in the text that was read, from 1; 0 = not a text error */
    int text_column;    /* column in that line in bytes, from 1 */
} mw_error;

/** Makes *err the empty one again, so that calls which are given it do something. NULL is fine. */
MW_API void mw_error_clear(mw_error *err);

/** Returns a short English name of the status ("shape error"); static storage. */
MW_API const char *mw_status_name(mw_status status);

/** Memory for one object and all that it owns. `resize(user, NULL, n)` allocates n > 0 bytes aligned for any type,
 *  `resize(user, p, n)` grows or shrinks, `resize(user, p, 0)` frees and returns NULL. A NULL return for n > 0 is a
 *  failed allocation and leaves `p` as it was. It must stay valid as long as any object made with it, be safe for the
 *  threads that use those objects, and call nothing of this library. A NULL `mw_allocator *` in the API, or one whose
 *  function is NULL, means the C library's heap. */
typedef struct mw_allocator {
    void *(*resize)(void *user, void *pointer, size_t size);
    void *user;
} mw_allocator;

/** How much a log line matters. */
typedef enum mw_log_level { MW_LOG_ERROR = 0, MW_LOG_WARNING = 1, MW_LOG_INFO = 2, MW_LOG_DEBUG = 3 } mw_log_level;

/** Receives one line without its newline; called from the thread that raised it. */
typedef void mw_log_function(void *user, mw_log_level level, const char *line);

/** Sets the process-wide log hook; NULL (the default) is silence. Set it before other threads use the library. */
MW_API void mw_log_set(mw_log_function *function, void *user);

/** What a thread of this library does; returns NULL. */
typedef void *mw_thread_run(void *argument);

/** Who starts and joins the threads of this library, in place of the system: for hosts that have threads of their
 *  own, count them, or bind them to processors. The threads, by the names that `start` is given:
 *
 *    "mw team 1", "mw team 2" ..  run programs together with the caller: one fewer than the most threads that one
 *                                 was compiled for (`threads` of its options, MW_ENGINE_THREADS). Started before the
 *                                 first run of such a program, and kept
 *    "mw queue"                   runs what is submitted and not waited for. Started by the first submission, and kept
 *    "mw prefetch"                makes the batches of one loader ahead (mw_dataset_prefetch). Started by its first
 *                                 mw_loader_next, joined when it is destroyed
 *
 *  What is kept is joined when the hooks change (mw_thread_hooks_set), else when the process ends or unloads the
 *  library.
 *
 *  `start` makes a thread call run(argument) once, without delay. That thread does nothing else until `run` returns.
 *  `start` does not wait for that: it returns true, and sets *out_thread to the value that `join` will get. `run` may
 *  last as long as the process: it must not wait for another job of a pool, and `start` must not call it on its own
 *  thread. The thread needs a stack of 64 KiB; "mw prefetch" also needs the stack of the data set's functions. `start`
 *  returns false if it has no thread. Then programs run on fewer threads, with the same bits; batches are made when
 *  they are requested; a submission fails with MW_ERROR_MEMORY. `name` lives until `start` returns.
 *
 *  `join` waits until the `run` of that thread has returned. The library calls it once for each thread, from another
 *  thread, and uses the `join` of the hooks that started the thread. A function of a data set may destroy the loader
 *  whose thread it runs on. That thread is joined later: when the library next starts or joins a thread, or when hooks
 *  are set.
 *
 *  During `run`, a thread blocks all signals except SIGPROF and those of its own faults (SIGSEGV, SIGBUS, SIGFPE,
 *  SIGILL, SIGSYS, SIGTRAP). It rounds to nearest and keeps subnormals. After `run` these settings are as before. The
 *  system's threads, used where no hooks are set, do the same. A child of fork() does not have its parent's threads,
 *  and does not join them.
 *
 *  Both functions are called by whichever thread needs one, several at once too, and call nothing of this library. They
 *  and `user` stay valid until every thread has been joined.
 *
 *  Not by hooks: threads of other libraries (Espresso, a BLAS, MPI), and one that does nothing, started and joined
 *  before a BLAS is loaded, to see whether the system still gives any (none with MW_BLAS=none). */
typedef struct mw_thread_hooks {
    bool (*start)(void *user, const char *name, mw_thread_run *run, void *argument, void **out_thread);
    void (*join)(void *user, void *thread);
    void *user;
} mw_thread_hooks;

/** Sets the process-wide hooks, a copy of *hooks; NULL (the default) is the system's threads. Joins the threads that
 *  are kept, by the hooks that started them; programs that exist go on with threads of the new ones. So a host that
 *  shuts down destroys its loaders and then sets NULL: no thread is left with it. Requests in flight are waited for, up
 *  to a second. The same hooks again change nothing. No other thread may use the library meanwhile.
 *  errors  MW_ERROR_ARGUMENT if one of the two functions is NULL, MW_ERROR_STATE if requests are in flight that do not
 *          end, or if called by the completion of one or by a hook, MW_ERROR_MEMORY; then the hooks are those before */
MW_API mw_status mw_thread_hooks_set(const mw_thread_hooks *hooks, mw_error *err);

/** Returns the library's version, "major.minor.patch"; static storage. */
MW_API const char *mw_version(void);

#ifdef __cplusplus
}
#endif
#endif

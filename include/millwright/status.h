/* Status codes, the error record, the allocator and the log hook: what every other header builds on.
 *
 *     mw_error err = {0};
 *     mw_graph *graph = mw_graph_read_mil("model/model.mil", NULL, &err);
 *     if (graph == NULL)
 *         fprintf(stderr, "%s\n", err.message);
 *
 * Nothing in Millwright aborts, exits or prints, but for mw_fit, which shows its progress, and for failed calls of
 * ane_e5rt.h; both can be told to be quiet. A call that can fail takes a caller-held `mw_error *` as its last argument
 * (NULL is allowed) and returns a status or NULL. A call that is given an error which is already set does nothing and
 * returns that status, so that a sequence of calls needs one check at its end. The log hook is told of each call that
 * was skipped so (MW_LOG_DEBUG); whoever goes on after an error clears it with mw_error_clear.
 *
 * There is no ABI promise before version 1.0.
 *
 * Threads: every function here may be called from any thread at any time, but mw_log_set, which comes before others use
 * the library. An error record belongs to the thread whose calls it is given to. Objects say in their headers what they
 * allow; where calls come one at a time, it is the caller who sees to that, and the object may change threads between
 * them. */
#ifndef MILLWRIGHT_STATUS_H
#define MILLWRIGHT_STATUS_H

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
 *  threads that use those objects, and call nothing of this library. A NULL `mw_allocator *` in the API means the C
 *  library's heap. */
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

/** Returns the library's version, "major.minor.patch"; static storage. */
MW_API const char *mw_version(void);

#ifdef __cplusplus
}
#endif
#endif

/* A host that starts the library's threads: each anew, or from a pool. */
#ifndef TESTS_RUNTIME_DISPATCH_THREAD_HOST_H
#define TESTS_RUNTIME_DISPATCH_THREAD_HOST_H

#include <millwright/millwright.h>

#include <pthread.h>
#include <stdatomic.h>

enum { HOST_NAMES = 64, HOST_POOL = 8 };

/* A thread of the pool, which takes one job after another. */
typedef struct host_thread {
    struct thread_host *host;
    pthread_t thread;
    void *(*run)(void *argument);
    void *argument;
    bool busy, done, changed; /* changed: a job left the thread otherwise than it was */
} host_thread;

typedef struct thread_host {
    int refuse_every;   /* the first, and each that many later, gets none; 0 = none is refused, 1 = all are */
    mw_status set_from; /* what a hook was told that set hooks itself */
    bool sets;
    atomic_int asked, started, joined, ran; /* ran: jobs that have returned */
    char names[HOST_NAMES][32];             /* of those that were started */
    bool closed;                            /* the pool, by `mutex` */
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    host_thread pool[HOST_POOL];
    int pool_size;
} thread_host;

/* All else is zero: new threads, as many as are wanted. */
void host_init(thread_host *host);
mw_thread_hooks host_hooks(thread_host *host);
int host_live(const thread_host *host);
/* How many threads of that name were started. */
int host_named(thread_host *host, const char *name);

/* HOST_POOL threads of `stack` bytes, 0 = the usual, that round upward and flush subnormals, with no signal blocked. */
bool host_open_pool(thread_host *host, size_t stack);
mw_thread_hooks host_pool_hooks(thread_host *host);
/* Runs the job on a thread of the pool, each in turn, and waits for it. */
void host_on_each(thread_host *host, void *(*run)(void *argument), void *argument);
/* True on a thread that rounds to nearest and keeps subnormals. */
bool host_is_plain(void);
/* True if every job left its thread as it was. */
bool host_close_pool(thread_host *host);

#endif

/* Threads by hooks or by the system. Hooks are published as copies that never change and stay, so that a thread finds
 * those that started it, and nobody takes a lock that a fork could leave taken. Process-wide and mutable, because hooks
 * are: the copies, which of them holds, and the threads that nobody waits for. */
#include "base/thread/thread.h"

#include "base/memory/alloc.h"
#include "base/memory/guard.h"
#include "base/number/float_mode.h"

#include <signal.h>
#include <unistd.h>

typedef struct kept_hooks {
    mw_thread_hooks hooks;
    struct kept_hooks *next;
} kept_hooks;

struct mw__thread {
    void *(*run)(void *argument);
    void *argument;
    const mw_thread_hooks *hooks; /* that started it; NULL = the system */
    void *handle;                 /* theirs */
    pthread_t system;
    pid_t process;
    bool left;
    mw__thread *next; /* of those that have left */
};

static _Atomic(kept_hooks *) kept;
static _Atomic(const mw_thread_hooks *) current;
static _Atomic(mw__thread *) left;
static _Thread_local bool in_hook;

/* ---- what a thread does ---- */

/* Signals are for the threads of the program. A fault is the thread's own: blocked, it would end the process without
 * the handler that reports it. A profiler samples the threads that work. */
static void block_signals(sigset_t *before)
{
    static const int open[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS, SIGTRAP, SIGPROF};
    sigset_t set;
    sigfillset(&set);
    for (size_t i = 0; i < sizeof open / sizeof *open; i++)
        sigdelset(&set, open[i]);
    pthread_sigmask(SIG_SETMASK, &set, before);
}

static void push_left(mw__thread *thread)
{
    thread->next = atomic_load(&left);
    while (!atomic_compare_exchange_weak(&left, &thread->next, thread))
        ;
}

static void run_in_our_mode(const mw__thread *thread)
{
    MW__FLOAT_SCOPE;
    thread->run(thread->argument);
}

/* Last of all: from here on another thread may join and free it. */
static void end(mw__thread *thread)
{
    if (!thread->left)
        return;
    if (thread->hooks != NULL) {
        push_left(thread);
        return;
    }
    pthread_detach(pthread_self());
    mw__free(NULL, thread);
}

/* A thread of a hook belongs to the host, and gets its mask back. */
static void *enter_thread(void *argument)
{
    mw__thread *thread = argument;
    sigset_t before;
    block_signals(&before);
    run_in_our_mode(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    end(thread);
    return NULL;
}

/* ---- starting and joining ---- */

static mw__callback enter_hook(void)
{
    in_hook = true;
    return mw__callback_begin("thread hook", MW__LENT_NEVER);
}

static void leave_hook(mw__callback outer)
{
    mw__callback_end(outer);
    in_hook = false;
}

static bool start_by_hooks(mw__thread *thread, const char *name)
{
    const mw__callback outer = enter_hook();
    const bool started = thread->hooks->start(thread->hooks->user, name, enter_thread, thread, &thread->handle);
    leave_hook(outer);
    return started;
}

/* The mask is there from the beginning. */
static bool start_by_system(mw__thread *thread)
{
    sigset_t before;
    block_signals(&before);
    const bool started = pthread_create(&thread->system, NULL, enter_thread, thread) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

mw__thread *mw__thread_start(const char *name, void *(*run)(void *argument), void *argument)
{
    mw__thread_join_left();
    mw__thread *thread = mw__alloc(NULL, 1, sizeof *thread, NULL);
    if (thread == NULL)
        return NULL;
    thread->run = run;
    thread->argument = argument;
    thread->hooks = mw__thread_hooks_now();
    thread->process = getpid();
    if (thread->hooks != NULL ? start_by_hooks(thread, name) : start_by_system(thread))
        return thread;
    mw__free(NULL, thread);
    return NULL;
}

static void join_by_hooks(const mw__thread *thread)
{
    const mw__callback outer = enter_hook();
    thread->hooks->join(thread->hooks->user, thread->handle);
    leave_hook(outer);
}

static void join_thread(mw__thread *thread)
{
    if (thread->process == getpid()) {
        if (thread->hooks != NULL)
            join_by_hooks(thread);
        else
            pthread_join(thread->system, NULL);
    }
    mw__free(NULL, thread);
}

void mw__thread_join(mw__thread *thread)
{
    if (thread != NULL)
        join_thread(thread);
    mw__thread_join_left();
}

void mw__thread_leave(mw__thread *thread) { thread->left = true; }

void mw__thread_join_left(void)
{
    mw__thread *next = atomic_load(&left) != NULL ? atomic_exchange(&left, NULL) : NULL;
    while (next != NULL) {
        mw__thread *thread = next;
        next = thread->next;
        join_thread(thread);
    }
}

/* When the library is unloaded or the process ends: no thread may be left in code that goes away. */
__attribute__((destructor)) static void join_at_end(void) { mw__thread_join_left(); }

/* ---- hooks ---- */

const mw_thread_hooks *mw__thread_hooks_now(void) { return atomic_load(&current); }

mw_status mw__thread_hooks_check(const mw_thread_hooks *hooks, mw_error *err)
{
    if (in_hook)
        return mw__fail(err, MW_ERROR_STATE, "hooks for threads cannot be set by such a hook");
    if (hooks == NULL || (hooks->start != NULL && hooks->join != NULL))
        return MW_OK;
    return mw__fail(err, MW_ERROR_ARGUMENT, "the hooks for threads have no function `%s`",
                    hooks->start == NULL ? "start" : "join");
}

static bool are_equal(const mw_thread_hooks *a, const mw_thread_hooks *b)
{
    return a->start == b->start && a->join == b->join && a->user == b->user;
}

static const mw_thread_hooks *keep_hooks(const mw_thread_hooks *hooks, mw_error *err)
{
    for (const kept_hooks *k = atomic_load(&kept); k != NULL; k = k->next)
        if (are_equal(&k->hooks, hooks))
            return &k->hooks;
    kept_hooks *fresh = mw__alloc(NULL, 1, sizeof *fresh, err);
    if (fresh == NULL)
        return NULL;
    fresh->hooks = *hooks;
    fresh->next = atomic_load(&kept);
    while (!atomic_compare_exchange_weak(&kept, &fresh->next, fresh))
        ;
    return &fresh->hooks;
}

mw_status mw__thread_hooks_put(const mw_thread_hooks *hooks, mw_error *err)
{
    MW_TRY(mw__thread_hooks_check(hooks, err));
    const mw_thread_hooks *found = hooks != NULL ? keep_hooks(hooks, err) : NULL;
    if (hooks != NULL && found == NULL)
        return MW_ERROR_MEMORY;
    atomic_store(&current, found);
    mw__thread_join_left();
    return MW_OK;
}

/* The hosts of thread_host.h. */
#include "thread_host.h"

#include <fenv.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

void host_init(thread_host *host)
{
    memset(host, 0, sizeof *host);
    pthread_mutex_init(&host->mutex, NULL);
    pthread_cond_init(&host->changed, NULL);
}

int host_live(const thread_host *host) { return atomic_load(&host->started) - atomic_load(&host->joined); }

int host_named(thread_host *host, const char *name)
{
    int count = 0;
    for (int i = 0; i < HOST_NAMES && i < atomic_load(&host->started); i++)
        count += strcmp(host->names[i], name) == 0;
    return count;
}

static bool refuses(thread_host *host)
{
    const int place = atomic_fetch_add(&host->asked, 1);
    return host->refuse_every > 0 && place % host->refuse_every == 0;
}

static void note(thread_host *host, const char *name)
{
    const int place = atomic_fetch_add(&host->started, 1);
    if (place < HOST_NAMES)
        snprintf(host->names[place], sizeof host->names[place], "%s", name);
}

static void set_from_hook(thread_host *host)
{
    mw_error err = {0};
    if (host->sets)
        host->set_from = mw_thread_hooks_set(NULL, &err);
}

/* ---- new threads ---- */

typedef struct job {
    thread_host *host;
    pthread_t thread;
    void *(*run)(void *argument);
    void *argument;
} job;

static void *run_job(void *user)
{
    job *j = user;
    j->run(j->argument);
    atomic_fetch_add(&j->host->ran, 1);
    return NULL;
}

static bool start(void *user, const char *name, void *(*run)(void *argument), void *argument, void **out_thread)
{
    thread_host *host = user;
    set_from_hook(host);
    job *j = refuses(host) ? NULL : malloc(sizeof *j);
    if (j == NULL)
        return false;
    *j = (job){.host = host, .run = run, .argument = argument};
    *out_thread = j;
    if (pthread_create(&j->thread, NULL, run_job, j) != 0) {
        free(j);
        return false;
    }
    note(host, name);
    return true;
}

static void join(void *user, void *thread)
{
    thread_host *host = user;
    job *j = thread;
    pthread_join(j->thread, NULL);
    free(j);
    atomic_fetch_add(&host->joined, 1);
}

mw_thread_hooks host_hooks(thread_host *host) { return (mw_thread_hooks){.start = start, .join = join, .user = host}; }

/* ---- a pool ---- */

static void make_strange(void)
{
    sigset_t none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
    fesetround(FE_UPWARD);
#if defined(__x86_64__)
    _mm_setcsr(_mm_getcsr() | 0x8040U); /* flushes results and operands */
#endif
}

/* As it is, or `otherwise` where that cannot be asked. */
static bool flushes(bool otherwise)
{
#if defined(__x86_64__)
    (void)otherwise;
    return (_mm_getcsr() & 0x8040U) == 0x8040U;
#else
    return otherwise;
#endif
}

bool host_is_plain(void) { return fegetround() == FE_TONEAREST && !flushes(false); }

static bool is_strange(void)
{
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    return fegetround() == FE_UPWARD && flushes(true) && sigismember(&mask, SIGINT) == 0 &&
           sigismember(&mask, SIGUSR1) == 0;
}

/* With the mutex held, but not while the job runs. */
static void run_given(host_thread *t)
{
    void *(*const run)(void *argument) = t->run;
    pthread_mutex_unlock(&t->host->mutex);
    run(t->argument);
    const bool same = is_strange();
    pthread_mutex_lock(&t->host->mutex);
    t->changed = t->changed || !same;
    t->run = NULL;
    t->done = true;
    pthread_cond_broadcast(&t->host->changed);
}

static void *serve(void *user)
{
    host_thread *t = user;
    make_strange();
    pthread_mutex_lock(&t->host->mutex);
    while (!t->host->closed) {
        if (t->run != NULL)
            run_given(t);
        else
            pthread_cond_wait(&t->host->changed, &t->host->mutex);
    }
    pthread_mutex_unlock(&t->host->mutex);
    return NULL;
}

bool host_open_pool(thread_host *host, size_t stack)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (stack > 0 && pthread_attr_setstacksize(&attributes, stack) != 0)
        return false;
    for (host->pool_size = 0; host->pool_size < HOST_POOL; host->pool_size++) {
        host_thread *t = &host->pool[host->pool_size];
        t->host = host;
        if (pthread_create(&t->thread, &attributes, serve, t) != 0)
            break;
    }
    pthread_attr_destroy(&attributes);
    return host->pool_size == HOST_POOL;
}

/* With the mutex held. */
static void give(host_thread *t, void *(*run)(void *argument), void *argument)
{
    t->run = run;
    t->argument = argument;
    t->busy = true;
    t->done = false;
    pthread_cond_broadcast(&t->host->changed);
}

static void wait_for(host_thread *t)
{
    while (!t->done)
        pthread_cond_wait(&t->host->changed, &t->host->mutex);
    t->busy = false;
}

static bool pool_start(void *user, const char *name, void *(*run)(void *argument), void *argument, void **out_thread)
{
    thread_host *host = user;
    if (refuses(host))
        return false;
    pthread_mutex_lock(&host->mutex);
    host_thread *free_one = NULL;
    for (int i = 0; i < host->pool_size && free_one == NULL; i++)
        free_one = host->pool[i].busy ? NULL : &host->pool[i];
    if (free_one != NULL)
        give(free_one, run, argument);
    pthread_mutex_unlock(&host->mutex);
    *out_thread = free_one;
    if (free_one != NULL)
        note(host, name);
    return free_one != NULL;
}

static void pool_join(void *user, void *thread)
{
    thread_host *host = user;
    pthread_mutex_lock(&host->mutex);
    wait_for(thread);
    pthread_mutex_unlock(&host->mutex);
    atomic_fetch_add(&host->joined, 1);
}

mw_thread_hooks host_pool_hooks(thread_host *host)
{
    return (mw_thread_hooks){.start = pool_start, .join = pool_join, .user = host};
}

void host_on_each(thread_host *host, void *(*run)(void *argument), void *argument)
{
    pthread_mutex_lock(&host->mutex);
    for (int i = 0; i < host->pool_size; i++) {
        give(&host->pool[i], run, argument);
        wait_for(&host->pool[i]);
    }
    pthread_mutex_unlock(&host->mutex);
}

bool host_close_pool(thread_host *host)
{
    bool same = true;
    pthread_mutex_lock(&host->mutex);
    host->closed = true;
    pthread_cond_broadcast(&host->changed);
    pthread_mutex_unlock(&host->mutex);
    for (int i = 0; i < host->pool_size; i++) {
        pthread_join(host->pool[i].thread, NULL);
        same = same && !host->pool[i].changed;
    }
    return same;
}

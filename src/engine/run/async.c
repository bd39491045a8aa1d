/* A mutex and a list of waiting threads, each with a condition of its own, so that a change wakes those alone that
 * waited for it. Process-wide and mutable, because the queue is. */
#include "engine/run/async.h"

#include "engine/run/profile.h"
#include "engine/run/relax.h"

#include <pthread.h>
#include <stddef.h>
#include <time.h>

/* The lock is held for some tens of ns: a few looks at it are cheaper than to sleep. */
enum { TRIES = 100, NANOSECONDS = 1000000000 };

typedef struct waiter {
    mw__async_ready *ready;
    const void *what;
    uint64_t value;
    bool over;
    pthread_cond_t wake;
    struct waiter *next;
} waiter;

static struct {
    pthread_mutex_t mutex;
    waiter *waiters;
} async = {.mutex = PTHREAD_MUTEX_INITIALIZER};

void mw__async_lock(void)
{
    for (int i = 0; i < TRIES; i++) {
        if (pthread_mutex_trylock(&async.mutex) == 0)
            return;
        mw__relax();
    }
    pthread_mutex_lock(&async.mutex);
}

void mw__async_unlock(void) { pthread_mutex_unlock(&async.mutex); }

void mw__async_changed(void)
{
    for (waiter *w = async.waiters; w != NULL; w = w->next) {
        if (w->over || !w->ready(w->what, w->value))
            continue;
        w->over = true;
        pthread_cond_signal(&w->wake);
    }
}

/* ---- waiting ---- */

/* macOS cannot wait on a clock of one's choice, but for a time; elsewhere it is the other way round. */
#if defined(__APPLE__)
static void make_condition(pthread_cond_t *condition) { pthread_cond_init(condition, NULL); }

static void sleep_for(pthread_cond_t *condition, uint64_t left)
{
    const struct timespec time = {.tv_sec = (time_t)(left / NANOSECONDS), .tv_nsec = (long)(left % NANOSECONDS)};
    pthread_cond_timedwait_relative_np(condition, &async.mutex, &time);
}
#else
static void make_condition(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

static void sleep_for(pthread_cond_t *condition, uint64_t left)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    left += (uint64_t)time.tv_nsec;
    time.tv_sec += (time_t)(left / NANOSECONDS);
    time.tv_nsec = (long)(left % NANOSECONDS);
    pthread_cond_timedwait(condition, &async.mutex, &time);
}
#endif

/* An hour at most, so that no sum overflows; the caller looks again. */
static bool sleep_until(pthread_cond_t *condition, uint64_t deadline)
{
    const uint64_t hour = (uint64_t)3600 * NANOSECONDS;
    if (deadline == MW__ASYNC_NEVER) {
        pthread_cond_wait(condition, &async.mutex);
        return true;
    }
    const uint64_t now = mw__profile_now();
    if (now >= deadline)
        return false;
    sleep_for(condition, deadline - now < hour ? deadline - now : hour);
    return true;
}

static void leave_queue(waiter *self)
{
    waiter **at = &async.waiters;
    while (*at != self)
        at = &(*at)->next;
    *at = self->next;
    pthread_cond_destroy(&self->wake);
}

bool mw__async_wait(mw__async_ready *ready, const void *what, uint64_t value, uint64_t deadline)
{
    if (ready(what, value))
        return true;
    waiter self = {.ready = ready, .what = what, .value = value, .next = async.waiters};
    make_condition(&self.wake);
    async.waiters = &self;
    while (!self.over && sleep_until(&self.wake, deadline))
        ;
    leave_queue(&self);
    return self.over;
}

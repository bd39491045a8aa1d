/* The worker team: created when a plan first wants it, one run at a time, asleep between runs. Workers spin for the
 * next job, 20 us or a quarter of what the last one took, and then wait on a condition; barriers spin and yield, so
 * that they also end on a machine with fewer processors than members. Process-wide and mutable, because threads are.
 * Knows nothing of plans. */
#include "engine/run/team.h"

#include "base/thread/fork.h"
#include "base/thread/thread.h"
#include "engine/run/relax.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum {
    LINE = 128, /* of the caches of Apple's processors; 64 elsewhere */
    WORKERS_MAX = 63,
    SPINS_PER_YIELD = 2000,
    SPIN_NANOSECONDS = 20000,
    NUDGE_NANOSECONDS = 1000000
};

/* A training loop takes its next batch between two steps, some 30 us after one of 0.3 ms: a worker that slept by then
 * would cost each step a wake-up. So a worker spins up to 200 us, at most a quarter of what it has worked. */
enum { SPIN_SHARE = 4, SPIN_NANOSECONDS_MAX = 200000 };

/* A worker that lost its processor comes back after some milliseconds, and all others wait at a barrier. If that was
 * two thirds of a run, the next ones leave the team alone, for twice as long each time. */
enum { LATE_NANOSECONDS = 50000, PAUSE_NANOSECONDS = 1000000, PAUSE_NANOSECONDS_MAX = 64000000 };

/* Of this thread, at barriers since its run began, beyond the first spins. */
static _Thread_local int64_t waited;

/* A job is published in one word, number << 8 | members, so that a worker which is not wanted reads nothing else. */
static struct {
    _Alignas(LINE) _Atomic(uint64_t) word;
    _Alignas(LINE) atomic_uint epoch; /* of the barrier */
    _Alignas(LINE) atomic_int arrived;
    atomic_bool busy; /* a run, or the end of the process, has the team */
    atomic_int workers, sleeping;
    atomic_bool short_handed;       /* a thread was refused, or there may be none: runs do not ask for more */
    _Atomic(int64_t) asked, nudged; /* when mw__team_awake was called, when it woke workers */
    _Atomic(int64_t) late_until;    /* 0 = nobody was late; written by who has the team, as the next */
    int64_t pause;
    mw__team_job *job;
    void *user;
    pthread_mutex_t mutex; /* sleeping and waking; starting and stopping */
    pthread_cond_t wake;
    mw__thread *threads[WORKERS_MAX];
} team = {.mutex = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

static const uint64_t stop_word = UINT64_MAX;

static int64_t nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void mw__team_barrier(int members)
{
    const unsigned epoch = atomic_load_explicit(&team.epoch, memory_order_acquire);
    if (atomic_fetch_add_explicit(&team.arrived, 1, memory_order_acq_rel) == members - 1) {
        atomic_store_explicit(&team.arrived, 0, memory_order_relaxed);
        atomic_store_explicit(&team.epoch, epoch + 1, memory_order_release);
        return;
    }
    for (int spins = 1; spins < SPINS_PER_YIELD; spins++) {
        if (atomic_load_explicit(&team.epoch, memory_order_acquire) != epoch)
            return;
        mw__relax();
    }
    const int64_t begin = nanoseconds();
    while (atomic_load_explicit(&team.epoch, memory_order_acquire) == epoch)
        sched_yield();
    waited += nanoseconds() - begin;
}

/* ---- workers ---- */

static uint64_t sleep_until_changed(uint64_t seen)
{
    pthread_mutex_lock(&team.mutex);
    atomic_fetch_add(&team.sleeping, 1);
    uint64_t word;
    while ((word = atomic_load(&team.word)) == seen)
        pthread_cond_wait(&team.wake, &team.mutex);
    atomic_fetch_sub(&team.sleeping, 1);
    pthread_mutex_unlock(&team.mutex);
    return word;
}

static int64_t spin_after(int64_t worked)
{
    const int64_t share = worked / SPIN_SHARE;
    return share < SPIN_NANOSECONDS ? SPIN_NANOSECONDS : share > SPIN_NANOSECONDS_MAX ? SPIN_NANOSECONDS_MAX : share;
}

/* `began`: when this worker began its last job; 0 = it had none. */
static uint64_t wait_for_job(uint64_t seen, int64_t began)
{
    const int64_t now = nanoseconds(), end = now + spin_after(began == 0 ? 0 : now - began);
    do {
        for (int i = 0; i < 64; i++) {
            const uint64_t word = atomic_load_explicit(&team.word, memory_order_acquire);
            if (word != seen)
                return word;
            mw__relax();
        }
    } while (nanoseconds() < end);
    return sleep_until_changed(seen);
}

typedef struct worker_start {
    int member;
    uint64_t seen;
} worker_start;

/* Filled under the mutex before its thread starts, and never changed after. */
static worker_start starts[WORKERS_MAX];

static void *work(void *argument)
{
    const worker_start *start = argument;
    uint64_t seen = start->seen;
    int64_t began = 0;
    while ((seen = wait_for_job(seen, began)) != stop_word) {
        const int members = (int)(seen & 0xff);
        began = 0;
        if (start->member >= members)
            continue;
        began = nanoseconds();
        team.job(team.user, start->member, members);
        mw__team_barrier(members);
    }
    return NULL;
}

/* In the child of a fork, whose threads do not exist: there is no team any more. */
static void forget_team(void)
{
    atomic_store(&team.workers, 0);
    atomic_store(&team.short_handed, true);
    atomic_store(&team.busy, true);
}

static void watch_forks(void) { mw__fork_watch(NULL, NULL, forget_team); }

static bool start_worker(int index, uint64_t seen)
{
    char name[32];
    snprintf(name, sizeof name, "mw team %d", index + 1);
    starts[index] = (worker_start){.member = index + 1, .seen = seen};
    team.threads[index] = mw__thread_start(name, work, &starts[index]);
    return team.threads[index] != NULL;
}

void mw__team_reserve(int members)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    if (atomic_load(&team.workers) >= members - 1)
        return;
    pthread_mutex_lock(&team.mutex);
    const uint64_t seen = atomic_load(&team.word);
    int count = atomic_load(&team.workers);
    /* a job that is published meanwhile does not want a thread that its word does not count */
    for (; count < members - 1 && count < WORKERS_MAX && seen != stop_word && start_worker(count, seen); count++)
        atomic_store(&team.workers, count + 1);
    atomic_store(&team.short_handed, count < members - 1);
    pthread_mutex_unlock(&team.mutex);
}

/* ---- runs ---- */

static bool take_team(void)
{
    bool free = false;
    return atomic_compare_exchange_strong_explicit(&team.busy, &free, true, memory_order_acquire, memory_order_relaxed);
}

static void publish(uint64_t word)
{
    atomic_store(&team.word, word);
    if (atomic_load(&team.sleeping) > 0) {
        pthread_mutex_lock(&team.mutex);
        pthread_cond_broadcast(&team.wake);
        pthread_mutex_unlock(&team.mutex);
    }
}

static uint64_t next_word(int members)
{
    const uint64_t number = (atomic_load_explicit(&team.word, memory_order_relaxed) >> 8) + 1;
    return number << 8 | (uint64_t)members;
}

bool mw__team_awake(void)
{
    if (atomic_load_explicit(&team.sleeping, memory_order_relaxed) == 0)
        return true;
    const int64_t now = nanoseconds();
    const int64_t since = now - atomic_exchange_explicit(&team.asked, now, memory_order_relaxed);
    if (since > SPIN_NANOSECONDS ||
        now - atomic_load_explicit(&team.nudged, memory_order_relaxed) < NUDGE_NANOSECONDS || !take_team())
        return false;
    atomic_store_explicit(&team.nudged, now, memory_order_relaxed);
    publish(next_word(1)); /* a job for the caller alone */
    atomic_store_explicit(&team.busy, false, memory_order_release);
    return false;
}

bool mw__team_late(void)
{
    const int64_t until = atomic_load_explicit(&team.late_until, memory_order_relaxed);
    return until != 0 && nanoseconds() < until;
}

static void judge_wait(int64_t began)
{
    const int64_t now = nanoseconds();
    if (waited < LATE_NANOSECONDS || 3 * waited < 2 * (now - began)) {
        team.pause /= 2;
        return;
    }
    team.pause = team.pause < PAUSE_NANOSECONDS           ? PAUSE_NANOSECONDS
                 : team.pause > PAUSE_NANOSECONDS_MAX / 2 ? PAUSE_NANOSECONDS_MAX
                                                          : 2 * team.pause;
    atomic_store_explicit(&team.late_until, now + team.pause, memory_order_relaxed);
}

/* Those who were reserved may have ended meanwhile. */
static void start_anew(int members)
{
    if (atomic_load_explicit(&team.workers, memory_order_relaxed) < members - 1 &&
        !atomic_load_explicit(&team.short_handed, memory_order_relaxed))
        mw__team_reserve(members);
}

bool mw__team_run(mw__team_job *job, void *user, int members)
{
    start_anew(members);
    if (!take_team())
        return false;
    const int available = atomic_load_explicit(&team.workers, memory_order_acquire) + 1;
    members = members < available ? members : available;
    if (members > 1) {
        team.job = job;
        team.user = user;
        const int64_t began = nanoseconds();
        waited = 0;
        publish(next_word(members));
        job(user, 0, members);
        mw__team_barrier(members);
        judge_wait(began);
    }
    atomic_store_explicit(&team.busy, false, memory_order_release);
    return members > 1;
}

/* ---- the end ---- */

/* With the team taken. Whoever reserves from now on finds the word and starts nothing. */
static int tell_to_stop(void)
{
    pthread_mutex_lock(&team.mutex);
    const int workers = atomic_load(&team.workers);
    atomic_store(&team.word, stop_word);
    pthread_cond_broadcast(&team.wake);
    pthread_mutex_unlock(&team.mutex);
    return workers;
}

static void join_workers(int workers)
{
    for (int i = 0; i < workers; i++)
        mw__thread_join(team.threads[i]);
}

static void start_over(uint64_t word)
{
    pthread_mutex_lock(&team.mutex);
    atomic_store(&team.workers, 0);
    atomic_store(&team.word, word);
    atomic_store(&team.short_handed, false); /* a run may have asked meanwhile */
    pthread_mutex_unlock(&team.mutex);
    atomic_store_explicit(&team.busy, false, memory_order_release);
}

void mw__team_end(void)
{
    atomic_store(&team.short_handed, false);
    if (atomic_load(&team.workers) == 0)
        return;
    while (!take_team())
        sched_yield();
    const uint64_t word = atomic_load(&team.word);
    join_workers(tell_to_stop());
    start_over(word);
}

/* When the library is unloaded or the process ends: no thread may be left in code that goes away. */
__attribute__((destructor)) static void stop_team(void)
{
    if (atomic_load(&team.workers) == 0)
        return;
    while (!take_team())
        sched_yield();
    join_workers(tell_to_stop());
}

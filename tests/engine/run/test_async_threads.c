/* Asynchronous submission from several threads at once, beside callers that execute, across fork, and at the end of a
 * process. Under ThreadSanitizer this is where races would be. */
#include "async_case.h"
#include "support/child.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 300 };

typedef struct client {
    pthread_t thread;
    async_case c;
    async_count count;
    void *own, *before; /* events: signaled by this client, and by the one before it */
    int submitted, executed;
    bool good;
} client;

static bool is_good(client *k, e5rt_error_code code)
{
    k->good = k->good && code == 0;
    return k->good;
}

/* Submits, waits and executes in turns, and reads the events of a neighbor. */
static void *run_client(void *user)
{
    client *k = user;
    uint64_t value;
    for (int i = 0; i < ROUNDS && k->good; i++) {
        for (int j = 0; j <= i % 7; j++, k->submitted++)
            is_good(k, j % 2 == 0 ? e5rt_execution_stream_async_submit(k->c.run.stream)
                                  : e5rt_mw_execution_stream_submit_async_with_timeout(k->c.run.stream, async_done,
                                                                                       &k->count, UINT64_MAX / 2));
        is_good(k, e5rt_async_event_get_last_signaled_value(k->before, &value));
        is_good(k, e5rt_async_event_get_active_future_value(k->before, &value));
        if (i % 3 == 0)
            is_good(k, e5rt_async_event_sync_wait(k->own));
        if (i % 5 == 0 && is_good(k, e5rt_execution_stream_execute_sync(k->c.run.stream)))
            k->executed++;
    }
    is_good(k, e5rt_async_event_sync_wait(k->own));
    return NULL;
}

static bool open_client(client *k)
{
    *k = (client){.own = async_event("own"), .good = true};
    if (!async_open(&k->c, E5RT_CPU, true))
        return false;
    GOOD(e5rt_execution_stream_operation_bind_completion_event(k->c.run.operation, k->own));
    return run_encode(&k->c.run);
}

static void test_threads_submit_and_execute_at_once(void)
{
    static client clients[THREADS];
    for (int i = 0; i < THREADS; i++)
        REQUIRE(open_client(&clients[i]));
    for (int i = 0; i < THREADS; i++) {
        clients[i].before = clients[(i + THREADS - 1) % THREADS].own;
        REQUIRE(pthread_create(&clients[i].thread, NULL, run_client, &clients[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(clients[i].thread, NULL);
    for (int i = 0; i < THREADS; i++) {
        client *k = &clients[i];
        CHECK(k->good);
        CHECK_INT(async_value(k->own), k->submitted);
        CHECK_NEAR(*k->c.x, k->submitted + k->executed, 0);
        GOOD(e5rt_async_event_release(&k->own));
        async_close(&k->c);
    }
}

/* Each submission waits for as many of the link before, or for more if that was faster. */
static void *run_link(void *user)
{
    client *k = user;
    for (uint64_t i = 1; i <= ROUNDS && k->good; i++) {
        const e5rt_error_code code = e5rt_async_event_set_active_future_value(k->before, i);
        k->good = code == 0 || code == E5RT_INVALID_ARGUMENT; /* it is beyond that already */
        is_good(k, e5rt_execution_stream_async_submit(k->c.run.stream));
    }
    is_good(k, e5rt_async_event_sync_wait(k->own));
    return NULL;
}

static void test_events_order_the_streams_of_threads(void)
{
    static client links[THREADS];
    void *events[THREADS + 1];
    for (int i = 0; i <= THREADS; i++)
        events[i] = async_event("link");
    for (int i = 0; i < THREADS; i++) {
        links[i] = (client){.own = events[i + 1], .before = events[i], .good = true};
        REQUIRE(async_open(&links[i].c, E5RT_CPU, true));
        GOOD(e5rt_execution_stream_operation_bind_completion_event(links[i].c.run.operation, events[i + 1]));
        GOOD(e5rt_execution_stream_operation_bind_dependent_events(links[i].c.run.operation, &events[i], 1));
        REQUIRE(run_encode(&links[i].c.run));
        REQUIRE(pthread_create(&links[i].thread, NULL, run_link, &links[i]) == 0);
    }
    for (uint64_t i = 1; i <= ROUNDS; i++)
        GOOD(e5rt_async_event_signal(events[0], i));
    for (int i = 0; i < THREADS; i++) {
        pthread_join(links[i].thread, NULL);
        CHECK(links[i].good);
        CHECK(async_value(events[i + 1]) >= ROUNDS); /* who waits may set a value that the next completion then takes */
        CHECK_NEAR(*links[i].c.x, ROUNDS, 0);
        async_close(&links[i].c);
    }
    for (int i = 0; i <= THREADS; i++)
        GOOD(e5rt_async_event_release(&events[i]));
}

/* Waiting threads are woken by a signal of another. */
typedef struct waiter {
    pthread_t thread;
    void *event;
    uint64_t value;
    e5rt_error_code code;
} waiter;

static void *wait_for_value(void *user)
{
    waiter *w = user;
    w->code = e5rt_mw_async_event_wait(w->event, w->value, UINT64_MAX);
    return NULL;
}

static void test_a_signal_wakes_those_that_wait(void)
{
    waiter waiters[THREADS];
    void *event = async_event("e");
    for (int i = 0; i < THREADS; i++) {
        waiters[i] = (waiter){.event = event, .value = (uint64_t)i + 1, .code = -1};
        REQUIRE(pthread_create(&waiters[i].thread, NULL, wait_for_value, &waiters[i]) == 0);
    }
    for (uint64_t i = 1; i <= THREADS; i++) {
        GOOD(e5rt_async_event_signal(event, i));
        pthread_join(waiters[i - 1].thread, NULL);
        CHECK_INT(waiters[i - 1].code, 0);
    }
    GOOD(e5rt_async_event_release(&event));
}

/* ---- processes ---- */

/* The queue's thread may be inside malloc when its process forks. The C library mends its own heap in the child, the
 * sanitizers' they leave locked (clang 14): the child must not look for leaks when it ends. They ask this function. */
static bool forked_in_flight;
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) { return forked_in_flight; }

/* In a child of the tests: it forks again once the queue is at work. */
static void fork_in_flight(void *unused)
{
    client k;
    (void)unused;
    REQUIRE(open_client(&k));
    for (int i = 0; i < 100; i++)
        GOOD(e5rt_execution_stream_async_submit(k.c.run.stream));
    const pid_t child = fork();
    if (child == 0) {
        uint64_t value;
        forked_in_flight = true;
        alarm(20); /* a hang ends as a signal */
        const bool refused = e5rt_execution_stream_async_submit(k.c.run.stream) != 0 &&
                             e5rt_execution_stream_execute_sync(k.c.run.stream) != 0 &&
                             e5rt_async_event_sync_wait(k.own) != 0 && e5rt_async_event_signal(k.own, 500) != 0 &&
                             e5rt_async_event_get_last_signaled_value(k.own, &value) != 0 &&
                             e5rt_execution_stream_release(&k.c.run.stream) != 0 &&
                             strstr(e5rt_get_last_error_message(), "forked") != NULL;
        exit(refused ? 0 : 1); /* through what runs at the end of a process */
    }
    int status = -1;
    REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
    CHECK_INT(status, 0);
    GOOD(e5rt_async_event_sync_wait(k.own));
    CHECK_NEAR(*k.c.x, 100, 0);
    GOOD(e5rt_async_event_release(&k.own));
    async_close(&k.c);
}

/* A process that ends with everything in flight joins no thread, which ThreadSanitizer takes for a leak of one that is
 * about to end by itself. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void) { return "report_thread_leaks=0"; }

static void exit_in_flight(void *unused)
{
    client k;
    void *go = async_event("go");
    (void)unused;
    REQUIRE(open_client(&k));
    async_case blocked;
    REQUIRE(async_open(&blocked, E5RT_CPU, true));
    GOOD(e5rt_execution_stream_operation_bind_dependent_events(blocked.run.operation, &go, 1));
    REQUIRE(run_encode(&blocked.run));
    GOOD(e5rt_async_event_set_active_future_value(go, 1));
    GOOD(e5rt_execution_stream_async_submit(blocked.run.stream));
    for (int i = 0; i < 120; i++)
        GOOD(e5rt_mw_execution_stream_submit_async(k.c.run.stream, async_done, &k.count));
    exit(check_global.failures_here); /* with everything in flight */
}

static void leave(void *user, e5rt_error_code status)
{
    (void)user;
    exit((int)status);
}

static void exit_in_a_completion(void *unused)
{
    static client k;
    (void)unused;
    REQUIRE(open_client(&k));
    GOOD(e5rt_mw_execution_stream_submit_async(k.c.run.stream, leave, NULL));
    for (;;)
        pause();
}

static void test_processes_end_while_work_is_in_flight(void)
{
    child_check(exit_in_flight, NULL);
    child_check(exit_in_a_completion, NULL);
}

static void test_a_child_of_fork_gets_errors_and_the_parent_goes_on(void) { child_check(fork_in_flight, NULL); }

int main(void)
{
    RUN(test_processes_end_while_work_is_in_flight); /* first: children of a process that has not used the engine */
    RUN(test_a_child_of_fork_gets_errors_and_the_parent_goes_on);
    RUN(test_threads_submit_and_execute_at_once);
    RUN(test_events_order_the_streams_of_threads);
    RUN(test_a_signal_wakes_those_that_wait);
    return check_finish();
}

/* Hooks for threads at the e5rt surface: what refuses to change them, and that programs go on with the new ones. */
#include "engine/run/async_case.h"

#include <pthread.h>
#include <stdlib.h>

static atomic_int started, joined;

static bool start(void *user, const char *name, void *(*run)(void *argument), void *argument, void **out_thread)
{
    pthread_t *thread = malloc(sizeof *thread);
    (void)user;
    (void)name;
    if (thread == NULL || pthread_create(thread, NULL, run, argument) != 0) {
        free(thread);
        return false;
    }
    *out_thread = thread;
    atomic_fetch_add(&started, 1);
    return true;
}

static void join(void *user, void *thread)
{
    (void)user;
    pthread_join(*(pthread_t *)thread, NULL);
    free(thread);
    atomic_fetch_add(&joined, 1);
}

static void test_one_function_is_refused(void)
{
    REFUSED(e5rt_mw_set_thread_hooks(start, NULL, NULL), E5RT_INVALID_ARGUMENT, "`join`");
    REFUSED(e5rt_mw_set_thread_hooks(NULL, join, NULL), E5RT_INVALID_ARGUMENT, "`start`");
    GOOD(e5rt_mw_set_thread_hooks(NULL, NULL, &started));
    CHECK_STR(e5rt_get_last_error_message(), "");
}

/* ---- requests in flight ---- */

static void test_a_request_that_does_not_end_keeps_the_hooks(void)
{
    async_case c;
    void *go = async_event("go");
    const int before = atomic_load(&started);
    GOOD(e5rt_mw_set_thread_hooks(start, join, NULL));
    REQUIRE(async_open(&c, E5RT_CPU, true));
    GOOD(e5rt_execution_stream_operation_bind_dependent_events(c.run.operation, &go, 1));
    REQUIRE(run_encode(&c.run));
    GOOD(e5rt_async_event_set_active_future_value(go, 1));
    GOOD(e5rt_execution_stream_async_submit(c.run.stream));
    REFUSED(e5rt_mw_set_thread_hooks(NULL, NULL, NULL), E5RT_INVALID_OPERATION, "in flight");
    CHECK(atomic_load(&started) == before + 1 && atomic_load(&joined) == before); /* it goes on */
    GOOD(e5rt_async_event_signal(go, 1));
    CHECK(async_wait_stream(c.run.stream));
    CHECK_NEAR(*c.x, 1.0, 0);
    GOOD(e5rt_mw_set_thread_hooks(NULL, NULL, NULL)); /* waits for the last of it */
    CHECK_INT(atomic_load(&joined), before + 1);
    async_close(&c);
    GOOD(e5rt_async_event_release(&go));
}

/* Each change finds the last request just ended, or not quite. */
static void test_hooks_change_between_requests(void)
{
    async_case c;
    REQUIRE(async_open(&c, E5RT_CPU, true));
    REQUIRE(run_encode(&c.run));
    for (int i = 0; i < 200; i++) {
        const int before = atomic_load(&started);
        const bool hooked = i % 2 == 0;
        GOOD(e5rt_mw_set_thread_hooks(hooked ? start : NULL, hooked ? join : NULL, NULL));
        CHECK_INT(atomic_load(&joined), before);
        for (int k = 0; k < 3; k++)
            GOOD(e5rt_execution_stream_async_submit(c.run.stream));
        if (i % 4 < 2)
            CHECK(async_wait_stream(c.run.stream));
        CHECK_INT(atomic_load(&started), before + hooked);
    }
    CHECK(async_wait_stream(c.run.stream));
    CHECK_NEAR(*c.x, 600.0, 0);
    GOOD(e5rt_mw_set_thread_hooks(NULL, NULL, NULL));
    async_close(&c);
}

typedef struct attempt {
    e5rt_error_code code;
    atomic_int calls;
} attempt;

static void set_in_completion(void *user, e5rt_error_code status)
{
    attempt *a = user;
    (void)status;
    a->code = e5rt_mw_set_thread_hooks(start, join, NULL);
    atomic_fetch_add(&a->calls, 1);
}

static void test_a_completion_cannot_set_hooks(void)
{
    async_case c;
    attempt a = {.code = E5RT_OK};
    REQUIRE(async_open(&c, E5RT_CPU, true));
    REQUIRE(run_encode(&c.run));
    GOOD(e5rt_mw_execution_stream_submit_async(c.run.stream, set_in_completion, &a));
    CHECK(async_wait_stream(c.run.stream));
    for (int i = 0; i < 1000000 && atomic_load(&a.calls) == 0; i++)
        GOOD(e5rt_mw_execution_stream_get_last_completed_request_id(c.run.stream, &(uint64_t){0}));
    CHECK_INT(a.code, E5RT_INVALID_OPERATION);
    async_close(&c);
}

int main(void)
{
    RUN(test_one_function_is_refused);
    RUN(test_a_request_that_does_not_end_keeps_the_hooks);
    RUN(test_hooks_change_between_requests);
    RUN(test_a_completion_cannot_set_hooks);
    CHECK(atomic_load(&started) == atomic_load(&joined));
    return check_finish();
}

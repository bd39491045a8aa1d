/* Streams and events under asynchronous submission: each rule of e5rt.h, and what is refused. */
#include "async_case.h"
#include "support/failing.h"

#include <pthread.h>
#include <time.h>

static const uint64_t ms = 1000000, forever = UINT64_MAX;

static uint64_t future_of(void *event)
{
    uint64_t value = UINT64_MAX;
    GOOD(e5rt_async_event_get_active_future_value(event, &value));
    return value;
}

static bool encode(async_case *c, void *completion, void *dependent)
{
    if (completion != NULL)
        GOOD(e5rt_execution_stream_operation_bind_completion_event(c->run.operation, completion));
    if (dependent != NULL)
        GOOD(e5rt_execution_stream_operation_bind_dependent_events(c->run.operation, &dependent, 1));
    return run_encode(&c->run);
}

static void drop(void *event) { GOOD(e5rt_async_event_release(&event)); }

/* ---- events ---- */

static void test_an_event_has_a_name_and_an_initial_value(void)
{
    void *event = NULL;
    const char *name = NULL;
    GOOD(e5rt_async_event_create(&event, "start", 7));
    CHECK_INT(async_value(event), 7);
    CHECK_INT(future_of(event), 7);
    GOOD(e5rt_async_event_get_name(event, &name));
    CHECK_STR(name, "start");
    REFUSED(e5rt_async_event_get_name(event, NULL), E5RT_INVALID_ARGUMENT, "out pointer is NULL");
    REFUSED(e5rt_async_event_get_active_future_value(event, NULL), E5RT_INVALID_ARGUMENT, "out pointer is NULL");
    drop(event);
}

static void test_values_of_an_event_only_grow(void)
{
    void *event = async_event("e");
    GOOD(e5rt_async_event_signal(event, 5));
    GOOD(e5rt_async_event_signal(event, 5));
    REFUSED(e5rt_async_event_signal(event, 4), E5RT_INVALID_ARGUMENT, "cannot go back to 4");
    CHECK_INT(async_value(event), 5);
    CHECK_INT(future_of(event), 5);
    GOOD(e5rt_async_event_set_active_future_value(event, 9));
    REFUSED(e5rt_async_event_set_active_future_value(event, 8), E5RT_INVALID_ARGUMENT, "its active future value is 9");
    CHECK_INT(async_value(event), 5);
    GOOD(e5rt_async_event_signal(event, (uint64_t)INT64_MAX));
    REFUSED(e5rt_async_event_signal(event, (uint64_t)INT64_MAX + 1), E5RT_INVALID_ARGUMENT, "largest value");
    REFUSED(e5rt_async_event_set_active_future_value(event, forever), E5RT_INVALID_ARGUMENT, "largest value");
    drop(event);
}

static void test_waiting_for_a_value(void)
{
    void *event = async_event("e");
    GOOD(e5rt_async_event_sync_wait(event)); /* nothing was submitted to complete it */
    REFUSED(e5rt_mw_async_event_wait(event, 1, 0), E5RT_MW_TIMED_OUT, "event \"e\" is at 0, not 1");
    REFUSED(e5rt_mw_async_event_wait(event, 1, 2 * ms), E5RT_MW_TIMED_OUT, "when the time is over");
    GOOD(e5rt_async_event_signal(event, 3));
    GOOD(e5rt_mw_async_event_wait(event, 1, 0));
    GOOD(e5rt_mw_async_event_wait(event, 3, forever));
    drop(event);
    REFUSED(e5rt_async_event_sync_wait(event), E5RT_INVALID_ARGUMENT, "not a live handle");
}

static void test_events_of_an_operation_are_given_back(void)
{
    async_case c;
    void *one = async_event("one"), *two = async_event("two"), *got[2] = {0};
    uint64_t count = 9;
    const char *name = NULL;
    REQUIRE(async_open(&c, E5RT_CPU, false));
    void *const operation = c.run.operation;
    GOOD(e5rt_execution_stream_operation_get_dependent_event_count(operation, &count));
    CHECK_INT(count, 0);
    REFUSED(e5rt_execution_stream_operation_retain_completion_event(operation, got), E5RT_INVALID_OPERATION,
            "has no completion event");
    CHECK(got[0] == NULL);
    GOOD(e5rt_execution_stream_operation_bind_completion_event(operation, two));
    GOOD(e5rt_execution_stream_operation_bind_dependent_events(operation, (void *[]){one, two}, 2));
    REFUSED(e5rt_execution_stream_operation_bind_dependent_events(operation, (void *[]){one, operation}, 2),
            E5RT_INVALID_ARGUMENT, "event is not a live handle");
    REFUSED(e5rt_execution_stream_operation_bind_dependent_events(operation, NULL, 1), E5RT_INVALID_ARGUMENT,
            "events is NULL");
    REFUSED(e5rt_execution_stream_operation_bind_dependent_events(operation, &one, forever), E5RT_INVALID_ARGUMENT,
            "at most");
    GOOD(e5rt_execution_stream_operation_get_dependent_event_count(operation, &count));
    REQUIRE(count == 2);
    drop(one);
    GOOD(e5rt_execution_stream_operation_retain_dependent_events(operation, got));
    GOOD(e5rt_async_event_get_name(got[0], &name));
    CHECK_STR(name, "one");
    GOOD(e5rt_async_event_signal(got[1], 4));
    CHECK_INT(async_value(two), 4);
    drop(got[0]), drop(got[1]);
    GOOD(e5rt_execution_stream_operation_retain_completion_event(operation, got));
    CHECK_INT(async_value(got[0]), 4);
    drop(got[0]), drop(two);
    GOOD(e5rt_execution_stream_operation_bind_dependent_events(operation, NULL, 0));
    GOOD(e5rt_execution_stream_operation_get_dependent_event_count(operation, &count));
    CHECK_INT(count, 0);
    async_close(&c);
}

/* ---- submitting ---- */

static void test_a_submission_runs_and_signals(void)
{
    async_case c;
    async_count count = {0};
    void *event = async_event("done");
    REQUIRE(async_open(&c, E5RT_CPU, true) && encode(&c, event, NULL));
    for (int i = 1; i <= 5; i++) {
        GOOD(e5rt_mw_execution_stream_submit_async(c.run.stream, async_done, &count));
        CHECK_INT(future_of(event), i);
        GOOD(e5rt_async_event_sync_wait(event));
        CHECK_INT(async_value(event), i);
        CHECK_NEAR(*c.y, i, 0);
    }
    CHECK(async_wait_calls(&count, 5));
    CHECK_INT(count.last_status, 0);
    GOOD(e5rt_execution_stream_execute_sync(c.run.stream));
    CHECK_INT(async_value(event), 5);
    CHECK_NEAR(*c.y, 6, 0);
    drop(event);
    async_close(&c);
}

static void test_a_completion_signals_the_active_future_value(void)
{
    async_case c;
    void *event = async_event("done");
    REQUIRE(async_open(&c, E5RT_CPU, true) && encode(&c, event, NULL));
    GOOD(e5rt_async_event_set_active_future_value(event, 40));
    GOOD(e5rt_execution_stream_async_submit(c.run.stream));
    GOOD(e5rt_async_event_sync_wait(event));
    CHECK_INT(async_value(event), 40);
    GOOD(e5rt_execution_stream_async_submit(c.run.stream));
    GOOD(e5rt_async_event_sync_wait(event));
    CHECK_INT(async_value(event), 41);
    GOOD(e5rt_async_event_signal(event, 100));
    GOOD(e5rt_execution_stream_async_submit(c.run.stream));
    GOOD(e5rt_mw_async_event_wait(event, 101, forever));
    drop(event);
    async_close(&c);
}

static void test_an_operation_waits_for_the_future_value_of_its_events(void)
{
    async_case c;
    void *go = async_event("go"), *done = async_event("done");
    REQUIRE(async_open(&c, E5RT_CPU, true) && encode(&c, done, go));
    GOOD(e5rt_async_event_set_active_future_value(go, 2));
    GOOD(e5rt_execution_stream_async_submit(c.run.stream));
    GOOD(e5rt_async_event_signal(go, 1));
    REFUSED(e5rt_mw_async_event_wait(done, 1, 2 * ms), E5RT_MW_TIMED_OUT, "is at 0");
    CHECK_NEAR(*c.y, 0, 0);
    *c.x = 10; /* the input may be written until it starts */
    GOOD(e5rt_async_event_signal(go, 2));
    GOOD(e5rt_async_event_sync_wait(done));
    CHECK_NEAR(*c.y, 11, 0);
    GOOD(e5rt_execution_stream_execute_sync(c.run.stream)); /* waits for no event */
    GOOD(e5rt_async_event_set_active_future_value(go, 3));
    GOOD(e5rt_execution_stream_execute_sync(c.run.stream));
    CHECK_NEAR(*c.y, 13, 0);
    drop(go), drop(done);
    async_close(&c);
}

/* A stream of two operations, and another whose operation waits for the first of them. */
static void test_chains_within_and_between_streams(void)
{
    async_case a, b, c;
    void *first = async_event("first"), *second = async_event("second"), *third = async_event("third");
    void *const gate = async_event("gate");
    REQUIRE(async_open(&a, E5RT_CPU, true) && async_open(&b, E5RT_CPU, true) && async_open(&c, E5RT_CPU, true));
    REQUIRE(encode(&a, first, gate));
    GOOD(e5rt_execution_stream_operation_bind_completion_event(b.run.operation, second));
    GOOD(e5rt_execution_stream_operation_bind_dependent_events(b.run.operation, &first, 1));
    GOOD(e5rt_execution_stream_encode_operation(a.run.stream, b.run.operation));
    REQUIRE(encode(&c, third, second));
    for (uint64_t i = 1; i <= 3; i++) {
        GOOD(e5rt_async_event_set_active_future_value(gate, i));
        GOOD(e5rt_execution_stream_async_submit(a.run.stream));
        GOOD(e5rt_execution_stream_async_submit(c.run.stream));
        CHECK_INT(e5rt_mw_async_event_wait(third, i, ms), E5RT_MW_TIMED_OUT);
        GOOD(e5rt_async_event_signal(gate, i));
        GOOD(e5rt_async_event_sync_wait(third));
        CHECK_INT(async_value(first), i);
        CHECK_INT(async_value(second), i);
        CHECK_NEAR(*c.y, (double)i, 0);
    }
    drop(first), drop(second), drop(third), drop(gate);
    async_close(&c);
    async_close(&b);
    async_close(&a);
}

static void test_execute_runs_after_what_is_in_flight(void)
{
    async_case c;
    REQUIRE(async_open(&c, E5RT_CPU, true) && encode(&c, NULL, NULL));
    for (int round = 1; round <= 50; round++) {
        for (int i = 0; i < 20; i++)
            GOOD(e5rt_execution_stream_async_submit(c.run.stream));
        GOOD(e5rt_execution_stream_execute_sync(c.run.stream));
        CHECK_NEAR(*c.y, 21 * round, 0);
    }
    async_close(&c);
}

static void test_requests_and_streams_have_numbers(void)
{
    async_case a, b;
    uint64_t id_a = 0, id_b = 0, first = 9, second = 0, done = 9, before[3], after[3];
    REQUIRE(async_open(&a, E5RT_CPU, true) && async_open(&b, E5RT_CPU, true) && encode(&a, NULL, NULL));
    GOOD(e5rt_execution_stream_get_stream_id(a.run.stream, &id_a));
    GOOD(e5rt_execution_stream_get_stream_id(b.run.stream, &id_b));
    CHECK(id_a > 0 && id_b > 0 && id_a != id_b);
    GOOD(e5rt_execution_stream_get_internal_async_compute_request_id_for_last_submit(a.run.stream, &first));
    GOOD(e5rt_mw_execution_stream_get_last_completed_request_id(a.run.stream, &done));
    CHECK(first == 0 && done == 0);
    GOOD(e5rt_mw_async_get_counts(&before[0], &before[1], &before[2]));
    GOOD(e5rt_execution_stream_async_submit(a.run.stream));
    GOOD(e5rt_execution_stream_get_internal_async_compute_request_id_for_last_submit(a.run.stream, &first));
    GOOD(e5rt_execution_stream_async_submit(a.run.stream));
    GOOD(e5rt_execution_stream_get_internal_async_compute_request_id_for_last_submit(a.run.stream, &second));
    CHECK(second == first + 1);
    CHECK(async_wait_stream(a.run.stream));
    GOOD(e5rt_mw_async_get_counts(&after[0], &after[1], &after[2]));
    CHECK(after[0] == before[0] + 2 && after[1] == before[1] + 2 && after[2] == before[2]);
    REFUSED(e5rt_execution_stream_get_stream_id(a.run.stream, NULL), E5RT_INVALID_ARGUMENT, "out pointer is NULL");
    REFUSED(e5rt_mw_async_get_counts(&after[0], NULL, NULL), E5RT_INVALID_ARGUMENT, "out pointer is NULL");
    async_close(&b);
    async_close(&a);
}

static void test_submitting_is_refused(void)
{
    async_case c;
    async_count count = {0};
    REQUIRE(async_open(&c, E5RT_CPU, true));
    void *const s = c.run.stream;
    REFUSED(e5rt_execution_stream_async_submit(s), E5RT_INVALID_OPERATION, "no operation is encoded");
    REFUSED(e5rt_execution_stream_submit_async(s, NULL), E5RT_INVALID_ARGUMENT, "completion block is NULL");
    REFUSED(e5rt_execution_stream_submit_async_with_timeout(s, NULL, ms), E5RT_INVALID_ARGUMENT, "block is NULL");
    REFUSED(e5rt_mw_execution_stream_submit_async(s, NULL, NULL), E5RT_INVALID_ARGUMENT, "completion is NULL");
    REFUSED(e5rt_execution_stream_async_submit(c.run.operation), E5RT_INVALID_ARGUMENT, "not a live handle");
    REFUSED(e5rt_execution_stream_submit_async(NULL, &count), E5RT_INVALID_ARGUMENT, "stream is NULL");
    REQUIRE(encode(&c, NULL, NULL));
    REFUSED(e5rt_mw_execution_stream_submit_async_with_timeout(s, async_done, &count, 0), E5RT_INVALID_ARGUMENT,
            "the timeout is 0 ns");
    CHECK_INT(count.calls, 0);
    async_close(&c);
}

/* Each allocation of a first submission fails once: nothing is submitted, promised or kept then. */
static void test_a_submission_without_memory_changes_nothing(void)
{
    async_case c;
    async_count count = {0};
    void *done = async_event("done");
    REQUIRE(async_open(&c, E5RT_CPU, true));
    failing_allocator failing = {.fail_at = -1};
    const mw_allocator allocator = failing_allocator_of(&failing);
    GOOD(e5rt_execution_stream_release(&c.run.stream));
    GOOD(e5rt_mw_set_allocator(allocator.resize, allocator.user));
    GOOD(e5rt_execution_stream_create(&c.run.stream));
    REQUIRE(encode(&c, done, NULL));
    long refused = 0;
    e5rt_error_code code = -1;
    while (code != 0 && refused < 10) {
        failing.fail_at = failing.requests + refused;
        failing.failed = false;
        code = e5rt_mw_execution_stream_submit_async(c.run.stream, async_done, &count);
        if (code == 0)
            break;
        CHECK_INT(code, E5RT_ALLOCATION_FAILURE);
        CHECK(failing.failed && count.calls == 0 && future_of(done) == 0);
        refused++;
    }
    failing.fail_at = -1;
    CHECK(refused > 0);
    GOOD(e5rt_async_event_sync_wait(done));
    CHECK(async_wait_calls(&count, 1));
    GOOD(e5rt_execution_stream_release(&c.run.stream));
    CHECK_INT(failing.live, 0);
    GOOD(e5rt_mw_set_allocator(NULL, NULL));
    drop(done);
    async_close(&c);
}

/* ---- in flight ---- */

static void test_a_stream_in_flight_is_not_changed(void)
{
    async_case c, other;
    void *go = async_event("go"), *plan = NULL, *options = NULL;
    REQUIRE(async_open(&c, E5RT_CPU, true) && async_open(&other, E5RT_CPU, true) && encode(&c, NULL, go));
    GOOD(e5rt_execution_stream_config_options_create(&options));
    GOOD(e5rt_async_event_set_active_future_value(go, 1));
    GOOD(e5rt_execution_stream_async_submit(c.run.stream));
    REFUSED(e5rt_execution_stream_reset(c.run.stream), E5RT_INVALID_OPERATION, "work in flight, and cannot reset");
    REFUSED(e5rt_execution_stream_encode_operation(c.run.stream, other.run.operation), E5RT_INVALID_OPERATION,
            "cannot take another operation");
    REFUSED(e5rt_execution_stream_set_config_options(c.run.stream, options), E5RT_INVALID_OPERATION,
            "cannot be configured");
    REFUSED(e5rt_execution_stream_reset_config_options(c.run.stream), E5RT_INVALID_OPERATION, "cannot be configured");
    REFUSED(e5rt_execution_stream_operation_prepare_op_for_encode(c.run.operation), E5RT_INVALID_OPERATION,
            "reset the stream first");
    REFUSED(e5rt_mw_plan_create(&plan, c.run.operation), E5RT_INVALID_OPERATION, "is in flight");
    REFUSED(e5rt_mw_execution_stream_operation_set_profiling(c.run.operation, 4), E5RT_INVALID_OPERATION,
            "is in flight");
    GOOD(e5rt_async_event_signal(go, 1));
    CHECK(async_wait_stream(c.run.stream));
    GOOD(e5rt_execution_stream_set_config_options(c.run.stream, options));
    GOOD(e5rt_execution_stream_reset_config_options(c.run.stream));
    GOOD(e5rt_execution_stream_encode_operation(c.run.stream, other.run.operation));
    GOOD(e5rt_execution_stream_reset(c.run.stream));
    GOOD(e5rt_execution_stream_operation_prepare_op_for_encode(c.run.operation));
    GOOD(e5rt_execution_stream_config_options_release(&options));
    drop(go);
    async_close(&other);
    async_close(&c);
}

/* Handles go before their work does: what is in flight keeps what it needs. */
static void test_handles_may_be_released_while_work_is_in_flight(void)
{
    async_case c;
    void *go = async_event("go"), *done = async_event("done");
    REQUIRE(async_open(&c, E5RT_CPU, true) && encode(&c, done, go));
    GOOD(e5rt_async_event_set_active_future_value(go, 1));
    GOOD(e5rt_execution_stream_async_submit(c.run.stream));
    GOOD(e5rt_execution_stream_operation_release(&c.run.operation));
    GOOD(e5rt_async_event_signal(go, 1));
    drop(go);
    GOOD(e5rt_async_event_sync_wait(done));
    CHECK_NEAR(*c.y, 1, 0);
    drop(done);
    async_close(&c);
}

static void test_release_waits_for_what_can_run_and_gives_up_the_rest(void)
{
    async_case c, d;
    async_count good = {0}, bad = {0};
    void *go = async_event("go"), *done = async_event("done"), *then = async_event("then");
    REQUIRE(async_open(&c, E5RT_CPU, true) && encode(&c, done, go));
    REQUIRE(async_open(&d, E5RT_CPU, true) && encode(&d, then, done));
    for (int i = 0; i < 100; i++)
        GOOD(e5rt_mw_execution_stream_submit_async(c.run.stream, async_done, &good));
    GOOD(e5rt_async_event_set_active_future_value(go, 1));
    for (int i = 0; i < 20; i++)
        GOOD(e5rt_mw_execution_stream_submit_async(c.run.stream, async_done, &bad));
    GOOD(e5rt_execution_stream_async_submit(d.run.stream)); /* waits for the last of them */
    GOOD(e5rt_execution_stream_release(&c.run.stream));
    CHECK_INT(good.calls, 100);
    CHECK_INT(bad.calls, 20);
    CHECK_INT(good.last_status, 0);
    CHECK_INT(bad.last_status, E5RT_INVALID_OPERATION);
    CHECK_INT(async_value(done), 100);
    REFUSED(e5rt_async_event_sync_wait(done), E5RT_INVALID_OPERATION, "given up, as its stream was released");
    CHECK(async_wait_stream(d.run.stream));
    REFUSED(e5rt_async_event_sync_wait(then), E5RT_INVALID_OPERATION, "an event that it waits for was given up");
    CHECK_NEAR(*d.y, 0, 0);
    drop(go), drop(done), drop(then);
    async_close(&d);
    async_close(&c);
}

/* ---- timeouts ---- */

static void test_a_timeout_gives_up_what_has_not_started(void)
{
    async_case c;
    async_count late = {0}, later = {0};
    void *go = async_event("go"), *done = async_event("done");
    REQUIRE(async_open(&c, E5RT_CPU, true) && encode(&c, done, go));
    GOOD(e5rt_async_event_set_active_future_value(go, 1));
    GOOD(e5rt_mw_execution_stream_submit_async(c.run.stream, async_done, &later));
    GOOD(e5rt_mw_execution_stream_submit_async_with_timeout(c.run.stream, async_done, &late, 2 * ms));
    CHECK(async_wait_calls(&late, 1)); /* though it stands behind one that waits */
    CHECK_INT(late.last_status, E5RT_MW_TIMED_OUT);
    CHECK_INT(later.calls, 0);
    REFUSED(e5rt_async_event_sync_wait(done), E5RT_INVALID_OPERATION,
            "stays at 0: the submission that was to signal 2");
    GOOD(e5rt_async_event_signal(go, 1));
    CHECK(async_wait_calls(&later, 1));
    GOOD(e5rt_mw_execution_stream_submit_async_with_timeout(c.run.stream, async_done, &late, 300000 * ms));
    GOOD(e5rt_async_event_sync_wait(done));
    CHECK_INT(async_value(done), 3);
    CHECK_NEAR(*c.y, 2, 0);
    CHECK(async_wait_calls(&late, 2));
    CHECK_INT(late.last_status, 0);
    drop(go), drop(done);
    async_close(&c);
}

static void keep_message(void *text, e5rt_error_code status)
{
    snprintf(text, 200, "%lld %s", (long long)status, e5rt_get_last_error_message());
}

static void test_a_completion_finds_the_message(void)
{
    async_case c;
    char text[200] = "";
    void *go = async_event("go");
    REQUIRE(async_open(&c, E5RT_CPU, true) && encode(&c, NULL, go));
    GOOD(e5rt_async_event_set_active_future_value(go, 1));
    GOOD(e5rt_mw_execution_stream_submit_async_with_timeout(c.run.stream, keep_message, text, ms));
    GOOD(e5rt_execution_stream_release(&c.run.stream));
    CHECK(strstr(text, "did not end in its time") != NULL || strstr(text, "stream was released") != NULL);
    drop(go);
    async_close(&c);
}

/* ---- depth ---- */

typedef struct submitter {
    void *stream;
    atomic_int done;
} submitter;

static void *submit_one(void *user)
{
    submitter *s = user;
    const e5rt_error_code code = e5rt_execution_stream_async_submit(s->stream);
    atomic_store(&s->done, code == 0 ? 1 : -1);
    return NULL;
}

static void test_the_128th_submission_waits_for_room(void)
{
    async_case c;
    pthread_t thread;
    void *go = async_event("go");
    REQUIRE(async_open(&c, E5RT_CPU, true) && encode(&c, NULL, go));
    GOOD(e5rt_async_event_set_active_future_value(go, 1));
    for (int i = 0; i < 127; i++)
        GOOD(e5rt_execution_stream_async_submit(c.run.stream));
    submitter s = {.stream = c.run.stream};
    REQUIRE(pthread_create(&thread, NULL, submit_one, &s) == 0);
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    CHECK_INT(s.done, 0);
    GOOD(e5rt_async_event_signal(go, 1));
    pthread_join(thread, NULL);
    CHECK_INT(s.done, 1);
    CHECK(async_wait_stream(c.run.stream));
    CHECK_NEAR(*c.y, 128, 0);
    drop(go);
    async_close(&c);
}

/* ---- completions ---- */

typedef struct inside {
    async_case *c;
    void *event;
    async_count count;
    int again;
    e5rt_error_code waited, executed, reset;
} inside;

static void submit_again(void *user, e5rt_error_code status)
{
    inside *in = user;
    if (in->again-- > 0)
        GOOD(e5rt_mw_execution_stream_submit_async(in->c->run.stream, submit_again, in));
    async_done(&in->count, status);
}

static void test_a_completion_submits_again(void)
{
    async_case c;
    REQUIRE(async_open(&c, E5RT_CPU, true) && encode(&c, NULL, NULL));
    inside in = {.c = &c, .again = 300};
    GOOD(e5rt_mw_execution_stream_submit_async(c.run.stream, submit_again, &in));
    CHECK(async_wait_calls(&in.count, 301));
    CHECK_NEAR(*c.y, 301, 0);
    async_close(&c);
}

static void try_to_wait(void *user, e5rt_error_code status)
{
    inside *in = user;
    in->waited = e5rt_async_event_sync_wait(in->event);
    in->executed = e5rt_execution_stream_execute_sync(in->c->run.stream);
    in->reset = e5rt_execution_stream_reset(in->c->run.stream);
    async_done(&in->count, status);
}

static void test_a_completion_cannot_wait_for_the_queue(void)
{
    async_case c;
    void *done = async_event("done"), *go = async_event("go");
    REQUIRE(async_open(&c, E5RT_CPU, true) && encode(&c, done, go));
    inside in = {.c = &c, .event = done};
    GOOD(e5rt_async_event_set_active_future_value(go, 1));
    GOOD(e5rt_mw_execution_stream_submit_async(c.run.stream, try_to_wait, &in));
    GOOD(e5rt_async_event_set_active_future_value(go, 2));
    GOOD(e5rt_execution_stream_async_submit(c.run.stream));
    GOOD(e5rt_async_event_signal(go, 1));
    CHECK(async_wait_calls(&in.count, 1));
    CHECK_INT(in.waited, E5RT_INVALID_OPERATION);
    CHECK_INT(in.executed, E5RT_INVALID_OPERATION);
    CHECK_INT(in.reset, E5RT_INVALID_OPERATION);
    GOOD(e5rt_async_event_signal(go, 2));
    GOOD(e5rt_async_event_sync_wait(done));
    GOOD(e5rt_mw_execution_stream_submit_async(c.run.stream, try_to_wait, &in)); /* nothing else is in flight */
    CHECK(async_wait_calls(&in.count, 2));
    CHECK_INT(in.waited, 0);
    CHECK_INT(in.executed, 0);
    CHECK_INT(in.reset, 0);
    drop(done), drop(go);
    async_close(&c);
}

static void release_all(void *user, e5rt_error_code status)
{
    inside *in = user;
    if (in->c->run.stream != NULL)
        in->reset = e5rt_execution_stream_release(&in->c->run.stream);
    async_done(&in->count, status);
}

static void test_a_completion_releases_its_stream(void)
{
    async_case c;
    void *go = async_event("go");
    REQUIRE(async_open(&c, E5RT_CPU, true) && encode(&c, NULL, go));
    inside in = {.c = &c, .reset = -1};
    GOOD(e5rt_async_event_set_active_future_value(go, 1));
    GOOD(e5rt_mw_execution_stream_submit_async(c.run.stream, release_all, &in));
    GOOD(e5rt_async_event_set_active_future_value(go, 2));
    for (int i = 0; i < 5; i++)
        GOOD(e5rt_mw_execution_stream_submit_async(c.run.stream, release_all, &in));
    GOOD(e5rt_async_event_signal(go, 1));
    CHECK(async_wait_calls(&in.count, 6));
    CHECK_INT(in.reset, 0);
    CHECK_INT(in.count.last_status, E5RT_INVALID_OPERATION);
    CHECK(c.run.stream == NULL);
    drop(go);
    async_close(&c);
}

/* ---- order ---- */

typedef struct note {
    char *order;
    atomic_int *length;
    char name;
} note;

static void take_note(void *user, e5rt_error_code status)
{
    const note *n = user;
    if (status == 0)
        n->order[atomic_fetch_add(n->length, 1)] = n->name;
}

static void test_priority_then_quality_decide_among_streams(void)
{
    enum { STREAMS = 4 };
    static const uint32_t priorities[STREAMS] = {5, 5, 2, 7}, qualities[STREAMS] = {21, 33, 9, 33};
    async_case c[STREAMS];
    note notes[STREAMS];
    char order[STREAMS + 1] = "";
    atomic_int length = 0;
    void *go = async_event("go");
    for (int i = 0; i < STREAMS; i++) {
        REQUIRE(async_open(&c[i], E5RT_CPU, true) && encode(&c[i], NULL, go));
        GOOD(e5rt_execution_stream_set_ane_execution_priority(c[i].run.stream, priorities[i]));
        GOOD(e5rt_execution_stream_set_quality_of_service(c[i].run.stream, qualities[i]));
        notes[i] = (note){.order = order, .length = &length, .name = (char)('a' + i)};
    }
    GOOD(e5rt_async_event_set_active_future_value(go, 1));
    for (int i = 0; i < STREAMS; i++)
        GOOD(e5rt_mw_execution_stream_submit_async(c[i].run.stream, take_note, &notes[i]));
    GOOD(e5rt_async_event_signal(go, 1));
    for (int i = 0; i < STREAMS; i++)
        async_close(&c[i]);
    CHECK_STR(order, "cbad");
    drop(go);
}

int main(void)
{
    RUN(test_an_event_has_a_name_and_an_initial_value);
    RUN(test_values_of_an_event_only_grow);
    RUN(test_waiting_for_a_value);
    RUN(test_events_of_an_operation_are_given_back);
    RUN(test_a_submission_runs_and_signals);
    RUN(test_a_completion_signals_the_active_future_value);
    RUN(test_an_operation_waits_for_the_future_value_of_its_events);
    RUN(test_chains_within_and_between_streams);
    RUN(test_execute_runs_after_what_is_in_flight);
    RUN(test_requests_and_streams_have_numbers);
    RUN(test_submitting_is_refused);
    RUN(test_a_submission_without_memory_changes_nothing);
    RUN(test_a_stream_in_flight_is_not_changed);
    RUN(test_handles_may_be_released_while_work_is_in_flight);
    RUN(test_release_waits_for_what_can_run_and_gives_up_the_rest);
    RUN(test_a_timeout_gives_up_what_has_not_started);
    RUN(test_a_completion_finds_the_message);
    RUN(test_the_128th_submission_waits_for_room);
    RUN(test_a_completion_submits_again);
    RUN(test_a_completion_cannot_wait_for_the_queue);
    RUN(test_a_completion_releases_its_stream);
    RUN(test_priority_then_quality_decide_among_streams);
    return check_finish();
}

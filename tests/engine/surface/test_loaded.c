/* What a Mac limits on the ANE: operations of a process, and streams at once. */
#include "engine/run/async_case.h"

#include <stdlib.h>
#include <string.h>

#define HALF(kind) RUN_TEXT("tensor<fp16, [1]> x", "tensor<fp16, [1]> y = " kind "(x = x);\n", "y")

enum { MAX = 128 };
static const uint64_t ms = 1000000;

static e5rt_error_code make(void *options, void **out)
{
    return e5rt_execution_stream_operation_create_precompiled_compute_operation_with_options(out, options);
}

static void drop_all(void **operations, int count)
{
    for (int i = 0; i < count; i++)
        GOOD(e5rt_execution_stream_operation_release(&operations[i]));
}

/* `r` has one operation already. */
static void test_operations_are_counted_on_the_ane(void)
{
    run_program r;
    void *operations[MAX] = {0};
    REQUIRE(run_open(&r, HALF("relu"), E5RT_ANE, 1));
    for (int i = 1; i < MAX; i++)
        GOOD(make(r.options, &operations[i]));
    REFUSED(make(r.options, &operations[0]), E5RT_INVALID_OPERATION,
            "ANE model load has failed for operation \"main\": this process has 128 operations loaded");
    CHECK(operations[0] == NULL);
    GOOD(e5rt_execution_stream_operation_release(&operations[7]));
    GOOD(make(r.options, &operations[0]));
    REFUSED(make(r.options, &operations[7]), E5RT_INVALID_OPERATION, "128 operations");
    GOOD(e5rt_execution_stream_operation_release(&r.operation));
    GOOD(make(r.options, &operations[7]));
    drop_all(operations, MAX);
    run_close(&r);
}

/* A port, a buffer or an event of it keeps memory, not the program. An operation on a stream can still be run. */
static void test_a_released_operation_that_left_ports_behind_is_not_counted(void)
{
    run_program r;
    void *operations[MAX] = {0}, *ports[2 * MAX] = {0}, *more = NULL;
    REQUIRE(run_open(&r, HALF("relu"), E5RT_ANE, 1));
    for (int i = 1; i < MAX; i++) {
        GOOD(make(r.options, &operations[i]));
        GOOD(e5rt_execution_stream_operation_retain_input_port(operations[i], "x", &ports[2 * i]));
        GOOD(e5rt_execution_stream_operation_retain_output_port(operations[i], "y", &ports[2 * i + 1]));
    }
    REFUSED(make(r.options, &more), E5RT_INVALID_OPERATION, "128 operations loaded");
    for (int i = 1; i < MAX; i++)
        GOOD(e5rt_execution_stream_operation_release(&operations[i]));
    for (int i = 1; i < MAX; i++)
        GOOD(make(r.options, &operations[i]));
    REFUSED(make(r.options, &more), E5RT_INVALID_OPERATION, "128 operations loaded");
    drop_all(operations + 1, MAX - 1);
    for (int i = 2; i < 2 * MAX; i++)
        GOOD(e5rt_io_port_release(&ports[i]));
    run_close(&r);
}

static void test_a_released_operation_on_a_stream_is_counted(void)
{
    run_program r;
    void *operations[MAX] = {0}, *more = NULL;
    REQUIRE(run_open(&r, HALF("relu"), E5RT_ANE, 1));
    REQUIRE(run_bind(&r, false, "x", 2) != NULL && run_bind(&r, true, "y", 2) != NULL && run_encode(&r));
    for (int i = 1; i < MAX; i++)
        GOOD(make(r.options, &operations[i]));
    GOOD(e5rt_execution_stream_operation_release(&r.operation));
    REFUSED(make(r.options, &more), E5RT_INVALID_OPERATION, "128 operations loaded");
    GOOD(e5rt_execution_stream_reset(r.stream));
    GOOD(make(r.options, &more));
    GOOD(e5rt_execution_stream_operation_release(&more));
    drop_all(operations + 1, MAX - 1);
    run_close(&r);
}

static void test_the_cpu_and_a_switch_have_no_limit(void)
{
    static const char *const switches[] = {NULL, "none"};
    static const uint64_t masks[] = {E5RT_CPU, E5RT_ANE};
    for (int s = 0; s < 2; s++) {
        run_program r;
        void *operations[2 * MAX] = {0};
        run_set("MW_ENGINE_LOADED", switches[s]);
        REQUIRE(run_open(&r, HALF("relu"), masks[s], 1));
        for (int i = 0; i < 2 * MAX; i++)
            GOOD(make(r.options, &operations[i]));
        drop_all(operations, 2 * MAX);
        run_close(&r);
    }
    run_set("MW_ENGINE_LOADED", NULL);
}

static void test_programs_are_counted_instead(void)
{
    static run_program r[MAX];
    run_program more;
    void *operations[MAX] = {0};
    run_set("MW_ENGINE_LOADED", "programs");
    for (int i = 0; i < MAX; i++)
        REQUIRE(run_open(&r[i], HALF("relu"), E5RT_ANE, 1));
    for (int i = 0; i < MAX; i++) /* they share theirs */
        GOOD(make(r[5].options, &operations[i]));
    CHECK_INT(run_try_open(&more, HALF("relu"), E5RT_ANE, 1), E5RT_INVALID_OPERATION);
    CHECK_CONTAINS(run_message(), "128 programs loaded");
    run_close(&r[6]);
    REQUIRE(run_open(&r[6], HALF("relu"), E5RT_ANE, 1));
    drop_all(operations, MAX);
    for (int i = 0; i < MAX; i++)
        run_close(&r[i]);
    run_set("MW_ENGINE_LOADED", NULL);
}

static void test_the_variables_are_checked(void)
{
    mw__config config;
    mw_error err = {0};
    mw__config_init(&config);
    CHECK(config.loaded == MW__LOADED_OPERATIONS && !config.unsound_streams);
    CHECK(mw__config_set(&config, "MW_ENGINE_LOADED", "some", &err) != MW_OK);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "not operations, programs or none");
    err = (mw_error){0};
    CHECK(mw__config_set(&config, "MW_ENGINE_STREAMS", "1", &err) != MW_OK);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "not sound or unsound");
}

/* ---- streams at once ---- */

typedef struct pair {
    async_case a, b;
    void *go, *first, *second;
    async_count calls;
} pair;

/* The first stream is in flight until `go` is signaled. */
static bool open_pair(pair *p, uint64_t mask, bool low_latency)
{
    void *options = NULL;
    *p = (pair){.go = async_event("go"), .first = async_event("first"), .second = async_event("second")};
    if (!async_open(&p->a, mask, true) || !async_open(&p->b, mask, true))
        return false;
    GOOD(e5rt_execution_stream_operation_bind_dependent_events(p->a.run.operation, &p->go, 1));
    GOOD(e5rt_execution_stream_operation_bind_completion_event(p->a.run.operation, p->first));
    GOOD(e5rt_execution_stream_operation_bind_completion_event(p->b.run.operation, p->second));
    if (!run_encode(&p->a.run) || !run_encode(&p->b.run))
        return false;
    GOOD(e5rt_execution_stream_config_options_create(&options));
    GOOD(e5rt_execution_stream_config_options_set_enable_low_latency_async_events(options, low_latency));
    GOOD(e5rt_execution_stream_set_config_options(p->b.run.stream, options));
    GOOD(e5rt_execution_stream_config_options_release(&options));
    GOOD(e5rt_async_event_set_active_future_value(p->go, 1));
    GOOD(e5rt_execution_stream_async_submit(p->a.run.stream));
    return true;
}

static void close_pair(pair *p)
{
    async_close(&p->b);
    async_close(&p->a);
    e5rt_async_event_release(&p->go);
    e5rt_async_event_release(&p->first);
    e5rt_async_event_release(&p->second);
}

static void check_first(pair *p)
{
    GOOD(e5rt_async_event_signal(p->go, 1));
    GOOD(e5rt_async_event_sync_wait(p->first));
    CHECK(async_wait_stream(p->a.run.stream));
}

static void test_the_second_stream_never_notifies(void)
{
    pair p;
    run_set("MW_ENGINE_STREAMS", "unsound");
    REQUIRE(open_pair(&p, E5RT_ANE, false));
    GOOD(e5rt_mw_execution_stream_submit_async(p.b.run.stream, async_done, &p.calls));
    CHECK_INT(e5rt_mw_async_event_wait(p.second, 1, 20 * ms), E5RT_MW_TIMED_OUT);
    check_first(&p);
    CHECK_INT(e5rt_mw_async_event_wait(p.second, 1, 20 * ms), E5RT_MW_TIMED_OUT);
    CHECK_INT(p.calls.calls, 0);
    GOOD(e5rt_mw_execution_stream_submit_async(p.b.run.stream, async_done, &p.calls)); /* alone */
    GOOD(e5rt_async_event_sync_wait(p.second));
    CHECK(async_wait_calls(&p.calls, 1));
    close_pair(&p);
}

/* What has not begun within its time is given up, so that a busy machine may need more of it. */
static void test_a_timeout_ends_the_wait(void)
{
    enum { HALF_ONE = 0x3c00 };
    pair p;
    REQUIRE(open_pair(&p, E5RT_ANE, false));
    uint16_t *y = (void *)p.b.y;
    *y = 0;
    int tries = 0;
    for (uint64_t time = 5 * ms; *y != HALF_ONE && time < 100000 * ms; time *= 10) {
        GOOD(e5rt_mw_execution_stream_submit_async_with_timeout(p.b.run.stream, async_done, &p.calls, time));
        REFUSED(e5rt_async_event_sync_wait(p.second), E5RT_INVALID_OPERATION, "it timed out");
        CHECK(async_wait_calls(&p.calls, ++tries));
        CHECK_INT(p.calls.last_status, E5RT_MW_TIMED_OUT);
    }
    CHECK_INT(*y, HALF_ONE); /* it has run */
    check_first(&p);
    close_pair(&p);
}

static void test_low_latency_events_arrive(void)
{
    pair p;
    REQUIRE(open_pair(&p, E5RT_ANE, true));
    GOOD(e5rt_mw_execution_stream_submit_async(p.b.run.stream, async_done, &p.calls));
    GOOD(e5rt_async_event_sync_wait(p.second));
    CHECK(async_wait_calls(&p.calls, 1));
    check_first(&p);
    close_pair(&p);
}

static void test_streams_are_sound_by_default_and_on_the_cpu(void)
{
    static const uint64_t masks[] = {E5RT_CPU, E5RT_ANE};
    for (int i = 0; i < 2; i++) {
        pair p;
        run_set("MW_ENGINE_STREAMS", masks[i] == E5RT_CPU ? "unsound" : NULL);
        REQUIRE(open_pair(&p, masks[i], false));
        GOOD(e5rt_mw_execution_stream_submit_async(p.b.run.stream, async_done, &p.calls));
        GOOD(e5rt_async_event_sync_wait(p.second));
        check_first(&p);
        close_pair(&p);
    }
}

static void test_release_ends_what_never_notifies(void)
{
    pair p;
    run_set("MW_ENGINE_STREAMS", "unsound");
    REQUIRE(open_pair(&p, E5RT_ANE, false));
    GOOD(e5rt_mw_execution_stream_submit_async_with_timeout(p.b.run.stream, async_done, &p.calls, 100000 * ms));
    GOOD(e5rt_execution_stream_release(&p.b.run.stream));
    CHECK_INT(p.calls.calls, 1);
    CHECK_INT(p.calls.last_status, E5RT_INVALID_OPERATION);
    check_first(&p);
    close_pair(&p);
}

int main(void)
{
    RUN(test_operations_are_counted_on_the_ane);
    RUN(test_a_released_operation_that_left_ports_behind_is_not_counted);
    RUN(test_a_released_operation_on_a_stream_is_counted);
    RUN(test_the_cpu_and_a_switch_have_no_limit);
    RUN(test_programs_are_counted_instead);
    RUN(test_the_variables_are_checked);
    RUN(test_the_second_stream_never_notifies);
    RUN(test_a_timeout_ends_the_wait);
    RUN(test_low_latency_events_arrive);
    RUN(test_streams_are_sound_by_default_and_on_the_cpu);
    RUN(test_release_ends_what_never_notifies);
    return check_finish();
}

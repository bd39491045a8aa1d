/* The shared parts of async_case.h. */
#include "async_case.h"

#include <time.h>

#define INCREMENT(type)                                                                                                \
    RUN_TEXT("tensor<" type ", [1]> x", "tensor<" type ", [1]> y = add(x = x, y = " type "(1));\n", "y")

bool async_open(async_case *c, uint64_t mask, bool state)
{
    *c = (async_case){0};
    if (!run_open(&c->run, mask == E5RT_ANE ? INCREMENT("fp16") : INCREMENT("fp32"), mask, 1))
        return false;
    c->x = run_bind(&c->run, false, "x", 64);
    c->y = state ? run_share(&c->run, "y", "x") : run_bind(&c->run, true, "y", 64);
    return c->x != NULL && c->y != NULL;
}

void async_close(async_case *c) { run_close(&c->run); }

void *async_event(const char *name)
{
    void *event = NULL;
    GOOD(e5rt_async_event_create(&event, name, 0));
    return event;
}

uint64_t async_value(void *event)
{
    uint64_t value = UINT64_MAX;
    GOOD(e5rt_async_event_get_last_signaled_value(event, &value));
    return value;
}

void async_done(void *user, e5rt_error_code status)
{
    async_count *count = user;
    atomic_store(&count->last_status, (int)status);
    atomic_fetch_add(&count->calls, 1);
}

static void nap(void) { nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL); }

bool async_wait_calls(async_count *count, int calls)
{
    for (int i = 0; i < 100000 && atomic_load(&count->calls) < calls; i++)
        nap();
    return check_note(atomic_load(&count->calls) == calls, __FILE__, __LINE__, "%d completions, not %d",
                      atomic_load(&count->calls), calls);
}

bool async_wait_stream(void *stream)
{
    uint64_t submitted = 0, completed = 0;
    GOOD(e5rt_execution_stream_get_internal_async_compute_request_id_for_last_submit(stream, &submitted));
    for (int i = 0; i < 100000 && completed != submitted; i++) {
        GOOD(e5rt_mw_execution_stream_get_last_completed_request_id(stream, &completed));
        if (completed != submitted)
            nap();
    }
    return check_note(completed == submitted, __FILE__, __LINE__, "request %llu is not done",
                      (unsigned long long)submitted);
}

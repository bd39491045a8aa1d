/* Runs of a chain that are not waited for: each call has an event, which tells that what it wrote is there. */
#include "runtime/dispatch/block.h"
#include "runtime/dispatch/dispatch_core.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

struct mw__call_watch {
    void **events;    /* [calls] */
    uint64_t *before; /* [calls] what they said before the run */
    size_t count;
    mw__block_literal completion;
    atomic_int in_flight;
};

static bool has_events(const mw__symbols *s)
{
    return s->async_event_create != NULL && s->async_event_release != NULL && s->async_event_sync_wait != NULL &&
           s->async_event_get_last_signaled_value != NULL && s->execution_stream_submit_async != NULL &&
           s->execution_stream_operation_bind_completion_event != NULL;
}

static void land(void *user, int status)
{
    struct mw__call_watch *watch = user;
    (void)status; /* the last event has it */
    atomic_fetch_sub(&watch->in_flight, 1);
}

static mw_status make_event(const mw__symbols *s, struct mw__call_watch *watch, void *operation, mw_error *err)
{
    char name[40];
    snprintf(name, sizeof name, "segment_%zu_complete", watch->count);
    MW_TRY(MW__E5RT(s, async_event_create, &watch->events[watch->count], name, 0));
    watch->count++;
    return MW__E5RT(s, execution_stream_operation_bind_completion_event, operation, watch->events[watch->count - 1]);
}

mw_status mw__dispatch_watch_make(mw__dispatch *d, mw_error *err)
{
    const size_t count = d->calls.operation_count;
    if (!has_events(&d->symbols))
        return MW_OK;
    d->watch = mw__alloc(d->allocator, 1, sizeof *d->watch, err);
    if (d->watch == NULL)
        return MW_ERROR_MEMORY;
    mw__dispatch_callback_init(&d->watch->completion, land, d->watch);
    d->watch->events = mw__alloc(d->allocator, count, sizeof *d->watch->events, err);
    d->watch->before = mw__alloc(d->allocator, count, sizeof *d->watch->before, err);
    if (d->watch->events == NULL || d->watch->before == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < count; i++)
        MW_TRY(make_event(&d->symbols, d->watch, d->calls.operations[i].object, err));
    return MW_OK;
}

void mw__dispatch_watch_release(mw__dispatch *d)
{
    struct mw__call_watch *watch = d->watch;
    if (watch == NULL)
        return;
    for (size_t i = 0; i < watch->count; i++)
        d->symbols.async_event_release(&watch->events[i]);
    mw__free(d->allocator, watch->before);
    mw__free(d->allocator, watch->events);
    mw__free(d->allocator, watch);
    d->watch = NULL;
}

bool mw__dispatch_is_watched(const mw__dispatch *d) { return d->watch != NULL; }

mw_status mw__dispatch_submit(mw__dispatch *d, mw_error *err)
{
    struct mw__call_watch *watch = d->watch;
    for (size_t i = 0; i < watch->count; i++)
        MW_TRY(MW__E5RT(&d->symbols, async_event_get_last_signaled_value, watch->events[i], &watch->before[i]));
    atomic_fetch_add(&watch->in_flight, 1); /* first: it may have ended when the call returns */
    const mw_status status = MW__E5RT(&d->symbols, execution_stream_submit_async, d->stream, &watch->completion);
    if (status != MW_OK)
        atomic_fetch_sub(&watch->in_flight, 1);
    return status;
}

mw_status mw__dispatch_call_is_done(const mw__dispatch *d, size_t call, bool *out, mw_error *err)
{
    uint64_t now = 0;
    MW_TRY(MW__E5RT(&d->symbols, async_event_get_last_signaled_value, d->watch->events[call], &now));
    *out = now > d->watch->before[call] || atomic_load(&d->watch->in_flight) == 0;
    return MW_OK;
}

mw_status mw__dispatch_wait(mw__dispatch *d, mw_error *err)
{
    const mw_status status = MW__E5RT(&d->symbols, async_event_sync_wait, d->watch->events[d->watch->count - 1]);
    while (atomic_load(&d->watch->in_flight) > 0) /* the block is called right behind the event */
        sched_yield();
    return status;
}

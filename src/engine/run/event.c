/* The values of an event. */
#include "engine/run/event.h"

void mw__event_init(mw__event *event, uint64_t value)
{
    atomic_init(&event->signaled, value);
    event->future = event->assigned = value;
}

uint64_t mw__event_signaled(const mw__event *event)
{
    return atomic_load_explicit(&event->signaled, memory_order_acquire);
}

uint64_t mw__event_promise(mw__event *event)
{
    if (event->future == event->assigned)
        event->future++;
    return event->assigned = event->future;
}

void mw__event_raise(mw__event *event, uint64_t value)
{
    if (value <= mw__event_signaled(event))
        return;
    atomic_store_explicit(&event->signaled, value, memory_order_release);
    if (event->assigned < value)
        event->assigned = value;
    if (event->future < value)
        event->future = value;
}

void mw__event_lose(mw__event *event, uint64_t value, mw__outcome why)
{
    if (value <= event->lost)
        return;
    event->lost = value;
    event->why = why;
}

bool mw__event_decided(const void *pointer, uint64_t value)
{
    const mw__event *event = pointer;
    return mw__event_signaled(event) >= value || event->lost >= value;
}

/* e5rt: events, and which of them an operation waits for and completes. */
#include "engine/run/async.h"
#include "engine/run/profile.h"
#include "engine/surface/surface.h"

enum { DEPENDENTS_MAX = 1 << 16 };

static mw__event *event_of(void *handle, mw_error *err)
{
    return mw__surface_get(handle, MW__KIND_EVENT, "event", err);
}

static const mw__event *event_for(void *handle, const void *out, mw_error *err)
{
    return mw__surface_get_for(handle, MW__KIND_EVENT, "event", out, err);
}

static void destroy_event(mw__object *object) { mw__free(&object->allocator, ((mw__event *)object)->name); }

static mw_status create_event(void **out, const char *name, uint32_t value, mw_error *err)
{
    MW_TRY(mw__surface_out(out, err));
    MW_TRY(mw__surface_text(name, "eventName", err));
    mw__event *event = mw__object_create(sizeof *event, destroy_event, err);
    if (event == NULL)
        return MW_ERROR_MEMORY;
    mw__event_init(event, value);
    if (mw__surface_copy(&event->object, &event->name, name, err) != MW_OK) {
        mw__object_release(event);
        return err->status;
    }
    return mw__handle_create(MW__KIND_EVENT, event, out, err);
}

e5rt_error_code e5rt_async_event_create(void **out, const char *name, uint32_t value)
{
    mw_error *err = mw__surface_begin();
    create_event(out, name, value, err);
    return mw__surface_end(err);
}

e5rt_error_code e5rt_async_event_release(void **event) { return mw__surface_release(event, MW__KIND_EVENT); }

/* ---- values ---- */

e5rt_error_code e5rt_async_event_get_name(void *handle, const char **out)
{
    mw_error *err = mw__surface_begin();
    const mw__event *event = event_for(handle, out, err);
    if (event != NULL)
        *out = event->name;
    return mw__surface_end(err);
}

e5rt_error_code e5rt_async_event_get_last_signaled_value(void *handle, uint64_t *out)
{
    mw_error *err = mw__surface_begin();
    const mw__event *event = event_for(handle, out, err);
    if (event != NULL)
        *out = mw__event_signaled(event);
    return mw__surface_end(err);
}

e5rt_error_code e5rt_async_event_get_active_future_value(void *handle, uint64_t *out)
{
    mw_error *err = mw__surface_begin();
    const mw__event *event = event_for(handle, out, err);
    if (event != NULL) {
        mw__async_lock();
        *out = event->future;
        mw__async_unlock();
    }
    return mw__surface_end(err);
}

/* Under the lock. */
static mw_status check_value(const mw__event *event, uint64_t value, uint64_t least, const char *what, mw_error *err)
{
    if (value > MW__EVENT_MAX)
        return mw__fail(err, MW_ERROR_ARGUMENT, "event \"%s\": %llu is beyond the largest value, 2^63 - 1", event->name,
                        (unsigned long long)value);
    if (value < least)
        return mw__fail(err, MW_ERROR_ARGUMENT, "event \"%s\" cannot go back to %llu: its %s is %llu", event->name,
                        (unsigned long long)value, what, (unsigned long long)least);
    return MW_OK;
}

e5rt_error_code e5rt_async_event_set_active_future_value(void *handle, uint64_t value)
{
    mw_error *err = mw__surface_begin();
    mw__event *event = event_of(handle, err);
    if (event != NULL) {
        mw__async_lock();
        if (check_value(event, value, event->future, "active future value", err) == MW_OK)
            event->future = value;
        mw__async_unlock();
    }
    return mw__surface_end(err);
}

e5rt_error_code e5rt_async_event_signal(void *handle, uint64_t value)
{
    mw_error *err = mw__surface_begin();
    mw__event *event = event_of(handle, err);
    if (event != NULL) {
        mw__async_lock();
        if (check_value(event, value, mw__event_signaled(event), "last signaled value", err) == MW_OK) {
            mw__event_raise(event, value);
            mw__queue_notice();
        }
        mw__async_unlock();
    }
    return mw__surface_end(err);
}

/* ---- waiting ---- */

static mw_status fail_lost(const mw__event *event, uint64_t value, mw_error *err)
{
    static const char *const whys[] = {[MW__OUTCOME_TIMED_OUT] = "it timed out",
                                       [MW__OUTCOME_RELEASED] = "its stream was released",
                                       [MW__OUTCOME_EVENT_LOST] = "an event that it waits for was given up"};
    return mw__fail(
        err, MW_ERROR_STATE, "event \"%s\" stays at %llu: the submission that was to signal %llu was given up, as %s",
        event->name, (unsigned long long)mw__event_signaled(event), (unsigned long long)value, whys[event->why]);
}

/* Under the lock; the event is kept alive. */
static mw_status wait_for(const mw__event *event, uint64_t value, uint64_t deadline, bool *out_late, mw_error *err)
{
    if (!mw__event_decided(event, value) && mw__queue_is_here())
        return mw__fail(err, MW_ERROR_STATE, "event \"%s\" is at %llu, and a completion cannot wait for %llu",
                        event->name, (unsigned long long)mw__event_signaled(event), (unsigned long long)value);
    *out_late = !mw__async_wait(mw__event_decided, event, value, deadline);
    if (*out_late)
        return mw__fail(err, MW_ERROR_STATE, "event \"%s\" is at %llu, not %llu, when the time is over", event->name,
                        (unsigned long long)mw__event_signaled(event), (unsigned long long)value);
    return mw__event_signaled(event) >= value ? MW_OK : fail_lost(event, value, err);
}

/* `value` NULL: the last that a submission is to signal. */
static e5rt_error_code wait_event(void *handle, const uint64_t *value, uint64_t deadline)
{
    mw_error *err = mw__surface_begin();
    mw__event *event = event_of(handle, err);
    bool late = false;
    if (event != NULL) {
        mw__object_retain(event);
        mw__async_lock();
        wait_for(event, value != NULL ? *value : event->assigned, deadline, &late, err);
        mw__async_unlock();
        mw__object_release(event);
    }
    const e5rt_error_code code = mw__surface_end(err);
    return late ? E5RT_MW_TIMED_OUT : code;
}

e5rt_error_code e5rt_async_event_sync_wait(void *event) { return wait_event(event, NULL, MW__ASYNC_NEVER); }

e5rt_error_code e5rt_mw_async_event_wait(void *event, uint64_t value, uint64_t timeout)
{
    const uint64_t now = timeout != MW__ASYNC_NEVER ? mw__profile_now() : 0;
    return wait_event(event, &value, timeout < MW__ASYNC_NEVER - now ? now + timeout : MW__ASYNC_NEVER);
}

/* ---- of an operation ---- */

static mw__operation *operation_of(void *handle, mw_error *err)
{
    return mw__surface_get(handle, MW__KIND_OPERATION, "operation", err);
}

static mw__operation *open_operation(void *handle, mw_error *err)
{
    mw__operation *operation = operation_of(handle, err);
    if (operation == NULL || operation->state == MW__READY)
        return operation;
    mw__fail(err, MW_ERROR_STATE, "operation \"%s\" is encoded: its events are frozen", operation->name);
    return NULL;
}

e5rt_error_code e5rt_execution_stream_operation_bind_completion_event(void *handle, void *event_handle)
{
    mw_error *err = mw__surface_begin();
    mw__operation *operation = open_operation(handle, err);
    mw__event *event = operation != NULL ? event_of(event_handle, err) : NULL;
    if (event != NULL) {
        mw__object_retain(event);
        mw__object_release(operation->completion);
        operation->completion = event;
    }
    return mw__surface_end(err);
}

void mw__operation_drop_dependents(mw__operation *operation)
{
    for (size_t i = 0; i < operation->dependent_count; i++)
        mw__object_release(operation->dependents[i]);
    mw__free(&operation->object.allocator, operation->dependents);
    operation->dependents = NULL;
    operation->dependent_count = 0;
}

/* Those that were bound give way at once or not at all. */
static mw_status bind_dependents(mw__operation *operation, void *const *handles, uint64_t count, mw_error *err)
{
    if (handles == NULL && count > 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "Invalid Function Argument: events is NULL");
    if (count > DEPENDENTS_MAX)
        return mw__fail(err, MW_ERROR_ARGUMENT, "operation \"%s\" cannot depend on %llu events; at most %d",
                        operation->name, (unsigned long long)count, DEPENDENTS_MAX);
    for (uint64_t i = 0; i < count; i++)
        if (event_of(handles[i], err) == NULL)
            return err->status;
    mw__event **events = NULL;
    if (count > 0)
        events = mw__alloc(&operation->object.allocator, count, sizeof(mw__event *), err);
    if (mw__failed(err))
        return err->status;
    mw__operation_drop_dependents(operation);
    for (uint64_t i = 0; i < count; i++)
        events[i] = mw__object_retain(event_of(handles[i], err));
    operation->dependents = events;
    operation->dependent_count = count;
    return MW_OK;
}

e5rt_error_code e5rt_execution_stream_operation_bind_dependent_events(void *handle, void **events, uint64_t count)
{
    mw_error *err = mw__surface_begin();
    mw__operation *operation = open_operation(handle, err);
    if (operation != NULL)
        bind_dependents(operation, events, count, err);
    return mw__surface_end(err);
}

e5rt_error_code e5rt_execution_stream_operation_get_dependent_event_count(void *handle, uint64_t *out)
{
    mw_error *err = mw__surface_begin();
    const mw__operation *operation = mw__surface_get_for(handle, MW__KIND_OPERATION, "operation", out, err);
    if (operation != NULL)
        *out = operation->dependent_count;
    return mw__surface_end(err);
}

static mw_status retain_completion(void *handle, void **out, mw_error *err)
{
    MW_TRY(mw__surface_out(out, err));
    const mw__operation *operation = operation_of(handle, err);
    if (operation == NULL)
        return err->status;
    if (operation->completion == NULL)
        return mw__fail(err, MW_ERROR_STATE, "operation \"%s\" has no completion event", operation->name);
    return mw__handle_create(MW__KIND_EVENT, mw__object_retain(operation->completion), out, err);
}

e5rt_error_code e5rt_execution_stream_operation_retain_completion_event(void *operation, void **out)
{
    mw_error *err = mw__surface_begin();
    retain_completion(operation, out, err);
    return mw__surface_end(err);
}

static mw_status retain_dependents(void *handle, void **out, mw_error *err)
{
    const mw__operation *operation = mw__surface_get_for(handle, MW__KIND_OPERATION, "operation", out, err);
    if (operation == NULL)
        return err->status;
    for (size_t i = 0; i < operation->dependent_count; i++) {
        if (mw__handle_create(MW__KIND_EVENT, mw__object_retain(operation->dependents[i]), &out[i], err) == MW_OK)
            continue;
        mw_error ignored = {0};
        while (i-- > 0)
            mw__handle_release(&out[i], MW__KIND_EVENT, &ignored);
        return err->status;
    }
    return MW_OK;
}

e5rt_error_code e5rt_execution_stream_operation_retain_dependent_events(void *operation, void **out_events)
{
    mw_error *err = mw__surface_begin();
    retain_dependents(operation, out_events, err);
    return mw__surface_end(err);
}

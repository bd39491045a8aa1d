/* Several compiled operations in one stream, with the events between them. */
#include "runtime/dispatch/operations.h"

#include "base/memory/checked.h"
#include "runtime/dispatch/dispatch_core.h"

#include <stdio.h>

mw_status mw__operations_init(mw__operations *o, const mw_allocator *allocator, const mw__symbols *symbols,
                              mw_error *err)
{
    *o = (mw__operations){.allocator = allocator, .symbols = *symbols};
    return MW__E5RT(symbols, execution_stream_create, &o->stream);
}

void mw__operations_deinit(mw__operations *o)
{
    if (o->stream != NULL)
        o->symbols.execution_stream_release(&o->stream);
    for (size_t i = 0; i < o->count; i++) {
        mw__stream_entry *entry = &o->entries[i];
        mw__dispatch_destroy(entry->dispatch);
        if (entry->event != NULL)
            o->symbols.async_event_release(&entry->event);
        mw__free(o->allocator, entry->waits);
    }
    mw__free(o->allocator, o->entries);
    *o = (mw__operations){0};
}

/* ---- events ---- */

/* NULL, and not an error, where the library has none. Events are bound before an operation is encoded. */
static mw_status make_event(const mw__operations *o, const mw__dispatch *dispatch, const char *name, void **out,
                            mw_error *err)
{
    const mw__symbols *s = &o->symbols;
    *out = NULL;
    if (s->async_event_create == NULL || s->async_event_release == NULL ||
        s->execution_stream_operation_bind_completion_event == NULL)
        return MW_OK;
    MW_TRY(MW__E5RT(s, async_event_create, out, name, 0));
    const mw_status status =
        MW__E5RT(s, execution_stream_operation_bind_completion_event, dispatch->operation.object, *out);
    if (status != MW_OK)
        s->async_event_release(out);
    return status;
}

/* An operation does without its event if the library does not want it: runs need none. */
static void *own_event(const mw__operations *o, const mw__dispatch *dispatch, size_t index)
{
    char name[40];
    void *event = NULL;
    mw_error ignored = {0};
    snprintf(name, sizeof name, "op%zu_complete", index);
    make_event(o, dispatch, name, &event, &ignored);
    return event;
}

/* ---- frozen or not ---- */

/* The stream is reset first: it holds the operations that are on it. */
static mw_status thaw(mw__operations *o, mw_error *err)
{
    const mw__symbols *s = &o->symbols;
    o->committed = false;
    if (o->used) {
        if (s->execution_stream_reset == NULL || s->execution_stream_operation_prepare_op_for_encode == NULL)
            return mw__fail(err, MW_ERROR_UNSUPPORTED, "the e5rt library cannot change a program that has run");
        MW_TRY(MW__E5RT(s, execution_stream_reset, o->stream));
        o->used = false;
    }
    for (size_t i = 0; i < o->count; i++) {
        mw__dispatch *d = o->entries[i].dispatch;
        if (d->encoded)
            MW_TRY(MW__E5RT(s, execution_stream_operation_prepare_op_for_encode, d->operation.object));
        d->encoded = false;
    }
    return MW_OK;
}

mw_status mw__operations_commit(mw__operations *o, mw_error *err)
{
    if (o->committed)
        return MW_OK;
    MW_TRY(thaw(o, err));
    for (size_t i = 0; i < o->count; i++) {
        mw__dispatch *d = o->entries[i].dispatch;
        MW_TRY(MW__E5RT(&o->symbols, execution_stream_encode_operation, o->stream, d->operation.object));
        d->encoded = o->used = true;
    }
    o->committed = true;
    return MW_OK;
}

mw_status mw__operations_execute(mw__operations *o, mw_error *err)
{
    MW_TRY(mw__operations_commit(o, err));
    return MW__E5RT(&o->symbols, execution_stream_execute_sync, o->stream);
}

/* ---- changes ---- */

mw_status mw__operations_add(mw__operations *o, mw__dispatch *dispatch, mw_error *err)
{
    MW_TRY(mw__grow(o->allocator, &o->entries, &o->capacity, o->count + 1, sizeof *o->entries, err));
    MW_TRY(thaw(o, err));
    o->entries[o->count] = (mw__stream_entry){.dispatch = dispatch, .event = own_event(o, dispatch, o->count)};
    o->count++;
    return MW_OK;
}

/* A failed commit leaves some operations encoded. */
static mw_status open_changes(mw__operations *o, const char *change, mw_error *err)
{
    if (o->committed)
        return mw__fail(err, MW_ERROR_STATE,
                        "%s: the program has run, which freezes bindings until another operation "
                        "is added",
                        change);
    return thaw(o, err);
}

mw_status mw__operations_share(mw__operations *o, size_t from, size_t output, size_t to, size_t input, mw_error *err)
{
    mw__dispatch *source = o->entries[from].dispatch, *target = o->entries[to].dispatch;
    const mw__dispatch_port_binding *out = &source->ports[output], *in = &target->ports[input];
    const size_t memory = out->shared ? out->buffer.size : mw__dispatch_buffer_memory(out->buffer.size);
    MW_TRY(open_changes(o, "nothing can be shared", err));
    if (in->buffer.size > memory)
        return mw__fail(err, MW_ERROR_SHAPE,
                        "output \"%s\" of operation %zu has %zu bytes of memory, input \"%s\" of operation %zu needs "
                        "%zu: they cannot share",
                        out->name, from, memory, in->name, to, in->buffer.size);
    mw__device_buffer both = out->buffer;
    if (in->buffer.size > both.size)
        both.size = in->buffer.size;
    return mw__dispatch_rebind(target, input, &both, err);
}

mw_status mw__operations_bind_memory(mw__operations *o, size_t index, size_t port, int fd, mw_error *err)
{
    const mw__symbols *s = &o->symbols;
    mw__dispatch *dispatch = o->entries[index].dispatch;
    mw__device_buffer buffer = {.size = dispatch->ports[port].buffer.size};
    MW_TRY(open_changes(o, "no other memory can be bound", err));
    if (s->mw_buffer_object_create_from_shared_memory == NULL)
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "the e5rt library has no buffers over shared memory");
    MW_TRY(MW__E5RT(s, mw_buffer_object_create_from_shared_memory, &buffer.object, fd, buffer.size));
    mw_status status = MW__E5RT(s, buffer_object_get_data_ptr, buffer.object, &buffer.data);
    if (status == MW_OK)
        status = mw__dispatch_rebind(dispatch, port, &buffer, err);
    if (status != MW_OK)
        mw__dispatch_buffer_release(s, &buffer);
    else
        dispatch->ports[port].owned = dispatch->ports[port].shared = true;
    return status;
}

static mw_status check_chain(const mw__operations *o, size_t from, size_t to, mw_error *err)
{
    if (from >= to)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "operation %zu cannot wait for operation %zu, which does not run before it", to, from);
    if (o->symbols.execution_stream_operation_bind_dependent_events == NULL)
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "the e5rt library has no events");
    return MW_OK;
}

/* All of them are bound each time, so that a library that replaces what was bound forgets none. */
static mw_status wait_for(const mw__operations *o, mw__stream_entry *target, void *event, mw_error *err)
{
    for (size_t i = 0; i < target->wait_count; i++)
        if (target->waits[i] == event)
            return MW_OK;
    MW_TRY(mw__grow(o->allocator, &target->waits, &target->wait_capacity, target->wait_count + 1, sizeof(void *), err));
    target->waits[target->wait_count] = event;
    MW_TRY(MW__E5RT(&o->symbols, execution_stream_operation_bind_dependent_events, target->dispatch->operation.object,
                    target->waits, target->wait_count + 1));
    target->wait_count++;
    return MW_OK;
}

mw_status mw__operations_chain(mw__operations *o, size_t from, size_t to, const char *name, mw_error *err)
{
    MW_TRY(check_chain(o, from, to, err));
    MW_TRY(open_changes(o, "operations cannot be chained", err));
    mw__stream_entry *source = &o->entries[from];
    if (source->event == NULL)
        MW_TRY(make_event(o, source->dispatch, name != NULL ? name : "chain", &source->event, err));
    if (source->event == NULL)
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "the e5rt library has no events");
    return wait_for(o, &o->entries[to], source->event, err);
}

/* e5rt: streams and events, the message of the last failure, and what begins and ends every call. A stream runs its
 * operations in order on the caller's thread; completion events do not advance under execute_sync, as on Espresso. */
#include "base/shown.h"
#include "engine/surface/surface.h"

#include <stdio.h>
#include <string.h>

/* ---- calls ---- */

static _Thread_local struct {
    mw_error error;
    char text[sizeof(mw_error)];
} last;

mw_error *mw__surface_begin(void)
{
    last.error.status = MW_OK;
    last.text[0] = '\0';
    if (mw__engine_forked())
        mw__fail(&last.error, MW_ERROR_STATE,
                 "this process was forked from one that had used the engine: use it in one of the two, or fork first");
    return &last.error;
}

static e5rt_error_code code_of(mw_status status)
{
    switch (status) {
    case MW_OK:
        return E5RT_OK;
    case MW_ERROR_ARGUMENT:
    case MW_ERROR_FILE:
        return E5RT_INVALID_ARGUMENT;
    case MW_ERROR_MEMORY:
        return E5RT_ALLOCATION_FAILURE;
    case MW_ERROR_DTYPE:
        return E5RT_INVALID_DATA_TYPE;
    default:
        return E5RT_INVALID_OPERATION;
    }
}

e5rt_error_code mw__surface_end(const mw_error *err)
{
    if (err->status == MW_OK)
        return E5RT_OK;
    if (err->text_line > 0)
        mw__shown_printf(last.text, sizeof last.text, "line %d, column %d: %s", err->text_line, err->text_column,
                         err->message);
    else
        mw__shown_printf(last.text, sizeof last.text, "%s", err->message);
    return code_of(err->status);
}

const char *e5rt_get_last_error_message(void) { return last.text; }

mw_status mw__surface_text(const char *text, const char *name, mw_error *err)
{
    if (mw__failed(err))
        return err->status;
    return text != NULL ? MW_OK : mw__fail(err, MW_ERROR_ARGUMENT, "Invalid Function Argument: %s is NULL", name);
}

mw_status mw__surface_copy(const mw__object *owner, char **slot, const char *text, mw_error *err)
{
    const size_t size = strlen(text) + 1;
    char *copy = mw__alloc(&owner->allocator, size, 1, err);
    if (copy == NULL)
        return MW_ERROR_MEMORY;
    memcpy(copy, text, size);
    mw__free(&owner->allocator, *slot);
    *slot = copy;
    return MW_OK;
}

mw_status mw__surface_out(void **out, mw_error *err)
{
    if (out != NULL)
        *out = NULL;
    if (mw__failed(err))
        return err->status;
    return out != NULL ? MW_OK : mw__fail(err, MW_ERROR_ARGUMENT, "Invalid Function Argument: the out pointer is NULL");
}

e5rt_error_code e5rt_mw_set_allocator(void *(*resize)(void *user, void *pointer, size_t size), void *user)
{
    mw_error *err = mw__surface_begin();
    if (!mw__failed(err))
        mw__engine_set_allocator((mw_allocator){.resize = resize, .user = user});
    return mw__surface_end(err);
}

/* ---- streams ---- */

typedef struct stream {
    mw__object object;
    mw__operation **operations;
    size_t count, capacity;
    bool used;     /* something was encoded since it was made */
    mw__room room; /* of the intermediates of the operations */
} stream;

static void detach_all(stream *s)
{
    for (size_t i = 0; i < s->count; i++) {
        s->operations[i]->state = MW__DETACHED;
        mw__object_release(s->operations[i]);
    }
    s->count = 0;
}

static void destroy_stream(mw__object *object)
{
    stream *s = (stream *)object;
    detach_all(s);
    mw__room_deinit(&s->room);
    mw__free(&object->allocator, s->operations);
}

static mw_status create_stream(void **out, mw_error *err)
{
    MW_TRY(mw__surface_out(out, err));
    stream *s = mw__object_create(sizeof *s, destroy_stream, err);
    if (s == NULL)
        return MW_ERROR_MEMORY;
    mw__room_init(&s->room, &s->object.allocator);
    return mw__handle_create(MW__KIND_STREAM, s, out, err);
}

e5rt_error_code e5rt_execution_stream_create(void **out)
{
    mw_error *err = mw__surface_begin();
    create_stream(out, err);
    return mw__surface_end(err);
}

e5rt_error_code e5rt_execution_stream_release(void **handle)
{
    mw_error *err = mw__surface_begin();
    if (!mw__failed(err))
        mw__handle_release(handle, MW__KIND_STREAM, err);
    return mw__surface_end(err);
}

static mw_status reset_stream(void *handle, mw_error *err)
{
    stream *s = mw__failed(err) ? NULL : mw__handle_get(handle, MW__KIND_STREAM, "stream", err);
    if (s == NULL)
        return err->status;
    if (!s->used)
        return mw__fail(err, MW_ERROR_STATE, "the stream is fresh: there is nothing to reset");
    detach_all(s);
    return MW_OK;
}

e5rt_error_code e5rt_execution_stream_reset(void *handle)
{
    mw_error *err = mw__surface_begin();
    reset_stream(handle, err);
    return mw__surface_end(err);
}

static mw_status encode_bindings(stream *s, mw__operation *operation, mw_error *err)
{
    const mw__program *program = operation->function->program;
    const mw_allocator *allocator = &operation->object.allocator;
    const size_t count = program->input_count + program->output_count;
    mw__binding *bindings = mw__alloc(allocator, count, sizeof *bindings, err);
    if (bindings == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < count; i++) {
        const mw__buffer_object *buffer =
            i < program->input_count ? operation->inputs[i] : operation->outputs[i - program->input_count];
        if (buffer != NULL)
            bindings[i] = (mw__binding){.data = buffer->data, .size = buffer->size};
    }
    for (size_t i = 0; i < program->state_count; i++) { /* a state is where it was, if nothing else is said */
        mw__binding *next = &bindings[program->input_count + program->states[i].output];
        if (next->data == NULL)
            *next = bindings[program->states[i].input];
    }
    mw__command_list_deinit(&operation->commands);
    const mw_status status =
        mw__encode(program, bindings, bindings + program->input_count, allocator, &s->room, &operation->commands, err);
    mw__free(allocator, bindings);
    return status;
}

static mw_status encode(void *stream_handle, void *operation_handle, mw_error *err)
{
    stream *s = mw__failed(err) ? NULL : mw__handle_get(stream_handle, MW__KIND_STREAM, "stream", err);
    mw__operation *operation =
        s != NULL ? mw__handle_get(operation_handle, MW__KIND_OPERATION, "operation", err) : NULL;
    if (operation == NULL)
        return err->status;
    if (operation->state != MW__READY)
        return mw__fail(err, MW_ERROR_STATE,
                        "operation \"%s\" is already encoded: reset its stream and prepare it for encode first",
                        operation->name);
    MW_TRY(mw__grow(&s->object.allocator, &s->operations, &s->capacity, s->count + 1, sizeof(mw__operation *), err));
    MW_TRY(encode_bindings(s, operation, err));
    s->operations[s->count++] = mw__object_retain(operation);
    s->used = true;
    operation->state = MW__ENCODED;
    return MW_OK;
}

e5rt_error_code e5rt_execution_stream_encode_operation(void *stream_handle, void *operation)
{
    mw_error *err = mw__surface_begin();
    encode(stream_handle, operation, err);
    return mw__surface_end(err);
}

e5rt_error_code e5rt_execution_stream_execute_sync(void *handle)
{
    mw_error *err = mw__surface_begin();
    const stream *s = mw__failed(err) ? NULL : mw__handle_get(handle, MW__KIND_STREAM, "stream", err);
    if (s != NULL && s->count == 0)
        mw__fail(err, MW_ERROR_STATE, "no operation is encoded on the stream");
    for (size_t i = 0; s != NULL && i < s->count; i++)
        mw__execute(&s->operations[i]->commands);
    return mw__surface_end(err);
}

/* ---- events ---- */

static void destroy_event(mw__object *object) { mw__free(&object->allocator, ((mw__event *)object)->name); }

static mw_status create_event(void **out, const char *name, uint32_t value, mw_error *err)
{
    MW_TRY(mw__surface_out(out, err));
    MW_TRY(mw__surface_text(name, "eventName", err));
    mw__event *event = mw__object_create(sizeof *event, destroy_event, err);
    if (event == NULL)
        return MW_ERROR_MEMORY;
    event->value = value;
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

e5rt_error_code e5rt_async_event_release(void **event)
{
    mw_error *err = mw__surface_begin();
    if (!mw__failed(err))
        mw__handle_release(event, MW__KIND_EVENT, err);
    return mw__surface_end(err);
}

e5rt_error_code e5rt_async_event_get_last_signaled_value(void *handle, uint64_t *out)
{
    mw_error *err = mw__surface_begin();
    const mw__event *event = mw__failed(err) ? NULL : mw__handle_get(handle, MW__KIND_EVENT, "event", err);
    if (event != NULL && out == NULL)
        mw__fail(err, MW_ERROR_ARGUMENT, "Invalid Function Argument: the out pointer is NULL");
    else if (event != NULL)
        *out = event->value;
    return mw__surface_end(err);
}

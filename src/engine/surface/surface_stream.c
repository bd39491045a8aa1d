/* e5rt: streams. One runs its operations in order. */
#include "engine/surface/surface_options.h"

mw__stream *mw__stream_get(void *handle, mw_error *err)
{
    return mw__surface_get(handle, MW__KIND_STREAM, "stream", err);
}

/* Reads what the queue writes last, so that what it did before is seen. */
static bool is_busy(const mw__stream *s)
{
    return atomic_load_explicit(&s->pipeline.in_flight, memory_order_acquire) > 0;
}

static mw_status check_idle(const mw__stream *s, const char *what, mw_error *err)
{
    if (!is_busy(s))
        return MW_OK;
    return mw__fail(err, MW_ERROR_STATE, "the stream has work in flight, and cannot %s before that is done", what);
}

mw_status mw__operation_idle(const mw__operation *operation, mw_error *err)
{
    if (operation->in_flight == NULL ||
        atomic_load_explicit(&operation->in_flight->in_flight, memory_order_acquire) == 0)
        return MW_OK;
    return mw__fail(err, MW_ERROR_STATE, "operation \"%s\" is in flight: wait until its stream is done",
                    operation->name);
}

/* Its state is the last that changes: whoever sees that may use the operation, while this is the thread of the queue.
 */
static void detach_all(mw__stream *s)
{
    mw__pipeline_clear(&s->pipeline);
    for (size_t i = 0; i < s->count; i++) {
        mw__operation *operation = s->operations[i];
        operation->in_flight = NULL;
        mw__intermediates_remove(&operation->commands);
        operation->state = MW__DETACHED;
        mw__operation_drop_runner(operation);
        mw__object_release(operation);
    }
    s->count = 0;
}

static void destroy_stream(mw__object *object)
{
    mw__stream *s = (mw__stream *)object;
    detach_all(s);
    mw__free(&object->allocator, s->operations);
    mw__intermediates_deinit(&s->room);
    mw__pipeline_deinit(&s->pipeline);
}

static mw_status create_stream(void **out, mw_error *err)
{
    MW_TRY(mw__surface_out(out, err));
    mw__stream *s = mw__object_create(sizeof *s, destroy_stream, err);
    if (s == NULL)
        return MW_ERROR_MEMORY;
    mw__intermediates_init(&s->room, &s->object.allocator);
    mw__pipeline_init(&s->pipeline, &s->object);
    return mw__handle_create(MW__KIND_STREAM, s, out, err);
}

e5rt_error_code e5rt_execution_stream_create(void **out)
{
    mw_error *err = mw__surface_begin();
    create_stream(out, err);
    return mw__surface_end(err);
}

static mw_status release_stream(void **handle, mw_error *err)
{
    const bool named = handle != NULL && !mw__handle_is(handle) && *handle != NULL;
    mw__stream *s = named ? mw__stream_get(*handle, err) : NULL;
    if (mw__failed(err))
        return err->status;
    if (s != NULL)
        mw__queue_close(&s->pipeline);
    return mw__handle_release(handle, MW__KIND_STREAM, err);
}

e5rt_error_code e5rt_execution_stream_release(void **handle)
{
    mw_error *err = mw__surface_begin();
    if (!mw__failed(err))
        release_stream(handle, err);
    return mw__surface_end(err);
}

static mw_status reset_stream(void *handle, mw_error *err)
{
    mw__stream *s = mw__stream_get(handle, err);
    if (s == NULL)
        return err->status;
    if (!s->used)
        return mw__fail(err, MW_ERROR_STATE, "the stream is fresh: there is nothing to reset");
    MW_TRY(check_idle(s, "reset", err));
    detach_all(s);
    return MW_OK;
}

e5rt_error_code e5rt_execution_stream_reset(void *handle)
{
    mw_error *err = mw__surface_begin();
    reset_stream(handle, err);
    return mw__surface_end(err);
}

static mw_status encode_bindings(mw__stream *s, mw__operation *operation, mw_error *err)
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

static mw_status append_operation(mw__stream *s, mw__operation *operation, mw_error *err)
{
    const mw__queue_step step = {.commands = &operation->commands,
                                 .completion = operation->completion,
                                 .dependents = operation->dependents,
                                 .dependent_count = operation->dependent_count,
                                 .unsound_streams = operation->function->program->unsound_streams};
    MW_TRY(mw__grow(&s->object.allocator, &s->operations, &s->capacity, s->count + 1, sizeof(mw__operation *), err));
    MW_TRY(encode_bindings(s, operation, err));
    if (mw__pipeline_add(&s->pipeline, &step, err) != MW_OK) {
        mw__command_list_deinit(&operation->commands);
        return err->status;
    }
    s->operations[s->count++] = mw__object_retain(operation);
    mw__operation_add_runner(operation);
    s->used = true;
    operation->state = MW__ENCODED;
    operation->in_flight = &s->pipeline;
    return MW_OK;
}

static mw_status encode(void *stream_handle, void *operation_handle, mw_error *err)
{
    mw__stream *s = mw__stream_get(stream_handle, err);
    mw__operation *operation =
        s != NULL ? mw__handle_get(operation_handle, MW__KIND_OPERATION, "operation", err) : NULL;
    if (operation == NULL)
        return err->status;
    if (operation->state != MW__READY)
        return mw__fail(err, MW_ERROR_STATE,
                        "operation \"%s\" is already encoded: reset its stream and prepare it for encode first",
                        operation->name);
    MW_TRY(check_idle(s, "take another operation", err));
    return append_operation(s, operation, err);
}

e5rt_error_code e5rt_execution_stream_encode_operation(void *stream_handle, void *operation)
{
    mw_error *err = mw__surface_begin();
    encode(stream_handle, operation, err);
    return mw__surface_end(err);
}

static mw_status execute(void *handle, mw_error *err)
{
    mw__stream *s = mw__stream_get(handle, err);
    if (s == NULL)
        return err->status;
    if (s->count == 0)
        return mw__fail(err, MW_ERROR_STATE, "no operation is encoded on the stream");
    if (is_busy(s))
        MW_TRY(mw__queue_drain(&s->pipeline, err));
    for (size_t i = 0; i < s->count; i++)
        mw__execute(&s->operations[i]->commands);
    return MW_OK;
}

e5rt_error_code e5rt_execution_stream_execute_sync(void *handle)
{
    mw_error *err = mw__surface_begin();
    execute(handle, err);
    return mw__surface_end(err);
}

/* ---- numbers ---- */

/* What a submission in flight has begun goes on; who goes next is chosen anew. */
e5rt_error_code e5rt_execution_stream_set_quality_of_service(void *handle, uint32_t quality)
{
    mw_error *err = mw__surface_begin();
    mw__stream *s = mw__stream_get(handle, err);
    if (s != NULL)
        mw__queue_set_quality(&s->pipeline, quality);
    return mw__surface_end(err);
}

e5rt_error_code e5rt_execution_stream_set_ane_execution_priority(void *handle, uint32_t priority)
{
    mw_error *err = mw__surface_begin();
    mw__stream *s = mw__stream_get(handle, err);
    if (s != NULL)
        mw__queue_set_priority(&s->pipeline, priority);
    return mw__surface_end(err);
}

e5rt_error_code e5rt_execution_stream_get_stream_id(void *handle, uint64_t *out)
{
    mw_error *err = mw__surface_begin();
    const mw__stream *s = mw__surface_get_for(handle, MW__KIND_STREAM, "stream", out, err);
    if (s != NULL)
        *out = s->pipeline.stream;
    return mw__surface_end(err);
}

/* Intermediates and ports are in memory as it is. */
e5rt_error_code e5rt_execution_stream_prewire_in_use_allocations(void *handle)
{
    mw_error *err = mw__surface_begin();
    mw__stream_get(handle, err);
    return mw__surface_end(err);
}

/* ---- configuration ---- */

/* NULL: the default. */
static e5rt_error_code configure(void *handle, const mw__stream_config *options, mw_error *err)
{
    mw__stream *s = mw__stream_get(handle, err);
    if (s != NULL && check_idle(s, "be configured", err) == MW_OK)
        s->pipeline.low_latency = options != NULL && options->enable_low_latency_async_events;
    return mw__surface_end(err);
}

e5rt_error_code e5rt_execution_stream_set_config_options(void *stream, void *handle)
{
    mw_error *err = mw__surface_begin();
    return configure(stream, mw__surface_get(handle, MW__KIND_STREAM_CONFIG, "options", err), err);
}

e5rt_error_code e5rt_execution_stream_reset_config_options(void *stream)
{
    return configure(stream, NULL, mw__surface_begin());
}

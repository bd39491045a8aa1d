/* e5rt: submitting a stream to the queue of the process, and how the caller hears of its end. */
#include "engine/surface/block.h"
#include "engine/surface/surface.h"

typedef void done_function(void *user, e5rt_error_code status);

/* Sets the message of the thread that the completion runs on. */
static e5rt_error_code code_of(mw__outcome outcome, uint64_t request)
{
    mw_error *err = mw__surface_begin();
    switch (outcome) {
    case MW__OUTCOME_TIMED_OUT:
        mw__fail(err, MW_ERROR_STATE, "submission %llu did not end in its time", (unsigned long long)request);
        mw__surface_end(err);
        return E5RT_MW_TIMED_OUT;
    case MW__OUTCOME_RELEASED:
        mw__fail(err, MW_ERROR_STATE, "submission %llu was given up: its stream was released while it waited",
                 (unsigned long long)request);
        break;
    case MW__OUTCOME_EVENT_LOST:
        mw__fail(err, MW_ERROR_STATE,
                 "submission %llu was given up: what was to signal an event that it waits for was given up",
                 (unsigned long long)request);
        break;
    default:
        break;
    }
    return mw__surface_end(err);
}

/* ---- completions ---- */

static void call_block(const mw__queue_completion *self, uint64_t stream, uint64_t request, mw__outcome outcome)
{
    if (outcome != MW__OUTCOME_UNHEARD)
        mw__objc_block_call(self->user, stream, request, (int)code_of(outcome, request));
    mw__objc_block_release(self->user);
}

static void call_function(const mw__queue_completion *self, uint64_t stream, uint64_t request, mw__outcome outcome)
{
    (void)stream;
    if (outcome != MW__OUTCOME_UNHEARD)
        ((done_function *)self->function)(self->user, code_of(outcome, request));
}

/* ---- submitting ---- */

static mw_status submit(void *handle, mw__queue_completion completion, uint64_t timeout, mw_error *err)
{
    mw__stream *s = mw__stream_get(handle, err);
    if (s == NULL)
        return err->status;
    if (s->count == 0)
        return mw__fail(err, MW_ERROR_STATE, "no operation is encoded on the stream");
    if (timeout == 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "Invalid Function Argument: the timeout is 0 ns");
    return mw__queue_submit(&s->pipeline, completion, timeout, err);
}

static mw_status submit_block(void *handle, const void *block, uint64_t timeout, mw_error *err)
{
    if (mw__stream_get(handle, err) == NULL)
        return err->status;
    if (block == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "Invalid Function Argument: the completion block is NULL");
    void *copy = mw__objc_block_copy(block, mw__engine_allocator(), err);
    if (copy == NULL)
        return err->status;
    const mw_status status = submit(handle, (mw__queue_completion){.call = call_block, .user = copy}, timeout, err);
    if (status != MW_OK)
        mw__objc_block_release(copy);
    return status;
}

e5rt_error_code e5rt_execution_stream_submit_async(void *stream, const void *block)
{
    mw_error *err = mw__surface_begin();
    submit_block(stream, block, UINT64_MAX, err);
    return mw__surface_end(err);
}

e5rt_error_code e5rt_execution_stream_submit_async_with_timeout(void *stream, const void *block, uint64_t timeout)
{
    mw_error *err = mw__surface_begin();
    submit_block(stream, block, timeout, err);
    return mw__surface_end(err);
}

e5rt_error_code e5rt_execution_stream_async_submit(void *stream)
{
    mw_error *err = mw__surface_begin();
    submit(stream, (mw__queue_completion){0}, UINT64_MAX, err);
    return mw__surface_end(err);
}

e5rt_error_code e5rt_mw_execution_stream_submit_async(void *stream, done_function *done, void *user)
{
    return e5rt_mw_execution_stream_submit_async_with_timeout(stream, done, user, UINT64_MAX);
}

e5rt_error_code e5rt_mw_execution_stream_submit_async_with_timeout(void *stream, done_function *done, void *user,
                                                                   uint64_t timeout)
{
    mw_error *err = mw__surface_begin();
    if (mw__stream_get(stream, err) != NULL && done == NULL)
        mw__fail(err, MW_ERROR_ARGUMENT, "Invalid Function Argument: the completion is NULL");
    if (!mw__failed(err))
        submit(stream, (mw__queue_completion){.call = call_function, .function = (void (*)(void))done, .user = user},
               timeout, err);
    return mw__surface_end(err);
}

/* ---- numbers ---- */

static e5rt_error_code get_request(void *handle, uint64_t *out, bool completed)
{
    mw_error *err = mw__surface_begin();
    const mw__stream *s = mw__surface_get_for(handle, MW__KIND_STREAM, "stream", out, err);
    if (s != NULL) {
        uint64_t submitted_id, completed_id;
        mw__queue_requests(&s->pipeline, &submitted_id, &completed_id);
        *out = completed ? completed_id : submitted_id;
    }
    return mw__surface_end(err);
}

e5rt_error_code e5rt_execution_stream_get_internal_async_compute_request_id_for_last_submit(void *stream, uint64_t *out)
{
    return get_request(stream, out, false);
}

e5rt_error_code e5rt_mw_execution_stream_get_last_completed_request_id(void *stream, uint64_t *out)
{
    return get_request(stream, out, true);
}

e5rt_error_code e5rt_mw_async_get_counts(uint64_t *out_submitted, uint64_t *out_completed, uint64_t *out_given_up)
{
    mw_error *err = mw__surface_begin();
    if (out_submitted == NULL || out_completed == NULL || out_given_up == NULL)
        mw__fail(err, MW_ERROR_ARGUMENT, "Invalid Function Argument: an out pointer is NULL");
    if (!mw__failed(err)) {
        const mw__queue_counts counts = mw__queue_count();
        *out_submitted = counts.submitted;
        *out_completed = counts.completed;
        *out_given_up = counts.given_up;
    }
    return mw__surface_end(err);
}

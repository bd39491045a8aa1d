/* The ane_e5rt_* C ABI: runs that the caller does not wait for. The completion block of a program counts what is in
 * flight; whether it went well is asked of the event of the last operation. */
#include "runtime/dispatch/dispatch_program.h"

static void count_down(void *user, int status)
{
    ane_e5rt_program_t *program = user;
    (void)status;
    pthread_mutex_lock(&program->mutex);
    program->in_flight--;
    pthread_cond_broadcast(&program->landed);
    pthread_mutex_unlock(&program->mutex);
}

void mw__dispatch_async_init(ane_e5rt_program_t *program)
{
    pthread_mutex_init(&program->mutex, NULL);
    pthread_cond_init(&program->landed, NULL);
    mw__dispatch_callback_init(&program->completion, count_down, program);
}

static void wait_for_all(ane_e5rt_program_t *program)
{
    pthread_mutex_lock(&program->mutex);
    while (program->in_flight > 0)
        pthread_cond_wait(&program->landed, &program->mutex);
    pthread_mutex_unlock(&program->mutex);
}

void mw__dispatch_async_deinit(ane_e5rt_program_t *program)
{
    wait_for_all(program);
    pthread_cond_destroy(&program->landed);
    pthread_mutex_destroy(&program->mutex);
}

/* That of the last operation; NULL with an error if there is none. */
static void *final_event(const ane_e5rt_program_t *program, mw_error *err)
{
    const mw__operations *o = &program->operations;
    void *event = o->count > 0 ? o->entries[o->count - 1].event : NULL;
    if (event == NULL || o->symbols.async_event_get_last_signaled_value == NULL) {
        mw__fail(err, MW_ERROR_UNSUPPORTED, "the last operation has no event: the e5rt library has none");
        return NULL;
    }
    return event;
}

static mw_status read_event(const ane_e5rt_program_t *program, uint64_t *out, mw_error *err)
{
    void *event = final_event(program, err);
    if (event == NULL)
        return err->status;
    return MW__E5RT(&program->operations.symbols, async_event_get_last_signaled_value, event, out);
}

static void add_in_flight(ane_e5rt_program_t *program, long by)
{
    pthread_mutex_lock(&program->mutex);
    program->in_flight += by;
    pthread_mutex_unlock(&program->mutex);
}

static mw_status submit(ane_e5rt_program_t *program, mw_error *err)
{
    mw__operations *o = &program->operations;
    const mw__symbols *symbols = &o->symbols;
    if (symbols->execution_stream_submit_async == NULL || symbols->async_event_sync_wait == NULL)
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "the e5rt library has no asynchronous runs");
    MW_TRY(mw__operations_commit(o, err));
    MW_TRY(read_event(program, &program->before, err));
    add_in_flight(program, 1); /* first: it may have ended when the call returns */
    const mw_status status = MW__E5RT(symbols, execution_stream_submit_async, o->stream, &program->completion);
    if (status != MW_OK)
        add_in_flight(program, -1);
    else
        program->submitted = true;
    return status;
}

int ane_e5rt_program_execute_async(ane_e5rt_program_t *program)
{
    mw_error *err = mw__dispatch_begin();
    mw_status status = mw__dispatch_need_operation(program, 0, err);
    if (status == MW_OK)
        status = submit(program, err);
    return mw__dispatch_end(__func__, status);
}

/* The completion says that nothing is in flight any more, and the event whether the last of it went well. */
static mw_status wait(ane_e5rt_program_t *program, mw_error *err)
{
    void *event = final_event(program, err);
    if (event == NULL)
        return err->status;
    const mw_status status = MW__E5RT(&program->operations.symbols, async_event_sync_wait, event);
    wait_for_all(program);
    program->submitted = false;
    return status;
}

int ane_e5rt_program_wait_for_completion(ane_e5rt_program_t *program)
{
    mw_error *err = mw__dispatch_begin();
    if (program == NULL || !program->submitted) {
        mw__dispatch_end(__func__, mw__fail(err, program == NULL ? MW_ERROR_ARGUMENT : MW_ERROR_STATE, "%s",
                                            program == NULL ? "the program is NULL" : "nothing was submitted"));
        return -2;
    }
    return mw__dispatch_end(__func__, wait(program, err));
}

int ane_e5rt_program_get_final_event_signaled(ane_e5rt_program_t *program, uint64_t *before, uint64_t *after)
{
    mw_error *err = mw__dispatch_begin();
    uint64_t now = 0;
    mw_status status = mw__dispatch_need_operation(program, 0, err);
    if (status == MW_OK)
        status = read_event(program, &now, err);
    if (before != NULL)
        *before = status == MW_OK ? program->before : 0;
    if (after != NULL)
        *after = now;
    return mw__dispatch_end(__func__, status);
}

/* ---- blocks for other callers of e5rt ---- */

void *ane_e5rt_make_completion_block(ane_e5rt_completion_cb_t cb, void *ctx)
{
    mw_error *err = mw__dispatch_begin();
    void *block = cb != NULL ? mw__dispatch_callback_create(cb, ctx) : NULL;
    if (block == NULL)
        mw__dispatch_end(__func__, cb == NULL ? mw__fail(err, MW_ERROR_ARGUMENT, "the callback is NULL")
                                              : mw__fail(err, MW_ERROR_MEMORY, "no memory for a block"));
    return block;
}

void ane_e5rt_free_completion_block(void *block) { mw__dispatch_callback_release(block); }

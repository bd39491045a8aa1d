/* e5rt: what begins and ends every call, the message of the last failure, the allocator and the hooks for threads. */
#include "base/text/printable.h"
#include "base/thread/thread.h"
#include "engine/run/team.h"
#include "engine/surface/surface.h"

#include <stdio.h>
#include <string.h>

static _Thread_local struct {
    mw_error error;
    char text[sizeof(mw_error)];
} last;

static mw_error *forget_last(void)
{
    last.error.status = MW_OK;
    last.text[0] = '\0';
    return &last.error;
}

mw_error *mw__surface_begin(void)
{
    forget_last();
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
        mw__printable_printf(last.text, sizeof last.text, "line %d, column %d: %s", err->text_line, err->text_column,
                             err->message);
    else
        mw__printable_printf(last.text, sizeof last.text, "%s", err->message);
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

static mw_status fail_out(const void *out, mw_error *err)
{
    return out == NULL
               ? mw__fail(err, MW_ERROR_ARGUMENT, "Invalid Function Argument: the out pointer is NULL")
               : mw__fail(err, MW_ERROR_ARGUMENT,
                          "Invalid Function Argument: the out pointer is a handle: calls that create or allocate take "
                          "it first, the others last");
}

mw_status mw__surface_out(void **out, mw_error *err)
{
    const bool good = out != NULL && !mw__handle_is(out);
    if (good)
        *out = NULL;
    if (mw__failed(err))
        return err->status;
    return good ? MW_OK : fail_out(out, err);
}

e5rt_error_code mw__surface_release(void **handle, mw__kind kind)
{
    mw_error *err = mw__surface_begin();
    if (!mw__failed(err))
        mw__handle_release(handle, kind, err);
    return mw__surface_end(err);
}

void *mw__surface_get(void *handle, mw__kind kind, const char *name, mw_error *err)
{
    return mw__failed(err) ? NULL : mw__handle_get(handle, kind, name, err);
}

void *mw__surface_get_for(void *handle, mw__kind kind, const char *name, const void *out, mw_error *err)
{
    void *object = mw__surface_get(handle, kind, name, err);
    if (object == NULL || (out != NULL && !mw__handle_is(out)))
        return object;
    fail_out(out, err);
    return NULL;
}

e5rt_error_code mw__surface_end_bounds(uint64_t wanted, uint64_t count, const char *what, mw_error *err)
{
    if (mw__failed(err) || wanted <= count)
        return mw__surface_end(err);
    mw__fail(err, MW_ERROR_ARGUMENT, "%llu %s wanted, there are %llu", (unsigned long long)wanted, what,
             (unsigned long long)count);
    mw__surface_end(err);
    return E5RT_OUT_OF_BOUNDS;
}

e5rt_error_code e5rt_mw_set_allocator(void *(*resize)(void *user, void *pointer, size_t size), void *user)
{
    mw_error *err = mw__surface_begin();
    if (!mw__failed(err))
        mw__engine_set_allocator((mw_allocator){.resize = resize, .user = user});
    return mw__surface_end(err);
}

static bool are_now(const mw_thread_hooks *hooks)
{
    const mw_thread_hooks *now = mw__thread_hooks_now();
    return hooks == NULL || now == NULL
               ? hooks == now
               : hooks->start == now->start && hooks->join == now->join && hooks->user == now->user;
}

static mw_status put_hooks(const mw_thread_hooks *hooks, mw_error *err)
{
    MW_TRY(mw__thread_hooks_check(hooks, err));
    if (!are_now(hooks)) {
        MW_TRY(mw__queue_end(err));
        MW_TRY(mw__thread_hooks_put(hooks, err));
        mw__team_end();
    }
    mw__thread_join_left();
    return MW_OK;
}

/* Without mw__surface_begin: to ask whether the process was forked would make the library stay, and this one no parent
 * of processes that use the engine. In a forked child it works, for threads that are not the engine's. */
e5rt_error_code e5rt_mw_set_thread_hooks(bool (*start)(void *user, const char *name, void *(*run)(void *argument),
                                                       void *argument, void **out_thread),
                                         void (*join)(void *user, void *thread), void *user)
{
    const mw_thread_hooks hooks = {.start = start, .join = join, .user = user};
    mw_error *err = forget_last();
    put_hooks(start != NULL || join != NULL ? &hooks : NULL, err);
    return mw__surface_end(err);
}

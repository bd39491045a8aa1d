/* e5rt, what only this engine has: the plan of an encoded operation, and profiling. */
#include "engine/run/profile.h"
#include "engine/surface/describe.h"
#include "engine/surface/surface.h"

enum { RUNS_MAX = 1 << 20 };

typedef struct plan_object {
    mw__object object;
    mw__function_object *function; /* names and labels are its library's */
    mw__arena arena;
    e5rt_mw_plan plan;
} plan_object;

static void destroy_plan(mw__object *object)
{
    plan_object *plan = (plan_object *)object;
    mw__arena_deinit(&plan->arena);
    mw__object_release(plan->function);
}

static mw__operation *encoded_operation(void *handle, mw_error *err)
{
    mw__operation *operation = mw__failed(err) ? NULL : mw__handle_get(handle, MW__KIND_OPERATION, "operation", err);
    if (operation == NULL)
        return NULL;
    if (operation->state == MW__ENCODED)
        return mw__operation_idle(operation, err) == MW_OK ? operation : NULL;
    mw__fail(err, MW_ERROR_STATE,
             "operation \"%s\" is not on a stream: its plan depends on what is bound when it is encoded",
             operation->name);
    return NULL;
}

static mw_status create_plan(void **out, void *operation_handle, mw_error *err)
{
    MW_TRY(mw__surface_out(out, err));
    const mw__operation *operation = encoded_operation(operation_handle, err);
    plan_object *plan = operation != NULL ? mw__object_create(sizeof *plan, destroy_plan, err) : NULL;
    if (plan == NULL)
        return err->status;
    mw__arena_init(&plan->arena, &plan->object.allocator);
    plan->function = mw__object_retain(operation->function);
    if (mw__surface_describe_plan(operation->function->program, &operation->commands, &plan->arena, &plan->plan, err) !=
        MW_OK) {
        mw__object_release(plan);
        return err->status;
    }
    return mw__handle_create(MW__KIND_PLAN, plan, out, err);
}

e5rt_error_code e5rt_mw_plan_create(void **out, void *operation)
{
    mw_error *err = mw__surface_begin();
    create_plan(out, operation, err);
    return mw__surface_end(err);
}

e5rt_error_code e5rt_mw_plan_release(void **plan)
{
    mw_error *err = mw__surface_begin();
    if (!mw__failed(err))
        mw__handle_release(plan, MW__KIND_PLAN, err);
    return mw__surface_end(err);
}

e5rt_error_code e5rt_mw_plan_get_data(void *handle, const e5rt_mw_plan **out)
{
    mw_error *err = mw__surface_begin();
    const plan_object *plan = mw__surface_get_for(handle, MW__KIND_PLAN, "plan", out, err);
    if (plan != NULL)
        *out = &plan->plan;
    else if (out != NULL && !mw__handle_is(out))
        *out = NULL;
    return mw__surface_end(err);
}

static mw_status set_profiling(void *handle, uint64_t runs, mw_error *err)
{
    mw__operation *operation = encoded_operation(handle, err);
    if (operation == NULL)
        return err->status;
    if (runs > RUNS_MAX)
        return mw__fail(err, MW_ERROR_ARGUMENT, "a profile of %llu runs: it keeps at most %d", (unsigned long long)runs,
                        RUNS_MAX);
    mw__command_list *commands = &operation->commands;
    mw__profile *profile = NULL;
    if (runs > 0) {
        profile = mw__profile_create(&operation->object.allocator, (size_t)runs, commands->task_count, err);
        if (profile == NULL)
            return MW_ERROR_MEMORY;
    }
    mw__profile_destroy(commands->profile);
    commands->profile = profile;
    return MW_OK;
}

e5rt_error_code e5rt_mw_execution_stream_operation_set_profiling(void *operation, uint64_t runs)
{
    mw_error *err = mw__surface_begin();
    set_profiling(operation, runs, err);
    return mw__surface_end(err);
}

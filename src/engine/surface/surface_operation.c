/* e5rt: operations of a compiled function. Their ports are in surface_port.c. */
#include "engine/surface/loaded.h"
#include "engine/surface/surface_options.h"

#include <stdio.h>
#include <string.h>

/* ---- operations ---- */

static void destroy_operation(mw__object *object)
{
    mw__operation *operation = (mw__operation *)object;
    const mw__program *program = operation->function->program;
    for (size_t i = 0; operation->inputs != NULL && i < program->input_count; i++)
        mw__object_release(operation->inputs[i]);
    for (size_t i = 0; operation->outputs != NULL && i < program->output_count; i++)
        mw__object_release(operation->outputs[i]);
    mw__free(&object->allocator, operation->inputs);
    mw__free(&object->allocator, operation->outputs);
    mw__free(&object->allocator, operation->name);
    mw__command_list_deinit(&operation->commands);
    mw__object_release(operation->weights);
    mw__object_release(operation->completion);
    mw__operation_drop_dependents(operation);
    mw__object_release(operation->function);
}

void mw__operation_add_runner(mw__operation *operation) { atomic_fetch_add(&operation->runners, 1); }

void mw__operation_drop_runner(mw__operation *operation)
{
    if (atomic_fetch_sub(&operation->runners, 1) == 1 && operation->loaded)
        mw__loaded_remove(operation->function->program);
}

static mw_status fill_operation(mw__operation *operation, const mw__operation_options *options, mw_error *err)
{
    const mw_allocator *allocator = &operation->object.allocator;
    operation->function = mw__object_retain(options->function);
    const mw__program *program = operation->function->program;
    operation->inputs = mw__alloc(allocator, program->input_count, sizeof(mw__buffer_object *), err);
    operation->outputs = mw__alloc(allocator, program->output_count, sizeof(mw__buffer_object *), err);
    if (operation->inputs == NULL || operation->outputs == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(mw__surface_weights_bind(operation, options->weights, err));
    const char *name = options->operation_name != NULL ? options->operation_name : program->name;
    MW_TRY(mw__surface_copy(&operation->object, &operation->name, name, err));
    MW_TRY(mw__loaded_add(program, name, err));
    operation->loaded = true;
    return MW_OK;
}

static mw_status create_operation(void **out, void *handle, mw_error *err)
{
    MW_TRY(mw__surface_out(out, err));
    const mw__operation_options *options = mw__handle_get(handle, MW__KIND_OPERATION_OPTIONS, "options", err);
    mw__operation *operation = options != NULL ? mw__object_create(sizeof *operation, destroy_operation, err) : NULL;
    if (operation == NULL)
        return err->status;
    mw__operation_add_runner(operation);
    mw__object_retain(operation); /* a handle that cannot be made releases it */
    mw_status status = fill_operation(operation, options, err);
    if (status == MW_OK)
        status = mw__handle_create(MW__KIND_OPERATION, operation, out, err);
    else
        mw__object_release(operation);
    if (status != MW_OK)
        mw__operation_drop_runner(operation);
    mw__object_release(operation);
    return status;
}

e5rt_error_code e5rt_execution_stream_operation_create_precompiled_compute_operation_with_options(void **out,
                                                                                                  void *options)
{
    mw_error *err = mw__surface_begin();
    create_operation(out, options, err);
    return mw__surface_end(err);
}

static mw_status release_operation(void **handle, mw_error *err)
{
    mw_error none = {0}; /* what is wrong with the handle is said by its release */
    const bool readable = handle != NULL && !mw__handle_is(handle);
    mw__operation *operation = readable ? mw__handle_get(*handle, MW__KIND_OPERATION, "operation", &none) : NULL;
    if (operation != NULL)
        mw__object_retain(operation);
    const mw_status status = mw__handle_release(handle, MW__KIND_OPERATION, err);
    if (status == MW_OK)
        mw__operation_drop_runner(operation);
    mw__object_release(operation);
    return status;
}

e5rt_error_code e5rt_execution_stream_operation_release(void **operation)
{
    mw_error *err = mw__surface_begin();
    if (!mw__failed(err))
        release_operation(operation, err);
    return mw__surface_end(err);
}

static mw_status prepare_operation(void *handle, mw_error *err)
{
    mw__operation *operation = mw__failed(err) ? NULL : mw__handle_get(handle, MW__KIND_OPERATION, "operation", err);
    if (operation == NULL)
        return err->status;
    if (operation->state == MW__READY)
        return mw__fail(err, MW_ERROR_STATE,
                        "Op has not been encoded and hence cannot be reset to 'ReadyForEncode' (operation \"%s\")",
                        operation->name);
    if (operation->state == MW__ENCODED)
        return mw__fail(err, MW_ERROR_STATE, "operation \"%s\" is on a stream: reset the stream first",
                        operation->name);
    operation->state = MW__READY;
    return MW_OK;
}

e5rt_error_code e5rt_execution_stream_operation_prepare_op_for_encode(void *operation)
{
    mw_error *err = mw__surface_begin();
    prepare_operation(operation, err);
    return mw__surface_end(err);
}

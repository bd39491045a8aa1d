/* e5rt: the ports of an operation: which there are, what they take, and binding buffers to them. */
#include "base/shown.h"
#include "engine/surface/surface.h"

#include <stdio.h>
#include <string.h>

/* ---- the ports that there are ---- */

/* A state is an input and an output of one name. */
typedef enum side { INPUT, OUTPUT, INOUT } side;

static const char *const side_names[] = {"input", "output", "inout"};

static size_t count_of(const mw__program *program, side which)
{
    return which == INPUT ? program->input_count : which == OUTPUT ? program->output_count : program->state_count;
}

static const mw__port_info *port_of(const mw__program *program, side which, size_t index)
{
    if (which == OUTPUT)
        return &program->outputs[index];
    return &program->inputs[which == INPUT ? index : program->states[index].input];
}

static mw__operation *get_operation(void *handle, const void *out, mw_error *err)
{
    mw__operation *operation = mw__failed(err) ? NULL : mw__handle_get(handle, MW__KIND_OPERATION, "operation", err);
    if (operation == NULL || out != NULL)
        return operation;
    mw__fail(err, MW_ERROR_ARGUMENT, "Invalid Function Argument: the out pointer is NULL");
    return NULL;
}

static e5rt_error_code get_count(void *handle, side which, uint64_t *out)
{
    mw_error *err = mw__surface_begin();
    const mw__operation *operation = get_operation(handle, out, err);
    if (operation != NULL)
        *out = count_of(operation->function->program, which);
    return mw__surface_end(err);
}

static e5rt_error_code get_names(void *handle, side which, uint64_t count, const char **out)
{
    mw_error *err = mw__surface_begin();
    const mw__operation *operation = get_operation(handle, count > 0 ? (const void *)out : handle, err);
    const mw__program *program = operation != NULL ? operation->function->program : NULL;
    if (program != NULL && count > count_of(program, which)) {
        mw__fail(err, MW_ERROR_ARGUMENT, "operation \"%s\" has %zu %s ports, not %llu", operation->name,
                 count_of(program, which), side_names[which], (unsigned long long)count);
        mw__surface_end(err);
        return E5RT_OUT_OF_BOUNDS;
    }
    for (uint64_t i = 0; program != NULL && i < count; i++)
        out[i] = port_of(program, which, (size_t)i)->name;
    return mw__surface_end(err);
}

e5rt_error_code e5rt_execution_stream_operation_get_num_inputs(void *operation, uint64_t *out)
{
    return get_count(operation, INPUT, out);
}

e5rt_error_code e5rt_execution_stream_operation_get_num_outputs(void *operation, uint64_t *out)
{
    return get_count(operation, OUTPUT, out);
}

e5rt_error_code e5rt_execution_stream_operation_get_num_inouts(void *operation, uint64_t *out)
{
    return get_count(operation, INOUT, out);
}

e5rt_error_code e5rt_execution_stream_operation_get_input_names(void *operation, uint64_t count, const char **out)
{
    return get_names(operation, INPUT, count, out);
}

e5rt_error_code e5rt_execution_stream_operation_get_output_names(void *operation, uint64_t count, const char **out)
{
    return get_names(operation, OUTPUT, count, out);
}

e5rt_error_code e5rt_execution_stream_operation_get_inout_names(void *operation, uint64_t count, const char **out)
{
    return get_names(operation, INOUT, count, out);
}

e5rt_error_code e5rt_execution_stream_operation_get_opname(void *handle, const char **out)
{
    mw_error *err = mw__surface_begin();
    const mw__operation *operation = get_operation(handle, out, err);
    if (operation != NULL)
        *out = operation->name;
    return mw__surface_end(err);
}

/* ---- one port ---- */

static void destroy_port(mw__object *object) { mw__object_release(((mw__port *)object)->operation); }

static mw_status no_port(const mw__operation *operation, side which, const char *name, mw_error *err)
{
    const mw__program *program = operation->function->program;
    char names[300] = "";
    for (size_t i = 0, used = 0; i < count_of(program, which) && used < sizeof names - 1; i++)
        used += mw__shown_printf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "",
                                 port_of(program, which, i)->name);
    return mw__fail(err, MW_ERROR_ARGUMENT, "operation \"%s\" has no %s port \"%s\"; it has: %s", operation->name,
                    side_names[which], name, names);
}

static const mw__port_info *find_port(const mw__program *program, side which, const char *name, size_t *out_state)
{
    if (which != INOUT)
        return mw__port_find(which == OUTPUT ? program->outputs_by_name : program->inputs_by_name,
                             count_of(program, which), name);
    for (*out_state = 0; *out_state < program->state_count; ++*out_state)
        if (strcmp(port_of(program, INOUT, *out_state)->name, name) == 0)
            return port_of(program, INOUT, *out_state);
    return NULL;
}

static mw_status retain_port(void *handle, const char *name, side which, void **out, mw_error *err)
{
    MW_TRY(mw__surface_out(out, err));
    mw__operation *operation = mw__handle_get(handle, MW__KIND_OPERATION, "operation", err);
    if (operation == NULL)
        return err->status;
    MW_TRY(mw__surface_text(name, "portName", err));
    const mw__program *program = operation->function->program;
    size_t state = 0;
    const mw__port_info *info = find_port(program, which, name, &state);
    if (info == NULL)
        return no_port(operation, which, name, err);
    mw__port *port = mw__object_create(sizeof *port, destroy_port, err);
    if (port == NULL)
        return MW_ERROR_MEMORY;
    port->operation = mw__object_retain(operation);
    port->slot =
        which == OUTPUT ? &operation->outputs[info - program->outputs] : &operation->inputs[info - program->inputs];
    port->next = which == INOUT ? &operation->outputs[program->states[state].output] : NULL;
    port->info = info;
    return mw__handle_create(MW__KIND_PORT, port, out, err);
}

e5rt_error_code e5rt_execution_stream_operation_retain_input_port(void *operation, const char *name, void **out_port)
{
    mw_error *err = mw__surface_begin();
    retain_port(operation, name, INPUT, out_port, err);
    return mw__surface_end(err);
}

e5rt_error_code e5rt_execution_stream_operation_retain_output_port(void *operation, const char *name, void **out_port)
{
    mw_error *err = mw__surface_begin();
    retain_port(operation, name, OUTPUT, out_port, err);
    return mw__surface_end(err);
}

e5rt_error_code e5rt_execution_stream_operation_retain_inout_port(void *operation, const char *name, void **out_port)
{
    mw_error *err = mw__surface_begin();
    retain_port(operation, name, INOUT, out_port, err);
    return mw__surface_end(err);
}

e5rt_error_code e5rt_io_port_release(void **port)
{
    mw_error *err = mw__surface_begin();
    if (!mw__failed(err))
        mw__handle_release(port, MW__KIND_PORT, err);
    return mw__surface_end(err);
}

/* ---- what is bound ---- */

static void bind_slot(mw__buffer_object **slot, mw__buffer_object *buffer)
{
    mw__object_retain(buffer);
    mw__object_release(*slot);
    *slot = buffer;
}

static mw_status bind_buffer(void *port_handle, void *buffer_handle, mw_error *err)
{
    const mw__port *port = mw__failed(err) ? NULL : mw__handle_get(port_handle, MW__KIND_PORT, "port", err);
    mw__buffer_object *buffer = port != NULL ? mw__handle_get(buffer_handle, MW__KIND_BUFFER, "buffer", err) : NULL;
    if (buffer == NULL)
        return err->status;
    if (port->operation->state != MW__READY)
        return mw__fail(err, MW_ERROR_STATE,
                        "port \"%s\" of operation \"%s\" cannot be bound: bindings are frozen by encode; reset the "
                        "stream and prepare the operation for encode first",
                        port->info->name, port->operation->name);
    bind_slot(port->slot, buffer);
    if (port->next != NULL)
        bind_slot(port->next, buffer);
    return MW_OK;
}

e5rt_error_code e5rt_io_port_bind_buffer_object(void *port, void *buffer)
{
    mw_error *err = mw__surface_begin();
    bind_buffer(port, buffer, err);
    return mw__surface_end(err);
}

static mw_status retain_buffer(void *handle, void **out, mw_error *err)
{
    MW_TRY(mw__surface_out(out, err));
    const mw__port *port = mw__handle_get(handle, MW__KIND_PORT, "port", err);
    if (port == NULL)
        return err->status;
    if (*port->slot == NULL)
        return mw__fail(err, MW_ERROR_STATE, "nothing is bound to port \"%s\" of operation \"%s\"", port->info->name,
                        port->operation->name);
    return mw__handle_create(MW__KIND_BUFFER, mw__object_retain(*port->slot), out, err);
}

e5rt_error_code e5rt_io_port_retain_buffer_object(void *port, void **out)
{
    mw_error *err = mw__surface_begin();
    retain_buffer(port, out, err);
    return mw__surface_end(err);
}

/* ---- what a port takes ---- */

static e5rt_error_code get_kind(void *handle, bool answer, unsigned char *out)
{
    mw_error *err = mw__surface_begin();
    const mw__port *port = mw__failed(err) ? NULL : mw__handle_get(handle, MW__KIND_PORT, "port", err);
    if (port != NULL && out == NULL)
        mw__fail(err, MW_ERROR_ARGUMENT, "Invalid Function Argument: the out pointer is NULL");
    else if (port != NULL)
        *out = answer;
    return mw__surface_end(err);
}

e5rt_error_code e5rt_io_port_is_tensor(void *port, unsigned char *out) { return get_kind(port, true, out); }
e5rt_error_code e5rt_io_port_is_surface(void *port, unsigned char *out) { return get_kind(port, false, out); }

static mw_status retain_desc(void *handle, void **out, mw_error *err)
{
    MW_TRY(mw__surface_out(out, err));
    const mw__port *port = mw__handle_get(handle, MW__KIND_PORT, "port", err);
    if (port == NULL)
        return err->status;
    const mw__plan *plan = &port->operation->function->program->plan;
    return mw__tensor_desc_make(out, plan->buffers[port->info->buffer].value->type, err);
}

e5rt_error_code e5rt_io_port_retain_tensor_desc(void *port, void **out)
{
    mw_error *err = mw__surface_begin();
    retain_desc(port, out, err);
    return mw__surface_end(err);
}

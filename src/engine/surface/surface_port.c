/* e5rt: the ports of an operation: which there are, what they take, and binding buffers to them. */
#include "engine/surface/surface.h"

/* ---- the ports that there are ---- */

static mw__operation *get_operation(void *handle, const void *out, mw_error *err)
{
    return mw__surface_get_for(handle, MW__KIND_OPERATION, "operation", out, err);
}

static e5rt_error_code get_count(void *handle, mw__side side, uint64_t *out)
{
    mw_error *err = mw__surface_begin();
    const mw__operation *operation = get_operation(handle, out, err);
    if (operation != NULL)
        *out = mw__port_count(operation->function->program, side);
    return mw__surface_end(err);
}

static e5rt_error_code get_names(void *handle, mw__side side, uint64_t count, const char **out)
{
    mw_error *err = mw__surface_begin();
    const mw__operation *operation = get_operation(handle, count > 0 ? (const void *)out : err, err);
    return mw__port_names(operation != NULL ? operation->function->program : NULL, side, count, out, err);
}

e5rt_error_code e5rt_execution_stream_operation_get_num_inputs(void *operation, uint64_t *out)
{
    return get_count(operation, MW__SIDE_INPUT, out);
}

e5rt_error_code e5rt_execution_stream_operation_get_num_outputs(void *operation, uint64_t *out)
{
    return get_count(operation, MW__SIDE_OUTPUT, out);
}

e5rt_error_code e5rt_execution_stream_operation_get_num_inouts(void *operation, uint64_t *out)
{
    return get_count(operation, MW__SIDE_INOUT, out);
}

e5rt_error_code e5rt_execution_stream_operation_get_input_names(void *operation, uint64_t count, const char **out)
{
    return get_names(operation, MW__SIDE_INPUT, count, out);
}

e5rt_error_code e5rt_execution_stream_operation_get_output_names(void *operation, uint64_t count, const char **out)
{
    return get_names(operation, MW__SIDE_OUTPUT, count, out);
}

e5rt_error_code e5rt_execution_stream_operation_get_inout_names(void *operation, uint64_t count, const char **out)
{
    return get_names(operation, MW__SIDE_INOUT, count, out);
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

static mw__buffer_object **slot_of(const mw__operation *operation, mw__side side, const mw__port_info *info)
{
    const mw__program *program = operation->function->program;
    return side == MW__SIDE_OUTPUT ? &operation->outputs[info - program->outputs]
                                   : &operation->inputs[info - program->inputs];
}

/* Where the next value of a state goes. */
static mw__buffer_object **next_of(const mw__operation *operation, const mw__port_info *info)
{
    const mw__program *program = operation->function->program;
    size_t state = 0;
    while (mw__port_at(program, MW__SIDE_INOUT, state) != info)
        state++;
    return &operation->outputs[program->states[state].output];
}

static mw_status retain_port(void *handle, const char *name, mw__side side, void **out, mw_error *err)
{
    MW_TRY(mw__surface_out(out, err));
    mw__operation *operation = mw__handle_get(handle, MW__KIND_OPERATION, "operation", err);
    if (operation == NULL)
        return err->status;
    MW_TRY(mw__surface_text(name, "portName", err));
    const mw__port_info *info =
        mw__port_named(operation->function->program, side, name, "operation", operation->name, err);
    mw__port *port = info != NULL ? mw__object_create(sizeof *port, destroy_port, err) : NULL;
    if (port == NULL)
        return err->status;
    port->operation = mw__object_retain(operation);
    port->slot = slot_of(operation, side, info);
    port->next = side == MW__SIDE_INOUT ? next_of(operation, info) : NULL;
    port->info = info;
    return mw__handle_create(MW__KIND_PORT, port, out, err);
}

e5rt_error_code e5rt_execution_stream_operation_retain_input_port(void *operation, const char *name, void **out_port)
{
    mw_error *err = mw__surface_begin();
    retain_port(operation, name, MW__SIDE_INPUT, out_port, err);
    return mw__surface_end(err);
}

e5rt_error_code e5rt_execution_stream_operation_retain_output_port(void *operation, const char *name, void **out_port)
{
    mw_error *err = mw__surface_begin();
    retain_port(operation, name, MW__SIDE_OUTPUT, out_port, err);
    return mw__surface_end(err);
}

e5rt_error_code e5rt_execution_stream_operation_retain_inout_port(void *operation, const char *name, void **out_port)
{
    mw_error *err = mw__surface_begin();
    retain_port(operation, name, MW__SIDE_INOUT, out_port, err);
    return mw__surface_end(err);
}

e5rt_error_code e5rt_io_port_release(void **port) { return mw__surface_release(port, MW__KIND_PORT); }

/* ---- what is bound ---- */

static void bind_slot(mw__buffer_object **slot, mw__buffer_object *buffer)
{
    mw__object_retain(buffer);
    mw__object_release(*slot);
    *slot = buffer;
}

static mw_status bind_memory(void *port_handle, void *handle, mw__kind kind, const char *name, mw_error *err)
{
    const mw__port *port = mw__failed(err) ? NULL : mw__handle_get(port_handle, MW__KIND_PORT, "port", err);
    mw__buffer_object *buffer = port != NULL ? mw__handle_get(handle, kind, name, err) : NULL;
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
    bind_memory(port, buffer, MW__KIND_BUFFER, "buffer", err);
    return mw__surface_end(err);
}

e5rt_error_code e5rt_io_port_bind_memory_object(void *port, void *memory)
{
    mw_error *err = mw__surface_begin();
    bind_memory(port, memory, MW__KIND_MEMORY, "memory", err);
    return mw__surface_end(err);
}

static mw_status retain_bound(void *handle, mw__kind kind, void **out, mw_error *err)
{
    MW_TRY(mw__surface_out(out, err));
    const mw__port *port = mw__handle_get(handle, MW__KIND_PORT, "port", err);
    if (port == NULL)
        return err->status;
    if (*port->slot == NULL)
        return mw__fail(err, MW_ERROR_STATE, "nothing is bound to port \"%s\" of operation \"%s\"", port->info->name,
                        port->operation->name);
    return mw__handle_create(kind, mw__object_retain(*port->slot), out, err);
}

e5rt_error_code e5rt_io_port_retain_buffer_object(void *port, void **out)
{
    mw_error *err = mw__surface_begin();
    retain_bound(port, MW__KIND_BUFFER, out, err);
    return mw__surface_end(err);
}

e5rt_error_code e5rt_io_port_retain_memory_object(void *port, void **out)
{
    mw_error *err = mw__surface_begin();
    retain_bound(port, MW__KIND_MEMORY, out, err);
    return mw__surface_end(err);
}

/* ---- what a port takes ---- */

static e5rt_error_code answer(void *handle, bool is_so, e5rt_bool *out)
{
    mw_error *err = mw__surface_begin();
    if (mw__surface_get_for(handle, MW__KIND_PORT, "port", out, err) != NULL)
        *out = is_so;
    return mw__surface_end(err);
}

e5rt_error_code e5rt_io_port_is_tensor(void *port, e5rt_bool *out) { return answer(port, true, out); }
e5rt_error_code e5rt_io_port_is_surface(void *port, e5rt_bool *out) { return answer(port, false, out); }
/* A program that declares other shapes is not compiled. */
e5rt_error_code e5rt_io_port_is_dynamic(void *port, e5rt_bool *out) { return answer(port, false, out); }
e5rt_error_code e5rt_io_port_has_known_shape(void *port, e5rt_bool *out) { return answer(port, true, out); }

e5rt_error_code e5rt_io_port_get_supported_buffer_types(void *handle, uint64_t *out_count, const uint32_t **out_types)
{
    static const uint32_t types[] = {0, 1, 2};
    mw_error *err = mw__surface_begin();
    const void *place = out_count != NULL ? (const void *)out_types : NULL;
    if (mw__surface_get_for(handle, MW__KIND_PORT, "port", place, err) != NULL)
        *out_count = sizeof types / sizeof *types, *out_types = types;
    return mw__surface_end(err);
}

static mw_status retain_desc(void *handle, void **out, mw_error *err)
{
    MW_TRY(mw__surface_out(out, err));
    const mw__port *port = mw__handle_get(handle, MW__KIND_PORT, "port", err);
    if (port == NULL)
        return err->status;
    return mw__port_desc(port->operation->function->program, port->info, out, err);
}

e5rt_error_code e5rt_io_port_retain_tensor_desc(void *port, void **out)
{
    mw_error *err = mw__surface_begin();
    retain_desc(port, out, err);
    return mw__surface_end(err);
}

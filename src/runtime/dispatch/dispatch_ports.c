/* The ane_e5rt_* C ABI: the data of ports. */
#include "base/memory/checked.h"
#include "runtime/dispatch/dispatch_program.h"

#include <string.h>

mw_status mw__dispatch_need_operation(const ane_e5rt_program_t *program, size_t index, mw_error *err)
{
    if (program == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "the program is NULL");
    if (index < program->operations.count)
        return MW_OK;
    return mw__fail(err, MW_ERROR_ARGUMENT, "operation %zu does not exist: the program has %zu, from 0", index,
                    program->operations.count);
}

mw_status mw__dispatch_find_port(const ane_e5rt_program_t *program, size_t index, const char *name, bool is_output,
                                 size_t *out, mw_error *err)
{
    MW_TRY(mw__dispatch_need_operation(program, index, err));
    if (name == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "the port name is NULL");
    const mw__dispatch *dispatch = program->operations.entries[index].dispatch;
    *out = mw__dispatch_find(dispatch, name, is_output);
    if (*out < mw__dispatch_port_count(dispatch))
        return MW_OK;
    return mw__fail(err, MW_ERROR_ARGUMENT, "there is no %s port \"%s\"%s", is_output ? "output" : "input", name,
                    program->operations.count > 1 ? " in that operation" : "");
}

static mw_status find_buffer(const ane_e5rt_program_t *program, size_t index, const char *name, bool is_output,
                             const mw__device_buffer **out, mw_error *err)
{
    size_t port = 0;
    MW_TRY(mw__dispatch_find_port(program, index, name, is_output, &port, err));
    *out = mw__dispatch_buffer(program->operations.entries[index].dispatch, port);
    return MW_OK;
}

mw_status mw__dispatch_set(const ane_e5rt_program_t *program, size_t index, const char *name, const uint16_t *data,
                           size_t n_elems, mw_error *err)
{
    const mw__device_buffer *buffer = NULL;
    size_t bytes = 0;
    MW_TRY(find_buffer(program, index, name, false, &buffer, err));
    if (!mw__mul_size(n_elems, sizeof(uint16_t), &bytes) || bytes > buffer->size)
        return mw__fail(err, MW_ERROR_SHAPE, "%zu elements of 2 bytes exceed port \"%s\" of %zu bytes", n_elems, name,
                        buffer->size);
    if (data == NULL && bytes > 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "the data for port \"%s\" is NULL", name);
    if (bytes > 0)
        memcpy(buffer->data, data, bytes);
    return MW_OK;
}

/* What is beyond the port is not written: clients ask for more than there is and expect that. */
mw_status mw__dispatch_get(const ane_e5rt_program_t *program, size_t index, const char *name, uint16_t *dest,
                           size_t n_elems, mw_error *err)
{
    const mw__device_buffer *buffer = NULL;
    size_t bytes = 0;
    MW_TRY(find_buffer(program, index, name, true, &buffer, err));
    if (!mw__mul_size(n_elems, sizeof(uint16_t), &bytes) || bytes > buffer->size)
        bytes = buffer->size;
    if (dest == NULL && bytes > 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "the destination for port \"%s\" is NULL", name);
    if (bytes > 0)
        memcpy(dest, buffer->data, bytes);
    return MW_OK;
}

int ane_e5rt_program_set_input_fp16(ane_e5rt_program_t *program, const char *port, const uint16_t *data, size_t n_elems)
{
    mw_error *err = mw__dispatch_begin();
    return mw__dispatch_end(__func__, mw__dispatch_set(program, 0, port, data, n_elems, err));
}

int ane_e5rt_program_get_output_fp16(ane_e5rt_program_t *program, const char *port, uint16_t *dest, size_t n_elems)
{
    mw_error *err = mw__dispatch_begin();
    return mw__dispatch_end(__func__, mw__dispatch_get(program, 0, port, dest, n_elems, err));
}

static int port_buffer(const char *call, const ane_e5rt_program_t *program, const char *name, bool is_output,
                       void **out_data, size_t *out_size)
{
    mw_error *err = mw__dispatch_begin();
    const mw__device_buffer none = {0}, *buffer = NULL;
    mw_status status = find_buffer(program, 0, name, is_output, &buffer, err);
    if (status == MW_OK && (out_data == NULL || out_size == NULL))
        status = mw__fail(err, MW_ERROR_ARGUMENT, "no place for the buffer of port \"%s\"", name);
    if (status != MW_OK)
        buffer = &none;
    if (out_data != NULL)
        *out_data = buffer->data;
    if (out_size != NULL)
        *out_size = buffer->size;
    return mw__dispatch_end(call, status);
}

int ane_e5rt_program_input_buffer(ane_e5rt_program_t *program, const char *port, void **out_data, size_t *out_size)
{
    return port_buffer(__func__, program, port, false, out_data, out_size);
}

int ane_e5rt_program_output_buffer(ane_e5rt_program_t *program, const char *port, void **out_data, size_t *out_size)
{
    return port_buffer(__func__, program, port, true, out_data, out_size);
}

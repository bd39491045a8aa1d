/* The ane_e5rt_* C ABI: several operations on one stream, what they share and what they wait for. */
#include "base/file/file.h"
#include "runtime/dispatch/dispatch_program.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static mw_status need_program(const ane_e5rt_program_t *program, mw_error *err)
{
    return program != NULL ? MW_OK : mw__fail(err, MW_ERROR_ARGUMENT, "the program is NULL");
}

/* ---- operations ---- */

/* A cache holds the bundle of one program, so each operation after the first has a folder in it: "op1", "op2". *out is
 * freed with mw__free. */
static mw_status make_cache(const ane_e5rt_program_t *program, char **out, mw_error *err)
{
    *out = NULL;
    if (program->cache_folder == NULL)
        return MW_OK;
    const size_t size = strlen(program->cache_folder) + 32;
    *out = mw__alloc(mw__allocator_default(), size, 1, err);
    if (*out == NULL)
        return MW_ERROR_MEMORY;
    snprintf(*out, size, "%s/op%zu", program->cache_folder, program->operations.count);
    return mw__file_make_folders(*out, err);
}

static mw_status add_call(ane_e5rt_program_t *program, const char *mil_path, const mw__port_list *inputs,
                          const mw__port_list *outputs, mw_error *err)
{
    MW_TRY(need_program(program, err));
    if (mil_path == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mil_path is NULL");
    if (program->operations.count >= INT_MAX)
        return mw__fail(err, MW_ERROR_ARGUMENT, "the program is full: it has %zu operations",
                        program->operations.count);
    char *cache = NULL;
    mw_status status = make_cache(program, &cache, err);
    if (status == MW_OK)
        status = mw__dispatch_append(program, mil_path, cache, inputs, outputs, err);
    mw__free(mw__allocator_default(), cache);
    return status;
}

int ane_e5rt_program_add_op(ane_e5rt_program_t *program, const char *mil_path, const char *input_name,
                            size_t input_size, const char *output_name, size_t output_size)
{
    mw_error *err = mw__dispatch_begin();
    const mw__port_list inputs = {&input_name, &input_size, 1}, outputs = {&output_name, &output_size, 1};
    if (mw__dispatch_end(__func__, add_call(program, mil_path, &inputs, &outputs, err)) != 0)
        return -1;
    return (int)program->operations.count - 1;
}

size_t ane_e5rt_program_get_op_count(ane_e5rt_program_t *program)
{
    mw__dispatch_begin();
    return program != NULL ? program->operations.count : 0;
}

int ane_e5rt_program_set_input_fp16_op(ane_e5rt_program_t *program, size_t op_idx, const char *port,
                                       const uint16_t *data, size_t n)
{
    mw_error *err = mw__dispatch_begin();
    return mw__dispatch_end(__func__, mw__dispatch_set(program, op_idx, port, data, n, err));
}

int ane_e5rt_program_get_output_fp16_op(ane_e5rt_program_t *program, size_t op_idx, const char *port, uint16_t *dest,
                                        size_t n)
{
    mw_error *err = mw__dispatch_begin();
    return mw__dispatch_end(__func__, mw__dispatch_get(program, op_idx, port, dest, n, err));
}

int ane_e5rt_program_execute_multi(ane_e5rt_program_t *program)
{
    mw_error *err = mw__dispatch_begin();
    mw_status status = need_program(program, err);
    if (status == MW_OK)
        status = mw__operations_execute(&program->operations, err);
    return mw__dispatch_end(__func__, status);
}

/* ---- between operations ---- */

static mw_status share(ane_e5rt_program_t *program, size_t from, const char *output, size_t to, const char *input,
                       mw_error *err)
{
    size_t source = 0, target = 0;
    MW_TRY(mw__dispatch_find_port(program, from, output, true, &source, err));
    MW_TRY(mw__dispatch_find_port(program, to, input, false, &target, err));
    return mw__operations_share(&program->operations, from, source, to, target, err);
}

int ane_e5rt_program_share_buffer(ane_e5rt_program_t *program, size_t src_op_idx, const char *src_out_port,
                                  size_t dst_op_idx, const char *dst_in_port)
{
    mw_error *err = mw__dispatch_begin();
    return mw__dispatch_end(__func__, share(program, src_op_idx, src_out_port, dst_op_idx, dst_in_port, err));
}

static mw_status bind_memory(ane_e5rt_program_t *program, size_t index, const char *name, bool is_output, int fd,
                             mw_error *err)
{
    size_t port = 0;
    MW_TRY(mw__dispatch_find_port(program, index, name, is_output, &port, err));
    return mw__operations_bind_memory(&program->operations, index, port, fd, err);
}

int ane_e5rt_program_bind_input_memory(ane_e5rt_program_t *program, size_t op_idx, const char *port, int fd)
{
    mw_error *err = mw__dispatch_begin();
    return mw__dispatch_end(__func__, bind_memory(program, op_idx, port, false, fd, err));
}

int ane_e5rt_program_bind_output_memory(ane_e5rt_program_t *program, size_t op_idx, const char *port, int fd)
{
    mw_error *err = mw__dispatch_begin();
    return mw__dispatch_end(__func__, bind_memory(program, op_idx, port, true, fd, err));
}

int ane_e5rt_program_chain_ops(ane_e5rt_program_t *program, size_t src_op_idx, size_t dst_op_idx,
                               const char *event_name)
{
    mw_error *err = mw__dispatch_begin();
    mw_status status = mw__dispatch_need_operation(program, src_op_idx, err);
    if (status == MW_OK)
        status = mw__dispatch_need_operation(program, dst_op_idx, err);
    if (status == MW_OK)
        status = mw__operations_chain(&program->operations, src_op_idx, dst_op_idx, event_name, err);
    return mw__dispatch_end(__func__, status);
}

static mw_status last_signaled(const ane_e5rt_program_t *program, size_t index, uint64_t *out, mw_error *err)
{
    if (out == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "the place for the value is NULL");
    *out = 0;
    MW_TRY(mw__dispatch_need_operation(program, index, err));
    const mw__symbols *symbols = &program->operations.symbols;
    void *event = program->operations.entries[index].event;
    if (event == NULL || symbols->async_event_get_last_signaled_value == NULL)
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "operation %zu has no event: the e5rt library has none", index);
    return MW__E5RT(symbols, async_event_get_last_signaled_value, event, out);
}

int ane_e5rt_program_get_chain_event_last_signaled(ane_e5rt_program_t *program, size_t op_idx, uint64_t *out)
{
    mw_error *err = mw__dispatch_begin();
    return mw__dispatch_end(__func__, last_signaled(program, op_idx, out, err));
}

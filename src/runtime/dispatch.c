/* The ane_e5rt_* C ABI: a thin layer over dispatch_core.c with 0 / -1 results, size checks, a thread-local message and
 * the line on standard error that clients of that ABI look for. Of its multi-operation part only share_buffer within
 * one operation exists. */
#include "runtime/dispatch.h"
#include "base/checked.h"
#include "base/quiet.h"
#include "base/shown.h"
#include "runtime/variables.h"
#include <millwright/ane_e5rt.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct ane_e5rt_program {
    mw__dispatch *dispatch;
};

/* The last failure of each thread, as errno is kept; the ABI has no other place for a message. */
static _Thread_local mw_error last_error;

static atomic_bool quiet; /* for the whole process, as standard error is */

static mw_error *begin_call(void)
{
    last_error.status = MW_OK;
    last_error.message[0] = '\0';
    return &last_error;
}

void ane_e5rt_set_quiet(int on) { atomic_store(&quiet, on != 0); }

/* The line is whole before it is printed, so that lines of several threads do not mix. The message is shown already. */
static void print_failure(const char *call)
{
    char line[sizeof last_error.message + 96];
    if (atomic_load(&quiet) || mw__variable_quiet())
        return;
    const int reason = errno;
    mw__shown_printf(line, sizeof line, "%s: %s\n", call, last_error.message);
    mw__quiet around; /* a reader of the pipe that has gone must not end the process */
    if (mw__quiet_begin(&around, STDERR_FILENO, strlen(line))) {
        fputs(line, stderr);
        mw__quiet_end(&around);
    }
    errno = reason;
}

static int finish_call(const char *call, mw_status status)
{
    if (status != MW_OK)
        print_failure(call);
    return status == MW_OK ? 0 : -1;
}

const char *ane_e5rt_last_error(void) { return last_error.message; }

static mw_status check_arguments(const char *mil_path, uint64_t mask, mw_error *err)
{
    if (mil_path == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mil_path is NULL");
    if (mask == 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "device_mask is 0; use 1 for CPU, 2 for GPU, 4 for ANE");
    return MW_OK;
}

static mw_status add_ports(mw__dispatch *dispatch, const char *const *names, const size_t *sizes, size_t count,
                           bool is_output, mw_error *err)
{
    if (count > 0 && (names == NULL || sizes == NULL))
        return mw__fail(err, MW_ERROR_ARGUMENT, "%zu %s ports without names or sizes", count,
                        is_output ? "output" : "input");
    for (size_t i = 0; i < count; i++) {
        if (names[i] == NULL)
            return mw__fail(err, MW_ERROR_ARGUMENT, "the name of %s port %zu is NULL", is_output ? "output" : "input",
                            i);
        MW_TRY(mw__dispatch_add_port(dispatch, names[i], is_output, sizes[i], NULL, err));
    }
    return MW_OK;
}

/* A program without ports. */
static ane_e5rt_program_t *create(const char *mil_path, const char *cache_dir, uint64_t mask, mw_error *err)
{
    mw__symbols symbols;
    if (check_arguments(mil_path, mask, err) != MW_OK || mw__symbols_load(&symbols, MW_PROVIDER_AUTO, err) != MW_OK)
        return NULL;
    const mw_allocator *allocator = mw__allocator_default();
    ane_e5rt_program_t *program = mw__alloc(allocator, 1, sizeof *program, err);
    if (program == NULL)
        return NULL;
    const mw__dispatch_options options = {.allocator = allocator,
                                          .symbols = &symbols,
                                          .mil_path = mil_path,
                                          .cache_folder = cache_dir,
                                          .mask = mask,
                                          .name = "main"};
    program->dispatch = mw__dispatch_create(&options, err);
    if (program->dispatch != NULL)
        return program;
    ane_e5rt_program_release(program);
    return NULL;
}

ane_e5rt_program_t *ane_e5rt_program_compile(const char *mil_path, const char *cache_dir, uint64_t device_mask,
                                             const char *const *input_names, const size_t *input_sizes, size_t n_inputs,
                                             const char *const *output_names, const size_t *output_sizes,
                                             size_t n_outputs)
{
    mw_error *err = begin_call();
    ane_e5rt_program_t *program = create(mil_path, cache_dir, device_mask, err);
    if (program != NULL && add_ports(program->dispatch, input_names, input_sizes, n_inputs, false, err) == MW_OK &&
        add_ports(program->dispatch, output_names, output_sizes, n_outputs, true, err) == MW_OK &&
        mw__dispatch_finish(program->dispatch, err) == MW_OK)
        return program;
    print_failure(__func__);
    ane_e5rt_program_release(program);
    return NULL;
}

void ane_e5rt_program_release(ane_e5rt_program_t *program)
{
    if (program == NULL)
        return;
    mw__dispatch_destroy(program->dispatch);
    mw__free(mw__allocator_default(), program);
}

static mw_status find_port(const ane_e5rt_program_t *program, const char *name, bool is_output, size_t *out,
                           mw_error *err)
{
    if (program == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "the program is NULL");
    if (name == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "the port name is NULL");
    *out = mw__dispatch_find(program->dispatch, name, is_output);
    if (*out == mw__dispatch_port_count(program->dispatch))
        return mw__fail(err, MW_ERROR_ARGUMENT, "there is no %s port \"%s\"", is_output ? "output" : "input", name);
    return MW_OK;
}

/* The memory of a port, after a check that `n_elems` 16-bit elements fit. */
static mw_status fp16_memory(const ane_e5rt_program_t *program, const char *name, bool is_output, size_t n_elems,
                             void **out_data, size_t *out_bytes, mw_error *err)
{
    size_t port = 0;
    MW_TRY(find_port(program, name, is_output, &port, err));
    const mw__device_buffer *buffer = mw__dispatch_buffer(program->dispatch, port);
    if (!mw__mul_size(n_elems, sizeof(uint16_t), out_bytes) || *out_bytes > buffer->size)
        return mw__fail(err, MW_ERROR_SHAPE, "%zu elements of 2 bytes exceed port \"%s\" of %zu bytes", n_elems, name,
                        buffer->size);
    *out_data = buffer->data;
    return MW_OK;
}

int ane_e5rt_program_set_input_fp16(ane_e5rt_program_t *program, const char *port, const uint16_t *data, size_t n_elems)
{
    mw_error *err = begin_call();
    void *memory = NULL;
    size_t bytes = 0;
    mw_status status = fp16_memory(program, port, false, n_elems, &memory, &bytes, err);
    if (status == MW_OK && data == NULL && bytes > 0)
        status = mw__fail(err, MW_ERROR_ARGUMENT, "the data for port \"%s\" is NULL", port);
    if (status == MW_OK && bytes > 0)
        memcpy(memory, data, bytes);
    return finish_call(__func__, status);
}

int ane_e5rt_program_get_output_fp16(ane_e5rt_program_t *program, const char *port, uint16_t *dest, size_t n_elems)
{
    mw_error *err = begin_call();
    void *memory = NULL;
    size_t bytes = 0;
    mw_status status = fp16_memory(program, port, true, n_elems, &memory, &bytes, err);
    if (status == MW_OK && dest == NULL && bytes > 0)
        status = mw__fail(err, MW_ERROR_ARGUMENT, "the destination for port \"%s\" is NULL", port);
    if (status == MW_OK && bytes > 0)
        memcpy(dest, memory, bytes);
    return finish_call(__func__, status);
}

int ane_e5rt_program_execute(ane_e5rt_program_t *program)
{
    mw_error *err = begin_call();
    if (program == NULL)
        return finish_call(__func__, mw__fail(err, MW_ERROR_ARGUMENT, "the program is NULL"));
    return finish_call(__func__, mw__dispatch_execute(program->dispatch, err));
}

static int port_buffer(const char *call, ane_e5rt_program_t *program, const char *name, bool is_output, void **out_data,
                       size_t *out_size)
{
    mw_error *err = begin_call();
    size_t port = 0;
    mw_status status = find_port(program, name, is_output, &port, err);
    if (status == MW_OK && (out_data == NULL || out_size == NULL))
        status = mw__fail(err, MW_ERROR_ARGUMENT, "no place for the buffer of port \"%s\"", name);
    if (status != MW_OK) {
        if (out_data != NULL)
            *out_data = NULL;
        if (out_size != NULL)
            *out_size = 0;
        return finish_call(call, status);
    }
    const mw__device_buffer *buffer = mw__dispatch_buffer(program->dispatch, port);
    *out_data = buffer->data;
    *out_size = buffer->size;
    return 0;
}

int ane_e5rt_program_input_buffer(ane_e5rt_program_t *program, const char *port, void **out_data, size_t *out_size)
{
    return port_buffer(__func__, program, port, false, out_data, out_size);
}

int ane_e5rt_program_output_buffer(ane_e5rt_program_t *program, const char *port, void **out_data, size_t *out_size)
{
    return port_buffer(__func__, program, port, true, out_data, out_size);
}

static mw_status share(ane_e5rt_program_t *program, const char *output, const char *input, mw_error *err)
{
    size_t from = 0, to = 0;
    MW_TRY(find_port(program, output, true, &from, err));
    MW_TRY(find_port(program, input, false, &to, err));
    const mw__device_buffer *source = mw__dispatch_buffer(program->dispatch, from);
    const size_t size = mw__dispatch_buffer(program->dispatch, to)->size;
    if (source->size != size)
        return mw__fail(err, MW_ERROR_SHAPE, "output \"%s\" has %zu bytes, input \"%s\" has %zu: they cannot share",
                        output, source->size, input, size);
    return mw__dispatch_rebind(program->dispatch, to, source, err);
}

int ane_e5rt_program_share_buffer(ane_e5rt_program_t *program, size_t src_op_idx, const char *src_out_port,
                                  size_t dst_op_idx, const char *dst_in_port)
{
    mw_error *err = begin_call();
    if (src_op_idx != 0 || dst_op_idx != 0)
        return finish_call(__func__,
                           mw__fail(err, MW_ERROR_ARGUMENT, "operation %zu does not exist: the program has one, 0",
                                    src_op_idx != 0 ? src_op_idx : dst_op_idx));
    return finish_call(__func__, share(program, src_out_port, dst_in_port, err));
}

int ane_e5rt_compile_check(const char *mil_path, const char *cache_dir, uint64_t device_mask, const char *custom_opts)
{
    mw_error *err = begin_call();
    mw__symbols symbols;
    if (check_arguments(mil_path, device_mask, err) != MW_OK ||
        mw__symbols_load(&symbols, MW_PROVIDER_AUTO, err) != MW_OK)
        return finish_call(__func__, err->status);
    const mw__dispatch_options options = {.allocator = mw__allocator_default(),
                                          .symbols = &symbols,
                                          .mil_path = mil_path,
                                          .cache_folder = cache_dir,
                                          .mask = device_mask,
                                          .custom = custom_opts};
    int32_t code;
    const mw_status status = mw__dispatch_check(&options, &code, err);
    if (finish_call(__func__, status) == 0)
        return 0;
    if (custom_opts != NULL && symbols.e5_compiler_options_set_custom_ane_compiler_options == NULL)
        return -2;
    return code != 0 ? code : -1;
}

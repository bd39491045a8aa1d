/* The ane_e5rt_* C ABI: a thin layer over dispatch_core.c and operations.c with 0 / -1 results, size checks, a
 * thread-local message and the line on standard error that clients of that ABI look for. This file has what a program
 * of one operation needs; dispatch_multi.c the rest. */
#include "base/file/signal_safe.h"
#include "base/text/printable.h"
#include "runtime/dispatch/dispatch_program.h"
#include "runtime/variables.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The last failure of each thread, as errno is kept; the ABI has no other place for a message. */
static _Thread_local mw_error last_error;

static atomic_bool quiet; /* for the whole process, as standard error is */

mw_error *mw__dispatch_begin(void)
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
    if (atomic_load(&quiet) || mw__variable_silent())
        return;
    const int reason = errno;
    mw__printable_printf(line, sizeof line, "%s: %s\n", call, last_error.message);
    mw__signal_safe around; /* a reader of the pipe that has gone must not end the process */
    if (mw__signal_safe_begin(&around, STDERR_FILENO, strlen(line))) {
        fputs(line, stderr);
        mw__signal_safe_end(&around);
    }
    errno = reason;
}

int mw__dispatch_end(const char *call, mw_status status)
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

/* The memory behind a port has at least 64 bytes, so that nobody else notices a size that is too small. */
static mw_status check_size(const mw__dispatch *dispatch, const char *name, bool is_output, size_t declared,
                            mw_error *err)
{
    const size_t wanted = mw__dispatch_port_bytes(dispatch, mw__dispatch_find(dispatch, name, is_output));
    if (declared >= wanted)
        return MW_OK;
    return mw__fail(err, MW_ERROR_SHAPE, "%s port \"%s\" has %zu bytes, its size is given as %zu",
                    is_output ? "output" : "input", name, wanted, declared);
}

static mw_status add_ports(mw__dispatch *dispatch, const mw__port_list *list, bool is_output, mw_error *err)
{
    const char *side = is_output ? "output" : "input";
    if (list->count > 0 && (list->names == NULL || list->sizes == NULL))
        return mw__fail(err, MW_ERROR_ARGUMENT, "%zu %s ports without names or sizes", list->count, side);
    for (size_t i = 0; i < list->count; i++) {
        if (list->names[i] == NULL)
            return mw__fail(err, MW_ERROR_ARGUMENT, "the name of %s port %zu is NULL", side, i);
        MW_TRY(mw__dispatch_add_port(dispatch, list->names[i], is_output, list->sizes[i], NULL, err));
        MW_TRY(check_size(dispatch, list->names[i], is_output, list->sizes[i], err));
    }
    return MW_OK;
}

mw_status mw__dispatch_append(ane_e5rt_program_t *program, const char *mil_path, const char *cache_folder,
                              const mw__port_list *inputs, const mw__port_list *outputs, mw_error *err)
{
    const mw__dispatch_options options = {.allocator = mw__allocator_default(),
                                          .symbols = &program->operations.symbols,
                                          .mil_path = mil_path,
                                          .cache_folder = cache_folder,
                                          .reuse = mw__symbols_are_engine(&program->operations.symbols),
                                          .profiling = mw__variable_profiling(),
                                          .mask = program->mask,
                                          .name = "main"};
    mw__dispatch *dispatch = mw__dispatch_create(&options, err);
    if (dispatch != NULL && add_ports(dispatch, inputs, false, err) == MW_OK &&
        add_ports(dispatch, outputs, true, err) == MW_OK &&
        mw__operations_add(&program->operations, dispatch, err) == MW_OK)
        return MW_OK;
    mw__dispatch_destroy(dispatch);
    return err->status;
}

static mw_status copy_folder(ane_e5rt_program_t *program, const char *folder, mw_error *err)
{
    if (folder == NULL)
        return MW_OK;
    const size_t size = strlen(folder) + 1;
    program->cache_folder = mw__alloc(mw__allocator_default(), size, 1, err);
    if (program->cache_folder == NULL)
        return MW_ERROR_MEMORY;
    memcpy(program->cache_folder, folder, size);
    return MW_OK;
}

/* Half made after a failure. */
static mw_status fill_program(ane_e5rt_program_t *program, const char *mil_path, const char *cache_dir,
                              const mw__port_list *inputs, const mw__port_list *outputs, mw_error *err)
{
    mw__symbols symbols;
    MW_TRY(mw__symbols_load(&symbols, MW_PROVIDER_AUTO, err));
    MW_TRY(mw__operations_init(&program->operations, mw__allocator_default(), &symbols, err));
    MW_TRY(copy_folder(program, cache_dir, err));
    return mw__dispatch_append(program, mil_path, cache_dir, inputs, outputs, err);
}

ane_e5rt_program_t *ane_e5rt_program_compile(const char *mil_path, const char *cache_dir, uint64_t device_mask,
                                             const char *const *input_names, const size_t *input_sizes, size_t n_inputs,
                                             const char *const *output_names, const size_t *output_sizes,
                                             size_t n_outputs)
{
    mw_error *err = mw__dispatch_begin();
    const mw__port_list inputs = {input_names, input_sizes, n_inputs},
                        outputs = {output_names, output_sizes, n_outputs};
    ane_e5rt_program_t *program = NULL;
    if (check_arguments(mil_path, device_mask, err) == MW_OK)
        program = mw__alloc(mw__allocator_default(), 1, sizeof *program, err);
    if (program != NULL) {
        program->mask = device_mask;
        mw__dispatch_async_init(program);
        if (fill_program(program, mil_path, cache_dir, &inputs, &outputs, err) == MW_OK)
            return program;
    }
    print_failure(__func__);
    ane_e5rt_program_release(program);
    return NULL;
}

void ane_e5rt_program_release(ane_e5rt_program_t *program)
{
    if (program == NULL)
        return;
    mw__dispatch_async_deinit(program);
    if (program->operations.allocator != NULL)
        mw__operations_deinit(&program->operations);
    mw__free(mw__allocator_default(), program->cache_folder);
    mw__free(mw__allocator_default(), program);
}

int ane_e5rt_program_execute(ane_e5rt_program_t *program)
{
    mw_error *err = mw__dispatch_begin();
    if (program == NULL)
        return mw__dispatch_end(__func__, mw__fail(err, MW_ERROR_ARGUMENT, "the program is NULL"));
    return mw__dispatch_end(__func__, mw__operations_execute(&program->operations, err));
}

int ane_e5rt_compile_check(const char *mil_path, const char *cache_dir, uint64_t device_mask, const char *custom_opts)
{
    mw_error *err = mw__dispatch_begin();
    mw__symbols symbols;
    if (check_arguments(mil_path, device_mask, err) != MW_OK ||
        mw__symbols_load(&symbols, MW_PROVIDER_AUTO, err) != MW_OK)
        return mw__dispatch_end(__func__, err->status);
    const mw__dispatch_options options = {.allocator = mw__allocator_default(),
                                          .symbols = &symbols,
                                          .mil_path = mil_path,
                                          .cache_folder = cache_dir,
                                          .reuse = mw__symbols_are_engine(&symbols),
                                          .profiling = mw__variable_profiling(),
                                          .mask = device_mask,
                                          .custom = custom_opts};
    int32_t code;
    const mw_status status = mw__dispatch_check(&options, &code, err);
    if (mw__dispatch_end(__func__, status) == 0)
        return 0;
    if (custom_opts != NULL && symbols.e5_compiler_options_set_custom_ane_compiler_options == NULL)
        return -2;
    return code != 0 ? code : -1;
}

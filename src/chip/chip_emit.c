/* Graphs of one operation as programs of H13: read, made into tasks, packed into a file. */
#include "chip/hwx/pack.h"
#include "graph/ir/ir.h"

#include <millwright/chip_run.h>
#include <string.h>

static mw_status write_file(const mw__emit_operation *op, const mw_hwx_emit_options *options, mw_hwx_emission *out,
                            mw_error *err)
{
    mw__emit_program program;
    void *file = NULL;
    size_t size = 0;
    MW_TRY(mw__emit_task(op, NULL, &program, err));
    const mw__hwx_names names = {options->procedure != NULL ? options->procedure : "net",
                                 options->ident != NULL ? options->ident
                                 : program.sampled      ? "ANEC v1\nmillwright\n\t-t h13\n"
                                                        : "ANEC v1\nmillwright\n\t-t h13\n\t--unverified\n",
                                 options->kernel_name};
    const mw_status status = mw__hwx_pack(op, &program, &names, &file, &size, err);
    mw__free(NULL, program.constants);
    *out = (mw_hwx_emission){.data = file, .size = size, .verified = status == MW_OK && program.sampled};
    return status;
}

mw_hwx_emit_options mw_hwx_emit_defaults(void)
{
    return (mw_hwx_emit_options){.struct_size = sizeof(mw_hwx_emit_options)};
}

static mw_status check_options(const mw_hwx_emit_options *options, mw_error *err)
{
    enum { DIGITS = 64 };
    if (options->struct_size != sizeof *options)
        return mw__fail(err, MW_ERROR_ARGUMENT, "hwx emit options were not made by mw_hwx_emit_defaults");
    if (options->kernel_name != NULL && strspn(options->kernel_name, "0123456789ABCDEF") < DIGITS)
        return mw__fail(err, MW_ERROR_ARGUMENT, "kernel_name: %d hexadecimal digits in capitals", DIGITS);
    return MW_OK;
}

static mw_status emit_graph(const mw_graph *graph, const mw_hwx_emit_options *options, mw_hwx_emission *out,
                            mw_error *err)
{
    mw__emit_source source = {0};
    const mw__function *function = mw__function_choose(graph, options->function, err);
    if (function == NULL)
        return err->status;
    mw_status status = mw__emit_read(&source, function, err);
    if (status == MW_OK)
        status = write_file(&source.op, options, out, err);
    mw__emit_source_deinit(&source);
    return status;
}

mw_status mw_hwx_emit(const mw_graph *graph, const mw_hwx_emit_options *options, mw_hwx_emission *out, mw_error *err)
{
    const mw_hwx_emit_options defaults = mw_hwx_emit_defaults();
    mw_error own = {0};
    mw_error *to = err != NULL ? err : &own;
    if (mw__skips(err))
        return err->status;
    if (out != NULL)
        *out = (mw_hwx_emission){0};
    if (out == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_hwx_emit: nowhere to put the file");
    MW_TRY(mw_graph_check(graph, to));
    if (options == NULL)
        options = &defaults;
    MW_TRY(check_options(options, to));
    return emit_graph(graph, options, out, to);
}

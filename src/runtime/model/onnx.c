/* The ONNX reader, with the library's own programs for what has to be computed while a file is read. */
#include "format/onnx/known.h"

#include "base/error.h"
#include "graph/ir.h"

#include <millwright/onnx.h>
#include <millwright/program.h>
#include <millwright/tune.h>

static mw_status evaluate(const mw_graph *graph, double *out, size_t count, mw_error *err)
{
    mw_compile_options options = mw_compile_defaults();
    options.device = MW_DEVICE_CPU;
    options.threads = 1;
    options.allocator = graph->allocator;
    mw_program *program = mw_compile(graph, &options, err);
    if (program != NULL && mw_run(program, err) == MW_OK)
        mw_program_read(program, mw_tensor_name(mw_graph_output_at(graph, 0)), MW_F64, out, count, err);
    mw_program_destroy(program);
    return err->status;
}

mw_graph *mw_onnx_read(const char *path, const mw_onnx_options *options, mw_error *err)
{
    return mw__onnx_read(path, options, evaluate, err);
}

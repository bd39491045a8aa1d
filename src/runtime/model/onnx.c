/* The ONNX reader, with the library's own programs for what has to be computed while a file is read. */
#include "format/formats.h"

#include "base/text/error.h"
#include "graph/ir/ir.h"

#include <millwright/onnx.h>
#include <millwright/program.h>
#include <millwright/tune.h>

static mw_status read_outputs(mw_program *program, const mw_graph *graph, double *const *out, mw_error *err)
{
    const mw_tensor *output;
    for (size_t i = 0; (output = mw_graph_output_at(graph, i)) != NULL; i++) {
        const size_t count = (size_t)mw_shape_count(mw_tensor_shape(output));
        if (count > 0)
            MW_TRY(mw_program_read(program, mw_tensor_name(output), MW_F64, out[i], count, err));
    }
    return MW_OK;
}

static mw_status evaluate(const mw_graph *graph, double *const *out, mw_error *err)
{
    mw_compile_options options = mw_compile_defaults();
    options.device = MW_DEVICE_CPU;
    options.threads = 1;
    options.allocator = graph->allocator;
    mw_program *program = mw_program_create(graph, &options, err);
    if (program != NULL && mw_program_run(program, err) == MW_OK)
        read_outputs(program, graph, out, err);
    mw_program_destroy(program);
    return err->status;
}

mw_graph *mw_graph_open_onnx(const char *path, const mw_onnx_options *options, mw_error *err)
{
    return mw__onnx_read(path, options, evaluate, err);
}

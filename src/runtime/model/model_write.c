/* A model into a file of any format: its graph, and what its description says. */
#include "base/float_mode.h"
#include "runtime/model/model_object.h"

#include <millwright/mil.h>
#include <string.h>

/* A package as a whole, with every function that it has. */
static mw_status write_coreml(const mw_model *model, const char *path, mw_error *err)
{
    mw_coreml_write_options options = mw_coreml_write_defaults();
    options.description = model->description;
    const mw_graph *graph = model->coreml != NULL ? mw_coreml_graph(model->coreml, err) : model->graph;
    return mw_coreml_write(graph, path, &options, err);
}

mw_status mw_model_write(const mw_model *model, const char *path, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return err->status;
    MW_TRY(mw__live_check(model, MW__LIVE_MODEL, __func__, err));
    if (path == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_model_write: the path is NULL");
    if (mw__model_path_ends_in(path, ".mlpackage"))
        return write_coreml(model, path, err);
    if (mw__model_path_ends_in(path, ".onnx"))
        return mw_onnx_write(model->graph, path, NULL, err);
    return mw_graph_write_mil(model->graph, path, NULL, err);
}

/* ONNX files in a build that cannot decode them. */
#include "base/text/error.h"
#include "format/formats.h"

mw_onnx_options mw_onnx_defaults(void)
{
    return (mw_onnx_options){.struct_size = sizeof(mw_onnx_options), .opset = MW_IOS18};
}

mw_graph *mw__onnx_read(const char *path, const mw_onnx_options *options, mw__onnx_evaluator *evaluator, mw_error *err)
{
    (void)options;
    (void)evaluator;
    if (!mw__skips(err))
        mw__fail(err, MW_ERROR_UNSUPPORTED, "cannot read \"%.200s\": built without protobuf-c",
                 path != NULL ? path : "");
    return NULL;
}

mw_status mw__onnx_check_file(const char *path, mw_error *err)
{
    return mw__fail(err, MW_ERROR_UNSUPPORTED, "cannot check \"%.200s\": built without protobuf-c",
                    path != NULL ? path : "");
}

mw_status mw__onnx_write(const mw_graph *graph, const char *path, const mw_write_options *options, mw_error *err)
{
    (void)graph;
    (void)options;
    return mw__fail(err, MW_ERROR_UNSUPPORTED, "cannot write \"%.200s\": built without protobuf-c",
                    path != NULL ? path : "");
}

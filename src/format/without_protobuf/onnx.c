/* ONNX files in a build that cannot decode them. */
#include "base/error.h"

#include <millwright/onnx.h>

mw_onnx_options mw_onnx_defaults(void)
{
    return (mw_onnx_options){.struct_size = sizeof(mw_onnx_options), .opset = MW_IOS18};
}

mw_graph *mw_onnx_read(const char *path, const mw_onnx_options *options, mw_error *err)
{
    (void)options;
    if (!mw__skips(err))
        mw__fail(err, MW_ERROR_UNSUPPORTED, "cannot read \"%.200s\": built without protobuf-c",
                 path != NULL ? path : "");
    return NULL;
}

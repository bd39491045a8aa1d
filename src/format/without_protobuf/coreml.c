/* Stands for coreml/ in a library that was built without protobuf-c. */
#include "base/text/error.h"
#include "format/formats.h"

#include <millwright/coreml.h>

static void refuse_call(const char *call, mw_error *err)
{
    if (!mw__failed(err) || !mw__skipped(err, call))
        mw__fail(err, MW_ERROR_UNSUPPORTED, "%s: this library was built without protobuf-c", call);
}

mw_coreml *mw_coreml_open(const char *path, const mw_graph_options *options, mw_error *err)
{
    (void)path;
    (void)options;
    refuse_call(__func__, err);
    return NULL;
}

void mw_coreml_destroy(mw_coreml *model) { (void)model; }

const mw_graph *mw_coreml_graph(const mw_coreml *model, mw_error *err)
{
    (void)model;
    refuse_call(__func__, err);
    return NULL;
}

mw_coreml_info mw_coreml_get_info(const mw_coreml *model)
{
    (void)model;
    return (mw_coreml_info){.kind = "", .name = ""};
}

const mw_coreml *mw_coreml_part(const mw_coreml *model, size_t index)
{
    (void)model;
    (void)index;
    return NULL;
}

mw_status mw__coreml_write(const mw_graph *graph, const char *path, const mw_write_options *options, mw_error *err)
{
    (void)graph;
    (void)path;
    (void)options;
    refuse_call(__func__, err);
    return err != NULL ? err->status : MW_ERROR_UNSUPPORTED;
}

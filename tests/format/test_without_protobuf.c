/* A library that was built without protobuf-c says so. */
#include "support/check.h"

#include <millwright/coreml.h>
#include <millwright/onnx.h>

static void test_every_call_says_what_is_missing(void)
{
    mw_error err = {0};
    CHECK(mw_coreml_open("x.mlpackage", NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "built without protobuf-c");
    err = (mw_error){0};
    CHECK(mw_graph_open_onnx("x.onnx", NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "built without protobuf-c");
    err = (mw_error){0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    CHECK_INT(mw_graph_write(graph, "x.onnx", NULL, &err), MW_ERROR_UNSUPPORTED);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "built without protobuf-c");
    mw_graph_destroy(graph);
}

int main(void)
{
    RUN(test_every_call_says_what_is_missing);
    return check_finish();
}

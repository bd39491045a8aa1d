/* Small ONNX files that ask for much: memory when they are written, numbers at their limits, deep nesting. */
#include "onnx_run.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/meter.h"

#include <stdlib.h>

static const int64_t matrix[] = {2, 3};

/* ---- memory ---- */

/* 151 bytes whose one value has 2^32 elements. */
static void test_a_table_that_only_the_file_would_hold_is_not_written(void)
{
    const int64_t indices[] = {0, 1}, depth = INT32_MAX, two = 2;
    const float values[] = {0, 1};
    onnx_bytes graph = onnx_begin(matrix, 2), node = onnx_node("OneHot", "i d v", "y");
    const onnx_bytes i = onnx_tensor_of("i", 7, &two, 1, indices, sizeof indices);
    const onnx_bytes d = onnx_tensor_of("d", 7, NULL, 0, &depth, sizeof depth);
    const onnx_bytes v = onnx_tensor_of("v", 1, &two, 1, values, sizeof values);
    mw_error err = {0};
    meter m = {0};
    const mw_allocator allocator = {meter_resize, &m};
    mw_onnx_options options = mw_onnx_defaults();
    options.allocator = &allocator;
    onnx_message(&graph, 5, &i);
    onnx_message(&graph, 5, &d);
    onnx_message(&graph, 5, &v);
    onnx_message(&graph, 1, &node);
    const onnx_bytes model = onnx_model(&graph);
    mw_graph *made = onnx_read_bytes(&model, &options, &err);
    CHECK_OK(err);
    CHECK_INT(mw_onnx_write(made, "copy.onnx", NULL, &err), MW_ERROR_UNSUPPORTED);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "it takes a table of more than 64 MiB in the file");
    CHECK(m.most < (size_t)100 << 20);
    mw_graph_destroy(made);
    CHECK_INT(m.held, 0);
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(test_a_table_that_only_the_file_would_hold_is_not_written);
    folder_leave(folder);
    return check_finish();
}

/* The ONNX reader against any bytes: it makes a graph that holds together, or says why not; and what it made is written
 * again, or refused. */
#include "fuzz/replay.h"

#include <millwright/millwright.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A new file with these bytes. */
static const char *put_bytes(const uint8_t *data, size_t size)
{
    static char path[] = "/tmp/mw-fuzz-XXXXXX";
    memcpy(path + sizeof path - 7, "XXXXXX", 6);
    const int descriptor = mkstemp(path);
    if (descriptor < 0 || write(descriptor, data, size) != (ssize_t)size)
        abort();
    close(descriptor);
    return path;
}

static void count_problem(void *user, const mw_format_problem *problem)
{
    *(size_t *)user += problem->reason[0] != '\0';
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = put_bytes(data, size);
    const mw_onnx_extent extents[] = {{"batch", 2}, {"time", 3}};
    mw_error err = {0};
    size_t problems = 0;
    mw_onnx_options options = mw_onnx_defaults();
    options.extents = extents;
    options.extent_count = 2;
    options.report = count_problem;
    options.report_user = &problems;
    mw_graph *graph = mw_graph_open_onnx(path, &options, &err);
    if ((graph == NULL) == (err.status == MW_OK) || (graph != NULL && problems > 0))
        abort();
    if (graph != NULL && (mw_graph_check(graph, &err) != MW_OK || mw_graph_output_at(graph, 0) == NULL))
        abort();
    if (graph != NULL && mw_graph_write(graph, path, NULL, &err) != MW_OK && err.message[0] == '\0')
        abort();
    mw_graph_destroy(graph);
    unlink(path);
    return 0;
}

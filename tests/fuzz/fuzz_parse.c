/* libFuzzer target: any bytes as MIL text. Reading, verifying and printing must neither crash nor leak. */
#include <millwright/mil.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_parse_mil((const char *)data, size, NULL, NULL, &err);
    if (graph != NULL) {
        mw_graph_verify(graph, &err);
        err = (mw_error){0};
        mw_string_free(mw_graph_print_mil(graph, NULL, &err));
    }
    mw_graph_destroy(graph);
    return 0;
}

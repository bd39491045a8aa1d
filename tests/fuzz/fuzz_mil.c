/* The MIL reader against any bytes: it refuses with a status, or reads a program whose printed text reads back and
 * prints as itself again. The verifier and the unrolling of loops only have to survive. */
#include "fuzz/replay.h"

#include <millwright/mil.h>
#include <stdlib.h>
#include <string.h>

static char *print(const mw_graph *graph)
{
    mw_error err = {0};
    char *text = mw_graph_print_mil(graph, NULL, &err);
    if (text == NULL && err.status == MW_OK)
        abort();
    return text;
}

/* Printing may refuse a program (as one with an initial value that no text can hold), but must not change its mind. */
static void round_trip(const char *text)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_parse_mil(text, strlen(text), NULL, NULL, &err);
    if (graph == NULL)
        abort();
    char *again = print(graph);
    if (again == NULL || strcmp(again, text) != 0)
        abort();
    mw_string_free(again);
    mw_graph_destroy(graph);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_parse_mil((const char *)data, size, NULL, NULL, &err);
    if (graph == NULL) {
        if (err.status == MW_OK)
            abort();
        return 0;
    }
    mw_graph_verify(graph, NULL);
    mw_graph_destroy(mw_graph_flatten(graph, NULL));
    char *text = print(graph);
    mw_graph_destroy(graph);
    if (text != NULL)
        round_trip(text);
    mw_string_free(text);
    return 0;
}

/* The layers of a model. */
#include "tool/commands.h"

void tool_say_layers(const mw_graph *graph, const tool_call *call)
{
    char *text = call->json == NULL ? mw_graph_print(graph, call->err) : NULL;
    if (text != NULL)
        tool_puts(text);
    mw_string_free(text);
}

/* Records over values: what a group of operations means as one. */
#include "graph/ir/rule.h"
#include "graph/patterns/conv.h"

#include <string.h>

mw_tensor *mw__composite_attach(mw_tensor *value, const mw__composite *composite)
{
    if (value == NULL || value->graph->error.status != MW_OK)
        return NULL;
    mw_graph *graph = value->graph;
    for (size_t i = 0; i < composite->input_count; i++) {
        if (composite->inputs[i] == NULL)
            return NULL;
    }
    mw__composite *copy = mw__arena_alloc(&graph->arena, 1, sizeof *copy, &graph->error);
    mw_tensor **inputs = mw__arena_alloc(&graph->arena, composite->input_count, sizeof *inputs, &graph->error);
    const char *name = mw__arena_string(&graph->arena, composite->name, strlen(composite->name), &graph->error);
    mw__conv *transposed = NULL;
    if (composite->transposed != NULL)
        transposed = mw__arena_alloc(&graph->arena, 1, sizeof *transposed, &graph->error);
    if (copy == NULL || inputs == NULL || name == NULL || (composite->transposed != NULL && transposed == NULL))
        return NULL;
    if (composite->input_count > 0)
        memcpy(inputs, composite->inputs, composite->input_count * sizeof *inputs);
    *copy = *composite;
    copy->name = name;
    copy->inputs = inputs;
    if (transposed != NULL)
        *transposed = *composite->transposed;
    copy->transposed = transposed;
    value->composite = copy;
    return value;
}

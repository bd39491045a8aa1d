/* The functions of a program: which there are, and one of them alone. */
#include "base/number/float_mode.h"
#include "base/text/text.h"
#include "graph/transform/clone/clone.h"

#include <millwright/function.h>

const char *mw_graph_function_at(const mw_graph *graph, size_t index)
{
    return graph != NULL && index < graph->function_count ? graph->functions[index]->name : NULL;
}

mw_opset mw_graph_opset(const mw_graph *graph)
{
    const mw__function *function = graph != NULL ? mw__graph_main(graph) : NULL;
    if (function == NULL && graph != NULL && graph->function_count == 1)
        function = graph->functions[0];
    return function != NULL ? function->opset : (mw_opset)0;
}

static mw_status fail_unknown(const mw_graph *graph, const char *name, mw_error *err)
{
    mw__text list;
    mw__text_init(&list, graph->allocator);
    for (size_t i = 0; i < graph->function_count; i++)
        mw__text_printf(&list, "%s%.96s", i > 0 ? ", " : "", graph->functions[i]->name);
    const mw_status status =
        mw__text_check(&list, err) == MW_OK
            ? mw__fail(err, MW_ERROR_ARGUMENT, "there is no function \"%.96s\"; the program has %s", name, list.data)
            : MW_ERROR_MEMORY;
    mw__text_deinit(&list);
    return status;
}

const mw__function *mw__function_choose(const mw_graph *graph, const char *name, mw_error *err)
{
    const mw__function *function = mw__function_find(graph, name != NULL ? name : "main");
    if (function == NULL && name == NULL && graph->function_count == 1)
        function = graph->functions[0];
    if (function == NULL)
        fail_unknown(graph, name != NULL ? name : "main", err);
    return function;
}

mw_graph *mw_graph_function(const mw_graph *graph, const char *name, mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw_error own = {0};
    err = err != NULL ? err : &own;
    if (mw__skips(err))
        return NULL;
    if (!mw__graph_given(graph, "mw_graph_function", err))
        return NULL;
    const mw__function *function = mw_graph_check(graph, err) == MW_OK ? mw__function_choose(graph, name, err) : NULL;
    const mw__clone_options options = {.rule = mw__clone_as_declared, .keep_outputs = true};
    if (function == NULL)
        return NULL;
    return mw__graph_publish(mw__clone_function(graph->allocator, function, &options, NULL, err), err);
}

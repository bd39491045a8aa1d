/* Comparisons of a user's graph; what is compared, and how, is the core's (runtime/compare). */
#include "runtime/compare/compare.h"

#include "base/number/float_mode.h"
#include "graph/ir/ir.h"
#include "graph/transform/clone/clone.h"
#include "inspect/feed.h"

mw_compare_options mw_compare_defaults(void)
{
    mw_compare_options options = {.struct_size = sizeof(mw_compare_options),
                                  .reference = mw_compile_defaults(),
                                  .device = mw_compile_defaults(),
                                  .relative = 0x1p-7,
                                  .absolute = 0x1p-14};
    options.reference.provider = MW_PROVIDER_ENGINE;
    options.reference.device = MW_DEVICE_CPU;
    options.device.device = MW_DEVICE_ANE;
    return options;
}

mw_graph *mw__inspect_function(const mw_graph *graph, const char *name, mw_error *err)
{
    const mw__clone_options whole = {.rule = mw__clone_as_declared, .keep_outputs = true};
    const mw__function *function = mw__function_choose(graph, name, err);
    return function != NULL ? mw__clone_function(graph->allocator, function, &whole, NULL, err) : NULL;
}

static mw_comparison *compare_function(const mw_graph *graph, const mw_compare_options *options, mw_error *err)
{
    mw_graph *copy = mw__inspect_function(graph, options->reference.function, err);
    mw__inspect_source source = {.options = options, .graph = copy};
    const mw__compare_request request = {.graph = copy, .options = options, .fill = mw__inspect_feed, .user = &source};
    mw_comparison *comparison = copy != NULL ? mw__compare_graph(&request, err) : NULL;
    mw__graph_free(copy);
    return comparison;
}

mw_comparison *mw_comparison_create(const mw_graph *graph, const mw_compare_options *options, mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw_error own = {0};
    err = err != NULL ? err : &own;
    if (mw__skips(err))
        return NULL;
    const mw_compare_options defaults = mw_compare_defaults();
    options = options != NULL ? options : &defaults;
    if (!mw__graph_given(graph, "mw_comparison_create", err))
        return NULL;
    if (mw__compare_check_options(options, err) != MW_OK || mw_graph_check(graph, err) != MW_OK)
        return NULL;
    mw__graph_hold(graph);
    mw_comparison *comparison = compare_function(graph, options, err);
    mw_status status = comparison != NULL ? MW_OK : mw__status_or(err, MW_ERROR_STATE);
    status = mw__graph_drop(graph, __func__, status, err);
    if (status == MW_OK)
        return comparison;
    mw__comparison_destroy(comparison, __func__);
    return NULL;
}

/* The layers of a model. */
#include "tool/commands/commands.h"

#include <millwright/summary.h>

static void json_layer(mw__json_writer *json, const mw_summary_layer *layer)
{
    mw__json_open(json, NULL, '{');
    mw__json_add_string(json, "name", layer->name);
    mw__json_add_string(json, "kind", layer->kind);
    mw__json_add_string(json, "detail", layer->detail);
    mw__json_add_integer(json, "operations", (int64_t)layer->operation_count);
    mw__json_add_string(json, "dtype", mw_dtype_name(layer->dtype));
    tool_json_shape(json, "shape", layer->shape);
    mw__json_add_integer(json, "parameters", layer->parameters);
    mw__json_add_integer(json, "weight_bytes", (int64_t)layer->weight_bytes);
    if (layer->flops >= 0)
        mw__json_add_number(json, "flops", layer->flops);
    mw__json_open(json, "reads", '[');
    for (size_t i = 0; i < layer->read_count; i++)
        mw__json_add_integer(json, NULL, (int64_t)layer->reads[i]);
    mw__json_close(json, ']');
    mw__json_close(json, '}');
}

static void json_totals(mw__json_writer *json, mw_summary_totals totals)
{
    mw__json_add_integer(json, "operations", (int64_t)totals.operations);
    mw__json_add_integer(json, "parameters", totals.parameters);
    mw__json_add_integer(json, "weight_bytes", (int64_t)totals.weight_bytes);
    mw__json_add_number(json, "flops", totals.flops);
    mw__json_add_integer(json, "largest_bytes", (int64_t)totals.largest_bytes);
    mw__json_add_integer(json, "activation_bytes", (int64_t)totals.activation_bytes);
    mw__json_add_bool(json, "open", totals.open);
}

void tool_say_layers(const mw_graph *graph, const tool_call *call)
{
    mw_summary *summary = mw_summary_create(graph, call->err);
    char *text = call->json == NULL && summary != NULL ? mw_summary_print(summary, call->err) : NULL;
    if (call->json != NULL) {
        mw__json_open(call->json, "layers", '[');
        for (size_t i = 0; i < mw_summary_count(summary); i++)
            json_layer(call->json, mw_summary_at(summary, i));
        mw__json_close(call->json, ']');
        json_totals(call->json, mw_summary_get_totals(summary));
    }
    tool_puts(text != NULL ? text : "");
    mw_string_free(text);
    mw_summary_destroy(summary);
}

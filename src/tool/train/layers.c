/* The layers of a model. */
#include "tool/commands/commands.h"

#include <millwright/summary.h>

static void json_layer(tool_json *json, const mw_summary_layer *layer)
{
    tool_json_open(json, NULL, '{');
    tool_json_string(json, "name", layer->name);
    tool_json_string(json, "kind", layer->kind);
    tool_json_string(json, "detail", layer->detail);
    tool_json_integer(json, "operations", (int64_t)layer->operation_count);
    tool_json_string(json, "dtype", mw_dtype_name(layer->dtype));
    tool_json_shape(json, "shape", layer->shape);
    tool_json_integer(json, "parameters", layer->parameters);
    tool_json_integer(json, "weight_bytes", (int64_t)layer->weight_bytes);
    if (layer->flops >= 0)
        tool_json_number(json, "flops", layer->flops);
    tool_json_open(json, "reads", '[');
    for (size_t i = 0; i < layer->read_count; i++)
        tool_json_integer(json, NULL, (int64_t)layer->reads[i]);
    tool_json_close(json, ']');
    tool_json_close(json, '}');
}

static void json_totals(tool_json *json, mw_summary_totals totals)
{
    tool_json_integer(json, "operations", (int64_t)totals.operations);
    tool_json_integer(json, "parameters", totals.parameters);
    tool_json_integer(json, "weight_bytes", (int64_t)totals.weight_bytes);
    tool_json_number(json, "flops", totals.flops);
    tool_json_integer(json, "largest_bytes", (int64_t)totals.largest_bytes);
    tool_json_integer(json, "activation_bytes", (int64_t)totals.activation_bytes);
    tool_json_bool(json, "open", totals.open);
}

void tool_say_layers(const mw_graph *graph, const tool_call *call)
{
    mw_summary *summary = mw_summary_create(graph, call->err);
    char *text = call->json == NULL && summary != NULL ? mw_summary_print(summary, call->err) : NULL;
    if (call->json != NULL) {
        tool_json_open(call->json, "layers", '[');
        for (size_t i = 0; i < mw_summary_count(summary); i++)
            json_layer(call->json, mw_summary_at(summary, i));
        tool_json_close(call->json, ']');
        json_totals(call->json, mw_summary_total(summary));
    }
    tool_puts(text != NULL ? text : "");
    mw_string_free(text);
    mw_summary_destroy(summary);
}

#include "passes/invariant.h"

#include "graph/ir/op_table.h"

bool mw__holds_anything(const mw_graph *graph, const mw__device_traits *device)
{
    (void)graph, (void)device;
    return true;
}

static bool is_of_kind(const mw_tensor *value, mw__type_kind kind)
{
    return value != NULL && value->type->kind == kind;
}

static bool makes(const mw__op *op, mw__type_kind kind)
{
    for (size_t i = 0; i < op->result_count; i++)
        if (is_of_kind(op->results[i], kind))
            return true;
    return false;
}

bool mw__holds_no_states(const mw_graph *graph, const mw__device_traits *device)
{
    const mw__function *main = mw__graph_main(graph);
    (void)device;
    for (size_t i = 0; main != NULL && i < main->body->input_count; i++)
        if (is_of_kind(main->body->inputs[i], MW__STATE))
            return false;
    return true;
}

bool mw__holds_flat(const mw_graph *graph, const mw__device_traits *device)
{
    const mw__function *main = mw__graph_main(graph);
    for (size_t i = 0; device->half_ports && main != NULL && i < main->body->op_count; i++)
        if (main->body->ops[i]->block_count > 0 || makes(main->body->ops[i], MW__LIST))
            return false;
    return true;
}

static bool is_half_port(const mw_tensor *port)
{
    const mw_dtype dtype = mw_tensor_dtype(port);
    return dtype != MW_F32 && dtype != MW_I32 && dtype != MW_BOOL;
}

bool mw__holds_half(const mw_graph *graph, const mw__device_traits *device)
{
    const mw__function *main = mw__graph_main(graph);
    if (!device->half_ports || main == NULL)
        return true;
    for (size_t i = 0; i < main->body->input_count; i++)
        if (!is_half_port(main->body->inputs[i]))
            return false;
    for (size_t i = 0; i < main->body->output_count; i++)
        if (!is_half_port(main->body->outputs[i]))
            return false;
    return mw__holds_flat(graph, device);
}

#include "passes/invariant.h"

#include "graph/ir/op_table.h"

bool mw__holds_anything(const mw__function *function, const mw__device_traits *device)
{
    (void)function, (void)device;
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

bool mw__holds_no_states(const mw__function *function, const mw__device_traits *device)
{
    (void)device;
    for (size_t i = 0; function != NULL && i < function->body->input_count; i++)
        if (is_of_kind(function->body->inputs[i], MW__STATE))
            return false;
    return true;
}

bool mw__holds_flat(const mw__function *function, const mw__device_traits *device)
{
    for (size_t i = 0; device->half_ports && function != NULL && i < function->body->op_count; i++)
        if (function->body->ops[i]->block_count > 0 || makes(function->body->ops[i], MW__LIST))
            return false;
    return true;
}

static bool is_half_port(const mw_tensor *port)
{
    const mw_dtype dtype = mw_tensor_dtype(port);
    return dtype != MW_F32 && dtype != MW_I32 && dtype != MW_BOOL;
}

bool mw__holds_half(const mw__function *function, const mw__device_traits *device)
{
    if (!device->half_ports || function == NULL)
        return true;
    for (size_t i = 0; i < function->body->input_count; i++)
        if (!is_half_port(function->body->inputs[i]))
            return false;
    for (size_t i = 0; i < function->body->output_count; i++)
        if (!is_half_port(function->body->outputs[i]))
            return false;
    return mw__holds_flat(function, device);
}

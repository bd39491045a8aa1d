/* What Core ML refuses, refused first. Sources: the checks of coremltools' converter and proto documentation, and MIL's
 * own rules. */
#include "format/coreml/encode.h"
#include "graph/ir/classify.h"
#include <string.h>

static mw_status refuse_port(const mw__function *function, const char *port, mw_error *err, mw_status status,
                             const char *why)
{
    mw__fail(err, status, "Core ML would refuse function \"%.96s\"%s%.96s%s: %s", function->name,
             port != NULL ? ", port \"" : "", port != NULL ? port : "", port != NULL ? "\"" : "", why);
    mw__error_subject(err, NULL, port);
    return status;
}

/* Arrays are fp32 and int32, fp16 from ios16 and int8 from ios26 on. */
static mw_status check_dtype(const mw__function *function, const mw_tensor *port, mw_dtype dtype, mw_error *err)
{
    const mw_opset opset = function->opset;
    if (dtype == MW_F32 || dtype == MW_I32 || (dtype == MW_F16 && opset >= MW_IOS16) ||
        (dtype == MW_I8 && opset >= MW_IOS26))
        return MW_OK;
    if (dtype == MW_F16)
        return refuse_port(function, port->name, err, MW_ERROR_DTYPE, "fp16 ports need ios16");
    return refuse_port(function, port->name, err, MW_ERROR_DTYPE,
                       "ports are fp32, fp16 or int32 (int8 from ios26 on); cast it in the program");
}

static mw_status check_extents(const mw__function *function, const mw_tensor *port, mw_shape shape, mw_error *err)
{
    enum { RANK_MAX = 5 };
    if (shape.rank > RANK_MAX)
        return refuse_port(function, port->name, err, MW_ERROR_SHAPE, "ports have at most 5 axes");
    for (int i = 0; i < shape.rank; i++)
        if (shape.dim[i] == 0)
            return refuse_port(function, port->name, err, MW_ERROR_SHAPE, "a port has at least one element");
    return MW_OK;
}

static mw_status check_state(const mw__function *function, const mw_tensor *port, mw_error *err)
{
    const mw__type *type = port->type->element[0];
    if (function->opset < MW_IOS18)
        return refuse_port(function, port->name, err, MW_ERROR_UNSUPPORTED, "states need ios18");
    if (type->kind != MW__TENSOR || type->dtype != MW_F16)
        return refuse_port(function, port->name, err, MW_ERROR_DTYPE, "states are fp16");
    if (mw_shape_count(type->shape) <= 0)
        return refuse_port(function, port->name, err, MW_ERROR_SHAPE,
                           "the shape of a state is known, with no extent 0");
    return check_extents(function, port, type->shape, err);
}

static mw_status check_input(const mw__function *function, const mw_tensor *port, mw_error *err)
{
    if (port->type->kind == MW__STATE)
        return check_state(function, port, err);
    if (port->type->kind != MW__TENSOR)
        return refuse_port(function, port->name, err, MW_ERROR_DTYPE, "an input is a tensor or a state");
    if (port->type->shape.rank == 0)
        return refuse_port(function, port->name, err, MW_ERROR_SHAPE, "an input has at least one axis; make it [1]");
    MW_TRY(check_dtype(function, port, port->type->dtype, err));
    return check_extents(function, port, port->type->shape, err);
}

static mw_status check_output(const mw__function *function, const mw_tensor *port, mw_error *err)
{
    if (port->op == NULL)
        return refuse_port(function, port->name, err, MW_ERROR_UNSUPPORTED,
                           "an output is not an input; put identity between them");
    if (strcmp(port->op->kind, "const") == 0)
        return refuse_port(function, port->name, err, MW_ERROR_UNSUPPORTED,
                           "an output is not a constant; put identity between them");
    if (mw__classify_of(port) != NULL)
        return MW_OK;
    if (port->type->kind != MW__TENSOR)
        return refuse_port(function, port->name, err, MW_ERROR_DTYPE, "an output is a tensor or comes from classify");
    MW_TRY(check_dtype(function, port, port->type->dtype, err));
    return check_extents(function, port, port->type->shape, err);
}

static mw_status check_function(const mw__function *function, mw_error *err)
{
    const mw__block *body = function->body;
    if (body->output_count == 0)
        return refuse_port(function, NULL, err, MW_ERROR_ARGUMENT, "it has no output");
    if (mw__coreml_opset_name(function->opset) == NULL)
        return refuse_port(function, NULL, err, MW_ERROR_UNSUPPORTED, "its operator set is unknown");
    for (size_t i = 0; i < body->input_count; i++)
        MW_TRY(check_input(function, body->inputs[i], err));
    for (size_t i = 0; i < body->output_count; i++) {
        MW_TRY(check_output(function, body->outputs[i], err));
        for (size_t k = 0; k < i; k++)
            if (body->outputs[k] == body->outputs[i])
                return refuse_port(function, body->outputs[i]->name, err, MW_ERROR_ARGUMENT, "it is an output twice");
    }
    return MW_OK;
}

mw_status mw__coreml_check(const mw_graph *graph, mw_error *err)
{
    for (size_t i = 0; i < graph->function_count; i++) {
        MW_TRY(check_function(graph->functions[i], err));
        if (graph->function_count > 1 && graph->functions[i]->opset < MW_IOS18)
            return refuse_port(graph->functions[i], NULL, err, MW_ERROR_UNSUPPORTED, "several functions need ios18");
    }
    return mw_graph_verify(graph, err);
}

/* The walk over a function that becomes a graph of ONNX: what is needed, names, ports, nodes. */
#include "format/onnx/write.h"
#include "graph/constants/compressed.h"

#include <stdio.h>
#include <string.h>

const mw__onnx_export_row mw__onnx_exports[] = {
#define MW_EXPORT(name, function, operation) {#name, mw__onnx_write_##function, operation},
#define MW_NO_EXPORT(name, reason)           {#name, NULL, reason},
#include "format/onnx/exports.def"
#undef MW_EXPORT
#undef MW_NO_EXPORT
};
const size_t mw__onnx_export_count = sizeof mw__onnx_exports / sizeof *mw__onnx_exports;

const mw__onnx_export_row *mw__onnx_export_find(const char *name)
{
    for (size_t i = 0; i < mw__onnx_export_count; i++)
        if (strcmp(mw__onnx_exports[i].name, name) == 0)
            return &mw__onnx_exports[i];
    return NULL;
}

void mw__onnx_cannot(mw__onnx_writer *w, const mw__op *op, const char *reason)
{
    const char *name = op->result_count > 0 ? w->names[op->results[0]->id] : NULL;
    const mw_onnx_problem problem = {
        .node = name != NULL ? name : "", .operation = op->kind, .opset = 17, .reason = reason};
    if (w->problems < sizeof w->first / sizeof *w->first)
        snprintf(w->first[w->problems], sizeof *w->first, "%.60s \"%.60s\": %.100s", op->kind, problem.node, reason);
    w->problems++;
    if (w->options->report != NULL)
        w->options->report(w->options->report_user, &problem);
}

/* ---- what is needed ---- */

static void need(mw__onnx_writer *w, const mw__operand *operand)
{
    if (operand->value != NULL)
        w->needed[operand->value->id] = true;
    for (size_t i = 0; i < operand->member_count; i++)
        need(w, &operand->members[i]);
}

static bool is_needed(const mw__onnx_writer *w, const mw__op *op)
{
    for (size_t i = 0; i < op->result_count; i++)
        if (w->needed[op->results[i]->id])
            return true;
    return op->result_count == 0;
}

static void mark(mw__onnx_writer *w, const mw__block *body);

static void mark_op(mw__onnx_writer *w, const mw__op *op)
{
    for (size_t s = 0; s < op->slot_count; s++)
        for (size_t k = 0; k < op->slots[s].count; k++)
            need(w, &op->slots[s].operands[k]);
    for (size_t i = 0; i < op->block_count; i++)
        mark(w, op->blocks[i]);
}

static void mark(mw__onnx_writer *w, const mw__block *body)
{
    for (size_t i = 0; i < body->output_count; i++)
        w->needed[body->outputs[i]->id] = true;
    for (size_t i = body->op_count; i-- > 0;)
        if (is_needed(w, body->ops[i]))
            mark_op(w, body->ops[i]);
}

/* ---- names ---- */

/* "v_" with as many '_' as it takes that no name of the graph begins with it. */
static mw_status choose_prefix(mw__onnx_writer *w)
{
    size_t length = 2;
    for (size_t i = 0; i < w->graph->value_count; i++) {
        const char *name = w->graph->values[i]->name;
        const size_t same = name != NULL && name[0] == 'v' ? 1 + strspn(name + 1, "_") : 0;
        length = same >= length ? same + 1 : length;
    }
    char *prefix = mw__onnx_room(w, length + 1, 1);
    if (prefix == NULL)
        return MW_ERROR_MEMORY;
    memset(prefix, '_', length);
    prefix[0] = 'v';
    w->prefix = prefix;
    return MW_OK;
}

static mw_status name_value(mw__onnx_writer *w, mw_tensor *value)
{
    if (w->names[value->id] != NULL || mw__is_constant(value))
        return MW_OK;
    const bool keeps = value->name != NULL && mw__map_get(&w->taken, value->name) == NULL;
    w->names[value->id] = keeps ? value->name : mw__onnx_fresh(w);
    if (w->names[value->id] == NULL)
        return w->err->status;
    return keeps ? mw__map_set(&w->taken, value->name, value, w->err) : MW_OK;
}

/* Ports first: their names are the user's. Those in branches are unlike all others, too. */
static mw_status name_all(mw__onnx_writer *w, const mw__block *body)
{
    for (size_t i = 0; i < body->input_count; i++)
        MW_TRY(name_value(w, body->inputs[i]));
    for (size_t i = 0; i < body->output_count; i++)
        MW_TRY(name_value(w, body->outputs[i]));
    for (size_t i = 0; i < body->op_count; i++) {
        const mw__op *op = body->ops[i];
        if (!is_needed(w, op))
            continue;
        for (size_t k = 0; k < op->result_count; k++)
            MW_TRY(name_value(w, op->results[k]));
        for (size_t k = 0; k < op->block_count; k++)
            MW_TRY(name_all(w, op->blocks[k]));
    }
    return MW_OK;
}

/* ---- ports ---- */

static bool fill_shape(mw__onnx_writer *w, mw_shape shape, Mw__Onnx__Shape *out)
{
    mw__onnx__shape__init(out);
    out->dim = mw__onnx_room(w, (size_t)shape.rank, sizeof *out->dim);
    for (int i = 0; out->dim != NULL && i < shape.rank; i++) {
        Mw__Onnx__Dimension *dim = mw__onnx_room(w, 1, sizeof *dim);
        if (dim == NULL)
            return false;
        mw__onnx__dimension__init(dim);
        if (shape.dim[i] >= 0) {
            dim->value_case = MW__ONNX__DIMENSION__VALUE_DIM_VALUE;
            dim->dim_value = shape.dim[i];
        }
        out->dim[out->n_dim++] = dim;
    }
    return out->dim != NULL;
}

Mw__Onnx__ValueInfo *mw__onnx_port(mw__onnx_writer *w, const mw__type *is, const char *name)
{
    Mw__Onnx__ValueInfo *out = mw__onnx_room(w, 1, sizeof *out);
    Mw__Onnx__Type *type = mw__onnx_room(w, 1, sizeof *type);
    Mw__Onnx__TensorType *tensor = mw__onnx_room(w, 1, sizeof *tensor);
    Mw__Onnx__Shape *shape = mw__onnx_room(w, 1, sizeof *shape);
    if (out == NULL || type == NULL || tensor == NULL || shape == NULL || !fill_shape(w, is->shape, shape))
        return NULL;
    mw__onnx__value_info__init(out);
    mw__onnx__type__init(type);
    mw__onnx__tensor_type__init(tensor);
    tensor->elem_type = is->kind == MW__TENSOR ? mw__onnx_type_of(is->dtype) : 0;
    tensor->shape = shape;
    type->value_case = MW__ONNX__TYPE__VALUE_TENSOR_TYPE;
    type->tensor_type = tensor;
    out->name = name != NULL ? mw__arena_string(&w->arena, name, strlen(name), w->err) : NULL;
    out->type = type;
    if (tensor->elem_type == 0)
        mw__fail(w->err, MW_ERROR_UNSUPPORTED, "mw_onnx_write: port \"%.96s\" has a type that ONNX lacks",
                 name != NULL ? name : "");
    return out->name != NULL && tensor->elem_type != 0 ? out : NULL;
}

static mw_status fill_ports(mw__onnx_writer *w, const mw__block *body, Mw__Onnx__Graph *out)
{
    out->input = mw__onnx_room(w, body->input_count, sizeof *out->input);
    out->output = mw__onnx_room(w, body->output_count, sizeof *out->output);
    if (out->input == NULL || out->output == NULL)
        return w->err->status;
    for (size_t i = 0; i < body->input_count; i++) {
        if (mw__is_resident(body->inputs[i])) /* an initializer, once it is asked for */
            continue;
        if ((out->input[out->n_input++] = mw__onnx_port(w, body->inputs[i]->type, w->names[body->inputs[i]->id])) ==
            NULL) {
            return w->err->status;
        }
    }
    for (size_t i = 0; i < body->output_count; i++) {
        const char *name = mw__onnx_name_of(w, body->outputs[i]);
        if (name == NULL || (out->output[i] = mw__onnx_port(w, body->outputs[i]->type, name)) == NULL)
            return w->err->status;
        out->n_output++;
    }
    return MW_OK;
}

/* ---- nodes ---- */

static void write_op(mw__onnx_writer *w, const mw__op *op)
{
    const mw__onnx_export_row *row = op->row != NULL ? mw__onnx_export_find(op->row->name) : NULL;
    if (row == NULL)
        mw__onnx_cannot(w, op, "the operation is not known");
    else if (row->write == NULL)
        mw__onnx_cannot(w, op, row->operation);
    else if (mw__onnx_is_mixed(op))
        mw__onnx_write_mixed(w, op, row);
    else
        row->write(w, op, row->operation);
}

mw_status mw__onnx_write_ops(mw__onnx_writer *w, const mw__block *body)
{
    for (size_t i = 0; i < body->op_count; i++) {
        const mw__op *op = body->ops[i];
        if (is_needed(w, op) && (op->result_count == 0 || !mw__is_constant(op->results[0])))
            write_op(w, op);
        if (mw__failed(w->err))
            return w->err->status;
    }
    return MW_OK;
}

mw_status mw__onnx_fill_nodes(mw__onnx_writer *w, Mw__Onnx__Graph *out)
{
    if ((out->node = mw__onnx_room(w, w->nodes.count, sizeof *out->node)) == NULL)
        return w->err->status;
    for (size_t i = 0; i < w->nodes.count; i++)
        out->node[out->n_node++] = w->nodes.items[i];
    return MW_OK;
}

static mw_status fill_initializers(mw__onnx_writer *w, Mw__Onnx__Graph *out)
{
    if ((out->initializer = mw__onnx_room(w, w->initializers.count, sizeof *out->initializer)) == NULL)
        return w->err->status;
    for (size_t i = 0; i < w->initializers.count; i++)
        out->initializer[out->n_initializer++] = w->initializers.items[i];
    return MW_OK;
}

mw_status mw__onnx_write_graph(mw__onnx_writer *w, const mw__function *function, Mw__Onnx__Graph *out)
{
    const mw__block *body = function->body;
    w->names = mw__onnx_room(w, w->graph->value_count, sizeof *w->names);
    w->needed = mw__onnx_room(w, w->graph->value_count, sizeof *w->needed);
    w->baked = mw__onnx_room(w, w->graph->value_count, sizeof *w->baked);
    if (w->names == NULL || w->needed == NULL || w->baked == NULL)
        return w->err->status;
    mark(w, body);
    MW_TRY(choose_prefix(w));
    MW_TRY(name_all(w, body));
    MW_TRY(fill_ports(w, body, out));
    MW_TRY(mw__onnx_write_ops(w, body));
    MW_TRY(mw__onnx_fill_nodes(w, out));
    return fill_initializers(w, out);
}

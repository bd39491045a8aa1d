/* The walk over a function that becomes a graph of ONNX: what is needed, names, ports, nodes. */
#include "format/onnx/write/write.h"
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
    const mw_format_problem problem = {
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
    int64_t dilation[MW_RANK_MAX];
    const mw_tensor *narrow = mw__onnx_undilated(op, dilation);
    if (narrow != NULL)
        w->needed[narrow->id] = true;
    for (size_t s = 0; s < op->slot_count; s++)
        for (size_t k = 0; k < op->slots[s].count; k++)
            if (narrow == NULL || strcmp(op->slots[s].name, "weight") != 0)
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
    char *prefix = mw__onnx_alloc(w, length + 1, 1);
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
    if ((out->node = mw__onnx_alloc(w, w->nodes.count, sizeof *out->node)) == NULL)
        return w->err->status;
    for (size_t i = 0; i < w->nodes.count; i++)
        out->node[out->n_node++] = w->nodes.items[i];
    return MW_OK;
}

static mw_status fill_initializers(mw__onnx_writer *w, Mw__Onnx__Graph *out)
{
    if ((out->initializer = mw__onnx_alloc(w, w->initializers.count, sizeof *out->initializer)) == NULL)
        return w->err->status;
    for (size_t i = 0; i < w->initializers.count; i++)
        out->initializer[out->n_initializer++] = w->initializers.items[i];
    return MW_OK;
}

mw_status mw__onnx_write_graph(mw__onnx_writer *w, const mw__function *function, Mw__Onnx__Graph *out)
{
    const mw__block *body = function->body;
    w->names = mw__onnx_alloc(w, w->graph->value_count, sizeof *w->names);
    w->needed = mw__onnx_alloc(w, w->graph->value_count, sizeof *w->needed);
    w->baked = mw__onnx_alloc(w, w->graph->value_count, sizeof *w->baked);
    if (w->names == NULL || w->needed == NULL || w->baked == NULL)
        return w->err->status;
    mark(w, body);
    MW_TRY(choose_prefix(w));
    MW_TRY(name_all(w, body));
    MW_TRY(mw__onnx_write_inputs(w, body, out));
    MW_TRY(mw__onnx_declare_outputs(w, body, out));
    MW_TRY(mw__onnx_write_ops(w, body));
    mw__onnx_write_outputs(w, body, out);
    MW_TRY(mw__onnx_fill_nodes(w, out));
    return fill_initializers(w, out);
}

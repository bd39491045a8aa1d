/* The two kinds of programs that a comparison compiles: the whole with its inner values as outputs, and one operation
 * alone. */
#include "graph/ir/ir.h"
#include "graph/transform/clone/clone.h"
#include "runtime/compare/compare.h"

#include <stdio.h>
#include <string.h>

/* ---- the whole ---- */

typedef struct showing {
    const mw__function *function;
    const mw__compare_form *form;
    mw__arena *arena;
    mw__compare_value *values;
    size_t count;
} showing;

static bool is_shown(const mw__clone *clone, const mw_tensor *value)
{
    return value->type->kind == MW__TENSOR && value->type->dtype != MW_STRING && value->payload == NULL &&
           !mw__is_constant(value) && mw__clone_get(clone, value) != NULL;
}

/* An output keeps its name; so do results that a rewrite made of inputs or constants, which get an identity. */
static mw_status show_value(showing *s, const mw__clone *clone, const mw__op *op, const mw_tensor *value, mw_error *err)
{
    mw_tensor *copy = mw__clone_get(clone, value);
    char name[32];
    snprintf(name, sizeof name, "compared.%zu", s->count);
    const char *port = value->is_output ? copy->name : NULL;
    if (port == NULL) {
        mw_tensor *output = mw_output(copy, name);
        MW_TRY(mw_graph_check(clone->to, err));
        port = output->name;
    }
    port = mw__arena_string(s->arena, port, strlen(port), err);
    s->values[s->count++] = (mw__compare_value){.op = op, .value = value, .port = port};
    return port != NULL ? MW_OK : MW_ERROR_MEMORY;
}

/* An input is shown as what it is fed; a constant has its numbers in the graph. */
static mw_status list_value(showing *s, const mw__clone *clone, const mw__op *op, const mw_tensor *value, mw_error *err)
{
    const mw_tensor *copy = mw__clone_get(clone, value);
    const char *port = NULL;
    if (copy == NULL || value->type->kind != MW__TENSOR)
        return MW_OK;
    if (op == NULL) {
        port = mw__arena_string(s->arena, copy->name, strlen(copy->name), err);
        if (port == NULL)
            return MW_ERROR_MEMORY;
    }
    s->values[s->count++] = (mw__compare_value){.op = op, .value = value, .port = port};
    return MW_OK;
}

static mw_status show_result(showing *s, const mw__clone *clone, const mw__op *op, const mw_tensor *value,
                             mw_error *err)
{
    if (is_shown(clone, value))
        return show_value(s, clone, op, value, err);
    return s->form != NULL && value->payload != NULL ? list_value(s, clone, op, value, err) : MW_OK;
}

static mw_status show_all(void *user, const mw__clone *clone, mw_error *err)
{
    showing *s = user;
    const mw__block *body = s->function->body;
    for (size_t i = 0; s->form != NULL && i < body->input_count; i++)
        MW_TRY(list_value(s, clone, NULL, body->inputs[i], err));
    for (size_t i = 0; i < body->op_count; i++)
        for (size_t k = 0; k < body->ops[i]->result_count; k++)
            MW_TRY(show_result(s, clone, body->ops[i], body->ops[i]->results[k], err));
    return MW_OK;
}

mw_graph *mw__compare_show(const mw__function *function, const mw__compare_form *form, mw__arena *arena,
                           mw__compare_value **out_values, size_t *out_count, mw_error *err)
{
    size_t most = function->body->input_count;
    for (size_t i = 0; i < function->body->op_count; i++)
        most += function->body->ops[i]->result_count;
    showing s = {.function = function, .form = form, .arena = arena};
    mw_graph_options made = mw_graph_defaults();
    made.allocator = arena->allocator;
    made.opset = function->opset;
    mw_graph *graph = mw__graph_make(&made, err);
    s.values = mw__arena_alloc(arena, most, sizeof *s.values, err);
    const mw__clone_options options = {.rule = form != NULL ? form->rule : NULL,
                                       .dtype = form != NULL ? form->dtype : NULL,
                                       .user = &s,
                                       .keep_outputs = true};
    if (graph == NULL || s.values == NULL || mw__clone_ports(function, graph, &options, show_all, err) != MW_OK) {
        mw__graph_free(graph);
        return NULL;
    }
    *out_values = s.values;
    *out_count = s.count;
    return graph;
}

/* ---- one operation ---- */

typedef struct isolating {
    mw__clone clone;
    mw__compare_alone *out;
    mw_error *err;
} isolating;

static mw_status take_operands(isolating *s, const mw__op *op);

static mw_status take_input(isolating *s, const mw_tensor *value)
{
    mw__compare_alone *out = s->out;
    mw_graph *graph = out->graph;
    char name[32];
    if (value->type->kind != MW__TENSOR || value->type->dtype == MW_STRING)
        return mw__fail(s->err, MW_ERROR_UNSUPPORTED, "it reads what is no tensor");
    snprintf(name, sizeof name, "in%zu", out->input_count);
    mw_tensor *input = mw_input(graph, name, value->type->dtype, value->type->shape);
    MW_TRY(mw_graph_check(graph, s->err));
    if (out->input_count == out->input_capacity) {
        const mw_tensor **more = mw__arena_alloc(&graph->arena, 2 * out->input_capacity + 8, sizeof *more, s->err);
        if (more == NULL)
            return MW_ERROR_MEMORY;
        for (size_t i = 0; i < out->input_count; i++)
            more[i] = out->inputs[i];
        out->inputs = more;
        out->input_capacity = 2 * out->input_capacity + 8;
    }
    out->inputs[out->input_count++] = value;
    mw__clone_set(&s->clone, value, input);
    return MW_OK;
}

/* Constants go along; what is computed, or fed, becomes an input. Values of inner blocks are copied with their block.
 */
static mw_status take_value(isolating *s, const mw_tensor *value)
{
    const mw__block *body = s->clone.from->body;
    if (mw__clone_get(&s->clone, value) != NULL || (value->op != NULL && value->op->block != body))
        return MW_OK;
    if (!mw__is_constant(value)) {
        bool outside = value->op != NULL;
        for (size_t i = 0; i < body->input_count; i++)
            outside = outside || body->inputs[i] == value;
        return outside ? take_input(s, value) : MW_OK;
    }
    if (value->op == NULL)
        return MW_OK; /* a literal */
    MW_TRY(take_operands(s, value->op));
    return mw__clone_op(&s->clone, value->op, s->err);
}

static mw_status take_list(isolating *s, const mw__operand *operands, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (operands[i].value != NULL)
            MW_TRY(take_value(s, operands[i].value));
        else
            MW_TRY(take_list(s, operands[i].members, operands[i].member_count));
    }
    return MW_OK;
}

static mw_status take_operands(isolating *s, const mw__op *op)
{
    for (size_t i = 0; i < op->slot_count; i++)
        MW_TRY(take_list(s, op->slots[i].operands, op->slots[i].count));
    for (size_t b = 0; b < op->block_count; b++) {
        for (size_t i = 0; i < op->blocks[b]->op_count; i++)
            MW_TRY(take_operands(s, op->blocks[b]->ops[i]));
        for (size_t i = 0; i < op->blocks[b]->output_count; i++)
            MW_TRY(take_value(s, op->blocks[b]->outputs[i]));
    }
    return MW_OK;
}

static mw_status isolate(isolating *s, const mw__op *op)
{
    mw_graph *graph = s->out->graph;
    MW_TRY(take_operands(s, op));
    if (s->out->input_count == 0)
        return mw__fail(s->err, MW_ERROR_UNSUPPORTED, "it reads constants only");
    MW_TRY(mw__clone_op(&s->clone, op, s->err));
    for (size_t i = 0; i < op->result_count; i++) {
        char name[32];
        mw_tensor *copy = mw__clone_get(&s->clone, op->results[i]);
        snprintf(name, sizeof name, "out%zu", i);
        if (copy != NULL && copy->type->kind == MW__TENSOR)
            mw_output(copy, name);
    }
    return mw_graph_check(graph, s->err);
}

mw_status mw__compare_isolate(const mw__op *op, const mw_allocator *allocator, mw__compare_alone *out, mw_error *err)
{
    static const mw__clone_options plain = {.rule = NULL};
    const mw__function *function = op->block->function;
    const size_t count = function->graph->value_count;
    mw_graph_options made = mw_graph_defaults();
    made.allocator = allocator;
    made.opset = function->opset;
    *out = (mw__compare_alone){.graph = mw__graph_make(&made, err)};
    if (out->graph == NULL)
        return mw__status_or(err, MW_ERROR_MEMORY);
    isolating s = {.clone = {.from = function, .to = out->graph, .options = &plain}, .out = out, .err = err};
    s.clone.map = mw__alloc(allocator, count, sizeof *s.clone.map, err);
    s.clone.marks = mw__alloc(allocator, count, 1, err);
    mw_status status = s.clone.map != NULL && s.clone.marks != NULL ? isolate(&s, op) : MW_ERROR_MEMORY;
    if (status != MW_OK && !mw__failed(err))
        status = mw_graph_check(out->graph, err);
    mw__clone_deinit(&s.clone);
    return status;
}

/* Which extents of a specialized function are still open, and what decides them. */
#include "graph/transform/extents/specialize.h"

#include "base/text/printable.h"
#include "graph/constants/evaluate_small.h"
#include "graph/ir/rule.h"

#include <string.h>

/* What the elements of a list are is found out from what is written to it (lower.h). */
static bool is_open(const mw__type *type)
{
    for (int i = 0; type->kind == MW__TENSOR && i < type->shape.rank; i++)
        if (type->shape.dim[i] == MW_DIM_UNKNOWN)
            return true;
    return false;
}

/* An argument that says how large something is, or where it lies: integers beside the tensors that are moved. */
static bool decides(const mw__op *op, size_t slot)
{
    const mw__arg_row *arg = &op->row->args[slot];
    if (strcmp(op->kind, "range_1d") == 0)
        return true;
    return (arg->type == MW__I32 || arg->type == MW__INT) && strcmp(arg->name, "indices") != 0 &&
           strcmp(arg->name, "x") != 0;
}

static const mw_tensor *computed(const mw__op *op, size_t slot)
{
    const mw__slot *s = &op->slots[slot];
    const mw_tensor *value = s->operands != NULL && s->count == 1 ? s->operands[0].value : NULL;
    return value != NULL && !mw__is_constant(value) ? value : NULL;
}

/* ---- does anything want it ---- */

static bool wants(const mw__block *block)
{
    for (size_t i = 0; i < block->input_count; i++)
        if (is_open(block->inputs[i]->type))
            return true;
    for (size_t i = 0; i < block->op_count; i++) {
        const mw__op *op = block->ops[i];
        for (size_t k = 0; k < op->result_count; k++)
            if (is_open(op->results[k]->type))
                return true;
        for (size_t k = 0; op->row != NULL && k < op->slot_count; k++)
            if (decides(op, k) && computed(op, k) != NULL)
                return true;
        for (size_t k = 0; k < op->block_count; k++)
            if (wants(op->blocks[k]))
                return true;
    }
    return false;
}

bool mw__wants_specializing(const mw__function *function) { return wants(function->body); }

/* ---- what decides ---- */

typedef struct search {
    const mw__function *function;
    unsigned char *seen; /* by id */
    const mw_tensor **out;
    size_t count;
    const mw__op *unknown; /* an operation that is given what no input decides and nobody evaluates */
    const mw_tensor *given;
    mw_error *err;
} search;

static mw_status refuse_open_op(const search *s, const mw__op *op, const char *why, const char *what)
{
    char subject[160], text[200] = "";
    if (op->result_count > 0 && op->results[0]->type->kind == MW__TENSOR)
        mw__shape_print(op->results[0]->type->shape, text, sizeof text);
    mw__fail(s->err, MW_ERROR_UNSUPPORTED,
             "%s: its result %s has extents that are not known before the program runs: %s%s",
             mw__op_subject(op, subject, sizeof subject), text, why, what);
    mw__error_subject(s->err, op->kind, op->result_count > 0 ? op->results[0]->name : NULL);
    if (op->line != 0)
        mw__error_position(s->err, (int)op->line, (int)op->column);
    return MW_ERROR_UNSUPPORTED;
}

static bool may_decide(const mw_tensor *input)
{
    const int64_t count = mw_shape_count(mw_tensor_shape(input));
    const mw_dtype dtype = mw_tensor_dtype(input);
    return input->role == MW__INPUT && input->type->kind == MW__TENSOR && input->name != NULL && count >= 0 &&
           count <= MW__KNOWN_MAX && (mw__arg_type_holds(MW__INT, dtype) || dtype == MW_BOOL);
}

static mw_status follow_value(search *s, const mw__op *asker, const mw_tensor *value);

static mw_status follow_operands(search *s, const mw__op *asker, const mw__op *op)
{
    for (size_t i = 0; i < op->slot_count; i++)
        for (size_t k = 0; op->slots[i].operands != NULL && k < op->slots[i].count; k++)
            if (op->slots[i].operands[k].value != NULL)
                MW_TRY(follow_value(s, asker, op->slots[i].operands[k].value));
    return MW_OK;
}

/* Back from a value to the inputs that it is made of. */
static mw_status follow_value(search *s, const mw__op *asker, const mw_tensor *value)
{
    char text[MW__TENSOR_TEXT];
    const int64_t count = mw_shape_count(mw_tensor_shape(value));
    if (mw__is_constant(value) || s->seen[value->id])
        return MW_OK;
    s->seen[value->id] = 1;
    if (value->op == NULL && may_decide(value)) {
        if (s->count == MW__DECIDING_MAX)
            return refuse_open_op(s, asker, "more than 64 inputs decide them", "");
        s->out[s->count++] = value;
        return MW_OK;
    }
    if (value->op == NULL || value->op->block_count > 0 || count < 0 || count > MW__KNOWN_MAX)
        return refuse_open_op(s, asker, "they depend on ", mw__tensor_print(value, text, sizeof text));
    return follow_operands(s, asker, value->op);
}

/* An operation with an open result that has no open operand: what it is given decides. */
static mw_status explain(search *s, const mw__op *op)
{
    bool any = false;
    for (size_t i = 0; op->row != NULL && i < op->slot_count; i++) {
        if (!decides(op, i) || computed(op, i) == NULL)
            continue;
        any = true;
        MW_TRY(follow_value(s, op, computed(op, i)));
        s->unknown = op;
        s->given = computed(op, i);
    }
    return any ? MW_OK : refuse_open_op(s, op, "they depend on the values of its operands", "");
}

static bool has_open_operand(const mw__op *op)
{
    for (size_t i = 0; i < op->slot_count; i++)
        for (size_t k = 0; op->slots[i].operands != NULL && k < op->slots[i].count; k++) {
            const mw_tensor *value = op->slots[i].operands[k].value;
            if (value != NULL && is_open(value->type))
                return true;
        }
    return false;
}

/* ---- constants that inputs give ---- */

/* As `follow`, but what leads elsewhere is none of this search. */
static void gather_inputs(search *s, const mw_tensor *value)
{
    if (mw__is_constant(value) || s->seen[value->id])
        return;
    s->seen[value->id] = 1;
    if (value->op == NULL && may_decide(value) && s->count < MW__DECIDING_MAX)
        s->out[s->count++] = value;
    if (value->op == NULL || value->op->block_count > 0 || strcmp(value->op->kind, "shape") == 0)
        return;
    for (size_t i = 0; i < value->op->slot_count; i++)
        for (size_t k = 0; value->op->slots[i].operands != NULL && k < value->op->slots[i].count; k++)
            if (value->op->slots[i].operands[k].value != NULL)
                gather_inputs(s, value->op->slots[i].operands[k].value);
}

static void search_constants(search *s, const mw__block *block)
{
    for (size_t i = 0; i < block->op_count; i++) {
        const mw__op *op = block->ops[i];
        for (size_t k = 0; op->row != NULL && k < op->slot_count; k++)
            if (op->row->args[k].kind == MW__CONST && decides(op, k) && computed(op, k) != NULL)
                gather_inputs(s, computed(op, k));
        for (size_t k = 0; k < op->block_count; k++)
            search_constants(s, op->blocks[k]);
    }
}

mw_status mw__find_constant_inputs(const mw__function *function, const mw_tensor *out[MW__DECIDING_MAX],
                                   size_t *out_count, mw_error *err)
{
    const mw_graph *graph = function->graph;
    search s = {
        .function = function, .seen = mw__alloc(graph->allocator, graph->value_count, 1, err), .out = out, .err = err};
    *out_count = 0;
    if (s.seen == NULL)
        return MW_ERROR_MEMORY;
    search_constants(&s, function->body);
    mw__free(graph->allocator, s.seen);
    *out_count = s.count;
    return MW_OK;
}

/* ---- what is open ---- */

static mw_status search_block(search *s, const mw__block *block, const mw__op **first)
{
    for (size_t i = 0; i < block->op_count; i++) {
        const mw__op *op = block->ops[i];
        bool open = false;
        for (size_t k = 0; k < op->block_count; k++)
            MW_TRY(search_block(s, op->blocks[k], first));
        for (size_t k = 0; k < op->result_count; k++)
            open = open || is_open(op->results[k]->type);
        if (open && *first == NULL)
            *first = op;
        if (open && op->block_count == 0 && !has_open_operand(op))
            MW_TRY(explain(s, op));
    }
    return MW_OK;
}

mw_status mw__find_deciding(const mw__function *function, const mw_tensor *out[MW__DECIDING_MAX], size_t *out_count,
                            mw_error *err)
{
    const mw_graph *graph = function->graph;
    const mw__op *first = NULL;
    char text[MW__TENSOR_TEXT];
    search s = {
        .function = function, .seen = mw__alloc(graph->allocator, graph->value_count, 1, err), .out = out, .err = err};
    *out_count = 0;
    if (s.seen == NULL)
        return MW_ERROR_MEMORY;
    mw_status status = search_block(&s, function->body, &first);
    if (status == MW_OK && s.unknown != NULL && s.count == 0)
        status = refuse_open_op(&s, s.unknown, "they depend on ", mw__tensor_print(s.given, text, sizeof text));
    else if (status == MW_OK && first != NULL && s.count == 0)
        status = refuse_open_op(&s, first, "a loop or branch gives them different values", "");
    mw__free(graph->allocator, s.seen);
    *out_count = s.count;
    return status;
}

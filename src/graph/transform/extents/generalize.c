/* The copy whose extents are open, and the proof that it is the last of the graphs when it gets that one's shapes. */
#include "graph/ir/admitted.h"
#include "graph/transform/extents/generalize_parts.h"
#include "graph/transform/extents/specialize.h"
#include "graph/transform/segment/prune.h"

#include <string.h>

/* ---- types ---- */

/* What differs is `?` in the first graph: a copy keeps what its source declares. */
static mw_status open_value(const mw__generalize_match *match, mw_tensor *value)
{
    mw_shape shape = mw_tensor_shape(value);
    bool differs = false;
    for (int k = 1; k < match->count; k++)
        for (int i = 0; i < shape.rank; i++)
            if (match->shapes[k][value->id].dim[i] != match->shapes[0][value->id].dim[i]) {
                shape.dim[i] = MW_DIM_UNKNOWN;
                differs = true;
            }
    if (!differs)
        return MW_OK;
    const mw__type *type = mw__type_tensor(match->graphs[0], value->type->dtype, shape, match->err);
    if (type == NULL)
        return MW_ERROR_MEMORY;
    value->type = type;
    return MW_OK;
}

static mw_status open_types(const mw__generalize_match *match)
{
    const mw__block *body = match->graphs[0]->functions[0]->body;
    for (size_t i = 0; i < body->input_count; i++)
        MW_TRY(open_value(match, body->inputs[i]));
    for (size_t i = 0; i < match->op_count; i++) {
        const mw__op *op = match->ops[0][i];
        for (size_t k = 0; k < op->result_count; k++)
            MW_TRY(open_value(match, op->results[k]));
        for (size_t b = 0; b < op->block_count; b++)
            for (size_t k = 0; k < op->blocks[b]->input_count; k++)
                MW_TRY(open_value(match, op->blocks[b]->inputs[k]));
    }
    return MW_OK;
}

/* ---- the copy ---- */

static mw_tensor *swap_constant(void *user, mw__clone *clone, const mw__op *op, size_t slot, const mw__operand *operand)
{
    const mw__generalize_match *match = user;
    const size_t index = (size_t)(operand - op->slots[slot].operands);
    const mw__payload *constants[MW__WITNESSES];
    bool same = true;
    if (operand->value->payload == NULL || op->result_count == 0)
        return NULL;
    for (int k = 0; k < match->count; k++) {
        const mw__op *twin = match->ops[k][match->at[op->results[0]->id]];
        constants[k] = twin->slots[slot].operands[index].value->payload;
        same = same && mw__generalize_match_payloads_equal(constants[0], constants[k]);
    }
    if (same || clone->to->error.status != MW_OK)
        return NULL;
    return mw__generalize_constant(match, clone, op, slot, constants);
}

static bool copy_op(void *user, mw__clone *clone, const mw__op *op)
{
    if (op->row == NULL || op->row->id == MW__OP_const)
        return false;
    mw__clone_op_with(clone, op, swap_constant, user);
    return true;
}

static mw_graph *copy_open(mw__generalize_match *match)
{
    const mw_graph *from = match->graphs[0];
    const mw__clone_options options = {.rule = copy_op, .user = match, .keep_outputs = true};
    mw_graph_options made = mw_graph_defaults();
    made.allocator = from->allocator;
    made.opset = from->functions[0]->opset;
    mw_graph *graph = mw__graph_make(&made, match->err);
    if (graph == NULL)
        return NULL;
    if (mw__clone_ports(from->functions[0], graph, &options, NULL, match->err) == MW_OK &&
        mw__prune(graph->functions[0], match->err) == MW_OK)
        return graph;
    mw__graph_free(graph);
    return NULL;
}

/* ---- the proof ---- */

typedef mw_shape shape_choice(const mw__generalize_match *match, size_t input);

static mw_shape shape_of_last(const mw__generalize_match *match, size_t input)
{
    return mw_tensor_shape(match->graphs[MW__WITNESSES - 1]->functions[0]->body->inputs[input]);
}

static mw_shape shape_of_first(const mw__generalize_match *match, size_t input)
{
    return match->shapes[0][match->graphs[0]->functions[0]->body->inputs[input]->id];
}

static mw_shape shape_of_one(const mw__generalize_match *match, size_t input)
{
    mw_shape shape = mw_tensor_shape(match->graphs[0]->functions[0]->body->inputs[input]);
    for (int i = 0; i < shape.rank; i++)
        shape.dim[i] = shape.dim[i] == MW_DIM_UNKNOWN ? 1 : shape.dim[i];
    return shape;
}

static mw_graph *close(const mw__generalize_match *match, const mw_graph *open, shape_choice *choice, mw_error *err)
{
    const mw__block *body = open->functions[0]->body;
    mw__given *given = mw__arena_alloc(match->arena, body->input_count + 1, sizeof *given, err);
    if (given == NULL)
        return NULL;
    for (size_t i = 0; i < body->input_count; i++)
        given[i].shape = choice(match, i);
    return mw__specialize(open->allocator, open->functions[0], given, true, err);
}

static mw_status prove(const mw__generalize_match *match, const mw_graph *open)
{
    mw_graph *closed = close(match, open, shape_of_last, match->err);
    if (closed == NULL)
        return match->err->status;
    mw_graph *const both[] = {match->graphs[MW__WITNESSES - 1], closed};
    mw__generalize_match exact = {.graphs = both, .count = 2, .exact = true, .arena = match->arena, .err = match->err};
    const mw_status status = mw__generalize_match_graphs(&exact);
    mw__graph_free(closed);
    return status;
}

/* By default each `?` is 1, if the operations take that, else as in the first graph. */
static mw_status admit(const mw__generalize_match *match, mw_graph *open)
{
    mw_error own = {0};
    const mw__block *body = open->functions[0]->body;
    mw_graph *one = close(match, open, shape_of_one, &own);
    if (one == NULL && own.status == MW_ERROR_MEMORY)
        return mw__fail(match->err, MW_ERROR_MEMORY, "no memory for a copy of the function");
    mw_shape *standards = mw__arena_alloc(match->arena, body->input_count + 1, sizeof *standards, match->err);
    for (size_t i = 0; standards != NULL && i < body->input_count; i++)
        standards[i] = one != NULL ? shape_of_one(match, i) : shape_of_first(match, i);
    mw__graph_free(one);
    if (standards == NULL)
        return MW_ERROR_MEMORY;
    mw__admit(open, standards);
    return mw_graph_check(open, match->err);
}

static mw_graph *generalize(mw__generalize_match *match)
{
    if (mw__generalize_match_graphs(match) != MW_OK || open_types(match) != MW_OK)
        return NULL;
    mw_graph *open = copy_open(match);
    if (open == NULL || (prove(match, open) == MW_OK && admit(match, open) == MW_OK))
        return open;
    mw__graph_free(open);
    return NULL;
}

mw_graph *mw__generalize(mw_graph *const witness[MW__WITNESSES], mw_error *err)
{
    mw__arena arena;
    mw__arena_init(&arena, witness[0]->allocator);
    mw__generalize_match match = {.graphs = witness, .count = MW__WITNESSES, .arena = &arena, .err = err};
    mw_graph *open = generalize(&match);
    mw__arena_deinit(&arena);
    return open;
}

/* One walk backwards marks what is needed; then the blocks close ranks. */
#include "graph/transform/segment/prune.h"

#include <string.h>

typedef struct pruning {
    unsigned char *needed; /* by id */
} pruning;

static bool writes(const mw__op *op)
{
    return op->row == NULL || strcmp(op->kind, "write_state") == 0 || strcmp(op->kind, "coreml_update_state") == 0;
}

bool mw__op_has_effect(const mw__op *op)
{
    if (writes(op) && op->block_count == 0)
        return true;
    for (size_t b = 0; b < op->block_count; b++)
        for (size_t i = 0; i < op->blocks[b]->op_count; i++)
            if (mw__op_has_effect(op->blocks[b]->ops[i]))
                return true;
    return false;
}

static void mark_operands(const pruning *p, const mw__operand *operands, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (operands[i].value != NULL)
            p->needed[operands[i].value->id] = 1;
        else
            mark_operands(p, operands[i].members, operands[i].member_count);
    }
}

static bool is_needed(const pruning *p, const mw__op *op)
{
    bool needed = mw__op_has_effect(op);
    for (size_t i = 0; i < op->result_count && !needed; i++)
        needed = p->needed[op->results[i]->id] != 0;
    return needed;
}

/* A block of an operation that is needed: its results are, and what is inside can be pruned as well. */
static void prune_block(const pruning *p, mw__block *block)
{
    size_t kept = block->op_count;
    for (size_t i = 0; i < block->output_count; i++)
        p->needed[block->outputs[i]->id] = 1;
    for (size_t i = block->op_count; i-- > 0;) {
        mw__op *op = block->ops[i];
        if (!is_needed(p, op))
            continue;
        for (size_t b = op->block_count; b-- > 0;)
            prune_block(p, op->blocks[b]);
        for (size_t s = 0; s < op->slot_count; s++)
            if (op->slots[s].operands != NULL)
                mark_operands(p, op->slots[s].operands, op->slots[s].count);
        block->ops[--kept] = op;
    }
    const size_t count = block->op_count - kept;
    if (count > 0)
        memmove(block->ops, block->ops + kept, count * sizeof(mw__op *));
    block->op_count = count;
}

static void mark(const pruning *p, const mw_tensor *value)
{
    if (value != NULL)
        p->needed[value->id] = 1;
}

/* What is assigned to states, and what records over values speak of. */
static void mark_beside(const pruning *p, const mw__function *function)
{
    const mw_graph *graph = function->graph;
    for (size_t i = 0; i < function->body->input_count; i++)
        mark(p, function->body->inputs[i]->next);
    for (size_t i = 0; i < graph->value_count; i++) {
        const mw__composite *record = graph->values[i]->composite;
        if (record == NULL)
            continue;
        for (size_t k = 0; k < record->input_count; k++)
            mark(p, record->inputs[k]);
        mark(p, record->examples);
        mark(p, record->weights);
        mark(p, record->evaluation);
    }
}

mw_status mw__prune(const mw__function *function, mw_error *err)
{
    const mw_graph *graph = function->graph;
    const pruning p = {.needed = mw__alloc(graph->allocator, graph->value_count, 1, err)};
    if (p.needed == NULL)
        return MW_ERROR_MEMORY;
    mark_beside(&p, function);
    prune_block(&p, function->body);
    mw__free(graph->allocator, p.needed);
    return MW_OK;
}

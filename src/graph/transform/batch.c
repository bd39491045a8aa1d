/* The walk that finds out which examples each value depends on; the rules of the operations are in batch_rule.c. */
#include "graph/transform/batch.h"

/* The batch is the first axis of an input, which may hold several rows of each example. */
static mw__batch_rows of_input(const mw_tensor *input, int64_t batch)
{
    const mw_shape shape = mw_tensor_shape(input);
    if (input->role != MW__INPUT)
        return (mw__batch_rows){.kind = MW__BATCH_NONE};
    if (batch < 1 || shape.rank < 1 || shape.dim[0] < batch || shape.dim[0] % batch != 0)
        return (mw__batch_rows){.kind = MW__BATCH_MIXED};
    return (mw__batch_rows){.kind = MW__BATCH_ROWS, .inner = shape.dim[0] / batch};
}

void mw__batch_walk(mw__batch_rows *table, const mw__function *function, int64_t batch)
{
    const mw__block *body = function->body;
    for (size_t i = 0; i < body->op_count; i++) {
        const mw__op *op = body->ops[i];
        for (size_t r = 0; r < op->result_count; r++)
            table[op->results[r]->id] = mw__batch_rule(table, op, r, batch);
    }
}

const mw__batch_rows *mw__batch_find(mw__arena *arena, const mw__function *function, int64_t batch, mw_error *err)
{
    const mw__block *body = function->body;
    mw__batch_rows *table = mw__arena_alloc(arena, function->graph->value_count, sizeof *table, err);
    if (table == NULL)
        return NULL;
    for (size_t i = 0; i < body->input_count; i++)
        table[body->inputs[i]->id] = of_input(body->inputs[i], batch);
    mw__batch_walk(table, function, batch);
    return table;
}

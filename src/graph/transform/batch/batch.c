/* The walk that finds out which examples each value depends on; the rules of the operations are in batch_rule.c. */
#include "graph/transform/batch/batch.h"

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

static mw__batch_rows by_rule(const mw__batch_walk *walk, const mw__op *op, size_t result)
{
    return mw__batch_rule(walk->table, op, result, walk->batch);
}

void mw__batch_again(mw__batch_rows *table, const mw__function *function, int64_t batch, bool trained)
{
    mw__batch_walk walk = {.table = table, .batch = batch, .judge = by_rule, .lenient = trained};
    mw__batch_walk_function(&walk, function);
}

static mw__batch_rows *find_rows(mw__arena *arena, const mw__function *function, int64_t batch, bool trained,
                                 mw_error *err)
{
    const mw__block *body = function->body;
    mw__batch_rows *table = mw__arena_alloc(arena, function->graph->value_count, sizeof *table, err);
    if (table == NULL)
        return NULL;
    for (size_t i = 0; i < body->input_count; i++)
        table[body->inputs[i]->id] = of_input(body->inputs[i], batch);
    mw__batch_again(table, function, batch, trained);
    return table;
}

mw__batch_rows *mw__batch_find(mw__arena *arena, const mw__function *function, int64_t batch, mw_error *err)
{
    return find_rows(arena, function, batch, false, err);
}

mw__batch_rows *mw__batch_find_trained(mw__arena *arena, const mw__function *function, int64_t batch, mw_error *err)
{
    return find_rows(arena, function, batch, true, err);
}

/* Values that no example enters, but that have a row for each: states of zeros times a weight, say. That their rows are
 * alike follows from how they are made: constants whose rows repeat are taken for examples, and the rules of
 * batch_rule.c say whether each row of the value is made of one of those alone. */
#include "graph/transform/clone.h"
#include "graph/transform/rebatch.h"

#include <millwright/op_shape.h>
#include <string.h>

/* Which constants count as examples: those of this rank at least, along the axis of that number among the axes that
 * have as many rows and repeat. Several are tried, as a bias may have as many elements as there are examples. */
typedef struct guess {
    int least_rank, axis;
} guess;

static bool rows_repeat(const mw_tensor *value, int axis)
{
    const mw_shape shape = mw_tensor_shape(value);
    const mw__payload *payload = value->payload;
    const int bits = mw_dtype_bits(mw_tensor_dtype(value));
    if (payload == NULL)
        return value->op != NULL && strcmp(value->op->kind, "fill") == 0;
    if (payload->splat)
        return true;
    if (payload->data == NULL || bits % 8 != 0)
        return false;
    const size_t row = (size_t)mw__shape_span(shape, axis + 1, shape.rank) * (size_t)(bits / 8);
    const unsigned char *at = payload->data;
    for (int64_t run = 0; run < mw__shape_span(shape, 0, axis); run++, at += (size_t)shape.dim[axis] * row)
        for (int64_t i = 1; i < shape.dim[axis]; i++)
            if (memcmp(at, at + (size_t)i * row, row) != 0)
                return false;
    return true;
}

static mw__batch_rows guessed(const mw_tensor *value, int64_t batch, guess g)
{
    const mw__batch_rows none = {.kind = MW__BATCH_NONE};
    if (value->type->kind != MW__TENSOR || mw_tensor_shape(value).rank < g.least_rank)
        return none;
    const mw_shape shape = mw_tensor_shape(value);
    for (int i = 0, found = 0; i < shape.rank; i++)
        if (shape.dim[i] == batch && rows_repeat(value, i) && found++ == g.axis)
            return (mw__batch_rows){.kind = MW__BATCH_ROWS, .axis = i, .inner = 1};
    return none;
}

/* What the results up to that of `value` are if constants are taken so. */
static bool holds(mw__batch_rows *table, const mw__function *function, const mw_tensor *value, int axis, int64_t batch,
                  guess g)
{
    const mw_graph *graph = function->graph;
    for (size_t i = 0; i < graph->value_count; i++)
        table[i] = graph->values[i]->payload != NULL ? guessed(graph->values[i], batch, g) : (mw__batch_rows){0};
    for (size_t i = 0; i < function->body->op_count; i++) {
        const mw__op *op = function->body->ops[i];
        for (size_t k = 0; k < op->result_count; k++)
            if (op->results[k]->payload == NULL)
                table[op->results[k]->id] = strcmp(op->kind, "fill") == 0 ? guessed(op->results[k], batch, g)
                                                                          : mw__batch_rule(table, op, k, batch);
        if (op == value->op)
            break;
    }
    const mw__batch_rows rows = table[value->id];
    return rows.kind == MW__BATCH_ROWS && rows.axis == axis && rows.inner == 1;
}

static bool is_alike(const mw__rebatch *r, mw__clone *clone, const mw_tensor *value, int axis)
{
    static const guess guesses[] = {{2, 0}, {2, 1}, {1, 0}, {2, 2}};
    const mw_graph *graph = clone->from->graph;
    bool found = false;
    if (value->op == NULL || mw_tensor_shape(value).dim[axis] != r->from)
        return false;
    mw__batch_rows *table = mw__alloc(clone->to->allocator, graph->value_count, sizeof *table, &clone->to->error);
    for (size_t i = 0; table != NULL && !found && i < sizeof guesses / sizeof guesses[0]; i++)
        found = holds(table, clone->from, value, axis, r->from, guesses[i]);
    mw__free(clone->to->allocator, table);
    return found;
}

mw_tensor *mw__rebatch_alike(const mw__rebatch *r, mw__clone *clone, const mw_tensor *value, int axis, bool repeats)
{
    mw_tensor *copy = mw__clone_get(clone, value);
    int64_t begin[MW_RANK_MAX] = {0};
    if (copy == NULL || !is_alike(r, clone, value, axis))
        return NULL;
    mw_shape shape = mw_tensor_shape(copy), reps = {.rank = shape.rank};
    shape.dim[axis] = 1;
    for (int i = 0; i < shape.rank; i++)
        reps.dim[i] = i == axis ? r->to : 1;
    mw_tensor *one = mw_slice_by_size(copy, begin, shape.dim);
    return repeats && r->to > 1 ? mw_tile(one, reps) : one;
}

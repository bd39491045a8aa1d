/* Recompute segments (gradient checkpointing): a record whose gradient first copies the operations of the segment, so
 * that their values need not live from the forward to the backward pass. Which copies are dead is found later. */
#include "autograd/recompute_cut.h"
#include "autograd/vjp.h"
#include "base/float_mode.h"
#include "graph/transform/clone.h"

#include <stdio.h>
#include <string.h>

enum { NEEDED = 1, BOUNDARY = 2 };

/* ---- which operations ---- */

bool mw__recompute_keeps(const mw__op *op)
{
    return (op->row != NULL && op->row->id == MW__OP_const) || strncmp(op->kind, "random_", 7) == 0;
}

static void visit_operands(const mw__operand *operands, size_t count, mw__read_visit *visit, void *user)
{
    for (size_t i = 0; operands != NULL && i < count; i++) {
        if (operands[i].value != NULL)
            visit(user, operands[i].value);
        else
            visit_operands(operands[i].members, operands[i].member_count, visit, user);
    }
}

void mw__visit_reads(const mw__op *op, mw__read_visit *visit, void *user)
{
    for (size_t s = 0; s < op->slot_count; s++)
        visit_operands(op->slots[s].operands, op->slots[s].count, visit, user);
    for (size_t r = 0; r < op->result_count; r++) {
        const mw__composite *record = op->results[r]->composite;
        for (size_t i = 0; record != NULL && i < record->input_count; i++)
            if (record->inputs[i] != NULL)
                visit(user, record->inputs[i]);
        if (record != NULL && record->examples != NULL)
            visit(user, record->examples);
    }
}

static void need(void *user, const mw_tensor *value)
{
    unsigned char *marks = user;
    if ((marks[value->id] & BOUNDARY) == 0)
        marks[value->id] |= NEEDED;
}

static bool is_in(const unsigned char *marks, const mw__op *op)
{
    bool needed = false;
    for (size_t r = 0; r < op->result_count; r++)
        needed = needed || marks[op->results[r]->id] == NEEDED;
    return needed && !mw__recompute_keeps(op);
}

/* Marks what y needs back to the inputs and leaves; returns the number of operations. */
static size_t find_segment(const mw_graph *graph, const mw_tensor *y, mw_tensor *const *inputs, size_t count,
                           unsigned char *marks)
{
    const mw__block *block = graph->block;
    size_t operations = 0;
    for (size_t i = 0; i < count; i++)
        marks[inputs[i]->id] = BOUNDARY;
    need(marks, y);
    for (size_t o = block->op_count; o-- > 0;) {
        if (!is_in(marks, block->ops[o]))
            continue;
        operations++;
        mw__visit_reads(block->ops[o], need, marks);
    }
    return operations;
}

/* ---- the gradient ---- */

/* Appends the segment once more; *out_y is the copy of y. */
static mw_status copy_segment(const mw__vjp *vjp, mw_tensor *y, const unsigned char *marks, mw_tensor **out_y)
{
    const mw__block *block = vjp->graph->block;
    const size_t op_count = block->op_count;
    mw__clone clone;
    mw_status status = mw__clone_begin_within(&clone, block->function, vjp->err);
    for (size_t o = 0; o < op_count && status == MW_OK; o++)
        if (is_in(marks, block->ops[o]))
            status = mw__clone_again(&clone, block->ops[o]);
    *out_y = status == MW_OK ? mw__clone_get(&clone, y) : NULL;
    mw__clone_deinit(&clone);
    return status != MW_OK ? mw_graph_check(vjp->graph, vjp->err) : MW_OK;
}

/* The inputs are stops, as some may depend on others: the driver goes on from them. */
static mw_status differentiate(mw__vjp *vjp, mw_tensor *y, mw_tensor **x, mw_tensor **dx)
{
    const mw__composite *record = vjp->composite;
    size_t count = 0;
    for (size_t i = 0; i < record->input_count; i++)
        if (mw__vjp_wants_input(vjp, i))
            x[count++] = record->inputs[i];
    MW_TRY(mw_backward(&(mw_pullback){.roots = &y, .seeds = vjp->dy, .root_count = 1, .stops = x, .stop_count = count},
                       x, count, dx, vjp->err));
    count = 0;
    for (size_t i = 0; i < record->input_count; i++)
        if (mw__vjp_wants_input(vjp, i))
            mw__vjp_set_input(vjp, i, dx[count++]);
    return MW_OK;
}

static void vjp_recompute(mw__vjp *vjp)
{
    const mw_allocator *allocator = vjp->graph->allocator;
    const size_t inputs = vjp->composite->input_count;
    mw_tensor *y = mw__arg(vjp->y[0]->op, "x"), *copy = NULL;
    unsigned char *marks = mw__alloc(allocator, vjp->graph->value_count, 1, vjp->err);
    mw_tensor **x = mw__alloc(allocator, inputs, sizeof(mw_tensor *), vjp->err);
    mw_tensor **dx = mw__alloc(allocator, inputs, sizeof(mw_tensor *), vjp->err);
    if (marks != NULL && x != NULL && dx != NULL) {
        find_segment(vjp->graph, y, vjp->composite->inputs, inputs, marks);
        if (copy_segment(vjp, y, marks, &copy) == MW_OK)
            differentiate(vjp, copy, x, dx);
    }
    mw__free(allocator, dx);
    mw__free(allocator, x);
    mw__free(allocator, marks);
}

/* ---- marking ---- */

/* The record: the given inputs and the leaves that the segment reads. `record->inputs` has room for both. */
static mw_tensor *attach(mw_tensor *y, const unsigned char *marks, mw__composite *record)
{
    const mw__block *body = y->graph->current->body;
    for (size_t i = 0; i < body->input_count; i++)
        if (marks[body->inputs[i]->id] == NEEDED)
            record->inputs[record->input_count++] = body->inputs[i];
    return mw__composite_attach(mw_identity(y), record);
}

static bool check_arguments(mw_tensor *y, mw_tensor *const *inputs, size_t count)
{
    if (inputs == NULL && count > 0) {
        mw__graph_fail(y->graph, MW_ERROR_ARGUMENT, "mw_recompute: %zu inputs, but their array is NULL", count);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (inputs[i] != NULL && inputs[i]->graph == y->graph)
            continue;
        char what[32];
        snprintf(what, sizeof what, "input %zu", i);
        if (inputs[i] != NULL)
            mw__graph_mixed(inputs[i], y->graph, "mw_recompute", what);
        else
            mw__graph_fail(y->graph, MW_ERROR_ARGUMENT, "mw_recompute: input %zu is NULL", i);
        return false;
    }
    return mw_graph_check(y->graph, NULL) == MW_OK;
}

mw_tensor *mw_recompute(mw_tensor *y, mw_tensor *const *inputs, size_t count)
{
    MW__FLOAT_SCOPE;
    if (y == NULL || !check_arguments(y, inputs, count))
        return NULL;
    mw_graph *graph = y->graph;
    unsigned char *marks = mw__alloc(graph->allocator, graph->value_count, 1, &graph->error);
    mw__composite record = {.name = "recompute", .input_count = count, .vjp = vjp_recompute};
    record.inputs = mw__alloc(graph->allocator, count + graph->value_count, sizeof(mw_tensor *), &graph->error);
    mw_tensor *segment = NULL;
    char name[MW__TENSOR_TEXT];
    if (marks != NULL && record.inputs != NULL) {
        if (count > 0)
            memcpy(record.inputs, inputs, count * sizeof(mw_tensor *));
        if (find_segment(graph, y, inputs, count, marks) > 0)
            segment = attach(y, marks, &record);
        else
            mw__graph_fail(graph, MW_ERROR_ARGUMENT, "mw_recompute: there is no operation between the inputs and %s",
                           mw__tensor_print(y, name, sizeof name));
    }
    mw__free(graph->allocator, record.inputs);
    mw__free(graph->allocator, marks);
    return segment;
}

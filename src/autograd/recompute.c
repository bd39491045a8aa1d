/* Recompute segments (gradient checkpointing): a record whose gradient first copies the operations of the segment, so
 * that their values need not live from the forward to the backward pass. Which copies are dead is found later. */
#include "autograd/recompute_cut.h"
#include "autograd/vjp/rules.h"
#include "base/number/float_mode.h"
#include "graph/transform/clone/clone.h"

#include <stdio.h>
#include <string.h>

enum { NEEDED = 1, BOUNDARY = 2, LISTED = 4 };

/* ---- which operations ---- */

bool mw__recompute_keeps(const mw__op *op) { return mw__op_is_const(op) || mw__op_has(op, MW__TRAIT_RANDOM); }

static void visit_operands(const mw__operand *operands, size_t count, mw__read_visit *visit, void *user)
{
    for (size_t i = 0; operands != NULL && i < count; i++) {
        if (operands[i].value != NULL)
            visit(user, operands[i].value);
        else
            visit_operands(operands[i].members, operands[i].member_count, visit, user);
    }
}

static void visit_block(const mw__block *block, mw__read_visit *visit, void *user)
{
    for (size_t i = 0; i < block->op_count; i++)
        mw__visit_reads(block->ops[i], visit, user);
    for (size_t i = 0; i < block->output_count; i++)
        visit(user, block->outputs[i]);
}

void mw__visit_reads(const mw__op *op, mw__read_visit *visit, void *user)
{
    for (size_t b = 0; b < op->block_count; b++)
        visit_block(op->blocks[b], visit, user);
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

/* ---- where a segment starts ---- */

static void list_input(mw__composite *record, unsigned char *marks, mw_tensor *value, unsigned char wanted)
{
    if (marks[value->id] != wanted)
        return;
    marks[value->id] |= LISTED;
    record->inputs[record->input_count++] = value;
}

/* The values of a block that is around the current one. */
static void list_around(mw__composite *record, unsigned char *marks, const mw__block *block)
{
    for (size_t i = 0; i < block->input_count; i++)
        list_input(record, marks, block->inputs[i], NEEDED);
    if (block == block->function->graph->block)
        return;
    for (size_t o = 0; o < block->op_count; o++)
        for (size_t r = 0; r < block->ops[o]->result_count; r++)
            if (!mw__recompute_keeps(block->ops[o]))
                list_input(record, marks, block->ops[o]->results[r], NEEDED);
}

/* The given inputs, each once, as the gradient of a value comes back for each time that it is listed; then the leaves
 * that the segment reads, and in a loop or branch what it reads from around it. `record->inputs` has room for all. */
static void list_inputs(mw__composite *record, mw_graph *graph, mw_tensor *const *given, size_t count,
                        unsigned char *marks)
{
    record->input_count = 0;
    for (size_t i = 0; i < count; i++)
        list_input(record, marks, given[i], BOUNDARY);
    list_around(record, marks, graph->current->body);
    for (const mw__block *block = graph->block; block->owner != NULL; block = block->owner->block)
        list_around(record, marks, block);
}

/* The value whose operations are computed again; NULL if a rewrite has left nothing of the mark. */
static mw_tensor *segment_end(const mw_tensor *value)
{
    const mw__op *op = value->op;
    return op != NULL && op->row != NULL && op->row->id == MW__OP_identity ? mw__arg(op, "x") : NULL;
}

/* A copy may read leaves in a segment that its source did not: the parameters that loops and branches read, those that
 * were constants, adapters. */
static bool same_inputs(const mw__composite *a, const mw__composite *b)
{
    return a->input_count == b->input_count &&
           (a->input_count == 0 || memcmp(a->inputs, b->inputs, a->input_count * sizeof *a->inputs) == 0);
}

static mw_status find_leaves(mw_graph *graph, mw_tensor *value, mw_error *err)
{
    const mw__composite *before = value->composite;
    mw_tensor *y = segment_end(value);
    if (y == NULL) {
        value->composite = NULL; /* its operations are differentiated */
        return MW_OK;
    }
    unsigned char *marks = mw__alloc(graph->allocator, graph->value_count, 1, err);
    mw__composite record = *before;
    record.inputs = mw__alloc(graph->allocator, before->input_count + graph->value_count, sizeof(mw_tensor *), err);
    if (marks != NULL && record.inputs != NULL) {
        find_segment(graph, y, before->inputs, before->input_count, marks);
        list_inputs(&record, graph, before->inputs, before->input_count, marks);
        if (!same_inputs(&record, before) && mw__composite_attach(value, &record) == NULL)
            mw_graph_check(graph, err);
    }
    mw__free(graph->allocator, record.inputs);
    mw__free(graph->allocator, marks);
    return err->status;
}

mw_status mw__recompute_find_leaves(mw_graph *graph, mw_error *err)
{
    const mw__block *block = graph->block;
    for (size_t o = 0; o < block->op_count; o++)
        for (size_t r = 0; r < block->ops[o]->result_count; r++) {
            mw_tensor *value = block->ops[o]->results[r];
            if (value->composite != NULL && value->composite->recomputes)
                MW_TRY(find_leaves(graph, value, err));
        }
    return MW_OK;
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
    static const mw__gradient_words words = {.call = "mw_recompute", .root = "y", .seed = "dy", .within = true};
    const mw__composite *record = vjp->composite;
    size_t count = 0;
    for (size_t i = 0; i < record->input_count; i++)
        if (mw__vjp_wants_input(vjp, i))
            x[count++] = record->inputs[i];
    const mw_pullback pullback = {.roots = &y, .seeds = vjp->dy, .root_count = 1, .stops = x, .stop_count = count};
    MW_TRY(mw__gradient(&words, &pullback, x, count, dx, vjp->err));
    count = 0;
    for (size_t i = 0; i < record->input_count; i++) {
        mw_tensor *given = mw__vjp_wants_input(vjp, i) ? dx[count++] : NULL;
        if (given != NULL && !mw__gradient_is_zero(given)) /* a sum of zeros would not be known for one */
            mw__vjp_set_input(vjp, i, given);
    }
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
    mw__composite record = {.name = "recompute", .vjp = vjp_recompute, .recomputes = true};
    record.inputs = mw__alloc(graph->allocator, count + graph->value_count, sizeof(mw_tensor *), &graph->error);
    mw_tensor *segment = NULL;
    char name[MW__TENSOR_TEXT];
    if (marks != NULL && record.inputs != NULL) {
        if (find_segment(graph, y, inputs, count, marks) > 0) {
            list_inputs(&record, graph, inputs, count, marks);
            segment = mw__composite_attach(mw_identity(y), &record);
        } else {
            mw__graph_fail(graph, MW_ERROR_ARGUMENT, "mw_recompute: there is no operation between the inputs and %s",
                           mw__tensor_print(y, name, sizeof name));
        }
    }
    mw__free(graph->allocator, record.inputs);
    mw__free(graph->allocator, marks);
    return segment;
}

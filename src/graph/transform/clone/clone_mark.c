/* What a clone finds out before it copies: which values the roots need, and which constants keep their type. */
#include "graph/transform/clone/clone_mark.h"

#include "graph/ir/rule.h"
#include "graph/random/noise.h"

enum { NEEDED = 1, USED_BY_ROW = 2, REPLACED = 4 };

typedef void visit_operand(mw__clone *clone, const mw__op *op, const mw_tensor *value);

static void visit_members(mw__clone *clone, const mw__op *op, const mw__operand *operands, size_t count,
                          visit_operand *visit)
{
    for (size_t i = 0; i < count; i++) {
        if (operands[i].value != NULL)
            visit(clone, op, operands[i].value);
        else
            visit_members(clone, op, operands[i].members, operands[i].member_count, visit);
    }
}

static void visit_slots(mw__clone *clone, const mw__op *op, visit_operand *visit)
{
    for (size_t i = 0; i < op->slot_count; i++)
        visit_members(clone, op, op->slots[i].operands, op->slots[i].operands != NULL ? op->slots[i].count : 0, visit);
}

/* Every value that an operation uses, also in the blocks that it holds. */
static void visit_op(mw__clone *clone, const mw__op *op, visit_operand *visit)
{
    visit_slots(clone, op, visit);
    for (size_t b = 0; b < op->block_count; b++) {
        const mw__block *block = op->blocks[b];
        for (size_t i = 0; i < block->op_count; i++)
            visit_op(clone, block->ops[i], visit);
        for (size_t i = 0; i < block->output_count; i++)
            visit(clone, op, block->outputs[i]);
    }
}

static bool evaluates(const mw__clone *clone)
{
    return clone->options->form == MW__CLONE_EVALUATION || clone->options->form == MW__CLONE_DEPLOYMENT;
}

bool mw__clone_freezes(const mw__clone *clone, const mw_tensor *state)
{
    const mw__clone_options *options = clone->options;
    return evaluates(clone) || (options->frozen != NULL && options->frozen(options->user, state));
}

static bool is_frozen(const mw__clone *clone, const mw__composite *record)
{
    const mw_tensor *const *running = (const mw_tensor *const *)record->running;
    return running[0] != NULL && running[1] != NULL && mw__clone_freezes(clone, running[0]) &&
           mw__clone_freezes(clone, running[1]);
}

/* The evaluation form that the form of this clone, or what it freezes, puts in place of a value; NULL if none. */
static mw_tensor *evaluation_form(const mw__clone *clone, const mw_tensor *source)
{
    const mw__composite *record = source->composite;
    return record != NULL && (evaluates(clone) || is_frozen(clone, record)) ? record->evaluation : NULL;
}

bool mw__clone_restores(const mw__clone *clone, const mw_tensor *source)
{
    return clone->options->form == MW__CLONE_DEPLOYMENT && mw__is_noise(source);
}

bool mw__clone_replaced(const mw__clone *clone, const mw_tensor *source)
{
    return (clone->marks[source->id] & REPLACED) != 0;
}

static void mark_needed(mw__clone *clone, const mw__op *op, const mw_tensor *value)
{
    (void)op;
    if (mw__clone_restores(clone, value)) {
        clone->marks[value->id] |= REPLACED;
        for (size_t i = 0; i < value->composite->input_count; i++)
            mark_needed(clone, NULL, value->composite->inputs[i]);
        return;
    }
    if (evaluation_form(clone, value) != NULL) {
        clone->marks[value->id] |= REPLACED;
        value = value->composite->evaluation;
    }
    clone->marks[value->id] |= NEEDED;
}

static void mark_row(mw__clone *clone, const mw__op *op, const mw_tensor *value)
{
    if (op->row != NULL)
        clone->marks[value->id] |= USED_BY_ROW;
}

/* The record of a value speaks of earlier values, which must be there too. A segment starts wherever the copy has some:
 * the generator of a dropout inside it is not needed where the dropout has given way to its evaluation form. */
static void mark_composite(mw__clone *clone, const mw_tensor *value)
{
    const mw__composite *record = value->composite;
    if (record == NULL || record->recomputes)
        return;
    for (size_t i = 0; i < record->input_count; i++)
        mark_needed(clone, NULL, record->inputs[i]);
    if (record->examples != NULL)
        mark_needed(clone, NULL, record->examples);
    if (record->weights != NULL)
        mark_needed(clone, NULL, record->weights);
    if (record->evaluation != NULL && clone->options->form == MW__CLONE_WHOLE)
        mark_needed(clone, NULL, record->evaluation);
}

static void mark_results(mw__clone *clone, const mw__op *op)
{
    for (size_t k = 0; k < op->result_count; k++) {
        if (mw__clone_wants(clone, op->results[k]))
            mark_composite(clone, op->results[k]);
    }
}

/* Of an evaluation only what the results of a block need is there: what only training needs reads states. */
static void mark_block(mw__clone *clone, const mw__block *block)
{
    for (size_t i = 0; i < block->output_count; i++)
        mark_needed(clone, NULL, block->outputs[i]);
    for (size_t i = block->op_count; i-- > 0;) {
        const mw__op *op = block->ops[i];
        if (!mw__clone_wants_inside(clone, op))
            continue;
        mark_results(clone, op);
        visit_slots(clone, op, mark_needed);
        for (size_t b = 0; b < op->block_count; b++)
            mark_block(clone, op->blocks[b]);
    }
}

static void mark_op(mw__clone *clone, const mw__op *op)
{
    mark_results(clone, op);
    if (!evaluates(clone)) {
        visit_op(clone, op, mark_needed);
        return;
    }
    visit_slots(clone, op, mark_needed);
    for (size_t b = 0; b < op->block_count; b++)
        mark_block(clone, op->blocks[b]);
}

/* What the marked values need, in one walk backwards. */
static void mark_operands(mw__clone *clone)
{
    const mw__block *body = clone->from->body;
    for (size_t i = body->op_count; i-- > 0;) {
        const mw__op *op = body->ops[i];
        visit_op(clone, op, mark_row);
        if (mw__clone_wants_op(clone, op))
            mark_op(clone, op);
    }
}

/* A state comes before the value that is assigned to it, so that a walk backwards does not do. True if there was
 * something new. */
static bool mark_assigned(mw__clone *clone)
{
    const mw__block *body = clone->from->body;
    bool marked = false;
    for (size_t i = 0; i < body->input_count; i++) {
        const mw_tensor *state = body->inputs[i];
        if (state->next == NULL || !mw__clone_wants(clone, state) || (clone->marks[state->next->id] & NEEDED) != 0 ||
            mw__clone_freezes(clone, state))
            continue;
        mark_needed(clone, NULL, state->next);
        marked = true;
    }
    return marked;
}

mw_status mw__clone_mark(mw__clone *clone, mw_error *err)
{
    const mw__clone_options *options = clone->options;
    if (evaluates(clone) && options->roots == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "clone: the evaluation form of what? There are no roots");
    for (size_t i = 0; i < options->root_count && options->roots != NULL; i++) {
        if (options->roots[i] == NULL || options->roots[i]->graph != clone->from->graph)
            return mw__fail(err, MW_ERROR_ARGUMENT, "clone: root %zu is no tensor of the source graph", i);
        mark_needed(clone, NULL, options->roots[i]);
    }
    for (size_t i = 0; options->roots == NULL && i < clone->from->body->output_count; i++)
        mark_needed(clone, NULL, clone->from->body->outputs[i]);
    do
        mark_operands(clone);
    while (mark_assigned(clone));
    return MW_OK;
}

bool mw__clone_wants(const mw__clone *clone, const mw_tensor *source)
{
    return clone->options->roots == NULL || (clone->marks[source->id] & NEEDED) != 0;
}

/* What is done, whatever becomes of the results. */
static bool has_effect(const mw__op *op)
{
    if (op->row != NULL && op->row->id == MW__OP_write_state)
        return true;
    for (size_t b = 0; b < op->block_count; b++)
        for (size_t i = 0; i < op->blocks[b]->op_count; i++)
            if (has_effect(op->blocks[b]->ops[i]))
                return true;
    return false;
}

bool mw__clone_wants_op(const mw__clone *clone, const mw__op *op)
{
    if (clone->options->roots == NULL)
        return true;
    if (!evaluates(clone) && has_effect(op))
        return true;
    for (size_t i = 0; i < op->result_count; i++) {
        if (mw__clone_wants(clone, op->results[i]))
            return true;
    }
    return false;
}

bool mw__clone_wants_inside(const mw__clone *clone, const mw__op *op)
{
    return !evaluates(clone) || has_effect(op) || mw__clone_wants_op(clone, op);
}

bool mw__clone_may_retype(const mw__clone *clone, const mw_tensor *source)
{
    return (clone->marks[source->id] & USED_BY_ROW) != 0;
}

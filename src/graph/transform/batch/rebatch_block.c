/* Loops, branches and lists for another batch. What a loop hands on has the rows of the table in every trip, so that
 * what goes in gets them first; a list is made for elements with the rows of what is written to it anywhere. */
#include "graph/ir/rule.h"
#include "graph/transform/batch/rebatch.h"
#include "graph/transform/extents/specialize.h"
#include "graph/transform/lower.h"

#include <string.h>

static bool has_shape_rule(const mw__op *op, mw__shape_rule *rule) { return op->row != NULL && op->row->shape == rule; }

/* ---- lists ---- */

typedef struct lists {
    const mw__capacities *capacities;
    mw__batch_rows *found; /* by root */
    mw__batch_rows *table;
    bool changed;
} lists;

static void each_list(lists *l, const mw__block *block, void (*visit)(lists *l, const mw__op *op))
{
    for (size_t i = 0; i < block->op_count; i++) {
        visit(l, block->ops[i]);
        for (size_t b = 0; b < block->ops[i]->block_count; b++)
            each_list(l, block->ops[i]->blocks[b], visit);
    }
}

/* One that is anything else somewhere stays what it is. */
static void find_rows(lists *l, const mw__op *op)
{
    for (size_t i = 0; i < op->result_count; i++) {
        const mw__batch_rows rows = l->table[op->results[i]->id];
        if (!mw__is_list(op->results[i]) || rows.kind == MW__BATCH_NONE)
            continue;
        mw__batch_rows *found = &l->found[mw__capacities_root(l->capacities, op->results[i])];
        if (found->kind == MW__BATCH_NONE)
            *found = rows;
        else if (found->kind != rows.kind || found->axis != rows.axis || found->inner != rows.inner)
            found->kind = MW__BATCH_MIXED;
    }
}

static void give_rows(lists *l, const mw__op *op)
{
    if (!has_shape_rule(op, mw__shape_make_list) || l->table[op->results[0]->id].kind != MW__BATCH_NONE)
        return;
    const mw__batch_rows found = l->found[mw__capacities_root(l->capacities, op->results[0])];
    if (found.kind != MW__BATCH_ROWS)
        return;
    l->table[op->results[0]->id] = found;
    l->changed = true;
}

static bool makes_lists(const mw__block *block)
{
    for (size_t i = 0; i < block->op_count; i++) {
        if (has_shape_rule(block->ops[i], mw__shape_make_list))
            return true;
        for (size_t b = 0; b < block->ops[i]->block_count; b++)
            if (makes_lists(block->ops[i]->blocks[b]))
                return true;
    }
    return false;
}

mw_status mw__rebatch_lists(mw__rebatch *r, const mw__function *function, mw_error *err)
{
    mw__capacities capacities;
    lists l = {.capacities = &capacities, .changed = true};
    if (!makes_lists(function->body))
        return MW_OK;
    MW_TRY(mw__lower_check(function->body, err));
    MW_TRY(mw__capacities_find_elements(&capacities, function, r->arena, err));
    while (l.changed) {
        l.changed = false;
        l.table = r->table;
        l.found = mw__arena_alloc(r->arena, function->graph->value_count, sizeof *l.found, err);
        if (l.found == NULL)
            return MW_ERROR_MEMORY;
        each_list(&l, function->body, find_rows);
        each_list(&l, function->body, give_rows);
        if (l.changed)
            mw__batch_again(l.table, function, r->from, r->trained);
    }
    return MW_OK;
}

/* ---- copies ---- */

static mw_status set_element(mw_graph *to, mw_tensor *list, mw_shape shape)
{
    const mw__type *element = mw__type_tensor(to, list->type->element[0]->dtype, shape, &to->error);
    const mw__type *type = element != NULL ? mw__type_list(to, element, list->type->length, &to->error) : NULL;
    if (type == NULL)
        return to->error.status;
    list->type = type;
    return MW_OK;
}

static mw_tensor *literal(mw_graph *to, int64_t extent)
{
    const int32_t value = (int32_t)extent;
    const mw__payload *payload = mw__payload_create(to, MW_I32, mw_shape_scalar(), &value, &to->error);
    mw_tensor *made = payload != NULL ? mw__value_create(to, payload->type, "elem_shape", &to->error) : NULL;
    if (made != NULL)
        made->payload = payload;
    return made;
}

static mw_status remake(mw__op *op, mw_shape shape)
{
    mw_graph *to = op->results[0]->graph;
    for (size_t s = 0; s < op->slot_count; s++) {
        mw__slot *slot = &op->slots[s];
        if (strcmp(slot->name, "elem_shape") != 0)
            continue;
        slot->count = (size_t)shape.rank;
        slot->tuple = true;
        slot->operands = mw__arena_alloc(&to->arena, slot->count, sizeof *slot->operands, &to->error);
        for (int d = 0; slot->operands != NULL && d < shape.rank; d++)
            slot->operands[d] = (mw__operand){.value = literal(to, shape.dim[d]), .inlined = true};
    }
    return to->error.status == MW_OK ? set_element(to, op->results[0], shape) : to->error.status;
}

static void copy_maker(const mw__rebatch *r, mw__clone *clone, const mw__op *op)
{
    const mw_shape shape = mw__rebatch_shape(r, op->results[0]);
    if (mw__clone_op(clone, op, &clone->to->error) != MW_OK || r->table[op->results[0]->id].kind != MW__BATCH_ROWS ||
        mw_shape_count(shape) < 0)
        return;
    const mw_tensor *copy = mw__clone_get(clone, op->results[0]);
    for (int d = 0; d < shape.rank; d++)
        if (shape.dim[d] > INT32_MAX)
            mw__clone_refuse(clone, op, MW_ERROR_SHAPE, "its elements have more rows than an extent of a list counts");
    if (clone->to->error.status == MW_OK)
        remake(copy->op, shape);
}

static bool same_rows(mw__batch_rows a, mw__batch_rows b)
{
    return a.kind == b.kind && (a.kind != MW__BATCH_ROWS || (a.axis == b.axis && a.inner == b.inner));
}

/* A value that enters a loop twice, with other rows or without, would have to be two. */
static bool enters_once(const mw__rebatch *r, mw__clone *clone, const mw__op *op)
{
    const mw__operand *vars;
    const size_t count = mw__arg_values(op, "loop_vars", &vars);
    for (size_t i = 0; i < count && i < op->result_count; i++)
        for (size_t k = 0; k < i; k++)
            if (vars[i].value == vars[k].value && r->table[vars[i].value->id].kind == MW__BATCH_NONE &&
                !same_rows(r->table[op->results[i]->id], r->table[op->results[k]->id])) {
                mw__clone_refuse(clone, op, MW_ERROR_UNSUPPORTED,
                                 "a value is its loop_vars twice, with rows of the examples in other places");
                return false;
            }
    return true;
}

static bool is_made_in(const mw__block *block, const mw_tensor *value)
{
    for (size_t i = 0; i < block->op_count; i++)
        for (size_t k = 0; k < block->ops[i]->result_count; k++)
            if (block->ops[i]->results[k] == value)
                return true;
    return false;
}

/* What a block makes and hands out where others have rows gets them where it is made. */
static void mark_handed(const mw__rebatch *r, const mw__op *op, const mw__block *block)
{
    for (size_t i = 0; i < block->output_count && i < op->result_count; i++) {
        const mw_tensor *value = block->outputs[i];
        const mw__batch_rows rows = r->table[op->results[i]->id];
        bool once = true;
        for (size_t k = 0; k < block->output_count; k++)
            once = once && (k == i || block->outputs[k] != value);
        if (once && rows.kind == MW__BATCH_ROWS && r->table[value->id].kind == MW__BATCH_NONE &&
            is_made_in(block, value))
            r->handed[value->id] = rows;
    }
}

void mw__rebatch_control(const mw__rebatch *r, mw__clone *clone, const mw__op *op)
{
    const bool loop = has_shape_rule(op, mw__shape_while_loop);
    if (loop && !enters_once(r, clone, op))
        return;
    if (loop)
        mw__rebatch_count_enter(r, op);
    for (size_t b = loop ? 1 : 0; b < op->block_count; b++)
        mark_handed(r, op, op->blocks[b]);
    if (has_shape_rule(op, mw__shape_make_list))
        copy_maker(r, clone, op);
    else if (op->block_count > 0 || !mw__fold_rule(NULL, clone, op))
        mw__clone_op_with(clone, op, mw__rebatch_operand, (void *)r);
    mw__rebatch_check(r, clone, op);
    if (clone->to->error.status == MW_OK)
        mw__rebatch_count(r, clone, op);
}

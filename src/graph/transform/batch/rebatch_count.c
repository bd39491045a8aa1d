/* Numbers that say how many examples there are: the shape of a batch, and what is computed of it. They may become
 * shapes and bounds again; a result that has them in its elements would change with the batch. */
#include "graph/constants/evaluate_small.h"
#include "graph/ir/rule.h"
#include "graph/transform/batch/rebatch.h"
#include "graph/transform/clone/clone.h"

#include <inttypes.h>
#include <string.h>

static bool has_count(const mw__rebatch *r, const mw__operand *operands, size_t count)
{
    bool found = false;
    for (size_t i = 0; i < count; i++)
        found = found || (operands[i].value != NULL ? r->counts[operands[i].value->id]
                                                    : has_count(r, operands[i].members, operands[i].member_count));
    return found;
}

/* Arguments that only give the result its extents. Where a slice begins is no such thing, nor where a range ends. */
static bool gives_extents(const mw__op *op, const char *arg)
{
    static const char *const names[] = {"shape", "end", "size", "reps", "output_shape", "ref_tensor"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(arg, names[i]) == 0)
            return strcmp(op->kind, "range_1d") != 0;
    return false;
}

static const char *counting_argument(const mw__rebatch *r, const mw__op *op)
{
    for (size_t i = 0; i < op->slot_count; i++)
        if (op->slots[i].operands != NULL && !gives_extents(op, op->slots[i].name) &&
            has_count(r, op->slots[i].operands, op->slots[i].count))
            return op->slots[i].name;
    return NULL;
}

/* ---- extents that followed ---- */

static bool has_other_shape(const mw__clone *clone, const mw_tensor *value)
{
    const mw_tensor *copy = mw__clone_get(clone, value);
    return copy != NULL && value->type->kind == MW__TENSOR && copy->type->kind == MW__TENSOR &&
           !mw_shape_equal(mw_tensor_shape(value), mw_tensor_shape(copy));
}

/* Rows along the one axis that has the extent of the other batch in the copy. */
static mw__batch_rows rows_of_growth(const mw__rebatch *r, const mw__clone *clone, const mw_tensor *value)
{
    const mw_shape before = mw_tensor_shape(value), after = mw_tensor_shape(mw__clone_get(clone, value));
    mw__batch_rows rows = {.kind = MW__BATCH_NONE};
    for (int i = 0; i < before.rank && before.rank == after.rank; i++) {
        if (before.dim[i] == after.dim[i])
            continue;
        if (rows.kind != MW__BATCH_NONE || before.dim[i] % r->from != 0 ||
            after.dim[i] != before.dim[i] / r->from * r->to)
            return (mw__batch_rows){.kind = MW__BATCH_NONE};
        rows = (mw__batch_rows){.kind = MW__BATCH_ROWS, .axis = i, .inner = before.dim[i] / r->from};
    }
    return rows;
}

/* Operands whose extents followed are taken for examples while the rule of the operation is asked. True if there are
 * any. */
static bool put_followed(const mw__rebatch *r, const mw__clone *clone, const mw__op *op, bool put)
{
    bool any = false;
    for (size_t s = 0; s < op->slot_count; s++)
        for (size_t k = 0; op->slots[s].operands != NULL && k < op->slots[s].count; k++) {
            mw_tensor *value = op->slots[s].operands[k].value;
            value = value != NULL ? mw__evaluated(value) : NULL;
            if (value == NULL || !has_other_shape(clone, value))
                continue;
            any = true;
            const mw__batch_rows rows = r->followed[value->id];
            if (put && r->table[value->id].kind == MW__BATCH_NONE)
                r->table[value->id] = rows.kind == MW__BATCH_ROWS ? rows : (mw__batch_rows){.kind = MW__BATCH_MIXED};
            else if (!put)
                r->table[value->id] = (mw__batch_rows){.kind = MW__BATCH_NONE};
        }
    return any;
}

/* All elements are the same, or all are drawn anew. */
static bool is_filled(const mw__op *op)
{
    return strcmp(op->kind, "fill") == 0 || strcmp(op->kind, "fill_like") == 0 || mw__op_has(op, MW__TRAIT_RANDOM);
}

static bool repeats_row(const mw__op *op, int axis)
{
    const mw_shape x = strcmp(op->kind, "tile") == 0 ? mw_tensor_shape(mw__arg(op, "x")) : mw_shape_scalar();
    return axis < x.rank && x.dim[axis] == 1;
}

/* Which rows a result has that no example enters: none that is known, if rows of several examples come together in
 * its elements, or if each has something of its own. */
static mw__batch_rows find_followed(const mw__rebatch *r, const mw__clone *clone, const mw__op *op, size_t result)
{
    const mw__batch_rows none = {.kind = MW__BATCH_NONE};
    const mw_tensor *value = op->results[result];
    const mw_tensor *like = strcmp(op->kind, "fill_like") == 0 ? mw__arg(op, "ref_tensor") : NULL;
    const mw__batch_rows growth = has_other_shape(clone, value) ? rows_of_growth(r, clone, value) : none;
    if (is_filled(op))
        return like != NULL && r->table[like->id].kind == MW__BATCH_ROWS ? r->table[like->id] : growth;
    const bool any = put_followed(r, clone, op, true);
    const mw__batch_rows rows = any ? mw__batch_rule(r->table, op, result, r->from) : none;
    put_followed(r, clone, op, false);
    if (!any)
        return growth.kind == MW__BATCH_ROWS && repeats_row(op, growth.axis) ? growth : none;
    return rows.kind == MW__BATCH_ROWS && growth.kind == MW__BATCH_ROWS && rows.axis == growth.axis ? rows : none;
}

/* Whether a result that no example enters is another one for another batch. */
static bool follow_extents(const mw__rebatch *r, const mw__clone *clone, const mw__op *op, size_t result)
{
    bool any = has_other_shape(clone, op->results[result]);
    for (size_t s = 0; !any && s < op->slot_count; s++)
        for (size_t k = 0; op->slots[s].operands != NULL && k < op->slots[s].count; k++)
            any = any || (op->slots[s].operands[k].value != NULL && !gives_extents(op, op->slots[s].name) &&
                          has_other_shape(clone, op->slots[s].operands[k].value));
    const mw__batch_rows rows = any ? find_followed(r, clone, op, result) : (mw__batch_rows){.kind = MW__BATCH_NONE};
    r->followed[op->results[result]->id] = rows;
    return any && rows.kind != MW__BATCH_ROWS;
}

/* The extents behind the first are the same for any batch. */
static bool is_known_to_stay(const mw__clone *clone, const mw_tensor *value)
{
    mw__evaluation evaluation = {0}, again = {0};
    mw__known before, after;
    const mw_tensor *copy = mw__clone_get(clone, value);
    return copy != NULL && mw__evaluate(&evaluation, value, &before) && mw__evaluate(&again, copy, &after) &&
           before.count == after.count && memcmp(before.at, after.at, before.count * sizeof *before.at) == 0;
}

static void refuse_operation(const mw__rebatch *r, mw__clone *clone, const mw__op *op, const char *what)
{
    char subject[160];
    mw__graph_fail(clone->to, MW_ERROR_UNSUPPORTED,
                   "%s: its %s is computed from the number of examples, %" PRId64
                   ", so that results would change with it",
                   mw__op_subject(op, subject, sizeof subject), what, r->from);
}

/* ---- loops and branches ---- */

static bool is_loop(const mw__op *op)
{
    return op->row != NULL && op->row->id == MW__OP_while_loop && op->block_count == 2;
}

void mw__rebatch_count_enter(const mw__rebatch *r, const mw__op *op)
{
    const mw__operand *vars;
    const size_t count = mw__arg_values(op, "loop_vars", &vars);
    for (size_t b = 0; is_loop(op) && b < op->block_count; b++)
        for (size_t i = 0; i < count && i < op->blocks[b]->input_count; i++) {
            r->counts[op->blocks[b]->inputs[i]->id] = r->counts[vars[i].value->id];
            r->followed[op->blocks[b]->inputs[i]->id] = r->followed[vars[i].value->id];
        }
}

/* A variable that starts to count in a trip would count in the next one from its beginning on. */
static void count_loop(const mw__rebatch *r, mw__clone *clone, const mw__op *op)
{
    const mw__block *condition = op->blocks[0], *body = op->blocks[1];
    if (r->counts[condition->outputs[0]->id]) {
        refuse_operation(r, clone, op, "condition");
        return;
    }
    for (size_t i = 0; i < op->result_count; i++) {
        const mw__batch_rows enters = r->followed[body->inputs[i]->id], leaves = r->followed[body->outputs[i]->id];
        const bool same = enters.kind == leaves.kind && enters.axis == leaves.axis && enters.inner == leaves.inner;
        const bool before = r->counts[body->inputs[i]->id];
        const bool rows = r->table[op->results[i]->id].kind == MW__BATCH_ROWS;
        const bool other = !rows && !same && has_other_shape(clone, body->outputs[i]);
        const bool after = r->counts[body->outputs[i]->id] || other;
        if ((after && !before) || ((before || after) && rows))
            refuse_operation(r, clone, op, before ? "loop_vars" : "body");
        r->counts[op->results[i]->id] = before || after;
        r->followed[op->results[i]->id] = enters;
    }
}

/* What a branch gives may count though the condition does not. */
static void count_branches(const mw__rebatch *r, mw__clone *clone, const mw__op *op)
{
    for (size_t b = 0; b < op->block_count; b++)
        for (size_t i = 0; i < op->result_count && i < op->blocks[b]->output_count; i++) {
            const mw_tensor *given = op->blocks[b]->outputs[i];
            const mw__batch_rows rows = r->followed[given->id];
            mw__batch_rows *result = &r->followed[op->results[i]->id];
            const bool same = b == 0 || (rows.kind == result->kind && rows.axis == result->axis);
            const bool is_row = r->table[op->results[i]->id].kind == MW__BATCH_ROWS;
            *result = rows;
            if (!r->counts[given->id] && (same || is_row || !has_other_shape(clone, op->results[i])))
                continue;
            if (is_row)
                refuse_operation(r, clone, op, "result");
            r->counts[op->results[i]->id] = true;
        }
}

/* Its operand is as large as there are examples, which no value of it needs to say. */
static bool is_shape_of_batch(const mw__rebatch *r, const mw__clone *clone, const mw__op *op)
{
    const mw_tensor *x = mw__arg(op, "x");
    return r->table[x->id].kind == MW__BATCH_ROWS || has_other_shape(clone, x);
}

void mw__rebatch_count(const mw__rebatch *r, mw__clone *clone, const mw__op *op)
{
    const char *arg = counting_argument(r, op);
    const bool is_shape = op->row != NULL && op->row->id == MW__OP_shape;
    if (r->trained)
        return;
    if (is_loop(op)) {
        count_loop(r, clone, op);
        return;
    }
    for (size_t i = 0; i < op->result_count; i++) {
        const mw_tensor *result = op->results[i];
        if (r->table[result->id].kind == MW__BATCH_ROWS && arg != NULL)
            refuse_operation(r, clone, op, arg);
        if (r->table[result->id].kind != MW__BATCH_NONE)
            continue;
        const bool counts = is_shape              ? is_shape_of_batch(r, clone, op)
                            : op->block_count > 0 ? false
                                                  : follow_extents(r, clone, op, i);
        r->counts[result->id] = (arg != NULL || counts) && !is_known_to_stay(clone, result);
    }
    count_branches(r, clone, op);
}

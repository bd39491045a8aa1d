/* Numbers that say how many examples there are: the shape of a batch, and what is computed of it. They may become
 * shapes and bounds again; a result that has them in its elements would change with the batch. */
#include "graph/constants/evaluate_small.h"
#include "graph/rule.h"
#include "graph/transform/clone.h"
#include "graph/transform/rebatch.h"

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

/* Arguments that only give the result its extents, or say where they are. */
static bool gives_extents(const char *arg)
{
    static const char *const names[] = {"shape", "begin", "end", "size", "reps", "output_shape", "ref_tensor"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(arg, names[i]) == 0)
            return true;
    return false;
}

static const char *counting_argument(const mw__rebatch *r, const mw__op *op)
{
    for (size_t i = 0; i < op->slot_count; i++)
        if (op->slots[i].operands != NULL && !gives_extents(op->slots[i].name) &&
            has_count(r, op->slots[i].operands, op->slots[i].count))
            return op->slots[i].name;
    return NULL;
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

static void refuse(const mw__rebatch *r, mw__clone *clone, const mw__op *op, const char *what)
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
    return op->row != NULL && op->row->shape == mw__shape_while_loop && op->block_count == 2;
}

void mw__rebatch_count_enter(const mw__rebatch *r, const mw__op *op)
{
    const mw__operand *vars;
    const size_t count = mw__arg_values(op, "loop_vars", &vars);
    for (size_t b = 0; is_loop(op) && b < op->block_count; b++)
        for (size_t i = 0; i < count && i < op->blocks[b]->input_count; i++)
            r->counts[op->blocks[b]->inputs[i]->id] = r->counts[vars[i].value->id];
}

/* A variable that starts to count in a trip would count in the next one from its beginning on. */
static void count_loop(const mw__rebatch *r, mw__clone *clone, const mw__op *op)
{
    const mw__block *condition = op->blocks[0], *body = op->blocks[1];
    if (r->counts[condition->outputs[0]->id]) {
        refuse(r, clone, op, "condition");
        return;
    }
    for (size_t i = 0; i < op->result_count; i++) {
        const bool before = r->counts[body->inputs[i]->id], after = r->counts[body->outputs[i]->id];
        const bool rows = r->table[op->results[i]->id].kind == MW__BATCH_ROWS;
        if ((after && !before) || ((before || after) && rows))
            refuse(r, clone, op, before ? "loop_vars" : "body");
        r->counts[op->results[i]->id] = before || after;
    }
}

/* What a branch gives may count though the condition does not. */
static void count_branches(const mw__rebatch *r, mw__clone *clone, const mw__op *op)
{
    for (size_t b = 0; b < op->block_count; b++)
        for (size_t i = 0; i < op->result_count && i < op->blocks[b]->output_count; i++) {
            if (!r->counts[op->blocks[b]->outputs[i]->id])
                continue;
            if (r->table[op->results[i]->id].kind == MW__BATCH_ROWS)
                refuse(r, clone, op, "result");
            r->counts[op->results[i]->id] = true;
        }
}

void mw__rebatch_count(const mw__rebatch *r, mw__clone *clone, const mw__op *op)
{
    const char *arg = counting_argument(r, op);
    const mw_tensor *x = op->row != NULL && op->row->shape == mw__shape_shape ? mw__arg(op, "x") : NULL;
    const bool counts = arg != NULL || (x != NULL && r->table[x->id].kind == MW__BATCH_ROWS);
    if (r->trained)
        return;
    if (is_loop(op)) {
        count_loop(r, clone, op);
        return;
    }
    for (size_t i = 0; i < op->result_count && counts; i++) {
        if (r->table[op->results[i]->id].kind == MW__BATCH_NONE)
            r->counts[op->results[i]->id] = !is_known_to_stay(clone, op->results[i]);
        else if (arg != NULL && r->table[op->results[i]->id].kind == MW__BATCH_ROWS)
            refuse(r, clone, op, arg);
    }
    count_branches(r, clone, op);
}

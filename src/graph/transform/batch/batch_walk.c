/* Which examples values belong to that pass through loops, branches and lists. A variable of a loop is what it is in
 * every trip: the walk begins with what goes in, and goes through the body until nothing changes. */
#include "graph/ir/rule.h"
#include "graph/transform/batch/batch.h"

/* Beyond so many operations of loops nothing better is known, whatever a text nests. */
enum { STEPS_MAX = 1 << 18 };

static mw__batch_rows of(const mw__batch_walk *w, mw_tensor *value)
{
    return value != NULL ? w->table[mw__evaluated(value)->id] : (mw__batch_rows){.kind = MW__BATCH_NONE};
}

static mw__batch_rows of_arg(const mw__batch_walk *w, const mw__op *op, const char *arg)
{
    return of(w, mw__arg(op, arg));
}

static mw__batch_rows mixed_by(const mw__batch_walk *w, mw__batch_rows rows, const mw__op *op)
{
    if (w->strict)
        return (mw__batch_rows){.kind = MW__BATCH_NONE};
    const mw__op *mixer = rows.kind == MW__BATCH_MIXED && rows.mixer != NULL ? rows.mixer : op;
    return (mw__batch_rows){.kind = MW__BATCH_MIXED, .mixer = mixer};
}

/* What may be one or the other is. What depends on no example has the rows of what does, if they are alike. */
static mw__batch_rows join_rows(const mw__batch_walk *w, const mw__op *op, mw__batch_rows a, mw__batch_rows b)
{
    if (a.kind == MW__BATCH_MIXED || b.kind == MW__BATCH_MIXED)
        return mixed_by(w, a.kind == MW__BATCH_MIXED ? a : b, op);
    if (a.kind == b.kind)
        return a.kind == MW__BATCH_NONE || (a.axis == b.axis && a.inner == b.inner) ? a : mixed_by(w, a, op);
    return w->strict ? mixed_by(w, a, op) : a.kind == MW__BATCH_ROWS ? a : b;
}

/* What decides which way is taken, where something stands or how much there is should not depend on examples. */
static bool decides(const mw__batch_walk *w, mw__batch_rows rows)
{
    return !w->lenient && !w->strict && rows.kind != MW__BATCH_NONE;
}

static void walk_block(mw__batch_walk *w, const mw__block *block);

/* ---- loops ---- */

static const mw__operand *loop_variables(const mw__op *op, size_t *out_count)
{
    const mw__operand *vars = NULL;
    const mw__block *const *blocks = (const mw__block *const *)op->blocks;
    *out_count = mw__arg_values(op, "loop_vars", &vars);
    const bool whole = op->block_count == 2 && blocks[0]->input_count == *out_count && blocks[0]->output_count == 1 &&
                       blocks[1]->input_count == *out_count && blocks[1]->output_count == *out_count &&
                       op->result_count == *out_count;
    return whole ? vars : NULL;
}

/* One trip; true if a variable is something else afterwards. */
static bool walk_trip(mw__batch_walk *w, const mw__op *op)
{
    const mw__block *condition = op->blocks[0], *body = op->blocks[1];
    bool changed = false;
    for (size_t i = 0; i < body->input_count; i++)
        w->table[condition->inputs[i]->id] = w->table[body->inputs[i]->id];
    walk_block(w, condition);
    walk_block(w, body);
    const mw__batch_rows flag = of(w, condition->outputs[0]);
    for (size_t i = 0; i < body->input_count; i++) {
        mw__batch_rows *rows = &w->table[body->inputs[i]->id];
        if (body->outputs[i] == body->inputs[i])
            continue;
        const mw__batch_rows joined =
            decides(w, flag) ? mixed_by(w, flag, op) : join_rows(w, op, *rows, of(w, body->outputs[i]));
        changed = changed || joined.kind != rows->kind;
        *rows = joined;
    }
    return changed;
}

static bool walk_loop(mw__batch_walk *w, const mw__op *op)
{
    size_t count;
    const mw__operand *vars = loop_variables(op, &count);
    if (vars == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        w->table[op->blocks[1]->inputs[i]->id] = of(w, vars[i].value);
    w->depth++;
    while (walk_trip(w, op))
        ;
    w->depth--;
    for (size_t i = 0; i < count; i++)
        w->table[op->results[i]->id] = w->table[op->blocks[1]->inputs[i]->id];
    return true;
}

/* ---- branches ---- */

static bool walk_branches(mw__batch_walk *w, const mw__op *op)
{
    if (op->block_count != 2)
        return false;
    const mw__block *yes = op->blocks[0], *no = op->blocks[1];
    if (yes->output_count != op->result_count || no->output_count != op->result_count)
        return false;
    const mw__batch_rows pred = of_arg(w, op, "pred");
    walk_block(w, yes);
    walk_block(w, no);
    for (size_t i = 0; i < op->result_count; i++)
        w->table[op->results[i]->id] =
            decides(w, pred) ? mixed_by(w, pred, op) : join_rows(w, op, of(w, yes->outputs[i]), of(w, no->outputs[i]));
    return true;
}

/* ---- lists ---- */

static mw__batch_rows shifted(const mw__batch_walk *w, mw__batch_rows rows, int by, const mw__op *op)
{
    if (rows.kind != MW__BATCH_ROWS)
        return rows;
    if (rows.axis + by < 0)
        return mixed_by(w, rows, op);
    rows.axis += by;
    return rows;
}

static bool walk_list(mw__batch_walk *w, const mw__op *op)
{
    const mw__op_id id = op->row->id;
    const mw__batch_rows none = {.kind = MW__BATCH_NONE};
    const bool one = id == MW__OP_list_read || id == MW__OP_list_write;
    const bool many = id == MW__OP_list_gather || id == MW__OP_list_scatter;
    const bool puts = id == MW__OP_list_write || id == MW__OP_list_scatter;
    mw__batch_rows at = none, rows = none;
    if (id == MW__OP_make_list) {
        at = of_arg(w, op, "init_length");
        rows = w->table[op->results[0]->id]; /* what it is to become, if that is known (rebatch_block.c) */
    } else if (id == MW__OP_list_length) {
        rows = of_arg(w, op, "ls").kind == MW__BATCH_MIXED ? of_arg(w, op, "ls") : none;
    } else if (one || many) {
        at = of_arg(w, op, one ? "index" : "indices");
        rows = of_arg(w, op, "ls");
    } else {
        return false;
    }
    if (puts)
        rows = join_rows(w, op, rows, shifted(w, of_arg(w, op, "value"), many ? -1 : 0, op));
    else if (many)
        rows = shifted(w, rows, 1, op);
    w->table[op->results[0]->id] = decides(w, at) ? mixed_by(w, at, op) : rows;
    return true;
}

/* ---- the walk ---- */

static bool walk_control(mw__batch_walk *w, const mw__op *op)
{
    if (op->row == NULL || op->result_count == 0 || (w->depth > 0 && ++w->steps > STEPS_MAX))
        return false;
    if (op->row->id == MW__OP_while_loop)
        return walk_loop(w, op);
    return op->row->id == MW__OP_cond ? walk_branches(w, op) : walk_list(w, op);
}

static void walk_op(mw__batch_walk *w, const mw__op *op)
{
    if (walk_control(w, op))
        return;
    for (size_t i = 0; i < op->result_count; i++)
        w->table[op->results[i]->id] = w->steps > STEPS_MAX ? mixed_by(w, (mw__batch_rows){0}, op) : w->judge(w, op, i);
}

static void walk_block(mw__batch_walk *w, const mw__block *block)
{
    for (size_t i = 0; i < block->op_count; i++)
        walk_op(w, block->ops[i]);
}

void mw__batch_walk_function(mw__batch_walk *walk, const mw__function *function) { walk_block(walk, function->body); }

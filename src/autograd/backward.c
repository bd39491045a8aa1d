/* The reverse driver: which operations a gradient passes, in which order, and how cotangents add up. The rules
 * themselves are in vjp_<family>.c. */
#include "autograd/recompute_cut.h"
#include "autograd/vjp/parts.h"
#include "autograd/vjp/rules.h"
#include "autograd/vjp/vjp.h"
#include "base/number/float_mode.h"

#include <string.h>

/* One operand of the operation or composite that a rule is asked about, and the rule's answer. */
typedef struct answer {
    const char *arg; /* NULL for a composite */
    size_t index;    /* member of a tuple argument, or input of a composite */
    mw_tensor *value;
    bool wants;
    mw_tensor *dx;
} answer;

/* A part of a cotangent that waits until the whole is asked for. */
typedef struct waiting {
    mw__dpart part;
    const mw__op *op; /* whose rule gave it */
    size_t next;      /* 1 + the one before it of the same value, 0 = none */
} waiting;

struct mw__vjp_answers {
    answer *items;
    size_t count, capacity;
    waiting *parts;
    size_t part_count, part_capacity;
    size_t *last_part; /* by value: 1 + the newest that waits, 0 = none */
    mw_tensor **dy;    /* by value: the rest of its cotangent so far */
};

typedef struct backward {
    mw_graph *graph;
    const mw__block *block;
    size_t op_count;    /* of the block, before the first gradient operation */
    size_t value_count; /* of the graph, likewise */
    bool *depends;      /* by value: it depends on some x */
    bool *is_stop;      /* by value: gradients end here */
    bool *reaches;      /* by value: some root depends on it, by a path that gradients pass */
    struct mw__vjp_answers answers;
    mw_error *err;
} backward;

/* ---- what rules ask ---- */

static answer *find_answer(const mw__vjp *vjp, const char *arg, size_t index)
{
    for (size_t i = 0; i < vjp->answers->count; i++) {
        answer *found = &vjp->answers->items[i];
        if (found->index == index && (arg == NULL || strcmp(found->arg, arg) == 0))
            return found;
    }
    return NULL;
}

mw_tensor *mw__vjp_arg(const mw__vjp *vjp, const char *arg) { return mw__arg(vjp->op, arg); }

mw_tensor *mw__vjp_input(const mw__vjp *vjp, size_t index) { return vjp->composite->inputs[index]; }

static bool wants(const answer *found) { return found != NULL && found->wants; }

bool mw__vjp_wants_member(const mw__vjp *vjp, const char *arg, size_t member)
{
    return wants(find_answer(vjp, arg, member));
}

bool mw__vjp_wants(const mw__vjp *vjp, const char *arg) { return mw__vjp_wants_member(vjp, arg, 0); }

bool mw__vjp_wants_input(const mw__vjp *vjp, size_t index) { return wants(find_answer(vjp, NULL, index)); }

void mw__vjp_set_member(mw__vjp *vjp, const char *arg, size_t member, mw_tensor *dx)
{
    answer *found = find_answer(vjp, arg, member);
    if (found != NULL)
        found->dx = dx;
}

void mw__vjp_set(mw__vjp *vjp, const char *arg, mw_tensor *dx) { mw__vjp_set_member(vjp, arg, 0, dx); }

void mw__vjp_set_input(mw__vjp *vjp, size_t index, mw_tensor *dx) { mw__vjp_set_member(vjp, NULL, index, dx); }

/* Waits only if somebody wants it. */
void mw__vjp_set_part(mw__vjp *vjp, const char *arg, mw_tensor *dx, const mw__span *spans)
{
    struct mw__vjp_answers *all = vjp->answers;
    const answer *found = find_answer(vjp, arg, 0);
    if (!wants(found) || dx == NULL ||
        mw__grow(vjp->graph->allocator, &all->parts, &all->part_capacity, all->part_count + 1, sizeof *all->parts,
                 vjp->err) != MW_OK)
        return;
    waiting *part = &all->parts[all->part_count++];
    *part = (waiting){.part.dy = dx, .op = vjp->op, .next = all->last_part[found->value->id]};
    memcpy(part->part.span, spans, (size_t)found->value->type->shape.rank * sizeof *spans);
    all->last_part[found->value->id] = all->part_count;
}

mw_tensor *mw__vjp_so_far(const mw__vjp *vjp, const char *arg)
{
    const answer *found = find_answer(vjp, arg, 0);
    return wants(found) ? vjp->answers->dy[found->value->id] : NULL;
}

void mw__vjp_set_total(mw__vjp *vjp, const char *arg, mw_tensor *total)
{
    const answer *found = find_answer(vjp, arg, 0);
    if (wants(found) && total != NULL)
        vjp->answers->dy[found->value->id] = total;
}

/* ---- operands ---- */

/* A gradient flows through elements: by a tensor without any nothing changes, and its own gradient has none. So rules
 * see neither an empty result nor an empty operand that wants an answer. */
static bool carries(const mw_tensor *value)
{
    return mw__is_float_tensor(value) && mw_shape_count(value->type->shape) != 0;
}

/* Lists and states hold elements that it flows through, though no rule takes it there. */
static bool may_carry(const mw_tensor *value) { return carries(value) || value->type->kind != MW__TENSOR; }

/* The record that replaces the operations below a value, if it has a gradient of its own. */
static const mw__composite *own_gradient(const mw_tensor *value)
{
    return value->composite != NULL && mw__vjp_of_composite(value->composite) != NULL ? value->composite : NULL;
}

static mw_status add_answer(backward *b, const char *arg, size_t index, mw_tensor *value)
{
    if (value == NULL)
        return MW_OK; /* nested tuples carry no gradients */
    struct mw__vjp_answers *all = &b->answers;
    MW_TRY(mw__grow(b->graph->allocator, &all->items, &all->capacity, all->count + 1, sizeof *all->items, b->err));
    bool wanted = value->id < b->value_count && b->depends[value->id] && carries(value);
    all->items[all->count++] = (answer){.arg = arg, .index = index, .value = value, .wants = wanted};
    return MW_OK;
}

static mw_status list_operands(backward *b, const mw__op *op)
{
    b->answers.count = 0;
    for (size_t s = 0; s < op->slot_count; s++)
        for (size_t i = 0; i < op->slots[s].count; i++)
            MW_TRY(add_answer(b, op->slots[s].name, i, op->slots[s].operands[i].value));
    return MW_OK;
}

static mw_status list_inputs(backward *b, const mw__composite *composite)
{
    b->answers.count = 0;
    for (size_t i = 0; i < composite->input_count; i++)
        MW_TRY(add_answer(b, NULL, i, composite->inputs[i]));
    return MW_OK;
}

/* True if a cotangent of this result goes on to the operands of its producer. */
static bool passes(const backward *b, const mw_tensor *result)
{
    return b->depends[result->id] && !b->is_stop[result->id] && may_carry(result);
}

/* ---- planning: nothing is emitted before every path is known to have a gradient ---- */

static bool any_operand_depends(const backward *b, const mw__op *op);

/* What blocks use from outside are operands, too. */
static bool any_within_depends(const backward *b, const mw__block *block)
{
    for (size_t i = 0; i < block->op_count; i++)
        if (any_operand_depends(b, block->ops[i]))
            return true;
    for (size_t i = 0; i < block->output_count; i++)
        if (b->depends[block->outputs[i]->id] && may_carry(block->outputs[i]))
            return true;
    return false;
}

static bool any_operand_depends(const backward *b, const mw__op *op)
{
    for (size_t s = 0; s < op->slot_count; s++)
        for (size_t i = 0; i < op->slots[s].count; i++) {
            const mw_tensor *value = op->slots[s].operands[i].value;
            if (value != NULL && b->depends[value->id] && may_carry(value))
                return true;
        }
    for (size_t k = 0; k < op->block_count; k++)
        if (any_within_depends(b, op->blocks[k]))
            return true;
    return false;
}

static bool any_input_depends(const backward *b, const mw__composite *composite)
{
    for (size_t i = 0; i < composite->input_count; i++)
        if (b->depends[composite->inputs[i]->id] && carries(composite->inputs[i]))
            return true;
    return false;
}

/* What is written to a state is read from it later. */
static void mark_written(const backward *b, const mw__op *op)
{
    if (op->row != NULL && op->row->id == MW__OP_write_state && mw__arg(op, "input") != NULL)
        b->depends[mw__arg(op, "input")->id] = true;
    for (size_t k = 0; k < op->block_count; k++)
        for (size_t i = 0; i < op->blocks[k]->op_count; i++)
            mark_written(b, op->blocks[k]->ops[i]);
}

static void mark_dependent(backward *b)
{
    for (size_t o = 0; o < b->op_count; o++) {
        const mw__op *op = b->block->ops[o];
        bool operands = any_operand_depends(b, op);
        if (operands)
            mark_written(b, op);
        for (size_t r = 0; r < op->result_count; r++) {
            const mw_tensor *result = op->results[r];
            const mw__composite *own = own_gradient(result);
            bool depends = own != NULL ? any_input_depends(b, own) : operands;
            if (depends && !b->is_stop[result->id])
                b->depends[result->id] = true;
        }
    }
}

static mw_status refuse_op_without_vjp(const backward *b, const mw__op *op)
{
    char subject[160];
    const bool flattened = op->block_count > 0 || mw__op_has(op, MW__TRAIT_LOWERED);
    const char *hint = flattened ? "mw_graph_flatten gives a graph without loops and branches"
                                 : "use mw_stop_gradient on its input if none should flow";
    mw_status status = mw__fail(b->err, MW_ERROR_UNSUPPORTED, "%s has no gradient; %s",
                                mw__op_subject(op, subject, sizeof subject), hint);
    mw__error_subject(b->err, op->kind, op->result_count > 0 ? op->results[0]->name : NULL);
    return status;
}

static mw_status mark_operation(backward *b, const mw__op *op)
{
    const mw__composite *own = op->result_count == 1 ? own_gradient(op->results[0]) : NULL;
    bool active = false;
    for (size_t r = 0; r < op->result_count; r++)
        active = active || (b->reaches[op->results[r]->id] && passes(b, op->results[r]));
    if (!active)
        return MW_OK;
    if (own == NULL && (op->row == NULL || op->block_count > 0 || mw__vjp_find(op->row->id) == NULL))
        return any_operand_depends(b, op) ? refuse_op_without_vjp(b, op) : MW_OK;
    MW_TRY(own != NULL ? list_inputs(b, own) : list_operands(b, op));
    for (size_t i = 0; i < b->answers.count; i++)
        if (b->answers.items[i].wants)
            b->reaches[b->answers.items[i].value->id] = true;
    return MW_OK;
}

static mw_status mark_reaching(backward *b, mw_tensor *const *roots, size_t root_count)
{
    for (size_t i = 0; i < root_count; i++)
        b->reaches[roots[i]->id] = true;
    for (size_t o = b->op_count; o-- > 0;)
        MW_TRY(mark_operation(b, b->block->ops[o]));
    return MW_OK;
}

/* ---- emitting ---- */

/* Sums a cotangent over what broadcasting repeated. */
static mw_tensor *unbroadcast(mw_tensor *dx, mw_shape shape)
{
    mw_shape from = mw_tensor_shape(dx);
    if (dx == NULL || mw_shape_equal(from, shape))
        return dx;
    mw_axes axes = {0};
    int lead = from.rank - shape.rank;
    for (int i = 0; i < from.rank; i++)
        if (i < lead || (shape.dim[i - lead] == 1 && from.dim[i] != 1))
            axes.axis[axes.count++] = i;
    if (axes.count == lead && lead > 0) /* whole leading axes: the common case of a bias */
        return mw_reduce_sum(dx, axes, false);
    return mw__reshape_to(axes.count == 0 ? dx : mw_reduce_sum(dx, axes, true), shape);
}

/* `value` in every element of a tensor like x; a scalar is a constant, not a fill of the empty shape. */
static mw_tensor *filled_like(mw_graph *graph, const mw_tensor *x, double value)
{
    if (x->type->shape.rank == 0)
        return mw_scalar(graph, x->type->dtype, value);
    return mw_fill(graph, x->type->dtype, x->type->shape, value);
}

/* The zeros that differentiate makes with filled_like, and no others that merely are zero. */
bool mw__gradient_is_zero(const mw_tensor *dx)
{
    double value;
    if (dx->payload != NULL)
        return mw_tensor_shape(dx).rank == 0 && mw__payload_float(dx->payload, 0) == 0.0;
    return dx->op != NULL && strcmp(dx->op->kind, "fill") == 0 && mw__arg_float(dx->op, "value", &value) &&
           value == 0.0;
}

static void accumulate(backward *b, const mw_tensor *value, mw_tensor *dx)
{
    mw_tensor *term = unbroadcast(dx, value->type->shape);
    mw_tensor **sum = &b->answers.dy[value->id];
    *sum = *sum == NULL ? term : mw_add(*sum, term);
}

static bool has_cotangent(const backward *b, const mw_tensor *value)
{
    return b->answers.dy[value->id] != NULL || b->answers.last_part[value->id] != 0;
}

/* Operations made for the gradient of one. What a rule that differentiates has named is left. */
static void name_forward(const backward *b, size_t from, const mw__op *forward)
{
    for (size_t i = from; i < b->graph->block->op_count; i++) {
        mw__op *made = b->graph->block->ops[i];
        made->forward = made->forward != NULL ? made->forward : forward;
    }
}

/* The parts that wait for a value, in the order of their arrival, become a term of its cotangent. */
static mw_status put_together(backward *b, const mw_tensor *value)
{
    struct mw__vjp_answers *all = &b->answers;
    const size_t from = b->graph->block->op_count, last = all->last_part[value->id];
    size_t count = 0;
    for (size_t at = last; at != 0; at = all->parts[at - 1].next)
        count++;
    if (count == 0)
        return MW_OK;
    mw__dpart *parts = mw__alloc(b->graph->allocator, count, sizeof *parts, b->err);
    if (parts == NULL)
        return b->err->status;
    for (size_t at = last, i = count; at != 0; at = all->parts[at - 1].next)
        parts[--i] = all->parts[at - 1].part;
    mw_tensor *sum = mw__parts_sum(b->graph, value->type->shape, parts, count, b->err);
    all->last_part[value->id] = 0;
    if (sum != NULL)
        accumulate(b, value, sum);
    name_forward(b, from, all->parts[last - 1].op);
    mw__free(b->graph->allocator, parts);
    MW_TRY(b->err->status);
    return mw_graph_check(b->graph, b->err);
}

/* The whole cotangent, NULL if there is none. */
static mw_status cotangent(backward *b, const mw_tensor *value, mw_tensor **out_dy)
{
    *out_dy = NULL;
    MW_TRY(put_together(b, value));
    *out_dy = b->answers.dy[value->id];
    return MW_OK;
}

/* The error of a constructor inside of a rule, with the operation that the rule belongs to; one of an operation of the
 * same kind is passed on as it is. */
static mw_status check_built(const backward *b, const mw__vjp *vjp)
{
    mw_error built = {0};
    char subject[160];
    if (mw_graph_check(b->graph, &built) == MW_OK)
        return MW_OK;
    if (vjp->op == NULL || strcmp(built.operation, vjp->op->kind) == 0)
        return mw_graph_check(b->graph, b->err);
    mw__fail(b->err, built.status, "gradient of %s: %.300s", mw__op_subject(vjp->op, subject, sizeof subject),
             built.message);
    mw__error_subject(b->err, vjp->op->kind, mw_tensor_name(vjp->y[0]));
    return built.status;
}

static mw_status apply_rule(backward *b, mw__vjp *vjp, mw__vjp_rule *rule)
{
    vjp->graph = b->graph;
    vjp->answers = &b->answers;
    vjp->err = b->err;
    const size_t from = b->graph->block->op_count;
    rule(vjp);
    MW_TRY(b->err->status);
    MW_TRY(check_built(b, vjp));
    for (size_t i = 0; i < b->answers.count; i++)
        if (b->answers.items[i].wants && b->answers.items[i].dx != NULL)
            accumulate(b, b->answers.items[i].value, b->answers.items[i].dx);
    name_forward(b, from, vjp->op != NULL ? vjp->op : vjp->y[0]->op);
    return mw_graph_check(b->graph, b->err);
}

static mw_status through_composite(backward *b, mw_tensor *value)
{
    mw_tensor *dy;
    MW_TRY(cotangent(b, value, &dy));
    MW_TRY(list_inputs(b, value->composite));
    mw__vjp vjp = {.composite = value->composite, .y = &value, .dy = &dy, .result_count = 1};
    return apply_rule(b, &vjp, mw__vjp_of_composite(value->composite));
}

static mw_status through_operation(backward *b, const mw__op *op)
{
    mw_tensor *few[8], **dy = few;
    bool active = false;
    if (op->result_count > sizeof few / sizeof *few)
        dy = mw__arena_alloc(&b->graph->arena, op->result_count, sizeof(mw_tensor *), b->err);
    if (dy == NULL)
        return MW_ERROR_MEMORY;
    for (size_t r = 0; r < op->result_count; r++) {
        dy[r] = NULL;
        active = active || (passes(b, op->results[r]) && has_cotangent(b, op->results[r]));
    }
    if (!active || !any_operand_depends(b, op))
        return MW_OK;
    for (size_t r = 0; r < op->result_count; r++)
        if (passes(b, op->results[r]))
            MW_TRY(cotangent(b, op->results[r], &dy[r]));
    MW_TRY(list_operands(b, op));
    mw__vjp vjp = {.op = op, .y = op->results, .dy = dy, .result_count = op->result_count};
    return apply_rule(b, &vjp, mw__vjp_find(op->row->id));
}

static mw_status sweep(backward *b)
{
    for (size_t o = b->op_count; o-- > 0;) {
        const mw__op *op = b->block->ops[o];
        mw_tensor *only = op->result_count == 1 ? op->results[0] : NULL;
        if (only != NULL && own_gradient(only) != NULL) {
            if (has_cotangent(b, only) && passes(b, only))
                MW_TRY(through_composite(b, only));
        } else {
            MW_TRY(through_operation(b, op));
        }
    }
    return MW_OK;
}

static mw_status seed(backward *b, mw_tensor *const *roots, mw_tensor *const *seeds, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        mw_tensor *given = seeds != NULL ? seeds[i] : NULL;
        mw_tensor *root = roots[i];
        if (!b->depends[root->id])
            continue;
        accumulate(b, root, given != NULL ? given : filled_like(b->graph, root, 1.0));
    }
    return mw_graph_check(b->graph, b->err);
}

/* ---- the public calls ---- */

static mw_status differentiate(backward *b, const mw_pullback *p, mw_tensor *const *x, size_t count, mw_tensor **out_dx)
{
    for (size_t i = 0; i < count; i++)
        b->depends[x[i]->id] = true;
    mark_dependent(b);
    MW_TRY(mark_reaching(b, p->roots, p->root_count));
    MW_TRY(seed(b, p->roots, p->seeds, p->root_count));
    MW_TRY(sweep(b));
    for (size_t i = 0; i < count; i++) {
        mw_tensor *dx;
        MW_TRY(cotangent(b, x[i], &dx));
        out_dx[i] = dx != NULL ? dx : filled_like(b->graph, x[i], 0.0);
    }
    return mw_graph_check(b->graph, b->err);
}

static mw_status run_pullback(mw_graph *graph, const mw_pullback *p, mw_tensor *const *x, size_t count,
                              mw_tensor **out_dx, mw_error *err)
{
    const mw_allocator *allocator = graph->allocator;
    size_t values = graph->value_count;
    backward b = {
        .graph = graph, .block = graph->block, .op_count = graph->block->op_count, .value_count = values, .err = err};
    b.depends = mw__alloc(allocator, values, sizeof *b.depends, err);
    b.reaches = mw__alloc(allocator, values, sizeof *b.reaches, err);
    b.answers.dy = mw__alloc(allocator, values, sizeof(mw_tensor *), err);
    b.answers.last_part = mw__alloc(allocator, values, sizeof(size_t), err);
    b.is_stop = mw__alloc(allocator, values, sizeof *b.is_stop, err);
    mw_status status = MW_ERROR_MEMORY;
    if (b.depends != NULL && b.reaches != NULL && b.answers.dy != NULL && b.answers.last_part != NULL &&
        b.is_stop != NULL) {
        for (size_t i = 0; i < values; i++)
            b.is_stop[i] = graph->values[i]->stop_gradient;
        for (size_t i = 0; i < p->stop_count; i++)
            if (p->stops[i] != NULL && p->stops[i]->graph == graph)
                b.is_stop[p->stops[i]->id] = true;
        status = differentiate(&b, p, x, count, out_dx);
    }
    mw__free(allocator, b.answers.items);
    mw__free(allocator, b.is_stop);
    mw__free(allocator, b.answers.parts);
    mw__free(allocator, b.answers.last_part);
    mw__free(allocator, b.answers.dy);
    mw__free(allocator, b.reaches);
    mw__free(allocator, b.depends);
    return status;
}

mw_status mw__gradient(const mw__gradient_words *w, const mw_pullback *p, mw_tensor *const *x, size_t count,
                       mw_tensor **out_dx, mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw_error local = {0};
    err = err != NULL ? err : &local;
    mw__autograd_clear(out_dx, count);
    if (mw__failed(err))
        return err->status;
    if (p == NULL || p->roots == NULL || p->root_count == 0 || x == NULL || out_dx == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: %s, x and the place for the results must be given", w->call,
                        w->root);
    if (p->stops == NULL && p->stop_count > 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: %zu stops, but their array is NULL", w->call, p->stop_count);
    if (p->roots[0] == NULL)
        return mw__fail_null(err, "%s: %s 0 is NULL", w->call, w->root);
    mw_graph *graph = p->roots[0]->graph;
    MW_TRY(mw_graph_check(graph, err));
    mw__graph_hold(graph);
    mw_status status = mw__gradient_check(w, graph, p->roots, p->seeds, p->root_count, err);
    for (size_t i = 0; i < count && status == MW_OK; i++)
        status = mw__gradient_check_tensor(w, graph, x[i], "x", i, err);
    if (status == MW_OK)
        status = mw__function_unmix(graph->current, err);
    if (status == MW_OK && !w->within)
        status = mw__recompute_find_leaves(graph, err);
    if (status == MW_OK)
        status = run_pullback(graph, p, x, count, out_dx, err);
    status = mw__graph_drop(graph, w->call, status, err);
    if (status != MW_OK)
        mw__autograd_clear(out_dx, count);
    return status;
}

mw_status mw_backward(const mw_pullback *pullback, mw_tensor *const *x, size_t count, mw_tensor **out_dx, mw_error *err)
{
    MW__FLOAT_SCOPE;
    static const mw__gradient_words words = {"mw_backward", "root", "seed", false};
    mw__autograd_clear(out_dx, count);
    if (mw__skips(err))
        return err->status;
    return mw__gradient(&words, pullback, x, count, out_dx, err);
}

mw_status mw_grad(mw_tensor *loss, mw_tensor *const *x, size_t count, mw_tensor **out_dx, mw_error *err)
{
    MW__FLOAT_SCOPE;
    static const mw__gradient_words words = {"mw_grad", "loss", NULL, false};
    const mw_pullback pullback = {.roots = &loss, .root_count = 1};
    mw__autograd_clear(out_dx, count);
    if (mw__skips(err))
        return err->status;
    return mw__gradient(&words, &pullback, x, count, out_dx, err);
}

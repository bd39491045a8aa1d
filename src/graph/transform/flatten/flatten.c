/* Unrolling loops whose trip count is known or bounded, and branches as both sides and a select. Integers that are
 * known are flatten_known.c, lists flatten_list.c, what is seen of values from outside flatten_values.c. Nothing here
 * differentiates. */
#include "graph/transform/flatten/flatten_parts.h"

#include "base/number/float_mode.h"
#include "graph/transform/clone/clone_mark.h"
#include "graph/transform/plain.h"
#include <millwright/ops/compare.h>
#include <millwright/ops/shape.h>
#include <string.h>

static mw_tensor *scalar_of(mw_tensor *x)
{
    return mw_tensor_shape(x).rank == 0 ? x : mw_reshape(x, mw_shape_scalar());
}

/* ---- branches ---- */

/* The branch that is taken, alone. */
static void take_branch(mw__flatten *state, mw__clone *clone, const mw__op *op, const mw__block *block)
{
    if (mw__clone_inline(clone, block) != MW_OK)
        return;
    for (size_t i = 0; i < op->result_count; i++)
        mw__flatten_put(state, clone, op->results[i], mw__flatten_get(state, clone, block->outputs[i]));
}

/* One side of a branch that is open, into given[]: its values, then those of the states that either side writes. */
static bool copy_side(mw__flatten *state, mw__clone *clone, const mw__op *op, size_t side, mw_tensor *pred,
                      const mw__flat_states *written, mw__flat_value *given)
{
    const mw__block *block = op->blocks[side];
    mw__flat_guards guards = {0};
    mw_tensor *taken = side == 0 ? pred : mw_logical_not(pred);
    bool good =
        mw__flatten_begin_guards(&guards, state, clone, block, taken) && mw__clone_inline(clone, block) == MW_OK;
    for (size_t i = 0; good && i < op->result_count; i++)
        given[i] = mw__flatten_get(state, clone, block->outputs[i]);
    for (size_t i = 0; good && i < written->count; i++)
        given[op->result_count + i] = mw__flatten_get(state, clone, written->of[i]);
    mw__flatten_end_guards(&guards, state, clone);
    return good;
}

static void flatten_open_cond(mw__flatten *state, mw__clone *clone, const mw__op *op, mw_tensor *pred)
{
    mw_graph *to = clone->to;
    mw__flat_states written = {0};
    if (!mw__flatten_find_states(&written, state, clone, op))
        return;
    const size_t count = op->result_count + written.count;
    mw__flat_value *given = mw__arena_alloc(&to->arena, 2 * count, sizeof *given, &to->error);
    mw__flat_value before[MW__FLAT_STATES];
    for (size_t i = 0; i < written.count; i++)
        before[i] = mw__flatten_get(state, clone, written.of[i]);
    for (size_t side = 0; side < 2; side++) {
        if (given == NULL || !copy_side(state, clone, op, side, pred, &written, given + side * count))
            return;
        for (size_t i = 0; i < written.count; i++)
            mw__flatten_put(state, clone, written.of[i], before[i]);
    }
    for (size_t i = 0; i < count && to->error.status == MW_OK; i++)
        mw__flatten_put(state, clone, i < op->result_count ? op->results[i] : written.of[i - op->result_count],
                        mw__flatten_choose(state, clone, op, pred, given[i], given[count + i]));
}

static void flatten_cond(mw__flatten *state, mw__clone *clone, const mw__op *op)
{
    const mw__slot *slot = mw__op_slot(op, "pred");
    int64_t known;
    if (slot == NULL || slot->count != 1 || op->block_count != 2 || op->blocks[0]->output_count != op->result_count ||
        op->blocks[1]->output_count != op->result_count) {
        mw__clone_refuse(clone, op, MW_ERROR_FORMAT, "needs pred and two blocks that give its results");
        return;
    }
    if (mw__flatten_known(clone, slot->operands[0].value, &known)) {
        take_branch(state, clone, op, op->blocks[known != 0 ? 0 : 1]);
        return;
    }
    mw_tensor *pred = mw__flatten_value(clone, slot->operands[0].value);
    if (pred != NULL && (mw_tensor_dtype(pred) != MW_BOOL || mw_shape_count(mw_tensor_shape(pred)) != 1)) {
        mw__clone_refuse(clone, op, MW_ERROR_SHAPE, "pred must be one bool");
        return;
    }
    if (pred != NULL)
        flatten_open_cond(state, clone, op, scalar_of(pred));
}

/* ---- loops ---- */

/* Variables of a loop, then the states that its body writes. Once the condition is computed (open), `active` says
 * whether the loop still turns, and `results` are the variables when it last did. */
typedef struct unrolling {
    mw__flatten *state;
    mw__clone *clone;
    const mw__op *op;
    mw__flat_states written;
    size_t count;
    mw__flat_value *variables, *next, *results;
    mw_tensor *active;
    size_t open_trips;
} unrolling;

/* Lets the values stand for the variables in both blocks. */
static void set_variables(const unrolling *u, const mw__flat_value *values)
{
    const size_t own = u->op->result_count;
    for (size_t i = 0; i < u->count; i++) {
        for (size_t b = 0; b < 2 && i < own; b++)
            mw__flatten_put(u->state, u->clone, u->op->blocks[b]->inputs[i], values[i]);
        if (i >= own)
            mw__flatten_put(u->state, u->clone, u->written.of[i - own], values[i]);
    }
}

/* Integers that are known become constants, so that the next trip knows them. */
static mw__flat_value next_of(const unrolling *u, const mw_tensor *output)
{
    mw__clone *clone = u->clone;
    int64_t known;
    if (!mw__flatten_known(clone, output, &known))
        return mw__flatten_get(u->state, clone, output);
    const int32_t integer = (int32_t)known;
    const bool flag = known != 0;
    const mw_dtype dtype = output->type->dtype;
    return (mw__flat_value){
        .value = mw_constant(clone->to, dtype, output->type->shape, dtype == MW_BOOL ? (const void *)&flag : &integer)};
}

static bool guard_variables(const unrolling *u)
{
    for (size_t i = 0; i < u->count; i++) {
        u->next[i] = mw__flatten_guarded(u->state, u->clone, u->op, u->active, u->variables[i]);
        if (u->clone->to->error.status != MW_OK)
            return false;
    }
    set_variables(u, u->next);
    return true;
}

/* The variables after one more trip. */
static bool trip(unrolling *u)
{
    const mw__block *body = u->op->blocks[1];
    const size_t own = u->op->result_count;
    mw__flat_guards guards = {0};
    bool good = true;
    if (u->active != NULL)
        good = mw__flatten_begin_guards(&guards, u->state, u->clone, body, u->active) && guard_variables(u);
    good = good && mw__clone_inline(u->clone, body) == MW_OK;
    for (size_t i = 0; good && i < u->count; i++) {
        u->next[i] =
            i < own ? next_of(u, body->outputs[i]) : mw__flatten_get(u->state, u->clone, u->written.of[i - own]);
        good = u->next[i].value != NULL || u->next[i].list != NULL;
    }
    mw__flatten_end_guards(&guards, u->state, u->clone);
    for (size_t i = 0; good && u->active != NULL && i < u->count; i++) {
        u->results[i] = mw__flatten_choose(u->state, u->clone, u->op, u->active, u->next[i], u->results[i]);
        good = u->clone->to->error.status == MW_OK;
    }
    for (size_t i = 0; good && i < u->count; i++)
        u->variables[i] = u->next[i];
    if (good)
        set_variables(u, u->variables);
    return good;
}

static bool check_loop(mw__clone *clone, const mw__op *op, const mw__slot *slot)
{
    const size_t count = op->result_count;
    if (slot != NULL && slot->count == count && op->block_count == 2 && op->blocks[0]->input_count == count &&
        op->blocks[0]->output_count == 1 && op->blocks[1]->input_count == count && op->blocks[1]->output_count == count)
        return true;
    mw__clone_refuse(clone, op, MW_ERROR_FORMAT, "needs loop_vars, and a condition and a body block that fit them");
    return false;
}

/* The condition as it is computed, of a loop that a known part of it bounds. */
static bool open_loop(unrolling *u)
{
    mw__clone *clone = u->clone;
    const mw__block *condition = u->op->blocks[0];
    if (!mw__flatten_is_bounded(clone, condition->outputs[0]) || ++u->open_trips > MW__FLATTEN_OPEN_TRIPS) {
        mw__clone_refuse(clone, u->op, MW_ERROR_UNSUPPORTED,
                         "its trip count is not known when compiled; the condition must follow from constants and "
                         "int32 loop variables that start at constants, or be logical_and of such a one, which ends "
                         "it within 1024 trips, and another");
        return false;
    }
    if (mw__clone_inline(clone, condition) != MW_OK)
        return false;
    mw_tensor *more = scalar_of(mw__flatten_value(clone, condition->outputs[0]));
    if (u->active == NULL && u->results != NULL)
        memcpy(u->results, u->variables, u->count * sizeof *u->results);
    u->active = u->active == NULL ? more : mw_logical_and(u->active, more);
    return u->active != NULL && u->results != NULL;
}

/* What a block has become so far is that of another trip, or of another trip of a loop outside: nothing of it may be
 * taken for known now. Constants are the same in all trips. */
static void forget_block(mw__clone *clone, const mw__block *block)
{
    for (size_t i = 0; i < block->op_count; i++) {
        const mw__op *op = block->ops[i];
        for (size_t r = 0; r < op->result_count && !(op->row != NULL && op->row->id == MW__OP_const); r++)
            mw__clone_set(clone, op->results[r], NULL);
        for (size_t b = 0; b < op->block_count; b++)
            forget_block(clone, op->blocks[b]);
    }
}

/* Lengths of lists, on which a condition may depend before it is copied. */
static void note_lengths(const unrolling *u)
{
    const mw__block *condition = u->op->blocks[0];
    for (size_t i = 0; i < condition->op_count; i++)
        if (strcmp(condition->ops[i]->kind, "list_length") == 0)
            mw__flatten_list_op(u->state, u->clone, condition->ops[i]);
}

static void unroll(unrolling *u)
{
    mw__clone *clone = u->clone;
    for (;;) {
        forget_block(clone, u->op->blocks[0]);
        note_lengths(u);
        const mw__flatten_truth more = mw__flatten_decide(clone, u->op->blocks[0]->outputs[0]);
        if (more == MW__FLATTEN_FALSE)
            break;
        if (more == MW__FLATTEN_OPEN && !open_loop(u))
            return;
        if (++u->state->trips > MW__FLATTEN_TRIPS || clone->to->block->op_count > MW__FLATTEN_OPS) {
            mw__clone_refuse(clone, u->op, MW_ERROR_UNSUPPORTED,
                             "does not end within 16384 trips and 131072 operations");
            return;
        }
        if (!trip(u))
            return;
    }
    const mw__flat_value *last = u->active != NULL ? u->results : u->variables;
    for (size_t i = 0; i < u->count; i++)
        mw__flatten_put(u->state, clone,
                        i < u->op->result_count ? u->op->results[i] : u->written.of[i - u->op->result_count], last[i]);
}

static void flatten_loop(mw__flatten *state, mw__clone *clone, const mw__op *op)
{
    const mw__slot *slot = mw__op_slot(op, "loop_vars");
    mw_graph *to = clone->to;
    unrolling u = {.state = state, .clone = clone, .op = op};
    if (!check_loop(clone, op, slot) || !mw__flatten_find_states(&u.written, state, clone, op))
        return;
    u.count = op->result_count + u.written.count;
    mw__flat_value *values = mw__arena_alloc(&to->arena, 3 * u.count, sizeof *values, &to->error);
    if (values == NULL)
        return;
    u.variables = values;
    u.next = values + u.count;
    u.results = u.next + u.count;
    for (size_t i = 0; i < u.count; i++) {
        const mw_tensor *source = i < op->result_count ? slot->operands[i].value : u.written.of[i - op->result_count];
        if (source != NULL)
            u.variables[i] = mw__flatten_get(state, clone, source);
        if (u.variables[i].value == NULL && u.variables[i].list == NULL && to->error.status == MW_OK)
            mw__clone_refuse(clone, op, MW_ERROR_UNSUPPORTED, "a loop variable is no value that can be copied");
    }
    if (to->error.status != MW_OK)
        return;
    set_variables(&u, u.variables);
    unroll(&u);
}

/* ---- the rule ---- */

bool mw__flatten_rule(void *user, mw__clone *clone, const mw__op *op)
{
    if (mw__clone_plain_op(clone, op))
        return true;
    if (op->block_count == 0)
        return mw__flatten_state_op(user, clone, op) || mw__flatten_list_op(user, clone, op);
    if (strcmp(op->kind, "cond") == 0)
        flatten_cond(user, clone, op);
    else if (strcmp(op->kind, "while_loop") == 0)
        flatten_loop(user, clone, op);
    else
        mw__clone_refuse(clone, op, MW_ERROR_UNSUPPORTED, "has blocks, but is neither cond nor while_loop");
    return true;
}

mw_graph *mw_graph_flatten(const mw_graph *graph, mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw_error local = {0};
    err = err != NULL ? err : &local;
    if (mw__skips(err))
        return NULL;
    if (graph != NULL && mw_graph_check(graph, err) != MW_OK)
        return NULL;
    const mw__function *function = graph != NULL ? mw__graph_main(graph) : NULL;
    if (function == NULL) {
        mw__fail(err, MW_ERROR_ARGUMENT, "flatten: %s",
                 graph == NULL ? "the graph is NULL" : "there is no function main");
        return NULL;
    }
    mw_graph_options options = mw_graph_defaults();
    options.allocator = graph->allocator;
    options.opset = function->opset;
    mw_graph *flat = mw__graph_make(&options, NULL);
    if (flat == NULL) {
        mw__fail(err, MW_ERROR_MEMORY, "no memory for a flat graph");
        return NULL;
    }
    mw__flatten state = {0};
    const mw__clone_options how = {.rule = mw__flatten_rule,
                                   .input = mw__flatten_keep_state,
                                   .finish = mw__flatten_finish_kept,
                                   .user = &state,
                                   .keep_outputs = true};
    mw__clone clone = {0};
    const mw_status status = mw__clone_run(&clone, function, flat, &how, err);
    mw__clone_deinit(&clone);
    if (status == MW_OK && mw_graph_check(flat, err) == MW_OK)
        return mw__graph_publish(flat, err);
    mw__graph_free(flat);
    return NULL;
}

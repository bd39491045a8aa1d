/* Unrolling loops whose trip count is known, and branches as both sides and a select. The trip count is evaluated over
 * the source operations, with the loop variables of the moment. Nothing here differentiates. */
#include "graph/transform/flatten.h"

#include "base/float_mode.h"
#include "graph/copy.h"
#include "graph/evaluate.h"
#include "graph/rule.h"
#include "graph/transform/clone_mark.h"
#include <millwright/op_compare.h>
#include <string.h>

/* ---- integer scalars that are known now ---- */

/* What a source value was replaced by: a loop variable of the moment, or its copy. */
static const mw_tensor *find_copy(void *user, const mw_tensor *value)
{
    const mw__clone *clone = user;
    return value->graph == clone->from->graph ? mw__clone_get(clone, value) : NULL;
}

static bool is_known(mw__clone *clone, const mw_tensor *value, int64_t *out)
{
    mw__evaluation evaluation = {.lookup = find_copy, .user = clone};
    return mw__evaluate_scalar(&evaluation, value, out);
}

/* ---- what both share ---- */

static void refuse(mw__clone *clone, const mw__op *op, mw_status status, const char *why)
{
    char subject[160];
    mw__graph_fail(clone->to, status, "%s: %s", mw__op_subject(op, subject, sizeof subject), why);
    mw__error_subject(&clone->to->error, op->kind, op->result_count > 0 ? op->results[0]->name : NULL);
    if (op->line > 0)
        mw__error_position(&clone->to->error, (int)op->line, (int)op->column);
}

/* The copy of an operand; of a literal, a constant. */
static mw_tensor *operand(mw__clone *clone, const mw__operand *from)
{
    if (from->value == NULL)
        return NULL;
    mw_tensor *copy = mw__clone_get(clone, from->value);
    if (copy != NULL || from->value->payload == NULL)
        return copy;
    mw_graph *to = clone->to;
    const mw__payload *payload = mw__payload_copy(to, from->value->payload, &to->error);
    return payload != NULL ? mw__payload_emit(to, payload, from->value->hint, &to->error) : NULL;
}

static const mw__slot *find_slot(const mw__op *op, const char *name)
{
    for (size_t i = 0; i < op->slot_count; i++)
        if (strcmp(op->slots[i].name, name) == 0)
            return &op->slots[i];
    return NULL;
}

/* ---- branches ---- */

/* What must not happen unless its branch is taken. */
static const mw__op *find_effect(const mw__block *block)
{
    for (size_t i = 0; i < block->op_count; i++) {
        const mw__op *op = block->ops[i];
        if (strcmp(op->kind, "write_state") == 0 || strcmp(op->kind, "coreml_update_state") == 0)
            return op;
        for (size_t k = 0; k < op->block_count; k++) {
            const mw__op *inner = find_effect(op->blocks[k]);
            if (inner != NULL)
                return inner;
        }
    }
    return NULL;
}

/* The branch that is taken, alone. */
static void take(mw__clone *clone, const mw__op *op, const mw__block *block)
{
    if (mw__clone_inline(clone, block) != MW_OK)
        return;
    for (size_t i = 0; i < op->result_count; i++)
        mw__clone_set(clone, op->results[i], mw__clone_get(clone, block->outputs[i]));
}

static mw_tensor *choose(mw__clone *clone, const mw__op *op, mw_tensor *pred, mw_tensor *a, mw_tensor *b)
{
    if (a == NULL || b == NULL || a->type->kind != MW__TENSOR || !mw__type_equal(a->type, b->type)) {
        refuse(clone, op, MW_ERROR_UNSUPPORTED,
               "its branches give values of different types; a select needs one tensor type");
        return NULL;
    }
    return mw_select(pred, a, b);
}

static void flatten_cond(mw__clone *clone, const mw__op *op)
{
    const mw__slot *slot = find_slot(op, "pred");
    int64_t known;
    if (slot == NULL || slot->count != 1 || op->block_count != 2 || op->blocks[0]->output_count != op->result_count ||
        op->blocks[1]->output_count != op->result_count) {
        refuse(clone, op, MW_ERROR_FORMAT, "needs pred and two blocks that give its results");
        return;
    }
    if (is_known(clone, slot->operands[0].value, &known)) {
        take(clone, op, op->blocks[known != 0 ? 0 : 1]);
        return;
    }
    const mw__op *effect = find_effect(op->blocks[0]);
    effect = effect != NULL ? effect : find_effect(op->blocks[1]);
    if (effect != NULL) {
        refuse(clone, effect, MW_ERROR_UNSUPPORTED,
               "stands in a branch, which cannot be made a select; write a selected value after it");
        return;
    }
    mw_tensor *pred = operand(clone, &slot->operands[0]);
    if (pred != NULL && (mw_tensor_dtype(pred) != MW_BOOL || mw_shape_count(mw_tensor_shape(pred)) != 1)) {
        refuse(clone, op, MW_ERROR_SHAPE, "pred must be one bool");
        return;
    }
    if (pred == NULL || mw__clone_inline(clone, op->blocks[0]) != MW_OK ||
        mw__clone_inline(clone, op->blocks[1]) != MW_OK)
        return;
    for (size_t i = 0; i < op->result_count; i++) {
        mw_tensor *a = mw__clone_get(clone, op->blocks[0]->outputs[i]),
                  *b = mw__clone_get(clone, op->blocks[1]->outputs[i]);
        mw__clone_set(clone, op->results[i], choose(clone, op, pred, a, b));
    }
}

/* ---- loops ---- */

static void set_variables(mw__clone *clone, const mw__op *op, mw_tensor *const *variables)
{
    for (size_t b = 0; b < 2; b++)
        for (size_t i = 0; i < op->result_count; i++)
            mw__clone_set(clone, op->blocks[b]->inputs[i], variables[i]);
}

/* The variables after one more trip. Integers that are known become constants, so that the next trip knows them. */
static bool trip(mw__clone *clone, const mw__op *op, mw_tensor **variables)
{
    const mw__block *body = op->blocks[1];
    mw_graph *to = clone->to;
    if (mw__clone_inline(clone, body) != MW_OK)
        return false;
    for (size_t i = 0; i < op->result_count; i++) {
        const mw_tensor *output = body->outputs[i];
        int64_t known;
        if (is_known(clone, output, &known)) {
            const int32_t integer = (int32_t)known;
            const bool flag = known != 0;
            const mw_dtype dtype = output->type->dtype;
            variables[i] =
                mw_constant(to, dtype, output->type->shape, dtype == MW_BOOL ? (const void *)&flag : &integer);
        } else {
            variables[i] = mw__clone_get(clone, output);
        }
        if (variables[i] == NULL)
            return false;
    }
    set_variables(clone, op, variables);
    return true;
}

static bool check_loop(mw__clone *clone, const mw__op *op, const mw__slot *slot)
{
    const size_t count = op->result_count;
    if (slot != NULL && slot->count == count && op->block_count == 2 && op->blocks[0]->input_count == count &&
        op->blocks[0]->output_count == 1 && op->blocks[1]->input_count == count && op->blocks[1]->output_count == count)
        return true;
    refuse(clone, op, MW_ERROR_FORMAT, "needs loop_vars, and a condition and a body block that fit them");
    return false;
}

static void unroll(mw__flatten *state, mw__clone *clone, const mw__op *op, mw_tensor **variables)
{
    int64_t more = 1;
    for (;;) {
        if (!is_known(clone, op->blocks[0]->outputs[0], &more)) {
            refuse(clone, op, MW_ERROR_UNSUPPORTED,
                   "its trip count is not known when compiled; the condition must follow from constants and int32 "
                   "loop variables that start at constants");
            return;
        }
        if (more == 0)
            break;
        if (++state->trips > MW__FLATTEN_TRIPS || clone->to->block->op_count > MW__FLATTEN_OPS) {
            refuse(clone, op, MW_ERROR_UNSUPPORTED, "does not end within 16384 trips and 131072 operations");
            return;
        }
        if (!trip(clone, op, variables))
            return;
    }
    for (size_t i = 0; i < op->result_count; i++)
        mw__clone_set(clone, op->results[i], variables[i]);
}

static void flatten_loop(mw__flatten *state, mw__clone *clone, const mw__op *op)
{
    const mw__slot *slot = find_slot(op, "loop_vars");
    if (!check_loop(clone, op, slot))
        return;
    mw_graph *to = clone->to;
    mw_tensor **variables = mw__arena_alloc(&to->arena, op->result_count, sizeof(mw_tensor *), &to->error);
    for (size_t i = 0; variables != NULL && i < op->result_count; i++) {
        variables[i] = operand(clone, &slot->operands[i]);
        if (variables[i] == NULL && to->error.status == MW_OK)
            refuse(clone, op, MW_ERROR_UNSUPPORTED, "a loop variable is no value that can be copied");
    }
    if (to->error.status != MW_OK)
        return;
    set_variables(clone, op, variables);
    unroll(state, clone, op, variables);
}

/* ---- the rule ---- */

bool mw__flatten_rule(void *user, mw__clone *clone, const mw__op *op)
{
    if (op->block_count == 0)
        return false;
    if (strcmp(op->kind, "cond") == 0)
        flatten_cond(clone, op);
    else if (strcmp(op->kind, "while_loop") == 0)
        flatten_loop(user, clone, op);
    else
        refuse(clone, op, MW_ERROR_UNSUPPORTED, "has blocks, but is neither cond nor while_loop");
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
    const mw__function *function = graph != NULL ? mw__function_find(graph, "main") : NULL;
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
    const mw__clone_options how = {.rule = mw__flatten_rule, .user = &state, .keep_outputs = true};
    mw__clone clone = {0};
    const mw_status status = mw__clone_run(&clone, function, flat, &how, err);
    mw__clone_deinit(&clone);
    if (status == MW_OK && mw_graph_check(flat, err) == MW_OK)
        return mw__graph_publish(flat, err);
    mw__graph_free(flat);
    return NULL;
}

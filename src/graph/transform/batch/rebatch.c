/* The copy of a function for another batch. Which axis of which value belongs to the examples is known (batch.h); here
 * shapes that are written out follow, and every result is held to what it must be. */
#include "graph/transform/batch/rebatch.h"

#include "base/number/float_mode.h"
#include "graph/ir/admitted.h"
#include "graph/ir/rule.h"
#include "graph/transform/extents/specialize.h"
#include "graph/transform/segment/prune.h"

#include <inttypes.h>
#include <millwright/function.h>
#include <millwright/ops/shape.h>

/* ---- which batch ---- */

int64_t mw__common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

int64_t mw__batch_of(const mw__function *function)
{
    const mw__block *body = function->body;
    int64_t batch = 0;
    for (size_t i = 0; i < body->input_count; i++) {
        const mw_shape shape = mw_tensor_shape(body->inputs[i]);
        if (!mw__is_fed(body->inputs[i]))
            continue;
        if (shape.rank < 1 || shape.dim[0] < 1 || mw_shape_count(shape) < 0)
            return 0;
        batch = mw__common_divisor(batch, shape.dim[0]);
    }
    return batch;
}

mw_shape mw__rebatch_shape(const mw__rebatch *rebatch, const mw_tensor *value)
{
    const mw__type *type = value->type->kind == MW__LIST ? value->type->element[0] : value->type;
    mw_shape shape = type->kind == MW__TENSOR ? type->shape : mw_shape_scalar();
    const mw__batch_rows rows = rebatch->table[value->id];
    if (rows.kind == MW__BATCH_ROWS && rows.axis < shape.rank && shape.dim[rows.axis] > 0)
        shape.dim[rows.axis] = shape.dim[rows.axis] / rebatch->from * rebatch->to;
    return shape;
}

/* ---- operations ---- */

static mw_shape shape_of_input(void *user, const mw_tensor *input) { return mw__rebatch_shape(user, input); }

static void check_result(const mw__rebatch *r, mw__clone *clone, const mw__op *op, size_t result)
{
    const mw_tensor *copy = mw__clone_get(clone, op->results[result]);
    const mw_shape wanted = mw__rebatch_shape(r, op->results[result]);
    char subject[160], a[200], b[200];
    if (clone->to->error.status != MW_OK || copy == NULL || copy->type->kind != MW__TENSOR ||
        mw_shape_equal(mw_tensor_shape(copy), wanted))
        return;
    mw__graph_fail(clone->to, MW_ERROR_UNSUPPORTED,
                   "%s keeps the program at %" PRId64 " examples: for %" PRId64 " its result would be %s, and not %s",
                   mw__op_subject(op, subject, sizeof subject), r->from, r->to,
                   mw__shape_print(mw_tensor_shape(copy), a, sizeof a), mw__shape_print(wanted, b, sizeof b));
}

void mw__rebatch_check(const mw__rebatch *r, mw__clone *clone, const mw__op *op)
{
    for (size_t i = 0; i < op->result_count; i++)
        if (r->table[op->results[i]->id].kind == MW__BATCH_ROWS)
            check_result(r, clone, op, i);
}

const mw_tensor *mw__rebatch_differs(const mw__rebatch *r, const mw__clone *clone)
{
    const mw_graph *from = clone->from->graph;
    for (size_t i = 0; i < from->value_count; i++) {
        const mw_tensor *value = from->values[i], *copy = clone->map[i];
        if (copy != NULL && r->table[i].kind == MW__BATCH_ROWS && copy->type->kind == MW__TENSOR &&
            !mw_shape_equal(mw_tensor_shape(copy), mw__rebatch_shape(r, value)))
            return value;
    }
    return NULL;
}

/* What has no rows of its own; what it counts is known once it is copied. */
static bool copy_plain(const mw__rebatch *r, mw__clone *clone, const mw__op *op)
{
    if (!mw__fold_rule(NULL, clone, op))
        mw__clone_op(clone, op, &clone->to->error);
    if (clone->to->error.status == MW_OK)
        mw__rebatch_count(r, clone, op);
    for (size_t i = 0; i < op->result_count && clone->to->error.status == MW_OK; i++)
        if (r->handed[op->results[i]->id].kind == MW__BATCH_ROWS)
            mw__rebatch_hand_out(r, clone, op, op->results[i]);
    return true;
}

static bool copy_op(void *user, mw__clone *clone, const mw__op *op)
{
    const mw__rebatch *r = user;
    if (mw__op_has(op, MW__TRAIT_LOWERED)) {
        mw__rebatch_control(r, clone, op);
        return true;
    }
    if (op->result_count == 0 || r->table[op->results[0]->id].kind != MW__BATCH_ROWS)
        return copy_plain(r, clone, op);
    if (mw__op_has(op, MW__TRAIT_VIEW) && op->row->id != MW__OP_identity)
        mw__clone_set(clone, op->results[0],
                      mw_reshape(mw__clone_get(clone, mw__arg(op, "x")), mw__rebatch_shape(r, op->results[0])));
    else
        mw__clone_op_with(clone, op, mw__rebatch_operand, user);
    for (size_t i = 0; i < op->result_count; i++)
        check_result(r, clone, op, i);
    if (clone->to->error.status == MW_OK)
        mw__rebatch_count(r, clone, op);
    return true;
}

/* ---- results ---- */

/* One that depends on all examples has no meaning for another number of them. */
static mw_status check_outputs(const mw__rebatch *r, const mw__function *function, mw_error *err)
{
    const mw__block *body = function->body;
    for (size_t i = 0; i < body->output_count; i++) {
        const mw__batch_rows rows = r->table[body->outputs[i]->id];
        char subject[160];
        if (rows.kind != MW__BATCH_MIXED || r->trained)
            continue;
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        "the program stays at %" PRId64 " examples: in %s, on which result \"%.96s\" depends, examples "
                        "come together, or may for all that is known",
                        r->from, rows.mixer != NULL ? mw__op_subject(rows.mixer, subject, sizeof subject) : "an input",
                        mw_tensor_name(body->outputs[i]));
    }
    return MW_OK;
}

/* One that depends on no example is the same for any number of them. */
static mw_status check_output(const mw__rebatch *r, const mw_tensor *output, const mw_tensor *copy, mw_error *err)
{
    if (r->trained || r->table[output->id].kind == MW__BATCH_ROWS ||
        (!r->counts[output->id] && mw_shape_equal(mw_tensor_shape(output), mw_tensor_shape(copy))))
        return MW_OK;
    return mw__fail(err, MW_ERROR_UNSUPPORTED,
                    "result \"%.96s\" says how many examples there are, and not more of them", mw_tensor_name(output));
}

static mw_status copy_outputs(void *user, const mw__clone *clone, mw_error *err)
{
    const mw__block *body = clone->from->body;
    for (size_t i = 0; i < body->output_count; i++) {
        mw_tensor *copy = mw__clone_get(clone, body->outputs[i]);
        MW_TRY(check_output(user, body->outputs[i], copy, err));
        MW_TRY(mw__block_add_output(clone->to->current->body, copy, err));
    }
    return MW_OK;
}

/* ---- the copy ---- */

/* An operation that does not fit the new extents holds the program at its batch. */
static void explain(const mw__rebatch *r, const mw_error *why, mw_error *err)
{
    if (why->status == MW_ERROR_SHAPE)
        mw__fail(err, MW_ERROR_UNSUPPORTED, "for %" PRId64 " examples in the place of %" PRId64 ": %s", r->to, r->from,
                 why->message);
    else
        mw__fail(err, why->status, "%s", why->message);
    mw__error_subject(err, why->operation, why->tensor);
}

static void refuse_picks(void *user, mw__clone *clone)
{
    const mw__rebatch *r = user;
    mw__rebatch_refuse_picks(r->table, clone, "mw_graph_rebatch");
}

static mw_graph *rebatch(const mw_graph *graph, const mw__function *function, mw__rebatch *r, mw_error *err)
{
    mw_error why = {0};
    mw_graph_options made = mw_graph_defaults();
    made.allocator = graph->allocator;
    made.opset = function->opset;
    mw_graph *to = mw__graph_make(&made, err);
    if (to == NULL)
        return NULL;
    to->arena.block_size = graph->arena.block_size;
    const mw__clone_options options = {
        .rule = copy_op, .shape = shape_of_input, .finish = refuse_picks, .follows = true, .user = r};
    if (mw__clone_ports(function, to, &options, copy_outputs, &why) == MW_OK && mw__prune(to->current, &why) == MW_OK)
        return to;
    explain(r, &why, err);
    mw__graph_free(to);
    return NULL;
}

/* Whether every extent can be that many times as large. */
static bool extents_reach(const mw_graph *graph, int64_t examples)
{
    int64_t largest = 1;
    for (size_t i = 0; i < graph->value_count; i++) {
        const mw_shape shape = mw_tensor_shape(graph->values[i]);
        for (int axis = 0; axis < shape.rank; axis++)
            largest = shape.dim[axis] > largest ? shape.dim[axis] : largest;
    }
    return examples <= INT64_MAX / largest;
}

static mw_graph *rebatch_main(const mw_graph *graph, int64_t examples, bool trained, mw_error *err)
{
    const mw__function *function = mw__graph_main(graph);
    mw__rebatch r = {.from = function != NULL ? mw__batch_of(function) : 0, .to = examples, .trained = trained};
    if (function == NULL || r.from == 0) {
        mw__fail(err, MW_ERROR_ARGUMENT, "mw_graph_rebatch: %s",
                 function == NULL ? "there is no function \"main\"; take one by mw_graph_function"
                                  : "the inputs have no first extent in common that could be the batch");
        return NULL;
    }
    if (!extents_reach(graph, examples)) {
        mw__fail(err, MW_ERROR_SHAPE, "mw_graph_rebatch: %lld examples are more than an extent can count",
                 (long long)examples);
        return NULL;
    }
    const mw__batch_rows *alike[MW__REBATCH_GUESSES] = {NULL};
    mw__arena arena;
    mw__arena_init(&arena, graph->allocator);
    r.arena = &arena;
    r.alike = alike;
    r.table =
        trained ? mw__batch_find_trained(&arena, function, r.from, err) : mw__batch_find(&arena, function, r.from, err);
    r.counts = mw__arena_alloc(&arena, graph->value_count, sizeof *r.counts, err);
    r.followed = mw__arena_alloc(&arena, graph->value_count, sizeof *r.followed, err);
    r.handed = mw__arena_alloc(&arena, graph->value_count, sizeof *r.handed, err);
    mw_graph *made = NULL;
    if (r.table != NULL && r.counts != NULL && r.followed != NULL && r.handed != NULL &&
        mw__rebatch_lists(&r, function, err) == MW_OK && check_outputs(&r, function, err) == MW_OK)
        made = rebatch(graph, function, &r, err);
    mw__arena_deinit(&arena);
    return made;
}

mw_graph *mw_graph_rebatch(const mw_graph *graph, int64_t examples, mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw_error own = {0};
    err = err != NULL ? err : &own;
    if (mw__skips(err))
        return NULL;
    if (graph == NULL || examples < 1) {
        mw__fail(err, MW_ERROR_ARGUMENT, "mw_graph_rebatch: %s",
                 graph == NULL ? "the graph is NULL" : "a batch has at least 1 example");
        return NULL;
    }
    if (mw_graph_check(graph, err) != MW_OK)
        return NULL;
    return mw__graph_publish(rebatch_main(graph, examples, false, err), err);
}

mw_graph *mw__rebatch_trained(const mw_graph *graph, int64_t examples, mw_error *err)
{
    return mw__graph_publish(rebatch_main(graph, examples, true, err), err);
}

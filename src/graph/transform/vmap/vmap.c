/* mw_vmap: the graph of one example, which the user's function builds, copied with a first axis for all of them. */
#include "graph/transform/vmap/vmap.h"

#include "base/memory/guard.h"
#include "base/number/float_mode.h"
#include "base/text/log.h"
#include "graph/ir/rule.h"

#include <millwright/autograd.h>
#include <millwright/ops/shape.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool mw__vmap_is_mapped(const mw__vmap *v, const mw_tensor *value) { return value != NULL && v->mapped[value->id]; }

mw_shape mw__vmap_shape(const mw__vmap *v, mw_shape shape)
{
    mw_shape all = {.rank = shape.rank + 1, .dim = {v->examples}};
    for (int i = 0; i < shape.rank && i + 1 < MW_RANK_MAX; i++)
        all.dim[i + 1] = shape.dim[i];
    return all;
}

mw_tensor *mw__vmap_spread(const mw__vmap *v, mw_tensor *x)
{
    mw_shape reps = {.rank = mw_tensor_shape(x).rank + 1, .dim = {v->examples}};
    for (int i = 1; i < reps.rank && i < MW_RANK_MAX; i++)
        reps.dim[i] = 1;
    return mw_tile(mw_expand_dims(x, MW_AXES(0)), reps);
}

/* ---- the copy ---- */

static bool any_mapped(const mw__vmap *v, const mw__operand *operands, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (mw__vmap_is_mapped(v, operands[i].value) ||
            any_mapped(v, operands[i].members, operands[i].members != NULL ? operands[i].member_count : 0))
            return true;
    return false;
}

static bool has_mapped(const mw__vmap *v, const mw__op *op)
{
    for (size_t i = 0; i < op->slot_count; i++)
        if (op->slots[i].operands != NULL && any_mapped(v, op->slots[i].operands, op->slots[i].count))
            return true;
    return false;
}

static void check_results(const mw__vmap *v, mw__clone *clone, const mw__op *op)
{
    char is[200], wanted[200];
    for (size_t i = 0; i < op->result_count && clone->to->error.status == MW_OK; i++) {
        const mw_tensor *copy = mw__clone_get(clone, op->results[i]);
        const mw_shape shape = mw__vmap_shape(v, mw_tensor_shape(op->results[i]));
        if (copy == NULL || mw_shape_equal(mw_tensor_shape(copy), shape))
            continue;
        mw__graph_fail(clone->to, MW_ERROR_STATE, "vmap: the result of %s is %s, and not %s", op->kind,
                       mw__shape_print(mw_tensor_shape(copy), is, sizeof is),
                       mw__shape_print(shape, wanted, sizeof wanted));
    }
}

static const char *refusal_of(const mw__op *op)
{
    for (size_t i = 0; i < op->result_count; i++)
        if (op->results[i]->type->kind != MW__TENSOR)
            return "vmap: lists and states of mapped values have no form for all examples at once";
    if (op->block_count > 0)
        return "vmap: branches and loops over mapped values have no form for all examples at once; unroll them "
               "(mw_graph_flatten)";
    return mw__op_has(op, MW__TRAIT_RANDOM) ? "vmap: each example would draw the same; make the numbers outside, mapped"
                                            : NULL;
}

static bool copy_op(void *user, mw__clone *clone, const mw__op *op)
{
    const mw__vmap *v = user;
    if (!has_mapped(v, op))
        return false;
    const char *refusal = refusal_of(op);
    if (refusal != NULL) {
        mw__clone_refuse(clone, op, MW_ERROR_UNSUPPORTED, refusal);
        return true;
    }
    for (size_t i = 0; i < op->result_count; i++)
        v->mapped[op->results[i]->id] = true;
    mw__vmap_rule *rule = mw__vmap_rule_of(op);
    if (rule == NULL || !rule(v, clone, op))
        mw__vmap_write_out(v, clone, op);
    check_results(v, clone, op);
    return true;
}

/* Inputs of the graph of one example are those that were given, in order. Labels keep their range. */
static bool copy_input(void *user, mw__clone *clone, const mw_tensor *value)
{
    const mw__vmap *v = user;
    const mw__block *body = clone->from->body;
    for (size_t i = 0; i < body->input_count; i++)
        if (body->inputs[i] == value) {
            v->mapped[value->id] = v->is_mapped[i];
            mw__clone_set(clone, value, v->x[i]);
            if (value->index_limit > 0)
                mw__limit_indices(v->x[i], value->index_limit,
                                  value->index_use == MW__INDEX_IGNORES ? &value->index_ignored : NULL);
        }
    return true;
}

/* ---- one example ---- */

typedef struct vmap_call {
    mw_vmap_function *function;
    void *user;
    mw_tensor *const *x;
    const bool *mapped;
    size_t count, y_count;
    mw_graph *one; /* the graph of one example */
    int64_t examples;
} vmap_call;

static mw_status check_operand(const vmap_call *c, size_t index, int64_t *examples, mw_error *err)
{
    char text[200];
    const mw_tensor *x = c->x[index];
    const mw_shape shape = mw_tensor_shape(x);
    if (x == NULL)
        return mw__fail_null(err, "vmap: operand %zu is NULL", index);
    if (x->graph != c->x[0]->graph)
        return mw__fail(err, MW_ERROR_ARGUMENT, "vmap: operand %zu belongs to another graph than operand 0", index);
    if (mw_tensor_dtype(x) == MW_DTYPE_NONE || mw_shape_count(shape) < 0)
        return mw__fail(err, MW_ERROR_SHAPE, "vmap: operand %zu has no known shape", index);
    if (!c->mapped[index])
        return MW_OK;
    if (shape.rank < 1 || shape.dim[0] < 1 || (*examples > 0 && shape.dim[0] != *examples))
        return mw__fail(err, MW_ERROR_SHAPE,
                        "vmap: operand %zu is mapped and %s; its first extent must be the number of examples%s", index,
                        mw__shape_print(shape, text, sizeof text), *examples > 0 ? ", that of operands before" : "");
    *examples = shape.dim[0];
    return MW_OK;
}

static mw_status check_call(vmap_call *c, mw_error *err)
{
    if (c->function == NULL || c->x == NULL || c->mapped == NULL || c->count == 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "vmap: %s",
                        c->function == NULL ? "the function is NULL"
                        : c->count == 0     ? "there are no operands"
                                            : "x or mapped is NULL");
    for (size_t i = 0; i < c->count; i++)
        MW_TRY(check_operand(c, i, &c->examples, err));
    if (c->examples == 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "vmap: no operand is mapped: call the function itself");
    return mw_graph_check(c->x[0]->graph, err);
}

static mw_status make_inputs(const vmap_call *c, mw_tensor **out, mw_error *err)
{
    for (size_t i = 0; i < c->count; i++) {
        char name[40];
        mw_shape shape = mw_tensor_shape(c->x[i]);
        snprintf(name, sizeof name, "vmap#%zu", i);
        if (c->mapped[i]) {
            shape.rank--;
            memmove(shape.dim, shape.dim + 1, (size_t)shape.rank * sizeof *shape.dim);
        }
        out[i] = mw_input(c->one, name, mw_tensor_dtype(c->x[i]), shape);
    }
    return mw_graph_check(c->one, err);
}

static mw_status check_results_of(const vmap_call *c, mw_tensor *const *y, mw_error *err)
{
    const mw__block *body = mw__graph_main(c->one)->body;
    if (body->input_count != c->count || body->output_count > 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "vmap: the function made an %s; it is of operations alone",
                        body->output_count > 0 ? "output" : "input, a parameter or a state");
    for (size_t i = 0; i < c->y_count; i++)
        if (y[i] == NULL || y[i]->graph != c->one || y[i]->type->kind != MW__TENSOR)
            return mw__fail(err, MW_ERROR_ARGUMENT, "vmap: result %zu of the function %s", i,
                            y[i] == NULL            ? "is NULL"
                            : y[i]->graph != c->one ? "is of another graph: use those that it is called with"
                                                    : "is no tensor");
    return MW_OK;
}

static mw_status ask(const vmap_call *c, mw_tensor *const *x, mw_tensor **y, mw_error *err)
{
    mw_error said = {0}, built = {0};
    c->one->exposed = true; /* the user may keep what it is shown */
    const mw__callback outer = mw__callback_begin("function of mw_vmap", MW__LENT_NEVER);
    mw_status status = c->function(c->user, c->one, x, y, &said);
    mw__callback_end(outer);
    mw_graph_check(c->one, &built);
    status = status != MW_OK ? status : said.status != MW_OK ? said.status : built.status;
    if (status == MW_OK)
        return check_results_of(c, y, err);
    const char *why = said.message[0] != '\0' ? said.message : built.message;
    return mw__fail(err, status, "vmap: the function: %.400s", why[0] != '\0' ? why : mw_status_name(status));
}

/* Records are of one example: the copy has the operations alone. */
static void drop_records(mw_graph *graph)
{
    for (size_t i = 0; i < graph->value_count; i++)
        graph->values[i]->composite = NULL;
}

static mw_status copy_for_all(const vmap_call *c, mw_tensor *const *y, mw_tensor **out_y, mw_error *err)
{
    mw_graph *to = c->x[0]->graph;
    const mw_allocator *allocator = to->allocator;
    drop_records(c->one);
    mw__vmap v = {.examples = c->examples, .x = c->x, .is_mapped = c->mapped};
    v.mapped = mw__alloc(allocator, c->one->value_count + 1, sizeof *v.mapped, err);
    if (v.mapped == NULL)
        return MW_ERROR_MEMORY;
    const mw__clone_options options = {
        .rule = copy_op, .input = copy_input, .user = &v, .roots = y, .root_count = c->y_count};
    mw__clone clone;
    mw_status status = mw__clone_run(&clone, mw__graph_main(c->one), to, &options, err);
    for (size_t i = 0; i < c->y_count && status == MW_OK; i++) {
        mw_tensor *copy = mw__clone_get(&clone, y[i]);
        out_y[i] = mw__vmap_is_mapped(&v, y[i]) ? copy : mw__vmap_spread(&v, copy);
    }
    mw__clone_deinit(&clone);
    mw__free(allocator, v.mapped);
    return status == MW_OK ? mw_graph_check(to, err) : status;
}

static mw_status map_function(vmap_call *c, mw_tensor **out_y, mw_error *err)
{
    MW_TRY(check_call(c, err));
    mw_graph *to = c->x[0]->graph;
    mw_graph_options options = mw_graph_defaults();
    options.allocator = to->allocator;
    options.opset = to->current->opset;
    c->one = mw__graph_make(&options, err);
    if (c->one == NULL)
        return MW_ERROR_MEMORY;
    c->one->lowering = to->lowering;
    c->one->stage = to->stage;
    mw_tensor **tensors = mw__alloc(to->allocator, c->count + c->y_count, sizeof(mw_tensor *), err);
    mw_status status = tensors != NULL ? make_inputs(c, tensors, err) : MW_ERROR_MEMORY;
    if (status == MW_OK)
        status = ask(c, tensors, tensors + c->count, err);
    if (status == MW_OK)
        status = copy_for_all(c, tensors + c->count, out_y, err);
    mw__free(to->allocator, tensors);
    mw__graph_free(c->one);
    return status;
}

mw_status mw_vmap(mw_vmap_function *function, void *user, mw_tensor *const *x, const bool *mapped, size_t count,
                  mw_tensor **out_y, size_t y_count, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return err->status;
    if (out_y == NULL || y_count == 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "vmap: there is no place for results");
    vmap_call call = {.function = function, .user = user, .x = x, .mapped = mapped, .count = count, .y_count = y_count};
    for (size_t i = 0; i < y_count; i++)
        out_y[i] = NULL;
    const mw_status status = map_function(&call, out_y, err);
    for (size_t i = 0; i < y_count && status != MW_OK; i++)
        out_y[i] = NULL;
    return status;
}

/* Copying a function with substitution: what is copied (clone_mark.c finds out), in which order, and what goes along
 * with a value. */
#include "graph/transform/clone/clone.h"

#include "base/number/float_mode.h"
#include "graph/ir/copy.h"
#include "graph/ir/rule.h"
#include "graph/random/noise.h"
#include "graph/transform/clone/clone_mark.h"

#include <millwright/ops/shape.h>
#include <string.h>

mw_tensor *mw__clone_get(const mw__clone *clone, const mw_tensor *source)
{
    return source != NULL ? clone->map[source->id] : NULL;
}

void mw__clone_set(mw__clone *clone, const mw_tensor *source, mw_tensor *copy) { clone->map[source->id] = copy; }

void mw__clone_refuse(mw__clone *clone, const mw__op *op, mw_status status, const char *why)
{
    char subject[160];
    mw__graph_fail(clone->to, status, "%s: %s", mw__op_subject(op, subject, sizeof subject), why);
    mw__error_subject(&clone->to->error, op->kind, op->result_count > 0 ? op->results[0]->name : NULL);
    if (op->line > 0)
        mw__error_position(&clone->to->error, (int)op->line, (int)op->column);
}

/* ---- what goes along with a value ---- */

/* Names of main's body are unique in the graph: a second clone of the same value stays without one. */
static mw_status carry_name(mw_graph *to, const mw_tensor *source, mw_tensor *copy)
{
    if (source->name == NULL || copy->name != NULL)
        return MW_OK;
    const bool registered = strcmp(to->current->name, "main") == 0 && to->block == to->current->body;
    if (copy->op != NULL && copy->op->block != to->block && copy->op->block == to->current->body)
        return MW_OK; /* what a rule has put around the block is no value of it */
    if (registered && mw__map_get(&to->names, source->name) != NULL)
        return MW_OK;
    copy->name = mw__graph_string(to, source->name);
    if (copy->name == NULL)
        return MW_ERROR_MEMORY;
    return registered ? mw__map_set(&to->names, copy->name, copy, &to->error) : MW_OK;
}

/* The state itself: in a branch a select stands for it (mw__flatten_guard). */
static mw_tensor *copied_state(const mw__clone *clone, const mw_tensor *state)
{
    mw_tensor *copy = mw__clone_get(clone, state);
    return copy == NULL || copy->role == state->role ? copy : mw_graph_find(clone->to, state->name);
}

/* A record that a rewrite cut off from its inputs is dropped: the operations compute the same. A user's rule may say
 * something else than they do. */
static mw_status carry_composite(mw__clone *clone, const mw_tensor *source, mw_tensor *copy)
{
    const mw__composite *record = source->composite;
    if (record == NULL || copy == NULL || copy->composite != NULL)
        return MW_OK;
    mw_tensor **inputs = mw__arena_alloc(&clone->to->arena, record->input_count, sizeof *inputs, &clone->to->error);
    if (inputs == NULL)
        return MW_ERROR_MEMORY;
    mw__composite mapped = *record;
    mapped.inputs = inputs;
    mapped.input_count = 0;
    mapped.examples = mw__clone_get(clone, record->examples);
    mapped.weights = mw__clone_get(clone, record->weights);
    mapped.evaluation = mw__clone_get(clone, record->evaluation);
    for (int i = 0; i < 2; i++)
        mapped.running[i] = copied_state(clone, record->running[i]);
    for (size_t i = 0; i < record->input_count; i++) {
        mw_tensor *input = mw__clone_get(clone, record->inputs[i]);
        if (input == NULL && record->rule != NULL)
            return mw__fail(&clone->to->error, MW_ERROR_STATE, "clone: a rewrite lost input %zu of custom_vjp \"%s\"",
                            i, record->name);
        if (input != NULL)
            inputs[mapped.input_count++] = input;
        else if (!record->recomputes)
            return MW_OK;
    }
    return mw__composite_attach(copy, &mapped) != NULL ? MW_OK : MW_ERROR_MEMORY;
}

mw_status mw__clone_carry_record(mw__clone *clone, const mw_tensor *source)
{
    return carry_composite(clone, source, mw__clone_get(clone, source));
}

/* `before` = values in the target before this operation: an older value may serve others, so that a stop mark gets an
 * identity of its own. */
static mw_status carry(mw__clone *clone, const mw_tensor *source, size_t before)
{
    mw_tensor *copy = clone->map[source->id];
    if (copy == NULL)
        return MW_OK;
    if (source->stop_gradient && !copy->stop_gradient) {
        if (copy->id < before)
            copy = mw_stop_gradient(copy);
        if (copy == NULL)
            return clone->to->error.status;
        copy->stop_gradient = true;
        clone->map[source->id] = copy;
    }
    if (source->note != NULL && copy->note == NULL)
        copy->note = mw__graph_copy_port_note(clone->to, source->note);
    MW_TRY(carry_name(clone->to, source, copy));
    return carry_composite(clone, source, copy);
}

/* ---- inputs and parameters ---- */

static const mw__init *convert_init(mw_graph *to, const mw_tensor *source, mw_dtype dtype)
{
    mw__init *copy = mw__arena_alloc(&to->arena, 1, sizeof *copy, &to->error);
    if (copy == NULL)
        return NULL;
    *copy = *source->init;
    if (copy->data == NULL)
        return copy;
    mw__payload view = {.type = source->type, .data = copy->data};
    mw__type_bytes(source->type, &view.size);
    const mw__payload *made = dtype == source->type->dtype ? mw__payload_copy(to, &view, &to->error)
                                                           : mw__payload_convert(to, &view, dtype, &to->error);
    copy->data = made != NULL ? made->data : NULL;
    return made != NULL ? copy : NULL;
}

static const mw__type *input_type(mw__clone *clone, const mw_tensor *source)
{
    mw_graph *to = clone->to;
    const mw__clone_options *options = clone->options;
    if (source->type->kind != MW__TENSOR)
        return mw__type_copy(to, source->type, &to->error);
    mw_dtype dtype = source->type->dtype;
    mw_shape shape = source->type->shape;
    if (options->dtype != NULL)
        dtype = options->dtype(options->user, source);
    if (options->shape != NULL && source->role == MW__INPUT)
        shape = options->shape(options->user, source);
    return mw__type_tensor(to, dtype, shape, &to->error);
}

static mw_status copy_input(mw__clone *clone, const mw_tensor *source, mw__block *block)
{
    mw_graph *to = clone->to;
    const mw__type *type = input_type(clone, source);
    mw_tensor *copy = type != NULL ? mw__value_create(to, type, source->hint, &to->error) : NULL;
    if (copy == NULL)
        return to->error.status;
    copy->role = source->role;
    copy->index_limit = source->index_limit;
    copy->index_ignored = source->index_ignored;
    copy->index_use = source->index_use;
    copy->stop_gradient = source->stop_gradient;
    copy->part = mw__part_copy(to, source->part);
    copy->note = mw__graph_copy_port_note(to, source->note);
    if (to->error.status != MW_OK)
        return to->error.status;
    if (source->init != NULL) {
        copy->init = convert_init(to, source, type->dtype);
        if (copy->init == NULL)
            return to->error.status;
    }
    MW_TRY(carry_name(to, source, copy));
    if (source->role != MW__VALUE && source->name != NULL && copy->name == NULL)
        return mw__fail(&to->error, MW_ERROR_ARGUMENT, "clone: the target has a \"%s\" already", source->name);
    clone->map[source->id] = copy;
    return mw__block_add_input(block, copy, &to->error);
}

mw_tensor *mw__clone_input_copy(mw__clone *clone, const mw_tensor *source)
{
    return copy_input(clone, source, clone->to->current->body) == MW_OK ? mw__clone_get(clone, source) : NULL;
}

static mw_status copy_inputs(mw__clone *clone)
{
    const mw__block *body = clone->from->body;
    const mw__clone_options *options = clone->options;
    for (size_t i = 0; i < body->input_count; i++) {
        if (!mw__clone_wants(clone, body->inputs[i]))
            continue;
        if (options->input == NULL || !options->input(options->user, clone, body->inputs[i]))
            MW_TRY(copy_input(clone, body->inputs[i], clone->to->current->body));
        MW_TRY(clone->to->error.status);
    }
    return MW_OK;
}

/* ---- operations ---- */

static mw_status copy_or_replace(mw__clone *clone, const mw__op *op)
{
    mw_graph *to = clone->to;
    const size_t before = to->value_count;
    const mw__clone_options *options = clone->options;
    clone->steps++;
    if (clone->from->graph != to)
        to->stage = op->stage;
    const bool replaced = options->rule != NULL && options->rule(options->user, clone, op);
    if (to->error.status != MW_OK)
        return to->error.status;
    if (!replaced)
        MW_TRY(mw__clone_op(clone, op, &to->error));
    for (size_t i = 0; i < op->result_count; i++)
        MW_TRY(carry(clone, op->results[i], before));
    return MW_OK;
}

mw_status mw__clone_ops(mw__clone *clone, const mw__block *from)
{
    for (size_t i = 0; i < from->op_count; i++)
        MW_TRY(copy_or_replace(clone, from->ops[i]));
    return clone->to->error.status;
}

/* The same but for extents. */
static bool is_alike(const mw__type *a, const mw__type *b)
{
    if (a->kind == MW__LIST && b->kind == MW__LIST && a->count == 1 && b->count == 1)
        return is_alike(a->element[0], b->element[0]);
    return a->kind == MW__TENSOR && b->kind == MW__TENSOR && a->dtype == b->dtype && a->shape.rank == b->shape.rank;
}

/* The input is known better from outside, or is what comes from there. */
static mw_status refine_input(const mw__clone *clone, mw_tensor *input, const mw__type *outside, bool *changed)
{
    mw_graph *to = clone->to;
    const bool follows = clone->options->follows && outside != NULL && is_alike(input->type, outside);
    if (follows && !mw__types_fit(input->type, outside)) {
        *changed = *changed || !mw__type_equal(input->type, outside);
        input->type = outside;
        return MW_OK;
    }
    if (outside == NULL || !mw__types_fit(input->type, outside))
        return MW_OK;
    const mw__type *type = mw__type_merge(to, input->type, outside, &to->error);
    if (type == NULL)
        return to->error.status;
    *changed = *changed || !mw__type_equal(type, input->type);
    input->type = type;
    return MW_OK;
}

/* The evaluation forms of the operation's results take their places; they are earlier, so that they are copied. */
static mw_status put_evaluation_forms(mw__clone *clone, const mw__op *op)
{
    for (size_t i = 0; i < op->result_count; i++) {
        const mw_tensor *source = op->results[i];
        if (!mw__clone_replaced(clone, source))
            continue;
        mw_tensor *form = mw__clone_restores(clone, source) ? mw__noise_restore(clone, source)
                                                            : mw__clone_get(clone, source->composite->evaluation);
        MW_TRY(clone->to->error.status);
        if (form == NULL)
            return mw__fail(&clone->to->error, MW_ERROR_STATE, "clone: the evaluation of %s is not there",
                            source->composite->name);
        clone->map[source->id] = form;
        MW_TRY(carry_name(clone->to, source, form));
    }
    return MW_OK;
}

mw_status mw__clone_block(mw__clone *clone, const mw__block *from, mw__block *into, const mw__type *const *types,
                          bool *changed)
{
    mw_graph *to = clone->to;
    mw__block *outer = to->block;
    to->block = into;
    mw_status status = MW_OK;
    for (size_t i = 0; i < from->input_count && status == MW_OK; i++) {
        status = copy_input(clone, from->inputs[i], into);
        if (status == MW_OK && types != NULL)
            status = refine_input(clone, mw__clone_get(clone, from->inputs[i]), types[i], changed);
    }
    for (size_t i = 0; i < from->op_count && status == MW_OK; i++) {
        if (mw__clone_wants_inside(clone, from->ops[i]))
            status = copy_or_replace(clone, from->ops[i]);
        if (status == MW_OK)
            status = put_evaluation_forms(clone, from->ops[i]);
    }
    for (size_t i = 0; i < from->output_count && status == MW_OK; i++) {
        mw_tensor *output = mw__clone_get(clone, from->outputs[i]);
        status = output != NULL ? mw__block_add_output(into, output, &to->error)
                                : mw__fail(&to->error, MW_ERROR_STATE, "clone: a rewrite lost the output of a block");
    }
    to->block = outer;
    return status;
}

mw_status mw__clone_again(mw__clone *clone, const mw__op *op)
{
    mw__block *block = clone->to->block;
    const size_t before = block->op_count;
    MW_TRY(copy_or_replace(clone, op));
    for (size_t k = before; k < block->op_count; k++)
        block->ops[k]->name = NULL; /* a name stands for one operation only */
    return MW_OK;
}

mw_status mw__clone_inline(mw__clone *clone, const mw__block *from)
{
    for (size_t i = 0; i < from->op_count; i++) {
        const mw__op *op = from->ops[i];
        const bool constant = op->row != NULL && op->row->id == MW__OP_const;
        if (constant && mw__clone_get(clone, op->results[0]) != NULL)
            continue;
        MW_TRY(mw__clone_again(clone, op));
    }
    return MW_OK;
}

static mw_status copy_body(mw__clone *clone)
{
    const mw__block *body = clone->from->body;
    for (size_t i = 0; i < body->op_count; i++) {
        if (mw__clone_wants_op(clone, body->ops[i]))
            MW_TRY(copy_or_replace(clone, body->ops[i]));
        MW_TRY(put_evaluation_forms(clone, body->ops[i]));
    }
    return MW_OK;
}

/* A rewrite that gives values other extents may not give one state what does not fit into it. */
static mw_status check_assignment(const mw__clone *clone, const mw_tensor *state, const mw_tensor *next)
{
    char a[200], b[200];
    const mw_shape held = mw_tensor_shape(state), given = mw_tensor_shape(next);
    if (next == NULL || state->type->kind != MW__TENSOR || next->type->kind != MW__TENSOR || mw_shape_count(held) < 0 ||
        mw_shape_count(given) < 0 || mw_shape_equal(held, given))
        return MW_OK;
    return mw__fail(&clone->to->error, MW_ERROR_SHAPE, "state \"%.96s\" is %s, and would be assigned %s",
                    mw_tensor_name(state), mw__shape_print(held, a, sizeof a), mw__shape_print(given, b, sizeof b));
}

/* After all operations: the value that is assigned to a state may be any of them. */
static mw_status carry_assignments(mw__clone *clone)
{
    const mw__block *body = clone->from->body;
    for (size_t i = 0; i < body->input_count; i++) {
        const mw_tensor *state = body->inputs[i];
        mw_tensor *copy = clone->map[state->id];
        if (copy != NULL && copy->next == NULL && state->next != NULL && !mw__clone_freezes(clone, state))
            copy->next = mw__clone_get(clone, state->next);
        if (copy != NULL && copy->next != NULL)
            MW_TRY(check_assignment(clone, copy, copy->next));
    }
    return MW_OK;
}

/* `copy` under the name of the result that it stands for, by which callers know it: what a loop or branch gave may have
 * become a value of its inside. A value that has another role, or is a result already, gets an identity. */
static mw_tensor *name_output(mw_graph *to, const char *wanted, mw_tensor *copy)
{
    if (wanted == NULL || (copy->name != NULL && strcmp(copy->name, wanted) == 0) || copy->type->kind != MW__TENSOR)
        return copy;
    mw_tensor *owner = mw__map_get(&to->names, wanted);
    if (owner != NULL && owner != copy && (owner->role != MW__VALUE || owner->is_output))
        return copy;
    if (copy->role != MW__VALUE || copy->payload != NULL || copy->op == NULL || copy->is_output)
        copy = mw_identity(copy);
    if (copy == NULL)
        return NULL;
    if (owner != NULL && owner->name != NULL && strcmp(owner->name, wanted) == 0)
        owner->name = NULL;
    copy->name = mw__arena_string(&to->arena, wanted, strlen(wanted), &to->error);
    return mw__map_set(&to->names, wanted, copy, &to->error) == MW_OK ? copy : NULL;
}

static mw_status copy_outputs(mw__clone *clone)
{
    const mw__block *body = clone->from->body;
    for (size_t i = 0; clone->options->keep_outputs && i < body->output_count; i++) {
        mw_tensor *copy = mw__clone_get(clone, body->outputs[i]);
        if (copy == NULL)
            continue;
        copy = name_output(clone->to, body->outputs[i]->name, copy);
        MW_TRY(clone->to->error.status);
        MW_TRY(mw__block_add_output(clone->to->current->body, copy, &clone->to->error));
    }
    return MW_OK;
}

static mw_status copy_attributes(mw__clone *clone)
{
    mw__function *function = clone->to->current;
    if (function->attribute_count != 0)
        return MW_OK;
    MW_TRY(mw__attributes_copy(clone->to, clone->from->attributes, clone->from->attribute_count, &function->attributes,
                               &clone->to->error));
    function->attribute_count = clone->from->attribute_count;
    return MW_OK;
}

static mw_status copy_function(mw__clone *clone)
{
    MW_TRY(mw__clone_mark(clone, &clone->to->error));
    MW_TRY(copy_attributes(clone));
    MW_TRY(copy_inputs(clone));
    MW_TRY(copy_body(clone));
    if (clone->options->finish != NULL)
        clone->options->finish(clone->options->user, clone);
    MW_TRY(carry_assignments(clone));
    return copy_outputs(clone);
}

mw_status mw__clone_run(mw__clone *clone, const mw__function *from, mw_graph *to, const mw__clone_options *options,
                        mw_error *err)
{
    static const mw__clone_options plain = {.rule = NULL};
    *clone = (mw__clone){.from = from, .to = to, .options = options != NULL ? options : &plain};
    if (mw__failed(err))
        return err->status;
    MW_TRY(mw_graph_check(to, err));
    MW_TRY(mw_graph_check(from->graph, err));
    if (from->graph == to)
        return mw__fail(err, MW_ERROR_ARGUMENT, "clone: source and target are one graph");
    const size_t count = from->graph->value_count;
    clone->map = mw__alloc(to->allocator, count, sizeof *clone->map, err);
    clone->marks = mw__alloc(to->allocator, count, 1, err);
    if (clone->map == NULL || clone->marks == NULL)
        return MW_ERROR_MEMORY;
    const mw_status status = copy_function(clone);
    if (status != MW_OK && mw_graph_check(to, err) == MW_OK)
        return mw__fail(err, status, "clone: %s", mw_status_name(status));
    return status;
}

mw_status mw__clone_begin(mw__clone *clone, const mw__function *function, mw_graph *to, mw_error *err)
{
    static const mw__clone_options plain = {.rule = NULL};
    const size_t count = function->graph->value_count;
    *clone = (mw__clone){.from = function, .to = to, .options = &plain};
    clone->map = mw__alloc(to->allocator, count, sizeof *clone->map, err);
    clone->marks = mw__alloc(to->allocator, count, 1, err);
    return clone->map != NULL && clone->marks != NULL ? MW_OK : MW_ERROR_MEMORY;
}

mw_status mw__clone_begin_within(mw__clone *clone, const mw__function *function, mw_error *err)
{
    mw_graph *graph = function->graph;
    MW_TRY(mw__clone_begin(clone, function, graph, err));
    memcpy(clone->map, graph->values, graph->value_count * sizeof *clone->map);
    return MW_OK;
}

mw_graph *mw__clone_function(const mw_allocator *allocator, const mw__function *function,
                             const mw__clone_options *options, mw_tensor **out_copies, mw_error *err)
{
    const mw_graph *from = function->graph;
    mw_graph_options made = mw_graph_defaults();
    made.allocator = allocator;
    made.opset = function->opset;
    mw_graph *graph = mw__graph_make(&made, NULL);
    if (graph == NULL) {
        mw__fail(err, MW_ERROR_MEMORY, "no memory for a copy of the graph");
        return NULL;
    }
    graph->arena.block_size = from->arena.block_size;
    graph->tensors.block_size = from->tensors.block_size;
    mw__clone clone = {0};
    mw_status status = mw__clone_run(&clone, function, graph, options, err);
    for (size_t i = 0; status == MW_OK && out_copies != NULL && i < options->root_count; i++) {
        out_copies[i] = mw__clone_get(&clone, options->roots[i]);
        if (out_copies[i] == NULL)
            status = mw__fail(err, MW_ERROR_STATE, "a value of the graph could not be copied");
    }
    mw__clone_deinit(&clone);
    if (status == MW_OK && mw_graph_check(graph, err) == MW_OK)
        return graph;
    mw__graph_free(graph);
    return NULL;
}

/* Inputs, then results. */
static mw_tensor **port_roots(const mw__block *body, const mw_allocator *allocator, size_t *out_count, mw_error *err)
{
    const size_t count = body->input_count + body->output_count;
    mw_tensor **roots = mw__alloc(allocator, count, sizeof(mw_tensor *), err);
    for (size_t i = 0; roots != NULL && i < count; i++)
        roots[i] = i < body->input_count ? body->inputs[i] : body->outputs[i - body->input_count];
    *out_count = count;
    return roots;
}

mw_status mw__clone_ports(const mw__function *from, mw_graph *to, const mw__clone_options *options,
                          mw__clone_after *after, mw_error *err)
{
    mw__clone_options all = *options;
    mw_tensor **roots = port_roots(from->body, to->allocator, &all.root_count, err);
    if (roots == NULL)
        return MW_ERROR_MEMORY;
    all.roots = roots;
    mw__clone clone = {0};
    mw_status status = mw__clone_run(&clone, from, to, &all, err);
    if (status == MW_OK && after != NULL)
        status = after(options->user, &clone, err);
    if (status == MW_OK)
        status = mw_graph_check(to, err);
    mw__clone_deinit(&clone);
    mw__free(to->allocator, roots);
    return status;
}

mw_graph *mw__clone_graph(const mw_allocator *allocator, const mw_graph *from, const mw__clone_options *options,
                          mw_tensor **out_copies, mw_error *err)
{
    return mw__clone_function(allocator, mw__graph_main(from), options, out_copies, err);
}

mw_graph *mw_graph_evaluation(const mw_graph *graph, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return NULL;
    if (mw_graph_check(graph, err) != MW_OK)
        return NULL;
    const mw__function *function = mw__graph_main(graph);
    if (function == NULL || function->body->output_count == 0) {
        mw__fail(err, MW_ERROR_ARGUMENT, "the graph has no output: declare results with mw_output");
        return NULL;
    }
    const mw__clone_options options = {.roots = function->body->outputs,
                                       .root_count = function->body->output_count,
                                       .form = MW__CLONE_DEPLOYMENT,
                                       .keep_outputs = true};
    return mw__graph_publish(mw__clone_graph(graph->allocator, graph, &options, NULL, err), err);
}

void mw__clone_deinit(mw__clone *clone)
{
    if (clone->to == NULL)
        return;
    mw__free(clone->to->allocator, clone->map);
    mw__free(clone->to->allocator, clone->marks);
    clone->map = NULL;
    clone->marks = NULL;
}

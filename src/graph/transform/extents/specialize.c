/* The copy of a function for given shapes: inputs get them, the clone infers what follows, small integers are folded on
 * the way. What is open afterwards is explained in specialize_open.c. */
#include "graph/transform/extents/specialize.h"

#include "base/number/float_mode.h"
#include "graph/constants/evaluate_small.h"
#include "graph/ir/admitted.h"
#include "graph/ir/rule.h"
#include "graph/transform/segment/prune.h"

#include <millwright/ops/shape.h>
#include <string.h>

/* ---- folding ---- */

static bool is_integer(mw_dtype dtype)
{
    return dtype == MW_BOOL || (dtype >= MW_I8 && dtype <= MW_I32) || dtype == MW_U8 || dtype == MW_U16 ||
           dtype == MW_U32;
}

static void store_integer(unsigned char *out, size_t size, double value)
{
    const int64_t whole = (int64_t)value;
    for (size_t i = 0; i < size; i++)
        out[i] = (unsigned char)((uint64_t)whole >> (8 * i));
}

/* A const statement with the elements. */
static mw_tensor *emit_known(mw_graph *graph, const mw__known *known, const char *hint)
{
    unsigned char data[8 * MW__KNOWN_MAX];
    const size_t size = (size_t)mw_dtype_bits(known->dtype) / 8;
    for (size_t i = 0; i < known->count; i++)
        store_integer(data + i * size, size, known->at[i]);
    mw__payload *payload = mw__payload_create(graph, known->dtype, known->shape, data, &graph->error);
    if (payload == NULL)
        return NULL;
    payload->in_blob = false; /* a rule reads it; and weight files of other shapes stay the same */
    return mw__payload_emit(graph, payload, hint, &graph->error);
}

static bool may_fold(const mw__op *op)
{
    bool integers = op->row != NULL && op->row->id != MW__OP_const && op->block_count == 0 && op->result_count > 0;
    for (size_t i = 0; i < op->result_count; i++)
        integers = integers && is_integer(mw_tensor_dtype(op->results[i]));
    return integers;
}

bool mw__fold_rule(void *user, mw__clone *clone, const mw__op *op)
{
    (void)user;
    mw_graph *to = clone->to;
    if (!may_fold(op))
        return false;
    if (mw__clone_op(clone, op, &to->error) != MW_OK)
        return true;
    for (size_t i = 0; i < op->result_count && to->error.status == MW_OK; i++) {
        mw__evaluation evaluation = {0};
        mw__known known;
        const mw_tensor *copy = mw__clone_get(clone, op->results[i]);
        if (copy != NULL && copy->payload == NULL && mw__evaluate(&evaluation, copy, &known))
            mw__clone_set(clone, op->results[i], emit_known(to, &known, op->results[i]->hint));
    }
    return true;
}

/* ---- inputs ---- */

typedef struct specializer {
    const mw__function *function;
    const mw__given *given;
} specializer;

static const mw__given *given_of(const specializer *s, const mw_tensor *input)
{
    const mw__block *body = s->function->body;
    for (size_t i = 0; i < body->input_count; i++)
        if (body->inputs[i] == input)
            return &s->given[i];
    return NULL;
}

static mw_shape shape_of_input(void *user, const mw_tensor *input)
{
    const mw__given *given = given_of(user, input);
    return given != NULL && mw__is_fed(input) ? given->shape : input->type->shape;
}

static bool value_of_input(void *user, mw__clone *clone, const mw_tensor *input)
{
    const mw__given *given = given_of(user, input);
    mw_graph *to = clone->to;
    if (given == NULL || given->value == NULL)
        return false;
    mw__payload *payload = mw__payload_create(to, input->type->dtype, input->type->shape, given->value, &to->error);
    if (payload == NULL)
        return true;
    payload->in_blob = false;
    mw__clone_set(clone, input, mw__payload_emit(to, payload, input->hint, &to->error));
    return true;
}

/* ---- results ---- */

/* A result that became a constant is a value of its own, under its name. */
static mw_tensor *own_result(mw_graph *to, const mw_tensor *source, mw_tensor *copy)
{
    if (copy == NULL || copy->payload == NULL || source->payload != NULL)
        return copy;
    const char *name = copy->name;
    copy->name = NULL;
    mw_tensor *result = mw_identity(copy);
    if (result == NULL)
        return NULL;
    result->name = name;
    if (name != NULL && mw__map_set(&to->names, name, result, &to->error) != MW_OK)
        return NULL;
    return result;
}

static mw_status copy_results(const mw__clone *clone)
{
    const mw__block *body = clone->from->body;
    mw_graph *to = clone->to;
    for (size_t i = 0; i < body->output_count; i++) {
        mw_tensor *copy = own_result(to, body->outputs[i], mw__clone_get(clone, body->outputs[i]));
        MW_TRY(to->error.status);
        if (copy == NULL)
            return mw__fail(&to->error, MW_ERROR_STATE, "specialize: result %zu was not copied", i);
        copy->part = mw__part_copy(to, body->outputs[i]->part);
        copy->note = copy->note != NULL ? copy->note : mw__graph_copy_port_note(to, body->outputs[i]->note);
        MW_TRY(to->error.status);
        MW_TRY(mw__block_add_output(to->current->body, copy, &to->error));
    }
    return MW_OK;
}

/* ---- what was declared ---- */

static mw_status check_declared(const mw__clone *clone, const mw__op *op, const mw_tensor *value, mw_error *err)
{
    const mw_tensor *copy = mw__clone_get(clone, value);
    char subject[160], declared[200], made[200];
    if (copy == NULL || value->type->kind != MW__TENSOR || copy->type->kind != MW__TENSOR ||
        mw__type_fits(value->type, copy->type->dtype, copy->type->shape))
        return MW_OK;
    mw__fail(err, MW_ERROR_SHAPE, "%s: its result is declared %s %s, the shapes of the inputs make it %s %s",
             mw__op_subject(op, subject, sizeof subject), mw_dtype_name(value->type->dtype),
             mw__shape_print(value->type->shape, declared, sizeof declared), mw_dtype_name(copy->type->dtype),
             mw__shape_print(copy->type->shape, made, sizeof made));
    mw__error_subject(err, op->kind, value->name);
    if (op->line != 0)
        mw__error_position(err, (int)op->line, (int)op->column);
    return MW_ERROR_SHAPE;
}

static mw_status check_block(const mw__clone *clone, const mw__block *block, mw_error *err)
{
    for (size_t i = 0; i < block->op_count; i++) {
        const mw__op *op = block->ops[i];
        for (size_t k = 0; k < op->result_count; k++)
            MW_TRY(check_declared(clone, op, op->results[k], err));
        for (size_t k = 0; k < op->block_count; k++)
            MW_TRY(check_block(clone, op->blocks[k], err));
    }
    return MW_OK;
}

/* ---- the copy ---- */

/* The copy has one shape: what says which it may have is no longer true. */
static void drop_attribute(mw__function *function)
{
    size_t kept = 0;
    for (size_t i = 0; i < function->attribute_count; i++)
        if (strcmp(function->attributes[i].name, mw__flexible_attribute) != 0)
            function->attributes[kept++] = function->attributes[i];
    function->attribute_count = kept;
}

static mw_status copy_function(specializer *s, mw_graph *to, bool prune, mw_error *err)
{
    const mw__clone_options options = {
        .rule = mw__fold_rule, .shape = shape_of_input, .input = value_of_input, .user = s};
    mw__clone clone = {0};
    mw_status status = mw__clone_run(&clone, s->function, to, &options, err);
    if (status == MW_OK && copy_results(&clone) != MW_OK)
        status = mw_graph_check(to, err);
    if (status == MW_OK)
        status = check_block(&clone, s->function->body, err);
    mw__clone_deinit(&clone);
    drop_attribute(to->current);
    return status == MW_OK && prune ? mw__prune(to->current, err) : status;
}

mw_graph *mw__specialize(const mw_allocator *allocator, const mw__function *function, const mw__given *given,
                         bool prune, mw_error *err)
{
    mw_graph_options made = mw_graph_defaults();
    made.allocator = allocator;
    made.opset = function->opset;
    mw_graph *graph = mw__graph_make(&made, NULL);
    if (graph == NULL) {
        mw__fail(err, MW_ERROR_MEMORY, "no memory for a copy of the function");
        return NULL;
    }
    graph->arena.block_size = function->graph->arena.block_size;
    specializer s = {.function = function, .given = given};
    if (copy_function(&s, graph, prune, err) == MW_OK && mw_graph_check(graph, err) == MW_OK)
        return graph;
    mw__graph_free(graph);
    return NULL;
}

/* ---- public ---- */

/* Default shapes, then those that are asked for. */
static mw_status settle_shapes(const mw__function *function, const mw_input_shape *shapes, size_t count,
                               mw__given *given, mw_shape *settled, mw_error *err)
{
    const mw__block *body = function->body;
    for (size_t i = 0; i < count; i++) {
        mw_tensor *input;
        MW_TRY(mw__fed_input(function, "specialize", shapes[i].input, &input, err));
        MW_TRY(mw__admitted_check(function, input, shapes[i].shape, err));
        for (size_t k = 0; k < i; k++)
            if (strcmp(shapes[k].input, shapes[i].input) == 0)
                return mw__fail(err, MW_ERROR_ARGUMENT, "specialize: input \"%.96s\" is named twice", input->name);
    }
    for (size_t i = 0; i < body->input_count; i++) {
        const mw_tensor *input = body->inputs[i];
        if (!mw__is_fed(input))
            continue;
        mw_admitted_shapes admitted;
        MW_TRY(mw__admitted_read(function, input, &admitted, err));
        bool found = admitted.has_standard;
        given[i].shape = admitted.standard;
        for (size_t k = 0; k < count && input->name != NULL; k++)
            if (strcmp(shapes[k].input, input->name) == 0) {
                given[i].shape = shapes[k].shape;
                found = true;
            }
        char text[200];
        if (!found)
            return mw__fail(err, MW_ERROR_SHAPE, "specialize: input \"%.96s\" is %s and has no default: give its shape",
                            mw_tensor_name(input), mw__shape_print(input->type->shape, text, sizeof text));
        settled[i] = given[i].shape;
    }
    return mw__admitted_check_together(function, settled, err);
}

/* The first of the inputs that decide. */
static mw_status refuse_deciding(const mw_graph *graph, mw_error *err)
{
    const mw_tensor *deciding[MW__DECIDING_MAX];
    size_t count;
    MW_TRY(mw__find_deciding(mw__graph_main(graph), deciding, &count, err));
    if (count == 0)
        return MW_OK;
    return mw__fail(err, MW_ERROR_UNSUPPORTED,
                    "specialize: the values of input \"%.96s\" decide extents, so that there is no one shape for it",
                    mw_tensor_name(deciding[0]));
}

static mw_graph *specialize(const mw_graph *source, const mw_input_shape *shapes, size_t count, mw_error *err)
{
    const mw__function *function = mw__graph_main(source);
    if (function == NULL) {
        mw__fail(err, MW_ERROR_ARGUMENT, "specialize: there is no function \"main\"; take one by mw_graph_function");
        return NULL;
    }
    const size_t inputs = function->body->input_count;
    mw__given *given = mw__alloc(source->allocator, inputs, sizeof *given, err);
    mw_shape *settled = mw__alloc(source->allocator, inputs, sizeof *settled, err);
    mw_graph *graph = NULL;
    if (given != NULL && settled != NULL && settle_shapes(function, shapes, count, given, settled, err) == MW_OK)
        graph = mw__specialize(source->allocator, function, given, false, err);
    mw__free(source->allocator, settled);
    mw__free(source->allocator, given);
    if (graph == NULL || refuse_deciding(graph, err) == MW_OK)
        return graph;
    mw__graph_free(graph);
    return NULL;
}

mw_graph *mw_graph_specialize(const mw_graph *graph, const mw_input_shape *shapes, size_t count, mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw_error own = {0};
    err = err != NULL ? err : &own;
    if (mw__skips(err))
        return NULL;
    if (graph == NULL || (shapes == NULL && count > 0)) {
        mw__fail(err, MW_ERROR_ARGUMENT, "specialize: %s NULL", graph == NULL ? "the graph is" : "shapes is");
        return NULL;
    }
    if (mw_graph_check(graph, err) != MW_OK)
        return NULL;
    return mw__graph_publish(specialize(graph, shapes, count, err), err);
}

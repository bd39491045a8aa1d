/* The containers: graphs, functions, blocks, values and operations are made here and die with the graph's arena. */
#include "base/memory/alloc.h"
#include "base/memory/checked.h"
#include "base/number/float_mode.h"
#include "base/text/printable.h"
#include "graph/constants/shared_payload.h"
#include "graph/ir/rule.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The graph on which a constructor of this thread last failed, and its error: whoever is given the NULL that came of it
 * knows no graph that could be asked. Only compared and copied; it is forgotten when the graph is destroyed. */
static _Thread_local struct {
    const mw_graph *graph;
    mw_error error;
} last_failure;

/* ---- graphs ---- */

enum { TENSOR_BLOCK = 4096 }; /* some two dozen of them */

mw_graph_options mw_graph_defaults(void)
{
    return (mw_graph_options){.struct_size = sizeof(mw_graph_options), .allocator = NULL, .opset = MW_IOS18};
}

static bool opset_known(mw_opset opset) { return (opset >= MW_IOS15 && opset <= MW_IOS18) || opset == MW_IOS26; }

static mw_status check_options(const mw_graph_options *options, mw_error *err)
{
    if (options->struct_size != sizeof *options)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_graph_create: the options were not made by mw_graph_defaults");
    if (!opset_known(options->opset))
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_graph_create: opset %d is no mw_opset", (int)options->opset);
    return MW_OK;
}

mw_graph *mw__graph_make(const mw_graph_options *options, mw_error *err)
{
    MW__FLOAT_SCOPE;
    const mw_graph_options defaults = mw_graph_defaults();
    if (options == NULL)
        options = &defaults;
    if (check_options(options, err) != MW_OK)
        return NULL;
    const mw_allocator *allocator = mw__allocator_or_default(options->allocator);
    mw_graph *graph = mw__alloc(allocator, 1, sizeof *graph, err);
    if (graph == NULL)
        return NULL;
    graph->allocator = allocator;
    atomic_init(&graph->references, 1);
    mw__arena_init(&graph->arena, allocator);
    mw__arena_init(&graph->tensors, allocator);
    graph->tensors.block_size = TENSOR_BLOCK;
    mw__map_init(&graph->names, allocator);
    mw__map_init(&graph->function_names, allocator);
    mw__map_init(&graph->constants, allocator);
    graph->version_major = 1;
    graph->version_minor = 3;
    graph->style = MW__STYLE_NEW;
    if (mw__function_create(graph, "main", options->opset, err) == NULL) {
        mw__graph_free(graph);
        return NULL;
    }
    return graph;
}

mw_graph *mw__graph_publish(mw_graph *graph, mw_error *err)
{
    if (graph == NULL)
        return NULL;
    if (mw__live_add(graph, MW__LIVE_GRAPH, err) != MW_OK) {
        mw__graph_free(graph);
        return NULL;
    }
    graph->published = true;
    return graph;
}

mw_graph *mw_graph_create(const mw_graph_options *options, mw_error *err)
{
    return mw__skips(err) ? NULL : mw__graph_publish(mw__graph_make(options, err), err);
}

/* ---- the end of a graph ---- */

/* What is left of a graph that users knew, for as long as mw__retire keeps it: constructors meet the graph's error,
 * queries a value without a type. */
static void leave_remains(mw_graph *graph)
{
    static const mw__type none = {.kind = MW__TUPLE};
    for (size_t i = 0; i < graph->value_count; i++)
        *graph->values[i] = (mw_tensor){.graph = graph, .type = &none, .hint = ""};
    mw__arena_retire(&graph->tensors);
    mw_graph remains = {
        .allocator = graph->allocator, .references = 1, .dead = true}; /* without an owner: never released */
    mw__fail(&remains.error, MW_ERROR_STATE, "the graph was destroyed, and its tensors with it");
    *graph = remains;
    mw__retire(graph->allocator, graph, sizeof *graph);
}

static void free_graph(mw_graph *graph, bool was_known)
{
    const mw_allocator *allocator = graph->allocator;
    mw_tensor **values = graph->values;
    if (last_failure.graph == graph)
        last_failure.graph = NULL;
    mw__map_deinit(&graph->names);
    mw__map_deinit(&graph->function_names);
    mw__map_deinit(&graph->constants);
    mw__free(allocator, graph->functions);
    for (size_t i = 0; i < graph->shared_count; i++)
        mw__shared_payload_release(graph->shared_payloads[i]);
    mw__free(allocator, graph->shared_payloads);
    mw__arena_deinit(&graph->arena);
    if (was_known && allocator == mw__allocator_default()) {
        leave_remains(graph);
    } else {
        mw__arena_deinit(&graph->tensors);
        mw__free(allocator, graph);
    }
    mw__free(allocator, values);
}

static void release(mw_graph *graph)
{
    if (atomic_fetch_sub_explicit(&graph->references, 1, memory_order_acq_rel) == 1)
        free_graph(graph, graph->exposed || atomic_load(&graph->dead));
}

void mw__graph_free(mw_graph *graph)
{
    if (graph == NULL || (graph->published && !mw__live_remove(graph, MW__LIVE_GRAPH, __func__)))
        return;
    release(graph);
}

void mw_graph_destroy(mw_graph *graph)
{
    if (graph == NULL || !mw__live_remove(graph, MW__LIVE_GRAPH, __func__))
        return;
    atomic_store(&graph->dead, true);
    release(graph);
}

void mw__graph_hold(const mw_graph *graph)
{
    atomic_fetch_add_explicit(&((mw_graph *)graph)->references, 1, memory_order_relaxed);
}

mw_status mw__graph_drop(const mw_graph *graph, const char *call, mw_status status, mw_error *err)
{
    const bool dead = atomic_load(&graph->dead);
    release((mw_graph *)graph);
    if (!dead)
        return status;
    mw_error_clear(err);
    return mw__fail(err, MW_ERROR_STATE, "%s: a callback destroyed the graph meanwhile", call);
}

mw_status mw_graph_check(const mw_graph *graph, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return err->status;
    if (graph == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "the graph is NULL");
    if (graph->error.status != MW_OK && err != NULL)
        *err = graph->error;
    return graph->error.status;
}

mw_tensor *mw__graph_fail(mw_graph *graph, mw_status status, const char *format, ...)
{
    if (graph == NULL || graph->error.status != MW_OK)
        return NULL;
    char message[sizeof graph->error.message];
    va_list arguments;
    va_start(arguments, format);
    mw__printable_vprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    mw__fail(&graph->error, status, "%s", message);
    mw__graph_note(graph);
    return NULL;
}

void mw__graph_note(const mw_graph *graph)
{
    if (last_failure.graph == graph || graph->error.status == MW_OK)
        return;
    last_failure.graph = graph;
    last_failure.error = graph->error;
}

mw_status mw__fail_null(mw_error *err, const char *format, ...)
{
    if (mw__failed(err))
        return err->status;
    if (last_failure.graph != NULL) {
        if (err != NULL)
            *err = last_failure.error;
        return last_failure.error.status;
    }
    char message[sizeof err->message];
    va_list arguments;
    va_start(arguments, format);
    mw__printable_vprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return mw__fail(err, MW_ERROR_ARGUMENT, "%s", message);
}

mw_tensor *mw__graph_mixed(const mw_tensor *x, mw_graph *graph, const char *operation, const char *argument)
{
    char name[MW__TENSOR_TEXT];
    if (atomic_load(&x->graph->dead))
        return mw__graph_fail(graph, MW_ERROR_STATE, "%s: %s is a tensor of a graph that was destroyed", operation,
                              argument);
    mw__tensor_print(x, name, sizeof name);
    mw__graph_fail(x->graph, MW_ERROR_ARGUMENT, "%s: %s, %s, belongs to another graph", operation, argument, name);
    return mw__graph_fail(graph, MW_ERROR_ARGUMENT, "%s: %s, %s, belongs to another graph", operation, argument, name);
}

/* ---- functions and blocks ---- */

/* The empty "main" that a graph starts with gives way to the first function made explicitly (a parsed program need not
 * have a main). */
static void drop_placeholder(mw_graph *graph)
{
    if (graph->function_count != 1 || graph->value_count != 0 || graph->functions[0]->attribute_count != 0)
        return;
    graph->function_count = 0;
    graph->current = NULL;
    graph->block = NULL;
}

/* Most graphs have one function; from this many on they are found by a map. */
enum { FEW_FUNCTIONS = 16 };

/* Before the function is counted. */
static mw_status note_function(mw_graph *graph, mw__function *function, mw_error *err)
{
    if (graph->function_count < FEW_FUNCTIONS)
        return MW_OK;
    for (size_t i = 0; i < graph->function_count && graph->function_count == FEW_FUNCTIONS; i++)
        MW_TRY(mw__map_set(&graph->function_names, graph->functions[i]->name, graph->functions[i], err));
    return mw__map_set(&graph->function_names, function->name, function, err);
}

mw__function *mw__function_create(mw_graph *graph, const char *name, mw_opset opset, mw_error *err)
{
    if (mw__failed(err))
        return NULL;
    drop_placeholder(graph);
    if (mw__function_find(graph, name) != NULL) {
        mw__fail(err, MW_ERROR_ARGUMENT, "function \"%s\" exists already", name);
        return NULL;
    }
    mw__function *function = mw__arena_alloc(&graph->arena, 1, sizeof *function, err);
    if (function == NULL)
        return NULL;
    function->graph = graph;
    function->opset = opset;
    function->name = mw__arena_string(&graph->arena, name, strlen(name), err);
    if (function->name == NULL)
        return NULL;
    function->body = mw__block_create(function, NULL, err);
    if (function->body == NULL || mw__grow(graph->allocator, &graph->functions, &graph->function_capacity,
                                           graph->function_count + 1, sizeof *graph->functions, err) != MW_OK)
        return NULL;
    graph->functions[graph->function_count] = function;
    if (note_function(graph, function, err) != MW_OK)
        return NULL;
    graph->function_count++;
    if (graph->current == NULL) {
        graph->current = function;
        graph->block = function->body;
    }
    return function;
}

bool mw__graph_given(const mw_graph *graph, const char *call, mw_error *err)
{
    if (graph == NULL)
        mw__fail(err, MW_ERROR_ARGUMENT, "%s: the graph is NULL", call);
    return graph != NULL;
}

const char *mw__graph_string(mw_graph *graph, const char *text)
{
    return mw__arena_string(&graph->arena, text, strlen(text), &graph->error);
}

mw__function *mw__function_find(const mw_graph *graph, const char *name)
{
    if (graph->function_count > FEW_FUNCTIONS)
        return mw__map_get(&graph->function_names, name);
    for (size_t i = 0; i < graph->function_count; i++) {
        if (strcmp(graph->functions[i]->name, name) == 0)
            return graph->functions[i];
    }
    return NULL;
}

mw__function *mw__graph_main(const mw_graph *graph) { return mw__function_find(graph, "main"); }

mw__block *mw__block_create(mw__function *function, mw__op *owner, mw_error *err)
{
    mw__block *block = mw__arena_alloc(&function->graph->arena, 1, sizeof *block, err);
    if (block == NULL)
        return NULL;
    block->function = function;
    block->owner = owner;
    return block;
}

/* Room for one more pointer in an array of the arena; doubling wastes at most as much as the array holds. */
static mw_status grow(mw_graph *graph, void *array, size_t *capacity, size_t count, mw_error *err)
{
    if (count < *capacity)
        return MW_OK;
    size_t wanted;
    if (!mw__mul_size(*capacity, 2, &wanted))
        return mw__fail(err, MW_ERROR_MEMORY, "a block has too many operations");
    if (wanted < 8)
        wanted = 8;
    void **larger = mw__arena_alloc(&graph->arena, wanted, sizeof(void *), err);
    if (larger == NULL)
        return MW_ERROR_MEMORY;
    if (count > 0)
        memcpy(larger, *(void **)array, count * sizeof(void *));
    memcpy(array, &larger, sizeof larger);
    *capacity = wanted;
    return MW_OK;
}

mw_status mw__block_add_input(mw__block *block, mw_tensor *value, mw_error *err)
{
    MW_TRY(grow(block->function->graph, &block->inputs, &block->input_capacity, block->input_count, err));
    block->inputs[block->input_count++] = value;
    return MW_OK;
}

mw_status mw__block_add_op(mw__block *block, mw__op *op, mw_error *err)
{
    MW_TRY(grow(block->function->graph, &block->ops, &block->op_capacity, block->op_count, err));
    block->ops[block->op_count++] = op;
    op->block = block;
    return MW_OK;
}

mw_status mw__block_add_output(mw__block *block, mw_tensor *value, mw_error *err)
{
    MW_TRY(grow(block->function->graph, &block->outputs, &block->output_capacity, block->output_count, err));
    block->outputs[block->output_count++] = value;
    value->is_output = true;
    return MW_OK;
}

/* ---- values and operations ---- */

mw_tensor *mw__value_create_as(mw_graph *graph, const mw__type *type, const char *hint, mw_error *err)
{
    if (graph->value_count >= UINT32_MAX) {
        mw__fail(err, MW_ERROR_UNSUPPORTED, "a graph holds at most 2^32 values");
        return NULL;
    }
    mw_tensor *value = mw__arena_alloc(&graph->tensors, 1, sizeof *value, err);
    if (value == NULL || mw__grow(graph->allocator, &graph->values, &graph->value_capacity, graph->value_count + 1,
                                  sizeof(mw_tensor *), err) != MW_OK)
        return NULL;
    value->graph = graph;
    value->id = (uint32_t)graph->value_count;
    value->type = type;
    value->hint = hint;
    graph->values[graph->value_count++] = value;
    return value;
}

mw_tensor *mw__value_create(mw_graph *graph, const mw__type *type, const char *hint, mw_error *err)
{
    if (hint == NULL || hint[0] == '\0')
        return mw__value_create_as(graph, type, "value", err);
    const char *copy = mw__arena_string(&graph->arena, hint, strlen(hint), err);
    return copy != NULL ? mw__value_create_as(graph, type, copy, err) : NULL;
}

mw__op *mw__op_create(mw_graph *graph, const mw__row *row, const char *kind, size_t slot_count, mw_error *err)
{
    mw__op *op = mw__arena_alloc(&graph->arena, 1, sizeof *op, err);
    if (op == NULL)
        return NULL;
    op->row = row;
    op->kind = row != NULL ? row->name : mw__arena_string(&graph->arena, kind, strlen(kind), err);
    op->block = graph->block;
    op->stage = graph->stage;
    op->slot_count = row != NULL ? row->arg_count : slot_count;
    if (op->slot_count > 0)
        op->slots = mw__arena_alloc(&graph->arena, op->slot_count, sizeof *op->slots, err);
    if (op->kind == NULL || (op->slot_count > 0 && op->slots == NULL))
        return NULL;
    for (size_t i = 0; row != NULL && i < row->arg_count; i++)
        op->slots[i].name = row->args[i].name;
    return op;
}

mw_status mw__op_add_results(mw__op *op, const mw__infer *infer, mw_error *err)
{
    mw_graph *graph = op->block->function->graph;
    op->results = mw__arena_alloc(&graph->arena, infer->result_count, sizeof(mw_tensor *), err);
    if (op->results == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < infer->result_count; i++) {
        const mw__type *type =
            infer->type[i] != NULL ? infer->type[i] : mw__type_tensor(graph, infer->dtype[i], infer->shape[i], err);
        mw_tensor *value = type != NULL ? mw__value_create_as(graph, type, op->kind, err) : NULL;
        if (value == NULL)
            return mw__failed(err) ? err->status : MW_ERROR_MEMORY;
        value->op = op;
        value->result = (uint32_t)i;
        op->results[op->result_count++] = value;
    }
    return MW_OK;
}

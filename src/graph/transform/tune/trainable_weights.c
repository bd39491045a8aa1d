/* The weights of a program: which there are, what uses them, and what keeps one from being trained. */
#include "base/number/float_mode.h"
#include "base/number/types.h"
#include "graph/ir/rule.h"
#include "graph/transform/tune/trainable.h"

#include <string.h>

/* ---- what stands in the way ---- */

static bool is_constexpr(const char *kind) { return strncmp(kind, "constexpr_", 10) == 0; }

/* True if the expansion of an operation takes a computed tensor there: that is what expansions are for, but for
 * single numbers. */
static bool may_be_computed(const mw__op *op, size_t slot)
{
    const mw__arg_row *arg = &op->row->args[slot];
    const bool number = strcmp(arg->name, "epsilon") == 0 || strcmp(arg->name, "clip") == 0;
    return arg->kind != MW__CONST || (op->row->expand != NULL && !number);
}

static const char *use_obstacle(const mw__use *use)
{
    if (is_constexpr(use->op->kind))
        return "it is part of a compressed weight, which can be trained as a whole";
    if (use->op->row == NULL)
        return "the operation is not in the table and has no gradient";
    if (!may_be_computed(use->op, use->slot))
        return "the operation takes nothing but a constant there";
    return NULL;
}

static bool is_read(const mw__payload *payload) { return payload->data != NULL || payload->strings != NULL; }

/* A compressed weight is expanded where it is trained, and stays compressed beside an adapter. */
static const char *compressed_obstacle(const mw__op *op)
{
    if (op->row == NULL)
        return "it is compressed by an operation that is not known here";
    for (size_t i = 0; i < op->slot_count; i++)
        if (op->slots[i].count == 1 && op->slots[i].operands[0].value->payload != NULL &&
            !is_read(op->slots[i].operands[0].value->payload))
            return "its weight file was not read";
    return NULL;
}

const char *mw__tune_value_obstacle(const mw_tensor *value)
{
    if (value->op != NULL && is_constexpr(value->op->kind))
        return compressed_obstacle(value->op);
    if (value->role == MW__VALUE && value->payload->data == NULL)
        return "its weight file was not read";
    return NULL;
}

static void find_obstacle(mw__tune_item *item, const mw__use *uses, const mw__tune_role *role)
{
    const mw__use *shown = uses;
    item->weight.obstacle = mw__tune_value_obstacle(item->value);
    for (const mw__use *use = uses; use != NULL && item->weight.obstacle == NULL; use = use->next) {
        item->weight.obstacle = use_obstacle(use);
        if (item->weight.obstacle != NULL)
            shown = use;
    }
    if (item->weight.obstacle == NULL)
        shown = role->use;
    item->weight.operation = shown != NULL ? shown->op->kind : "";
    item->weight.argument = shown != NULL ? shown->op->slots[shown->slot].name : "";
}

/* ---- collecting ---- */

static bool is_weight(const mw_tensor *value)
{
    if (value->name == NULL || value->name[0] == '\0' || !mw__number_dtype_is_float(mw_tensor_dtype(value)))
        return false;
    return value->role == MW__PARAMETER || (value->role == MW__VALUE && mw__is_constant(value));
}

/* Blocks beside one another may use a name twice, which files and trainers could not tell apart. */
static void refuse_repeated(mw__tune_item *item, const mw__map *nested)
{
    const mw_tensor *value = item->value;
    if (!mw__tune_is_nested(value) ||
        (mw__map_get(nested, value->name) == value && mw_graph_find(value->graph, value->name) == NULL))
        return;
    item->weight.role = MW_WEIGHT_NONE;
    item->weight.role_name = mw__tune_role_name(MW_WEIGHT_NONE);
    item->weight.obstacle = item->weight.reason = "another constant has its name";
}

static void add_item(mw__tune_items *items, const mw_tensor *value, const mw__map *nested)
{
    if (!is_weight(value))
        return;
    mw__tune_item *item = &items->items[items->count++];
    item->value = value;
    item->weight = (mw_weight){.name = value->name,
                               .dtype = mw_tensor_dtype(value),
                               .shape = mw_tensor_shape(value),
                               .is_parameter = value->role == MW__PARAMETER};
    if (!mw__type_bytes(value->type, &item->weight.size))
        item->weight.size = 0;
    const mw__tune_role role = mw__tune_find_role(value, items->uses);
    item->weight.role = role.role;
    item->weight.role_name = mw__tune_role_name(role.role);
    item->weight.reason = role.reason;
    find_obstacle(item, items->uses[value->id], &role);
    refuse_repeated(item, nested);
}

static size_t count_values(const mw__block *body)
{
    size_t count = body->input_count;
    for (size_t i = 0; i < body->op_count; i++) {
        count += body->ops[i]->result_count;
        for (size_t k = 0; k < body->ops[i]->block_count; k++)
            count += count_values(body->ops[i]->blocks[k]);
    }
    return count;
}

bool mw__tune_is_nested(const mw_tensor *value) { return value->op != NULL && value->op->block->owner != NULL; }

/* Name -> the constant of a block that has it; of several, the operation around one of them. */
static mw_status note_nested(const mw__block *block, mw__map *nested, mw_error *err)
{
    for (size_t i = 0; i < block->op_count; i++) {
        const mw__op *op = block->ops[i];
        for (size_t k = 0; block->owner != NULL && k < op->result_count; k++) {
            mw_tensor *value = op->results[k];
            if (!is_weight(value))
                continue;
            void *found = mw__map_get(nested, value->name) == NULL ? (void *)value : (void *)block->owner;
            MW_TRY(mw__map_set(nested, value->name, found, err));
        }
        for (size_t k = 0; k < op->block_count; k++)
            MW_TRY(note_nested(op->blocks[k], nested, err));
    }
    return MW_OK;
}

static void add_items(mw__tune_items *items, const mw__block *block, const mw__map *nested)
{
    for (size_t i = 0; i < block->op_count; i++) {
        const mw__op *op = block->ops[i];
        for (size_t k = 0; k < op->result_count; k++)
            add_item(items, op->results[k], nested);
        for (size_t k = 0; k < op->block_count; k++)
            add_items(items, op->blocks[k], nested);
    }
}

mw_status mw__tune_collect(mw__arena *arena, const mw_graph *graph, mw__tune_items *out, mw_error *err)
{
    *out = (mw__tune_items){0};
    if (graph == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "the graph whose weights are wanted is NULL");
    MW_TRY(mw_graph_check(graph, err));
    const mw__function *function = mw__graph_main(graph);
    if (function == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "the program has no function \"main\"");
    const mw__block *body = function->body;
    out->items = mw__arena_alloc(arena, count_values(body), sizeof *out->items, err);
    out->uses = mw__uses_make(arena, function, err);
    if (out->items == NULL || out->uses == NULL)
        return MW_ERROR_MEMORY;
    mw__map nested;
    mw__map_init(&nested, graph->allocator);
    const mw_status status = note_nested(body, &nested, err);
    for (size_t i = 0; status == MW_OK && i < body->input_count; i++)
        add_item(out, body->inputs[i], &nested);
    if (status == MW_OK)
        add_items(out, body, &nested);
    mw__map_deinit(&nested);
    return status == MW_OK ? mw__tune_find_layers(arena, function, out, err) : status;
}

/* ---- listing ---- */

const char *mw__tune_role_name(mw_weight_role role)
{
    static const char *const names[] = {"none",  "kernel",    "bias",      "norm", "table",
                                        "slope", "statistic", "parameter", "scale"};
    return (size_t)role < sizeof names / sizeof *names ? names[role] : "none";
}

/* Larger ones first, equal ones as in the text. */
static bool comes_before(const mw__tune_item *a, const mw__tune_item *b)
{
    return a->weight.size != b->weight.size ? a->weight.size > b->weight.size : a->value->id < b->value->id;
}

/* Shell's sort: qsort may allocate behind the allocator's back. */
void mw__tune_sort(const mw__tune_items *list)
{
    mw__tune_item *items = list->items;
    const size_t count = list->count;
    for (size_t gap = count / 2; gap > 0; gap /= 2) {
        for (size_t i = gap; i < count; i++) {
            const mw__tune_item moved = items[i];
            size_t at = i;
            for (; at >= gap && comes_before(&moved, &items[at - gap]); at -= gap)
                items[at] = items[at - gap];
            items[at] = moved;
        }
    }
}

mw_status mw_graph_weights(const mw_graph *graph, mw_weight *out_weights, size_t capacity, size_t *out_count,
                           mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (out_count != NULL)
        *out_count = 0;
    if (mw__skips(err))
        return err->status;
    if (graph == NULL || (out_weights == NULL && capacity > 0))
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s NULL", graph == NULL ? "the graph is" : "out_weights is");
    mw__arena arena;
    mw__tune_items items;
    mw__arena_init(&arena, graph->allocator);
    const mw_status status = mw__tune_collect(&arena, graph, &items, err);
    if (status == MW_OK) {
        mw__tune_sort(&items);
        for (size_t i = 0; i < items.count && i < capacity; i++)
            out_weights[i] = items.items[i].weight;
        if (out_count != NULL)
            *out_count = items.count;
    }
    mw__arena_deinit(&arena);
    return status;
}

static const mw__block *main_body(const mw_graph *graph)
{
    const mw__function *function = graph != NULL ? mw__graph_main(graph) : NULL;
    return function != NULL ? function->body : NULL;
}

mw_tensor *mw_graph_input_at(const mw_graph *graph, size_t index)
{
    const mw__block *body = main_body(graph);
    for (size_t i = 0; body != NULL && i < body->input_count; i++)
        if (!mw__is_resident(body->inputs[i]) && index-- == 0)
            return body->inputs[i];
    return NULL;
}

mw_tensor *mw_graph_output_at(const mw_graph *graph, size_t index)
{
    const mw__block *body = main_body(graph);
    return body != NULL && index < body->output_count ? body->outputs[index] : NULL;
}

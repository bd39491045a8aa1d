/* Walks the nodes of a model in their order, and builds the graph. Operators are elsewhere (op_<family>.c). */
#include "format/onnx/read/import.h"
#include "base/text/name.h"
#include "format/onnx/read/store.h"
#include "graph/constants/shared_payload.h"
#include "graph/ir/ir.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

mw_status mw__onnx_charge(mw__onnx_import *import, uint64_t count, size_t size)
{
    if (size > 0 && count > import->room / size)
        return mw__fail(import->err, MW_ERROR_UNSUPPORTED,
                        "\"%.200s\": what its nodes are made of takes much more memory than the file",
                        import->source.path);
    import->room -= (size_t)count * size;
    return MW_OK;
}

/* ---- values ---- */

mw__onnx_value *mw__onnx_find(const mw__onnx_import *import, const char *name)
{
    for (const mw__onnx_scope *scope = import->scope; scope != NULL; scope = scope->outer) {
        mw__onnx_value *found = mw__map_get(&scope->values, name);
        if (found != NULL)
            return found;
    }
    return NULL;
}

bool mw__onnx_is_whole_graph(const mw__onnx_import *import)
{
    return import->depth == 0 && import->blocks == 0 && import->frame == NULL;
}

mw_status mw__onnx_check_read(const mw__onnx_import *import, const mw__onnx_value *value)
{
    mw__onnx_literal literal;
    if (value->unread == NULL)
        return MW_OK;
    if (value->unread_why != NULL)
        return mw__fail(import->err, MW_ERROR_UNSUPPORTED, "\"%s\": tensor \"%s\" %s", import->source.path, value->name,
                        value->unread_why);
    return mw__onnx_literal_read(&import->source, value->unread, &literal, import->err);
}

mw_status mw__onnx_define(mw__onnx_import *import, const mw__onnx_value *value)
{
    if (mw__map_get(&import->scope->values, value->name) != NULL)
        return mw__fail(import->err, MW_ERROR_FORMAT, "\"%s\": two values have the name \"%s\"", import->source.path,
                        value->name);
    mw__onnx_value *copy = mw__arena_alloc(&import->arena, 1, sizeof *copy, import->err);
    if (copy == NULL)
        return MW_ERROR_MEMORY;
    *copy = *value;
    return mw__map_set(&import->scope->values, copy->name, copy, import->err);
}

/* An integer of a file as int32; false if it does not fit. The limits of int64 stand for "to the end". */
static bool narrow(int64_t value, int32_t *out)
{
    const bool limit = value >= INT64_MAX - 1 || value <= INT64_MIN + 1;
    if (!limit && (value > INT32_MAX || value < INT32_MIN))
        return false;
    *out = value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : (int32_t)value;
    return true;
}

static mw_status convert_element(mw__onnx_import *import, const mw__onnx_value *value, size_t index, void *out)
{
    const mw__onnx_literal *literal = value->literal;
    if (literal->type == MW__ONNX_DOUBLE) {
        const float single = (float)mw__onnx_literal_float(literal, index);
        memcpy(out, &single, sizeof single);
        return MW_OK;
    }
    int32_t number;
    const int64_t wide = mw__onnx_literal_int(literal, index);
    if (!narrow(wide, &number))
        return mw__fail(import->err, MW_ERROR_UNSUPPORTED, "\"%s\": element %zu of \"%s\" is %lld: no int32",
                        import->source.path, index, value->name, (long long)wide);
    memcpy(out, &number, sizeof number);
    return MW_OK;
}

/* Straight into the graph. */
static mw_tensor *emit_converted(mw__onnx_import *import, const mw__onnx_value *value)
{
    const mw__onnx_literal *literal = value->literal;
    const mw_dtype dtype = mw__onnx_dtype(literal->type);
    const size_t size = (size_t)mw_dtype_bits(dtype) / 8;
    mw_error *err = &import->graph->error;
    void *room;
    if (err->status != MW_OK)
        return NULL;
    const mw__payload *payload = mw__payload_blank(import->graph, dtype, literal->shape, &room, err);
    uint8_t *data = room;
    mw_status status = payload != NULL ? MW_OK : MW_ERROR_MEMORY;
    for (size_t i = 0; status == MW_OK && i < literal->count; i++) {
        if (dtype == MW_BOOL)
            data[i] = mw__onnx_literal_int(literal, i) != 0;
        else
            status = convert_element(import, value, i, data + i * size);
    }
    return status == MW_OK ? mw__payload_emit(import->graph, payload, "const", err) : NULL;
}

static mw_tensor *emit_literal(mw__onnx_import *import, const mw__onnx_value *value)
{
    const mw__onnx_literal *literal = value->literal;
    if (!mw__onnx_is_whole_graph(import) && /* the same may come many times */
        mw__onnx_charge(import, literal->count, mw__onnx_type_size(literal->type)) != MW_OK)
        return NULL;
    if (literal->shared != NULL && mw__onnx_is_plain(literal->type) &&
        mw__shared_payload_is_of(literal->shared, import->graph->allocator))
        return mw__constant_of_shared_payload(import->graph, mw__onnx_dtype(literal->type), literal->shape,
                                              literal->shared, literal->data, literal->entry);
    return mw__onnx_is_plain(literal->type)
               ? mw_constant(import->graph, mw__onnx_dtype(literal->type), literal->shape, literal->data)
               : emit_converted(import, value);
}

/* True if the name is that of an input, weight or output of the model, some of which are named later. */
static bool is_of_whole_graph(const mw__onnx_import *import, const char *name)
{
    return mw__map_get(&import->whole.values, name) != NULL || mw__map_get(&import->results, name) != NULL;
}

/* Weights of two bodies may have one name: the second gets a number. */
static mw_tensor *name_weight(mw__onnx_import *import, mw_tensor *made, const mw__onnx_value *value)
{
    char name[MW_NAME_MAX + 1];
    if (!value->local && mw_graph_find(import->graph, value->name) == NULL)
        return mw_name(made, value->name);
    bool taken = mw_graph_find(import->graph, value->name) != NULL || is_of_whole_graph(import, value->name);
    int length = snprintf(name, sizeof name, "%s", value->name);
    while (taken && length <= MW_NAME_MAX) {
        length = snprintf(name, sizeof name, "%s_%zu", value->name, ++import->renamed);
        taken = mw_graph_find(import->graph, name) != NULL || is_of_whole_graph(import, name);
    }
    return length <= MW_NAME_MAX && mw__name_check("weight", name, NULL) == MW_OK ? mw_name(made, name) : made;
}

static mw_tensor *emit_weight(mw__onnx_import *import, const mw__onnx_value *value)
{
    mw_graph *graph = import->graph;
    mw__block *inside = graph->block;
    char key[32];
    snprintf(key, sizeof key, "%p", (const void *)value->source);
    mw_tensor *made = value->source != NULL ? mw__map_get(&import->weights, key) : NULL;
    if (made != NULL)
        return made;
    graph->block = graph->current->body;
    made = emit_literal(import, value);
    graph->block = inside;
    made = made != NULL ? name_weight(import, made, value) : NULL;
    if (made == NULL || value->source == NULL)
        return made;
    return mw__map_set(&import->weights, key, made, import->err) == MW_OK ? made : NULL;
}

mw_tensor *mw__onnx_emit(mw__onnx_import *import, mw__onnx_value *value)
{
    if (value->tensor != NULL || value->literal == NULL)
        return value->tensor;
    mw_tensor *made = value->weight ? emit_weight(import, value) : emit_literal(import, value);
    if (import->blocks == 0 || value->weight) /* what else a block makes is seen in it alone */
        value->tensor = made;
    return made;
}

mw_status mw__onnx_resolve_weight(mw__onnx_import *import, mw__onnx_value *value)
{
    const bool settles = value->weight && value->source != NULL && mw__onnx_is_float(value->type);
    if (settles && mw__onnx_emit(import, value) == NULL)
        return mw__failed(import->err) ? import->err->status : mw_graph_check(import->graph, import->err);
    value->weight = false;
    return MW_OK;
}

/* ---- what is not supported ---- */

static const char *shown_node(const Mw__Onnx__Node *node)
{
    return node->name[0] != '\0' ? node->name : node->n_output > 0 ? node->output[0] : "";
}

static void note_problem(mw__onnx_import *import, const char *node, const char *operation, const char *reason)
{
    const mw_format_problem problem = {node, operation, import->opset, reason};
    const size_t used = strlen(import->problem);
    if (import->problems < 4)
        snprintf(import->problem + used, sizeof import->problem - used, "%s%.40s \"%.60s\": %.120s",
                 used > 0 ? "; " : "", operation, node, reason);
    import->problems += 1;
    if (import->options->report != NULL)
        import->options->report(import->options->report_user, &problem);
}

static void note_node(mw__onnx_import *import, const Mw__Onnx__Node *node, const char *reason)
{
    char operation[160];
    const bool foreign = node->domain[0] != '\0' && strcmp(node->domain, "ai.onnx") != 0;
    snprintf(operation, sizeof operation, "%.70s%s%.70s", foreign ? node->domain : "", foreign ? "." : "",
             node->op_type);
    note_problem(import, shown_node(node), operation, reason);
}

mw_status mw__onnx_refuse(mw__onnx_node *node, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(node->reason, sizeof node->reason, format, list);
    va_end(list);
    return MW_ERROR_UNSUPPORTED;
}

mw_status mw__onnx_check_problems(const mw__onnx_import *import)
{
    if (import->problems == 0)
        return MW_OK;
    return mw__fail(import->err, MW_ERROR_UNSUPPORTED, "\"%.60s\": %zu nodes are not supported: %s%s",
                    import->source.path, import->problems, import->problem, import->problems > 4 ? "; .." : "");
}

/* ---- one node ---- */

/* True if `word` is one of the words of `list`, which are separated by single spaces. */
static bool has_word(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = list; length > 0 && (at = strstr(at, word)) != NULL; at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

static mw_status find_row(mw__onnx_node *node)
{
    const Mw__Onnx__Node *proto = node->proto;
    const mw__onnx_row *other;
    if (proto->domain[0] != '\0' && strcmp(proto->domain, "ai.onnx") != 0)
        return mw__onnx_refuse(node, "operators of the domain \"%.60s\" are not known", proto->domain);
    node->row = mw__onnx_row_find(proto->op_type, node->opset, &other);
    if (node->row == NULL && other != NULL)
        return mw__onnx_refuse(node, "it is known of the operator sets %d to %d only", other->since, other->until);
    if (node->row == NULL)
        return mw__onnx_refuse(node, "the operator is not known");
    for (size_t i = 0; i < proto->n_attribute; i++) {
        const Mw__Onnx__Attribute *attribute = proto->attribute[i];
        const bool strange = attribute->reference[0] != '\0' && node->import->frame == NULL;
        if (strange || !has_word(node->row->attributes, attribute->name))
            return mw__onnx_refuse(node, "the attribute \"%.60s\" is not known", attribute->name);
    }
    return MW_OK;
}

/* How many names there are without empty ones at the end. */
static size_t count_names(char *const *names, size_t count)
{
    while (count > 0 && names[count - 1][0] == '\0')
        count--;
    return count;
}

/* Finds the inputs. *out_behind is true if one is behind a node that is not supported. */
static mw_status find_inputs(mw__onnx_node *node, bool *out_behind)
{
    mw__onnx_import *import = node->import;
    *out_behind = false;
    for (size_t i = 0; i < node->in_count; i++) {
        const char *name = node->proto->input[i];
        node->in[i] = name[0] != '\0' ? mw__onnx_find(import, name) : NULL;
        if (name[0] != '\0' && node->in[i] == NULL)
            return mw__fail(import->err, MW_ERROR_FORMAT,
                            "\"%s\": %s \"%s\" takes \"%s\", which no node gives, or only one of a cycle",
                            import->source.path, node->proto->op_type, shown_node(node->proto), name);
        if (node->in[i] != NULL && node->in[i]->absent)
            node->in[i] = NULL;
        if (node->in[i] != NULL)
            MW_TRY(mw__onnx_check_read(import, node->in[i]));
        *out_behind = *out_behind || (node->in[i] != NULL && node->in[i]->type == 0);
    }
    return MW_OK;
}

static mw_status check_inputs(mw__onnx_node *node)
{
    if (node->in_count < node->row->inputs)
        return mw__onnx_refuse(node, "%zu inputs, at least %zu belong", node->in_count, node->row->inputs);
    for (size_t i = 0; i < node->row->inputs; i++)
        if (node->in[i] == NULL)
            return mw__onnx_refuse(node, "input %zu is left out", i);
    return MW_OK;
}

/* Small integers that follow from what is known become literals, so that shapes may be made of them. */
static void fold(mw__onnx_import *import, mw__onnx_value *value)
{
    const bool whole = mw__onnx_is_integer(value->type) || value->type == MW__ONNX_BOOL;
    if (value->literal != NULL || !whole)
        return;
    value->literal = mw__onnx_known(import, value);
    if (value->literal != NULL)
        value->tensor = NULL; /* a constant of its own instead, if it is used as a tensor at all */
}

static mw_status define_results(mw__onnx_node *node)
{
    for (size_t i = 0; i < node->proto->n_output; i++) {
        mw__onnx_value *value = &node->out[i];
        value->name = node->proto->output[i];
        if (value->name[0] == '\0')
            continue;
        fold(node->import, value);
        MW_TRY(mw__onnx_define(node->import, value));
    }
    return MW_OK;
}

/* Carries the node out. A failure of a constructor is one of the node: the graph keeps it, and nothing can follow. */
static mw_status read_known(mw__onnx_node *node, const Mw__Onnx__Function *function)
{
    mw__onnx_import *import = node->import;
    const size_t from = node->graph->block->op_count;
    mw_status status = function == NULL ? check_inputs(node) : MW_OK;
    if (status == MW_OK)
        status = function == NULL ? node->row->read(node) : mw__onnx_call(node, function);
    if (status == MW_OK && node->reason[0] != '\0')
        status = MW_ERROR_UNSUPPORTED;
    if (status == MW_OK && import->graph->error.status == MW_OK) {
        for (size_t i = 0; i < node->out_count; i++)
            if (node->proto->output[i][0] != '\0' && node->out[i].type == 0)
                status = mw__onnx_refuse(node, "its output %zu is not supported", i);
    }
    if (status == MW_OK && function == NULL)
        mw__onnx_name_layer(node, from);
    if (mw__failed(import->err))
        return import->err->status;
    if (import->graph->error.status != MW_OK)
        return mw__fail(import->err, import->graph->error.status, "\"%.100s\": %.60s \"%.100s\": %s",
                        import->source.path, node->proto->op_type, shown_node(node->proto),
                        import->graph->error.message);
    return status;
}

/* An operator of the file: results of one that is not supported have type 0, and are not told of again. */
static mw_status read_node(mw__onnx_node *node)
{
    bool behind;
    MW_TRY(find_inputs(node, &behind));
    const Mw__Onnx__Function *function = mw__onnx_find_function(node->import, node->proto);
    mw_status status = function == NULL ? find_row(node) : MW_OK;
    if (status == MW_OK && !behind)
        status = read_known(node, function);
    if (status != MW_OK && node->reason[0] == '\0')
        return status;
    if (status != MW_OK || behind)
        for (size_t i = 0; i < node->proto->n_output; i++)
            node->out[i] = (mw__onnx_value){0};
    if (status != MW_OK)
        note_node(node->import, node->proto, node->reason);
    return define_results(node);
}

mw_status mw__onnx_import_node(mw__onnx_import *import, const Mw__Onnx__Node *proto)
{
    mw__onnx_node node = {.import = import,
                          .graph = import->graph,
                          .proto = proto,
                          .opset = import->opset,
                          .in_count = count_names(proto->input, proto->n_input),
                          .out_count = count_names(proto->output, proto->n_output)};
    if (++import->steps > MW__ONNX_STEPS_MAX)
        return mw__fail(import->err, MW_ERROR_UNSUPPORTED, "\"%s\": more than %d nodes, with those of loops",
                        import->source.path, MW__ONNX_STEPS_MAX);
    const mw_allocator *allocator = import->arena.allocator;
    node.in = mw__alloc(allocator, node.in_count + 1, sizeof *node.in, import->err);
    node.out = mw__alloc(allocator, proto->n_output + 1, sizeof *node.out, import->err);
    const mw_status status = node.in != NULL && node.out != NULL ? read_node(&node) : MW_ERROR_MEMORY;
    mw__free(allocator, node.in);
    mw__free(allocator, node.out);
    return status;
}

/* ---- initializers ---- */

/* Types that no graph has are an error of those who use them. */
static bool is_readable(const Mw__Onnx__Tensor *tensor)
{
    return mw__onnx_dtype(tensor->data_type) != MW_DTYPE_NONE && tensor->n_dims <= MW_RANK_MAX;
}

const mw__onnx_literal *mw__onnx_literal_of(mw__onnx_import *import, const Mw__Onnx__Tensor *tensor)
{
    const mw__onnx_literal *kept = mw__onnx_store_find(import->store, tensor);
    if (kept != NULL)
        return kept;
    mw__onnx_literal *made = mw__arena_alloc(&import->arena, 1, sizeof *made, import->err);
    const bool good = made != NULL && mw__onnx_literal_read(&import->source, tensor, made, import->err) == MW_OK;
    return good ? made : NULL;
}

static mw_status import_initializer(mw__onnx_import *import, const Mw__Onnx__Tensor *tensor)
{
    if (!is_readable(tensor)) {
        const mw__onnx_value unread = {.name = tensor->name, .unread = tensor};
        return mw__onnx_define(import, &unread);
    }
    const mw__onnx_literal *literal = mw__onnx_literal_of(import, tensor);
    if (literal == NULL)
        return import->err->status;
    const size_t size = mw__onnx_type_size(tensor->data_type);
    if (import->depth > 0)
        MW_TRY(mw__onnx_charge(import, literal->count, size));
    else if (import->room < SIZE_MAX / 2) /* what lies in other files counts as what lies in this one */
        import->room += MW__ONNX_BUDGET * literal->count * size;
    const mw__onnx_value value = {.name = tensor->name,
                                  .type = tensor->data_type,
                                  .shape = literal->shape,
                                  .literal = literal,
                                  .weight = import->depth == 0 || mw__onnx_is_float(literal->type),
                                  .local = import->depth > 0,
                                  .source = tensor};
    return mw__onnx_define(import, &value);
}

mw_status mw__onnx_import_initializers(mw__onnx_import *import, const Mw__Onnx__Graph *graph)
{
    for (size_t i = 0; i < graph->n_initializer; i++)
        MW_TRY(import_initializer(import, graph->initializer[i]));
    for (size_t i = 0; i < graph->n_sparse_initializer; i++) {
        const Mw__Onnx__Tensor *values = graph->sparse_initializer[i]->values;
        if (values == NULL)
            return mw__fail(import->err, MW_ERROR_FORMAT, "\"%s\": a sparse initializer has no values",
                            import->source.path);
        const mw__onnx_value unread = {
            .name = values->name, .unread = values, .unread_why = "is sparse: not supported"};
        MW_TRY(mw__onnx_define(import, &unread));
    }
    return MW_OK;
}

/* ---- bodies ---- */

static mw_status import_body(mw__onnx_import *import, const Mw__Onnx__Graph *graph, const mw__onnx_value *const *inputs,
                             const mw__onnx_value **out_outputs)
{
    for (size_t i = 0; i < graph->n_input; i++) {
        mw__onnx_value value = *inputs[i];
        MW_TRY(mw__onnx_resolve_weight(import, &value));
        value.name = graph->input[i]->name;
        MW_TRY(mw__onnx_define(import, &value));
    }
    MW_TRY(mw__onnx_import_initializers(import, graph));
    MW_TRY(mw__onnx_import_nodes(import, graph->node, graph->n_node));
    for (size_t i = 0; i < graph->n_output; i++) {
        out_outputs[i] = mw__onnx_find(import, graph->output[i]->name);
        if (out_outputs[i] == NULL)
            return mw__fail(import->err, MW_ERROR_FORMAT, "\"%s\": nothing gives the output \"%s\" of a body",
                            import->source.path, graph->output[i]->name);
        MW_TRY(mw__onnx_check_read(import, out_outputs[i]));
    }
    return MW_OK;
}

mw_status mw__onnx_import_body(mw__onnx_import *import, const Mw__Onnx__Graph *graph,
                               const mw__onnx_value *const *inputs, size_t input_count,
                               const mw__onnx_value **out_outputs)
{
    if (input_count != graph->n_input)
        return mw__fail(import->err, MW_ERROR_FORMAT, "\"%s\": a body has %zu inputs where %zu belong",
                        import->source.path, graph->n_input, input_count);
    if (import->depth == MW__ONNX_DEPTH_MAX)
        return mw__fail(import->err, MW_ERROR_UNSUPPORTED, "\"%s\": graphs are nested deeper than %d",
                        import->source.path, MW__ONNX_DEPTH_MAX);
    mw__onnx_scope inner = {.outer = import->scope};
    mw__map_init(&inner.values, import->arena.allocator);
    import->scope = &inner;
    import->depth++;
    const mw_status status = import_body(import, graph, inputs, out_outputs);
    import->depth--;
    import->scope = (mw__onnx_scope *)inner.outer;
    mw__map_deinit(&inner.values);
    return status;
}

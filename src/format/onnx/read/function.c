/* Functions of a model: a call becomes the nodes of the function. */
#include "format/onnx/read/import.h"

#include <string.h>

/* ---- by name ---- */

static char *key_of(const mw__onnx_import *import, const char *domain, const char *name, const char *overload)
{
    const char *const parts[] = {domain, name, overload};
    const bool own = strcmp(domain, "ai.onnx") == 0;
    const size_t size = strlen(domain) + strlen(name) + strlen(overload) + 3;
    char *key = mw__alloc(import->arena.allocator, size, 1, import->err), *to = key;
    for (size_t i = 0; key != NULL && i < 3; i++) {
        if (i > 0)
            *to++ = '\n';
        const size_t length = i == 0 && own ? 0 : strlen(parts[i]);
        memcpy(to, parts[i], length);
        to += length;
    }
    return key;
}

mw_status mw__onnx_note_functions(mw__onnx_import *import, const Mw__Onnx__Model *model)
{
    for (size_t i = 0; i < model->n_functions; i++) {
        const Mw__Onnx__Function *function = model->functions[i];
        char *key = key_of(import, function->domain, function->name, function->overload);
        if (key == NULL)
            return MW_ERROR_MEMORY;
        const mw_status status = mw__map_set(&import->functions, key, (void *)(uintptr_t)function, import->err);
        mw__free(import->arena.allocator, key);
        MW_TRY(status);
    }
    return MW_OK;
}

const Mw__Onnx__Function *mw__onnx_find_function(const mw__onnx_import *import, const Mw__Onnx__Node *proto)
{
    if (mw__map_count(&import->functions) == 0)
        return NULL;
    char *key = key_of(import, proto->domain, proto->op_type, proto->overload);
    const Mw__Onnx__Function *found = key != NULL ? mw__map_get(&import->functions, key) : NULL;
    mw__free(import->arena.allocator, key);
    return found;
}

/* ---- a call ---- */

static int64_t opset_of(const Mw__Onnx__Function *function, int64_t otherwise)
{
    for (size_t i = 0; i < function->n_opset_import; i++) {
        const char *domain = function->opset_import[i]->domain;
        if (domain[0] == '\0' || strcmp(domain, "ai.onnx") == 0)
            return function->opset_import[i]->version;
    }
    return otherwise;
}

/* The inputs under the names that the function has for them; a weight stays one constant with its name. */
static mw_status define_inputs(mw__onnx_node *node, const Mw__Onnx__Function *function)
{
    MW_TRY(mw__onnx_charge(node->import, function->n_input, 2 * sizeof(mw__onnx_value)));
    for (size_t i = 0; i < function->n_input; i++) {
        mw__onnx_value value = {.absent = true};
        if (mw__onnx_has(node, i))
            value = *node->in[i];
        value.name = function->input[i];
        value.weight = false;
        MW_TRY(mw__onnx_define(node->import, &value));
    }
    return MW_OK;
}

static mw_status emit_weights(mw__onnx_node *node)
{
    for (size_t i = 0; i < node->in_count; i++)
        if (mw__onnx_has(node, i) && node->in[i]->weight && mw__onnx_is_float(node->in[i]->type) &&
            mw__onnx_in(node, i) == NULL)
            return mw__onnx_set(node, 0, 0, NULL);
    return MW_OK;
}

static mw_status take_outputs(mw__onnx_node *node, const Mw__Onnx__Function *function)
{
    for (size_t i = 0; i < node->out_count; i++) {
        const mw__onnx_value *value = mw__onnx_find(node->import, function->output[i]);
        if (value == NULL)
            return mw__fail(node->import->err, MW_ERROR_FORMAT, "\"%s\": nothing gives the output \"%s\" of a function",
                            node->import->source.path, function->output[i]);
        if (value->type == 0 && node->proto->output[i][0] != '\0')
            return mw__onnx_refuse(node, "the function has nodes that are not supported");
        node->out[i] = *value;
        MW_TRY(mw__onnx_resolve_weight(node->import, &node->out[i]));
    }
    return MW_OK;
}

static mw_status read_function(mw__onnx_node *node, const Mw__Onnx__Function *function)
{
    MW_TRY(define_inputs(node, function));
    MW_TRY(mw__onnx_import_nodes(node->import, function->node, function->n_node));
    return take_outputs(node, function);
}

/* A function sees its inputs alone. */
mw_status mw__onnx_call(mw__onnx_node *node, const Mw__Onnx__Function *function)
{
    mw__onnx_import *import = node->import;
    if (node->in_count > function->n_input || node->out_count > function->n_output)
        return mw__onnx_refuse(node, "the function has %zu inputs and %zu results", function->n_input,
                               function->n_output);
    if (import->calls == MW__ONNX_CALLS_MAX)
        return mw__fail(import->err, MW_ERROR_UNSUPPORTED, "\"%s\": functions call each other more than %d deep",
                        import->source.path, MW__ONNX_CALLS_MAX);
    MW_TRY(emit_weights(node));
    const mw__onnx_frame frame = {function, node->proto, import->frame};
    mw__onnx_scope *outer = import->scope, inner = {.outer = NULL};
    const int64_t opset = import->opset;
    mw__map_init(&inner.values, import->arena.allocator);
    import->scope = &inner;
    import->frame = &frame;
    import->opset = opset_of(function, opset);
    import->calls++;
    const mw_status status = read_function(node, function);
    import->calls--;
    import->opset = opset;
    import->frame = frame.outer;
    import->scope = outer;
    mw__map_deinit(&inner.values);
    return status;
}

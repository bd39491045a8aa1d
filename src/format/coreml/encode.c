/* A program as messages: operations, blocks and functions, as they stand in the graph. */
#include "format/coreml/encode.h"
#include <string.h>

/* ---- attributes ---- */

static pb_attribute *encode_attribute(mw__encoder *e, const char *name, const mw__payload *value)
{
    pb_attribute *out = MW__MAKE(e, pb_attribute);
    if (out == NULL)
        return NULL;
    mw__coreml__attribute__init(out);
    out->key = mw__coreml_encode_string(e, name);
    out->value = mw__coreml_encode_value(e, value);
    return out->key != NULL && out->value != NULL ? out : NULL;
}

static const mw__type string_type = {.kind = MW__TENSOR, .dtype = MW_STRING};

/* The operation's name, val of a const, and arguments that are spelled as attributes among the others. */
static bool fill_attributes(mw__encoder *e, const mw__op *op, pb_operation *out)
{
    const char *name = op->name != NULL ? op->name : op->result_count > 0 ? op->results[0]->name : op->kind;
    const mw__payload word = {.type = &string_type, .strings = &name};
    out->attributes = mw__coreml_encode_alloc(e, op->attribute_count + op->slot_count + 2, sizeof *out->attributes);
    if (out->attributes == NULL)
        return false;
    pb_attribute **next = out->attributes;
    if (!op->name_absent && (*next++ = encode_attribute(e, "name", &word)) == NULL)
        return false;
    if (strcmp(op->kind, "const") == 0 && (*next++ = encode_attribute(e, "val", op->results[0]->payload)) == NULL)
        return false;
    for (size_t i = 0; i < op->slot_count; i++)
        if (op->slots[i].attribute && op->slots[i].operands != NULL &&
            (*next++ = encode_attribute(e, op->slots[i].name, op->slots[i].operands[0].value->payload)) == NULL)
            return false;
    for (size_t i = 0; i < op->attribute_count; i++)
        if ((*next++ = encode_attribute(e, op->attributes[i].name, op->attributes[i].value)) == NULL)
            return false;
    out->n_attributes = (size_t)(next - out->attributes);
    return true;
}

/* ---- operations ---- */

static bool fill_block(mw__encoder *e, const mw__block *block, pb_block *out);

static pb_binding *encode_binding(mw__encoder *e, const mw__op *op, const mw__operand *operand)
{
    pb_binding *out = MW__MAKE(e, pb_binding);
    if (out == NULL)
        return NULL;
    mw__coreml__binding__init(out);
    if (operand->value == NULL) {
        mw__fail(e->err, MW_ERROR_UNSUPPORTED, "%s: an argument is a tuple in a tuple, which a package cannot hold",
                 op->kind);
        mw__error_subject(e->err, op->kind, NULL);
        return NULL;
    }
    if (operand->inlined) {
        out->binding_case = MW__COREML__BINDING__BINDING_VALUE;
        out->value = mw__coreml_encode_value(e, operand->value->payload);
        return out->value != NULL ? out : NULL;
    }
    out->binding_case = MW__COREML__BINDING__BINDING_NAME;
    out->name = mw__coreml_encode_string(e, operand->value->name);
    return out->name != NULL ? out : NULL;
}

static pb_named_argument *encode_argument(mw__encoder *e, const mw__op *op, const mw__slot *slot)
{
    pb_named_argument *out = MW__MAKE(e, pb_named_argument);
    pb_argument *argument = MW__MAKE(e, pb_argument);
    if (out == NULL || argument == NULL)
        return NULL;
    mw__coreml__named_argument__init(out);
    mw__coreml__argument__init(argument);
    out->key = mw__coreml_encode_string(e, slot->name);
    out->value = argument;
    argument->bindings = mw__coreml_encode_alloc(e, slot->count, sizeof *argument->bindings);
    for (size_t i = 0; argument->bindings != NULL && i < slot->count; i++) {
        if ((argument->bindings[i] = encode_binding(e, op, &slot->operands[i])) == NULL)
            return NULL;
        argument->n_bindings++;
    }
    return out->key != NULL && argument->bindings != NULL ? out : NULL;
}

static bool fill_arguments(mw__encoder *e, const mw__op *op, pb_operation *out)
{
    out->inputs = mw__coreml_encode_alloc(e, op->slot_count, sizeof *out->inputs);
    for (size_t i = 0; out->inputs != NULL && i < op->slot_count; i++) {
        const mw__slot *slot = &op->slots[i];
        if (slot->operands == NULL || slot->attribute)
            continue;
        if ((out->inputs[out->n_inputs] = encode_argument(e, op, slot)) == NULL)
            return false;
        out->n_inputs++;
    }
    return out->inputs != NULL;
}

static pb_named_type *encode_declaration(mw__encoder *e, const mw_tensor *value)
{
    pb_named_type *out = MW__MAKE(e, pb_named_type);
    if (out == NULL)
        return NULL;
    mw__coreml__named_type__init(out);
    out->name = mw__coreml_encode_string(e, value->name);
    out->type = mw__coreml_encode_type(e, value->type);
    return out->name != NULL && out->type != NULL ? out : NULL;
}

/* An array of declarations; false on failure. */
static bool fill_declarations(mw__encoder *e, mw_tensor *const *values, size_t count, pb_named_type ***out,
                              size_t *out_count)
{
    pb_named_type **declared = mw__coreml_encode_alloc(e, count, sizeof *declared);
    for (size_t i = 0; declared != NULL && i < count; i++)
        if ((declared[i] = encode_declaration(e, values[i])) == NULL)
            return false;
    *out = declared;
    *out_count = count;
    return declared != NULL;
}

static bool fill_blocks(mw__encoder *e, const mw__op *op, pb_operation *out)
{
    out->blocks = mw__coreml_encode_alloc(e, op->block_count, sizeof *out->blocks);
    for (size_t i = 0; out->blocks != NULL && i < op->block_count; i++) {
        pb_block *block = MW__MAKE(e, pb_block);
        if (block == NULL)
            return false;
        mw__coreml__block__init(block);
        out->blocks[out->n_blocks++] = block;
        if (!fill_declarations(e, op->blocks[i]->inputs, op->blocks[i]->input_count, &block->inputs,
                               &block->n_inputs) ||
            !fill_block(e, op->blocks[i], block))
            return false;
    }
    return out->blocks != NULL;
}

static pb_operation *encode_operation(mw__encoder *e, const mw__op *op)
{
    pb_operation *out = MW__MAKE(e, pb_operation);
    if (out == NULL)
        return NULL;
    mw__coreml__operation__init(out);
    out->type = mw__coreml_encode_string(e, op->kind);
    const bool good = out->type != NULL && fill_arguments(e, op, out) &&
                      fill_declarations(e, op->results, op->result_count, &out->outputs, &out->n_outputs) &&
                      fill_attributes(e, op, out) && fill_blocks(e, op, out);
    return good ? out : NULL;
}

/* Operations and outputs; the inputs are the caller's, as a function's stand elsewhere. */
static bool fill_block(mw__encoder *e, const mw__block *block, pb_block *out)
{
    out->operations = mw__coreml_encode_alloc(e, block->op_count, sizeof *out->operations);
    out->outputs = mw__coreml_encode_alloc(e, block->output_count, sizeof *out->outputs);
    if (out->operations == NULL || out->outputs == NULL)
        return false;
    for (size_t i = 0; i < block->op_count; i++) {
        if ((out->operations[i] = encode_operation(e, block->ops[i])) == NULL)
            return false;
        out->n_operations++;
    }
    for (size_t i = 0; i < block->output_count; i++) {
        if ((out->outputs[i] = mw__coreml_encode_string(e, block->outputs[i]->name)) == NULL)
            return false;
        out->n_outputs++;
    }
    return true;
}

/* ---- the program ---- */

static pb_function *encode_function(mw__encoder *e, const mw__function *function)
{
    pb_function *out = MW__MAKE(e, pb_function);
    pb_named_block *named = MW__MAKE(e, pb_named_block);
    pb_block *block = MW__MAKE(e, pb_block);
    if (out == NULL || named == NULL || block == NULL)
        return NULL;
    mw__coreml__function__init(out);
    mw__coreml__named_block__init(named);
    mw__coreml__block__init(block);
    out->blocks = mw__coreml_encode_alloc(e, 1, sizeof *out->blocks);
    out->opset = mw__coreml_encode_string(e, mw__coreml_opset_name(function->opset));
    if (out->blocks == NULL || out->opset == NULL)
        return NULL;
    out->blocks[out->n_blocks++] = named;
    named->key = out->opset;
    named->value = block;
    return fill_declarations(e, function->body->inputs, function->body->input_count, &out->inputs, &out->n_inputs) &&
                   fill_block(e, function->body, block)
               ? out
               : NULL;
}

static bool fill_functions(mw__encoder *e, const mw_graph *graph, pb_program *out)
{
    out->functions = mw__coreml_encode_alloc(e, graph->function_count, sizeof *out->functions);
    for (size_t i = 0; out->functions != NULL && i < graph->function_count; i++) {
        pb_named_function *named = MW__MAKE(e, pb_named_function);
        if (named == NULL)
            return false;
        mw__coreml__named_function__init(named);
        named->key = mw__coreml_encode_string(e, graph->functions[i]->name);
        named->value = encode_function(e, graph->functions[i]);
        if (named->key == NULL || named->value == NULL)
            return false;
        out->functions[out->n_functions++] = named;
    }
    return out->functions != NULL;
}

/* Without the pairs that the compiler adds; false if none is left. */
static bool keep_build_info(pb_attribute *attribute)
{
    if (attribute->value->value_case != MW__COREML__VALUE__VALUE_IMMEDIATE ||
        attribute->value->immediate->value_case != MW__COREML__VALUE__IMMEDIATE__VALUE_DICTIONARY)
        return true;
    pb_dictionary *pairs = attribute->value->immediate->dictionary;
    size_t kept = 0;
    for (size_t i = 0; i < pairs->n_values; i++) {
        const pb_value *key = pairs->values[i]->key;
        const bool word = key->immediate->value_case == MW__COREML__VALUE__IMMEDIATE__VALUE_TENSOR &&
                          key->immediate->tensor->value_case == MW__COREML__TENSOR_VALUE__VALUE_STRINGS;
        if (!word || strncmp(key->immediate->tensor->strings->values[0], "coremlc-", strlen("coremlc-")) != 0)
            pairs->values[kept++] = pairs->values[i];
    }
    pairs->n_values = kept;
    return kept > 0;
}

static bool fill_program_attributes(mw__encoder *e, const mw_graph *graph, pb_program *out)
{
    out->attributes = mw__coreml_encode_alloc(e, graph->attribute_count, sizeof *out->attributes);
    for (size_t i = 0; out->attributes != NULL && i < graph->attribute_count; i++) {
        pb_attribute *attribute = encode_attribute(e, graph->attributes[i].name, graph->attributes[i].value);
        if (attribute == NULL)
            return false;
        if (strcmp(attribute->key, "buildInfo") != 0 || keep_build_info(attribute))
            out->attributes[out->n_attributes++] = attribute;
    }
    return out->attributes != NULL;
}

pb_program *mw__coreml_encode(mw__encoder *e, const mw_graph *graph)
{
    pb_program *out = MW__MAKE(e, pb_program);
    if (out == NULL)
        return NULL;
    mw__coreml__program__init(out);
    out->version = 1;
    return fill_functions(e, graph, out) && fill_program_attributes(e, graph, out) ? out : NULL;
}

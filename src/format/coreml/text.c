/* A program as text, from header to statement. The order of maps is that of their keys. What is printed is parsed like
 * any other text, so that nothing is checked here but what a text cannot say. */
#include "format/coreml/text.h"
#include "base/memory/checked.h"
#include <string.h>

/* Versions of Apple's compiler whose texts these are compared with; it notes them in what it prints. */
static const char *const compiler[][2] = {{"coremlc-component-MIL", "3500.14.1"}, {"coremlc-version", "3500.32.1"}};

/* ---- sorting maps ---- */

/* Names that are compared one by one: inputs of a function with features, functions with descriptions of some. */
#define LOOKUPS_MAX ((size_t)1 << 24)

typedef const char *key_function(const void *item);

static const char *argument_key(const void *item) { return ((const pb_named_argument *)item)->key; }
static const char *attribute_key(const void *item) { return ((const pb_attribute *)item)->key; }
static const char *function_key(const void *item) { return ((const pb_named_function *)item)->key; }
static const char *input_key(const void *item) { return ((const pb_named_type *)item)->name; }

/* Moves item `root` down in a heap of `count`. */
static void sift(void **items, size_t root, size_t count, key_function *key)
{
    for (size_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && strcmp(key(items[child]), key(items[child + 1])) < 0)
            child++;
        if (strcmp(key(items[root]), key(items[child])) >= 0)
            return;
        void *swap = items[root];
        items[root] = items[child];
        items[child] = swap;
    }
}

/* By key, in byte order: a heap sort, as it takes no memory and no longer for a hostile order. */
static void sort(void **items, size_t count, key_function *key)
{
    for (size_t i = count / 2; i-- > 0;)
        sift(items, i, count, key);
    for (size_t end = count; end-- > 1;) {
        void *swap = items[0];
        items[0] = items[end];
        items[end] = swap;
        sift(items, 0, end, key);
    }
}

/* ---- statements ---- */

static mw_status print_block(mw__coreml_printer *printer, const pb_block *block);

static mw_status print_declarations(mw__coreml_printer *printer, pb_named_type *const *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        mw__text_puts(printer->out, i > 0 ? ", " : "");
        MW_TRY(mw__coreml_print_type(printer, values[i]->type));
        mw__text_puts(printer->out, " ");
        MW_TRY(mw__coreml_print_name(printer, values[i]->name));
    }
    return MW_OK;
}

static mw_status print_binding(mw__coreml_printer *printer, const pb_binding *binding)
{
    if (binding->binding_case == MW__COREML__BINDING__BINDING_NAME)
        return mw__coreml_print_name(printer, binding->name);
    if (binding->binding_case == MW__COREML__BINDING__BINDING_VALUE)
        return mw__coreml_print_value(printer, binding->value);
    return mw__coreml_malformed(printer, "an argument is bound to nothing");
}

/* One binding stands bare, several in parentheses. */
static mw_status print_argument(mw__coreml_printer *printer, const pb_argument *argument)
{
    const size_t count = argument != NULL ? argument->n_bindings : 0;
    mw__text_puts(printer->out, count != 1 ? "(" : "");
    for (size_t i = 0; i < count; i++) {
        mw__text_puts(printer->out, i > 0 ? ", " : "");
        MW_TRY(print_binding(printer, argument->bindings[i]));
    }
    mw__text_puts(printer->out, count != 1 ? ")" : "");
    return MW_OK;
}

static mw_status print_arguments(mw__coreml_printer *printer, const pb_operation *operation)
{
    sort((void **)operation->inputs, operation->n_inputs, argument_key);
    mw__text_puts(printer->out, "(");
    for (size_t i = 0; i < operation->n_inputs; i++) {
        mw__text_puts(printer->out, i > 0 ? ", " : "");
        MW_TRY(mw__coreml_print_name(printer, operation->inputs[i]->key));
        mw__text_puts(printer->out, " = ");
        MW_TRY(print_argument(printer, operation->inputs[i]->value));
    }
    mw__text_puts(printer->out, ")");
    return MW_OK;
}

static mw_status print_attribute(mw__coreml_printer *printer, const pb_attribute *attribute)
{
    MW_TRY(mw__coreml_print_name(printer, attribute->key));
    mw__text_puts(printer->out, " = ");
    return mw__coreml_print_value(printer, attribute->value);
}

static mw_status print_attributes(mw__coreml_printer *printer, pb_attribute **attributes, size_t count)
{
    if (count == 0)
        return MW_OK;
    sort((void **)attributes, count, attribute_key);
    for (size_t i = 0; i < count; i++) {
        mw__text_puts(printer->out, i > 0 ? ", " : "[");
        MW_TRY(print_attribute(printer, attributes[i]));
    }
    mw__text_puts(printer->out, "]");
    return MW_OK;
}

static mw_status print_nested(mw__coreml_printer *printer, const pb_block *block)
{
    mw__text_puts(printer->out, " (");
    MW_TRY(print_declarations(printer, block->inputs, block->n_inputs));
    mw__text_puts(printer->out, ") {\n");
    return print_block(printer, block);
}

static mw_status print_operation(mw__coreml_printer *printer, const pb_operation *operation)
{
    const char *outer = printer->operation;
    printer->operation = operation->type;
    mw__text_puts(printer->out, "            ");
    MW_TRY(print_declarations(printer, operation->outputs, operation->n_outputs));
    mw__text_puts(printer->out, operation->n_outputs > 0 ? " = " : "");
    MW_TRY(mw__coreml_print_name(printer, operation->type));
    MW_TRY(print_arguments(printer, operation));
    MW_TRY(print_attributes(printer, operation->attributes, operation->n_attributes));
    for (size_t i = 0; i < operation->n_blocks; i++)
        MW_TRY(print_nested(printer, operation->blocks[i]));
    mw__text_puts(printer->out, ";\n");
    printer->operation = outer;
    if (printer->out->beyond)
        return mw__coreml_malformed(printer, "is longer, as text, than a program may be");
    return MW_OK;
}

/* { statement } "} -> (" names ")" */
static mw_status print_block(mw__coreml_printer *printer, const pb_block *block)
{
    if (block->n_attributes > 0)
        return mw__coreml_malformed(printer, "a block has attributes");
    for (size_t i = 0; i < block->n_operations; i++)
        MW_TRY(print_operation(printer, block->operations[i]));
    mw__text_puts(printer->out, "        } -> (");
    for (size_t i = 0; i < block->n_outputs; i++) {
        mw__text_puts(printer->out, i > 0 ? ", " : "");
        MW_TRY(mw__coreml_print_name(printer, block->outputs[i]));
    }
    mw__text_puts(printer->out, ")");
    return MW_OK;
}

/* ---- functions ---- */

/* What the description says of the inputs of that function. */
static void find_features(const pb_description *description, const char *name, pb_feature *const **out, size_t *count)
{
    *out = NULL;
    *count = 0;
    if (description == NULL)
        return;
    *out = description->input;
    *count = description->n_input;
    for (size_t i = 0; i < description->n_functions; i++)
        if (strcmp(description->functions[i]->name, name) == 0) {
            *out = description->functions[i]->input;
            *count = description->functions[i]->n_input;
        }
}

static mw_status find_block(mw__coreml_printer *printer, const pb_function *function, const pb_block **out)
{
    for (size_t i = 0; i < function->n_blocks; i++)
        if (strcmp(function->blocks[i]->key, function->opset) == 0 && function->blocks[i]->value != NULL) {
            *out = function->blocks[i]->value;
            return MW_OK;
        }
    return mw__coreml_malformed(printer, "a function has no block for its operator set");
}

static mw_status print_opset(mw__coreml_printer *printer, const char *name)
{
    const mw_opset opset = mw__coreml_opset(name);
    if (opset != 0)
        mw__text_printf(printer->out, "<ios%d>", (int)opset);
    else
        return mw__fail(printer->err, MW_ERROR_UNSUPPORTED,
                        "operator set \"%.40s\" is not known; known are CoreML5 to CoreML9", name);
    return MW_OK;
}

static mw_status print_function(mw__coreml_printer *printer, const pb_description *description,
                                const pb_named_function *named)
{
    const pb_function *function = named->value;
    const pb_block *block = NULL;
    pb_feature *const *features;
    size_t count;
    if (function == NULL)
        return mw__coreml_malformed(printer, "a function is missing");
    find_features(description, named->key, &features, &count);
    if (count > 0 && function->n_inputs > LOOKUPS_MAX / count)
        return mw__coreml_malformed(printer, "a function has more inputs and features than there can be");
    sort((void **)function->inputs, function->n_inputs, input_key);
    mw__text_puts(printer->out, "    func ");
    MW_TRY(mw__coreml_print_name(printer, named->key));
    MW_TRY(print_opset(printer, function->opset));
    mw__text_puts(printer->out, "(");
    MW_TRY(print_declarations(printer, function->inputs, function->n_inputs));
    mw__text_puts(printer->out, ")");
    MW_TRY(find_block(printer, function, &block));
    if (function->n_attributes > 0)
        return mw__coreml_malformed(printer, "a function has attributes");
    MW_TRY(mw__coreml_print_shapes(printer, function, features, count));
    mw__text_puts(printer->out, " {\n");
    MW_TRY(print_block(printer, block));
    mw__text_puts(printer->out, ";\n");
    return MW_OK;
}

/* ---- the program ---- */

/* The key of an entry of buildInfo, a string; "" for any other. */
static const char *entry_key(const void *item)
{
    const pb_value *key = ((const Mw__Coreml__DictionaryValue__Entry *)item)->key;
    const pb_tensor *tensor = key != NULL && key->value_case == MW__COREML__VALUE__VALUE_IMMEDIATE &&
                                      key->immediate->value_case == MW__COREML__VALUE__IMMEDIATE__VALUE_TENSOR
                                  ? key->immediate->tensor
                                  : NULL;
    const bool string = tensor != NULL && tensor->value_case == MW__COREML__TENSOR_VALUE__VALUE_STRINGS &&
                        tensor->strings->n_values == 1;
    return string ? tensor->strings->values[0] : "";
}

/* The pairs of a dictionary of strings, which is sorted, and those of the compiler in their places. */
static mw_status print_pairs(mw__coreml_printer *printer, const pb_dictionary *dictionary)
{
    const size_t own = sizeof compiler / sizeof *compiler;
    const size_t count = dictionary != NULL ? dictionary->n_values : 0;
    for (size_t at = 0, k = 0; at < count || k < own;) {
        const int order = at == count ? 1 : k == own ? -1 : strcmp(entry_key(dictionary->values[at]), compiler[k][0]);
        mw__text_puts(printer->out, at + k > 0 ? ", {" : "{");
        if (order > 0) {
            mw__text_printf(printer->out, "\"%s\", \"%s\"}", compiler[k][0], compiler[k][1]);
            k++;
            continue;
        }
        MW_TRY(mw__coreml_print_payload(printer, dictionary->values[at]->key));
        mw__text_puts(printer->out, ", ");
        MW_TRY(mw__coreml_print_payload(printer, dictionary->values[at]->value));
        mw__text_puts(printer->out, "}");
        at++;
        k += order == 0;
    }
    return MW_OK;
}

static mw_status print_build_info(mw__coreml_printer *printer, const pb_attribute *attribute)
{
    const pb_value *value = attribute != NULL ? attribute->value : NULL;
    const pb_dictionary *dictionary = NULL;
    if (value != NULL && value->value_case == MW__COREML__VALUE__VALUE_IMMEDIATE &&
        value->immediate->value_case == MW__COREML__VALUE__IMMEDIATE__VALUE_DICTIONARY)
        dictionary = value->immediate->dictionary;
    else if (attribute != NULL)
        return mw__coreml_malformed(printer, "buildInfo is no dictionary");
    if (dictionary != NULL)
        sort((void **)dictionary->values, dictionary->n_values, entry_key);
    mw__text_puts(printer->out, printer->old ? "buildInfo = dict<tensor<string, []>, tensor<string, []>>({"
                                             : "buildInfo = dict<string, string>({");
    MW_TRY(print_pairs(printer, dictionary));
    mw__text_puts(printer->out, "})");
    return MW_OK;
}

/* "[" attributes, with a buildInfo in its place "]" */
static mw_status print_program_attributes(mw__coreml_printer *printer, const pb_program *program)
{
    static const char build_info[] = "buildInfo";
    pb_attribute **attributes = program->attributes;
    const size_t count = program->n_attributes;
    size_t before = 0;
    sort((void **)attributes, count, attribute_key);
    mw__text_puts(printer->out, "[");
    for (; before < count && strcmp(attributes[before]->key, build_info) < 0; before++) {
        MW_TRY(print_attribute(printer, attributes[before]));
        mw__text_puts(printer->out, ", ");
    }
    const bool given = before < count && strcmp(attributes[before]->key, build_info) == 0;
    MW_TRY(print_build_info(printer, given ? attributes[before] : NULL));
    for (size_t i = before + given; i < count; i++) {
        mw__text_puts(printer->out, ", ");
        MW_TRY(print_attribute(printer, attributes[i]));
    }
    mw__text_puts(printer->out, "]\n{\n");
    return MW_OK;
}

mw_status mw__coreml_print(const mw_allocator *allocator, const pb_model *model, size_t size, mw__text *out,
                           mw_error *err)
{
    const pb_program *program = model->program;
    mw__coreml_printer printer = {.allocator = allocator, .out = out, .old = model->version < 9, .err = err};
    if (!mw__mul_size(size, MW__COREML_TEXT_FACTOR, &out->limit) ||
        !mw__add_size(out->limit, MW__COREML_TEXT_SPARE, &out->limit))
        out->limit = SIZE_MAX;
    mw__text_puts(out, printer.old ? "program(1.0)\n" : "program(1.3)\n");
    MW_TRY(print_program_attributes(&printer, program));
    if (model->description != NULL && program->n_functions > 0 &&
        model->description->n_functions > LOOKUPS_MAX / program->n_functions)
        return mw__coreml_malformed(&printer, "there are more functions and descriptions of some than there can be");
    sort((void **)program->functions, program->n_functions, function_key);
    for (size_t i = 0; i < program->n_functions; i++)
        MW_TRY(print_function(&printer, model->description, program->functions[i]));
    mw__text_puts(out, "}");
    return mw__text_check(out, err);
}

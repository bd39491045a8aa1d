/* Prints a graph in the layout of Apple's compiler: a parsed Apple file comes back byte for byte, a built one looks
 * like it. Decides order, names and headers; attributes are in print_attributes.c, literals in print_value.c. */
#include "base/memory/map.h"
#include "base/number/number.h"
#include "graph/constants/compressed.h"
#include "graph/ir/admitted.h"
#include "mil/text/print.h"
#include <string.h>

enum { INDENT_STEP = 4, INDENT_STATEMENT = 12 };

static void indent(mw__printer *printer, int columns)
{
    for (; columns >= INDENT_STEP; columns -= INDENT_STEP)
        mw__text_puts(printer->out, "    ");
}

static const char *name_of(mw__printer *printer, const mw_tensor *value)
{
    const char *name = mw__names_get(printer->names, value);
    if (name == NULL)
        printer->lost = true;
    return name != NULL ? name : "_";
}

/* ---- statements ---- */

static mw_status print_operands(mw__printer *printer, const mw__operand *operands, size_t count);

static mw_status print_operand(mw__printer *printer, const mw__operand *operand)
{
    if (operand->value == NULL)
        return print_operands(printer, operand->members, operand->member_count);
    if (operand->inlined)
        return mw__print_literal(printer, operand->value->payload);
    mw__text_puts(printer->out, name_of(printer, operand->value));
    return MW_OK;
}

/* (a, b) */
static mw_status print_operands(mw__printer *printer, const mw__operand *operands, size_t count)
{
    mw__text_puts(printer->out, "(");
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            mw__text_puts(printer->out, ", ");
        MW_TRY(print_operand(printer, &operands[i]));
    }
    mw__text_puts(printer->out, ")");
    return MW_OK;
}

/* True if the argument has the value that MIL assumes without it. */
static bool is_default(const mw__op *op, const mw__arg_row *row)
{
    bool flag;
    int64_t number, standard;
    if (row->fallback == MW__REQUIRED)
        return false;
    if (row->type == MW__BOOL)
        return mw__arg_bool(op, row->name, &flag) && strcmp(row->fallback, flag ? "true" : "false") == 0;
    return row->type == MW__I32 && mw__arg_int(op, row->name, &number) &&
           mw__number_read_i64(row->fallback, strlen(row->fallback), &standard) && number == standard;
}

/* In an older operator set: the row of that set, which may lack the argument. A default need not be said. */
static mw_status lower_argument(const mw__printer *printer, const mw__op *op, size_t slot, const mw__row *row,
                                bool *out_print)
{
    const mw__slot *argument = &op->slots[slot];
    *out_print = argument->operands != NULL && !argument->attribute;
    if (!*out_print || row == op->row)
        return MW_OK;
    for (size_t i = 0; i < row->arg_count; i++)
        if (strcmp(row->args[i].name, argument->name) == 0)
            return MW_OK;
    *out_print = false;
    if (is_default(op, &op->row->args[slot]))
        return MW_OK;
    mw__fail(printer->err, MW_ERROR_UNSUPPORTED, "%s: argument \"%s\" does not exist in ios%d", op->kind,
             argument->name, (int)printer->options->opset);
    mw__error_subject(printer->err, op->kind, NULL);
    return MW_ERROR_UNSUPPORTED;
}

static mw_status find_row(const mw__printer *printer, const mw__op *op, const mw__row **out)
{
    const mw__row *newer = NULL;
    *out = op->row;
    if (op->row == NULL || printer->options->opset == 0)
        return MW_OK;
    *out = mw__row_find(op->kind, printer->options->opset, &newer);
    if (*out != NULL && (*out == op->row || !mw__op_is_constexpr(op)))
        return MW_OK;
    if (*out != NULL) {
        mw__fail(printer->err, MW_ERROR_UNSUPPORTED, "%s of ios%d has another form in ios%d", op->kind,
                 (int)op->row->since, (int)printer->options->opset);
        mw__error_subject(printer->err, op->kind, NULL);
        return MW_ERROR_UNSUPPORTED;
    }
    mw__fail(printer->err, MW_ERROR_UNSUPPORTED, "%s does not exist in ios%d; it came with ios%d", op->kind,
             (int)printer->options->opset, (int)(newer != NULL ? newer->since : op->row->since));
    mw__error_subject(printer->err, op->kind, NULL);
    return MW_ERROR_UNSUPPORTED;
}

/* kind(a = x, b = y) in table order, which is byte order */
static mw_status print_call(mw__printer *printer, const mw__op *op)
{
    const mw__row *row = NULL;
    const char *before = "";
    MW_TRY(find_row(printer, op, &row));
    mw__text_puts(printer->out, op->kind);
    mw__text_puts(printer->out, "(");
    for (size_t i = 0; i < op->slot_count; i++) {
        const mw__slot *slot = &op->slots[i];
        bool print = slot->operands != NULL && !slot->attribute;
        if (row != NULL)
            MW_TRY(lower_argument(printer, op, i, row, &print));
        if (!print)
            continue;
        mw__text_puts(printer->out, before);
        mw__text_puts(printer->out, slot->name);
        mw__text_puts(printer->out, " = ");
        before = ", ";
        if (slot->tuple || slot->count != 1)
            MW_TRY(print_operands(printer, slot->operands, slot->count));
        else
            MW_TRY(print_operand(printer, slot->operands));
    }
    mw__text_puts(printer->out, ")");
    return MW_OK;
}

static const char *op_name(mw__printer *printer, const mw__op *op)
{
    if (op->name != NULL)
        return op->name;
    return op->result_count > 0 ? name_of(printer, op->results[0]) : op->kind;
}

/* The value of a const: its own, or what the caller puts into its place; of a compressed constant, that or NULL. */
static const mw__payload *constant_payload(mw__printer *printer, const mw__op *op)
{
    const mw_tensor *value = op->results[0];
    const mw__payload none = {.type = value->type, .in_blob = mw_shape_count(value->type->shape) >= 10};
    const mw_write_options *options = printer->options;
    const mw_dtype dtype = mw_tensor_dtype(value);
    const bool nested = op->block->owner != NULL && value->name != NULL;
    const bool in_main = strcmp(op->block->function->name, "main") == 0 &&
                         (!nested || mw_graph_find(printer->graph, value->name) == NULL);
    size_t bytes;
    if (options->replace == NULL || !in_main || value->name == NULL || (dtype != MW_F16 && dtype != MW_F32) ||
        !mw__type_bytes(value->type, &bytes))
        return value->payload;
    const void *data = options->replace(options->replace_user, value->name);
    if (data == NULL)
        return value->payload;
    mw__payload *payload = mw__arena_alloc(printer->arena, 1, sizeof *payload, printer->err);
    if (payload == NULL)
        return NULL;
    *payload = value->payload != NULL ? *value->payload : none;
    payload->data = data;
    payload->size = bytes;
    payload->splat = false;
    return payload;
}

/* The attributes of an operation with `name`, `val` of a const and arguments of a constexpr, in their places. */
static mw_status print_op_attributes(mw__printer *printer, const mw__op *op)
{
    enum { FEW = 8 };
    static const mw__type string = {.kind = MW__TENSOR, .dtype = MW_STRING};
    const char *name = op->name_absent ? NULL : op_name(printer, op);
    const mw__payload named = {.type = &string, .strings = &name};
    const size_t most = op->attribute_count + op->slot_count + 2;
    size_t count = op->attribute_count;
    mw__attribute few[FEW], *all = few;
    if (most > FEW && (all = mw__arena_alloc(printer->arena, most, sizeof *all, printer->err)) == NULL)
        return MW_ERROR_MEMORY;
    if (count > 0)
        memcpy(all, op->attributes, count * sizeof *all);
    for (size_t i = 0; i < op->slot_count; i++)
        if (op->slots[i].attribute)
            all[count++] = (mw__attribute){op->slots[i].name, op->slots[i].operands[0].value->payload};
    if (name != NULL)
        all[count++] = (mw__attribute){.name = "name", .value = &named};
    if (strcmp(op->kind, "const") == 0 && op->result_count > 0)
        all[count++] = (mw__attribute){.name = "val", .value = constant_payload(printer, op)};
    if (count > 0 && all[count - 1].value == NULL)
        return MW_ERROR_MEMORY;
    return mw__print_attributes(printer, all, count);
}

static void print_declaration(mw__printer *printer, const mw_tensor *value)
{
    mw__print_type(printer, value->type);
    mw__text_puts(printer->out, " ");
    mw__text_puts(printer->out, name_of(printer, value));
}

static mw_status print_block(mw__printer *printer, const mw__block *block, int columns);

/* (T a, T b) { .. } -> (c), one after the other, each on lines of its own */
static mw_status print_nested_blocks(mw__printer *printer, const mw__op *op, int columns)
{
    for (size_t i = 0; i < op->block_count; i++) {
        const mw__block *block = op->blocks[i];
        mw__text_puts(printer->out, "\n");
        indent(printer, columns);
        mw__text_puts(printer->out, "(");
        for (size_t k = 0; k < block->input_count; k++) {
            if (k > 0)
                mw__text_puts(printer->out, ", ");
            print_declaration(printer, block->inputs[k]);
        }
        mw__text_puts(printer->out, ") {\n");
        MW_TRY(print_block(printer, block, columns + INDENT_STEP));
        indent(printer, columns);
        mw__text_puts(printer->out, "} -> (");
        for (size_t k = 0; k < block->output_count; k++)
            mw__text_printf(printer->out, "%s%s", k > 0 ? ", " : "", name_of(printer, block->outputs[k]));
        mw__text_puts(printer->out, ")");
    }
    return MW_OK;
}

/* A compressed constant to which the caller has given other values, which are dense. */
static mw_status print_dense(mw__printer *printer, const mw__op *op, const mw__payload *values)
{
    print_declaration(printer, op->results[0]);
    mw__text_puts(printer->out, " = const()[");
    if (!op->name_absent) {
        mw__text_puts(printer->out, "name = ");
        mw__print_string_literal(printer, op_name(printer, op));
        mw__text_puts(printer->out, ", ");
    }
    mw__text_puts(printer->out, "val = ");
    MW_TRY(mw__print_literal(printer, values));
    mw__text_puts(printer->out, "];\n");
    return MW_OK;
}

static mw_status print_op(mw__printer *printer, const mw__op *op, int columns)
{
    indent(printer, columns);
    if (mw__op_is_constexpr(op) && op->result_count == 1) {
        const mw__payload *values = constant_payload(printer, op);
        if (values != NULL)
            return print_dense(printer, op, values);
        MW_TRY(printer->err != NULL ? printer->err->status : MW_OK);
    }
    for (size_t i = 0; i < op->result_count; i++) {
        print_declaration(printer, op->results[i]);
        mw__text_puts(printer->out, i + 1 < op->result_count ? ", " : " = ");
    }
    MW_TRY(print_call(printer, op));
    MW_TRY(print_op_attributes(printer, op));
    MW_TRY(print_nested_blocks(printer, op, columns));
    mw__text_puts(printer->out, ";\n");
    return MW_OK;
}

static mw_status print_block(mw__printer *printer, const mw__block *block, int columns)
{
    for (size_t i = 0; i < block->op_count; i++) {
        MW_TRY(print_op(printer, block->ops[i], columns));
        MW_TRY(mw__text_check(printer->out, printer->err));
    }
    return MW_OK;
}

/* ---- functions ---- */

static bool baked(const mw__printer *printer, const mw_tensor *value)
{
    return mw__is_resident(value) && printer->options->bake != NULL;
}

/* A parameter as a constant with the caller's values. */
static mw_status print_baked(mw__printer *printer, const mw_tensor *value)
{
    size_t bytes;
    const mw_write_options *options = printer->options;
    const char *name = name_of(printer, value);
    mw__payload *payload = mw__arena_alloc(printer->arena, 1, sizeof *payload, printer->err);
    if (payload == NULL)
        return MW_ERROR_MEMORY;
    const void *data = options->bake(options->bake_user, value->name != NULL ? value->name : name);
    if (data == NULL || !mw__type_bytes(value->type, &bytes))
        return mw__fail(printer->err, MW_ERROR_ARGUMENT, "parameter \"%s\" has no values to be written",
                        value->name != NULL ? value->name : name);
    *payload = (mw__payload){
        .type = value->type, .data = data, .size = bytes, .in_blob = mw_shape_count(value->type->shape) >= 10};
    indent(printer, INDENT_STATEMENT);
    print_declaration(printer, value);
    mw__text_puts(printer->out, " = const()[name = ");
    mw__print_string_literal(printer, name);
    mw__text_puts(printer->out, ", val = ");
    MW_TRY(mw__print_literal(printer, payload));
    mw__text_puts(printer->out, "];\n");
    return MW_OK;
}

typedef struct named_input {
    const char *name;
    const mw_tensor *value;
} named_input;

static void sift(named_input *heap, size_t root, size_t count)
{
    for (size_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && strcmp(heap[child].name, heap[child + 1].name) < 0)
            child++;
        if (strcmp(heap[root].name, heap[child].name) >= 0)
            return;
        const named_input swapped = heap[root];
        heap[root] = heap[child];
        heap[child] = swapped;
    }
}

/* Heap sort: qsort may allocate behind the allocator's back. Names are unique, so stability does not matter. */
static void sort_inputs(named_input *inputs, size_t count)
{
    for (size_t i = count / 2; i-- > 0;)
        sift(inputs, i, count);
    for (size_t end = count; end > 1; end--) {
        const named_input swapped = inputs[0];
        inputs[0] = inputs[end - 1];
        inputs[end - 1] = swapped;
        sift(inputs, 0, end - 1);
    }
}

/* Sorted by name when built; as they stood when parsed. */
static mw_status print_inputs(mw__printer *printer, const mw__block *body)
{
    size_t count = 0;
    named_input *inputs = mw__alloc(printer->graph->allocator, body->input_count, sizeof *inputs, printer->err);
    if (inputs == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < body->input_count; i++)
        if (!baked(printer, body->inputs[i]))
            inputs[count++] = (named_input){.name = name_of(printer, body->inputs[i]), .value = body->inputs[i]};
    if (printer->built)
        sort_inputs(inputs, count);
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            mw__text_puts(printer->out, ", ");
        print_declaration(printer, inputs[i].value);
    }
    mw__free(printer->graph->allocator, inputs);
    return MW_OK;
}

static mw_status print_body(mw__printer *printer, const mw__block *body)
{
    for (size_t i = 0; i < body->input_count; i++)
        if (baked(printer, body->inputs[i]))
            MW_TRY(print_baked(printer, body->inputs[i]));
    MW_TRY(print_block(printer, body, INDENT_STATEMENT));
    mw__text_puts(printer->out, "        } -> (");
    for (size_t i = 0; i < body->output_count; i++)
        mw__text_printf(printer->out, "%s%s", i > 0 ? ", " : "", name_of(printer, body->outputs[i]));
    mw__text_puts(printer->out, ");\n");
    return MW_OK;
}

/* What is said of inputs goes by the names that they have in the text. */
static mw_status print_function_attributes(mw__printer *printer, const mw__function *function)
{
    mw__arena arena;
    mw_status status = MW_OK;
    mw__arena_init(&arena, printer->graph->allocator);
    const size_t count = function->attribute_count;
    mw__attribute *list = mw__arena_alloc(&arena, count, sizeof *list, printer->err);
    for (size_t i = 0; list != NULL && i < count; i++) {
        list[i] = function->attributes[i];
        if (strcmp(list[i].name, mw__flexible_attribute) == 0)
            list[i].value = mw__admitted_renamed(function, printer->names, list[i].value, &arena, printer->err);
        if (list[i].value == NULL)
            list = NULL;
    }
    if (list == NULL)
        status = MW_ERROR_MEMORY;
    if (status == MW_OK)
        status = mw__print_attributes(printer, list, count);
    mw__arena_deinit(&arena);
    memset(printer->types, 0, sizeof printer->types); /* types of the arena may be among them */
    return status;
}

static mw_status print_function(mw__printer *printer, const mw__function *function)
{
    const mw_opset wanted = printer->options->opset;
    mw__text_printf(printer->out, "    func %s<ios%d>(", function->name, (int)(wanted != 0 ? wanted : function->opset));
    MW_TRY(print_inputs(printer, function->body));
    mw__text_puts(printer->out, ") ");
    if (function->attribute_count > 0) {
        MW_TRY(print_function_attributes(printer, function));
        mw__text_puts(printer->out, " ");
    }
    mw__text_puts(printer->out, "{\n");
    return print_body(printer, function->body);
}

/* Names live until the text is printed; those of main are the caller's, if wanted. */
static mw_status print_named_function(mw__printer *printer, const mw__function *function, mw__names *wanted)
{
    const bool keep = wanted != NULL && strcmp(function->name, "main") == 0;
    mw__names names = {0};
    mw_status status = mw__names_assign(function, &names, printer->err);
    printer->names = &names;
    if (status == MW_OK)
        status = print_function(printer, function);
    printer->names = NULL;
    if (keep && status == MW_OK)
        *wanted = names;
    else
        mw__names_deinit(&names);
    return status;
}

/* ---- the program ---- */

/* Version and style follow the model specification: below ios18 a program of ours is 1.0 with old literals. */
static mw_status print_header(mw__printer *printer)
{
    const mw_graph *graph = printer->graph;
    const mw_opset wanted = printer->options->opset;
    const mw_opset opset = wanted != 0 ? wanted : graph->functions[0]->opset;
    int major = graph->version_major, minor = graph->version_minor;
    printer->style = graph->style;
    if (printer->built || wanted != 0) {
        major = 1;
        minor = opset >= MW_IOS18 ? 3 : 0;
        printer->style = opset >= MW_IOS18 ? MW__STYLE_NEW : MW__STYLE_OLD;
    }
    mw__text_printf(printer->out, minor < 0 ? "program(%d)\n" : "program(%d.%d)\n", major, minor);
    MW_TRY(mw__print_program_attributes(printer));
    mw__text_puts(printer->out, "{\n");
    return MW_OK;
}

static mw_status check_printable(const mw_graph *graph, const mw_write_options *options, mw_error *err)
{
    const mw_opset opset = options->opset;
    MW_TRY(mw_graph_check(graph, err));
    if (options->struct_size != sizeof *options)
        return mw__fail(err, MW_ERROR_ARGUMENT, "the write options were not made by mw_write_defaults");
    if (opset != 0 && opset != MW_IOS26 && (opset < MW_IOS15 || opset > MW_IOS18))
        return mw__fail(err, MW_ERROR_ARGUMENT, "operator set ios%d does not exist", (int)opset);
    return MW_OK;
}

mw_status mw__print_program(const mw_graph *graph, const mw_write_options *options, bool move_blobs, mw__text *out,
                            mw__names *names, mw__blob_list *blobs, mw__arena *arena, mw_error *err)
{
    const mw_write_options defaults = mw_write_defaults();
    mw__printer printer = {.graph = graph,
                           .options = options != NULL ? options : &defaults,
                           .out = out,
                           .built = graph->functions[0]->line == 0,
                           .blobs = blobs,
                           .arena = arena,
                           .err = err};
    printer.move_blobs = move_blobs || printer.built;
    if (names != NULL)
        *names = (mw__names){0};
    MW_TRY(check_printable(graph, printer.options, err));
    MW_TRY(print_header(&printer));
    mw_status status = MW_OK;
    for (size_t i = 0; status == MW_OK && i < graph->function_count; i++)
        status = print_named_function(&printer, graph->functions[i], names);
    if (status == MW_OK) {
        mw__text_puts(out, graph->final_newline ? "}\n" : "}");
        status = mw__text_check(out, err);
    }
    if (status == MW_OK && printer.lost)
        status = mw__fail(err, MW_ERROR_STATE, "an operation uses a value of another function or graph");
    if (status != MW_OK && names != NULL)
        mw__names_deinit(names);
    return status;
}

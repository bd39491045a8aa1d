/* Reads statements: results, operation, arguments, attributes, nested blocks. Fills the slots of table rows by argument
 * name and keeps unknown operations as they stand. */
#include "graph/constants/compressed.h"
#include "mil/text/parse.h"
#include <string.h>

/* ---- attributes ---- */

static mw_status check_new_attribute(mw__parser *parser, size_t base, const mw__token *name)
{
    char buffer[64];
    const size_t count = (parser->stack_size - base) / sizeof(mw__attribute);
    if (count == MW__PARSE_ENTRIES)
        return mw__token_fail(name, parser->err, MW_ERROR_FORMAT, "more than %d attributes", MW__PARSE_ENTRIES);
    for (size_t i = 0; i < count; i++) {
        mw__attribute attribute;
        memcpy(&attribute, parser->stack + base + i * sizeof attribute, sizeof attribute);
        if (mw__token_is(name, attribute.name))
            return mw__token_fail(name, parser->err, MW_ERROR_FORMAT, "attribute %s is given twice",
                                  mw__token_print(name, buffer, sizeof buffer));
    }
    return MW_OK;
}

/* attr-list = "[" [ ident "=" typed-value { "," ident "=" typed-value } ] "]" */
mw_status mw__parse_attributes(mw__parser *parser, mw__attribute **out, size_t *out_count)
{
    const size_t base = parser->stack_size;
    MW_TRY(mw__parser_expect(parser, '[', "\"[\""));
    while (parser->token.kind != ']') {
        mw__attribute attribute;
        if (parser->stack_size > base)
            MW_TRY(mw__parser_expect(parser, ',', "\",\" or \"]\""));
        MW_TRY(check_new_attribute(parser, base, &parser->token));
        MW_TRY(mw__parse_word(parser, "the name of an attribute", &attribute.name));
        MW_TRY(mw__parser_expect(parser, '=', "\"=\""));
        MW_TRY(mw__parse_typed_value(parser, &attribute.value));
        MW_TRY(mw__parser_push(parser, &attribute, sizeof attribute));
    }
    void *attributes;
    size_t bytes;
    MW_TRY(mw__parser_take(parser, base, &attributes, &bytes));
    *out = attributes;
    *out_count = bytes / sizeof(mw__attribute);
    return mw__parser_advance(parser);
}

/* ---- arguments ---- */

static mw_status parse_literal_operand(mw__parser *parser, mw__operand *out)
{
    const mw__payload *payload = NULL;
    MW_TRY(mw__parse_typed_value(parser, &payload));
    out->value = mw__value_create(parser->graph, payload->type, "value", parser->err);
    if (out->value == NULL)
        return parser->err->status;
    out->value->payload = payload;
    out->inlined = true;
    return MW_OK;
}

static mw_status parse_operands(mw__parser *parser, mw__operand **out, size_t *out_count);

/* arg-value = ident | typed-value | "(" [ arg-value { "," arg-value } ] ")" */
static mw_status parse_operand(mw__parser *parser, mw__operand *out)
{
    *out = (mw__operand){0};
    if (mw__parser_at_literal(parser))
        return parse_literal_operand(parser, out);
    if (parser->token.kind != '(')
        return mw__parse_reference(parser, &out->value);
    mw__operand *members = NULL;
    MW_TRY(parse_operands(parser, &members, &out->member_count));
    out->members = members;
    return MW_OK;
}

/* "(" [ arg-value { "," arg-value } ] ")" */
static mw_status parse_operands(mw__parser *parser, mw__operand **out, size_t *out_count)
{
    const size_t base = parser->stack_size;
    MW_TRY(mw__parser_enter(parser));
    MW_TRY(mw__parser_expect(parser, '(', "\"(\""));
    while (parser->token.kind != ')') {
        mw__operand operand;
        if (parser->stack_size > base)
            MW_TRY(mw__parser_expect(parser, ',', "\",\" or \")\""));
        MW_TRY(parse_operand(parser, &operand));
        MW_TRY(mw__parser_push(parser, &operand, sizeof operand));
    }
    void *operands;
    size_t bytes;
    MW_TRY(mw__parser_take(parser, base, &operands, &bytes));
    *out = operands;
    *out_count = bytes / sizeof(mw__operand);
    parser->depth--;
    return mw__parser_advance(parser);
}

static mw_status parse_slot_value(mw__parser *parser, mw__slot *slot)
{
    slot->tuple = parser->token.kind == '(';
    if (slot->tuple)
        return parse_operands(parser, &slot->operands, &slot->count);
    slot->operands = mw__parser_alloc(parser, 1, sizeof *slot->operands);
    if (slot->operands == NULL)
        return parser->err->status;
    slot->count = 1;
    return parse_operand(parser, slot->operands);
}

/* `index` is that of an argument of that name, or the number of slots. */
static mw_status check_slot(mw__parser *parser, const mw__op *op, const mw__token *name, size_t index)
{
    char buffer[64];
    if (index < op->slot_count && op->slots[index].operands != NULL)
        return mw__token_fail(name, parser->err, MW_ERROR_FORMAT, "%s: argument %s is given twice", op->kind,
                              mw__token_print(name, buffer, sizeof buffer));
    if (index == op->slot_count && op->row != NULL)
        return mw__token_fail(name, parser->err, MW_ERROR_FORMAT, "%s has no argument %s in ios%d", op->kind,
                              mw__token_print(name, buffer, sizeof buffer), (int)parser->function->opset);
    if (index == MW__PARSE_ENTRIES)
        return mw__token_fail(name, parser->err, MW_ERROR_FORMAT, "%s: more than %d arguments", op->kind,
                              MW__PARSE_ENTRIES);
    return MW_OK;
}

/* The slot that an argument of that name fills: the row's, or a new one. */
static mw_status find_slot(mw__parser *parser, mw__op *op, const mw__token *name, mw__slot **out)
{
    size_t index = 0;
    while (index < op->slot_count && !mw__token_is(name, op->slots[index].name))
        index++;
    MW_TRY(check_slot(parser, op, name, index));
    *out = &op->slots[index];
    if (index < op->slot_count)
        return MW_OK;
    op->slot_count++;
    (*out)->name = mw__parser_string(parser, name);
    return (*out)->name != NULL ? MW_OK : parser->err->status;
}

static mw_status check_required(mw__parser *parser, const mw__op *op, const mw__token *at)
{
    for (size_t i = 0; op->row != NULL && i < op->slot_count; i++)
        if (op->slots[i].operands == NULL && op->row->args[i].fallback == MW__REQUIRED)
            return mw__token_fail(at, parser->err, MW_ERROR_FORMAT, "%s: argument \"%s\" is missing", op->kind,
                                  op->row->args[i].name);
    return MW_OK;
}

static mw_status make_row_slots(mw__parser *parser, mw__op *op)
{
    op->slots = mw__parser_alloc(parser, op->row->arg_count, sizeof *op->slots);
    if (op->slots == NULL)
        return parser->err->status;
    op->slot_count = op->row->arg_count;
    for (size_t i = 0; i < op->slot_count; i++)
        op->slots[i].name = op->row->args[i].name;
    return MW_OK;
}

/* Makes room for one more slot of an operation without a row; the array doubles in the arena. */
static mw_status grow_slots(mw__parser *parser, mw__op *op)
{
    const size_t count = op->slot_count;
    if (op->row != NULL || (count & (count - 1)) != 0)
        return MW_OK;
    mw__slot *slots = mw__parser_alloc(parser, count == 0 ? 1 : 2 * count, sizeof *slots);
    if (slots == NULL)
        return parser->err->status;
    if (count > 0)
        memcpy(slots, op->slots, count * sizeof *slots);
    op->slots = slots;
    return MW_OK;
}

/* Takes `size` bytes of the text at *at if they stand there. */
static bool skip_text(const mw__parser *parser, const char **at, const char *text, size_t size)
{
    const char *end = parser->lexer.text + parser->lexer.size;
    if ((size_t)(end - *at) < size || memcmp(*at, text, size) != 0)
        return false;
    *at += size;
    return true;
}

/* The one attribute that nearly every statement has, as it is printed: [name = string("the name of its result")]. */
static bool has_own_name(const mw__parser *parser, const mw__op *op, const char **out_end)
{
    static const char begin[] = "[name = string(\"", end[] = "\")]";
    const char *name = op->result_count > 0 ? op->results[0]->name : NULL;
    *out_end = parser->token.text;
    return name != NULL && skip_text(parser, out_end, begin, sizeof begin - 1) &&
           skip_text(parser, out_end, name, strlen(name)) && skip_text(parser, out_end, end, sizeof end - 1);
}

/* "(" [ ident "=" arg-value { "," ident "=" arg-value } ] ")" */
static mw_status parse_arguments(mw__parser *parser, mw__op *op)
{
    bool first = true;
    if (op->row != NULL)
        MW_TRY(make_row_slots(parser, op));
    MW_TRY(mw__parser_expect(parser, '(', "\"(\""));
    for (; parser->token.kind != ')'; first = false) {
        mw__slot *slot = NULL;
        if (!first)
            MW_TRY(mw__parser_expect(parser, ',', "\",\" or \")\""));
        if (parser->token.kind != MW__TOKEN_WORD)
            return mw__parser_expected(parser, "the name of an argument");
        MW_TRY(grow_slots(parser, op));
        MW_TRY(find_slot(parser, op, &parser->token, &slot));
        MW_TRY(mw__parser_advance(parser));
        MW_TRY(mw__parser_expect(parser, '=', "\"=\""));
        MW_TRY(parse_slot_value(parser, slot));
    }
    return mw__parser_advance(parser);
}

/* ---- statements ---- */

/* results = type ident { "," type ident }; the names are pushed for later, when they become visible */
static mw_status parse_results(mw__parser *parser, mw__op *op)
{
    const size_t base = parser->stack_size;
    bool more = true;
    while (more) {
        mw__token name;
        mw_tensor *value;
        MW_TRY(mw__parse_value_declaration(parser, &name, &value));
        value->op = op;
        value->result = (uint32_t)((parser->stack_size - base) / sizeof value);
        MW_TRY(mw__parser_push(parser, &value, sizeof value));
        MW_TRY(mw__parser_accept(parser, ',', &more));
    }
    void *results;
    size_t bytes;
    MW_TRY(mw__parser_take(parser, base, &results, &bytes));
    op->results = results;
    op->result_count = bytes / sizeof(mw_tensor *);
    return mw__parser_expect(parser, '=', "\"=\"");
}

static mw_status define_results(mw__parser *parser, const mw__op *op)
{
    for (size_t i = 0; i < op->result_count; i++) {
        const char *name = op->results[i]->name;
        const mw__token token = {
            .kind = MW__TOKEN_WORD, .text = name, .length = strlen(name), .line = op->line, .column = op->column};
        MW_TRY(mw__define_value(parser, &token, op->results[i]));
    }
    return MW_OK;
}

/* An attribute that is an argument of a constexpr operation; false if it is none. */
static mw_status take_argument(mw__parser *parser, mw__op *op, const mw__attribute *attribute, bool *out,
                               const mw__token *at)
{
    *out = false;
    for (size_t i = 0; mw__op_is_constexpr(op) && i < op->slot_count && !*out; i++) {
        mw__slot *slot = &op->slots[i];
        if (strcmp(slot->name, attribute->name) != 0)
            continue;
        if (slot->operands != NULL)
            return mw__token_fail(at, parser->err, MW_ERROR_FORMAT, "%s: argument %s is given twice", op->kind,
                                  slot->name);
        mw_tensor *value = mw__value_create(parser->graph, attribute->value->type, slot->name, parser->err);
        slot->operands = mw__parser_alloc(parser, 1, sizeof *slot->operands);
        if (value == NULL || slot->operands == NULL)
            return parser->err->status;
        value->payload = attribute->value;
        slot->operands[0] = (mw__operand){.value = value, .inlined = true};
        slot->count = 1;
        slot->attribute = *out = true;
    }
    return MW_OK;
}

/* Takes `name`, `val` of a const and arguments of a constexpr out of the attributes. */
static mw_status apply_attributes(mw__parser *parser, mw__op *op, const mw__token *at)
{
    const bool constant = strcmp(op->kind, "const") == 0;
    const mw__payload *value = NULL;
    size_t kept = 0;
    op->name_absent = true;
    for (size_t i = 0; i < op->attribute_count; i++) {
        const mw__attribute attribute = op->attributes[i];
        const mw__type *type = attribute.value->type;
        if (strcmp(attribute.name, "name") == 0) {
            if (type->kind != MW__TENSOR || type->dtype != MW_STRING || type->shape.rank != 0)
                return mw__token_fail(at, parser->err, MW_ERROR_FORMAT, "%s: its name is not a string", op->kind);
            op->name = attribute.value->strings[0];
            op->name_absent = false;
        } else if (constant && strcmp(attribute.name, "val") == 0) {
            value = attribute.value;
        } else {
            bool taken = false;
            MW_TRY(take_argument(parser, op, &attribute, &taken, at));
            if (!taken)
                op->attributes[kept++] = attribute;
        }
    }
    op->attribute_count = kept;
    if (!constant)
        return MW_OK;
    if (op->result_count != 1 || value == NULL)
        return mw__token_fail(at, parser->err, MW_ERROR_FORMAT, "const needs one result and the attribute \"val\"");
    if (!mw__type_equal(op->results[0]->type, value->type))
        return mw__token_fail(at, parser->err, MW_ERROR_DTYPE, "const \"%.60s\": its value has another type",
                              op->results[0]->name);
    op->results[0]->payload = value;
    return MW_OK;
}

/* nested-block = [ "(" [ param { "," param } ] ")" ] "{" { statement } "}" "->" "(" .. ")" */
static mw_status parse_nested_block(mw__parser *parser, mw__op *op)
{
    mw__map names;
    mw__map_init(&names, parser->graph->allocator);
    mw__scope scope = {.map = &names, .outer = parser->scope};
    mw__block *block = mw__block_create(parser->function, op, parser->err);
    mw_status status = block != NULL ? mw__parser_push(parser, &block, sizeof block) : parser->err->status;
    parser->scope = &scope;
    if (status == MW_OK)
        status = mw__parse_block(parser, block);
    parser->scope = scope.outer;
    mw__map_deinit(&names);
    return status;
}

/* { nested-block [ ";" ] } ";", where the last ";" may be the block's own */
static mw_status parse_nested_blocks(mw__parser *parser, mw__op *op)
{
    const size_t base = parser->stack_size;
    bool ended = false;
    MW_TRY(mw__parser_enter(parser));
    while (parser->token.kind == '(' || parser->token.kind == '{') {
        MW_TRY(parse_nested_block(parser, op));
        MW_TRY(mw__parser_accept(parser, ';', &ended));
    }
    parser->depth--;
    void *blocks;
    size_t bytes;
    MW_TRY(mw__parser_take(parser, base, &blocks, &bytes));
    op->blocks = blocks;
    op->block_count = bytes / sizeof(mw__block *);
    return ended ? mw__parser_accept(parser, ';', &ended) : mw__parser_expect(parser, ';', "\";\"");
}

/* The operation's name, shared with its row. */
static mw_status parse_kind(mw__parser *parser, mw__op *op)
{
    char name[64];
    const mw__token token = parser->token;
    if (token.kind != MW__TOKEN_WORD)
        return mw__parser_expected(parser, "an operation");
    if (token.length < sizeof name) {
        memcpy(name, token.text, token.length);
        name[token.length] = '\0';
        op->row = mw__row_find(name, parser->function->opset, NULL);
    }
    op->kind = op->row != NULL ? op->row->name : mw__parser_string(parser, &token);
    return op->kind != NULL ? mw__parser_advance(parser) : parser->err->status;
}

/* attr-list, of which what is an argument or the name is taken out */
static mw_status parse_op_attributes(mw__parser *parser, mw__op *op, const mw__token *at)
{
    const char *end;
    const bool listed = parser->token.kind == '[';
    if (listed && strcmp(op->kind, "const") != 0 && has_own_name(parser, op, &end)) {
        op->name = op->results[0]->name;
        return mw__parser_pass(parser, end);
    }
    if (listed)
        MW_TRY(mw__parse_attributes(parser, &op->attributes, &op->attribute_count));
    return apply_attributes(parser, op, at);
}

/* statement = [ results "=" ] ident "(" [ arg { "," arg } ] ")" [ attr-list ] { nested-block } ";" */
mw_status mw__parse_statement(mw__parser *parser, mw__block *block)
{
    mw__op *op = mw__parser_alloc(parser, 1, sizeof *op);
    if (op == NULL)
        return parser->err->status;
    op->block = block;
    op->line = parser->token.line;
    op->column = parser->token.column;
    if (mw__parser_at_type(parser) && parser->next.kind != '(')
        MW_TRY(parse_results(parser, op));
    const mw__token at = parser->token;
    MW_TRY(parse_kind(parser, op));
    MW_TRY(parse_arguments(parser, op));
    MW_TRY(parse_op_attributes(parser, op, &at));
    MW_TRY(check_required(parser, op, &at));
    MW_TRY(parse_nested_blocks(parser, op));
    MW_TRY(define_results(parser, op));
    return mw__block_add_op(block, op, parser->err);
}

/* The parser's tools, names of values, and recursive descent from program to block. Does not check what the table's
 * rules check of types and shapes (verify.c) and does not read weight files (load.c). */
#include "mil/text/parse.h"
#include "base/number/number.h"
#include "mil/io.h"
#include <string.h>

/* ---- the parser's tools ---- */

mw_status mw__parser_advance(mw__parser *parser)
{
    parser->token = parser->next;
    return mw__lexer_next(&parser->lexer, &parser->next, parser->err);
}

mw_status mw__parser_pass(mw__parser *parser, const char *to)
{
    mw__lexer_pass(&parser->lexer, to);
    MW_TRY(mw__parser_advance(parser));
    return mw__parser_advance(parser);
}

mw_status mw__parser_expected(mw__parser *parser, const char *what)
{
    char buffer[64];
    return mw__token_fail(&parser->token, parser->err, MW_ERROR_FORMAT, "expected %s, found %s", what,
                          mw__token_print(&parser->token, buffer, sizeof buffer));
}

mw_status mw__parser_expect(mw__parser *parser, int kind, const char *what)
{
    return parser->token.kind == kind ? mw__parser_advance(parser) : mw__parser_expected(parser, what);
}

mw_status mw__parser_accept(mw__parser *parser, int kind, bool *out)
{
    *out = parser->token.kind == kind;
    return *out ? mw__parser_advance(parser) : MW_OK;
}

mw_status mw__parser_enter(mw__parser *parser)
{
    if (parser->depth == MW__PARSE_DEPTH)
        return mw__token_fail(&parser->token, parser->err, MW_ERROR_FORMAT, "nested deeper than %d levels",
                              MW__PARSE_DEPTH);
    parser->depth++;
    return MW_OK;
}

mw_status mw__parser_push(mw__parser *parser, const void *item, size_t size)
{
    const size_t wanted = parser->stack_size + size; /* both are below the size of the text times a small factor */
    MW_TRY(mw__grow(parser->graph->allocator, &parser->stack, &parser->stack_capacity, wanted, 1, parser->err));
    memcpy(parser->stack + parser->stack_size, item, size);
    parser->stack_size = wanted;
    return MW_OK;
}

mw_status mw__parser_take(mw__parser *parser, size_t base, void **out, size_t *out_bytes)
{
    const size_t bytes = parser->stack_size - base;
    *out = mw__parser_alloc(parser, bytes, 1);
    if (*out == NULL)
        return parser->err->status;
    if (bytes > 0)
        memcpy(*out, parser->stack + base, bytes);
    *out_bytes = bytes;
    parser->stack_size = base;
    return MW_OK;
}

void *mw__parser_alloc(mw__parser *parser, size_t count, size_t size)
{
    return mw__arena_alloc(&parser->graph->arena, count, size, parser->err);
}

const char *mw__parser_string(mw__parser *parser, const mw__token *token)
{
    return mw__arena_string(&parser->graph->arena, token->text, token->length, parser->err);
}

/* ident, copied */
mw_status mw__parse_word(mw__parser *parser, const char *what, const char **out)
{
    if (parser->token.kind != MW__TOKEN_WORD)
        return mw__parser_expected(parser, what);
    *out = mw__parser_string(parser, &parser->token);
    return *out != NULL ? mw__parser_advance(parser) : parser->err->status;
}

/* ---- names of values ---- */

static mw_tensor *find_value(const mw__parser *parser, const mw__token *name)
{
    mw_tensor *value = NULL;
    for (const mw__scope *scope = parser->scope; scope != NULL && value == NULL; scope = scope->outer)
        value = mw__map_get_n(scope->map, name->text, name->length);
    return value;
}

mw_status mw__define_value(mw__parser *parser, const mw__token *name, mw_tensor *value)
{
    char buffer[64];
    if (find_value(parser, name) != NULL)
        return mw__token_fail(name, parser->err, MW_ERROR_FORMAT, "%s is defined twice",
                              mw__token_print(name, buffer, sizeof buffer));
    return mw__map_set_n(parser->scope->map, name->text, name->length, value, parser->err);
}

mw_status mw__parse_reference(mw__parser *parser, mw_tensor **out)
{
    char buffer[64];
    if (parser->token.kind != MW__TOKEN_WORD)
        return mw__parser_expected(parser, "the name of a value");
    *out = find_value(parser, &parser->token);
    if (*out == NULL)
        return mw__token_fail(&parser->token, parser->err, MW_ERROR_FORMAT, "%s is not defined here",
                              mw__token_print(&parser->token, buffer, sizeof buffer));
    return mw__parser_advance(parser);
}

/* type ident; the value is not yet visible */
mw_status mw__parse_value_declaration(mw__parser *parser, mw__token *out_name, mw_tensor **out)
{
    const mw__type *type = NULL;
    MW_TRY(mw__parse_type(parser, &type));
    *out_name = parser->token;
    const char *name = NULL;
    MW_TRY(mw__parse_word(parser, "the name of a value", &name));
    *out = mw__value_create_as(parser->graph, type, name, parser->err);
    if (*out == NULL)
        return parser->err->status;
    (*out)->name = name;
    return MW_OK;
}

/* ---- blocks and functions ---- */

/* "(" [ param { "," param } ] ")" where param = type ident */
static mw_status parse_parameters(mw__parser *parser, mw__block *block, mw__role role)
{
    MW_TRY(mw__parser_expect(parser, '(', "\"(\""));
    while (parser->token.kind != ')') {
        mw__token name;
        mw_tensor *value;
        if (block->input_count > 0)
            MW_TRY(mw__parser_expect(parser, ',', "\",\" or \")\""));
        MW_TRY(mw__parse_value_declaration(parser, &name, &value));
        value->role = role;
        MW_TRY(mw__define_value(parser, &name, value));
        MW_TRY(mw__block_add_input(block, value, parser->err));
    }
    return mw__parser_advance(parser);
}

/* "(" [ ident { "," ident } ] ")" */
static mw_status parse_outputs(mw__parser *parser, mw__block *block)
{
    MW_TRY(mw__parser_expect(parser, '(', "\"(\""));
    while (parser->token.kind != ')') {
        mw_tensor *value;
        if (block->output_count > 0)
            MW_TRY(mw__parser_expect(parser, ',', "\",\" or \")\""));
        MW_TRY(mw__parse_reference(parser, &value));
        MW_TRY(mw__block_add_output(block, value, parser->err));
    }
    return mw__parser_advance(parser);
}

/* "{" { statement } "}" "->" "(" [ ident { "," ident } ] ")" */
static mw_status parse_body(mw__parser *parser, mw__block *block)
{
    MW_TRY(mw__parser_expect(parser, '{', "\"{\""));
    while (parser->token.kind != '}')
        MW_TRY(mw__parse_statement(parser, block));
    MW_TRY(mw__parser_advance(parser));
    MW_TRY(mw__parser_expect(parser, MW__TOKEN_ARROW, "\"->\""));
    return parse_outputs(parser, block);
}

mw_status mw__parse_block(mw__parser *parser, mw__block *block)
{
    if (parser->token.kind == '(')
        MW_TRY(parse_parameters(parser, block, MW__VALUE));
    return parse_body(parser, block);
}

/* opset = ident */
static mw_status parse_opset(mw__parser *parser, mw_opset *out)
{
    static const struct {
        const char *name;
        mw_opset opset;
    } opsets[] = {{"ios15", MW_IOS15},   {"ios16", MW_IOS16},   {"ios17", MW_IOS17},   {"ios18", MW_IOS18},
                  {"ios26", MW_IOS26},   {"CoreML5", MW_IOS15}, {"CoreML6", MW_IOS16}, {"CoreML7", MW_IOS17},
                  {"CoreML8", MW_IOS18}, {"CoreML9", MW_IOS26}};
    char buffer[64];
    for (size_t i = 0; i < sizeof opsets / sizeof *opsets; i++)
        if (mw__token_is(&parser->token, opsets[i].name)) {
            *out = opsets[i].opset;
            return mw__parser_advance(parser);
        }
    return mw__token_fail(&parser->token, parser->err, MW_ERROR_UNSUPPORTED,
                          "operator set %s is not known; known are ios15 to ios18 and ios26",
                          mw__token_print(&parser->token, buffer, sizeof buffer));
}

/* "(" params ")" [ attr-list ] block-body */
static mw_status parse_function_body(mw__parser *parser)
{
    mw__function *function = parser->function;
    bool ended = false;
    MW_TRY(parse_parameters(parser, function->body, MW__INPUT));
    if (parser->token.kind == '[')
        MW_TRY(mw__parse_attributes(parser, &function->attributes, &function->attribute_count));
    MW_TRY(parse_body(parser, function->body));
    return mw__parser_accept(parser, ';', &ended);
}

/* function = "func" ident "<" opset ">" "(" [ param { "," param } ] ")" [ attr-list ] block-body */
static mw_status parse_function(mw__parser *parser)
{
    const char *name = NULL;
    mw_opset opset = MW_IOS18;
    MW_TRY(mw__parser_advance(parser));
    const mw__token at = parser->token;
    MW_TRY(mw__parse_word(parser, "the name of a function", &name));
    if (mw__function_find(parser->graph, name) != NULL)
        return mw__token_fail(&at, parser->err, MW_ERROR_FORMAT, "function \"%.60s\" is defined twice", name);
    MW_TRY(mw__parser_expect(parser, '<', "\"<\""));
    MW_TRY(parse_opset(parser, &opset));
    MW_TRY(mw__parser_expect(parser, '>', "\">\""));
    parser->function = mw__function_create(parser->graph, name, opset, parser->err);
    if (parser->function == NULL)
        return parser->err->status;
    parser->function->line = at.line;
    parser->function->column = at.column;
    mw__map own;
    mw__map_init(&own, parser->graph->allocator);
    /* the names of main are those that mw_graph_find knows */
    mw__scope scope = {.map = strcmp(name, "main") == 0 ? &parser->graph->names : &own};
    parser->scope = &scope;
    const mw_status status = parse_function_body(parser);
    parser->scope = NULL;
    mw__map_deinit(&own);
    return status;
}

/* version = digits [ "." digits ] */
static mw_status parse_version(mw__parser *parser)
{
    mw_graph *graph = parser->graph;
    const mw__token token = parser->token;
    const char *dot = memchr(token.text, '.', token.length);
    const size_t whole = dot != NULL ? (size_t)(dot - token.text) : token.length;
    int64_t major, minor = -1;
    bool good = token.kind == MW__TOKEN_NUMBER && mw__number_read_i64(token.text, whole, &major);
    if (good && dot != NULL)
        good = mw__number_read_i64(dot + 1, token.length - whole - 1, &minor) && minor >= 0;
    if (!good)
        return mw__parser_expected(parser, "a version such as 1.3");
    if (major != 1 || minor > 99)
        return mw__token_fail(&token, parser->err, MW_ERROR_UNSUPPORTED, "program version %.*s is not 1.x",
                              token.length > 20 ? 20 : (int)token.length, token.text);
    graph->version_major = (int)major;
    graph->version_minor = (int)minor;
    graph->style = minor >= 0 && minor < 3 ? MW__STYLE_OLD : MW__STYLE_NEW;
    return mw__parser_advance(parser);
}

/* program = "program" "(" version ")" [ attr-list ] "{" { function } "}" */
static mw_status parse_program(mw__parser *parser)
{
    mw_graph *graph = parser->graph;
    if (!mw__token_is(&parser->token, "program"))
        return mw__parser_expected(parser, "\"program\"");
    MW_TRY(mw__parser_advance(parser));
    MW_TRY(mw__parser_expect(parser, '(', "\"(\""));
    MW_TRY(parse_version(parser));
    MW_TRY(mw__parser_expect(parser, ')', "\")\""));
    if (parser->token.kind == '[')
        MW_TRY(mw__parse_attributes(parser, &graph->attributes, &graph->attribute_count));
    MW_TRY(mw__parser_expect(parser, '{', "\"{\""));
    while (mw__token_is(&parser->token, "func"))
        MW_TRY(parse_function(parser));
    if (graph->function_count == 0)
        return mw__parser_expected(parser, "\"func\"");
    MW_TRY(mw__parser_expect(parser, '}', "\"func\" or \"}\""));
    if (parser->token.kind != MW__TOKEN_END)
        return mw__parser_expected(parser, "end of text");
    return MW_OK;
}

static mw_status parse_text(mw__parser *parser)
{
    MW_TRY(mw__parser_advance(parser));
    MW_TRY(mw__parser_advance(parser));
    MW_TRY(parse_program(parser));
    mw__function *main = mw__graph_main(parser->graph);
    parser->graph->current = main != NULL ? main : parser->graph->functions[0];
    parser->graph->block = parser->graph->current->body;
    parser->graph->final_newline = parser->lexer.text[parser->lexer.size - 1] == '\n';
    return MW_OK;
}

mw_status mw__mil_parse(mw_graph *graph, const char *text, size_t size, mw_error *err)
{
    if (mw__failed(err))
        return err->status;
    mw_error own = {0};
    mw__parser parser = {.graph = graph, .err = &own};
    mw__lexer_init(&parser.lexer, text, size);
    graph->function_count = 0; /* a fresh graph has an empty main */
    graph->current = NULL;
    graph->block = NULL;
    const mw_status status = parse_text(&parser);
    mw__free(graph->allocator, parser.stack);
    if (status != MW_OK && err != NULL)
        *err = own;
    return status;
}

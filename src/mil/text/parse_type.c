/* Reads types. Scalar types of every element type are shared, so that a text of scalars costs no memory for them. */
#include "base/number/hash.h"
#include "base/number/number.h"
#include "base/number/types.h"
#include "mil/text/parse.h"
#include <string.h>

#define SCALAR(dtype_) [dtype_] = {.kind = MW__TENSOR, .dtype = dtype_}
static const mw__type scalar_types[MW_DTYPE_COUNT] = {
    SCALAR(MW_F16),      SCALAR(MW_F32),    SCALAR(MW_F64),  SCALAR(MW_BF16),  SCALAR(MW_I4),  SCALAR(MW_I8),
    SCALAR(MW_I16),      SCALAR(MW_I32),    SCALAR(MW_I64),  SCALAR(MW_U1),    SCALAR(MW_U2),  SCALAR(MW_U3),
    SCALAR(MW_U4),       SCALAR(MW_U6),     SCALAR(MW_U8),   SCALAR(MW_U16),   SCALAR(MW_U32), SCALAR(MW_U64),
    SCALAR(MW_F8E4M3FN), SCALAR(MW_F8E5M2), SCALAR(MW_BOOL), SCALAR(MW_STRING)};
#undef SCALAR

static mw_dtype dtype_of(const mw__token *token)
{
    return token->kind == MW__TOKEN_WORD ? mw__number_dtype_named(token->text, token->length) : MW_DTYPE_NONE;
}

/* A type whose name is followed by "<". */
static bool is_compound(const mw__token *token, mw__type_kind *out)
{
    static const char *const names[] = {[MW__TENSOR] = "tensor",
                                        [MW__STATE] = "state",
                                        [MW__LIST] = "list",
                                        [MW__TUPLE] = "tuple",
                                        [MW__DICT] = "dict"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (mw__token_is(token, names[i])) {
            *out = (mw__type_kind)i;
            return true;
        }
    return false;
}

bool mw__parser_at_type(const mw__parser *parser)
{
    mw__type_kind kind;
    if (parser->token.kind != MW__TOKEN_WORD)
        return false;
    if (is_compound(&parser->token, &kind))
        return parser->next.kind == '<';
    return dtype_of(&parser->token) != MW_DTYPE_NONE;
}

bool mw__parser_at_literal(const mw__parser *parser)
{
    return (parser->next.kind == '(' || parser->next.kind == '<') && mw__parser_at_type(parser);
}

/* dim = digits | "?" */
static mw_status parse_dim(mw__parser *parser, int64_t *out)
{
    const mw__token token = parser->token;
    if (token.kind == '?') {
        *out = MW_DIM_UNKNOWN;
        return mw__parser_advance(parser);
    }
    if (token.kind != MW__TOKEN_NUMBER)
        return mw__parser_expected(parser, "an extent or \"?\"");
    if (!mw__number_read_i64(token.text, token.length, out) || *out < 0)
        return mw__token_fail(&token, parser->err, MW_ERROR_SHAPE, "extent %.*s is not in 0 .. 2^63 - 1",
                              token.length > 40 ? 40 : (int)token.length, token.text);
    return mw__parser_advance(parser);
}

/* "[" [ dim { "," dim } ] "]" */
static mw_status parse_dims(mw__parser *parser, mw_shape *out)
{
    out->rank = 0;
    MW_TRY(mw__parser_expect(parser, '[', "\"[\""));
    while (parser->token.kind != ']') {
        if (out->rank > 0)
            MW_TRY(mw__parser_expect(parser, ',', "\",\" or \"]\""));
        if (out->rank == MW_RANK_MAX)
            return mw__token_fail(&parser->token, parser->err, MW_ERROR_SHAPE, "rank above %d", MW_RANK_MAX);
        MW_TRY(parse_dim(parser, &out->dim[out->rank++]));
    }
    return mw__parser_advance(parser);
}

/* prim "," "[" [ dim { "," dim } ] "]" */
static mw_status parse_extents(mw__parser *parser, const mw__type **out)
{
    const mw__token at = parser->token;
    const mw_dtype dtype = dtype_of(&at);
    mw_shape shape = {0};
    if (dtype == MW_DTYPE_NONE)
        return mw__parser_expected(parser, "an element type");
    MW_TRY(mw__parser_advance(parser));
    MW_TRY(mw__parser_expect(parser, ',', "\",\""));
    MW_TRY(parse_dims(parser, &shape));
    if (shape.rank == 0) {
        *out = &scalar_types[dtype];
        return MW_OK;
    }
    *out = mw__type_tensor(parser->graph, dtype, shape, parser->err);
    if (*out != NULL)
        return MW_OK;
    mw__error_position(parser->err, (int)at.line, (int)at.column);
    return parser->err->status;
}

static mw_status parse_element(mw__parser *parser)
{
    const mw__type *element;
    MW_TRY(mw__parse_type(parser, &element));
    return mw__parser_push(parser, &element, sizeof element);
}

static mw_status parse_elements(mw__parser *parser, mw__type *type)
{
    const size_t base = parser->stack_size;
    MW_TRY(parse_element(parser));
    if (type->kind == MW__LIST) {
        MW_TRY(mw__parser_expect(parser, ',', "\",\""));
        MW_TRY(parse_dim(parser, &type->length));
    } else if (type->kind == MW__DICT) {
        MW_TRY(mw__parser_expect(parser, ',', "\",\""));
        MW_TRY(parse_element(parser));
    } else if (type->kind == MW__TUPLE) {
        for (bool more = false;;) {
            MW_TRY(mw__parser_accept(parser, ',', &more));
            if (!more)
                break;
            MW_TRY(parse_element(parser));
        }
    }
    void *elements;
    size_t bytes;
    MW_TRY(mw__parser_take(parser, base, &elements, &bytes));
    type->element = elements;
    type->count = bytes / sizeof(mw__type *);
    return MW_OK;
}

/* "list" "<" type "," dim ">" | "dict" "<" type "," type ">" | "tuple" "<" type { "," type } ">" | "state" "<" type ">"
 */
static mw_status parse_compound(mw__parser *parser, mw__type_kind kind, const mw__type **out)
{
    mw__type *type = mw__parser_alloc(parser, 1, sizeof *type);
    if (type == NULL)
        return MW_ERROR_MEMORY;
    type->kind = kind;
    const mw__token start = parser->token;
    MW_TRY(parse_elements(parser, type));
    if (kind == MW__STATE && type->element[0]->kind != MW__TENSOR)
        return mw__token_fail(&start, parser->err, MW_ERROR_FORMAT, "a state holds a tensor");
    *out = type;
    return MW_OK;
}

/* ---- types that were met before ---- */

enum { SPELLED_MOST = 64 };

/* The bytes from "tensor" to its ">", if they are few and plain; else 0. */
static size_t spelled_length(const mw__parser *parser)
{
    const char *start = parser->token.text, *end = parser->lexer.text + parser->lexer.size;
    if (end - start > SPELLED_MOST)
        end = start + SPELLED_MOST;
    for (const char *at = start; at < end; at++) {
        if (*at == '>')
            return (size_t)(at - start) + 1;
        if ((unsigned char)*at < ' ' || *at == '/')
            return 0;
    }
    return 0;
}

static mw__spelled_type *find_spelled(mw__parser *parser, size_t length)
{
    return &parser->types[mw__hash64(parser->token.text, length, 0) % MW__PARSE_TYPES];
}

/* Most types of a program were spelled so before: their tokens are passed over. */
static mw_status parse_spelled(mw__parser *parser, const mw__spelled_type *spelled, const mw__type **out)
{
    MW_TRY(mw__parser_enter(parser)); /* no deeper than where it was met first */
    parser->depth--;
    *out = spelled->type;
    return mw__parser_pass(parser, parser->token.text + spelled->length);
}

/* word "<" .. ">" */
static mw_status parse_held(mw__parser *parser, mw__type_kind kind, const mw__type **out)
{
    MW_TRY(mw__parser_advance(parser));
    MW_TRY(mw__parser_enter(parser));
    MW_TRY(mw__parser_expect(parser, '<', "\"<\""));
    MW_TRY(kind == MW__TENSOR ? parse_extents(parser, out) : parse_compound(parser, kind, out));
    parser->depth--;
    return mw__parser_expect(parser, '>', "\">\"");
}

/* "tensor" "<" prim "," "[" [ dim { "," dim } ] "]" ">" */
static mw_status parse_tensor(mw__parser *parser, const mw__type **out)
{
    const char *text = parser->token.text;
    const size_t length = spelled_length(parser);
    mw__spelled_type *spelled = length > 0 ? find_spelled(parser, length) : NULL;
    if (spelled != NULL && spelled->length == length && memcmp(spelled->text, text, length) == 0)
        return parse_spelled(parser, spelled, out);
    MW_TRY(parse_held(parser, MW__TENSOR, out));
    if (spelled != NULL)
        *spelled = (mw__spelled_type){text, length, *out};
    return MW_OK;
}

/* type = prim | "tensor" "<" .. ">" | "list" "<" .. ">" | "dict" "<" .. ">" | "tuple" "<" .. ">" | "state" "<" .. ">"
 */
mw_status mw__parse_type(mw__parser *parser, const mw__type **out)
{
    mw__type_kind kind;
    if (!is_compound(&parser->token, &kind)) {
        const mw_dtype dtype = dtype_of(&parser->token);
        *out = &scalar_types[dtype];
        return dtype != MW_DTYPE_NONE ? mw__parser_advance(parser) : mw__parser_expected(parser, "a type");
    }
    if (parser->next.kind != '<')
        return mw__parser_expected(parser, "a type");
    return kind == MW__TENSOR ? parse_tensor(parser, out) : parse_held(parser, kind, out);
}

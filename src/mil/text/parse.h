/* The parser's state, shared by parse.c (program to statement), parse_type.c and parse_value.c. */
#ifndef MW__MIL_TEXT_PARSE_H
#define MW__MIL_TEXT_PARSE_H

#include "graph/ir/ir.h"
#include "mil/text/token.h"

/* Deepest nesting of types, literals, tuples and blocks together. */
#define MW__PARSE_DEPTH 64
/* Most arguments of one operation and attributes in one list. */
#define MW__PARSE_ENTRIES 256

/* Names that a block defines; lookup goes outwards. */
typedef struct mw__scope {
    mw__map *map;
    struct mw__scope *outer; /* NULL for a function */
} mw__scope;

/* A type of a tensor as it is spelled. */
typedef struct mw__spelled_type {
    const char *text; /* from "tensor" to ">" */
    size_t length;
    const mw__type *type;
} mw__spelled_type;

enum { MW__PARSE_TYPES = 64 };

typedef struct mw__parser {
    mw_graph *graph;
    mw_error *err;
    mw__lexer lexer;
    mw__token token, next; /* the current one and one of lookahead */
    int depth;
    mw__function *function;
    mw__scope *scope;
    char *stack; /* lists that are being read, innermost last; copied to the arena when they are complete */
    size_t stack_size, stack_capacity;
    mw__spelled_type types[MW__PARSE_TYPES]; /* met before, by hash */
} mw__parser;

mw_status mw__parser_advance(mw__parser *parser);
/* Goes on at a later place of the line, behind the lookahead. */
mw_status mw__parser_pass(mw__parser *parser, const char *to);
/* Raises "expected <what>, found <token>" at the current token. */
mw_status mw__parser_expected(mw__parser *parser, const char *what);
/* Takes the current token, which must be of that kind; `what` names it in the message. */
mw_status mw__parser_expect(mw__parser *parser, int kind, const char *what);
/* Takes the current token if it is of that kind. */
mw_status mw__parser_accept(mw__parser *parser, int kind, bool *out);
/* One level deeper; refuses beyond MW__PARSE_DEPTH. Leave with parser->depth--. */
mw_status mw__parser_enter(mw__parser *parser);

/* Lists of unknown length: push items, then take what lies above `base` as one arena array. */
mw_status mw__parser_push(mw__parser *parser, const void *item, size_t size);
mw_status mw__parser_take(mw__parser *parser, size_t base, void **out, size_t *out_bytes);

void *mw__parser_alloc(mw__parser *parser, size_t count, size_t size);
const char *mw__parser_string(mw__parser *parser, const mw__token *token); /* of a word, as it stands */

/* True if the current token starts a type. */
bool mw__parser_at_type(const mw__parser *parser);
/* True if a typed literal starts here: a type keyword followed by "(" or "<". */
bool mw__parser_at_literal(const mw__parser *parser);

mw_status mw__parse_type(mw__parser *parser, const mw__type **out);
/* typed-value = type "(" payload ")" */
mw_status mw__parse_typed_value(mw__parser *parser, const mw__payload **out);

/* ---- parse.c ---- */

/* ident, copied; `what` is for the message */
mw_status mw__parse_word(mw__parser *parser, const char *what, const char **out);
/* Makes a value visible; an error if the name is. */
mw_status mw__define_value(mw__parser *parser, const mw__token *name, mw_tensor *value);
/* The value that a name stands for. */
mw_status mw__parse_reference(mw__parser *parser, mw_tensor **out);
/* type ident; the value is not yet visible */
mw_status mw__parse_value_declaration(mw__parser *parser, mw__token *out_name, mw_tensor **out);
/* [ "(" params ")" ] "{" { statement } "}" "->" "(" names ")" */
mw_status mw__parse_block(mw__parser *parser, mw__block *block);

/* ---- parse_statement.c ---- */

mw_status mw__parse_statement(mw__parser *parser, mw__block *block);
mw_status mw__parse_attributes(mw__parser *parser, mw__attribute **out, size_t *out_count);

#endif

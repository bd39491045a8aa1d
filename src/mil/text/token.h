/* Words of MIL text: zero-copy tokens with their place. */
#ifndef MW__MIL_TEXT_TOKEN_H
#define MW__MIL_TEXT_TOKEN_H

#include "base/text/error.h"

/* A punctuation mark is its own character; `->` and the classes have names. */
enum { MW__TOKEN_END = 256, MW__TOKEN_WORD, MW__TOKEN_NUMBER, MW__TOKEN_STRING, MW__TOKEN_ARROW };

typedef struct mw__token {
    int kind;
    const char *text; /* in the text that is read; a string without its quotes, escapes not yet resolved */
    size_t length;
    uint32_t line, column; /* from 1, in bytes */
} mw__token;

typedef struct mw__lexer {
    const char *text;
    size_t size;
    size_t position;
    uint32_t line;
    size_t line_start; /* position of the first byte of the line */
} mw__lexer;

/* Longest word; a name of MIL is far shorter. */
#define MW__WORD_MAX 65535

void mw__lexer_init(mw__lexer *lexer, const char *text, size_t size);

/* Reads the next token; MW__TOKEN_END at the end, again and again. */
mw_status mw__lexer_next(mw__lexer *lexer, mw__token *out, mw_error *err);

/* Goes on at a later place of the same line. */
void mw__lexer_pass(mw__lexer *lexer, const char *to);

/* True if the token is that word. */
bool mw__token_is(const mw__token *token, const char *word);

/* Raises MW_ERROR_FORMAT at a token; the message starts with "line:column: ". */
mw_status mw__token_fail(const mw__token *token, mw_error *err, mw_status status, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* What to call a token in a message, e.g. `"relu"` or `end of text`. */
const char *mw__token_print(const mw__token *token, char *buffer, size_t size);

#endif

/* Cuts MIL text into tokens. Knows white space, comments, words, numbers and strings; does not know the grammar. */
#include "base/text/printable.h"
#include "base/text/utf8.h"
#include "mil/text/token.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void mw__lexer_init(mw__lexer *lexer, const char *text, size_t size)
{
    *lexer = (mw__lexer){.text = text, .size = size, .line = 1};
}

void mw__lexer_pass(mw__lexer *lexer, const char *to) { lexer->position = (size_t)(to - lexer->text); }

bool mw__token_is(const mw__token *token, const char *word)
{
    if (token->kind != MW__TOKEN_WORD || token->text[0] != word[0]) /* nearly every word differs here */
        return false;
    const size_t length = strlen(word);
    return token->length == length && memcmp(token->text, word, length) == 0;
}

mw_status mw__token_fail(const mw__token *token, mw_error *err, mw_status status, const char *format, ...)
{
    char message[400];
    va_list arguments;
    va_start(arguments, format);
    mw__printable_vprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    mw__fail(err, status, "%u:%u: %s", token->line, token->column, message);
    mw__error_position(err, (int)token->line, (int)token->column);
    return status;
}

const char *mw__token_print(const mw__token *token, char *buffer, size_t size)
{
    const int length = token->length < INT_MAX ? (int)token->length : INT_MAX;
    if (token->kind == MW__TOKEN_END)
        snprintf(buffer, size, "end of text");
    else if (token->kind == MW__TOKEN_STRING)
        mw__printable_printf(buffer, size, "string \"%.*s\"", length, token->text);
    else
        mw__printable_printf(buffer, size, "\"%.*s\"", length, token->text);
    return buffer;
}

/* Every byte of a text is asked about once or twice, so what it may be stands in a table. */
enum { WORD_START = 1, WORD_PART = 2, DIGIT = 4, MARK = 8, LETTER = WORD_START | WORD_PART };
/* clang-format off */
static const unsigned char classes[256] = {
    ['a'] = LETTER, ['b'] = LETTER, ['c'] = LETTER, ['d'] = LETTER, ['e'] = LETTER, ['f'] = LETTER, ['g'] = LETTER,
    ['h'] = LETTER, ['i'] = LETTER, ['j'] = LETTER, ['k'] = LETTER, ['l'] = LETTER, ['m'] = LETTER, ['n'] = LETTER,
    ['o'] = LETTER, ['p'] = LETTER, ['q'] = LETTER, ['r'] = LETTER, ['s'] = LETTER, ['t'] = LETTER, ['u'] = LETTER,
    ['v'] = LETTER, ['w'] = LETTER, ['x'] = LETTER, ['y'] = LETTER, ['z'] = LETTER,
    ['A'] = LETTER, ['B'] = LETTER, ['C'] = LETTER, ['D'] = LETTER, ['E'] = LETTER, ['F'] = LETTER, ['G'] = LETTER,
    ['H'] = LETTER, ['I'] = LETTER, ['J'] = LETTER, ['K'] = LETTER, ['L'] = LETTER, ['M'] = LETTER, ['N'] = LETTER,
    ['O'] = LETTER, ['P'] = LETTER, ['Q'] = LETTER, ['R'] = LETTER, ['S'] = LETTER, ['T'] = LETTER, ['U'] = LETTER,
    ['V'] = LETTER, ['W'] = LETTER, ['X'] = LETTER, ['Y'] = LETTER, ['Z'] = LETTER, ['_'] = LETTER,
    ['0'] = DIGIT | WORD_PART, ['1'] = DIGIT | WORD_PART, ['2'] = DIGIT | WORD_PART, ['3'] = DIGIT | WORD_PART,
    ['4'] = DIGIT | WORD_PART, ['5'] = DIGIT | WORD_PART, ['6'] = DIGIT | WORD_PART, ['7'] = DIGIT | WORD_PART,
    ['8'] = DIGIT | WORD_PART, ['9'] = DIGIT | WORD_PART, ['@'] = WORD_PART,
    ['('] = MARK, [')'] = MARK, ['['] = MARK, [']'] = MARK, ['{'] = MARK, ['}'] = MARK, ['<'] = MARK, ['>'] = MARK,
    [','] = MARK, ['='] = MARK, [';'] = MARK, ['?'] = MARK};
/* clang-format on */

static bool is_letter(char c, int what) { return (classes[(unsigned char)c] & what) != 0; }

static char peek(const mw__lexer *lexer, size_t ahead)
{
    return ahead < lexer->size - lexer->position ? lexer->text[lexer->position + ahead] : '\0';
}

static void new_line(mw__lexer *lexer)
{
    lexer->line++;
    lexer->line_start = lexer->position;
}

static mw__token here(const mw__lexer *lexer, int kind)
{
    return (mw__token){.kind = kind,
                       .text = lexer->text + lexer->position,
                       .line = lexer->line,
                       .column = (uint32_t)(lexer->position - lexer->line_start + 1)};
}

static mw_status bad_byte(const mw__lexer *lexer, mw_error *err)
{
    const mw__token at = here(lexer, MW__TOKEN_END);
    const unsigned char byte = (unsigned char)*at.text;
    if (byte == 0)
        return mw__token_fail(&at, err, MW_ERROR_FORMAT, "NUL byte in the text");
    if (byte == 0xef && peek(lexer, 1) == '\xbb' && peek(lexer, 2) == '\xbf')
        return mw__token_fail(&at, err, MW_ERROR_FORMAT, "byte order mark; save the text without one");
    if (byte >= 0x80)
        return mw__token_fail(&at, err, MW_ERROR_FORMAT, "byte 0x%02x is not valid UTF-8, or stands outside a string",
                              byte);
    return mw__token_fail(&at, err, MW_ERROR_FORMAT, "unexpected character 0x%02x", byte);
}

/* One character of a string or comment, which may be any UTF-8 but NUL. */
static mw_status skip_character(mw__lexer *lexer, mw_error *err)
{
    const size_t length = mw__utf8_length(lexer->text + lexer->position, lexer->text + lexer->size);
    if (length == 0 || peek(lexer, 0) == '\0')
        return bad_byte(lexer, err);
    const bool line_end = peek(lexer, 0) == '\n';
    lexer->position += length;
    if (line_end)
        new_line(lexer);
    return MW_OK;
}

/* Lines begin with many. */
static void skip_blanks(mw__lexer *lexer)
{
    const char *at = lexer->text + lexer->position, *end = lexer->text + lexer->size;
    while (at < end && *at == ' ')
        at++;
    lexer->position = (size_t)(at - lexer->text);
}

/* comment = "//" ... end-of-line */
static mw_status skip_space(mw__lexer *lexer, mw_error *err)
{
    while (lexer->position < lexer->size) {
        const char c = peek(lexer, 0);
        if (c == '/' && peek(lexer, 1) == '/') {
            while (lexer->position < lexer->size && peek(lexer, 0) != '\n')
                MW_TRY(skip_character(lexer, err));
        } else if (c == ' ') {
            skip_blanks(lexer);
        } else if (c == '\t' || c == '\r') {
            lexer->position++;
        } else if (c == '\n') {
            lexer->position++;
            new_line(lexer);
        } else {
            break;
        }
    }
    return MW_OK;
}

/* What most strings are made of: letters, digits and printable ASCII without escapes. */
static void skip_plain(mw__lexer *lexer)
{
    const char *at = lexer->text + lexer->position, *end = lexer->text + lexer->size;
    while (at < end && (is_letter(*at, WORD_PART) || (*at >= ' ' && *at <= '~' && *at != '"' && *at != '\\')))
        at++;
    lexer->position = (size_t)(at - lexer->text);
}

/* string = '"' { any char but '"' and '\' | '\' any } '"' */
static mw_status read_string(mw__lexer *lexer, mw__token *out, mw_error *err)
{
    *out = here(lexer, MW__TOKEN_STRING);
    out->text++;
    lexer->position++;
    skip_plain(lexer);
    while (lexer->position < lexer->size && peek(lexer, 0) != '"') {
        if (peek(lexer, 0) == '\\')
            lexer->position++;
        if (lexer->position < lexer->size)
            MW_TRY(skip_character(lexer, err));
        skip_plain(lexer);
    }
    if (lexer->position >= lexer->size)
        return mw__token_fail(out, err, MW_ERROR_FORMAT, "string without closing quote");
    out->length = (size_t)(lexer->text + lexer->position - out->text);
    lexer->position++;
    return MW_OK;
}

static size_t word_length(const mw__lexer *lexer)
{
    const char *start = lexer->text + lexer->position, *end = lexer->text + lexer->size, *at = start + 1;
    while (at < end && is_letter(*at, WORD_PART))
        at++;
    return (size_t)(at - start);
}

/* Takes everything that can belong to a number; base/number/number.h checks it. A sign inside follows e or p. */
static size_t number_length(const mw__lexer *lexer)
{
    size_t length = peek(lexer, 0) == '-' ? 1 : 0;
    for (;; length++) {
        const char c = peek(lexer, length);
        const char before = length > 0 ? peek(lexer, length - 1) : '\0';
        const bool after_exponent = before == 'e' || before == 'E' || before == 'p' || before == 'P';
        if (!is_letter(c, WORD_PART) && c != '.' && !((c == '+' || c == '-') && after_exponent))
            return length;
    }
}

/* Most tokens are marks, or stand behind one blank. */
mw_status mw__lexer_next(mw__lexer *lexer, mw__token *out, mw_error *err)
{
    char c = peek(lexer, 0);
    lexer->position += c == ' ';
    c = c == ' ' ? peek(lexer, 0) : c;
    if ((classes[(unsigned char)c] & (MARK | WORD_START)) == 0) {
        MW_TRY(skip_space(lexer, err));
        c = peek(lexer, 0);
    }
    *out = here(lexer, MW__TOKEN_END);
    if (lexer->position >= lexer->size)
        return MW_OK;
    if (is_letter(c, MARK)) {
        out->kind = c;
        out->length = 1;
    } else if (c == '"') {
        return read_string(lexer, out, err);
    } else if (c == '-' && peek(lexer, 1) == '>') {
        out->kind = MW__TOKEN_ARROW;
        out->length = 2;
    } else if (is_letter(c, WORD_START)) {
        out->kind = MW__TOKEN_WORD;
        out->length = word_length(lexer);
        if (out->length > MW__WORD_MAX)
            return mw__token_fail(out, err, MW_ERROR_FORMAT, "name of %zu bytes; the limit is %d", out->length,
                                  MW__WORD_MAX);
    } else if (is_letter(c, DIGIT) || c == '-') {
        out->kind = MW__TOKEN_NUMBER;
        out->length = number_length(lexer);
    } else {
        return bad_byte(lexer, err);
    }
    lexer->position += out->length;
    return MW_OK;
}

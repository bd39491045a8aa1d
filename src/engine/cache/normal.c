/* The lexical rules are those of mil/text/lex.c; what is malformed stays as it is, so that it is equal to itself only.
 */
#include "engine/cache/normal.h"

#include "base/number/number.h"

#include <string.h>

typedef struct reader {
    const char *text;
    size_t size, at;
    bool space; /* between what was written and what comes */
    mw__text *out;
} reader;

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/* Marks that are tokens by themselves, whatever stands beside them. */
static bool is_mark(char c)
{
    static const bool marks[256] = {['('] = true, [')'] = true, ['['] = true, [']'] = true, ['{'] = true, ['}'] = true,
                                    ['<'] = true, ['>'] = true, [','] = true, ['='] = true, [';'] = true, ['?'] = true};
    return marks[(unsigned char)c];
}

/* Bytes of a comment without its line end; 0 if there is none, or one that the lexer could refuse. */
static size_t comment_length(const reader *r)
{
    const char *begin = r->text + r->at;
    const size_t left = r->size - r->at;
    if (left < 2 || begin[0] != '/' || begin[1] != '/')
        return 0;
    size_t length = 2;
    for (; length < left && begin[length] != '\n'; length++)
        if (begin[length] == '\0' || (unsigned char)begin[length] >= 0x80)
            return 0;
    return length;
}

static size_t string_length(const reader *r)
{
    size_t at = r->at + 1;
    while (at < r->size && r->text[at] != '"')
        at += r->text[at] == '\\' ? 2 : 1;
    return (at < r->size ? at + 1 : r->size) - r->at;
}

/* What goes on without space, comment or string. */
static size_t run_length(const reader *r)
{
    size_t at = r->at;
    while (at < r->size && !is_space(r->text[at]) && r->text[at] != '"' && r->text[at] != '/')
        at++;
    return at - r->at;
}

/* "- >" is no arrow, so that what follows a sign keeps its space. */
static void take_token(reader *r, size_t length)
{
    const char first = r->text[r->at], last = r->out->size > 0 ? r->out->data[r->out->size - 1] : '(';
    if (r->space && (last == '-' || !(is_mark(last) || is_mark(first))))
        mw__text_append(r->out, " ", 1);
    mw__text_append(r->out, r->text + r->at, length);
    r->space = false;
    r->at += length;
}

/* ---- buildInfo ---- */

/* Of a part of the normal text: the end of what is bracketed, or of the part. */
static size_t skip_value(const char *text, size_t at, size_t end)
{
    int depth = 0;
    for (; at < end; at++) {
        const char c = text[at];
        if (c == '"') {
            const reader string = {.text = text, .size = end, .at = at};
            at += string_length(&string) - 1;
        } else if (c == '(' || c == '[' || c == '{' || c == '<') {
            depth++;
        } else if (depth == 0 && (c == ',' || c == ']')) {
            return at;
        } else if (c == ')' || c == ']' || c == '}' || c == '>') {
            depth--;
        }
    }
    return end;
}

static void cut_text(mw__text *text, size_t from, size_t to)
{
    memmove(text->data + from, text->data + to, text->size - to + 1);
    text->size -= to - from;
}

/* program(1.3)[a=..,buildInfo=..,b=..]{ */
static void cut_build_info(mw__text *text, size_t begin)
{
    static const char name[] = "buildInfo=";
    const char *open = memchr(text->data + begin, '[', text->size - begin);
    const char *body = memchr(text->data + begin, '{', text->size - begin);
    if (open == NULL || body == NULL || body < open)
        return;
    size_t at = (size_t)(open - text->data) + 1;
    while (at < text->size && text->data[at] != ']') {
        const size_t end = skip_value(text->data, at, text->size);
        if (end >= text->size)
            return;
        if (end - at >= sizeof name - 1 && memcmp(text->data + at, name, sizeof name - 1) == 0) {
            cut_text(text, at, end + (text->data[end] == ','));
            return;
        }
        at = end + (text->data[end] == ',');
    }
}

void mw__cache_normal_append(mw__text *out, const char *text, size_t size)
{
    reader r = {.text = text, .size = size, .out = out};
    const size_t begin = out->size;
    while (r.at < size && !out->failed) {
        size_t length;
        if (is_space(text[r.at])) {
            r.space = true;
            r.at++;
        } else if ((length = comment_length(&r)) > 0) {
            r.space = true;
            r.at += length;
        } else {
            length = text[r.at] == '"' ? string_length(&r) : run_length(&r);
            take_token(&r, length > 0 ? length : 1);
        }
    }
    if (!out->failed && out->size > begin)
        cut_build_info(out, begin);
}

/* ---- weights ---- */

/* Sets *at behind `wanted`, if it stands there. */
static bool expect(const mw__text *text, size_t *at, const char *wanted)
{
    const size_t length = strlen(wanted);
    if (text->size - *at < length || memcmp(text->data + *at, wanted, length) != 0)
        return false;
    *at += length;
    return true;
}

/* Behind the "(" of a literal: string("..") or tensor<string,[]>("..") */
static bool skip_type(const mw__text *text, size_t *at)
{
    const char *open = memchr(text->data + *at, '(', text->size - *at);
    if (open == NULL || open - (text->data + *at) > 40)
        return false;
    *at = (size_t)(open - text->data) + 1;
    return true;
}

static bool read_place(const mw__text *text, size_t *at, mw__weight_place *out)
{
    if (!expect(text, at, "(path=") || !skip_type(text, at) || !expect(text, at, "\""))
        return false;
    out->path = text->data + *at;
    const char *end = memchr(out->path, '"', text->size - *at);
    if (end == NULL)
        return false;
    out->path_length = (size_t)(end - out->path);
    *at += out->path_length;
    if (memchr(out->path, '\\', out->path_length) != NULL || !expect(text, at, "\"),offset=") || !skip_type(text, at))
        return false;
    const char *digits = text->data + *at, *close = memchr(digits, ')', text->size - *at);
    if (close == NULL || !mw__number_read_u64(digits, (size_t)(close - digits), &out->offset))
        return false;
    *at = (size_t)(close - text->data) + 1;
    return true;
}

bool mw__cache_normal_next_weight(const mw__text *text, size_t *at, bool *found, mw__weight_place *out)
{
    static const char word[] = "BLOBFILE";
    *found = false;
    while (*at < text->size) {
        const char *next = memchr(text->data + *at, word[0], text->size - *at);
        if (next == NULL)
            break;
        *at = (size_t)(next - text->data);
        if (expect(text, at, word)) {
            *found = true;
            return read_place(text, at, out);
        }
        ++*at;
    }
    return true;
}

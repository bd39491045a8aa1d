/* The strict JSON reader, for text that others made: one pass, depth and numbers bounded, every byte checked. It gives
 * events and builds no tree. */
#include "base/text/json.h"

#include "base/memory/map.h"
#include "base/text/string.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

#include <limits.h>
#include <string.h>

typedef struct reader {
    const char *start;
    const char *at;
    const char *end;
    mw__json_handler *handler;
    void *user;
    mw_error *err;
    const char *from;             /* where the key or value that is read begins */
    int depth;                    /* of the containers that are open */
    bool all;                     /* of the language, or the subset */
    mw__map keys[MW__JSON_DEPTH]; /* names seen in the open object of that depth */
    mw__text string;              /* the last string, unescaped */
} reader;

/* Line and column of a place are counted only when somebody asks. */
static mw_status place_error(reader *json, const char *place)
{
    int line = 1, column = 1;
    for (const char *at = json->start; at < place && line < INT_MAX && column < INT_MAX; at++) {
        column = *at == '\n' ? 1 : column + 1;
        line += *at == '\n';
    }
    mw__error_position(json->err, line, column);
    return MW_ERROR_FORMAT;
}

static mw_status malformed_json(reader *json, const char *place, const char *what)
{
    mw__fail(json->err, MW_ERROR_FORMAT, "JSON: %s", what);
    return place_error(json, place);
}

static void skip_space(reader *json)
{
    while (json->at < json->end && (*json->at == ' ' || *json->at == '\t' || *json->at == '\n' || *json->at == '\r'))
        json->at++;
}

/* The next byte, or 0 at the end (a NUL in the text is refused like any other byte that fits nowhere). */
static char peek(const reader *json) { return json->at < json->end ? *json->at : '\0'; }

static mw_status emit_event(reader *json, mw__json_event event, uint64_t number)
{
    const bool text = event == MW__JSON_KEY || event == MW__JSON_STRING || event == MW__JSON_REAL;
    const bool begin = event == MW__JSON_BEGIN_OBJECT || event == MW__JSON_BEGIN_ARRAY;
    const bool end = event == MW__JSON_END_OBJECT || event == MW__JSON_END_ARRAY;
    const mw__json_item item = {
        .event = event,
        .text = text ? json->string.data : NULL,
        .length = text ? json->string.size : 0,
        .number = number,
        .depth = json->depth - (begin || end),
        .offset = (size_t)(json->from - json->start),
    };
    return json->handler(json->user, &item, json->err);
}

/* ---- strings ---- */

/* Four hexadecimal digits, or -1. */
static int32_t take_hex4(reader *json)
{
    int32_t code = 0;
    for (int i = 0; i < 4; i++, json->at++) {
        const char c = peek(json);
        const int digit = c >= '0' && c <= '9'   ? c - '0'
                          : c >= 'a' && c <= 'f' ? c - 'a' + 10
                          : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                 : -1;
        if (digit < 0)
            return -1;
        code = code * 16 + digit;
    }
    return code;
}

/* unicode ::= "\u" hex4 [ "\u" hex4 ], the second for the low half of a surrogate pair; "\u" is already taken */
static mw_status read_unicode(reader *json)
{
    const char *place = json->at;
    int32_t code = take_hex4(json);
    if (code < 0)
        return malformed_json(json, place, "\\u without four hexadecimal digits");
    if (code == 0)
        return malformed_json(json, place, "\\u0000 in a string (names are C strings)");
    if (code >= 0xd800 && code <= 0xdfff) {
        int32_t low = -1;
        if (code < 0xdc00 && json->end - json->at >= 2 && json->at[0] == '\\' && json->at[1] == 'u') {
            json->at += 2;
            low = take_hex4(json);
        }
        if (low < 0xdc00 || low > 0xdfff)
            return malformed_json(json, place, "half of a surrogate pair");
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    mw__utf8_put(&json->string, (uint32_t)code);
    return MW_OK;
}

static mw_status read_escape(reader *json)
{
    static const char names[] = "\"\\/bfnrt";
    static const char values[] = "\"\\/\b\f\n\r\t";
    const char *place = json->at++;
    const char c = peek(json);
    if (c == 'u') {
        json->at++;
        return read_unicode(json);
    }
    const char *found = c != '\0' ? strchr(names, c) : NULL;
    if (found == NULL)
        return malformed_json(json, place, "unknown escape in a string");
    json->at++;
    mw__text_append(&json->string, &values[found - names], 1);
    return MW_OK;
}

/* string ::= '"' (character | escape)* '"' */
static mw_status read_string(reader *json)
{
    const char *open = json->at++;
    json->string.size = 0;
    for (;;) {
        const char *run = json->at;
        while (json->at < json->end && *json->at != '"' && *json->at != '\\' && (unsigned char)*json->at >= 0x20) {
            const size_t length = mw__utf8_length(json->at, json->end);
            if (length == 0)
                return malformed_json(json, json->at, "a string is not valid UTF-8");
            json->at += length;
        }
        mw__text_append(&json->string, run, (size_t)(json->at - run));
        if (json->at == json->end)
            return malformed_json(json, open, "a string without its end");
        if (*json->at == '"') {
            json->at++;
            return mw__text_check(&json->string, json->err);
        }
        if (*json->at != '\\')
            return malformed_json(json, json->at, "a control character in a string");
        MW_TRY(read_escape(json));
    }
}

/* ---- values ---- */

static bool take_digits(reader *json)
{
    const char *first = json->at;
    while (mw__character_is_digit(peek(json)))
        json->at++;
    return json->at > first;
}

/* real ::= ["-"] integer ["." [0-9]+] [("e" | "E") ["+" | "-"] [0-9]+] , integer ::= "0" | [1-9][0-9]* */
static mw_status read_real(reader *json)
{
    const char *place = json->at;
    json->at += *place == '-';
    const char *digits = json->at;
    if (!take_digits(json))
        return malformed_json(json, place, "a minus without a number");
    if (*digits == '0' && json->at - digits > 1)
        return malformed_json(json, place, "a number with a leading zero");
    if (peek(json) == '.') {
        json->at++;
        if (!take_digits(json))
            return malformed_json(json, place, "a number that ends with its point");
    }
    if (peek(json) == 'e' || peek(json) == 'E') {
        json->at++;
        json->at += peek(json) == '+' || peek(json) == '-';
        if (!take_digits(json))
            return malformed_json(json, place, "a number without the digits of its exponent");
    }
    json->string.size = 0;
    mw__text_append(&json->string, place, (size_t)(json->at - place));
    MW_TRY(mw__text_check(&json->string, json->err));
    return emit_event(json, MW__JSON_REAL, 0);
}

/* True if it stands here; it is taken then. */
static bool take_word(reader *json, const char *word)
{
    const size_t length = strlen(word);
    if ((size_t)(json->end - json->at) < length || memcmp(json->at, word, length) != 0)
        return false;
    json->at += length;
    return true;
}

/* True if the text from `place` on is a number that read_number cannot hold. */
static bool is_real(const reader *json)
{
    const char *at = json->at;
    while (at < json->end && mw__character_is_digit(*at))
        at++;
    const char next = at < json->end ? *at : '\0';
    return *json->at == '-' || at - json->at > 19 || next == '.' || next == 'e' || next == 'E';
}

/* number ::= "0" | [1-9][0-9]* , at most 2^64 - 1 */
static mw_status read_number(reader *json)
{
    if (json->all && is_real(json))
        return read_real(json);
    const char *place = json->at;
    uint64_t number = 0;
    for (; mw__character_is_digit(peek(json)); json->at++) {
        const uint64_t digit = (uint64_t)(*json->at - '0');
        if (number > (UINT64_MAX - digit) / 10)
            return malformed_json(json, place, "a number above 2^64 - 1");
        number = number * 10 + digit;
    }
    if (*place == '0' && json->at - place > 1)
        return malformed_json(json, place, "a number with a leading zero");
    const char next = peek(json);
    if (next == '.' || next == 'e' || next == 'E')
        return malformed_json(json, place, "a number with a fraction or an exponent; only unsigned integers fit here");
    return emit_event(json, MW__JSON_NUMBER, number);
}

static mw_status read_value(reader *json);

/* After an item of a list: ',' goes on, `close` ends it. */
static mw_status read_separator(reader *json, char close, bool *out_more)
{
    skip_space(json);
    const char c = peek(json);
    if (c != ',' && c != close)
        return malformed_json(json, json->at, close == ']' ? "expected ',' or ']'" : "expected ',' or '}'");
    json->at++;
    *out_more = c == ',';
    return MW_OK;
}

/* array ::= '[' [ value (',' value)* ] ']' */
static mw_status read_array(reader *json)
{
    MW_TRY(emit_event(json, MW__JSON_BEGIN_ARRAY, 0));
    json->at++;
    skip_space(json);
    bool more = peek(json) != ']';
    if (!more)
        json->at++;
    while (more) {
        MW_TRY(read_value(json));
        MW_TRY(read_separator(json, ']', &more));
    }
    return emit_event(json, MW__JSON_END_ARRAY, 0);
}

/* member ::= string ':' value */
static mw_status read_member(reader *json, mw__map *keys)
{
    skip_space(json);
    const char *place = json->from = json->at;
    if (peek(json) != '"')
        return malformed_json(json, place, "expected a name in quotes");
    MW_TRY(read_string(json));
    if (mw__map_get_n(keys, json->string.data, json->string.size) != NULL) {
        mw__fail(json->err, MW_ERROR_FORMAT, "JSON: the name \"%.200s\" appears twice in one object",
                 json->string.data);
        return place_error(json, place);
    }
    MW_TRY(mw__map_set_n(keys, json->string.data, json->string.size, json, json->err));
    MW_TRY(emit_event(json, MW__JSON_KEY, 0));
    skip_space(json);
    if (peek(json) != ':')
        return malformed_json(json, json->at, "expected ':' after a name");
    json->at++;
    return read_value(json);
}

/* object ::= '{' [ member (',' member)* ] '}' */
static mw_status read_object(reader *json)
{
    mw__map *keys = &json->keys[json->depth - 1];
    MW_TRY(emit_event(json, MW__JSON_BEGIN_OBJECT, 0));
    json->at++;
    skip_space(json);
    bool more = peek(json) != '}';
    if (!more)
        json->at++;
    while (more) {
        MW_TRY(read_member(json, keys));
        MW_TRY(read_separator(json, '}', &more));
    }
    mw__map_deinit(keys);
    return emit_event(json, MW__JSON_END_OBJECT, 0);
}

/* value ::= object | array | string | number | "true" | "false" | "null" , the words not in the subset */
static mw_status read_value(reader *json)
{
    skip_space(json);
    const char c = peek(json);
    json->from = json->at;
    if (c == '{' || c == '[') {
        if (json->depth == MW__JSON_DEPTH)
            return malformed_json(json, json->at, "nested too deeply (8 levels)");
        json->depth++;
        MW_TRY(c == '{' ? read_object(json) : read_array(json));
        json->depth--;
        return MW_OK;
    }
    if (c == '"') {
        MW_TRY(read_string(json));
        return emit_event(json, MW__JSON_STRING, 0);
    }
    if (mw__character_is_digit(c) || (json->all && c == '-'))
        return read_number(json);
    if (json->all && take_word(json, "true"))
        return emit_event(json, MW__JSON_TRUE, 0);
    if (json->all && take_word(json, "false"))
        return emit_event(json, MW__JSON_FALSE, 0);
    if (json->all && take_word(json, "null"))
        return emit_event(json, MW__JSON_NULL, 0);
    if (c == '-')
        return malformed_json(json, json->at, "a negative number; only unsigned integers fit here");
    return malformed_json(json, json->at,
                          json->at == json->end ? "the text ends where a value should be"
                                                : "expected an object, an array, a string or a number");
}

static mw_status read_text(reader *json, const mw_allocator *allocator)
{
    mw__text_init(&json->string, allocator);
    for (int i = 0; i < MW__JSON_DEPTH; i++)
        mw__map_init(&json->keys[i], allocator);
    mw_status status = read_value(json);
    if (status == MW_OK) {
        skip_space(json);
        if (json->at != json->end)
            status = malformed_json(json, json->at, "text after the value");
    }
    for (int i = 0; i < MW__JSON_DEPTH; i++)
        mw__map_deinit(&json->keys[i]);
    mw__text_deinit(&json->string);
    return status;
}

mw_status mw__json_read(const mw_allocator *allocator, const char *text, size_t size, mw__json_handler *handler,
                        void *user, mw_error *err)
{
    reader json = {
        .start = text, .at = text, .from = text, .end = text + size, .handler = handler, .user = user, .err = err};
    return read_text(&json, allocator);
}

mw_status mw__json_read_all(const mw_allocator *allocator, const char *text, size_t size, mw__json_handler *handler,
                            void *user, mw_error *err)
{
    reader json = {.start = text,
                   .at = text,
                   .from = text,
                   .end = text + size,
                   .handler = handler,
                   .user = user,
                   .err = err,
                   .all = true};
    return read_text(&json, allocator);
}

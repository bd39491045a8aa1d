#include "base/text/json_write.h"

#include "base/number/number.h"
#include "base/text/printable.h"
#include "base/text/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- strings ---- */

static void put_escaped(mw__text *text, uint32_t code)
{
    if (code == '"' || code == '\\')
        mw__text_printf(text, "\\%c", (int)code);
    else if (code < 0x10000)
        mw__text_printf(text, "\\u%04x", (unsigned)code);
    else
        mw__text_printf(text, "\\u%04x\\u%04x", (unsigned)(0xd800 + ((code - 0x10000) >> 10)),
                        (unsigned)(0xdc00 + (code & 0x3ff)));
}

/* A byte that is no UTF-8. */
static void put_odd(mw__text *text, const char *at, mw__json_style style)
{
    if (style == MW__JSON_EXACT)
        mw__text_append(text, at, 1);
    else if (style == MW__JSON_SPELLED)
        mw__text_printf(text, "\\\\x%02x", (unsigned)(unsigned char)*at);
    else
        mw__text_puts(text, "\xef\xbf\xbd");
}

static bool is_escaped(uint32_t code, mw__json_style style)
{
    const bool safe = style == MW__JSON_SAFE || style == MW__JSON_SPELLED;
    return code == '"' || code == '\\' || code < 0x20 || (safe && mw__printable_hides(code));
}

void mw__json_put_bytes(mw__text *text, const char *string, size_t length, mw__json_style style)
{
    mw__text_puts(text, "\"");
    for (const char *at = string, *end = string + length; at < end;) {
        uint32_t code = 0;
        const size_t bytes = mw__utf8_read(at, end, &code);
        if (bytes == 0)
            put_odd(text, at, style);
        else if (is_escaped(code, style))
            put_escaped(text, code);
        else
            mw__text_append(text, at, bytes);
        at += bytes > 0 ? bytes : 1;
    }
    mw__text_puts(text, "\"");
}

void mw__json_put_string(mw__text *text, const char *string)
{
    mw__json_put_bytes(text, string, strlen(string), MW__JSON_SAFE);
}

/* What is shown holds no control character, so that quotes and backslashes are all that JSON wants escaped. */
void mw__json_put_printable(mw__text *text, const char *string, size_t longest)
{
    char shown[MW__JSON_PRINTABLE];
    mw__printable(shown, longest < sizeof shown ? longest + 1 : sizeof shown, string);
    for (const char *c = shown; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\')
            mw__text_puts(text, "\\");
        mw__text_append(text, c, 1);
    }
}

/* ---- whole texts ---- */

void mw__json_writer_init(mw__json_writer *json, const mw_allocator *allocator, bool compact)
{
    *json = (mw__json_writer){.comma = compact ? "," : ", ", .colon = compact ? ":" : ": "};
    mw__text_init(&json->text, allocator);
}

void mw__json_writer_deinit(mw__json_writer *json) { mw__text_deinit(&json->text); }

const char *mw__json_text(const mw__json_writer *json) { return json->text.failed ? NULL : json->text.data; }

void mw__json_break(mw__json_writer *json) { json->breaks = true; }

void mw__json_add_key(mw__json_writer *json, const char *key)
{
    if (json->separate)
        mw__text_puts(&json->text, json->breaks ? "," : json->comma);
    if (json->breaks)
        mw__text_puts(&json->text, "\n");
    json->separate = true;
    json->breaks = false;
    if (key == NULL)
        return;
    mw__json_put_bytes(&json->text, key, strlen(key), json->style);
    mw__text_puts(&json->text, json->colon);
}

void mw__json_open(mw__json_writer *json, const char *key, char bracket)
{
    mw__json_add_key(json, key);
    mw__text_append(&json->text, &bracket, 1);
    json->separate = false;
}

void mw__json_close(mw__json_writer *json, char bracket)
{
    mw__text_append(&json->text, &bracket, 1);
    json->separate = true;
}

void mw__json_add_raw(mw__json_writer *json, const char *key, const char *value)
{
    mw__json_add_key(json, key);
    mw__text_puts(&json->text, value != NULL ? value : "null");
}

void mw__json_add_null(mw__json_writer *json, const char *key) { mw__json_add_raw(json, key, NULL); }

void mw__json_add_bool(mw__json_writer *json, const char *key, bool value)
{
    mw__json_add_raw(json, key, value ? "true" : "false");
}

void mw__json_add_integer(mw__json_writer *json, const char *key, int64_t value)
{
    mw__json_add_key(json, key);
    mw__text_printf(&json->text, "%" PRId64, value);
}

void mw__json_add_unsigned(mw__json_writer *json, const char *key, uint64_t value)
{
    mw__json_add_key(json, key);
    mw__text_printf(&json->text, "%" PRIu64, value);
}

/* 17 digits read back to the same double; the point is a point in every locale. */
void mw__json_add_number(mw__json_writer *json, const char *key, double value)
{
    char digits[MW__NUMBER_MAX];
    if (!isfinite(value)) {
        mw__json_add_null(json, key);
        return;
    }
    if ((double)(float)value == value)
        mw__number_print_float(digits, (float)value);
    else
        mw__printable_printf(digits, sizeof digits, "%.17g", value);
    mw__json_add_raw(json, key, digits);
}

void mw__json_add_string(mw__json_writer *json, const char *key, const char *value)
{
    mw__json_add_key(json, key);
    if (value != NULL)
        mw__json_put_bytes(&json->text, value, strlen(value), json->style);
    else
        mw__text_puts(&json->text, "null");
}

void mw__json_add_printable(mw__json_writer *json, const char *key, const char *value, size_t longest)
{
    mw__json_add_key(json, key);
    mw__text_puts(&json->text, value != NULL ? "\"" : "null");
    if (value == NULL)
        return;
    mw__json_put_printable(&json->text, value, longest);
    mw__text_puts(&json->text, "\"");
}

/* JSON that is written. */
#include "base/text/json.h"
#include "base/text/shown.h"
#include "base/text/utf8.h"

#include <string.h>

/* The code of a well-formed character. */
static unsigned code_of(const char *at, size_t length)
{
    unsigned code = length == 1 ? (unsigned char)*at : (unsigned char)*at & (0x7fU >> length);
    for (size_t i = 1; i < length; i++)
        code = code << 6 | ((unsigned char)at[i] & 0x3f);
    return code;
}

void mw__json_put_character(mw__text *text, const char *at, size_t length)
{
    const unsigned code = code_of(at, length);
    if (code == '"' || code == '\\')
        mw__text_printf(text, "\\%c", *at);
    else if (!mw__shown_hides(code))
        mw__text_append(text, at, length);
    else if (code < 0x10000)
        mw__text_printf(text, "\\u%04x", code);
    else
        mw__text_printf(text, "\\u%04x\\u%04x", 0xd800 + ((code - 0x10000) >> 10), 0xdc00 + (code & 0x3ff));
}

void mw__json_put_string(mw__text *text, const char *string)
{
    const char *end = string + strlen(string);
    mw__text_puts(text, "\"");
    for (const char *at = string; at < end;) {
        const size_t length = mw__utf8_length(at, end);
        if (length == 0)
            mw__text_puts(text, "\xef\xbf\xbd");
        else
            mw__json_put_character(text, at, length);
        at += length > 0 ? length : 1;
    }
    mw__text_puts(text, "\"");
}

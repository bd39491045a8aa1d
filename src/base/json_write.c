/* JSON that is written. */
#include "base/json.h"

#include <string.h>

void mw__json_put_string(mw__text *text, const char *string)
{
    const char *end = string + strlen(string);
    mw__text_puts(text, "\"");
    for (const char *at = string; at < end;) {
        const size_t length = mw__utf8_length(at, end);
        if (*at == '"' || *at == '\\')
            mw__text_printf(text, "\\%c", *at);
        else if (length == 1 && ((unsigned char)*at < 0x20 || *at == 0x7f))
            mw__text_printf(text, "\\u%04x", (unsigned)*at);
        else if (length == 0)
            mw__text_puts(text, "\xef\xbf\xbd");
        else
            mw__text_append(text, at, length);
        at += length > 0 ? length : 1;
    }
    mw__text_puts(text, "\"");
}

#include "base/text/utf8.h"

#include <string.h>

/* Length by the first byte alone. */
static size_t length_of(unsigned char lead)
{
    return lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
}

size_t mw__utf8_read(const char *at, const char *end, uint32_t *out_code)
{
    const unsigned char lead = (unsigned char)at[0];
    const size_t length = length_of(lead);
    if (length == 0 || length > (size_t)(end - at))
        return 0;
    uint32_t code = length == 1 ? lead : lead & (0x7fU >> length);
    for (size_t i = 1; i < length; i++) {
        if (!mw__utf8_continues(at[i]))
            return 0;
        code = code << 6 | ((unsigned char)at[i] & 0x3f);
    }
    const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
    if (overlong || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return 0;
    *out_code = code;
    return length;
}

bool mw__utf8_check(const char *text)
{
    const char *end = text + strlen(text);
    for (size_t length; text < end; text += length) {
        length = mw__utf8_length(text, end);
        if (length == 0)
            return false;
    }
    return true;
}

void mw__utf8_put(mw__text *text, uint32_t code)
{
    char bytes[4];
    size_t length = 0;
    if (code < 0x80) {
        bytes[length++] = (char)code;
    } else {
        const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3; /* bytes behind the first */
        bytes[length++] = (char)((0xffU << (7 - more) & 0xff) | code >> 6 * more);
        for (int i = more; i-- > 0;)
            bytes[length++] = (char)(0x80 | (code >> 6 * i & 0x3f));
    }
    mw__text_append(text, bytes, length);
}

void mw__utf8_from_latin1(const char *text, char *out)
{
    for (; *text != '\0'; text++) {
        const unsigned char byte = (unsigned char)*text;
        if (byte >= 0x80)
            *out++ = (char)(0xc0 | byte >> 6);
        *out++ = (char)(byte >= 0x80 ? 0x80 | (byte & 0x3f) : byte);
    }
    *out = '\0';
}

/* What a terminal may be given. */
#include "support/clean.h"

#include <string.h>

const char *const hostile_names[] = {
    "a\033[2Jb",           /* clears the screen */
    "a\033]0;title\007b",  /* sets the title of the window */
    "a\rok",               /* writes over the line */
    "a\nINFO all is well", /* a line of its own */
    "a\tb\vc\bd",          /* columns */
    "\xe2\x80\xaegnp.exe", /* U+202E, right to left */
    "a\xe2\x81\xa6"
    "b\xe2\x81\xa9", /* U+2066, U+2069: isolates */
    "a\xe2\x80\xa8"
    "b\xe2\x80\x8b"
    "c", /* U+2028, a line separator; U+200B */
    "a\xc2\x9b"
    "2J",            /* U+009B, the CSI of C1 */
    "a\x7f\x7f\x7f", /* DEL */
    "a\xff\xfe"
    "b", /* never UTF-8 */
    "a\xc0\xaf"
    "b", /* overlong */
    "a\xed\xa0\x80"
    "b", /* a surrogate */
    "a\xf4\x90\x80\x80"
    "b",         /* beyond U+10FFFF */
    "a\xe2\x82", /* cut off */
};
const size_t hostile_name_count = sizeof hostile_names / sizeof hostile_names[0];

static bool starts_with_any(const char *text, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strncmp(text, list[i], strlen(list[i])) == 0)
            return true;
    }
    return false;
}

/* Length of a well-formed character of more than one byte, by the table of RFC 3629. */
static size_t wide_character(const unsigned char *t)
{
    const bool a = t[1] >= 0x80 && t[1] <= 0xbf;
    const bool b = a && t[2] >= 0x80 && t[2] <= 0xbf;
    const bool c = b && t[3] >= 0x80 && t[3] <= 0xbf;
    if (t[0] >= 0xc2 && t[0] <= 0xdf)
        return a ? 2 : 0;
    if (t[0] >= 0xe0 && t[0] <= 0xef)
        return b && !(t[0] == 0xe0 && t[1] < 0xa0) && !(t[0] == 0xed && t[1] > 0x9f) ? 3 : 0;
    if (t[0] >= 0xf0 && t[0] <= 0xf4)
        return c && !(t[0] == 0xf0 && t[1] < 0x90) && !(t[0] == 0xf4 && t[1] > 0x8f) ? 4 : 0;
    return 0;
}

bool text_is_clean(const char *text, bool lines, size_t longest)
{
    static const char *const hidden[] = {"\xe2\x80\xa8", "\xe2\x80\xa9", "\xe2\x80\xaa", "\xe2\x80\xab", "\xe2\x80\xac",
                                         "\xe2\x80\xad", "\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x81\xa7", "\xe2\x81\xa8",
                                         "\xe2\x81\xa9", "\xe2\x80\x8b", "\xe2\x80\x8e", "\xe2\x80\x8f"};
    if (strlen(text) > longest)
        return false;
    for (const char *c = text; *c != '\0';) {
        const unsigned char byte = (unsigned char)*c;
        if (byte < 0x80) {
            if ((byte < 0x20 && !(lines && byte == '\n')) || byte == 0x7f)
                return false;
            c++;
            continue;
        }
        const size_t length = wide_character((const unsigned char *)c);
        const bool control = byte == 0xc2 && (unsigned char)c[1] < 0xa0;
        if (length == 0 || control || starts_with_any(c, hidden, sizeof hidden / sizeof hidden[0]))
            return false;
        c += length;
    }
    return true;
}

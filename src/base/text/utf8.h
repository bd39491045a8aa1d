/* UTF-8: its characters, by Unicode 15, table 3-7: none is overlong, a surrogate or above U+10FFFF. */
#ifndef MW__BASE_TEXT_UTF8_H
#define MW__BASE_TEXT_UTF8_H

#include "base/text/text.h"
#include "base/visible.h"

#include <stdint.h>

/* Whether a byte is one of those that follow the first of a character. */
static inline bool mw__utf8_continues(char c) { return ((unsigned char)c & 0xc0) == 0x80; }

/* Length of the character at `at`, which is before `end`, and its code; 0 if there is none. */
MW__SIBLING size_t mw__utf8_read(const char *at, const char *end, uint32_t *out_code);

/* The length alone. */
static inline size_t mw__utf8_length(const char *at, const char *end)
{
    uint32_t code;
    return (unsigned char)*at < 0x80 ? 1 : mw__utf8_read(at, end, &code);
}

/* Whether all of a text is UTF-8. */
MW__SIBLING bool mw__utf8_check(const char *text);

/* Appends the character of a code up to U+10FFFF. */
MW__SIBLING void mw__utf8_put(mw__text *text, uint32_t code);

/* Writes a text of Latin 1, whose bytes are the first 256 characters of Unicode, into 2 * strlen(text) + 1 bytes. */
void mw__utf8_from_latin1(const char *text, char *out);

#endif

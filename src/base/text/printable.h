/* Text for people. Strings that come from outside (names, paths, what a file or a library says) are shown: what could
 * steer a terminal or disguise a line is escaped, and what is long is cut. */
#ifndef MW__BASE_TEXT_PRINTABLE_H
#define MW__BASE_TEXT_PRINTABLE_H

#include "base/text/text.h"
#include "base/visible.h"

#include <stdarg.h>

/* The longest name in a line of a listing. */
#define MW__PRINTABLE_NAME 96

/* snprintf for messages: every string that %s inserts is shown, and the format itself is taken as it is.
 *  - A control character, DEL, a character of the C1 set, one that reorders or hides text, or a byte that is no UTF-8
 *    becomes \n, \t, \r, \x1b or \u202e. A backslash stays, so that text which is shown twice is shown once.
 *  - Where the whole does not fit, the inserted strings are cut alike, each in its middle: "layer.aaaa...aaaa.weight".
 *  - A precision written in the format (%.60s) is the longest that is shown, "..." included; one given as an argument
 *    (%.*s) is the number of bytes to read, as in C.
 *  - Floating point has a point in every locale.
 * Returns the length that was written, which is below `capacity` > 0. */
MW__SIBLING size_t mw__printable_printf(char *out, size_t capacity, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
MW__SIBLING size_t mw__printable_vprintf(char *out, size_t capacity, const char *format, va_list arguments);

/* Whether a character steers a terminal, or reorders, hides or ends text. */
bool mw__printable_hides(unsigned code);

/* Appends `string` as it is shown, in at most `longest` bytes. */
MW__SIBLING void mw__text_show(mw__text *text, const char *string, size_t longest);

/* Writes it to `out` instead, and returns `out`. */
MW__SIBLING const char *mw__printable(char *out, size_t capacity, const char *string);

#endif

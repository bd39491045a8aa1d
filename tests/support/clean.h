/* Whether text may be shown to a person as it is: an oracle of its own, that shares nothing with base/text/printable.c.
 */
#ifndef TESTS_SUPPORT_CLEAN_H
#define TESTS_SUPPORT_CLEAN_H

#include <stdbool.h>
#include <stddef.h>

/* True if `text` is UTF-8 without control characters (but '\n', where `lines`), without DEL and C1, without marks that
 * reorder or hide text, and of at most `longest` bytes. */
bool text_is_clean(const char *text, bool lines, size_t longest);

/* Names that nobody should have: each holds one thing that a message must not hand on. */
extern const char *const hostile_names[];
extern const size_t hostile_name_count;

#endif

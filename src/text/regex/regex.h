/* Patterns that have no scanner of their own, by PCRE2. */
#ifndef MW__TEXT_REGEX_REGEX_H
#define MW__TEXT_REGEX_REGEX_H

#include "base/memory/alloc.h"

typedef struct mw__regex mw__regex;

/* Compiled for UTF-8, with the properties of Unicode. `pattern` stands in messages. */
mw__regex *mw__regex_create(const char *pattern, mw_error *err);
void mw__regex_destroy(mw__regex *regex);

/* The next match in text[at..size): false if there is none, and with err set where looking takes too long. An empty
 * match counts as none, and is passed over. */
bool mw__regex_find(const mw__regex *regex, const char *text, size_t size, size_t at, size_t *begin, size_t *end,
                    mw_error *err);

#endif

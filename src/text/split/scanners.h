/* The patterns of known tokenizers, written out: each takes the next word of a text. */
#ifndef MW__TEXT_SPLIT_SCANNERS_H
#define MW__TEXT_SPLIT_SCANNERS_H

#include <stdbool.h>
#include <stddef.h>

/* Length of the word at `at`, which is before `end`; at least 1. Every byte belongs to a word. */
typedef size_t mw__scanner(const char *at, const char *end);

/* The scanner of a pattern as files write it; NULL for one that is not known. */
mw__scanner *mw__scanner_of(const char *pattern);
/* That of GPT-2, which files leave out. */
extern const char mw__scanner_gpt2_pattern[];
/* The pattern of a name; NULL for one that is not among mw__scanner_names. */
const char *mw__scanner_pattern(const char *name);
extern const char mw__scanner_names[];

#endif

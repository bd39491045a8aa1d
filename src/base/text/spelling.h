/* "did you mean": of the names that there are, those that are spelled most like what was typed. */
#ifndef MW__BASE_TEXT_SPELLING_H
#define MW__BASE_TEXT_SPELLING_H

#include "base/visible.h"

#include <stddef.h>

enum { MW__SPELLING_BYTES = 64, MW__SPELLING_MAX = 3 };

/* The distance counts letters that are added, left out or replaced, and neighbors that are swapped; upper and lower
 * case are one letter, and so are '-', '_', ' ' and '.'. A name counts as meant up to a distance of a third of the
 * typed word, 1 to 3; or if one is the beginning of the other, of at least three letters. */
typedef struct mw__spelling {
    const char *typed; /* lives as long as this */
    char names[MW__SPELLING_MAX][MW__SPELLING_BYTES];
    size_t count;    /* names of one distance: the first that were offered */
    size_t distance; /* theirs */
} mw__spelling;

MW__SIBLING void mw__spelling_init(mw__spelling *spelling, const char *typed);
/* A name, or each of "a, b, c". One of MW__SPELLING_BYTES or more is not compared. */
MW__SIBLING void mw__spelling_offer(mw__spelling *spelling, const char *name);
void mw__spelling_offer_list(mw__spelling *spelling, const char *names);
/* "; did you mean \"adam\"?", with up to three names that are equally near, or "" if none is. `before`, such as "--",
 * stands before each name, and if it is not empty, in place of the quotes. Returns `out`. */
MW__SIBLING const char *mw__spelling_hint(const mw__spelling *spelling, const char *before, char *out, size_t capacity);

#endif

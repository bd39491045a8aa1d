/* A MIL text without what its meaning does not depend on, and the weights that it names. */
#ifndef MW__ENGINE_CACHE_NORMAL_H
#define MW__ENGINE_CACHE_NORMAL_H

#include "base/text/text.h"

/* Appends the text without comments, the space that separates nothing, and the program's attribute buildInfo: two texts
 * with one normal form have the same tokens otherwise. Never fails but for memory, whatever the text is. */
void mw__cache_normal_append(mw__text *out, const char *text, size_t size);

/* An entry of a weight file. */
typedef struct mw__weight_place {
    const char *path; /* as the text has it, not terminated */
    size_t path_length;
    uint64_t offset;
} mw__weight_place;

/* The first BLOBFILE of a normal text from *at on, which is set behind it. *found = false: there is none. False: it is
 * in no form that is read here. What stands in a string may be taken for one. */
bool mw__cache_normal_next_weight(const mw__text *text, size_t *at, bool *found, mw__weight_place *out);

#endif

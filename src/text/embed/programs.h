/* Which program takes the next texts. */
#ifndef MW__TEXT_EMBED_PROGRAMS_H
#define MW__TEXT_EMBED_PROGRAMS_H

#include "text/embed/embed.h"

typedef struct mw__embedder_group {
    int length, batch; /* places in mw__embedder.programs */
    int64_t tokens;    /* of each text */
    size_t texts;
} mw__embedder_group;

/* For `left` texts of which the longest has so many tokens, at most e->most; it may take fewer, or have more room. */
mw__embedder_group mw__embedder_group_for(const mw__embedder *e, int64_t longest, size_t left);
/* NULL with err set on failure. */
mw_program *mw__embedder_program(mw__embedder *e, const mw__embedder_group *batch, mw_error *err);

#endif

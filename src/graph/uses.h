/* Who uses a value: side tables of a function, for rewrites that must know before they copy. */
#ifndef MW__GRAPH_USES_H
#define MW__GRAPH_USES_H

#include "graph/ir.h"

typedef struct mw__use {
    const mw__op *op;
    size_t slot;
    const struct mw__use *next; /* in the order of the text */
} mw__use;

/* Lists by value id, nested blocks included; NULL = unused. Results of blocks and functions are no uses. In `arena`;
 * NULL on failure. */
const mw__use *const *mw__uses_make(mw__arena *arena, const mw__function *function, mw_error *err);

#endif

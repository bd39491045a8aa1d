/* Who uses a value: side tables of a function, for rewrites that must know before they copy. */
#ifndef MW__GRAPH_IR_USES_H
#define MW__GRAPH_IR_USES_H

#include "base/visible.h"
#include "graph/ir/ir_types.h"

typedef struct mw__use {
    const mw__op *op;
    size_t slot;
    const struct mw__use *next; /* in the order of the text */
} mw__use;

/* Lists by value id, nested blocks included; NULL = unused. Results of blocks and functions are no uses. In `arena`;
 * NULL on failure. */
MW__SIBLING const mw__use *const *mw__uses_make(mw__arena *arena, const mw__function *function, mw_error *err);

/* Whether the result has the elements of "x", integers from integers, in whatever order and shape. */
bool mw__is_rearrangement(const mw__op *op);

/* Whether any operation of the function, nested blocks included, casts something to integers. */
bool mw__uses_cast_to_integers(const mw__block *body);

/* Whether a floating-point value is cast to integers, as it is or rearranged: whole numbers in it are indices then. */
bool mw__becomes_integer(const mw__use *const *uses, const mw_tensor *value);

#endif

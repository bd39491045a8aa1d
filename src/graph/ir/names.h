/* MIL identifiers for the values of a function. */
#ifndef MW__GRAPH_IR_NAMES_H
#define MW__GRAPH_IR_NAMES_H

#include "base/visible.h"
#include "graph/ir/ir_types.h"

/* The identifiers by value id, from the first of the function. The strings live in the table's own arena, so that it
 * may outlive the graph. */
typedef struct mw__names {
    mw__arena arena;
    const char **by_id; /* NULL: no value of this function */
    size_t first, count;
} mw__names;

/* Gives every value of `function` (nested blocks too) an identifier [A-Za-z_][A-Za-z0-9_@]* that is no type keyword and
 * unique where it is visible. A name that already is one is kept, so that a parsed program prints as it was; sibling
 * blocks may reuse names. `fc1.weight` becomes fc1_weight; a collision gets a suffix _2, _3 ..; a value without a name
 * is its hint and a counter. The same function always gets the same names. Freed with mw__names_deinit, also after a
 * failure. */
MW__SIBLING mw_status mw__names_assign(const mw__function *function, mw__names *names, mw_error *err);
MW__SIBLING void mw__names_deinit(mw__names *names);

/* NULL for a value that is not of that function. */
MW__SIBLING const char *mw__names_get(const mw__names *names, const mw_tensor *value);

#endif

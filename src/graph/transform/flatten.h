/* Loops and branches as straight-line operations: a rule for the clone. */
#ifndef MW__GRAPH_TRANSFORM_FLATTEN_H
#define MW__GRAPH_TRANSFORM_FLATTEN_H

#include "graph/transform/clone.h"

/* What one run may make: a loop that never ends is an error, not a hang. */
enum { MW__FLATTEN_TRIPS = 16384, MW__FLATTEN_OPS = 1 << 17 };

/* How much a run has made so far; `user` of the rule. */
typedef struct mw__flatten {
    size_t trips;
} mw__flatten;

/* Replaces while_loop and cond; copies anything else. */
bool mw__flatten_rule(void *user, mw__clone *clone, const mw__op *op);

#endif

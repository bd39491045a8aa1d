/* The computation of one example for all of them: a graph copied into another, where what depends on the example has
 * the examples as its first axis. */
#ifndef MW__GRAPH_TRANSFORM_VMAP_VMAP_H
#define MW__GRAPH_TRANSFORM_VMAP_VMAP_H

#include "graph/transform/clone/clone.h"

typedef struct mw__vmap {
    int64_t examples;      /* B > 0 */
    bool *mapped;          /* by id in the graph of one example */
    mw_tensor *const *x;   /* what stands for its inputs */
    const bool *is_mapped; /* of these */
} mw__vmap;

/* Emits an operation of which some operand is mapped, with results [B, ..], and sets them; false: it has no form for
 * all examples at once, and nothing was emitted. */
typedef bool mw__vmap_rule(const mw__vmap *vmap, mw__clone *clone, const mw__op *op);
/* NULL if there is none. */
mw__vmap_rule *mw__vmap_rule_of(const mw__op *op);

/* The same once for each example. */
void mw__vmap_write_out(const mw__vmap *vmap, mw__clone *clone, const mw__op *op);

bool mw__vmap_is_mapped(const mw__vmap *vmap, const mw_tensor *value);
/* [B, ..] of a tensor that is the same for all. */
mw_tensor *mw__vmap_spread(const mw__vmap *vmap, mw_tensor *x);
/* [B, shape]. */
mw_shape mw__vmap_shape(const mw__vmap *vmap, mw_shape shape);

#endif

/* Loops and branches as straight-line operations, lists as values of their elements: a rule for the clone. */
#ifndef MW__GRAPH_TRANSFORM_FLATTEN_FLATTEN_H
#define MW__GRAPH_TRANSFORM_FLATTEN_FLATTEN_H

#include "base/visible.h"
#include "graph/transform/clone/clone.h"

/* What one run may make: a loop that never ends is an error, not a hang. */
enum {
    MW__FLATTEN_TRIPS = 16384,
    MW__FLATTEN_OPEN_TRIPS = 1024, /* of a loop whose condition is computed */
    MW__FLATTEN_OPS = 1 << 17,
    MW__FLATTEN_ELEMENTS = 1 << 24 /* of lists */
};

/* How much a run has made so far, and the lists of the moment; `user` of the rule. Starts as zeros. */
typedef struct mw__flatten {
    size_t trips, elements;
    struct mw__flat_list **lists; /* by value id of the source, in the arena of the copy */
    bool values;                  /* states are values here, which reads give and writes replace */
} mw__flatten;

/* Replaces while_loop, cond and what works on lists; copies anything else. */
MW__SIBLING bool mw__flatten_rule(void *user, mw__clone *clone, const mw__op *op);

/* For clones in which states are resident values (mw_state), that start at zero and are assigned what is written last:
 * as mw__clone_input, and when all is copied. */
MW__SIBLING bool mw__flatten_input(void *state, mw__clone *clone, const mw_tensor *value);
MW__SIBLING void mw__flatten_finish(void *state, mw__clone *clone);
/* For clones that keep them as they are, but read each once, before all else, and write it once, after all else: what
 * is between is a function of the inputs and of the values that the states start with. */
bool mw__flatten_keep_state(void *state, mw__clone *clone, const mw_tensor *value);
void mw__flatten_finish_kept(void *state, mw__clone *clone);

#endif

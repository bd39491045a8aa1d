/* Which tables the values of an input look into: found from the graph, for programs that were read from files. */
#ifndef MW__GRAPH_IR_LOOKUPS_H
#define MW__GRAPH_IR_LOOKUPS_H

#include "graph/ir/uses.h"

/* Element e of the input is one of these indices if e / inner % extent is in begin .. end - 1. A valid one is in
 * low .. limit - 1; what is no integer loses its fraction first, as a cast makes it. */
typedef struct mw__lookup {
    int64_t low, limit;
    int64_t inner, extent, begin, end;
    struct mw__lookup *next;
} mw__lookup;

/* The look-ups of an input's values as they are fed: through reshapes, casts, slices, and a select that counts negative
 * ones from the end. What is computed of them otherwise has MIL's rule for indices. *out is NULL if there is none. */
mw_status mw__lookups_find(mw__arena *arena, const mw__use *const *uses, const mw_tensor *input, mw__lookup **out,
                           mw_error *err);

#endif

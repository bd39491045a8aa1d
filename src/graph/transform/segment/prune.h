/* Leaving out what nothing needs. */
#ifndef MW__GRAPH_TRANSFORM_SEGMENT_PRUNE_H
#define MW__GRAPH_TRANSFORM_SEGMENT_PRUNE_H

#include "graph/ir/ir.h"

/* Takes operations out of the blocks of a fresh copy whose results no result of the function, no assignment of a state
 * and no operation with an effect needs. Inputs stay. What was taken out still lies in the graph. */
mw_status mw__prune(const mw__function *function, mw_error *err);

/* True if the operation does more than give results, or nobody knows: a state is written, or the table lacks it. */
bool mw__op_has_effect(const mw__op *op);

#endif

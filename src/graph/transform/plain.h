/* Operations that are written otherwise for every device, for gradients as well: conv_quantized as conv
 * (patterns/conv_quantized.h), classify as an index and a vector (graph/ir/classify.h). Lists of labels are left out.
 */
#ifndef MW__GRAPH_TRANSFORM_PLAIN_H
#define MW__GRAPH_TRANSFORM_PLAIN_H

#include "graph/transform/clone/clone.h"

bool mw__is_plain_op(const mw__op *op);
/* For rules of a clone: false if it is none of them. An error is left on the target graph, also for an operation that
 * uses labels or results of classify. */
bool mw__clone_plain_op(mw__clone *clone, const mw__op *op);

#endif

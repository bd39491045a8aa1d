/* The gradient of relu, which the engine joins with that of a pooling. */
#ifndef MW__GRAPH_PATTERNS_RELU_H
#define MW__GRAPH_PATTERNS_RELU_H

#include "graph/ir/ir.h"

/* dy where y, the result of relu, is above 0, else 0. */
mw_tensor *mw__relu_gradient(mw_tensor *y, mw_tensor *dy);

#endif

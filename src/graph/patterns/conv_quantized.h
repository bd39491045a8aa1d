/* conv_quantized as a conv: y = conv(x, weight quant_scale + quant_bias) + bias. Its codes are a constant in every text
 * that is known, and then so is the dense weight, rounded once to the type of x. */
#ifndef MW__GRAPH_PATTERNS_CONV_QUANTIZED_H
#define MW__GRAPH_PATTERNS_CONV_QUANTIZED_H

#include "graph/transform/clone/clone.h"

/* The dense weight in `dtype`; `codes` stands for the weight in this graph if it is computed, else NULL. NULL with an
 * error on the graph. */
mw_tensor *mw__conv_quantized_weight(mw_graph *graph, const mw__op *op, mw_tensor *codes, mw_dtype dtype);
/* The value of the operation, from a conv in the copy. */
mw_tensor *mw__conv_quantized_plain(mw__clone *clone, const mw__op *op);

#endif

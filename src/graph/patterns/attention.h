/* Attention in the two forms of mw__lowering: one operation, or matmul, mul, mask, softmax and matmul. */
#ifndef MW__GRAPH_PATTERNS_ATTENTION_H
#define MW__GRAPH_PATTERNS_ATTENTION_H

#include "graph/ir/ir.h"

/* softmax(query key^T / sqrt(E) + mask) value. The native lowering is one operation and needs ios18; mask may be NULL.
 */
mw_tensor *mw__attention(mw_tensor *query, mw_tensor *key, mw_tensor *value, mw_tensor *mask, mw__lowering lowering);

/* softmax(query key^T / sqrt(E) + mask), [B, .., L, S], from operations that every chip runs. */
mw_tensor *mw__attention_weights(mw_tensor *query, mw_tensor *key, mw_tensor *mask);

/* 1 / sqrt(E) of query [.., E]. */
double mw__attention_scale(const mw_tensor *query);

#endif

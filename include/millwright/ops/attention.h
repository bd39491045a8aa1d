/* Attention.
 *
 *     mw_tensor *h = mw_scaled_dot_product_attention(q, k, v, NULL);                     // [B, heads, T, E] each
 *     mw_tensor *y = mw_multi_head_attention_layer(x, NULL, NULL, 8, mask, "attn");  // [B, T, E], as in PyTorch
 *
 * A NULL operand yields NULL (except where NULL is said to mean none); results live as long as the graph.
 *
 * Threads: as the rest of a graph: calls on one graph come one at a time, from any thread; other graphs do not mind. */
#ifndef MILLWRIGHT_OPS_ATTENTION_H
#define MILLWRIGHT_OPS_ATTENTION_H

#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/** y = softmax(query key^T / sqrt(E) + mask) value, the softmax over the S keys.
 *  query   [B, .., L, E], rank 3 or more  F16 or F32
 *  key     [B, .., S, E]                  dtype of query
 *  value   [B, .., S, V]                  dtype of query
 *  mask    broadcasts to [B, .., L, S]; NULL = none  dtype of query: added to the scores; BOOL: false stands for
 *          -infinity. A row whose scores are all -infinity gives NaN, as in PyTorch 1.13 (0 / 0). Where all rows of a
 *          query have one row of a BOOL mask, as over a cache, the engine does not read keys and values before the
 *          first and after the last that it shows: they take no time, and what stands there does not matter
 *  return  [B, .., L, V]
 *  errors  MW_ERROR_SHAPE if ranks or batch extents differ (they do not broadcast), E or S differ or are 0, or the mask
 *          does not broadcast; MW_ERROR_DTYPE
 *  vjp     with P = softmax(query key^T / sqrt(E) + mask) and D = P (dy value^T - sum(dy y)):
 *          dvalue = P^T dy, dquery = D key / sqrt(E), dkey = D^T query / sqrt(E), dmask = D summed over what was
 *          broadcast (a BOOL mask has none)
 *  source  MIL scaled_dot_product_attention, which is there from ios18; in graphs of older opsets this is mul, matmul,
 *          add or select, softmax and matmul. The maximum of a row is subtracted first */
MW_API mw_tensor *mw_scaled_dot_product_attention(mw_tensor *query, mw_tensor *key, mw_tensor *value, mw_tensor *mask);

/** mw_scaled_dot_product_attention over `heads` parts of the last extent, between products with new parameters:
 *  PyTorch's MultiheadAttention with batch_first.
 *  query   [B, L, E], E known  F16 or F32
 *  key     [B, S, E]; NULL = the query
 *  value   [B, S, E]; NULL = the key
 *  heads   must divide E
 *  mask    broadcasts to [B, heads, L, S], as above; NULL = none. Of a BOOL mask, true takes part; PyTorch's module
 *          (not its scaled_dot_product_attention) has that the other way round
 *  name    the parameters are `name`.in_proj_weight [3 E, E], the rows for query, key and value one below the other,
 *          Xavier uniform, `name`.in_proj_bias [3 E] and `name`.out_proj.bias [E], zeros, and
 *          `name`.out_proj.weight [E, E], uniform in +-1/sqrt(E); dtype of query
 *  return  [B, L, E]
 *  errors  MW_ERROR_SHAPE, MW_ERROR_DTYPE, MW_ERROR_ARGUMENT for heads that do not divide E or a name that is empty
 *          or taken
 *  vjp     that of its operations
 *  source  PyTorch MultiheadAttention, without dropout, bias_kv and zero_attn */
MW_API mw_tensor *mw_multi_head_attention_layer(mw_tensor *query, mw_tensor *key, mw_tensor *value, int64_t heads,
                                                mw_tensor *mask, const char *name);

#ifdef __cplusplus
}
#endif
#endif

/* Sorting and the largest elements.
 *
 *     mw_tensor *order = mw_argsort(scores, -1, false);             // [N, C] -> [N, C], the best class first
 *     mw_tensor *values, *classes;
 *     mw_topk(scores, 5, -1, false, &values, &classes);             // [N, C] -> [N, 5] and [N, 5]
 *
 * Order. Of equal elements the one with the lower index comes first, ascending and descending, whatever the number of
 * threads; -0 equals 0. NaN counts as larger than every number, as in PyTorch: last ascending, first descending. MIL
 * states neither. A NULL operand yields NULL; results live as long as the graph.
 *
 * Threads: as the rest of a graph: calls on one graph come one at a time, from any thread; other graphs do not mind. */
#ifndef MILLWRIGHT_OP_SORT_H
#define MILLWRIGHT_OP_SORT_H

#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/** r = the indices along axis that sort x; MIL's own default is descending.
 *  x          [.., n, ..]  F16, F32 or I32
 *  axis       in [-rank, rank)
 *  ascending  false: the largest first
 *  return     [.., n, ..]  I32
 *  errors     MW_ERROR_ARGUMENT if axis is out of range, MW_ERROR_DTYPE
 *  vjp        none: integers
 *  source     MIL argsort */
MW_API mw_tensor *mw_argsort(mw_tensor *x, int axis, bool ascending);

/** The k largest elements along axis and where they stand, sorted.
 *  x            [.., n, ..]  F16, F32 or I32; from MW_IOS17 on also I8, I16, U8 and U16
 *  k            in [1, n]; in a text of ios17 -1 stands for n
 *  axis         in [-rank, rank)
 *  ascending    true: the k smallest, the smallest first
 *  out_values   receives [.., k, ..], dtype of x
 *  out_indices  receives [.., k, ..], I32; NULL = not wanted
 *  return       MW_OK or the error, which is also left on the graph; both results are NULL then
 *  errors       MW_ERROR_ARGUMENT, MW_ERROR_DTYPE
 *  vjp          dx = scatter_along_axis(0, indices, dvalues, axis, add)
 *  source       MIL topk. Its sort = false (MW_IOS16, by mw_op) leaves the order open; here it is the same. Its
 *               output_indices_dtype (MW_IOS17, by mw_op) may be int8, int16, int32, uint8 or uint16, if n fits */
MW_API mw_status mw_topk(mw_tensor *x, int64_t k, int axis, bool ascending, mw_tensor **out_values,
                         mw_tensor **out_indices);

#ifdef __cplusplus
}
#endif
#endif

/* Elements chosen by indices.
 *
 *     mw_tensor *rows = mw_gather(table, tokens, 0);              // [V, D], [B, T] -> [B, T, D]
 *     mw_tensor *p = mw_one_hot(labels, 10, -1, MW_F32, 1, 0);    // [N] -> [N, 10]
 *
 * A NULL operand yields NULL; results live as long as the graph. */
#ifndef MILLWRIGHT_OP_GATHER_H
#define MILLWRIGHT_OP_GATHER_H

#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/** r = `on` at the position that each index names along a new axis, `off` elsewhere.
 *  indices  [..]  an integer type; outside [0, size) all are off
 *  size     extent of the new axis, >= 1
 *  axis     of the result, in [-rank - 1, rank]
 *  dtype    of the result: F16, F32, I32 or BOOL
 *  errors   MW_ERROR_ARGUMENT, MW_ERROR_DTYPE
 *  vjp      none
 *  source   MIL one_hot */
MW_API mw_tensor *mw_one_hot(mw_tensor *indices, int64_t size, int axis, mw_dtype dtype, double on, double off);

/** r = x[.., indices, ..]: slices of x along axis.
 *  x        [A.., n, B..]  any type
 *  indices  [C..]          an integer type, in [0, n); up to MW_IOS16 also [-n, 0), counting from the end
 *  axis     in [-rank, rank)
 *  return   [A.., C.., B..]  dtype of x; a scalar index leaves the axis out
 *  errors   MW_ERROR_ARGUMENT, MW_ERROR_SHAPE, MW_ERROR_DTYPE
 *  vjp      dx = dr added up at the indices
 *  source   MIL gather */
MW_API mw_tensor *mw_gather(mw_tensor *x, mw_tensor *indices, int axis);

#ifdef __cplusplus
}
#endif
#endif

/* Normalisation along axes.
 *
 *     mw_tensor *p = mw_softmax(logits, -1);
 *
 * A NULL operand yields NULL; results live as long as the graph. */
#ifndef MILLWRIGHT_OP_NORMALIZE_H
#define MILLWRIGHT_OP_NORMALIZE_H

#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/** y = softmax(x) along axis.
 *  x       [.., n, ..]  F16 or F32
 *  axis    in [-rank, rank); negative counts from the end
 *  return  [.., n, ..]  dtype of x
 *  errors  MW_ERROR_ARGUMENT if axis is out of range, MW_ERROR_DTYPE
 *  vjp     dx = y * (dy - sum(dy * y, axis))
 *  source  MIL softmax; the maximum is subtracted first */
MW_API mw_tensor *mw_softmax(mw_tensor *x, int axis);

#ifdef __cplusplus
}
#endif
#endif

/* Comparisons, logic and selection.
 *
 *     mw_tensor *clamped = mw_select(mw_less(x, zero), zero, x);
 *
 * Operands broadcast by NumPy's rules. A NULL operand yields NULL; results live as long as the graph.
 *
 * Threads: as the rest of a graph: calls on one graph come one at a time, from any thread; other graphs do not mind. */
#ifndef MILLWRIGHT_OPS_COMPARE_H
#define MILLWRIGHT_OPS_COMPARE_H

#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/** r = (x == y).
 *  x, y    broadcastable, one type: F16, F32 or I32
 *  return  the broadcast shape, BOOL
 *  errors  MW_ERROR_SHAPE if the shapes do not broadcast, MW_ERROR_DTYPE if the types differ
 *  vjp     none: the result is BOOL
 *  source  MIL equal */
MW_API mw_tensor *mw_equal(mw_tensor *x, mw_tensor *y);
/** r = (x != y); the rest as mw_equal. */
MW_API mw_tensor *mw_not_equal(mw_tensor *x, mw_tensor *y);
/** r = (x < y); the rest as mw_equal. */
MW_API mw_tensor *mw_less(mw_tensor *x, mw_tensor *y);
/** r = (x <= y); the rest as mw_equal. */
MW_API mw_tensor *mw_less_equal(mw_tensor *x, mw_tensor *y);
/** r = (x > y); the rest as mw_equal. */
MW_API mw_tensor *mw_greater(mw_tensor *x, mw_tensor *y);
/** r = (x >= y); the rest as mw_equal. */
MW_API mw_tensor *mw_greater_equal(mw_tensor *x, mw_tensor *y);

/** r = x and y.
 *  x, y    broadcastable, BOOL
 *  return  the broadcast shape, BOOL
 *  errors  MW_ERROR_SHAPE if the shapes do not broadcast, MW_ERROR_DTYPE
 *  vjp     none: truth has no gradient
 *  source  MIL logical_and */
MW_API mw_tensor *mw_logical_and(mw_tensor *x, mw_tensor *y);

/** r = x or y; arguments and errors as mw_logical_and.
 *  vjp     none
 *  source  MIL logical_or */
MW_API mw_tensor *mw_logical_or(mw_tensor *x, mw_tensor *y);

/** r = x differs from y; arguments and errors as mw_logical_and.
 *  vjp     none
 *  source  MIL logical_xor */
MW_API mw_tensor *mw_logical_xor(mw_tensor *x, mw_tensor *y);

/** r = not x.
 *  x       [..]  BOOL
 *  return  [..]  BOOL
 *  errors  MW_ERROR_DTYPE
 *  vjp     none
 *  source  MIL logical_not */
MW_API mw_tensor *mw_logical_not(mw_tensor *x);

/** r = a where cond is true, else b.
 *  cond    BOOL
 *  a, b    any one type
 *  return  the broadcast shape of all three, dtype of a
 *  errors  MW_ERROR_SHAPE if the shapes do not broadcast, MW_ERROR_DTYPE
 *  vjp     da = select(cond, dr, 0), db = select(cond, 0, dr)
 *  source  MIL select */
MW_API mw_tensor *mw_select(mw_tensor *cond, mw_tensor *a, mw_tensor *b);

#ifdef __cplusplus
}
#endif
#endif

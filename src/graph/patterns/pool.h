/* Gradients of pooling as operations. There is one text form for engine and chips: pads, strided slices, comparisons,
 * selections, sums and avg_pool itself, at most rank 5, nothing that a chip refuses; the engine has no use for another.
 *
 *     mw_tensor *dx = mw__max_pool_gradient(op, x, y, dy);
 *
 * x [N, C, *S] and y are operand and result of the pooling `op`, dy is the cotangent of y. All are differentiable
 * again. A NULL operand yields NULL. */
#ifndef MW__GRAPH_PATTERNS_POOL_H
#define MW__GRAPH_PATTERNS_POOL_H

#include "graph/geometry/window.h"
#include "graph/ir/ir.h"

/* dy at the first element of its window that equals y; where windows overlap their shares add up. */
mw_tensor *mw__max_pool_gradient(const mw__op *op, mw_tensor *x, mw_tensor *y, mw_tensor *dy);

/* dy / count of its window, on every element of the window. */
mw_tensor *mw__avg_pool_gradient(const mw__op *op, mw_tensor *x, mw_tensor *dy);

/* What of it spreads: dx [N, C, *S] of dy [N, C, *out], each element the sum, divided by the size of the kernel, of the
 * dy of all windows that hold it. `x`: of the shape of dx, and not read. */
mw_tensor *mw__avg_pool_spread(const mw__window *windows, int axes, mw_tensor *x, mw_tensor *dy);

/* x (dy / y) on every element of the window; 0 where y is 0. */
mw_tensor *mw__l2_pool_gradient(const mw__op *op, mw_tensor *x, mw_tensor *y, mw_tensor *dy);

#endif

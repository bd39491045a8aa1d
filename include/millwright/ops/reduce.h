/* Reductions over axes.
 *
 *     mw_tensor *rows = mw_reduce_sum(x, MW_AXES(-1), true);      // [N, C] -> [N, 1]
 *     mw_tensor *all = mw_reduce_mean(x, MW_ALL_AXES, false);     // a scalar
 *
 * A NaN among the elements is the result, also of the largest and the smallest. A NULL operand yields NULL; results
 * live as long as the graph.
 *
 * Threads: as the rest of a graph: calls on one graph come one at a time, from any thread; other graphs do not mind. */
#ifndef MILLWRIGHT_OPS_REDUCE_H
#define MILLWRIGHT_OPS_REDUCE_H

#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/** y = sum of x over the axes.
 *  x          [..]  F16, F32 or I32
 *  axes       in [-rank, rank), each once; MW_ALL_AXES = every axis
 *  keep_dims  true: reduced axes stay with extent 1; false: they are left out
 *  return     dtype of x
 *  errors     MW_ERROR_ARGUMENT for an axis out of range or repeated, MW_ERROR_DTYPE
 *  vjp        dx = dy, repeated over the axes
 *  source     MIL reduce_sum */
MW_API mw_tensor *mw_reduce_sum(mw_tensor *x, mw_axes axes, bool keep_dims);

/** y = mean of x over the axes (integers: truncated); arguments as mw_reduce_sum.
 *  errors     also MW_ERROR_SHAPE if an axis has extent 0
 *  vjp        dx = dy / n, repeated; n = elements that make one mean
 *  source     MIL reduce_mean */
MW_API mw_tensor *mw_reduce_mean(mw_tensor *x, mw_axes axes, bool keep_dims);

/** y = largest of x over the axes; arguments as mw_reduce_sum. The axes must not be empty (extent 0).
 *  vjp        dy goes to the largest elements; equal ones share it evenly
 *  source     MIL reduce_max */
MW_API mw_tensor *mw_reduce_max(mw_tensor *x, mw_axes axes, bool keep_dims);

/** y = smallest of x over the axes; arguments as mw_reduce_max.
 *  vjp        dy goes to the smallest elements; equal ones share it evenly
 *  source     MIL reduce_min */
MW_API mw_tensor *mw_reduce_min(mw_tensor *x, mw_axes axes, bool keep_dims);

/** y = ln(sum of e^x over the axes), the maximum taken out first (integers: truncated); arguments as
 *  mw_reduce_max.
 *  vjp        dx = dy * e^(x - y)
 *  source     MIL reduce_log_sum_exp */
MW_API mw_tensor *mw_reduce_log_sum_exp(mw_tensor *x, mw_axes axes, bool keep_dims);

/** y = product of x over the axes (integers wrap around); arguments as mw_reduce_sum. Of nothing it is 1.
 *  vjp        dx = dy * product of the other elements, without division: right where x is 0
 *  source     MIL reduce_prod */
MW_API mw_tensor *mw_reduce_prod(mw_tensor *x, mw_axes axes, bool keep_dims);

/** y = sum of x^2 over the axes (integers wrap around); arguments as mw_reduce_sum.
 *  vjp        dx = 2 x dy
 *  source     MIL reduce_sum_square */
MW_API mw_tensor *mw_reduce_sum_square(mw_tensor *x, mw_axes axes, bool keep_dims);

/** y = sum of |x| over the axes (integers wrap around); arguments as mw_reduce_sum.
 *  vjp        dx = sign(x) dy
 *  source     MIL reduce_l1_norm */
MW_API mw_tensor *mw_reduce_l1_norm(mw_tensor *x, mw_axes axes, bool keep_dims);

/** y = sqrt(sum of x^2 over the axes) (integers: truncated); arguments as mw_reduce_sum.
 *  vjp        dx = x dy / y, and 0 where y is 0, as PyTorch's norm
 *  source     MIL reduce_l2_norm */
MW_API mw_tensor *mw_reduce_l2_norm(mw_tensor *x, mw_axes axes, bool keep_dims);

/** y = ln(sum of x over the axes) (integers: truncated, and 0 for a negative sum); arguments as mw_reduce_max.
 *  vjp        dx = dy / sum of x
 *  source     MIL reduce_log_sum */
MW_API mw_tensor *mw_reduce_log_sum(mw_tensor *x, mw_axes axes, bool keep_dims);

/** y = position of the largest x along axis: the first of equal ones, or of NaNs, as in NumPy. MIL leaves ties open.
 *  x          [.., n, ..]  F16, F32 or I32; n >= 1
 *  axis       in [-rank, rank)
 *  keep_dims  true: the axis stays with extent 1; false: it is left out
 *  return     I32, in [0, n)
 *  errors     MW_ERROR_ARGUMENT for an axis out of range, MW_ERROR_SHAPE if n is 0, MW_ERROR_DTYPE
 *  vjp        none: integers
 *  source     MIL reduce_argmax; its output_dtype uint16 (from ios17, n <= 65536) is reached by mw_op */
MW_API mw_tensor *mw_reduce_argmax(mw_tensor *x, int axis, bool keep_dims);

/** y = position of the smallest x along axis; the rest as mw_reduce_argmax.
 *  source     MIL reduce_argmin */
MW_API mw_tensor *mw_reduce_argmin(mw_tensor *x, int axis, bool keep_dims);

/** y[i] = x[0] + .. + x[i] along axis.
 *  x          [.., n, ..]  F16, F32 or I32 (which wraps around)
 *  axis       in [-rank, rank)
 *  exclusive  true: without x[i], so that y[0] = 0
 *  reverse    true: from the end, y[i] = x[i] + .. + x[n - 1]
 *  return     shape and dtype of x
 *  errors     MW_ERROR_ARGUMENT for an axis out of range, MW_ERROR_DTYPE
 *  vjp        dx = cumsum(dy, axis, exclusive, not reverse)
 *  source     MIL cumsum */
MW_API mw_tensor *mw_cumsum(mw_tensor *x, int axis, bool exclusive, bool reverse);

#ifdef __cplusplus
}
#endif
#endif

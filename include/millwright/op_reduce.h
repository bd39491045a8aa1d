/* Reductions over axes.
 *
 *     mw_tensor *rows = mw_reduce_sum(x, MW_AXES(-1), true);      // [N, C] -> [N, 1]
 *     mw_tensor *all = mw_reduce_mean(x, MW_ALL_AXES, false);     // a scalar
 *
 * A NULL operand yields NULL; results live as long as the graph. */
#ifndef MILLWRIGHT_OP_REDUCE_H
#define MILLWRIGHT_OP_REDUCE_H

#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/** r = sum of x over the axes.
 *  x          [..]  F16, F32 or I32
 *  axes       in [-rank, rank), each once; MW_ALL_AXES = every axis
 *  keep_dims  true: reduced axes stay with extent 1; false: they are left out
 *  return     dtype of x
 *  errors     MW_ERROR_ARGUMENT for an axis out of range or repeated, MW_ERROR_DTYPE
 *  vjp        dx = dr, repeated over the axes
 *  source     MIL reduce_sum */
MW_API mw_tensor *mw_reduce_sum(mw_tensor *x, mw_axes axes, bool keep_dims);

/** r = mean of x over the axes (integers: truncated); arguments as mw_reduce_sum.
 *  errors     also MW_ERROR_SHAPE if an axis has extent 0
 *  vjp        dx = dr / n, repeated; n = elements that make one mean
 *  source     MIL reduce_mean */
MW_API mw_tensor *mw_reduce_mean(mw_tensor *x, mw_axes axes, bool keep_dims);

/** r = largest of x over the axes; arguments as mw_reduce_sum. The axes must not be empty (extent 0).
 *  vjp        dr goes to the largest elements; equal ones share it evenly
 *  source     MIL reduce_max */
MW_API mw_tensor *mw_reduce_max(mw_tensor *x, mw_axes axes, bool keep_dims);

/** r = smallest of x over the axes; arguments as mw_reduce_max.
 *  vjp        dr goes to the smallest elements; equal ones share it evenly
 *  source     MIL reduce_min */
MW_API mw_tensor *mw_reduce_min(mw_tensor *x, mw_axes axes, bool keep_dims);

/** r = ln(sum of e^x over the axes), the maximum taken out first; arguments as mw_reduce_max, F16 or F32 only.
 *  vjp        dx = dr * e^(x - r)
 *  source     MIL reduce_log_sum_exp */
MW_API mw_tensor *mw_reduce_log_sum_exp(mw_tensor *x, mw_axes axes, bool keep_dims);

#ifdef __cplusplus
}
#endif
#endif

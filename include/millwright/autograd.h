/* Reverse-mode differentiation: a graph gains the operations that compute its gradients.
 *
 *     mw_tensor *dw;
 *     mw_grad(loss, &w, 1, &dw, &err);          // dw has the shape of w
 *     mw_grad(mw_reduce_sum(mw_mul(dw, v), MW_ALL_AXES, false), &w, 1, &hv, &err);   // Hessian-vector product
 *
 * Gradients are ordinary tensors of the same graph, so they can be differentiated again. */
#ifndef MILLWRIGHT_AUTOGRAD_H
#define MILLWRIGHT_AUTOGRAD_H

#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/** out_dx[i] = d loss / d x[i].
 *  loss    scalar (rank 0, or one element), F16 or F32
 *  x       tensors of the same graph, any values (not only leaves), F16 or F32
 *  out_dx  receives `count` tensors with the shapes of x; zeros where the loss does not depend on x[i]
 *  errors  MW_ERROR_SHAPE if loss is not a scalar (use a reduction), MW_ERROR_UNSUPPORTED naming the operation if a
 * path from x to loss goes through one without a gradient, MW_ERROR_DTYPE for integer x; then all out_dx are NULL */
MW_API mw_status mw_grad(mw_tensor *loss, mw_tensor *const *x, size_t count, mw_tensor **out_dx, mw_error *err);

/** The general form: dx[i] = sum over r of (d root[r] / d x[i])^T seed[r].
 *  roots   tensors of any shape
 *  seeds   cotangents with the shapes of the roots; a NULL entry (or NULL array) means ones, for scalar roots only
 *  stops   values that gradients do not pass, besides those marked with mw_stop_gradient; may be NULL with 0 */
MW_API mw_status mw_backward(mw_tensor *const *roots, mw_tensor *const *seeds, size_t root_count,
                             mw_tensor *const *stops, size_t stop_count, mw_tensor *const *x, size_t count,
                             mw_tensor **out_dx, mw_error *err);

#ifdef __cplusplus
}
#endif
#endif

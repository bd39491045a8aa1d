/* Logarithms of softmax that keep the last digits of a confident prediction, for losses and reductions. */
#ifndef MW__AUTOGRAD_VJP_LOG_SOFTMAX_H
#define MW__AUTOGRAD_VJP_LOG_SOFTMAX_H

#include "autograd/vjp/rules.h"

/* x over `axes` in front of its largest element: log sum e^x = most + rest, log softmax(x) = z - rest. Neither
 * difference cancels, as z <= 0 <= rest, and rest is accurate in proportion to its own size. `most`, `sum` of the
 * powers e^z and rest keep the axes, each with extent 1; the others have the shape of x. Gradients treat most as a
 * constant. That is right for what is made of z, powers and sum, but not for rest, in which a largest element that
 * stands alone has no part: whoever differentiates rest needs a rule of its own. */
typedef struct mw__log_sum {
    mw_tensor *most, *z, *powers, *sum, *rest;
} mw__log_sum;

/* `axes` are not empty. */
MW__SIBLING mw__log_sum mw__log_sum_exp(mw_tensor *x, mw_axes axes);

/* -log softmax(x) along axis as sum.rest - sum.z, for the sums over that axis of x; with derivatives of any order. */
MW__SIBLING mw_tensor *mw__surprise(mw_tensor *x, const mw__log_sum *sum);

/* softmax(x) along axis, of those powers of x and their sum. */
mw_tensor *mw__softmax_of_powers(mw_tensor *x, int axis, mw_tensor *powers, mw_tensor *sum);

/* e^x / sum e^x over `axes`, which are not empty. */
mw_tensor *mw__softmax_over(mw_tensor *x, mw_axes axes);

/* 1 - p for p = softmax(x) along axis: that of the one above 1/2 is the sum of the others. */
mw_tensor *mw__odds_against(mw_tensor *p, int axis);

#endif

/* Losses for rare classes, masks, counts and quantiles.
 *
 *     mw_tensor *loss = mw_dice(mw_sigmoid(logits), masks, MW_AXES(2, 3), 1.0f);   // [N, C, H, W], by channel
 *
 * Each is the mean over the examples of the batch, as the losses of <millwright/loss.h>, with all that is said there.
 *
 * Threads: as loss.h. */
#ifndef MILLWRIGHT_LOSS_FOCUS_H
#define MILLWRIGHT_LOSS_FOCUS_H

#include <millwright/loss.h>

#ifdef __cplusplus
extern "C" {
#endif

/** loss = mean over n of -(1 - p[n])^gamma log p[n], p[n] = softmax(logits)[n, label n]: cross-entropy in which
 *  examples that are right already count less.
 *  logits  [N, .., C]  F16 or F32
 *  labels  [N, ..]     I32 in [0, C), checked when fed
 *  gamma   finite, 0 (mw_cross_entropy) or at least 1: below 1 the gradient has no bound where p = 1. 2 is usual
 *  return  scalar; 1 - p is the sum of the other classes' probabilities, so that it is right where p is close to 1
 *  errors  MW_ERROR_SHAPE, MW_ERROR_DTYPE, MW_ERROR_ARGUMENT
 *  vjp     dlogits = dy (gamma u^(gamma - 1) p c + u^gamma) (softmax(logits) - hot) / N, u = 1 - p, c = -log p
 *  source  Lin et al. 2017, for many classes */
MW_API mw_tensor *mw_focal(mw_tensor *logits, mw_tensor *labels, float gamma);

/** loss = mean over all elements of -a t (1 - p)^gamma log p - (1 - a)(1 - t) p^gamma log(1 - p), p = sigmoid(logits),
 *  for targets t of 0 or 1; in between as torchvision has it, with (1 - p) t + p (1 - t) in the power.
 *  logits, target  [N, ..]  same shape, both F16 or both F32; target in [0, 1]
 *  alpha   a in [0, 1], the weight of a yes, or -1 for no weights. torchvision's default is 0.25
 *  gamma   as mw_focal; torchvision's default is 2
 *  return  scalar, stable as mw_binary_cross_entropy
 *  errors  MW_ERROR_SHAPE, MW_ERROR_DTYPE, MW_ERROR_ARGUMENT
 *  vjp     of its operations
 *  source  torchvision sigmoid_focal_loss; Lin et al. 2017 */
MW_API mw_tensor *mw_binary_focal(mw_tensor *logits, mw_tensor *target, float alpha, float gamma);

/** loss = mean of 1 - (2 sum y target + smooth) / (sum y + sum target + smooth), each sum over `axes`: how little two
 *  masks overlap.
 *  y, target  [N, ..]  same shape, both F16 or both F32; in [0, 1]
 *  axes       at least one, never the first: examples are compared one by one
 *  smooth     finite and positive: keeps the quotient of two empty masks at 1. 1 is usual
 *  return     scalar. Means are taken for sums, so that large masks fit in fp16
 *  errors     MW_ERROR_SHAPE, MW_ERROR_DTYPE, MW_ERROR_ARGUMENT
 *  vjp        of its operations
 *  source     Milletari et al. 2016, without the squares */
MW_API mw_tensor *mw_dice(mw_tensor *y, mw_tensor *target, mw_axes axes, float smooth);

/** loss = mean over all elements of e^log_mean - target log_mean: counts, of which the logarithm of the mean is
 *  predicted.
 *  log_mean, target  [N, ..]  same shape, both F16 or both F32; target >= 0. log_mean is at most 11 in fp16
 *  return  scalar
 *  errors  MW_ERROR_SHAPE, MW_ERROR_DTYPE
 *  vjp     dlog_mean = dloss (e^log_mean - target) / count, dtarget = -dloss log_mean / count
 *  source  PyTorch PoissonNLLLoss(log_input = True, full = False) */
MW_API mw_tensor *mw_poisson_nll(mw_tensor *log_mean, mw_tensor *target);

/** loss = mean over all elements of max(q d, (q - 1) d), d = target - y: its minimum is the quantile q of the target.
 *  y, target  [N, ..]  same shape, both F16 or both F32
 *  q          in (0, 1); 0.5 is half of mw_l1
 *  return     scalar
 *  errors     MW_ERROR_SHAPE, MW_ERROR_DTYPE, MW_ERROR_ARGUMENT
 *  vjp        dy = -dloss q / count where target > y, dloss (1 - q) / count where target < y, 0 where they are equal
 *  source     Koenker and Bassett 1978; scikit-learn's mean_pinball_loss */
MW_API mw_tensor *mw_pinball(mw_tensor *y, mw_tensor *target, float q);

#ifdef __cplusplus
}
#endif
#endif

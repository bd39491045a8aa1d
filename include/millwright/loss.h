/* Losses and metrics, computed on the device.
 *
 *     mw_tensor *loss = mw_cross_entropy(logits, labels);     // scalar
 *     mw_tensor *metric = mw_accuracy(logits, labels);        // scalar
 *
 * Each is the mean over the examples of the batch and remembers the values of the single examples, so that evaluation
 * counts every example once even when the last batch is short. N = examples, C = classes.
 *
 * On failure they leave an error on the graph and return a tensor that is good for nothing but to report it: a trainer
 * made with it, or mw_grad, fails with the graph's first error. Operands that are all NULL yield NULL. */
#ifndef MILLWRIGHT_LOSS_H
#define MILLWRIGHT_LOSS_H

#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/** loss = mean over n of (log sum_c exp(logits[n, c]) - logits[n, label n]).
 *  logits  [N, C]  F16 or F32
 *  labels  [N]     I32 in [0, C) (checked on the host when fed; on fp16 devices C <= 2048), or
 *          [N, C]  dtype of logits: one-hot or class probabilities p, then loss = mean of -sum_c p log softmax(logits)
 *  return  scalar, dtype of logits; stable for any finite logits (the maximum is subtracted)
 *  errors  MW_ERROR_SHAPE if labels fit neither form, MW_ERROR_DTYPE if their type does not
 *  vjp     dlogits = dy (softmax(logits) - p) / N for probabilities that sum to 1, generally
 *          dy (softmax(logits) sum_c p - p) / N; one-hot labels get dp = -dy log softmax(logits) / N, integers none */
MW_API mw_tensor *mw_cross_entropy(mw_tensor *logits, mw_tensor *labels);

/** loss = mean over all elements of (y - target)^2.
 *  y, target  [N, ..]  same shape, F16 or F32
 *  return     scalar
 *  vjp        dy = 2 dloss (y - target) / count, dtarget = -dy */
MW_API mw_tensor *mw_mse(mw_tensor *y, mw_tensor *target);

/** The share of examples whose largest logit is that of their label; ties go to the lowest class, as in numpy.argmax.
 *  logits  [N, C]  F16 or F32
 *  labels  [N] I32, or [N, C] one-hot (the first largest entry counts)
 *  return  scalar in [0, 1]; no gradient */
MW_API mw_tensor *mw_accuracy(mw_tensor *logits, mw_tensor *labels);

#ifdef __cplusplus
}
#endif
#endif

/* Losses and metrics, computed on the device.
 *
 *     mw_tensor *loss = mw_cross_entropy(logits, labels);     // scalar
 *     mw_tensor *metric = mw_accuracy(logits, labels);        // scalar
 *
 * Each is the mean over the examples of the batch and remembers the values of the single examples, so that evaluation
 * counts every example once even when the last batch is short. N = examples, C = classes; ".." are further axes, such
 * as the places of a sequence, which are averaged too.
 *
 * Definitions and names of the arguments are PyTorch's, with its mean reduction. Gradients of any order follow. All
 * stay finite in fp16 where their value does.
 *
 * On failure they leave an error on the graph and return a tensor that is good for nothing but to report it: a trainer
 * made with it, or mw_grad, fails with the graph's first error. A NULL operand yields NULL if the graph has none.
 * Operands without elements are refused (MW_ERROR_SHAPE), as the mean of nothing is not defined.
 *
 * Threads: as the rest of a graph: calls on one graph come one at a time, from any thread; other graphs do not mind. */
#ifndef MILLWRIGHT_LOSS_H
#define MILLWRIGHT_LOSS_H

#include <millwright/graph.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- classes ---- */

/** loss = mean over n of -log softmax(logits)[n, label n].
 *  logits  [N, .., C]  F16 or F32
 *  labels  [N, ..]     I32 in [0, C) (checked on the host when fed; on the ANE C <= 524288, <millwright/ops/gather.h>),
 *          or
 *          [N, .., C]  dtype of logits: one-hot or class probabilities p, then
 *                      loss = mean of -sum_c p log softmax(logits)
 *  return  scalar, dtype of logits; stable for any finite logits. What one label adds, and its gradient, is right
 *          to 2^-20 of itself in F32 and 2^-8 in F16 however confident the prediction (mw_log_softmax)
 *  errors  MW_ERROR_SHAPE if labels fit neither form, MW_ERROR_DTYPE if their type does not
 *  vjp     dlogits = dy (softmax(logits) - p) / N for probabilities that sum to 1, generally
 *          dy (softmax(logits) sum_c p - p) / N; one-hot labels get dp = -dy log softmax(logits) / N, integers none */
MW_API mw_tensor *mw_cross_entropy(mw_tensor *logits, mw_tensor *labels);

/** No label is ignored. */
#define MW_IGNORE_NOTHING INT32_MIN

/** What cross-entropy can do besides. Fill with mw_cross_entropy_defaults. */
typedef struct mw_cross_entropy_options {
    size_t struct_size;
    size_t class_count;         /* of the weights: C, or 0 */
    const float *class_weights; /* w, [C], finite and >= 0, copied; NULL = all 1 */
    float label_smoothing;      /* s in [0, 1]: the target is (1 - s) p + s / C; default 0 */
    int32_t ignore_index;       /* integer labels with this number do not count, and may be fed though it is no class;
                                 * default MW_IGNORE_NOTHING. -100 is PyTorch's. On the ANE within -524288 .. 524288 */
} mw_cross_entropy_options;

/** Returns options that make mw_cross_entropy_with the same as mw_cross_entropy. */
MW_API mw_cross_entropy_options mw_cross_entropy_defaults(void);

/** loss = sum over n of l[n] / sum over n of w[label n], for
 *         l[n] = -(1 - s) w[label n] log softmax(logits)[n, label n] - s / C sum_c w[c] log softmax(logits)[n, c],
 *  over the labels that are not ignored; for probabilities,
 *         mean of -sum_c w[c] ((1 - s) p + s / C) log softmax(logits).
 *
 *      mw_cross_entropy_options options = mw_cross_entropy_defaults();
 *      options.ignore_index = -100;                               // padding
 *      mw_tensor *loss = mw_cross_entropy_with(logits, labels, &options);
 *
 *  logits, labels  as mw_cross_entropy
 *  return   scalar. If no label of the batch counts it is 0 with gradient 0, where PyTorch has NaN: such a batch is no
 *           reason to refuse a step
 *  evaluation  reports the same quotient over the whole data set, as if it were one batch: a label counts by its weight
 *           in whichever batch it comes. MW_ERROR_NUMERIC if none counts
 *  note     an input that also serves a use without this ignore_index (mw_cross_entropy, mw_accuracy, mw_embedding)
 *           must not hold it: such a feed is refused
 *  errors   as mw_cross_entropy; MW_ERROR_SHAPE if the number of weights is not C; MW_ERROR_ARGUMENT for a weight, a
 *           smoothing or options that are not as above, or an ignored label of probabilities
 *  vjp      dlogits = dy (softmax(logits) sum_c v - v) / sum of w, v = w[c] times the smoothed target
 *  source   PyTorch CrossEntropyLoss; smoothing: Szegedy et al. 2016 */
MW_API mw_tensor *mw_cross_entropy_with(mw_tensor *logits, mw_tensor *labels, const mw_cross_entropy_options *options);

/** loss = mean over n of -log_probabilities[n, label n], the negative log-likelihood.
 *  log_probabilities  [N, .., C]  F16 or F32, e.g. of mw_log_softmax(x, -1)
 *  labels             [N, ..]     I32 in [0, C), checked when fed
 *  return  scalar
 *  errors  MW_ERROR_SHAPE, MW_ERROR_DTYPE
 *  vjp     -dloss / N at the labels, else 0
 *  source  PyTorch NLLLoss */
MW_API mw_tensor *mw_nll(mw_tensor *log_probabilities, mw_tensor *labels);

/** loss = mean over n of sum over c != label n of max(0, margin - scores[n, label n] + scores[n, c]) / C.
 *  scores  [N, .., C]  F16 or F32
 *  labels  [N, ..]     I32 in [0, C), checked when fed
 *  margin  positive and finite; PyTorch's default is 1
 *  return  scalar
 *  errors  MW_ERROR_SHAPE, MW_ERROR_DTYPE, MW_ERROR_ARGUMENT
 *  vjp     +-dloss / (N C) for each class inside the margin, else 0
 *  source  PyTorch MultiMarginLoss with p = 1; Weston and Watkins 1999 */
MW_API mw_tensor *mw_multi_margin(mw_tensor *scores, mw_tensor *labels, float margin);

/** The share of examples whose largest logit is that of their label; ties go to the lowest class, as in numpy.argmax.
 *  logits  [N, .., C]  F16 or F32
 *  labels  [N, ..] I32, or [N, .., C] one-hot (the first largest entry counts)
 *  return  scalar in [0, 1]; no gradient */
MW_API mw_tensor *mw_accuracy(mw_tensor *logits, mw_tensor *labels);

/** mw_accuracy of the labels that are not `ignore_index`, which go with an ignore_index of the loss; 0 if none counts.
 *  Evaluation reports hits / labels that count over the whole data set. Labels are integers. */
MW_API mw_tensor *mw_accuracy_ignoring(mw_tensor *logits, mw_tensor *labels, int32_t ignore_index);

/* ---- values ---- */

/** loss = mean over all elements of (y - target)^2.
 *  y, target  [N, ..]  same shape, both F16 or both F32
 *  return     scalar
 *  errors     MW_ERROR_SHAPE, MW_ERROR_DTYPE
 *  vjp        dy = 2 dloss (y - target) / count, dtarget = -dy */
MW_API mw_tensor *mw_mse(mw_tensor *y, mw_tensor *target);

/** loss = mean over all elements of |y - target|; arguments and errors as mw_mse.
 *  vjp        dy = dloss sign(y - target) / count, dtarget = -dy
 *  source     PyTorch L1Loss */
MW_API mw_tensor *mw_l1(mw_tensor *y, mw_tensor *target);

/** loss = mean over all elements of d^2 / 2 where |d| <= delta, else delta (|d| - delta / 2), for d = y - target.
 *  delta      positive and finite; PyTorch's default is 1
 *  others     as mw_mse; also MW_ERROR_ARGUMENT
 *  vjp        dy = dloss clip(y - target, -delta, delta) / count, dtarget = -dy
 *  source     PyTorch HuberLoss; Huber 1964 */
MW_API mw_tensor *mw_huber(mw_tensor *y, mw_tensor *target, float delta);

/** loss = mean over all elements of d^2 / (2 beta) where |d| < beta, else |d| - beta / 2, for d = y - target.
 *  beta       finite, 0 or more; PyTorch's default is 1, and 0 means mw_l1. 1 / beta must fit the type of the device
 *  others     as mw_mse; also MW_ERROR_ARGUMENT
 *  vjp        dy = dloss clip((y - target) / beta, -1, 1) / count, dtarget = -dy
 *  source     PyTorch SmoothL1Loss; Girshick 2015 */
MW_API mw_tensor *mw_smooth_l1(mw_tensor *y, mw_tensor *target, float beta);

/** loss = mean over all elements of -q target log sigmoid(logits) - (1 - target) log(1 - sigmoid(logits)).
 *  logits, target   [N, ..]  same shape, both F16 or both F32; target in [0, 1]
 *  positive_weight  q: broadcasts to logits, same dtype, >= 0; NULL = 1
 *  return  scalar; stable for any finite logits: made of log(1 + e^-|x|)
 *  errors  MW_ERROR_SHAPE, MW_ERROR_DTYPE
 *  vjp     dlogits = dloss ((1 - target) sigmoid(logits) - q target sigmoid(-logits)) / count,
 *          dtarget = dloss (log sigmoid(-logits) - q log sigmoid(logits)) / count, -dloss logits / count if q = 1
 *  source  PyTorch BCEWithLogitsLoss */
MW_API mw_tensor *mw_binary_cross_entropy(mw_tensor *logits, mw_tensor *target, mw_tensor *positive_weight);

/** loss = sum over all elements of target (log target - log_probabilities) / N: the divergence of the target from
 *  what is predicted, mean over the first axis only (PyTorch's "batchmean").
 *  log_probabilities, target  [N, ..]  same shape, both F16 or both F32, e.g. mw_log_softmax(x, -1); 0 log 0 = 0, also
 *          where log_probabilities is -inf; a target below 0 counts as 0 log 0
 *  return  scalar
 *  errors  MW_ERROR_SHAPE, MW_ERROR_DTYPE
 *  vjp     dlog_probabilities = -dloss target / N; dtarget = dloss (log target + 1 - log_probabilities) / N, 0 where
 *          the target is 0
 *  source  PyTorch KLDivLoss(reduction = "batchmean") */
MW_API mw_tensor *mw_kl_divergence(mw_tensor *log_probabilities, mw_tensor *target);

/** loss = mean over all elements of max(0, 1 - target y).
 *  y, target  [N, ..]  same shape, both F16 or both F32; target -1 or +1
 *  return     scalar
 *  errors     MW_ERROR_SHAPE, MW_ERROR_DTYPE
 *  vjp        dy = -dloss target / count where target y < 1, else 0; dtarget = -dloss y / count there
 *  source     Cortes and Vapnik 1995, the loss of support vector machines */
MW_API mw_tensor *mw_hinge(mw_tensor *y, mw_tensor *target);

#ifdef __cplusplus
}
#endif
#endif

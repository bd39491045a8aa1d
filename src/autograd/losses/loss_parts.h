/* What the losses share: their operands, and means over the examples of a batch. */
#ifndef MW__AUTOGRAD_LOSSES_LOSS_PARTS_H
#define MW__AUTOGRAD_LOSSES_LOSS_PARTS_H

#include "autograd/vjp/rules.h"

/* What a loss of a failed graph is: any of its tensors, so that a trainer made with it can report the graph's error. It
 * is of no use for anything else, as every constructor refuses a failed graph. NULL if the graph did not fail. */
mw_tensor *mw__loss_of_failed_graph(mw_tensor *a, mw_tensor *b);

/* True if both are there and have one shape of rank 1 or more and one float type; else the graph has an error. `names`
 * are those of the operands. */
bool mw__loss_check_pair(const char *operation, const char *const names[2], mw_tensor *y, mw_tensor *target);

/* True if both are there and labels fit logits: int32 without the last axis of the logits, or, if `dense`, their shape
 * and type. */
bool mw__loss_check_labels(const char *operation, mw_tensor *logits, mw_tensor *labels, bool dense);

/* Labels as a boolean mask in the shape of the logits, true at the class of the label and nowhere if there is none;
 * NULL if they are probabilities. `ignored` as in mw__limit_indices. */
mw_tensor *mw__loss_hot(mw_tensor *logits, mw_tensor *labels, const int64_t *ignored);

/* The number of the last axis, and the sum over it. */
int mw__loss_class_axis(mw_tensor *logits);
mw_tensor *mw__loss_sum_classes(mw_tensor *x, bool keep_dims);

/* [N, ..] -> [N]: the mean over every axis but the first. */
mw_tensor *mw__loss_examples(mw_tensor *values);

/* The mean of values [N, ..] with that record, to which the examples are added; `a` and `b` as in
 * mw__loss_of_failed_graph. */
mw_tensor *mw__loss_mean(const mw__composite *record, mw_tensor *values, mw_tensor *a, mw_tensor *b);

/* The mean of weights [N] over the batch, and 1 where it is 0: what a weighted mean is divided by. */
mw_tensor *mw__loss_divisor(mw_tensor *weights);

#endif

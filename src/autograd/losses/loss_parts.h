/* What the losses share: their operands, and means over the examples of a batch. */
#ifndef MW__AUTOGRAD_LOSSES_LOSS_PARTS_H
#define MW__AUTOGRAD_LOSSES_LOSS_PARTS_H

#include "autograd/vjp/log_softmax.h"
#include "autograd/vjp/rules.h"

/* What a loss of a failed graph is: any of its tensors, so that a trainer made with it can report the graph's error. It
 * is of no use for anything else, as every constructor refuses a failed graph. NULL if the graph did not fail. */
MW__SIBLING mw_tensor *mw__loss_of_failed_graph(mw_tensor *a, mw_tensor *b);

/* True if both are there and have one shape of rank 1 or more and one float type; else the graph has an error. `names`
 * are those of the operands. */
MW__SIBLING bool mw__loss_check_pair(const char *operation, const char *const names[2], mw_tensor *y,
                                     mw_tensor *target);

/* True if both are there and labels fit logits: int32 without the last axis of the logits, or, if `dense`, their shape
 * and type. */
MW__SIBLING bool mw__loss_check_labels(const char *operation, mw_tensor *logits, mw_tensor *labels, bool dense);

/* Labels as a boolean mask in the shape of the logits, true at the class of the label and nowhere if there is none;
 * NULL if they are probabilities. `ignored` as in mw__limit_indices. */
MW__SIBLING mw_tensor *mw__loss_hot(mw_tensor *logits, mw_tensor *labels, const int64_t *ignored);

/* The sum over the classes of what x has at the label, and of what it has elsewhere: of a softmax the latter is 1 - p
 * of the label without cancelling. */
MW__SIBLING mw_tensor *mw__loss_at_label(mw_tensor *x, mw_tensor *hot, bool keep_dims);
MW__SIBLING mw_tensor *mw__loss_elsewhere(mw_tensor *x, mw_tensor *hot, bool keep_dims);

/* -log softmax(logits) at the label: [N, ..]. For values alone: their gradient is the business of a record
 * (mw__log_sum). */
MW__SIBLING mw_tensor *mw__loss_surprise_at(const mw__log_sum *sum, mw_tensor *hot);

/* The softmax along the last axis of a record whose first inputs are logits, and `powers` and `sum` of their
 * mw__log_sum. */
MW__SIBLING mw_tensor *mw__loss_softmax_of(mw__vjp *vjp);

/* log(1 + e^-|x|), and log(1 + e^x) of it: a yes costs that of -x, a no that of x. */
MW__SIBLING mw_tensor *mw__loss_softplus_below(mw_tensor *x);
MW__SIBLING mw_tensor *mw__loss_logistic_cost(mw_tensor *x, mw_tensor *below);

/* An error of the graph that says which number is out of its range. */
MW__SIBLING mw_tensor *mw__loss_refuse_number(mw_tensor *y, const char *what, float number, const char *rule);

/* The number of the last axis, and the sum over it. */
MW__SIBLING int mw__loss_class_axis(mw_tensor *logits);
MW__SIBLING mw_tensor *mw__loss_sum_classes(mw_tensor *x, bool keep_dims);

/* [N, ..] -> [N]: the mean over every axis but the first. */
mw_tensor *mw__loss_examples(mw_tensor *values);

/* The mean of values [N, ..] with that record, to which the examples are added; `a` and `b` as in
 * mw__loss_of_failed_graph. */
MW__SIBLING mw_tensor *mw__loss_mean(const mw__composite *record, mw_tensor *values, mw_tensor *a, mw_tensor *b);

/* The mean of weights [N] over the batch, and 1 where it is 0: what a weighted mean is divided by. */
mw_tensor *mw__loss_divisor(mw_tensor *weights);

#endif

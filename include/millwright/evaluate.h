/* How good a model is on a data set: loss, metrics, and which classes it takes for which.
 *
 *     mw_evaluation found;
 *     mw_trainer_evaluate(trainer, test, NULL, &found, &err);
 *     printf("loss %.3f accuracy %.3f\n", found.loss, found.metrics[0].value);
 *
 *     int64_t counts[10 * 10];    // [true class][predicted class]
 *     const mw_confusion confusion = {.classes = 10, .counts = counts};
 *     mw_trainer_evaluate(trainer, test, &confusion, &found, &err);
 *     for (int i = 0; i < 10; i++)
 *         printf("%d: recall %.3f\n", i, mw_confusion_class(counts, 10, i).recall);
 *
 * Threads: mw_trainer_evaluate as the trainer (trainer.h); the other functions read what they are given, and may be
 * called from any thread. */
#ifndef MILLWRIGHT_EVALUATE_H
#define MILLWRIGHT_EVALUATE_H

#include <millwright/trainer.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MW_CONFUSION_CLASSES_MAX 32768

/** Where an evaluation counts how often class j is predicted where the label says i. Predicted is the first of the
 *  largest elements along the last axis of the prediction of the trainer, [batch, classes] or [batch, .., classes] for
 *  several labels in an example; NaN counts as the largest. Every example counts once, whatever the batch; labels below
 *  0 are ignored. */
typedef struct mw_confusion {
    const char *labels; /* name of the column with the labels; NULL = the only column of integers without a scale:
                         * pixels have one, labels none */
    int64_t classes;    /* 1 to MW_CONFUSION_CLASSES_MAX */
    int64_t *counts;    /* [classes * classes], memory of the caller: counts[i * classes + j]; undefined after a failure
                         */
} mw_confusion;

/* ---- the evaluation ---- */

/** A metric's value over a data set. */
typedef struct mw_measure {
    const char *name; /* lives as long as the trainer */
    double value;
} mw_measure;

/** What an evaluation found. */
typedef struct mw_evaluation {
    double loss;
    int64_t examples;
    size_t metric_count;
    mw_measure metrics[MW_METRICS_MAX]; /* `metric` of the options first, then `metrics` in their order */
} mw_evaluation;

/** Loss and metrics over a data set, on the current parameters, in the evaluation form: batch norm with its running
 *  statistics, dropout as the identity, noise from the current state of its generator. Changes no state. With a
 *  communicator all ranks call it, and all get the values of the whole set.
 *
 *  Every example counts once, for any batch size and any size of the last batch, where the value is made of
 *    - means over examples: the losses of loss.h, mw_reduce_mean over rows that depend on one example each;
 *    - quotients of two such means, as of weighted labels: computed over the whole set;
 *    - terms without examples, as the L2 norm of parameters;
 *    - sums of these, times constants or parameters.
 *  A sum over the examples of a batch counts as batch size times their mean. Anything else, such as the root of a mean,
 *  is averaged over the batches, weighted by their examples, and the log hook gets one warning that names the term and
 *  the reason (docs/training.md).
 *  confusion  not NULL: classes are counted, too, by the trainer's prediction
 *  out        may be NULL, with `confusion` also if loss and metrics are not wanted; zeros on failure
 *  errors     MW_ERROR_NUMERIC if a quotient divides by 0, because every label is ignored or has weight 0; for a batch
 *             that cannot be fed, the errors of mw_trainer_step; for `confusion`: MW_ERROR_ARGUMENT without such a
 *             column or a prediction, or for a label from `classes` on, naming the example, MW_ERROR_SHAPE if labels
 *             and prediction do not fit */
MW_API mw_status mw_trainer_evaluate(mw_trainer *trainer, const mw_dataset *dataset, const mw_confusion *confusion,
                                     mw_evaluation *out, mw_error *err);

/* ---- figures of classes ---- */

/** Figures of one class. A quotient by 0 is 0. */
typedef struct mw_class_figures {
    int64_t support;   /* labels of this class */
    int64_t predicted; /* predictions of it .. */
    int64_t correct;   /* .. that are right */
    double precision;  /* correct / predicted */
    double recall;     /* correct / support */
    double f1;         /* 2 correct / (support + predicted), the harmonic mean of the two */
} mw_class_figures;
/** Of the counts of a confusion; zeros for NULL or a class that is not there. */
MW_API mw_class_figures mw_confusion_class(const int64_t *counts, int64_t classes, int64_t index);

/** Figures of all classes together. */
typedef struct mw_confusion_figures {
    int64_t labels, correct;
    double accuracy;                                /* correct / labels */
    double macro_precision, macro_recall, macro_f1; /* means over the classes that were a label or predicted */
} mw_confusion_figures;
/** The figures of all classes together. Zeros for NULL. */
MW_API mw_confusion_figures mw_confusion_all(const int64_t *counts, int64_t classes);

#ifdef __cplusplus
}
#endif
#endif

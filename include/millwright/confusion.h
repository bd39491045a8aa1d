/* Which classes a model takes for which, and the figures of each class.
 *
 *     int64_t counts[10 * 10];                                    // [true class][predicted class]
 *     mw_trainer_confusion(trainer, test, NULL, 10, counts, &err);
 *     for (int i = 0; i < 10; i++)
 *         printf("%d: recall %.3f\n", i, mw_confusion_class(counts, 10, i).recall);
 *
 * Threads: mw_trainer_confusion as the calls of trainer.h; the others read what they are given. */
#ifndef MILLWRIGHT_CONFUSION_H
#define MILLWRIGHT_CONFUSION_H

#include <millwright/trainer.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MW_CONFUSION_CLASSES_MAX 32768

/** Counts, over a data set and in the evaluation form, how often class j is predicted where the label says i:
 *  out_counts[i * classes + j]. Predicted is the first of the largest elements along the last axis of the prediction of
 *  the trainer, [batch, classes] or [batch, .., classes] for several labels in an example; NaN counts as the largest.
 *  Every example counts once, whatever the batch; labels below 0 are ignored. Changes no state. With a communicator all
 *  ranks call it, and all get the counts of the whole set.
 *  labels      name of the column with the labels; NULL = the only column of integers
 *  classes     1 to MW_CONFUSION_CLASSES_MAX
 *  out_counts  [classes * classes]; after a failure they are undefined
 *  errors      MW_ERROR_ARGUMENT without such a column or a prediction, or for a label from `classes` on, naming the
 *              example; MW_ERROR_SHAPE if labels and prediction do not fit; those of mw_trainer_predict */
MW_API mw_status mw_trainer_confusion(mw_trainer *trainer, const mw_dataset *dataset, const char *labels,
                                      int64_t classes, int64_t *out_counts, mw_error *err);

/** Figures of one class. A quotient by 0 is 0. */
typedef struct mw_class_figures {
    int64_t support;   /* labels of this class */
    int64_t predicted; /* predictions of it .. */
    int64_t correct;   /* .. that are right */
    double precision;  /* correct / predicted */
    double recall;     /* correct / support */
    double f1;         /* 2 correct / (support + predicted), the harmonic mean of the two */
} mw_class_figures;
/** Of the counts of mw_trainer_confusion; zeros for NULL or a class that is not there. */
MW_API mw_class_figures mw_confusion_class(const int64_t *counts, int64_t classes, int64_t index);

/** Figures of all classes together. */
typedef struct mw_confusion_figures {
    int64_t labels, correct;
    double accuracy;                                /* correct / labels */
    double macro_precision, macro_recall, macro_f1; /* means over the classes that were a label or predicted */
} mw_confusion_figures;
/** Zeros for NULL. */
MW_API mw_confusion_figures mw_confusion_all(const int64_t *counts, int64_t classes);

#ifdef __cplusplus
}
#endif
#endif

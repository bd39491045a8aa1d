/* Which classes a model takes for which, and the figures of each class.
 *
 *     int64_t counts[10 * 10];    // [true class][predicted class]
 *     const mw_confusion confusion = {.classes = 10, .counts = counts};
 *     mw_trainer_evaluate(trainer, test, &confusion, &evaluation, &err);
 *     for (int i = 0; i < 10; i++)
 *         printf("%d: recall %.3f\n", i, mw_confusion_class(counts, 10, i).recall);
 *
 * Threads: these functions read what they are given, and may be called from any thread. */
#ifndef MILLWRIGHT_CONFUSION_H
#define MILLWRIGHT_CONFUSION_H

#include <millwright/types.h>

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

/* Figures of predictions: how good they are, over any number of batches, by the definitions of scikit-learn.
 *
 *     mw_scores *scores = mw_scores_create(MW_SCORE_CLASSES, 10, "accuracy,f1_macro,auc", &err);
 *     mw_scores_add(scores, &(mw_score_batch){.examples = 64, .predictions = p, .labels = labels}, &err);
 *     for (size_t i = 0; i < mw_scores_count(scores); i++)
 *         printf("%s %.4f\n", mw_scores_get(scores, i).name, mw_scores_get(scores, i).value);
 *     mw_scores_destroy(scores);
 *
 * Sums are kept in double. Memory: 40 bytes for each class or column; with `auc`, `average_precision` 12 more for each
 * example and column, as these need all of them in order.
 *
 * | name | task | what it is |
 * |---|---|---|
 * | accuracy | classes, labels | share of examples that are right, with labels in all of them |
 * | top_K | classes | share whose class is among the K largest; of equal ones the first count, as with accuracy |
 * | balanced_accuracy | classes | mean recall of the classes that occur |
 * | precision, recall, f1, iou, dice | labels | of the yes of a single column; iou is tp / (tp + fp + fn), dice f1 |
 * | precision_macro .. dice_macro | classes, labels | mean over classes that occur or are predicted; over all columns |
 * | precision_micro .. dice_micro | classes, labels | of the counts of all classes or columns together |
 * | precision_weighted .. dice_weighted | classes, labels | mean weighted by how often each occurs |
 * | log_loss | classes, labels | mean of -log p, p within 2^-52 of 0 and 1; of several columns their mean |
 * | auc | classes, labels | area below the ROC curve; of several classes or columns the mean, each against the rest |
 * | average_precision | classes, labels | sum of precision times step of recall, likewise |
 * | calibration_error | classes, labels | mean distance of confidence and accuracy in 15 bins, by their sizes |
 * | mae, mse, rmse | values | mean |y - t|, mean (y - t)^2, its root; the mean over the columns |
 * | mape | values | mean |y - t| / max(|t|, 2^-52) |
 * | r2 | values | 1 - sum (y - t)^2 / sum (t - mean t)^2; the mean over the columns |
 * | wer, cer | texts | words, and characters, to change, put in or leave out, over those of the reference |
 *
 * Threads: calls with one mw_scores come one at a time. */
#ifndef MILLWRIGHT_SCORES_H
#define MILLWRIGHT_SCORES_H

#include <millwright/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mw_score_task {
    MW_SCORE_CLASSES, /* one class of several; a prediction is a row of probabilities, one for each class */
    MW_SCORE_LABELS,  /* each column is yes or no by itself; a prediction is a probability, yes from 1/2 on */
    MW_SCORE_VALUES,  /* numbers, in columns */
    MW_SCORE_TEXTS    /* texts against references, by mw_scores_add_text */
} mw_score_task;

/** Sums over examples, from which the figures are made. Destroyed with mw_scores_destroy. */
typedef struct mw_scores mw_scores;

/** Examples and what was predicted of them; read while mw_scores_add runs. */
typedef struct mw_score_batch {
    size_t examples;
    const float *predictions; /* [examples, columns], finite */
    const int32_t *labels; /* of classes [examples]; those below 0 are left out. Of labels [examples, columns], 0, 1 */
    const float *targets;  /* of values [examples, columns], finite */
    const float *weights;  /* [examples], finite and >= 0; NULL = all 1 */
} mw_score_batch;

/** A figure and its name. */
typedef struct mw_score {
    const char *name; /* lives as long as the scores */
    double value;     /* NAN if it is not defined: no example, or for auc no yes or no no */
    bool higher;      /* the more the better */
} mw_score;

/** Makes sums without examples.
 *  columns  classes, labels or values of an example, 1 to 2^20; 2 or more for classes; 1 for texts
 *  names    of the table above, with commas between them; NULL = those the task is usually judged by
 *  return   destroy it with mw_scores_destroy; NULL with err set
 *  errors   MW_ERROR_ARGUMENT for a name that is none of the task, naming those there are, or columns out of range;
 *           MW_ERROR_MEMORY */
MW_API mw_scores *mw_scores_create(mw_score_task task, int64_t columns, const char *names, mw_error *err);

/** Adds examples.
 *  errors  MW_ERROR_ARGUMENT for an array that the task needs and is NULL, or a prediction, label, target or weight
 *          that is none, naming the example; MW_ERROR_MEMORY. Then nothing was added */
MW_API mw_status mw_scores_add(mw_scores *scores, const mw_score_batch *batch, mw_error *err);

/** Adds a text. Words are what white space (ASCII) divides, characters are code points of UTF-8, or bytes that are
 *  none. Time is the product of both lengths.
 *  errors  MW_ERROR_ARGUMENT for NULL, another task, or a text of more than 2^20 bytes; MW_ERROR_MEMORY */
MW_API mw_status mw_scores_add_text(mw_scores *scores, const char *reference, const char *text, mw_error *err);

/** The number of figures; 0 for NULL. */
MW_API size_t mw_scores_count(const mw_scores *scores);

/** A figure of all that was added, in the order of the names; one without a name if there is no such. */
MW_API mw_score mw_scores_get(const mw_scores *scores, size_t index);

/** NULL is fine. */
MW_API void mw_scores_destroy(mw_scores *scores);

/** The names of a task, one after the other; "top_K" stands for any K. NULL past the last. */
MW_API const char *mw_score_name(mw_score_task task, size_t index);

#ifdef __cplusplus
}
#endif
#endif

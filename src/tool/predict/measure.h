/* How good predictions are: figures, counts of classes, the worst examples. */
#ifndef MW__TOOL_PREDICT_MEASURE_H
#define MW__TOOL_PREDICT_MEASURE_H

#include "tool/predict/kept.h"
#include "tool/predict/predicting.h"

#include <millwright/scores.h>

enum { MEASURE_WORST_MAX = 1000, MEASURE_CLASSES_MAX = 4096 };

/* One of the worst: the farther from the truth, the worse. */
typedef struct measure_worst {
    char *name;              /* owned */
    double distance;         /* -log p of the true class; of labels and values the largest |y - t| */
    int64_t column;          /* the label or value that is farthest */
    double truth, predicted; /* classes: their numbers; else the numbers of that column */
    double probability;      /* of the predicted class */
} measure_worst;

typedef struct measure {
    mw_score_task task;
    int64_t width;
    mw_scores *scores;
    int64_t *counts;      /* [width, width] true class by predicted one; NULL = not classes, or too many */
    measure_worst *worst; /* [worst_count] the worst first */
    size_t worst_count, worst_capacity;
    bool keeps; /* numbers for a page */
    kept_numbers kept;
    mw_error *err;
} measure;

/* figures  names with commas between them; NULL = the usual ones
 *  worst   how many are kept */
bool measure_open(measure *m, const predicting *p, const char *figures, size_t worst);
/* Charts of the page need the numbers: before any are taken. */
void measure_keep(measure *m, const predicting *p);
/* A predicting_take; `user` is the measure. */
bool measure_take(void *user, const predicting *p, const raw_piece *piece, const float *numbers);
void measure_close(measure *m);

/* ---- measure_say.c ---- */

/* As text, or into the command's JSON. */
void measure_say(const measure *m, const predicting *p);
/* As one page (mw_report_write). */
bool measure_write_report(measure *m, const predicting *p, const char *path);

#endif

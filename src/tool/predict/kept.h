/* What was predicted beside what is true, kept for the charts of a page. */
#ifndef MW__TOOL_PREDICT_KEPT_H
#define MW__TOOL_PREDICT_KEPT_H

#include "tool/predict/answer.h"

#include <millwright/data.h>
#include <millwright/report.h>

enum { KEPT_COLUMNS_MAX = 8, KEPT_EXAMPLES_MAX = 1 << 20 };

/* Of more examples than have room every second, fourth, .. is kept. */
typedef struct kept_numbers {
    int64_t width; /* numbers of an example; 0 = none are kept */
    bool is_probability;
    float *predicted[KEPT_COLUMNS_MAX], *truth[KEPT_COLUMNS_MAX]; /* [capacity] */
    size_t count, capacity;
    int64_t every, seen;
    mw_report_numbers said[KEPT_COLUMNS_MAX]; /* of kept_say */
    char *names[KEPT_COLUMNS_MAX];
} kept_numbers;

/* None of more than two classes, and of the first numbers only where there are many. */
void kept_begin(kept_numbers *kept, const answer *answer);
/* predicted  [width of the answer]
 * truth     likewise, of labels 0 or 1; NULL with the number of the class in `label` */
bool kept_add(kept_numbers *kept, const answer *answer, const float *predicted, const float *truth, int64_t label,
              mw_error *err);
/* A data set that a model predicts: its columns are the inputs by their names, and `label`. */
typedef struct kept_set {
    mw_model *model;
    answer *answer;
    const mw_dataset *dataset;
    const char *label;
    const mw_table_encoder *encoder; /* that scaled its values, or NULL */
} kept_set;

/* Predicts all of it, and keeps it. */
bool kept_predict(kept_numbers *kept, const kept_set *set, mw_error *err);
/* Into the options of a page; they live as long as `kept`. */
bool kept_say(kept_numbers *kept, const answer *answer, mw_report_options *options, mw_error *err);
void kept_free(kept_numbers *kept);

#endif

/* What mw predict and mw evaluate have in common: a model, data for it, and every example of it predicted. */
#ifndef MW__TOOL_PREDICT_PREDICTING_H
#define MW__TOOL_PREDICT_PREDICTING_H

#include "tool/predict/raw.h"

/* Options of pictures and of answers, with their values; and all of raw data, with these. */
extern const tool_option tool_picture_options[], tool_answer_options[], tool_raw_options[];
extern picture_settings tool_picture_given;
extern answer_settings tool_answer_given;

typedef struct predicting {
    const tool_call *call;
    mw_model *model;
    answer answer;
    raw_data data;
    mw_predictor *predictor;
    int64_t piece; /* examples of one */
    float *scores; /* [piece, width] */
    double seconds;
} predicting;

/* Told of each piece with its numbers [examples, width], probabilities of classes and labels. */
typedef bool predicting_take(void *user, const predicting *p, const raw_piece *piece, const float *numbers);

/* Opens the model and the data that the arguments name.
 *  return  TOOL_DONE, else how the command ends; predicting_close either way */
int predicting_open(predicting *p, const tool_call *call, bool with_truth);
/* Predicts all of the data, with progress on a terminal. */
bool predicting_run(predicting *p, predicting_take *take, void *user);
/* "1000 rows, 2130 a second", or members of the command's JSON. */
void predicting_say_rate(const predicting *p, char *out, size_t size);
void predicting_close(predicting *p);

#endif

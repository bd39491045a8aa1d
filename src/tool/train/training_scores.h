/* Figures of a trained network beyond its loss, by scores.h: chosen by the task, or as the recipe says. */
#ifndef MW__TOOL_TRAIN_TRAINING_SCORES_H
#define MW__TOOL_TRAIN_TRAINING_SCORES_H

#include "tool/train/training.h"

#include <millwright/learn.h>

/* Asks for "scores" of the recipe, and whether there are such; before the first step. */
bool training_scores_choose(training *t);
/* Predicts every example of a set. To be destroyed; NULL where nothing is to be found, or after a complaint. */
mw_scores *training_scores_find(training *t, const mw_dataset *data);
/* The figures of a set into the metrics file of the run, behind its last step. */
void training_scores_keep(training *t, const char *set, const mw_scores *scores);

#endif

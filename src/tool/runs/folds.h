/* A cross-validation: one training for each fold of the data, and the mean and deviation of what they come to. */
#ifndef MW__TOOL_RUNS_FOLDS_H
#define MW__TOOL_RUNS_FOLDS_H

#include "tool/train/recipe.h"

enum { FOLDS_MAX = 1000 };

/* Trains the recipe (NULL = the overrides alone) once for each of the folds, `at_once` of them at a time, and says the
 * figures. An exit code. */
int folds_train(const char *path, const recipe_overrides *overrides, int folds, int at_once, const tool_call *call);

#endif

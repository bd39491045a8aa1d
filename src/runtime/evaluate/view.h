/* Evaluation and prediction: programs on the same parameters as the step. */
#ifndef MW__RUNTIME_EVALUATE_VIEW_H
#define MW__RUNTIME_EVALUATE_VIEW_H

#include "runtime/trainer/object/trainer_object.h"
#include <millwright/evaluate.h>

void mw__trainer_view_deinit(mw__trainer_view *view);
/* Both make the view if it is not there. */
mw_status mw__trainer_need_evaluation(mw_trainer *trainer, mw_error *err);
mw_status mw__trainer_need_predictor(mw_trainer *trainer, mw_error *err);
/* The loss (0) or a metric (from 1) as a part of a message; returns `buffer`. */
const char *mw__trainer_measure_name(const mw_trainer *trainer, size_t measure, char *buffer, size_t size);
/* Refuses a data set that evaluation cannot take: its columns, a first batch that cannot be fed or run, weighted means
 * that count nothing. */
mw_status mw__trainer_check_dataset(mw_trainer *trainer, const mw_dataset *dataset, mw_error *err);
/* Counts which classes are taken for which, over a data set. */
mw_status mw__trainer_count_classes(mw_trainer *trainer, const mw_dataset *dataset, const mw_confusion *confusion,
                                    mw_error *err);
/* The programs of the two. */
mw_status mw__trainer_evaluation(mw_trainer *trainer, mw_program **out, mw_error *err);
mw_status mw__trainer_predictor(mw_trainer *trainer, mw_program **out, mw_error *err);

#endif

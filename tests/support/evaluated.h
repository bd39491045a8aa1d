/* The two numbers that most tests want of an evaluation. */
#ifndef MW_TEST_EVALUATED_H
#define MW_TEST_EVALUATED_H

#include <millwright/evaluate.h>

/* Loss and first metric; either may be NULL. 0 on failure, the metric also if there is none. */
static inline mw_status evaluated(mw_trainer *trainer, const mw_dataset *dataset, double *out_loss, double *out_metric,
                                  mw_error *err)
{
    mw_evaluation found;
    const mw_status status = mw_trainer_evaluate(trainer, dataset, NULL, &found, err);
    if (out_loss != NULL)
        *out_loss = found.loss;
    if (out_metric != NULL)
        *out_metric = found.metric_count > 0 ? found.metrics[0].value : 0.0;
    return status;
}

#endif

/* Both ends of mw_trainer_fit: a validation set that is taken from the training set, and what the run came to. */
#include "runtime/data/data.h"
#include "runtime/fit/fitting.h"
#include "runtime/trainer/object/trainer_object.h"

#include <inttypes.h>
#include <math.h>

/* ---- the beginning ---- */

static mw_status split_validation(mw__fitting *fit, int64_t validation, mw_error *err)
{
    const mw_dataset *whole = fit->own.data.training;
    const int64_t counts[] = {-1, validation};
    MW_TRY(mw_dataset_split(whole, counts, 2, fit->own.data.seed, fit->parts, err));
    if (whole->prefetch > 0) { /* which the parts do not have */
        mw_dataset *ahead = mw_dataset_prefetch(fit->parts[0], whole->prefetch, err);
        if (ahead == NULL)
            return mw__status_or(err, MW_ERROR_MEMORY);
        mw_dataset_destroy(fit->parts[0]);
        fit->parts[0] = ahead;
    }
    fit->own.data.training = fit->parts[0];
    fit->own.data.validation = fit->parts[1];
    fit->options = &fit->own;
    return MW_OK;
}

mw_status mw__fit_split(mw__fitting *fit, mw_error *err)
{
    const mw_fit_options *o = fit->options;
    if (o->data.validation_share == 0.0)
        return MW_OK;
    const int64_t examples = mw_dataset_examples(o->data.training);
    const int64_t validation = llround(o->data.validation_share * (double)examples);
    if (mw__dataset_is_part(o->data.training))
        return mw__fail(
            err, MW_ERROR_ARGUMENT,
            "mw_trainer_fit: data.validation_share of a part of a data set: split the whole before mw_dataset_shard");
    if (validation < 1 || validation >= examples)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "mw_trainer_fit: data.validation_share is %g, which leaves %" PRId64 " of %" PRId64
                        " examples to validate with and %" PRId64 " to train on; both need some",
                        o->data.validation_share, validation, examples, examples - validation);
    fit->own = *o;
    return split_validation(fit, validation, err);
}

/* ---- the end ---- */

static mw_fit_end end_of(const mw__fitting *fit, mw_status status)
{
    if (status != MW_OK)
        return status == MW_ERROR_STOPPED ? MW_FIT_STOPPED : MW_FIT_FAILED;
    return mw__fit_is_early(fit) ? MW_FIT_EARLY : MW_FIT_FINISHED;
}

void mw__fit_summarize(const mw__fitting *fit, mw_status status)
{
    mw_fit_summary *out = fit->options->summary;
    if (out == NULL)
        return;
    *out = (mw_fit_summary){.end = end_of(fit, status),
                            .epochs = fit->batches > 0 ? fit->progress.step / fit->batches : 0,
                            .steps = fit->progress.step,
                            .seconds = fit->reporter.started > 0.0 ? mw__fit_seconds(fit) : 0.0,
                            .loss = fit->progress.loss,
                            .validation = fit->progress.validation,
                            .best = fit->best.value,
                            .best_epoch = fit->batches > 0 ? fit->best.step / fit->batches : 0,
                            .restored = fit->best.restored};
}

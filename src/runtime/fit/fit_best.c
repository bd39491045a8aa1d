/* The comparisons of mw_trainer_fit over its epochs. They read what validation found, which all ranks know, and numbers
 * that are in the checkpoint, so that a run that goes on decides as one that was never stopped. */
#include "base/text/log.h"
#include "base/text/printable.h"
#include "runtime/fit/fitting.h"
#include "runtime/trainer/object/trainer_object.h"
#include "runtime/trainer/ranks/trainer_ranks.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- options ---- */

static mw_status check_plateau(const mw_fit_options *o, mw_error *err)
{
    if (o->schedule.plateau_patience < 0)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "mw_trainer_fit: schedule.plateau_patience is %" PRId64 "; it must be 0 or more",
                        o->schedule.plateau_patience);
    if (o->schedule.plateau_patience == 0)
        return MW_OK;
    if (!(o->schedule.plateau_factor > 0.0 && o->schedule.plateau_factor < 1.0))
        return mw__fail(
            err, MW_ERROR_ARGUMENT,
            "mw_trainer_fit: schedule.plateau_factor is %g; what the rate is multiplied by must be between 0 and 1",
            o->schedule.plateau_factor);
    if (!(o->schedule.plateau_least >= 0.0) || !isfinite(o->schedule.plateau_least))
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "mw_trainer_fit: schedule.plateau_least is %g; it must be finite and 0 or more",
                        o->schedule.plateau_least);
    return MW_OK;
}

mw_status mw__fit_check_best(const mw_fit_options *o, mw_error *err)
{
    if (o->stopping.patience < 0 || !(o->stopping.min_delta >= 0.0) || !isfinite(o->stopping.min_delta))
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "mw_trainer_fit: stopping.patience is %" PRId64
                        " and stopping.min_delta %g; both must be 0 or more, and finite",
                        o->stopping.patience, o->stopping.min_delta);
    MW_TRY(check_plateau(o, err));
    if (!(o->data.validation_share >= 0.0 && o->data.validation_share < 1.0))
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "mw_trainer_fit: data.validation_share is %g; it must be 0 or more and below 1",
                        o->data.validation_share);
    if (o->data.validation_share > 0.0 && o->data.validation != NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "mw_trainer_fit: there is a validation set, and data.validation_share wants another");
    const char *what = o->stopping.patience > 0           ? "stopping.patience"
                       : o->schedule.plateau_patience > 0 ? "schedule.plateau_patience"
                       : o->stopping.restore_best         ? "stopping.restore_best"
                                                          : NULL;
    if (o->stopping.best_by == NULL && what != NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "mw_trainer_fit: %s compares epochs, but stopping.best_by does not say by what", what);
    if (o->stopping.best_by != NULL && o->data.validation == NULL && o->data.validation_share == 0.0)
        return mw__fail(
            err, MW_ERROR_ARGUMENT,
            "mw_trainer_fit: stopping.best_by compares what the validation finds, but there is no validation set");
    return MW_OK;
}

bool mw__fit_uses_findings(const mw_fit_options *options) { return options->stopping.best_by != NULL; }

mw_status mw__fit_prepare_best(mw__fitting *fit, mw_error *err)
{
    const mw_fit_options *o = fit->options;
    const mw_trainer *t = fit->trainer;
    fit->best.metric = -1;
    if (o->stopping.best_by == NULL)
        return MW_OK;
    for (size_t i = 0; i < t->model.metric_count && strcmp(o->stopping.best_by, "loss") != 0; i++)
        if (strcmp(o->stopping.best_by, t->model.metrics[i].name) == 0)
            fit->best.metric = (int)i;
    if (fit->best.metric < 0 && strcmp(o->stopping.best_by, "loss") != 0)
        return mw__fail(
            err, MW_ERROR_ARGUMENT,
            "mw_trainer_fit: stopping.best_by is \"%s\"; it must be \"loss\" or one of the trainer's %zu metrics%s%s",
            o->stopping.best_by, t->model.metric_count, t->model.metric_count > 0 ? ", as " : "",
            t->model.metric_count > 0 ? t->model.metrics[0].name : "");
    snprintf(fit->best.by, sizeof fit->best.by, "%s %s", o->stopping.best_highest ? "highest" : "lowest",
             o->stopping.best_by);
    return MW_OK;
}

/* ---- comparing ---- */

static double value_of(const mw__fitting *fit)
{
    const mw_evaluation *found = &fit->progress.validation;
    return fit->best.metric >= 0 ? found->metrics[fit->best.metric].value : found->loss;
}

/* By more than `delta`. A value that is no number is never better. */
static bool is_better(const mw__fitting *fit, double value, double than, double delta)
{
    return fit->options->stopping.best_highest ? value > than + delta : value < than - delta;
}

static void wait_for(const mw__fitting *fit, mw__fit_patience *patience, double value)
{
    const bool first = patience->seen == 0 || isnan(patience->reference);
    patience->seen++;
    patience->waited++;
    if (isnan(value) || (!first && !is_better(fit, value, patience->reference, fit->options->stopping.min_delta)))
        return;
    patience->reference = value;
    patience->waited = 0;
}

/* The whole state, as a checkpoint has it. */
static mw_status keep_state(mw__fitting *fit, mw_error *err)
{
    const mw__state_set *set = mw__trainer_state(fit->trainer);
    size_t bytes = 0;
    for (size_t i = 0; i < set->count; i++)
        bytes += set->entries[i].size;
    if (fit->best.state == NULL)
        fit->best.state = mw__alloc(mw__trainer_allocator(fit->trainer), bytes, 1, err);
    if (fit->best.state == NULL)
        return MW_ERROR_MEMORY;
    bytes = 0;
    for (size_t i = 0; i < set->count; bytes += set->entries[i++].size)
        memcpy(fit->best.state + bytes, set->entries[i].data, set->entries[i].size);
    fit->best.state_steps = fit->trainer->progress.steps;
    fit->best.state_rate = fit->metrics.rate;
    return MW_OK;
}

static mw_status compare_best(mw__fitting *fit, double value, int64_t step, mw_error *err)
{
    if (isnan(value) || (fit->best.step > 0 && !is_better(fit, value, fit->best.value, 0.0)))
        return MW_OK;
    fit->best.value = value;
    fit->best.step = step;
    return fit->options->stopping.restore_best && fit->options->checkpoint.path == NULL ? keep_state(fit, err) : MW_OK;
}

/* ---- a smaller rate ---- */

static mw_status reduce_rate(mw__fitting *fit, mw_error *err)
{
    const mw_fit_options *o = fit->options;
    const bool moves = mw__fit_rate_moves(fit);
    const double now = (double)(moves ? fit->base_rate : fit->trainer->numbers.learning_rate);
    const float next = (float)fmax(now * o->schedule.plateau_factor, o->schedule.plateau_least);
    mw_error refused = {0};
    fit->best.plateau.waited = 0;
    if (!((double)next < now))
        return MW_OK;
    if (mw_trainer_set_learning_rate(fit->trainer, next, &refused) != MW_OK) {
        mw__log(MW_LOG_WARNING, "mw_trainer_fit: the learning rate stays at %g: %s", now, refused.message);
        return MW_OK;
    }
    fit->base_rate = next;
    return mw__report_rate(&fit->reporter, &fit->progress, (double)next, err);
}

mw_status mw__fit_judge(mw__fitting *fit, int64_t step, mw_error *err)
{
    const mw_fit_options *o = fit->options;
    if (o->stopping.best_by == NULL)
        return MW_OK;
    const double value = value_of(fit);
    MW_TRY(compare_best(fit, value, step, err));
    if (o->stopping.patience > 0)
        wait_for(fit, &fit->best.early, value);
    if (o->schedule.plateau_patience == 0)
        return MW_OK;
    wait_for(fit, &fit->best.plateau, value);
    return fit->best.plateau.waited >= o->schedule.plateau_patience ? reduce_rate(fit, err) : MW_OK;
}

bool mw__fit_is_early(const mw__fitting *fit)
{
    return fit->options->stopping.patience > 0 && fit->best.early.waited >= fit->options->stopping.patience;
}

/* ---- the best at the end ---- */

static mw_status restore_copy(mw__fitting *fit, mw_error *err)
{
    const mw__state_set *set = mw__trainer_state(fit->trainer);
    size_t at = 0;
    MW_TRY(mw_trainer_set_learning_rate(fit->trainer, fit->best.state_rate, err));
    for (size_t i = 0; i < set->count; at += set->entries[i++].size)
        memcpy(set->entries[i].data, fit->best.state + at, set->entries[i].size);
    mw__trainer_set_steps(fit->trainer, fit->best.state_steps, 0);
    return MW_OK;
}

static mw_status restore_file(mw__fitting *fit, mw_error *err)
{
    char *path = mw__kept_path(mw__trainer_allocator(fit->trainer), fit->options->checkpoint.path, "best", err);
    if (path == NULL)
        return MW_ERROR_MEMORY;
    const mw_status status = mw__checkpoint_load(fit->trainer, path, NULL, NULL, err);
    mw__free(mw__trainer_allocator(fit->trainer), path);
    return status;
}

mw_status mw__fit_restore_best(mw__fitting *fit, mw_error *err)
{
    if (!fit->options->stopping.restore_best || fit->best.step == 0)
        return MW_OK;
    if (fit->options->checkpoint.path == NULL) /* each rank has its own */
        MW_TRY(restore_copy(fit, err));
    else {
        MW_TRY(mw__fit_on_first(fit, restore_file, err));
        if (fit->trainer->ranks != NULL)
            MW_TRY(mw__trainer_equalize(fit->trainer, err));
    }
    fit->best.restored = true;
    return MW_OK;
}

void mw__fit_drop_best(mw__fitting *fit)
{
    if (fit->best.state != NULL)
        mw__free(mw__trainer_allocator(fit->trainer), fit->best.state);
    fit->best.state = NULL;
}

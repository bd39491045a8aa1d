/* mw_trainer_fit: epochs of steps with a schedule, validation, checkpoints, progress and a way to stop. */
#include "base/clock.h"
#include "base/memory/checked.h"
#include "base/number/float_mode.h"
#include "base/text/printable.h"
#include "runtime/data/classes.h"
#include "runtime/data/data.h"
#include "runtime/evaluate/view.h"
#include "runtime/fit/fitting.h"
#include "runtime/trainer/object/trainer_object.h"
#include "runtime/trainer/options/trainer_numbers.h"
#include "runtime/trainer/options/trainer_options.h"
#include "runtime/trainer/ranks/trainer_ranks.h"
#include "runtime/trainer/step/trainer_step.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

mw_fit_options mw_fit_defaults(const mw_dataset *training, int64_t epochs)
{
    return (mw_fit_options){.struct_size = sizeof(mw_fit_options), .data.training = training, .epochs = epochs};
}

static mw_status check_options(const mw_trainer *trainer, const mw_fit_options *options, mw_error *err)
{
    if (options == NULL || options->struct_size != sizeof *options)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_trainer_fit: options must come from mw_fit_defaults");
    if (trainer == NULL || options->data.training == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_trainer_fit: no %s", trainer == NULL ? "trainer" : "training data");
    MW_TRY(mw__dataset_check(options->data.training, "mw_trainer_fit: training", err));
    if (options->data.validation != NULL)
        MW_TRY(mw__dataset_check(options->data.validation, "mw_trainer_fit: validation", err));
    if (options->epochs < 1)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_trainer_fit: %" PRId64 " epochs, not at least 1", options->epochs);
    if (options->checkpoint.path != NULL && options->checkpoint.path[0] == '\0')
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_trainer_fit: the checkpoint's path is empty; NULL means none");
    MW_TRY(mw__fit_check_metrics(options, err));
    MW_TRY(mw__fit_check_best(options, err));
    return mw__fit_check_saving(options, err);
}

/* ---- the schedule ---- */

/* A constant rate is left alone: the user's callback may move it. */
static bool moves(const mw_schedule *schedule)
{
    return schedule->kind != MW_SCHEDULE_CONSTANT || schedule->warmup_steps > 0;
}

bool mw__fit_rate_moves(const mw__fitting *fit) { return moves(&fit->options->schedule.rate); }

/* A step of the schedule is an update, as it is for ranks that exchange what one rank accumulates. An epoch has whole
 * updates. */
static int64_t updates_of(const mw__fitting *fit, int64_t batches)
{
    return batches / fit->trainer->numbers.accumulate;
}

static mw_status check_schedule(const mw__fitting *fit, mw_error *err)
{
    mw_error refused = {0};
    const int accumulate = fit->trainer->numbers.accumulate;
    const mw_status status =
        mw_schedule_check(&fit->options->schedule.rate, updates_of(fit, fit->progress.steps), &refused);
    if (status == MW_OK)
        return MW_OK;
    if (accumulate == 1)
        return mw__fail(err, status, "%s", refused.message);
    return mw__fail(err, status, "%s (its steps are updates, each of the %d batches that the trainer accumulates)",
                    refused.message, accumulate);
}

/* Of batch t of the training. The tail of a schedule falls below what fp16 can hold, and such a scalar is refused: then
 * the smallest power of two that is taken stands in. It depends on the step alone, so that a resumed run finds the
 * same. */
static mw_status set_rate(mw__fitting *fit, int64_t t, mw_error *err)
{
    const mw_schedule *schedule = &fit->options->schedule.rate;
    const int64_t update = updates_of(fit, t);
    if (!moves(schedule))
        return MW_OK;
    const double factor = mw_schedule_factor(schedule, update, updates_of(fit, fit->progress.steps));
    if (!isfinite(factor) || factor < 0.0)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "mw_trainer_fit: the schedule gave the factor %g for step %" PRId64
                        "; it must be finite and 0 or more",
                        factor, update + 1);
    const float rate = (float)((double)fit->base_rate * factor);
    mw_error refused = {0};
    mw_status status = mw_trainer_set_learning_rate(fit->trainer, rate, &refused);
    for (float floor = 0x1p-24f; status == MW_ERROR_NUMERIC && floor < fit->base_rate; floor *= 2.0f) {
        refused = (mw_error){0};
        status = mw_trainer_set_learning_rate(fit->trainer, floor, &refused);
    }
    return status == MW_OK ? MW_OK : mw__fail(err, status, "%s", refused.message);
}

mw_status mw__fit_restore_rate(mw__fitting *fit, mw_error *err)
{
    if (!moves(&fit->options->schedule.rate))
        return MW_OK;
    return mw_trainer_set_learning_rate(fit->trainer, fit->base_rate, err);
}

/* ---- the loop ---- */

static void note_progress(mw__fitting *fit, int64_t steps_done, int64_t steps_of_epoch)
{
    mw_progress *progress = &fit->progress;
    const double elapsed = mw__clock_seconds() - fit->reporter.started;
    const int64_t here = steps_done - fit->reporter.first_step;
    progress->step = steps_done;
    progress->loss = steps_of_epoch > 0 ? fit->loss_sum / (double)steps_of_epoch : 0.0;
    progress->seconds = elapsed;
    progress->seconds_left = here > 0 ? elapsed / (double)here * (double)(progress->steps - steps_done) : 0.0;
}

static void note_best(mw__fitting *fit)
{
    fit->progress.best = fit->best.value;
    fit->progress.best_epoch = fit->batches > 0 ? fit->best.step / fit->batches : 0;
    fit->progress.waited = fit->best.early.waited;
}

/* Between steps: it may use the trainer, but for calls that train. A rate that it sets beside a schedule is one of the
 * schedule's, which goes on from there. */
static bool call_progress(mw__fitting *fit)
{
    const float before = fit->trainer->numbers.learning_rate;
    const mw__callback outer = mw__callback_begin("progress callback", MW__LENT_IN_PROGRESS);
    fit->progress.learning_rate = fit->metrics.rate;
    const bool stop = fit->options->progress.function(fit->options->progress.user, &fit->progress);
    mw__callback_end(outer);
    const float after = fit->trainer->numbers.learning_rate;
    if (mw__fit_rate_moves(fit) && after != before && before > 0.0f)
        fit->base_rate = (float)((double)fit->base_rate * ((double)after / (double)before));
    return stop;
}

static bool wants_stop(mw__fitting *fit)
{
    const mw_fit_options *options = fit->options;
    const bool called = options->progress.function != NULL && call_progress(fit);
    const bool wanted = called || mw__guard_is_closed(&fit->trainer->owner.guard) ||
                        (!options->progress.ignore_signals && mw__interrupted() != 0);
    return mw__fit_agree(fit, MW__VOTE_STOP, wanted);
}

static mw_status stopped(const mw__fitting *fit, mw_error *err)
{
    const char *path = fit->options->checkpoint.path;
    const int signal_number = fit->options->progress.ignore_signals ? 0 : mw__interrupted();
    const char *by = signal_number == SIGINT ? " by SIGINT" : signal_number == SIGTERM ? " by SIGTERM" : "";
    return mw__fail(err, MW_ERROR_STOPPED, "stopped%s after step %" PRId64 " of %" PRId64 "%s%.300s", by,
                    fit->progress.step, fit->progress.steps, path != NULL ? "; the same run goes on from " : "",
                    path != NULL ? path : "");
}

/* The batch, and those behind it that go into the same dispatch. */
static mw_status run_batches(mw__fitting *fit, const mw_batch *batch, float *losses, size_t *out_count, mw_error *err)
{
    const mw_loader_position position = mw_loader_tell(fit->loader); /* behind this batch */
    const int64_t first = position.epoch * fit->batches + position.batch - 1;
    const size_t slots = mw__trainer_slots(fit->trainer);
    *out_count = 1;
    if (slots == 0 || fit->batches - position.batch + 1 < (int64_t)slots) {
        MW_TRY(set_rate(fit, first, err));
        return mw_trainer_step(fit->trainer, batch, losses, err);
    }
    for (size_t slot = 0; slot < slots; slot++) {
        if (slot > 0 && (batch = mw_loader_next(fit->loader, err)) == NULL)
            return mw__status_or(err, MW_ERROR_STATE);
        MW_TRY(set_rate(fit, first + (int64_t)slot, err));
        MW_TRY(mw__trainer_stage(fit->trainer, slot, batch, err));
    }
    *out_count = slots;
    return mw__trainer_run_slots(fit->trainer, NULL, losses, err);
}

static mw_status train_step(mw__fitting *fit, const mw_batch *batch, mw_error *err)
{
    float losses[MW__DISPATCH_STEPS_MAX];
    const int64_t before = fit->progress.step;
    size_t count;
    MW_TRY(run_batches(fit, batch, losses, &count, err));
    for (size_t i = 0; i < count; i++) /* the loss of a skipped step is of no use: the mean so far takes its place */
        fit->loss_sum += isfinite(losses[i]) ? (double)losses[i] : fit->progress.loss;
    const mw_loader_position position = mw_loader_tell(fit->loader);
    fit->progress.epoch = position.epoch + 1;
    note_progress(fit, position.epoch * fit->batches + position.batch, position.batch);
    MW_TRY(mw__fit_metrics_step(fit, before, losses, count, err));
    return mw__report_step(&fit->reporter, &fit->progress, err);
}

static mw_status validate(mw__fitting *fit, mw_error *err)
{
    mw_progress *progress = &fit->progress;
    if (fit->options->data.validation == NULL)
        return MW_OK;
    return mw_trainer_evaluate(fit->trainer, fit->options->data.validation, NULL, &progress->validation, err);
}

/* What validation finds is in the checkpoint, too, so that a run which goes on from it knows. */
static bool saves_findings(const mw__fitting *fit)
{
    return mw__fit_uses_findings(fit->options) || mw__fit_has_metrics(fit->options);
}

/* The checkpoint comes before the validation: nothing that follows can lose the epoch. One that keeps what is found is
 * saved again: at the end of the old epoch first, so that a run which goes on from it validates. */
static mw_status save_and_validate(mw__fitting *fit, int64_t epochs_done, mw_error *err)
{
    const bool twice = saves_findings(fit);
    MW_TRY(twice ? mw__fit_save_epoch(fit, err) : mw__fit_save(fit, err));
    MW_TRY(validate(fit, err));
    fit->progress.epoch = epochs_done;
    fit->progress.epoch_end = true;
    note_progress(fit, epochs_done * fit->batches, fit->batches);
    MW_TRY(mw__fit_judge(fit, fit->progress.step, err));
    note_best(fit);
    MW_TRY(mw__fit_metrics_epoch(fit, err));
    return twice ? mw__fit_save(fit, err) : MW_OK;
}

/* The loader stands at the start of the next epoch. */
static mw_status end_epoch(mw__fitting *fit, mw_error *err)
{
    const int64_t epochs_done = mw_loader_tell(fit->loader).epoch;
    MW_TRY(save_and_validate(fit, epochs_done, err));
    MW_TRY(mw__report_epoch(&fit->reporter, &fit->progress, err));
    const bool stop = wants_stop(fit);
    fit->progress.epoch_end = false;
    fit->loss_sum = 0.0;
    const bool finished = epochs_done >= fit->options->epochs || mw__fit_is_early(fit);
    if (stop && (!finished || (!fit->options->progress.ignore_signals && mw__interrupted() != 0)))
        return stopped(fit, err);
    return MW_OK;
}

static mw_status run_epoch(mw__fitting *fit, mw_error *err)
{
    for (const mw_batch *batch; (batch = mw_loader_next(fit->loader, err)) != NULL;) {
        const int64_t before = fit->progress.step;
        MW_TRY(train_step(fit, batch, err));
        const bool stop = wants_stop(fit);
        if (stop || mw__fit_save_is_due(fit, before))
            MW_TRY(mw__fit_save(fit, err));
        if (stop)
            return stopped(fit, err);
    }
    if (err->status != MW_OK)
        return err->status;
    return end_epoch(fit, err);
}

/* A run that was finished before only shows where it ended. */
static mw_status show_finished(mw__fitting *fit, int64_t epochs_done, mw_error *err)
{
    MW_TRY(validate(fit, err));
    fit->progress.epoch = epochs_done;
    fit->progress.epoch_end = true;
    note_progress(fit, epochs_done * fit->batches, fit->batches);
    note_best(fit);
    MW_TRY(mw__report_epoch(&fit->reporter, &fit->progress, err));
    if (fit->options->progress.function != NULL)
        call_progress(fit);
    return MW_OK;
}

static void release(mw__fitting *fit)
{
    fit->trainer->fit.lock = NULL;
    mw__lock_release(&fit->lock);
}

/* It ended by itself, and not by a callback in its last epoch. */
static mw_status end_run(mw__fitting *fit, mw_error *err)
{
    if (mw__fit_is_early(fit) && fit->progress.epoch < fit->options->epochs)
        MW_TRY(mw__report_early(&fit->reporter, fit->best.by, fit->best.early.waited, err));
    return mw__fit_restore_best(fit, err);
}

/* A weight that cannot move looks like one that trains. */
static mw_status show_unreached(mw__fitting *fit, mw_error *err)
{
    const mw_trainer *t = fit->trainer;
    const char *first = NULL;
    size_t count = 0;
    for (size_t i = t->record.warning_count; i-- > 0;)
        if (strcmp(t->record.warnings[i].argument, MW__UNREACHED) == 0) {
            first = t->record.warnings[i].message;
            count++;
        }
    return count > 0 && !fit->options->progress.no_warnings ? mw__report_warning(&fit->reporter, first, count - 1, err)
                                                            : MW_OK;
}

/* The names go with the weights: those of before stay until the weights are a checkpoint's, or a step is to come. */
static void take_classes(mw__fitting *fit)
{
    mw__learned_classes *before = fit->trainer->fit.learned;
    if (fit->learned == NULL)
        return;
    fit->trainer->fit.learned = fit->learned;
    fit->learned = NULL;
    mw__learned_classes_destroy(before, fit->trainer->allocator);
}

static mw_status run_all(mw__fitting *fit, mw_error *err)
{
    mw__report_begin(&fit->reporter, fit->options->progress.quiet || !mw__fit_is_first(fit));
    MW_TRY(show_unreached(fit, err));
    MW_TRY(mw__fit_resume(fit, err));
    const mw_loader_position start = mw_loader_tell(fit->loader);
    const bool finished = start.epoch >= fit->options->epochs || mw__fit_is_early(fit);
    const int64_t epochs_done = start.epoch < fit->options->epochs ? start.epoch : fit->options->epochs;
    fit->reporter.first_step = epochs_done * fit->batches + (finished ? 0 : start.batch);
    fit->progress.step = fit->reporter.first_step;
    fit->saved_at = fit->reporter.started;
    if (start.epoch > 0 || start.batch > 0) /* known to all ranks */
        take_classes(fit);
    if (finished) {
        release(fit); /* it only reads from here on */
        MW_TRY(show_finished(fit, epochs_done, err));
        return mw__fit_restore_best(fit, err);
    }
    MW_TRY(mw__fit_check_can_save(fit, err));
    MW_TRY(mw__fit_metrics_begin(fit, err));
    take_classes(fit);
    if (start.batch == 0)
        fit->loss_sum = 0.0; /* that of the epoch before */
    mw_status status = MW_OK;
    while (status == MW_OK && mw_loader_tell(fit->loader).epoch < fit->options->epochs && !mw__fit_is_early(fit))
        status = run_epoch(fit, err);
    mw__report_end(&fit->reporter);
    mw__fit_restore_rate(fit, NULL);
    return status == MW_OK ? end_run(fit, err) : status;
}

/* What validation would refuse is refused now, not after an epoch. */
static mw_status check_validation(const mw__fitting *fit, mw_error *err)
{
    mw_error local = {0};
    if (fit->options->data.validation == NULL)
        return MW_OK;
    MW_TRY(mw__dataset_check_classes(fit->options->data.training, fit->options->data.validation,
                                     "mw_trainer_fit: validation", err));
    const mw_status status = mw__trainer_check_dataset(fit->trainer, fit->options->data.validation, &local);
    if (status == MW_OK)
        return MW_OK;
    mw__fail(err, status, "mw_trainer_fit: validation: %.480s", local.message);
    mw__error_subject(err, NULL, local.tensor);
    return status;
}

static mw_status prepare_fit(mw__fitting *fit, mw_error *err)
{
    MW_TRY(mw__fit_split(fit, err));
    MW_TRY(mw__fit_prepare_best(fit, err));
    MW_TRY(mw__fit_prepare_keeping(fit, err));
    const mw_fit_options *options = fit->options;
    mw_loader_options loader = mw_loader_defaults(options->data.training, mw__trainer_batch(fit->trainer));
    loader.shuffle = !options->data.keep_order;
    loader.seed = options->data.seed;
    loader.allocator = mw__trainer_allocator(fit->trainer);
    mw__trainer_share_batches(fit->trainer, &loader);
    fit->loader = mw_loader_create(&loader, err);
    if (fit->loader == NULL)
        return err->status;
    fit->batches = mw_loader_batches(fit->loader);
    fit->base_rate = fit->trainer->numbers.learning_rate;
    fit->progress.epochs = options->epochs;
    fit->reporter.has_validation = options->data.validation != NULL;
    if (fit->batches % fit->trainer->numbers.accumulate != 0)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "mw_trainer_fit: an epoch has %" PRId64
                        " batches, which is no multiple of the %d that the trainer "
                        "accumulates for an update: choose another batch size or number of examples",
                        fit->batches, fit->trainer->numbers.accumulate);
    if (!mw__mul_i64(options->epochs, fit->batches, &fit->progress.steps))
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_trainer_fit: %" PRId64 " epochs of %" PRId64 " steps are too many",
                        options->epochs, fit->batches);
    MW_TRY(check_schedule(fit, err));
    MW_TRY(check_validation(fit, err));
    fit->learned = mw__learned_classes_of(fit->trainer->allocator, options->data.training, err);
    if (fit->learned == NULL)
        return MW_ERROR_MEMORY;
    char seed[32] = "";
    if (!options->data.keep_order)
        snprintf(seed, sizeof seed, " and seed %" PRIu64, options->data.seed);
    snprintf(fit->order, sizeof fit->order, "batches of %" PRId64 " from %" PRId64 " examples, %s%s", loader.batch,
             mw_dataset_examples(options->data.training), options->data.keep_order ? "in order" : "shuffled", seed);
    return mw__fit_compare_ranks(fit, err);
}

static mw_status fit_all(mw_trainer *trainer, const mw_fit_options *options, mw_error *reason)
{
    if (options != NULL && options->struct_size == sizeof *options && options->summary != NULL)
        *options->summary = (mw_fit_summary){.end = MW_FIT_FAILED};
    MW_TRY(check_options(trainer, options, reason));
    mw__fitting fit = {.trainer = trainer, .options = options};
    trainer->fit.running = &fit;
    mw_status status = prepare_fit(&fit, reason);
    if (status == MW_OK) {
        if (!options->progress.ignore_signals)
            mw__interrupt_begin();
        status = run_all(&fit, reason);
        if (!options->progress.ignore_signals)
            mw__interrupt_end();
    }
    status = mw__fit_metrics_end(&fit, status, reason);
    status = mw__fit_alone(&fit, status, reason);
    release(&fit);
    mw__fit_summarize(&fit, status);
    mw_loader_destroy(fit.loader);
    mw_dataset_destroy(fit.parts[0]);
    mw_dataset_destroy(fit.parts[1]);
    mw__fit_drop_best(&fit);
    mw__learned_classes_destroy(fit.learned, trainer->allocator);
    mw__free(mw__trainer_allocator(trainer), fit.kept);
    trainer->fit.running = NULL;
    return status;
}

mw_status mw_trainer_fit(mw_trainer *trainer, const mw_fit_options *options, mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw_error own = {0};
    mw_error *reason = err != NULL ? err : &own;
    if (mw__skips(reason))
        return reason->status;
    mw__entry entry;
    MW_TRY(mw__trainer_enter(&entry, trainer, __func__, MW__LENT_NEVER, reason));
    return mw__trainer_leave(&entry, fit_all(trainer, options, reason), reason);
}

/* mw_fit: epochs of steps with a schedule, validation, checkpoints, progress and a way to stop. It only calls what a
 * user's own loop could call, but for the checkpoint's note about the order of the examples. */
#include "runtime/fit.h"

#include "base/checked.h"
#include "base/file.h"
#include "base/shown.h"
#include "runtime/trainer.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

typedef struct fitting {
    mw_trainer *trainer;
    const mw_fit_options *options;
    mw_loader *loader;
    int64_t batches; /* in an epoch */
    float base_rate; /* what the schedule's factor multiplies */
    double loss_sum; /* over the steps of this epoch */
    char order[160];
    mw_progress progress;
    mw__reporter reporter;
} fitting;

mw_fit_options mw_fit_defaults(const mw_dataset *training, int64_t epochs)
{
    return (mw_fit_options){.struct_size = sizeof(mw_fit_options), .training = training, .epochs = epochs};
}

static mw_status check_options(const mw_trainer *trainer, const mw_fit_options *options, mw_error *err)
{
    if (options == NULL || options->struct_size != sizeof *options)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_fit: options must come from mw_fit_defaults");
    if (trainer == NULL || options->training == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_fit: no %s", trainer == NULL ? "trainer" : "training data");
    if (options->epochs < 1)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_fit: %" PRId64 " epochs, not at least 1", options->epochs);
    if (options->checkpoint != NULL && options->checkpoint[0] == '\0')
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_fit: the checkpoint's path is empty; NULL means none");
    return MW_OK;
}

/* ---- the schedule ---- */

/* A constant rate is left alone: the user's callback may move it. */
static bool moves(const mw_schedule *schedule)
{
    return schedule->kind != MW_SCHEDULE_CONSTANT || schedule->warmup_steps > 0;
}

/* The tail of a schedule falls below what fp16 can hold, and such a scalar is refused: then the smallest power of two
 * that is taken stands in. It depends on the step alone, so that a resumed run finds the same. */
static mw_status set_rate(fitting *fit, int64_t t, mw_error *err)
{
    const mw_schedule *schedule = &fit->options->schedule;
    if (!moves(schedule))
        return MW_OK;
    const double factor = mw_schedule_factor(schedule, t, fit->progress.steps);
    if (!isfinite(factor) || factor < 0.0)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "mw_fit: the schedule gave the factor %g for step %" PRId64 "; it must be finite and 0 or more",
                        factor, t + 1);
    const float rate = (float)((double)fit->base_rate * factor);
    mw_error refused = {0};
    mw_status status = mw_trainer_set_learning_rate(fit->trainer, rate, &refused);
    for (float floor = 0x1p-24f; status == MW_ERROR_NUMERIC && floor < fit->base_rate; floor *= 2.0f) {
        refused = (mw_error){0};
        status = mw_trainer_set_learning_rate(fit->trainer, floor, &refused);
    }
    return status == MW_OK ? MW_OK : mw__fail(err, status, "%s", refused.message);
}

static mw_status restore_rate(fitting *fit, mw_error *err)
{
    if (!moves(&fit->options->schedule))
        return MW_OK;
    return mw_trainer_set_learning_rate(fit->trainer, fit->base_rate, err);
}

/* ---- checkpoints ---- */

/* The base rate is what is saved: the factor follows from the position. */
static mw_status save(fitting *fit, mw_error *err)
{
    if (fit->options->checkpoint == NULL)
        return MW_OK;
    MW_TRY(restore_rate(fit, err));
    const mw__fit_record record = {.order = fit->order, .batches = fit->batches, .loss_sum = fit->loss_sum};
    return mw__checkpoint_save(fit->trainer, fit->options->checkpoint, mw_loader_tell(fit->loader), &record, err);
}

static mw_status make_folder_of(const fitting *fit, mw_error *err)
{
    const char *path = fit->options->checkpoint;
    const char *slash = strrchr(path, '/');
    if (slash == NULL || slash == path)
        return MW_OK;
    const mw_allocator *allocator = mw__trainer_allocator(fit->trainer);
    const size_t length = (size_t)(slash - path);
    char *folder = mw__alloc(allocator, length + 1, 1, err);
    if (folder == NULL)
        return MW_ERROR_MEMORY;
    memcpy(folder, path, length);
    const mw_status status = mw__file_make_folders(folder, err);
    mw__free(allocator, folder);
    return status;
}

/* Only a file that is not there means a fresh start; one that cannot be read is an error. */
static mw_status resume(fitting *fit, mw_error *err)
{
    const char *path = fit->options->checkpoint;
    if (path == NULL)
        return MW_OK;
    MW_TRY(make_folder_of(fit, err));
    struct stat status;
    if (stat(path, &status) != 0) {
        if (errno == ENOENT)
            return MW_OK;
        return mw__fail(err, MW_ERROR_FILE, "cannot examine the checkpoint \"%.300s\": %s", path, strerror(errno));
    }
    mw_loader_position position;
    mw__fit_record record = {.order = fit->order, .batches = fit->batches};
    MW_TRY(mw__checkpoint_load(fit->trainer, path, &position, &record, err));
    MW_TRY(mw_loader_seek(fit->loader, position, err));
    fit->loss_sum = record.loss_sum;
    fit->base_rate = mw_trainer_learning_rate(fit->trainer);
    if (position.epoch >= fit->options->epochs)
        return MW_OK;
    return mw__report_resume(&fit->reporter, path, position.epoch + 1, mw_trainer_steps(fit->trainer), err);
}

/* ---- the loop ---- */

static void note_progress(fitting *fit, int64_t steps_done, int64_t steps_of_epoch)
{
    mw_progress *progress = &fit->progress;
    const double elapsed = mw__seconds() - fit->reporter.started;
    const int64_t here = steps_done - fit->reporter.first_step;
    progress->step = steps_done;
    progress->loss = steps_of_epoch > 0 ? fit->loss_sum / (double)steps_of_epoch : 0.0;
    progress->seconds = elapsed;
    progress->seconds_left = here > 0 ? elapsed / (double)here * (double)(progress->steps - steps_done) : 0.0;
}

static bool wants_stop(fitting *fit)
{
    const mw_fit_options *options = fit->options;
    const bool called = options->progress != NULL && options->progress(options->user, &fit->progress);
    return called || (!options->ignore_signals && mw__interrupted() != 0);
}

static mw_status stopped(const fitting *fit, mw_error *err)
{
    const char *path = fit->options->checkpoint;
    const int signal_number = fit->options->ignore_signals ? 0 : mw__interrupted();
    const char *by = signal_number == SIGINT ? " by SIGINT" : signal_number == SIGTERM ? " by SIGTERM" : "";
    return mw__fail(err, MW_ERROR_STOPPED, "stopped%s after step %" PRId64 " of %" PRId64 "%s%.300s", by,
                    fit->progress.step, fit->progress.steps, path != NULL ? "; the same run goes on from " : "",
                    path != NULL ? path : "");
}

/* The batch, and those behind it that go into the same dispatch. */
static mw_status run_batches(fitting *fit, const mw_batch *batch, float *losses, size_t *out_count, mw_error *err)
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

static mw_status train_step(fitting *fit, const mw_batch *batch, mw_error *err)
{
    float losses[MW__DISPATCH_STEPS_MAX];
    size_t count;
    MW_TRY(run_batches(fit, batch, losses, &count, err));
    for (size_t i = 0; i < count; i++) /* the loss of a skipped step says nothing: the mean so far stands for it */
        fit->loss_sum += isfinite(losses[i]) ? (double)losses[i] : fit->progress.loss;
    const mw_loader_position position = mw_loader_tell(fit->loader);
    fit->progress.epoch = position.epoch + 1;
    note_progress(fit, position.epoch * fit->batches + position.batch, position.batch);
    return mw__report_step(&fit->reporter, &fit->progress, err);
}

static mw_status validate(fitting *fit, mw_error *err)
{
    mw_progress *progress = &fit->progress;
    if (fit->options->validation == NULL)
        return MW_OK;
    return mw_trainer_measure(fit->trainer, fit->options->validation, &progress->validation, err);
}

/* The loader stands at the start of the next epoch. The checkpoint comes first: nothing that follows can lose it. */
static mw_status end_epoch(fitting *fit, mw_error *err)
{
    const int64_t epochs_done = mw_loader_tell(fit->loader).epoch;
    MW_TRY(save(fit, err));
    MW_TRY(validate(fit, err));
    fit->progress.epoch = epochs_done;
    fit->progress.epoch_end = true;
    note_progress(fit, epochs_done * fit->batches, fit->batches);
    MW_TRY(mw__report_epoch(&fit->reporter, &fit->progress, err));
    const bool stop = wants_stop(fit);
    fit->progress.epoch_end = false;
    fit->loss_sum = 0.0;
    const bool finished = epochs_done >= fit->options->epochs;
    if (stop && (!finished || (!fit->options->ignore_signals && mw__interrupted() != 0)))
        return stopped(fit, err);
    return MW_OK;
}

static mw_status run_epoch(fitting *fit, mw_error *err)
{
    for (const mw_batch *batch; (batch = mw_loader_next(fit->loader, err)) != NULL;) {
        MW_TRY(train_step(fit, batch, err));
        if (wants_stop(fit)) {
            MW_TRY(save(fit, err));
            return stopped(fit, err);
        }
    }
    if (err->status != MW_OK)
        return err->status;
    return end_epoch(fit, err);
}

/* A run that was finished before only shows where it ended. */
static mw_status show_finished(fitting *fit, int64_t epochs_done, mw_error *err)
{
    MW_TRY(validate(fit, err));
    fit->progress.epoch = epochs_done;
    fit->progress.epoch_end = true;
    note_progress(fit, fit->progress.steps, fit->batches);
    MW_TRY(mw__report_epoch(&fit->reporter, &fit->progress, err));
    if (fit->options->progress != NULL)
        fit->options->progress(fit->options->user, &fit->progress);
    return MW_OK;
}

static mw_status run_all(fitting *fit, mw_error *err)
{
    mw__report_begin(&fit->reporter, fit->options->quiet);
    MW_TRY(resume(fit, err));
    const mw_loader_position start = mw_loader_tell(fit->loader);
    const bool finished = start.epoch >= fit->options->epochs;
    fit->reporter.first_step = finished ? fit->progress.steps : start.epoch * fit->batches + start.batch;
    if (finished)
        return show_finished(fit, fit->options->epochs, err);
    if (start.batch == 0)
        fit->loss_sum = 0.0; /* that of the epoch before */
    mw_status status = MW_OK;
    while (status == MW_OK && mw_loader_tell(fit->loader).epoch < fit->options->epochs)
        status = run_epoch(fit, err);
    mw__report_end(&fit->reporter);
    restore_rate(fit, NULL);
    return status;
}

/* What validation would refuse is refused now, not after an epoch. */
static mw_status check_validation(const fitting *fit, mw_error *err)
{
    mw_error local = {0};
    if (fit->options->validation == NULL)
        return MW_OK;
    const mw_status status = mw__trainer_check_dataset(fit->trainer, fit->options->validation, &local);
    if (status == MW_OK)
        return MW_OK;
    mw__fail(err, status, "mw_fit: validation: %.480s", local.message);
    mw__error_subject(err, NULL, local.tensor);
    return status;
}

static mw_status prepare(fitting *fit, mw_error *err)
{
    const mw_fit_options *options = fit->options;
    mw_loader_options loader = mw_loader_defaults(options->training, mw__trainer_batch(fit->trainer));
    loader.shuffle = !options->keep_order;
    loader.seed = options->seed;
    loader.allocator = mw__trainer_allocator(fit->trainer);
    fit->loader = mw_loader_create(&loader, err);
    if (fit->loader == NULL)
        return err->status;
    fit->batches = mw_loader_batches(fit->loader);
    fit->base_rate = mw_trainer_learning_rate(fit->trainer);
    fit->progress.epochs = options->epochs;
    fit->reporter.has_validation = options->validation != NULL;
    if (fit->batches % fit->trainer->accumulate != 0)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "mw_fit: an epoch has %" PRId64 " batches, which is no multiple of the %d that the trainer "
                        "accumulates for an update: choose another batch size or number of examples",
                        fit->batches, fit->trainer->accumulate);
    if (!mw__mul_i64(options->epochs, fit->batches, &fit->progress.steps))
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_fit: %" PRId64 " epochs of %" PRId64 " steps are too many",
                        options->epochs, fit->batches);
    MW_TRY(mw_schedule_check(&options->schedule, fit->progress.steps, err));
    MW_TRY(check_validation(fit, err));
    char seed[32] = "";
    if (!options->keep_order)
        snprintf(seed, sizeof seed, " and seed %" PRIu64, options->seed);
    snprintf(fit->order, sizeof fit->order, "batches of %" PRId64 " from %" PRId64 " examples, %s%s", loader.batch,
             mw_dataset_examples(options->training), options->keep_order ? "in order" : "shuffled", seed);
    return MW_OK;
}

mw_status mw_fit(mw_trainer *trainer, const mw_fit_options *options, mw_error *err)
{
    mw_error own = {0};
    mw_error *reason = err != NULL ? err : &own;
    if (mw__skips(reason))
        return reason->status;
    MW_TRY(check_options(trainer, options, reason));
    fitting fit = {.trainer = trainer, .options = options};
    mw_status status = prepare(&fit, reason);
    if (status == MW_OK) {
        if (!options->ignore_signals)
            mw__interrupt_begin();
        status = run_all(&fit, reason);
        if (!options->ignore_signals)
            mw__interrupt_end();
    }
    mw_loader_destroy(fit.loader);
    return status;
}

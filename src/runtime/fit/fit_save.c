/* What mw_trainer_fit keeps on disk: checkpoints, those that stay beside the newest, and going on from them. */
#include "base/clock.h"
#include "base/file/file.h"
#include "base/text/log.h"
#include "runtime/fit/fitting.h"
#include "runtime/trainer/object/trainer_object.h"
#include "runtime/trainer/ranks/trainer_ranks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- options ---- */

mw_status mw__fit_check_saving(const mw_fit_options *options, mw_error *err)
{
    const double seconds = options->checkpoint.seconds;
    if (options->checkpoint.steps < 0 || !(seconds >= 0.0))
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "mw_trainer_fit: a checkpoint every %" PRId64
                        " steps and every %g seconds: neither can be negative; "
                        "0 = not by this",
                        options->checkpoint.steps, seconds);
    if (options->checkpoint.keep_last < 0 || options->checkpoint.keep_last > MW__KEEP_MAX)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_trainer_fit: checkpoint.keep_last is %d, not 0 to %d",
                        options->checkpoint.keep_last, MW__KEEP_MAX);
    const char *what = options->checkpoint.steps > 0       ? "checkpoint.steps"
                       : seconds > 0.0                     ? "checkpoint.seconds"
                       : options->checkpoint.keep_last > 0 ? "checkpoint.keep_last"
                                                           : NULL;
    if (options->checkpoint.path == NULL && what != NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "mw_trainer_fit: %s says how checkpoints are saved, but `checkpoint.path` is NULL", what);
    return MW_OK;
}

mw_status mw__fit_prepare_keeping(mw__fitting *fit, mw_error *err)
{
    const mw_fit_options *options = fit->options;
    if (options->checkpoint.keep_last > 0)
        fit->kept = mw__alloc(mw__trainer_allocator(fit->trainer), MW__KEEP_MAX + 1, sizeof *fit->kept, err);
    return options->checkpoint.keep_last > 0 && fit->kept == NULL ? MW_ERROR_MEMORY : MW_OK;
}

/* ---- saving ---- */

/* The base rate is what is saved: the factor follows from the position. */
static mw_status save_to(mw__fitting *fit, const char *path, mw_loader_position position, mw_error *err)
{
    MW_TRY(mw__fit_restore_rate(fit, err));
    position = mw__fit_whole_position(fit, position);
    const mw__fit_record record = {
        .order = fit->order,
        .batches = fit->batches * mw__fit_ranks(fit),
        .loss_sum = fit->loss_sum * mw__fit_ranks(fit),
        .best_by = fit->best.by,
        .best = fit->best.value,
        .best_step = fit->best.step,
        .waits = fit->options->stopping.patience > 0 || fit->options->schedule.plateau_patience > 0,
        .early = fit->best.early,
        .plateau = fit->best.plateau,
        .has_lines = mw__fit_has_metrics(fit->options),
        .seconds = mw__fit_seconds(fit),
        .line_sum = fit->metrics.sum,
        .line_count = fit->metrics.losses,
        .line_rate = (double)fit->metrics.rate,
        .kept = fit->kept,
        .kept_count = fit->kept_count,
    };
    MW_TRY(mw__checkpoint_save(fit->trainer, path, position, &record, err));
    fit->saved_at = mw__clock_seconds();
    return MW_OK;
}

/* The checkpoint that was just saved or loaded gets a second name. Where a file system has no links it is saved twice.
 */
static mw_status keep_checkpoint(mw__fitting *fit, const char *mark, mw_loader_position position, mw_error *err)
{
    const mw_allocator *allocator = mw__trainer_allocator(fit->trainer);
    char *path = mw__kept_path(allocator, fit->options->checkpoint.path, mark, err);
    if (path == NULL)
        return MW_ERROR_MEMORY;
    mw_status status = MW_OK;
    if (!mw__kept_link(allocator, fit->options->checkpoint.path, path))
        status = save_to(fit, path, position, err);
    mw__free(allocator, path);
    return status;
}

/* Only after the new ones are in place, and only what this run made, by the record in the checkpoint. */
static mw_status remove_oldest(mw__fitting *fit, mw_error *err)
{
    const mw_allocator *allocator = mw__trainer_allocator(fit->trainer);
    const size_t most = (size_t)fit->options->checkpoint.keep_last;
    const size_t old = fit->kept_count > most ? fit->kept_count - most : 0;
    char mark[48];
    for (size_t i = 0; i < old; i++) {
        snprintf(mark, sizeof mark, "step-%" PRId64, fit->kept[i]);
        char *path = mw__kept_path(allocator, fit->options->checkpoint.path, mark, err);
        if (path == NULL)
            return MW_ERROR_MEMORY;
        if (unlink(path) != 0 && errno != ENOENT)
            mw__log(MW_LOG_WARNING, "mw_trainer_fit: cannot remove the old checkpoint \"%s\": %s", path,
                    strerror(errno));
        mw__free(allocator, path);
    }
    fit->kept_count -= old;
    memmove(fit->kept, fit->kept + old, fit->kept_count * sizeof *fit->kept);
    return MW_OK;
}

static int64_t step_of(const mw__fitting *fit, mw_loader_position position)
{
    return position.epoch * fit->batches + position.batch;
}

/* What stays of the checkpoint that stands at this position; a run that was killed meanwhile does it when it goes on.
 */
static mw_status keep_all(mw__fitting *fit, mw_loader_position position, mw_error *err)
{
    const int64_t step = step_of(fit, position);
    char mark[48];
    if (fit->kept_count > 0 && fit->kept[fit->kept_count - 1] == step) {
        snprintf(mark, sizeof mark, "step-%" PRId64, step);
        MW_TRY(keep_checkpoint(fit, mark, position, err));
    }
    if (fit->best.step == step && position.batch == 0)
        MW_TRY(keep_checkpoint(fit, "best", position, err));
    return fit->kept != NULL ? remove_oldest(fit, err) : MW_OK;
}

static mw_status save(mw__fitting *fit, mw_error *err)
{
    const mw_loader_position position = mw_loader_tell(fit->loader);
    const int64_t step = step_of(fit, position);
    if (fit->options->checkpoint.path == NULL)
        return MW_OK;
    while (fit->kept_count > 0 && fit->kept[fit->kept_count - 1] >= step)
        fit->kept_count--; /* saved at this step before */
    if (fit->kept != NULL)
        fit->kept[fit->kept_count++] = step;
    MW_TRY(save_to(fit, fit->options->checkpoint.path, position, err));
    return keep_all(fit, position, err);
}

/* Rank 0 saves what all have. */
static mw_status save_together(mw__fitting *fit, mw__fit_part *part, mw_error *err)
{
    MW_TRY(mw__trainer_synchronize(fit->trainer, err));
    MW_TRY(mw__trainer_gather_wholes(fit->trainer, err));
    const mw_status status = mw__fit_on_first(fit, part, err);
    mw__trainer_drop_wholes(fit->trainer);
    return status;
}

mw_status mw__fit_save(mw__fitting *fit, mw_error *err)
{
    if (fit->options->checkpoint.path == NULL)
        return MW_OK;
    return save_together(fit, save, err);
}

/* The loader stands at the start of the next epoch. */
static mw_status save_epoch(mw__fitting *fit, mw_error *err)
{
    const mw_loader_position end = {.epoch = mw_loader_tell(fit->loader).epoch - 1, .batch = fit->batches};
    return save_to(fit, fit->options->checkpoint.path, end, err);
}

mw_status mw__fit_save_epoch(mw__fitting *fit, mw_error *err)
{
    return fit->options->checkpoint.path != NULL ? save_together(fit, save_epoch, err) : MW_OK;
}

/* Whether the steps since `before` ended a stretch. The end of an epoch saves by itself. */
bool mw__fit_save_is_due(mw__fitting *fit, int64_t before)
{
    const mw_fit_options *options = fit->options;
    if (options->checkpoint.path == NULL || mw_loader_tell(fit->loader).batch == fit->batches)
        return false;
    if (options->checkpoint.steps > 0 &&
        fit->progress.step / options->checkpoint.steps > before / options->checkpoint.steps)
        return true;
    const bool late =
        options->checkpoint.seconds > 0.0 && mw__clock_seconds() - fit->saved_at >= options->checkpoint.seconds;
    return mw__fit_agree(fit, MW__VOTE_SAVE, late && mw__fit_is_first(fit));
}

/* ---- going on ---- */

static mw_status make_folder_of(const mw__fitting *fit, mw_error *err)
{
    const char *path = fit->options->checkpoint.path;
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
static mw_status resume(mw__fitting *fit, mw_error *err)
{
    const char *path = fit->options->checkpoint.path;
    if (path == NULL)
        return MW_OK;
    MW_TRY(make_folder_of(fit, err));
    MW_TRY(mw__lock_take(&fit->lock, mw__trainer_allocator(fit->trainer), path, NULL, err));
    fit->trainer->fit.lock = &fit->lock;
    struct stat status;
    if (stat(path, &status) != 0) {
        if (errno == ENOENT)
            return MW_OK;
        return mw__fail(err, MW_ERROR_FILE, "cannot examine the checkpoint \"%.300s\": %s", path, strerror(errno));
    }
    mw_loader_position position;
    mw__fit_record record = {
        .order = fit->order, .batches = mw__fit_whole_batches(fit), .best_by = fit->best.by, .kept = fit->kept};
    MW_TRY(mw__checkpoint_load(fit->trainer, path, &position, &record, err));
    position = mw__fit_own_position(fit, position);
    MW_TRY(mw_loader_seek(fit->loader, position, err));
    fit->loss_sum = record.loss_sum / mw__fit_ranks(fit);
    fit->best.value = record.best;
    fit->best.step = record.best_step;
    fit->best.early = record.early;
    fit->best.plateau = record.plateau;
    fit->kept_count = record.kept_count;
    fit->metrics.before = record.seconds;
    fit->metrics.sum = record.line_sum, fit->metrics.losses = record.line_count;
    fit->metrics.rate = record.has_lines ? (float)record.line_rate : fit->trainer->numbers.learning_rate;
    fit->resumed = true;
    MW_TRY(keep_all(fit, position, err));
    if (position.batch > 0) /* what a step that is skipped counts as */
        fit->progress.loss = fit->loss_sum / (double)position.batch;
    fit->base_rate = fit->trainer->numbers.learning_rate;
    if (position.epoch >= fit->options->epochs)
        return MW_OK;
    return mw__report_resume(&fit->reporter, path, position.epoch + 1, fit->trainer->progress.steps, err);
}

mw_status mw__fit_resume(mw__fitting *fit, mw_error *err)
{
    if (fit->options->checkpoint.path == NULL)
        return mw__fit_share_start(fit, err);
    MW_TRY(mw__fit_on_first(fit, resume, err));
    return mw__fit_share_start(fit, err);
}

/* A name that is too long with what saving adds to it, or a folder that cannot be written, is refused now and not after
 * an epoch: a temporary is made and dropped. */
static mw_status check_can_write(const mw__fitting *fit, const char *path, mw_error *err)
{
    mw__file_writer probe;
    MW_TRY(mw__file_writer_begin(&probe, mw__trainer_allocator(fit->trainer), path, true, err));
    mw__file_writer_deinit(&probe);
    return MW_OK;
}

static mw_status check_can_save(mw__fitting *fit, mw_error *err)
{
    const char *path = fit->options->checkpoint.path;
    char mark[48] = "best";
    if (path == NULL)
        return MW_OK;
    MW_TRY(check_can_write(fit, path, err));
    if (fit->kept != NULL)
        snprintf(mark, sizeof mark, "step-%" PRId64, fit->progress.steps);
    else if (fit->options->stopping.best_by == NULL)
        return MW_OK;
    char *kept = mw__kept_path(mw__trainer_allocator(fit->trainer), path, mark, err);
    if (kept == NULL)
        return MW_ERROR_MEMORY;
    const mw_status status = check_can_write(fit, kept, err);
    mw__free(mw__trainer_allocator(fit->trainer), kept);
    return status;
}

mw_status mw__fit_check_can_save(mw__fitting *fit, mw_error *err) { return mw__fit_on_first(fit, check_can_save, err); }

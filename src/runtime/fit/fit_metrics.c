/* What mw_trainer_fit writes to streams of metrics: lines of steps and epochs, and how it ended. What a run is, is in
 * fit_metrics_run.c. */
#include "runtime/fit/fit_metrics.h"
#include "base/clock.h"
#include "base/number/float_mode.h"
#include "base/number/number.h"
#include "runtime/fit/fit_metrics_run.h"
#include "runtime/fit/fitting.h"
#include "runtime/trainer/object/trainer_object.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LINES = 500 }; /* of steps, unless the options say how many */

static size_t file_count(const mw_fit_options *o) { return (o->metrics.path != NULL ? 1 : 0) + o->metrics.more_count; }

bool mw__fit_has_metrics(const mw_fit_options *options) { return file_count(options) > 0; }

static const char *file_at(const mw_fit_options *o, size_t i)
{
    const size_t first = o->metrics.path != NULL ? 1 : 0;
    return i < first ? o->metrics.path : o->metrics.more[i - first];
}

mw_status mw__fit_check_metrics(const mw_fit_options *o, mw_error *err)
{
    if (o->metrics.more == NULL && o->metrics.more_count > 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_trainer_fit: metrics.more is NULL, but metrics.more_count is %zu",
                        o->metrics.more_count);
    if (o->metrics.more_count >= MW__METRICS_FILES_MAX)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_trainer_fit: %zu files of metrics, at most %d", file_count(o),
                        MW__METRICS_FILES_MAX);
    for (size_t i = 0; i < file_count(o); i++)
        if (file_at(o, i) == NULL || file_at(o, i)[0] == '\0')
            return mw__fail(err, MW_ERROR_ARGUMENT, "mw_trainer_fit: the path of metrics file %zu is %s", i,
                            file_at(o, i) == NULL ? "NULL" : "empty; NULL in `metrics` means none");
    if (o->metrics.steps < 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_trainer_fit: metrics every %" PRId64 " steps; it must be 0 or more",
                        o->metrics.steps);
    return MW_OK;
}

double mw__fit_seconds(const mw__fitting *fit)
{
    return fit->metrics.before + mw__clock_seconds() - fit->reporter.started;
}

/* ---- fields ---- */

/* 0.001f as 0.001, which is what its user wrote. */
double mw__fit_as_written(float value)
{
    char text[MW__NUMBER_MAX];
    double read = (double)value;
    mw__number_read(text, mw__number_print_float(text, value), MW__NUMBER_F64, &read);
    return read;
}

static double rounded(double value, double unit) { return round(value * unit) / unit; }

mw_status mw__fit_put(mw__fitting *fit, const char *name, double value, const char *text, mw_error *err)
{
    mw__fit_metrics *m = &fit->metrics;
    const mw_allocator *allocator = mw__trainer_allocator(fit->trainer);
    MW_TRY(mw__grow(allocator, &m->fields, &m->field_capacity, m->field_count + 1, sizeof *m->fields, err));
    m->fields[m->field_count++] = (mw_metrics_field){.name = name, .value = value, .text = text};
    return MW_OK;
}

/* What is negative is not known. */
static mw_status put_known(mw__fitting *fit, const char *name, double value, mw_error *err)
{
    return value >= 0.0 ? mw__fit_put(fit, name, value, NULL, err) : MW_OK;
}

mw_status mw__fit_write(mw__fitting *fit, const char *kind, int64_t step, mw_error *err)
{
    mw__fit_metrics *m = &fit->metrics;
    for (size_t i = 0; i < m->count; i++)
        MW_TRY(mw_metrics_write(m->streams[i], kind, step, m->fields, m->field_count, err));
    m->field_count = 0;
    return MW_OK;
}

/* ---- opening ---- */

/* A run that stands behind the last batch of an epoch validates it again. */
static mw_status open_stream(mw__fitting *fit, const char *path, mw_error *err)
{
    mw_metrics_options options = mw_metrics_defaults();
    options.resume = fit->resumed;
    options.step = fit->progress.step;
    options.allocator = mw__trainer_allocator(fit->trainer);
    const bool again = mw_loader_tell(fit->loader).batch == fit->batches;
    mw_metrics *stream = mw__metrics_create(path, &options, again ? "epoch" : NULL, err);
    if (stream == NULL)
        return mw__status_or(err, MW_ERROR_FILE);
    fit->metrics.streams[fit->metrics.count++] = stream;
    return stream->fresh ? mw__fit_write_run(fit, stream, err) : mw__fit_write_resume(fit, stream, err);
}

static mw_status begin_metrics(mw__fitting *fit, mw_error *err)
{
    const size_t count = file_count(fit->options);
    for (size_t i = 0; i < count; i++)
        MW_TRY(open_stream(fit, file_at(fit->options, i), err));
    return MW_OK;
}

mw_status mw__fit_metrics_begin(mw__fitting *fit, mw_error *err)
{
    mw__fit_metrics *m = &fit->metrics;
    const int64_t steps = fit->progress.steps;
    m->every = fit->options->metrics.steps > 0 ? fit->options->metrics.steps : (steps + LINES - 1) / LINES;
    m->since = mw__clock_seconds();
    if (!fit->resumed)
        m->rate = fit->trainer->numbers.learning_rate;
    mw__arena_init(&m->arena, mw__trainer_allocator(fit->trainer));
    mw__energy_begin(&m->energy);
    return mw__fit_on_first(fit, begin_metrics, err);
}

/* ---- what is watched ---- */

static mw_status put_named(mw__fitting *fit, const char *name, const char *end, double value, mw_error *err)
{
    char full[MW_NAME_MAX + 64];
    const int length = snprintf(full, sizeof full, "%s%s", name, end);
    const char *copy = mw__arena_string(&fit->metrics.line, full, (size_t)length, err);
    return copy != NULL ? mw__fit_put(fit, copy, value, NULL, err) : MW_ERROR_MEMORY;
}

static mw_status put_statistics(mw__fitting *fit, const char *name, const mw_watched *w, mw_error *err)
{
    MW_TRY(put_named(fit, name, "/min", w->min, err));
    MW_TRY(put_named(fit, name, "/max", w->max, err));
    MW_TRY(put_named(fit, name, "/mean", w->mean, err));
    MW_TRY(put_named(fit, name, "/deviation", w->deviation, err));
    MW_TRY(put_named(fit, name, "/norm", w->norm, err));
    MW_TRY(put_named(fit, name, "/zeros", w->zeros, err));
    return put_named(fit, name, "/non_finite", w->non_finite, err);
}

/* Values are only written if there is one. */
static mw_status put_watched(mw__fitting *fit, size_t index, const mw_watched *w, mw_error *err)
{
    char name[MW_NAME_MAX + 48];
    float value;
    snprintf(name, sizeof name, "watch/%s", w->name);
    if (w->kind == MW_WATCH_STATISTICS)
        return put_statistics(fit, name, w, err);
    if (w->kind == MW_WATCH_NORM)
        return w->parameter != NULL ? put_named(fit, w->name, "", w->norm, err)
                                    : put_named(fit, name, "/norm", w->norm, err);
    if (w->elements != 1)
        return MW_OK;
    MW_TRY(mw_trainer_watch_values(fit->trainer, index, MW_F32, &value, 1, err));
    return put_named(fit, name, "", (double)value, err);
}

static mw_status put_all_watched(mw__fitting *fit, mw_error *err)
{
    mw_watched watched;
    const double norm = mw__trainer_gradient_norm(fit->trainer);
    bool norms = false;
    for (size_t i = 0; mw_trainer_watch_at(fit->trainer, i, &watched) && watched.step > 0; i++) {
        if (!norms && watched.of == MW_WATCH_GRADIENT && watched.kind == MW_WATCH_NORM)
            MW_TRY(mw__fit_put(fit, "gradient_norm", norm, NULL, err));
        norms = norms || (watched.of == MW_WATCH_GRADIENT && watched.kind == MW_WATCH_NORM);
        MW_TRY(put_watched(fit, i, &watched, err));
    }
    return MW_OK;
}

/* ---- lines ---- */

static mw_status put_place(mw__fitting *fit, double loss, mw_error *err)
{
    MW_TRY(mw__fit_put(fit, "epoch", (double)fit->progress.epoch, NULL, err));
    MW_TRY(mw__fit_put(fit, "seconds", rounded(mw__fit_seconds(fit), 1e6), NULL, err));
    MW_TRY(mw__fit_put(fit, "loss", loss, NULL, err));
    return mw__fit_put(fit, "learning_rate", mw__fit_as_written(fit->metrics.rate), NULL, err);
}

static mw_status put_step(mw__fitting *fit, double now, mw_error *err)
{
    mw__fit_metrics *m = &fit->metrics;
    const mw_trainer_counters counters = fit->trainer->progress.counters;
    const double examples = (double)m->steps * (double)mw__trainer_batch(fit->trainer) * mw__fit_ranks(fit);
    MW_TRY(put_place(fit, m->losses > 0 ? m->sum / (double)m->losses : (double)NAN, err));
    MW_TRY(mw__fit_put(fit, "updates", (double)fit->trainer->progress.steps, NULL, err));
    MW_TRY(mw__fit_put(fit, "refused_steps", (double)counters.refused_steps, NULL, err));
    MW_TRY(mw__fit_put(fit, "loss_scale", (double)mw__trainer_loss_scale(fit->trainer), NULL, err));
    if (now > m->since)
        MW_TRY(mw__fit_put(fit, "examples_per_second", rounded(examples / (now - m->since), 10.0), NULL, err));
    MW_TRY(put_known(fit, "rss_bytes", mw__system_resident(), err));
    MW_TRY(put_known(fit, "energy_joules", mw__energy_read(&m->energy), err));
    return put_all_watched(fit, err);
}

mw_status mw__fit_metrics_step(mw__fitting *fit, int64_t before, const float *losses, size_t count, mw_error *err)
{
    mw__fit_metrics *m = &fit->metrics;
    for (size_t i = 0; i < count; i++) {
        m->sum += isfinite(losses[i]) ? (double)losses[i] : 0.0;
        m->losses += isfinite(losses[i]);
    }
    m->steps += (int64_t)count;
    m->rate = fit->trainer->numbers.learning_rate;
    if (fit->progress.step / m->every == before / m->every)
        return MW_OK;
    if (m->count > 0) {
        const double now = mw__clock_seconds();
        mw__arena_init(&m->line, mw__trainer_allocator(fit->trainer));
        mw_status status = put_step(fit, now, err);
        if (status == MW_OK)
            status = mw__fit_write(fit, "step", fit->progress.step, err);
        mw__arena_deinit(&m->line);
        if (status != MW_OK)
            return status;
        m->since = now;
    }
    m->sum = 0.0;
    m->losses = m->steps = 0;
    return MW_OK;
}

static mw_status put_validation(mw__fitting *fit, mw_error *err)
{
    mw__fit_metrics *m = &fit->metrics;
    const mw_evaluation *found = &fit->progress.validation;
    if (fit->options->data.validation == NULL)
        return MW_OK;
    MW_TRY(mw__fit_put(fit, "validation/loss", found->loss, NULL, err));
    for (size_t i = 0; i < found->metric_count; i++) {
        char name[96];
        const int length = snprintf(name, sizeof name, "validation/%s", found->metrics[i].name);
        const char *copy = mw__arena_string(&m->arena, name, (size_t)length, err);
        if (copy == NULL)
            return MW_ERROR_MEMORY;
        MW_TRY(mw__fit_put(fit, copy, found->metrics[i].value, NULL, err));
    }
    if (fit->options->stopping.best_by != NULL)
        return mw__fit_put(fit, "best", fit->best.step == fit->progress.step ? 1.0 : 0.0, NULL, err);
    return MW_OK;
}

mw_status mw__fit_metrics_epoch(mw__fitting *fit, mw_error *err)
{
    mw__fit_metrics *m = &fit->metrics;
    if (m->count > 0) {
        MW_TRY(put_place(fit, fit->progress.loss, err));
        MW_TRY(put_validation(fit, err));
        MW_TRY(mw__fit_write(fit, "epoch", fit->progress.step, err));
    }
    m->steps = 0; /* validating and saving are no training */
    m->since = mw__clock_seconds();
    return MW_OK;
}

/* ---- the end ---- */

static const char *reason_of(const mw__fitting *fit, mw_status status)
{
    return status == MW_OK              ? mw__fit_is_early(fit) ? "early" : "finished"
           : status == MW_ERROR_STOPPED ? "stopped"
           : status == MW_ERROR_NUMERIC ? "refused"
                                        : "failed";
}

static mw_status put_end(mw__fitting *fit, mw_status status, const mw_error *why, mw_error *err)
{
    MW_TRY(mw__fit_put(fit, "epoch", (double)fit->progress.epoch, NULL, err));
    MW_TRY(mw__fit_put(fit, "seconds", rounded(mw__fit_seconds(fit), 1e6), NULL, err));
    MW_TRY(mw__fit_put(fit, "reason", 0.0, reason_of(fit, status), err));
    if (status == MW_OK)
        return MW_OK;
    MW_TRY(mw__fit_put(fit, "message", 0.0, why->message, err));
    if (why->operation[0] != '\0')
        MW_TRY(mw__fit_put(fit, "operation", 0.0, why->operation, err));
    if (status == MW_ERROR_NUMERIC && fit->trainer->diagnosis.replay_saved)
        MW_TRY(mw__fit_put(fit, "replay", 0.0, fit->trainer->diagnosis.replay_folder, err));
    return why->tensor[0] != '\0' ? mw__fit_put(fit, "tensor", 0.0, why->tensor, err) : MW_OK;
}

mw_status mw__fit_metrics_end(mw__fitting *fit, mw_status status, mw_error *err)
{
    mw__fit_metrics *m = &fit->metrics;
    const mw_allocator *allocator = mw__trainer_allocator(fit->trainer);
    mw_error later = {0};
    m->field_count = 0; /* of a line that failed */
    if (m->count > 0 && put_end(fit, status, err, &later) == MW_OK)
        mw__fit_write(fit, "end", fit->progress.step, &later);
    for (size_t i = 0; i < m->count; i++)
        mw_metrics_destroy(m->streams[i]);
    m->count = 0;
    mw__free(allocator, m->fields);
    mw__arena_deinit(&m->arena);
    if (status != MW_OK || later.status == MW_OK)
        return status;
    *err = later;
    return later.status;
}

/* ---- from a callback ---- */

static mw_status write_log(mw__fitting *fit, const mw_metrics_field *fields, size_t count, mw_error *err)
{
    mw__fit_metrics *m = &fit->metrics;
    if (fields == NULL && count > 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_trainer_log: the fields are NULL");
    for (size_t i = 0; i < m->count; i++)
        MW_TRY(mw_metrics_write(m->streams[i], "log", fit->progress.step, fields, count, err));
    return MW_OK;
}

static mw_status log_fields(mw_trainer *trainer, const mw_metrics_field *fields, size_t count, mw_error *err)
{
    if (trainer == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_trainer_log: the trainer is NULL");
    if (trainer->fit.running == NULL)
        return mw__fail(err, MW_ERROR_STATE, "mw_trainer_log: no mw_trainer_fit is running on this trainer");
    return write_log(trainer->fit.running, fields, count, err);
}

mw_status mw_trainer_log(mw_trainer *trainer, const mw_metrics_field *fields, size_t count, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return err->status;
    mw__entry entry;
    MW_TRY(mw__trainer_enter(&entry, trainer, __func__, MW__LENT_IN_PROGRESS, err));
    return mw__trainer_leave(&entry, log_fields(trainer, fields, count, err), err);
}

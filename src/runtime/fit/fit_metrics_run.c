/* What a run is, as fields: the library, the machine as far as it matters, the model, the data, the numbers. Nothing
 * that names a person or a machine: no host, user or path. */
#include "runtime/fit/fit_metrics_run.h"
#include "graph/ir/ir.h"
#include "runtime/plan/plan_read.h"
#include "runtime/trainer/object/trainer_object.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define FORMAT_VERSION 1.0

static mw_status put_number(mw__fitting *fit, const char *name, double value, mw_error *err)
{
    return mw__fit_put(fit, name, value, NULL, err);
}

/* Copied; an empty one is not known. */
static mw_status text(mw__fitting *fit, const char *name, const char *value, mw_error *err)
{
    if (value == NULL || value[0] == '\0')
        return MW_OK;
    const char *copy = mw__arena_string(&fit->metrics.arena, value, strlen(value), err);
    return copy != NULL ? mw__fit_put(fit, name, 0.0, copy, err) : MW_ERROR_MEMORY;
}

static mw_status put_time(mw__fitting *fit, mw_error *err)
{
    char out[32] = "";
    struct tm parts;
    const time_t now = time(NULL);
    if (gmtime_r(&now, &parts) != NULL)
        strftime(out, sizeof out, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text(fit, "time", out, err);
}

static mw_status put_machine(mw__fitting *fit, mw_error *err)
{
    char out[200];
    const mw_trainer *t = fit->trainer;
    MW_TRY(text(fit, "millwright", mw_version(), err));
    MW_TRY(put_time(fit, err));
    MW_TRY(text(fit, "device", t->target.device->name, err));
    MW_TRY(text(fit, "engine", mw_program_where(t->step.program), err));
    MW_TRY(text(fit, "processor", mw__system_processor(out, sizeof out), err));
    return text(fit, "system", mw__system_name(out, sizeof out), err);
}

/* ---- the model ---- */

static mw_status put_model(mw__fitting *fit, mw_error *err)
{
    const mw__block *body = mw__graph_main(fit->trainer->model.graph)->body;
    double operations = 0.0, parameters = 0.0;
    for (size_t i = 0; i < body->op_count; i++)
        operations += !mw__op_is(body->ops[i], "const");
    for (size_t i = 0; i < body->input_count; i++)
        if (body->inputs[i]->role == MW__PARAMETER)
            parameters += (double)mw_shape_count(mw_tensor_shape(body->inputs[i]));
    MW_TRY(put_number(fit, "model_operations", operations, err));
    return put_number(fit, "model_parameters", parameters, err);
}

/* Libraries without plans tell nothing. */
static mw_status put_program(mw__fitting *fit, mw_error *err)
{
    mw_plan *plan = mw__trainer_plan_create(fit->trainer, MW_TRAINER_STEP, NULL);
    if (plan == NULL)
        return MW_OK;
    const size_t steps = plan->totals.step_count;
    const double threads = (double)plan->totals.threads, bytes = (double)mw__program_plan_bytes(plan);
    double operations = 0.0;
    for (size_t i = 0; i < steps; i++)
        operations += (double)plan->steps[i].operation_count;
    mw__program_plan_destroy(plan, __func__);
    if (steps == 0)
        return MW_OK;
    MW_TRY(put_number(fit, "threads", threads, err));
    MW_TRY(put_number(fit, "program_operations", operations, err));
    return put_number(fit, "program_bytes", bytes, err);
}

static mw_status put_metric_names(mw__fitting *fit, mw_error *err)
{
    const mw_trainer *t = fit->trainer;
    char names[MW_METRICS_MAX * 66] = "";
    size_t used = 0;
    for (size_t i = 0; i < t->model.metric_count; i++)
        used +=
            (size_t)snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "", t->model.metrics[i].name);
    return text(fit, "metrics", names, err);
}

/* Beyond 2^53 a number in JSON would be another one. */
static mw_status put_seed(mw__fitting *fit, const char *name, uint64_t seed, mw_error *err)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRIu64, seed);
    return seed >> 53 == 0 ? put_number(fit, name, (double)seed, err) : text(fit, name, digits, err);
}

/* ---- the run ---- */

static const char *schedule_name(const mw_schedule *schedule)
{
    static const char *const names[] = {
        [MW_SCHEDULE_CONSTANT] = "constant", [MW_SCHEDULE_STEP] = "step",           [MW_SCHEDULE_COSINE] = "cosine",
        [MW_SCHEDULE_LINEAR] = "linear",     [MW_SCHEDULE_ONE_CYCLE] = "one cycle", [MW_SCHEDULE_CUSTOM] = "custom"};
    return names[schedule->kind];
}

static mw_status put_numbers(mw__fitting *fit, mw_error *err)
{
    const mw_trainer *t = fit->trainer;
    char schedule[64];
    MW_TRY(text(fit, "optimizer", mw__trainer_description(t), err));
    MW_TRY(put_number(fit, "learning_rate", mw__fit_as_written(fit->base_rate), err));
    MW_TRY(put_number(fit, "loss_scale", t->numbers.loss_scale, err));
    MW_TRY(put_number(fit, "accumulate", t->numbers.accumulate, err));
    MW_TRY(put_number(fit, "batch", (double)t->progress.batch, err));
    MW_TRY(put_number(fit, "ranks", mw__fit_ranks(fit), err));
    snprintf(schedule, sizeof schedule, "%s%s", schedule_name(&fit->options->schedule.rate),
             fit->options->schedule.rate.warmup_steps > 0 ? ", warm-up" : "");
    return text(fit, "schedule", schedule, err);
}

static mw_status put_run(mw__fitting *fit, mw_error *err)
{
    const mw_fit_options *o = fit->options;
    MW_TRY(put_number(fit, "epochs", (double)o->epochs, err));
    MW_TRY(put_number(fit, "epoch_steps", (double)fit->batches, err));
    MW_TRY(put_number(fit, "steps", (double)fit->progress.steps, err));
    MW_TRY(put_number(fit, "training_examples", (double)mw_dataset_examples(o->data.training), err));
    if (o->data.validation != NULL)
        MW_TRY(put_number(fit, "validation_examples", (double)mw_dataset_examples(o->data.validation), err));
    MW_TRY(put_seed(fit, "seed", fit->trainer->compile.seed, err));
    if (!o->data.keep_order)
        MW_TRY(put_seed(fit, "order_seed", o->data.seed, err));
    return put_number(fit, "metrics_steps", (double)fit->metrics.every, err);
}

static mw_status write_to(mw__fitting *fit, mw_metrics *stream, const char *kind, int64_t step, mw_error *err)
{
    mw__fit_metrics *m = &fit->metrics;
    const mw_status status = mw_metrics_write(stream, kind, step, m->fields, m->field_count, err);
    m->field_count = 0;
    return status;
}

mw_status mw__fit_write_run(mw__fitting *fit, mw_metrics *stream, mw_error *err)
{
    MW_TRY(put_number(fit, "format", FORMAT_VERSION, err));
    MW_TRY(put_machine(fit, err));
    MW_TRY(put_model(fit, err));
    MW_TRY(put_program(fit, err));
    MW_TRY(put_metric_names(fit, err));
    MW_TRY(put_numbers(fit, err));
    MW_TRY(put_run(fit, err));
    return write_to(fit, stream, "run", 0, err);
}

mw_status mw__fit_write_resume(mw__fitting *fit, mw_metrics *stream, mw_error *err)
{
    MW_TRY(put_time(fit, err));
    return write_to(fit, stream, "resume", fit->progress.step, err);
}

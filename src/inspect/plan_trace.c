/* The runs of a profile in the trace event format of Chrome, which Perfetto reads. Times are in microseconds from the
 * first run on, always with three decimals, so that no ns is lost. */
#include "base/file/file.h"
#include "base/memory/live.h"
#include "base/number/float_mode.h"
#include "base/text/json_write.h"
#include "inspect/plan.h"

#include <stdio.h>
#include <string.h>

typedef struct tracer {
    const mw_plan *plan;
    mw__file_writer file;
    mw__text text; /* a piece of the file */
    uint64_t origin;
    bool first; /* no event yet */
} tracer;

enum { NAME_BYTES = 255 }; /* what is shown of a name */

/* ---- JSON ---- */

static void put_string(mw__text *text, const char *string)
{
    mw__text_puts(text, "\"");
    mw__json_put_printable(text, string, NAME_BYTES);
    mw__text_puts(text, "\"");
}

static void put_fixed(mw__text *text, double value)
{
    char number[MW__INSPECT_FIXED_MAX];
    mw__text_puts(text, mw__inspect_fixed(number, value, 3));
}

static void put_ns_as_us(mw__text *text, uint64_t ns)
{
    mw__text_printf(text, "%llu.%03llu", (unsigned long long)(ns / 1000), (unsigned long long)(ns % 1000));
}

static void begin_event(tracer *t, const char *phase, const char *name, uint64_t track)
{
    mw__text_puts(&t->text, t->first ? "\n" : ",\n");
    t->first = false;
    mw__text_printf(&t->text, "{\"ph\":\"%s\",\"pid\":1,\"tid\":%llu,\"name\":", phase, (unsigned long long)track);
    put_string(&t->text, name);
}

static void put_span(tracer *t, const e5rt_mw_span *span)
{
    mw__text_puts(&t->text, ",\"ts\":");
    put_ns_as_us(&t->text, span->begin - t->origin);
    mw__text_puts(&t->text, ",\"dur\":");
    put_ns_as_us(&t->text, span->end - span->begin);
}

/* ---- events ---- */

/* `what` is process_name or thread_name. */
static void put_name(tracer *t, const char *what, uint64_t track, const char *name)
{
    begin_event(t, "M", what, track);
    mw__text_puts(&t->text, ",\"args\":{\"name\":");
    put_string(&t->text, name);
    mw__text_puts(&t->text, "}}");
}

static void put_names(tracer *t)
{
    char track[32];
    put_name(t, "process_name", 0, t->plan->totals.where);
    put_name(t, "thread_name", 0, "runs");
    for (size_t i = 0; i < t->plan->totals.threads; i++) {
        snprintf(track, sizeof track, "partition %zu", i);
        put_name(t, "thread_name", i + 1, track);
    }
}

static void put_operations(mw__text *text, const mw_plan_step *step)
{
    mw__text_puts(text, ",\"operations\":[");
    for (size_t i = 0; i < step->operation_count; i++) {
        mw__text_puts(text, i > 0 ? ",\"" : "\"");
        mw__json_put_printable(text, step->operations[i].kind, NAME_BYTES);
        mw__text_puts(text, " ");
        mw__json_put_printable(text, step->operations[i].name, NAME_BYTES);
        mw__text_puts(text, "\"");
    }
    mw__text_puts(text, "]");
}

/* Bytes and operations are those of the whole step, whose share the slice is. */
static void put_task(tracer *t, const e5rt_mw_task *task, const e5rt_mw_span *span)
{
    const mw_plan_step *step = &t->plan->steps[task->step];
    begin_event(t, "X", step->kernel, task->partition + 1);
    put_span(t, span);
    mw__text_printf(&t->text, ",\"args\":{\"step\":%llu,\"phase\":%zu,\"bytes_read\":%llu,\"bytes_written\":%llu",
                    (unsigned long long)task->step, step->phase, (unsigned long long)step->bytes_read,
                    (unsigned long long)step->bytes_written);
    if (step->flops >= 0.0)
        mw__text_printf(&t->text, ",\"flops\":%llu", (unsigned long long)step->flops);
    mw__text_puts(&t->text, ",\"median_us\":");
    put_fixed(&t->text, 1e-3 * step->time.median_ns);
    put_operations(&t->text, step);
    mw__text_puts(&t->text, "}}");
}

static void put_run(tracer *t, const e5rt_mw_run *run)
{
    char name[32];
    snprintf(name, sizeof name, "run %llu", (unsigned long long)run->number);
    begin_event(t, "X", name, 0);
    put_span(t, &run->span);
    mw__text_printf(&t->text, ",\"args\":{\"threads\":%llu}}", (unsigned long long)run->threads);
    for (size_t i = 0; i < t->plan->data->task_count; i++)
        put_task(t, &t->plan->data->tasks[i], &run->tasks[i]);
}

/* ---- the file ---- */

static mw_status flush(tracer *t, mw_error *err)
{
    MW_TRY(mw__text_check(&t->text, err));
    MW_TRY(mw__file_writer_write(&t->file, t->text.data, t->text.size, err));
    t->text.size = 0;
    return MW_OK;
}

static mw_status write_events(tracer *t, mw_error *err)
{
    const e5rt_mw_plan *data = t->plan->data;
    mw__text_puts(&t->text, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    put_names(t);
    for (size_t r = 0; r < data->run_count; r++) {
        put_run(t, &data->runs[r]);
        MW_TRY(flush(t, err));
    }
    mw__text_puts(&t->text, "\n]}\n");
    return flush(t, err);
}

mw_status mw_plan_write_trace(const mw_plan *plan, const char *path, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return err->status;
    if (plan != NULL)
        MW_TRY(mw__live_check(plan, MW__LIVE_PLAN, __func__, err));
    if (plan == NULL || path == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_plan_write_trace: the %s is NULL", plan == NULL ? "plan" : "path");
    if (plan->data->run_count == 0)
        return mw__fail(err, MW_ERROR_STATE,
                        "mw_plan_write_trace: the plan has no times; switch on mw_program_profile (or "
                        "mw_trainer_profile), run, and create the plan then");
    tracer t = {.plan = plan, .origin = plan->data->runs[0].span.begin, .first = true};
    MW_TRY(mw__file_writer_begin(&t.file, plan->allocator, path, false, err));
    mw__text_init(&t.text, plan->allocator);
    mw_status status = write_events(&t, err);
    if (status == MW_OK)
        status = mw__file_writer_commit(&t.file, err);
    mw__text_deinit(&t.text);
    mw__file_writer_deinit(&t.file);
    return status;
}

/* What the metrics file says of a run: figures, curves, its end, its configuration. */
#include "base/number/number.h"
#include "base/text/error.h"
#include "view/markup.h"
#include "view/plot.h"
#include "view/report.h"
#include "view/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- figures ---- */

static void put_figure(mw__text *out, const char *label, const char *value)
{
    mw__text_puts(out, "<div class=\"figure\"><span>");
    mw__put_escaped(out, label, 40);
    mw__text_puts(out, "</span><b>");
    mw__put_escaped(out, value, 60);
    mw__text_puts(out, "</b></div>\n");
}

static const mw__point *last_of(const mw__curves *c, const char *name)
{
    const mw__curve *curve = mw__curves_find(c, name);
    for (size_t i = curve != NULL ? curve->count : 0; i-- > 0;)
        if (isfinite(curve->points[i].y))
            return &curve->points[i];
    return NULL;
}

static void put_number_figure(mw__text *out, const char *label, double value)
{
    char text[64] = "";
    mw__text number;
    mw__text_init(&number, NULL);
    if (fabs(value) >= 1e4 && fabs(value) < 1e15)
        mw__put_digits(&number, (uint64_t)fabs(value));
    else
        mw__put_significant(&number, value, 4);
    if (number.data != NULL && number.size < sizeof text)
        memcpy(text, number.data, number.size + 1);
    mw__text_deinit(&number);
    put_figure(out, label, text);
}

static void put_last(const mw__report *r, const char *name, const char *label)
{
    const mw__point *point = last_of(r->curves, name);
    if (point != NULL)
        put_number_figure(r->out, label, point->y);
}

/* The last of every "epoch/validation/..". */
static void put_validation(const mw__report *r)
{
    static const char prefix[] = "epoch/validation/";
    size_t shown = 0;
    for (size_t i = 0; i < r->curves->count && shown < 6; i++) {
        const char *name = r->curves->curves[i].name;
        const mw__point *point = strncmp(name, prefix, sizeof prefix - 1) == 0 ? last_of(r->curves, name) : NULL;
        if (point == NULL)
            continue;
        put_number_figure(r->out, name + strlen("epoch/"), point->y);
        shown++;
    }
}

static void put_time(const mw__report *r)
{
    const mw__point *point = last_of(r->curves, "seconds");
    const char *end = mw__curves_fact(r->curves, "end", "seconds");
    double seconds = point != NULL ? point->y : -1.0;
    if (end != NULL && !mw__number_read(end, strlen(end), MW__NUMBER_F64, &seconds))
        seconds = point != NULL ? point->y : -1.0;
    mw__text text;
    if (!(seconds >= 0.0) || seconds > 1e9)
        return;
    mw__text_init(&text, NULL);
    const long whole = (long)seconds;
    if (whole >= 3600)
        mw__text_printf(&text, "%ld h %ld min", whole / 3600, whole / 60 % 60);
    else if (whole >= 60)
        mw__text_printf(&text, "%ld min %ld s", whole / 60, whole % 60);
    else {
        mw__put_fixed(&text, seconds, 1);
        mw__text_puts(&text, " s");
    }
    put_figure(r->out, "time", text.data != NULL ? text.data : "");
    mw__text_deinit(&text);
}

void mw__page_figures(const mw__report *r)
{
    if (r->curves == NULL)
        return;
    mw__text_puts(r->out, "<div class=\"figures\">\n");
    put_last(r, "loss", "loss");
    put_validation(r);
    put_last(r, "epoch", "epochs");
    put_last(r, "updates", "steps");
    put_time(r);
    put_last(r, "examples_per_second", "examples a second");
    put_last(r, "perplexity", "perplexity");
    put_last(r, "bits_per_byte", "bits a byte");
    put_last(r, "tokens_per_second", "tokens a second");
    put_last(r, "refused_steps", "refused steps");
    const char *reason = mw__curves_fact(r->curves, "end", "reason");
    if (reason != NULL || mw__curves_fact(r->curves, "run", "format") != NULL)
        put_figure(r->out, "end", reason != NULL ? reason : "none was written: killed, or still running");
    mw__text_puts(r->out, "</div>\n");
}

/* ---- curves ---- */

static mw_status put_charts(const mw__report *r, mw__curves *others)
{
    mw__plot p = {.arena = r->arena, .options = mw_plot_defaults(), .run_count = 1, .err = r->err};
    p.runs[0] = r->curves;
    p.names[0] = "this run";
    for (size_t i = 0; i < r->options.other_count; i++) {
        p.runs[i + 1] = &others[i];
        p.names[i + 1] = r->options.others[i];
        p.run_count++;
    }
    const mw_status status = mw__plot_choose(&p);
    if (status == MW_ERROR_ARGUMENT) { /* no numbers that change: no charts */
        mw_error_clear(r->err);
        return MW_OK;
    }
    if (status != MW_OK)
        return status;
    mw__section(r->out, "Curves");
    mw__text_puts(r->out, "<div class=\"charts\">\n");
    mw__put_charts(&p, r->out);
    mw__text_puts(r->out, "</div>\n");
    mw__section_end(r->out);
    return MW_OK;
}

mw_status mw__page_curves(const mw__report *r)
{
    mw__curves others[MW__RUNS_MAX] = {{0}};
    size_t opened = 0;
    mw_status status = MW_OK;
    if (r->curves == NULL)
        return MW_OK;
    for (; opened < r->options.other_count && status == MW_OK; opened++)
        status = mw__curves_read(&others[opened], r->options.allocator, r->options.others[opened], r->err);
    if (status == MW_OK)
        status = put_charts(r, others);
    for (size_t i = 0; i < opened; i++)
        mw__curves_deinit(&others[i]);
    return status;
}

/* ---- how it ended ---- */

void mw__page_end(const mw__report *r)
{
    static const char *const keys[] = {"operation", "tensor", "message", "step", "epoch", "replay"};
    static const char *const labels[] = {"first operation without a finite value",
                                         "its tensor",
                                         "what was said",
                                         "step",
                                         "epoch",
                                         "the batch, for mw replay"};
    const char *reason = r->curves != NULL ? mw__curves_fact(r->curves, "end", "reason") : NULL;
    if (reason == NULL || (strcmp(reason, "refused") != 0 && strcmp(reason, "failed") != 0))
        return;
    mw__section(r->out, strcmp(reason, "refused") == 0 ? "Why a step was refused" : "Why the run failed");
    mw__text_puts(r->out, "<table class=\"pairs\"><tbody>\n");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *value = mw__curves_fact(r->curves, "end", keys[i]);
        if (value != NULL && value[0] != '\0')
            mw__page_row(r->out, labels[i], value);
    }
    mw__text_puts(r->out, "</tbody></table>\n");
    if (strcmp(reason, "refused") == 0)
        mw__text_puts(r->out,
                      "<p class=\"dim\">A refused step changes nothing: weights are those of the step before. The "
                      "operations behind the first one carry its value on, and say nothing of where it came "
                      "from.</p>\n");
    mw__section_end(r->out);
}

/* ---- configuration ---- */

static bool is_environment(const char *key)
{
    static const char *const keys[] = {"millwright", "time", "device", "engine", "threads", "processor", "system"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return false;
}

/* The facts of the last record of its begin. */
static void put_facts(const mw__report *r, bool environment)
{
    size_t record = SIZE_MAX;
    for (size_t i = 0; i < r->curves->fact_count; i++)
        if (strcmp(r->curves->facts[i].kind, "run") == 0)
            record = r->curves->facts[i].record;
    for (size_t i = 0; i < r->curves->fact_count; i++) {
        const mw__fact *f = &r->curves->facts[i];
        if (f->record == record && is_environment(f->key) == environment && strcmp(f->key, "format") != 0)
            mw__page_row(r->out, f->key, f->text);
    }
    for (size_t i = 0; environment && i < r->curves->fact_count; i++)
        if (strcmp(r->curves->facts[i].kind, "resume") == 0 && strcmp(r->curves->facts[i].key, "time") == 0)
            mw__page_row(r->out, "went on", r->curves->facts[i].text);
}

void mw__page_configuration(const mw__report *r)
{
    const bool run = r->curves != NULL && mw__curves_fact(r->curves, "run", "format") != NULL;
    if (run || r->options.configuration_count > 0) {
        mw__section(r->out, "Configuration");
        mw__text_puts(r->out, "<table class=\"pairs\"><tbody>\n");
        if (run)
            put_facts(r, false);
        for (size_t i = 0; i < r->options.configuration_count; i++)
            mw__page_row(r->out, r->options.configuration[i].key, r->options.configuration[i].value);
        mw__text_puts(r->out, "</tbody></table>\n");
        mw__section_end(r->out);
    }
    if (run) {
        mw__section(r->out, "Environment");
        mw__text_puts(r->out, "<table class=\"pairs\"><tbody>\n");
        put_facts(r, true);
        mw__text_puts(r->out, "</tbody></table>\n");
        mw__section_end(r->out);
    }
}

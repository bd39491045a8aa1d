/* Figures for people, as JSON, and as a page. */
#include "tool/predict/measure.h"

#include <math.h>
#include <millwright/report.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 280, SAID_CLASSES_MAX = 12, FIGURES_MAX = 64 };

static const char *class_of(const predicting *p, int64_t index, char *out)
{
    return answer_name(&p->answer, index, out, NAME_BYTES);
}

/* ---- text ---- */

static void say_figures(const measure *m)
{
    for (size_t i = 0; i < mw_scores_count(m->scores); i++) {
        const mw_score score = mw_scores_get(m->scores, i);
        if (isnan(score.value))
            tool_print("%-18s  -\n", score.name);
        else
            tool_print("%-18s  %.6g\n", score.name, score.value);
    }
}

static void say_class(const measure *m, const predicting *p, int64_t k)
{
    char number[NAME_BYTES];
    const mw_class_figures f = mw_confusion_class(m->counts, m->width, k);
    tool_print("%9.4f %9.4f %9.4f %8lld  ", f.precision, f.recall, f.f1, (long long)f.support);
    tool_show(class_of(p, k, number));
    tool_puts("\n");
}

static void say_classes(const measure *m, const predicting *p)
{
    int64_t said = 0;
    tool_puts("\nprecision    recall        f1 examples  class\n");
    for (int64_t k = 0; k < m->width; k++) {
        const mw_class_figures f = mw_confusion_class(m->counts, m->width, k);
        if (f.support + f.predicted > 0 && ++said <= 4 * SAID_CLASSES_MAX)
            say_class(m, p, k);
    }
    if (said > 4 * SAID_CLASSES_MAX)
        tool_print(".. and %lld more; --json has all\n", (long long)(said - 4 * SAID_CLASSES_MAX));
}

/* Of a few classes as a square; a row is what is true. */
static void say_confusion(const measure *m, const predicting *p)
{
    char number[NAME_BYTES];
    if (m->width > SAID_CLASSES_MAX)
        return;
    tool_puts("\ntrue class by row, predicted one by column\n");
    for (int64_t i = 0; i < m->width; i++) {
        for (int64_t k = 0; k < m->width; k++)
            tool_print(" %7lld", (long long)m->counts[i * m->width + k]);
        tool_puts("  ");
        tool_show(class_of(p, i, number));
        tool_puts("\n");
    }
}

static void say_worst_one(const measure *m, const predicting *p, const measure_worst *w)
{
    char number[NAME_BYTES];
    tool_puts("  ");
    tool_show(w->name);
    if (m->task == MW_SCORE_CLASSES) {
        tool_puts(": ");
        tool_show(class_of(p, (int64_t)w->truth, number));
        tool_print(", taken for %.4f ", w->probability);
        tool_show(class_of(p, (int64_t)w->predicted, number));
        tool_puts("\n");
        return;
    }
    tool_puts(m->width > 1 ? ", " : "");
    tool_show(m->width > 1 ? class_of(p, w->column, number) : "");
    tool_print(": %.6g, predicted %.6g\n", w->truth, w->predicted);
}

static void say_text(const measure *m, const predicting *p)
{
    char rate[128];
    predicting_say_rate(p, rate, sizeof rate);
    tool_print("%s\n", rate);
    say_figures(m);
    if (m->counts != NULL) {
        say_classes(m, p);
        say_confusion(m, p);
    }
    if (m->worst_count > 0)
        tool_print("\n%s\n", m->task == MW_SCORE_VALUES ? "farthest from the truth" : "wrong, and the surest of it");
    for (size_t i = 0; i < m->worst_count; i++)
        say_worst_one(m, p, &m->worst[i]);
}

/* ---- JSON ---- */

static void add_classes(const measure *m, const predicting *p, mw__json_writer *json)
{
    char number[NAME_BYTES];
    mw__json_open(json, "classes", '[');
    for (int64_t k = 0; k < m->width; k++) {
        const mw_class_figures f = mw_confusion_class(m->counts, m->width, k);
        mw__json_open(json, NULL, '{');
        mw__json_add_string(json, "class", class_of(p, k, number));
        mw__json_add_integer(json, "examples", f.support);
        mw__json_add_number(json, "precision", f.precision);
        mw__json_add_number(json, "recall", f.recall);
        mw__json_add_number(json, "f1", f.f1);
        mw__json_close(json, '}');
    }
    mw__json_close(json, ']');
    mw__json_open(json, "confusion", '[');
    for (int64_t i = 0; i < m->width; i++) {
        mw__json_open(json, NULL, '[');
        for (int64_t k = 0; k < m->width; k++)
            mw__json_add_integer(json, NULL, m->counts[i * m->width + k]);
        mw__json_close(json, ']');
    }
    mw__json_close(json, ']');
}

static void add_worst(const measure *m, const predicting *p, const measure_worst *w, mw__json_writer *json)
{
    char number[NAME_BYTES];
    mw__json_open(json, NULL, '{');
    mw__json_add_string(json, "id", w->name);
    if (m->task == MW_SCORE_CLASSES) {
        mw__json_add_string(json, "class", class_of(p, (int64_t)w->truth, number));
        mw__json_add_string(json, "predicted", class_of(p, (int64_t)w->predicted, number));
        mw__json_add_number(json, "probability", w->probability);
    } else {
        mw__json_add_string(json, "name", class_of(p, w->column, number));
        mw__json_add_number(json, "value", w->truth);
        mw__json_add_number(json, "predicted", w->predicted);
    }
    mw__json_close(json, '}');
}

static void say_json(const measure *m, const predicting *p, mw__json_writer *json)
{
    char rate[128];
    predicting_say_rate(p, rate, sizeof rate);
    mw__json_add_string(json, "task", answer_task_name(p->answer.task));
    mw__json_open(json, "figures", '{');
    for (size_t i = 0; i < mw_scores_count(m->scores); i++)
        mw__json_add_number(json, mw_scores_get(m->scores, i).name, mw_scores_get(m->scores, i).value);
    mw__json_close(json, '}');
    if (m->counts != NULL)
        add_classes(m, p, json);
    mw__json_open(json, "worst", '[');
    for (size_t i = 0; i < m->worst_count; i++)
        add_worst(m, p, &m->worst[i], json);
    mw__json_close(json, ']');
}

void measure_say(const measure *m, const predicting *p)
{
    if (p->call->json != NULL)
        say_json(m, p, p->call->json);
    else
        say_text(m, p);
}

/* ---- a page ---- */

static char **name_classes(const predicting *p)
{
    char number[NAME_BYTES];
    char **names = calloc((size_t)p->answer.width + 1, sizeof *names);
    for (int64_t i = 0; names != NULL && i < p->answer.width; i++)
        names[i] = strdup(class_of(p, i, number));
    return names;
}

bool measure_write_report(measure *m, const predicting *p, const char *path)
{
    char values[FIGURES_MAX][32], examples[32];
    mw_report_pair pairs[FIGURES_MAX + 3];
    size_t count = 0;
    mw_report_options options = mw_report_defaults();
    char **names = m->counts != NULL ? name_classes(p) : NULL;
    snprintf(examples, sizeof examples, "%lld", (long long)p->data.done);
    pairs[count++] = (mw_report_pair){"model", p->call->arguments[0]};
    pairs[count++] = (mw_report_pair){"data", p->call->arguments[1]};
    pairs[count++] = (mw_report_pair){p->data.kind->examples, examples};
    for (size_t i = 0; i < mw_scores_count(m->scores) && i < FIGURES_MAX; i++) {
        const mw_score score = mw_scores_get(m->scores, i);
        snprintf(values[i], sizeof values[i], isnan(score.value) ? "-" : "%.6g", score.value);
        pairs[count++] = (mw_report_pair){score.name, values[i]};
    }
    options.title = p->call->arguments[0];
    options.graph = mw_model_get_info(p->model).graph;
    options.confusion = m->counts;
    options.class_count = m->counts != NULL ? (size_t)m->width : 0;
    options.class_names = (const char *const *)names;
    options.command = p->call->command;
    options.configuration = pairs;
    options.configuration_count = count;
    if (kept_say(&m->kept, &p->answer, &options, m->err))
        mw_report_write(&options, path, m->err);
    for (int64_t i = 0; names != NULL && i < p->answer.width; i++)
        free(names[i]);
    free(names);
    return m->err->status == MW_OK;
}

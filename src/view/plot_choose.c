/* Which curves are drawn, and which stand in one chart. */
#include "base/text/error.h"
#include "base/text/printable.h"
#include "base/text/string.h"
#include "view/plot.h"

#include <fnmatch.h>
#include <math.h>
#include <string.h>

/* ---- names ---- */

/* Counts, and what is as well told by another curve. */
static bool only_counts(const char *name)
{
    static const char *const names[] = {"epoch",         "seconds",       "updates",    "epoch/epoch",
                                        "epoch/seconds", "epoch/updates", "epoch/best", "epoch/learning_rate",
                                        "time",          "timestamp",     "epoch/step"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static bool never_changes(const mw__curve *curve)
{
    for (size_t i = 1; i < curve->count; i++)
        if (curve->points[i].y != curve->points[0].y)
            return false;
    return true;
}

/* Of what is worth no chart while nothing happens. */
static bool is_idle(const mw__curve *curve)
{
    static const char *const names[] = {"refused_steps", "loss_scale", "gradient_scale"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(curve->name, names[i]) == 0)
            return never_changes(curve);
    return mw__string_begins(curve->name, "watch/") && strlen(curve->name) > 11 &&
           strcmp(curve->name + strlen(curve->name) - 11, "/non_finite") == 0 && never_changes(curve);
}

/* What a curve is a part of: "loss" of "validation/loss", "gradient_norm" of each parameter, "watch/h" of its extremes.
 */
static size_t chart_of(const char *name, const char **out_begin)
{
    const char *const prefixes[] = {"epoch/validation/", "validation/", "epoch/", "train/", "val/"};
    static const char *const extremes[] = {"/min", "/max", "/mean"};
    *out_begin = name;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        if (mw__string_begins(name, prefixes[i])) {
            *out_begin = name + strlen(prefixes[i]);
            return strlen(*out_begin);
        }
    }
    if (mw__string_begins(name, "gradient_norm/"))
        return strlen("gradient_norm/");
    const size_t length = strlen(name);
    for (size_t i = 0; i < sizeof extremes / sizeof *extremes && mw__string_begins(name, "watch/"); i++)
        if (length > strlen(extremes[i]) && strcmp(name + length - strlen(extremes[i]), extremes[i]) == 0)
            return length - strlen(extremes[i]);
    return length;
}

/* ---- choosing ---- */

static bool is_chosen(const mw__plot *p, const mw__curve *curve, bool *matched)
{
    const mw_plot_options *o = &p->options;
    if (o->series == NULL)
        return !only_counts(curve->name) && !is_idle(curve) &&
               (p->keeps_constants || curve->count < 2 || !never_changes(curve));
    bool chosen = false;
    for (size_t i = 0; i < o->series_count; i++) {
        if (fnmatch(o->series[i], curve->name, 0) == 0) {
            matched[i] = true;
            chosen = true;
        }
    }
    return chosen;
}

static mw__chart *chart_named(const mw__plot *p, const char *name, size_t length)
{
    for (size_t i = 0; i < p->chart_count; i++)
        if (strlen(p->charts[i].title) == length && memcmp(p->charts[i].title, name, length) == 0)
            return &p->charts[i];
    return NULL;
}

static mw__chart *new_chart(mw__plot *p, const char *name, size_t length)
{
    if (p->chart_count == p->chart_room)
        return NULL;
    mw__chart *chart = &p->charts[p->chart_count];
    *chart = (mw__chart){.title = mw__arena_string(p->arena, name, length, p->err)};
    chart->lines = mw__arena_alloc(p->arena, (size_t)MW__LINES_MAX * p->run_count, sizeof *chart->lines, p->err);
    if (chart->title == NULL || chart->lines == NULL)
        return NULL;
    p->chart_count++;
    return chart;
}

static double largest(const mw__curve *curve)
{
    double most = -INFINITY;
    for (size_t i = 0; i < curve->count; i++)
        if (isfinite(curve->points[i].y) && fabs(curve->points[i].y) > most)
            most = fabs(curve->points[i].y);
    return most;
}

/* Where a chart is full, those with the largest values stay. */
static void add_line(const mw__plot *p, mw__chart *chart, size_t run, const mw__curve *curve, const char *label)
{
    const size_t lines_of_run = MW__LINES_MAX / p->run_count;
    size_t own = 0, smallest = SIZE_MAX;
    for (size_t i = 0; i < chart->line_count; i++) {
        if (chart->lines[i].run != run)
            continue;
        own++;
        if (smallest == SIZE_MAX || largest(chart->lines[i].curve) < largest(chart->lines[smallest].curve))
            smallest = i;
    }
    const mw__line line = {.curve = curve, .label = label, .run = run, .index = own};
    if (own < lines_of_run) {
        chart->lines[chart->line_count++] = line;
        return;
    }
    chart->left_out++;
    if (largest(curve) > largest(chart->lines[smallest].curve)) {
        chart->lines[smallest].curve = curve;
        chart->lines[smallest].label = label;
    }
}

/* "fc1.weight" of gradient_norm/fc1.weight, "max" of watch/h/max, "validation/loss" of epoch/validation/loss. */
static const char *label_of(const char *name, const char *begin, size_t length)
{
    if (mw__string_begins(name, "gradient_norm/") || length < strlen(begin))
        return begin + length + (begin[length] == '/' ? 1 : 0);
    return mw__string_begins(name, "epoch/validation/") ? name + strlen("epoch/") : name;
}

/* Both memory and `run` may run out of room; only the first is an error. */
static mw_status add_curve(mw__plot *p, size_t run, const mw__curve *curve)
{
    const char *begin;
    const size_t length = chart_of(curve->name, &begin);
    mw__chart *chart = chart_named(p, begin, length);
    if (chart == NULL)
        chart = new_chart(p, begin, length);
    if (chart == NULL)
        return mw__failed(p->err) ? p->err->status : MW_OK;
    add_line(p, chart, run, curve, label_of(curve->name, begin, length));
    return MW_OK;
}

/* "; there are loss, accuracy, .." */
static mw_status refuse_pattern(const mw__plot *p, const char *pattern)
{
    char names[300];
    size_t used = 0;
    names[0] = '\0';
    for (size_t r = 0; r < p->run_count; r++) {
        for (size_t i = 0; i < p->runs[r]->count; i++) {
            const char *name = p->runs[r]->curves[i].name;
            if (used + strlen(name) + 3 > sizeof names - 4)
                continue;
            used += mw__printable_printf(names + used, sizeof names - used, "%s%s", used > 0 ? ", " : "", name);
        }
    }
    return mw__fail(p->err, MW_ERROR_ARGUMENT, "plot: \"%.80s\" matches none of the names: %s", pattern, names);
}

static mw_status add_curves(mw__plot *p, bool *matched)
{
    for (size_t r = 0; r < p->run_count; r++)
        for (size_t i = 0; i < p->runs[r]->count; i++)
            if (is_chosen(p, &p->runs[r]->curves[i], matched))
                MW_TRY(add_curve(p, r, &p->runs[r]->curves[i]));
    return MW_OK;
}

mw_status mw__plot_choose(mw__plot *p)
{
    bool *matched = mw__arena_alloc(p->arena, p->options.series_count + 1, sizeof *matched, p->err);
    p->chart_room = MW__CHARTS_MAX;
    p->charts = mw__arena_alloc(p->arena, p->chart_room, sizeof *p->charts, p->err);
    if (matched == NULL || p->charts == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(add_curves(p, matched));
    if (p->chart_count == 0) {
        p->keeps_constants = true;
        MW_TRY(add_curves(p, matched));
    }
    for (size_t i = 0; p->options.series != NULL && i < p->options.series_count; i++)
        if (!matched[i])
            return refuse_pattern(p, p->options.series[i]);
    if (p->chart_count == 0)
        return mw__fail(p->err, MW_ERROR_ARGUMENT, "plot: the file has no numbers that change");
    return MW_OK;
}

/* Probabilities of yes as charts: ROC, precision over recall, calibration. */
#include "base/text/error.h"
#include "view/markup.h"
#include "view/numbers.h"

#include <math.h>
#include <stdlib.h>

enum { VERTICES_MAX = 400, BINS = 10 };

typedef struct judged {
    float p;
    bool yes;
} judged;

typedef struct yes_data {
    judged *sorted; /* [count] the surest of yes first */
    size_t count;
    double yes, no; /* examples */
    const char *name;
} yes_data;

static int compare_judged(const void *a, const void *b)
{
    const float p = ((const judged *)a)->p, q = ((const judged *)b)->p;
    return (p < q) - (p > q);
}

static mw_status sort_judged(const mw__report *r, const mw_report_numbers *n, yes_data *out)
{
    *out = (yes_data){.count = n->count, .name = n->name != NULL ? n->name : "yes"};
    out->sorted = mw__arena_alloc(r->arena, n->count, sizeof *out->sorted, r->err);
    if (out->sorted == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < n->count; i++) {
        out->sorted[i] = (judged){n->predicted[i], n->truth[i] > 0.5F};
        *(out->sorted[i].yes ? &out->yes : &out->no) += 1.0;
    }
    qsort(out->sorted, out->count, sizeof *out->sorted, compare_judged);
    return MW_OK;
}

/* Examples from a threshold on: those of one probability pass it together. */
typedef struct passing {
    size_t at;
    double hits, alarms; /* yes and no among them */
} passing;

static bool next_threshold(const yes_data *d, passing *p)
{
    if (p->at == d->count)
        return false;
    const float limit = d->sorted[p->at].p;
    for (; p->at < d->count && d->sorted[p->at].p == limit; p->at++)
        *(d->sorted[p->at].yes ? &p->hits : &p->alarms) += 1.0;
    return true;
}

/* Area below the ROC curve, and the sum of precision times step of recall. */
static void measure_areas(const yes_data *d, double *area, double *average)
{
    passing p = {0};
    *area = *average = 0.0;
    for (passing last = p; next_threshold(d, &p); last = p) {
        *area += (p.alarms - last.alarms) / d->no * (p.hits + last.hits) / 2.0 / d->yes;
        *average += (p.hits - last.hits) / d->yes * p.hits / (p.hits + p.alarms);
    }
}

/* ---- curves ---- */

typedef struct yes_pen {
    const mw__numbers_chart *chart;
    mw__text *out;
    double x, y; /* of the last vertex, in pixels */
    size_t count;
} yes_pen;

/* Left out if it is next to the last vertex, unless it is an end. */
static void draw_to(yes_pen *pen, double x, double y, bool is_end)
{
    const double px = mw__plot_scale_at(&pen->chart->x, x), py = mw__plot_scale_at(&pen->chart->y, y);
    const bool is_near = fabs(px - pen->x) < 1.0 && fabs(py - pen->y) < 1.5;
    if (!is_end && pen->count > 0 && (is_near || pen->count >= VERTICES_MAX))
        return;
    mw__text_puts(pen->out, pen->count++ == 0 ? "M" : "L");
    mw__put_fixed(pen->out, px, 1);
    mw__text_puts(pen->out, " ");
    mw__put_fixed(pen->out, py, 1);
    pen->x = px;
    pen->y = py;
}

static mw__numbers_chart unit_chart(const char *title, const char *x_name, const char *y_name)
{
    return (mw__numbers_chart){.title = title, .x_name = x_name, .y_name = y_name, .x_high = 1, .y_high = 1};
}

static void put_roc(const yes_data *d, mw__text *out)
{
    passing p = {0};
    mw__numbers_chart c = unit_chart("ROC curve", "false positive rate", "true positive rate");
    mw__numbers_begin(&c, out);
    mw__numbers_guide(&c, 0, 0, 1, 1, out);
    mw__text_puts(out, "<path class=\"l0\" d=\"");
    yes_pen pen = {.chart = &c, .out = out};
    draw_to(&pen, 0, 0, true);
    while (next_threshold(d, &p))
        draw_to(&pen, p.alarms / d->no, p.hits / d->yes, p.at == d->count);
    mw__text_puts(out, "\"/>\n");
    mw__numbers_end(out);
}

static void put_precision(const yes_data *d, mw__text *out)
{
    passing p = {0};
    const double share = d->yes / (d->yes + d->no);
    mw__numbers_chart c = unit_chart("Precision over recall", "recall", "precision");
    mw__numbers_begin(&c, out);
    mw__numbers_guide(&c, 0, share, 1, share, out);
    mw__text_puts(out, "<path class=\"l0\" d=\"");
    yes_pen pen = {.chart = &c, .out = out};
    while (next_threshold(d, &p)) {
        const double precision = p.hits / (p.hits + p.alarms);
        if (pen.count == 0) /* from the surest to the left end */
            draw_to(&pen, 0, precision, true);
        draw_to(&pen, p.hits / d->yes, precision, p.at == d->count);
    }
    mw__text_puts(out, "\"/>\n");
    mw__numbers_end(out);
}

/* ---- calibration ---- */

typedef struct calibration_bin {
    double count, sum, yes; /* sum: of probabilities */
} calibration_bin;

static void put_calibration_points(const mw__numbers_chart *c, const calibration_bin bins[BINS], mw__text *out)
{
    yes_pen pen = {.chart = c, .out = out};
    mw__text_puts(out, "<path class=\"l0\" d=\"");
    for (int i = 0; i < BINS; i++)
        if (bins[i].count > 0.0)
            draw_to(&pen, bins[i].sum / bins[i].count, bins[i].yes / bins[i].count, true);
    mw__text_puts(out, "\"/>\n");
    for (int i = 0; i < BINS; i++) {
        if (bins[i].count == 0.0)
            continue;
        mw__text_printf(out, "<g class=\"d0\"><title>%.0f examples</title>", bins[i].count);
        mw__numbers_point(c, bins[i].sum / bins[i].count, bins[i].yes / bins[i].count, 3.5, out);
        mw__text_puts(out, "</g>\n");
    }
}

static void put_calibration(const yes_data *d, mw__text *out)
{
    calibration_bin bins[BINS] = {{0, 0, 0}};
    for (size_t i = 0; i < d->count; i++) {
        const double p = (double)d->sorted[i].p;
        calibration_bin *bin = &bins[p * BINS < BINS ? (int)(p * BINS) : BINS - 1];
        bin->count += 1.0;
        bin->sum += p;
        bin->yes += d->sorted[i].yes ? 1.0 : 0.0;
    }
    mw__numbers_chart c = unit_chart("Calibration", "predicted probability", "share of examples");
    mw__numbers_begin(&c, out);
    mw__numbers_guide(&c, 0, 0, 1, 1, out);
    put_calibration_points(&c, bins, out);
    mw__numbers_end(out);
}

/* ---- all ---- */

static void put_words(const yes_data *d, mw__text *out)
{
    double area, average;
    mw__text_puts(out, "<h3>Probability of ");
    mw__put_escaped(out, d->name, 80);
    mw__text_printf(out, "</h3>\n<p>%.0f of %zu examples are true", d->yes, d->count);
    if (d->yes > 0.0 && d->no > 0.0) {
        measure_areas(d, &area, &average);
        mw__text_puts(out, ": area below the ROC curve <b>");
        mw__put_exact(out, area, 4);
        mw__text_puts(out, "</b>, average precision <b>");
        mw__put_exact(out, average, 4);
        mw__text_puts(out, "</b>");
    }
    mw__text_puts(out, ".</p>\n");
}

mw_status mw__page_yes(const mw__report *r, const mw_report_numbers *n)
{
    yes_data d;
    MW_TRY(sort_judged(r, n, &d));
    put_words(&d, r->out);
    mw__text_puts(r->out, "<div class=\"charts\">\n");
    if (d.yes > 0.0 && d.no > 0.0) { /* else the curves are not defined */
        put_roc(&d, r->out);
        put_precision(&d, r->out);
    }
    put_calibration(&d, r->out);
    mw__text_puts(r->out, "</div>\n");
    return MW_OK;
}

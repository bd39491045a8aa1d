/* Values as charts: what was predicted over what is true, and a histogram of the residuals. */
#include "base/text/error.h"
#include "view/markup.h"
#include "view/numbers.h"
#include "view/summary.h"

#include <math.h>
#include <string.h>

enum { WIDTH = 304, HEIGHT = 290, LEFT = 58, RIGHT = 14, TOP = 46, BOTTOM = 36, DRAWN_MAX = 400, BINS = 24 };

/* ---- a chart ---- */

static void put_words(double x, double y, const char *look, const char *words, const char *of, mw__text *out)
{
    const size_t room = mw__view_text_capacity(WIDTH - LEFT - RIGHT, 10), used = strlen(words) + 1;
    mw__text_puts(out, "<text");
    mw__put_attribute(out, "x", x);
    mw__put_attribute(out, "y", y);
    mw__text_printf(out, " %s>%s", look, words);
    if (of != NULL && room > used) {
        mw__text_puts(out, " ");
        mw__put_escaped(out, of, room - used);
    }
    mw__text_puts(out, "</text>\n");
}

void mw__numbers_begin(mw__numbers_chart *c, mw__text *out)
{
    c->x = mw__plot_scale_make(c->x_low, c->x_high, false, LEFT, WIDTH - RIGHT, 70);
    c->y = mw__plot_scale_make(c->y_low, c->y_high, false, HEIGHT - BOTTOM, TOP, 30);
    mw__text_printf(out,
                    "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"mw-plot\" role=\"img\" width=\"%d\" "
                    "height=\"%d\" viewBox=\"0 0 %d %d\">\n",
                    WIDTH, HEIGHT, WIDTH, HEIGHT);
    put_words(LEFT, 16, "font-size=\"12\" font-weight=\"bold\"", c->title, NULL, out);
    put_words(LEFT, 32, "font-size=\"10\" class=\"dim\"", c->y_name, c->y_of, out);
    mw__put_axes(&c->x, &c->y, out);
    put_words(WIDTH - RIGHT, HEIGHT - 6, "font-size=\"10\" class=\"dim\" text-anchor=\"end\"", c->x_name, c->x_of, out);
}

void mw__numbers_guide(const mw__numbers_chart *c, double x0, double y0, double x1, double y1, mw__text *out)
{
    mw__text_puts(out, "<path class=\"l7\" stroke-dasharray=\"4 3\" d=\"M");
    mw__put_fixed(out, mw__plot_scale_at(&c->x, x0), 1);
    mw__text_puts(out, " ");
    mw__put_fixed(out, mw__plot_scale_at(&c->y, y0), 1);
    mw__text_puts(out, "L");
    mw__put_fixed(out, mw__plot_scale_at(&c->x, x1), 1);
    mw__text_puts(out, " ");
    mw__put_fixed(out, mw__plot_scale_at(&c->y, y1), 1);
    mw__text_puts(out, "\"/>\n");
}

void mw__numbers_point(const mw__numbers_chart *c, double x, double y, double radius, mw__text *out)
{
    mw__text_puts(out, "<circle");
    mw__put_attribute(out, "r", radius);
    mw__put_attribute(out, "cx", mw__plot_scale_at(&c->x, x));
    mw__put_attribute(out, "cy", mw__plot_scale_at(&c->y, y));
    mw__text_puts(out, "/>");
}

void mw__numbers_end(mw__text *out) { mw__text_puts(out, "</svg>\n"); }

/* ---- sums ---- */

typedef struct value_sums {
    const mw_report_numbers *n;
    const char *name;
    size_t used;                           /* both finite */
    double low, high;                      /* of both */
    double error_low, error_high;          /* predicted - true */
    double sum, sum_of_sizes, sum_squared; /* of errors */
} value_sums;

static bool is_used(const mw_report_numbers *n, size_t i)
{
    return isfinite((double)n->predicted[i]) && isfinite((double)n->truth[i]);
}

static double error_of(const mw_report_numbers *n, size_t i) { return (double)n->predicted[i] - (double)n->truth[i]; }

static value_sums sum_values(const mw_report_numbers *n)
{
    value_sums s = {.n = n,
                    .name = n->name != NULL ? n->name : "value",
                    .low = INFINITY,
                    .high = -INFINITY,
                    .error_low = INFINITY,
                    .error_high = -INFINITY};
    for (size_t i = 0; i < n->count; i++) {
        if (!is_used(n, i))
            continue;
        const double error = error_of(n, i);
        s.low = fmin(s.low, fmin((double)n->predicted[i], (double)n->truth[i]));
        s.high = fmax(s.high, fmax((double)n->predicted[i], (double)n->truth[i]));
        s.error_low = fmin(s.error_low, error);
        s.error_high = fmax(s.error_high, error);
        s.sum += error;
        s.sum_of_sizes += fabs(error);
        s.sum_squared += error * error;
        s.used++;
    }
    return s;
}

static void put_figure(const char *words, double value, mw__text *out)
{
    mw__text_printf(out, "%s <b>%s", words, value < 0.0 ? "-" : "");
    if (fabs(value) >= 1e4 && fabs(value) < 1e15)
        mw__put_digits(out, (uint64_t)(fabs(value) + 0.5));
    else
        mw__put_significant(out, fabs(value), 4);
    mw__text_puts(out, "</b>");
}

/* So many points are read, of which one is drawn. */
static size_t drawn_every(size_t count) { return (count + DRAWN_MAX - 1) / DRAWN_MAX; }

static void put_figures(const value_sums *s, mw__text *out)
{
    const double count = (double)s->used;
    mw__text_printf(out, "<p>%zu examples%s", s->used, s->used < s->n->count ? " with finite numbers" : "");
    put_figure(": mean absolute error", s->sum_of_sizes / count, out);
    put_figure(", root of the mean square", sqrt(s->sum_squared / count), out);
    put_figure(", mean residual", s->sum / count, out);
    mw__text_puts(out, ".");
    if (drawn_every(s->n->count) > 1)
        mw__text_printf(out, " One example in %zu is drawn.", drawn_every(s->n->count));
    mw__text_puts(out, "</p>\n");
}

/* ---- the charts ---- */

static void put_scatter(const value_sums *s, mw__text *out)
{
    const size_t every = drawn_every(s->n->count);
    mw__numbers_chart c = {.title = "Predicted over true",
                           .x_name = "true",
                           .y_name = "predicted",
                           .x_of = s->name,
                           .y_of = s->name,
                           .x_low = s->low,
                           .x_high = s->high,
                           .y_low = s->low,
                           .y_high = s->high};
    mw__numbers_begin(&c, out);
    const double low = fmax(c.x.low, c.y.low), high = fmin(c.x.high, c.y.high);
    mw__numbers_guide(&c, low, low, high, high, out);
    mw__text_puts(out, "<g class=\"d0\" fill-opacity=\"0.55\">");
    for (size_t i = 0; i < s->n->count; i += every)
        if (is_used(s->n, i))
            mw__numbers_point(&c, (double)s->n->truth[i], (double)s->n->predicted[i], 2, out);
    mw__text_puts(out, "</g>\n");
    mw__numbers_end(out);
}

/* Counts of errors between the round ends of an axis: *out_most is the largest. */
static void count_errors(const value_sums *s, const mw__plot_scale *x, size_t counts[BINS], size_t *out_most)
{
    *out_most = 0;
    for (size_t i = 0; i < s->n->count; i++) {
        if (!is_used(s->n, i))
            continue;
        const double place = (error_of(s->n, i) - x->low) / (x->high - x->low) * BINS;
        const size_t bin = place > 0.0 ? (place < BINS ? (size_t)place : BINS - 1) : 0;
        counts[bin]++;
        *out_most = counts[bin] > *out_most ? counts[bin] : *out_most;
    }
}

static void put_bar(const mw__numbers_chart *c, size_t bin, size_t count, mw__text *out)
{
    const double width = (c->x.to - c->x.from) / BINS, top = mw__plot_scale_at(&c->y, (double)count);
    mw__text_puts(out, "<rect class=\"area\"");
    mw__put_attribute(out, "x", c->x.from + (double)bin * width);
    mw__put_attribute(out, "y", top);
    mw__put_attribute(out, "width", width);
    mw__put_attribute(out, "height", c->y.from - top);
    mw__text_printf(out, "><title>%zu examples</title></rect>", count);
}

static void put_errors(const value_sums *s, mw__text *out)
{
    size_t counts[BINS] = {0}, most;
    const mw__plot_scale x = mw__plot_scale_make(s->error_low, s->error_high, false, 0, WIDTH - LEFT - RIGHT, 70);
    count_errors(s, &x, counts, &most);
    mw__numbers_chart c = {.title = "Residuals",
                           .x_name = "predicted - true",
                           .x_of = s->name,
                           .y_name = "examples",
                           .x_low = x.low,
                           .x_high = x.high,
                           .y_high = (double)most};
    mw__numbers_begin(&c, out);
    for (size_t i = 0; i < BINS; i++)
        if (counts[i] > 0)
            put_bar(&c, i, counts[i], out);
    if (c.x.low < 0.0 && c.x.high > 0.0)
        mw__numbers_guide(&c, 0, 0, 0, c.y.high, out);
    mw__numbers_end(out);
}

static void put_values(const mw__report *r, const mw_report_numbers *n)
{
    const value_sums s = sum_values(n);
    mw__text_puts(r->out, "<h3>");
    mw__put_escaped(r->out, s.name, 80);
    mw__text_puts(r->out, "</h3>\n");
    if (s.used == 0) {
        mw__text_puts(r->out, "<p>No example has finite numbers.</p>\n");
        return;
    }
    put_figures(&s, r->out);
    mw__text_puts(r->out, "<div class=\"charts\">\n");
    put_scatter(&s, r->out);
    put_errors(&s, r->out);
    mw__text_puts(r->out, "</div>\n");
}

mw_status mw__page_numbers(const mw__report *r)
{
    const mw_report_options *o = &r->options;
    if (o->number_count == 0 && r->sure.count == 0)
        return MW_OK;
    mw__section(r->out, "Predicted and true");
    mw__put_plot_style(r->out);
    if (r->sure.count > 0)
        MW_TRY(mw__page_yes(r, &r->sure));
    for (size_t i = 0; i < o->number_count; i++) {
        if (o->numbers[i].is_probability)
            MW_TRY(mw__page_yes(r, &o->numbers[i]));
        else
            put_values(r, &o->numbers[i]);
    }
    mw__section_end(r->out);
    return MW_OK;
}

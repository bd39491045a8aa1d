/* One chart: axes with round numbers, curves, marks where values are not finite, a legend. */
#include "base/text/printable.h"
#include "view/markup.h"
#include "view/plot.h"

#include <math.h>
#include <string.h>

enum {
    LEFT = 58,
    RIGHT = 14,
    BOTTOM = 36,
    TITLE = 24,
    ROW = 16,
    LEGEND = 32,
    SWATCH = 18,
    COLORS = 7,
    SMOOTHED_LEAST = 32
};

/* ---- legend ---- */

static bool has_legend(const mw__chart *chart)
{
    return chart->line_count > 1 || strcmp(chart->lines[0].label, chart->title) != 0;
}

/* Names for people: "Gradient norm" of "gradient_norm"; others as they are, with blanks. */
static void put_name(const char *name, size_t length, bool begins, mw__text *out)
{
    for (size_t i = 0; i < length; i++) {
        const bool raises = begins && i == 0 && name[i] >= 'a' && name[i] <= 'z';
        mw__text_printf(out, "%c", raises ? name[i] - 'a' + 'A' : name[i] == '_' ? ' ' : name[i]);
    }
}

/* What the metrics files call by a short name, with its unit. */
static const char *name_of(const char *title)
{
    static const struct {
        const char *title, *name;
    } rows[] = {{"rss_bytes", "Memory of the process (bytes)"},
                {"bytes", "Memory (bytes)"},
                {"seconds_per_step", "Time of a step (s)"},
                {"mae", "Mean absolute error"},
                {"auc", "Area below the ROC curve"},
                {"lr", "Learning rate"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].title, title) == 0)
            return rows[i].name;
    return title;
}

/* Whether the chart has the same figure of a validation set. */
static bool has_validation(const mw__chart *chart)
{
    for (size_t i = 0; i < chart->line_count; i++)
        if (strncmp(chart->lines[i].label, "validation/", strlen("validation/")) == 0)
            return true;
    return false;
}

/* "validation" of "validation/loss", "training" beside it; with several runs "validation, run 2". */
static void put_label(const mw__plot *p, const mw__chart *chart, const mw__line *line, mw__text *out)
{
    const bool same = strcmp(line->label, chart->title) == 0, beside = has_validation(chart);
    const bool shown = p->run_count == 1 || !same || beside;
    if (same && beside)
        mw__text_puts(out, "training");
    else if (shown && strncmp(line->label, "validation/", strlen("validation/")) == 0)
        mw__text_puts(out, "validation");
    else if (shown && strncmp(line->label, "epoch/", strlen("epoch/")) == 0)
        mw__text_puts(out, "mean of the epoch");
    else if (shown)
        mw__text_puts(out, line->label);
    if (p->run_count > 1) {
        mw__text_puts(out, shown ? ", " : "");
        mw__text_puts(out, p->names[line->run]);
    }
}

typedef struct legend {
    const mw__plot *plot;
    const mw__chart *chart;
    double x, y, width, at;
    size_t rows;
    mw__text label;
} legend;

static void begin_entry(legend *l, double width)
{
    if (l->at > 0.0 && l->at + width > l->width) {
        l->at = 0.0;
        l->rows++;
    }
}

static double entry_width(legend *l, size_t index, size_t longest)
{
    l->label.size = 0;
    mw__text_puts(&l->label, "");
    put_label(l->plot, l->chart, &l->chart->lines[index], &l->label);
    return SWATCH +
           mw__view_text_width(mw__view_printable_length(l->label.data != NULL ? l->label.data : "", longest), 10) + 12;
}

static size_t label_room(const legend *l)
{
    const size_t room = mw__view_text_capacity(l->width - SWATCH - 14, 10);
    return room < LEGEND ? room : LEGEND;
}

static size_t count_rows(const mw__plot *p, const mw__chart *chart, double width)
{
    legend l = {.plot = p, .chart = chart, .width = width, .rows = 1};
    mw__text_init(&l.label, NULL);
    for (size_t i = 0; i < chart->line_count; i++) {
        const double own = entry_width(&l, i, label_room(&l));
        begin_entry(&l, own);
        l.at += own;
    }
    mw__text_deinit(&l.label);
    return l.rows;
}

double mw__chart_head(const mw__plot *p, const mw__chart *chart, double width)
{
    const double rows = has_legend(chart) ? (double)count_rows(p, chart, width - LEFT - RIGHT) : 0.0;
    return TITLE + rows * ROW + 4;
}

/* ---- looks ---- */

static size_t color_of(const mw__plot *p, const mw__line *line)
{
    return (p->run_count > 1 ? line->run : line->index) % COLORS;
}

static void put_look(const mw__plot *p, const mw__line *line, bool raw, mw__text *out)
{
    static const char *const dashes[] = {"", "6 3", "2 3", "8 3 2 3"};
    const size_t dash = (p->run_count > 1 ? line->index : line->index / COLORS) % 4;
    mw__text_printf(out, " class=\"l%zu\"", color_of(p, line));
    if (dash > 0)
        mw__text_printf(out, " stroke-dasharray=\"%s\"", dashes[dash]);
    if (raw)
        mw__text_puts(out, " opacity=\"0.3\"");
}

static void put_legend(const mw__plot *p, const mw__chart *chart, mw__frame f, mw__text *out)
{
    legend l = {
        .plot = p, .chart = chart, .width = f.width - LEFT - RIGHT, .x = f.x + LEFT, .y = f.y + TITLE, .rows = 1};
    mw__text_init(&l.label, NULL);
    for (size_t i = 0; i < chart->line_count; i++) {
        const size_t room = label_room(&l);
        const double width = entry_width(&l, i, room);
        begin_entry(&l, width);
        const double x = l.x + l.at, y = l.y + (double)l.rows * ROW - 4;
        mw__text_puts(out, "<path");
        put_look(p, &chart->lines[i], false, out);
        mw__text_puts(out, " d=\"M");
        mw__put_fixed(out, x, 1);
        mw__text_puts(out, " ");
        mw__put_fixed(out, y - 3, 1);
        mw__text_printf(out, "h%d\"/><text", SWATCH - 5);
        mw__put_attribute(out, "x", x + SWATCH);
        mw__put_attribute(out, "y", y);
        mw__text_puts(out, " font-size=\"10\" class=\"dim\">");
        mw__put_escaped(out, l.label.data != NULL ? l.label.data : "", room);
        mw__text_puts(out, "</text>\n");
        l.at += width;
    }
    mw__text_deinit(&l.label);
}

/* ---- extents ---- */

typedef struct extents {
    double x0, x1, y0, y1;
    bool log, any;
} extents;

static void meet(extents *e, const mw__point *point)
{
    if (!isfinite(point->x))
        return;
    e->x0 = point->x < e->x0 ? point->x : e->x0;
    e->x1 = point->x > e->x1 ? point->x : e->x1;
    if (!isfinite(point->y))
        return;
    e->any = true;
    e->log = e->log && point->y > 0.0;
    e->y0 = point->y < e->y0 ? point->y : e->y0;
    e->y1 = point->y > e->y1 ? point->y : e->y1;
}

static extents measure_chart(const mw__plot *p, const mw__chart *chart)
{
    extents e = {.x0 = INFINITY, .x1 = -INFINITY, .y0 = INFINITY, .y1 = -INFINITY, .log = p->options.log_scale};
    for (size_t i = 0; i < chart->line_count; i++)
        for (size_t k = 0; k < chart->lines[i].curve->count; k++)
            meet(&e, &chart->lines[i].curve->points[k]);
    if (!(e.x0 <= e.x1))
        e.x0 = e.x1 = 0.0;
    e.log = e.log && e.y1 >= 4.0 * e.y0; /* less has no round number on such a scale */
    if (!e.any) {
        e.y0 = 0.0;
        e.y1 = 1.0;
        e.log = false;
    }
    return e;
}

/* ---- axes ---- */

static void put_grid_line(mw__text *out, double x0, double y0, double x1, double y1)
{
    mw__text_puts(out, "<line class=\"grid\"");
    mw__put_attribute(out, "x1", x0);
    mw__put_attribute(out, "y1", y0);
    mw__put_attribute(out, "x2", x1);
    mw__put_attribute(out, "y2", y1);
    mw__text_puts(out, "/>");
}

static void put_tick_text(mw__text *out, double x, double y, const char *anchor, double value, double step)
{
    mw__text_puts(out, "<text");
    mw__put_attribute(out, "x", x);
    mw__put_attribute(out, "y", y);
    mw__text_printf(out, " font-size=\"10\" class=\"dim\" text-anchor=\"%s\">", anchor);
    mw__put_tick(out, value, step);
    mw__text_puts(out, "</text>\n");
}

void mw__put_axes(const mw__plot_scale *x, const mw__plot_scale *y, mw__text *out)
{
    for (size_t i = 0; i < y->tick_count; i++) {
        const double value = y->log ? pow(10.0, y->ticks[i]) : y->ticks[i], at = mw__plot_scale_at(y, value);
        put_grid_line(out, x->from, at, x->to, at);
        put_tick_text(out, x->from - 6, at + 3.5, "end", value, y->log ? 0.0 : y->step);
    }
    double end = -INFINITY; /* of the last text */
    for (size_t i = 0; i < x->tick_count; i++) {
        mw__text text;
        mw__text_init(&text, NULL);
        mw__put_tick(&text, x->ticks[i], x->step);
        const double at = mw__plot_scale_at(x, x->ticks[i]), half = mw__view_text_width(text.size, 10) / 2;
        mw__text_deinit(&text);
        put_grid_line(out, at, y->from, at, y->from + 4);
        if (at - half < end + 6 || at + half > x->to + RIGHT)
            continue;
        put_tick_text(out, at, y->from + 16, "middle", x->ticks[i], x->step);
        end = at + half;
    }
}

/* ---- curves ---- */

typedef struct pen {
    const mw__plot_scale *x, *y;
    mw__text *out;
    bool down;
    double at, first, least, most, last; /* the column of pixels that is being gathered */
    bool gathering;
} pen;

static void put_vertex(pen *pen_, double x, double y)
{
    mw__text_puts(pen_->out, pen_->down ? "L" : "M");
    mw__put_fixed(pen_->out, x, 1);
    mw__text_puts(pen_->out, " ");
    mw__put_fixed(pen_->out, y, 1);
    pen_->down = true;
}

/* What is in one column of pixels: where it comes in, its extremes, where it goes out. */
static void flush_column(pen *pen_)
{
    if (!pen_->gathering)
        return;
    put_vertex(pen_, pen_->at, pen_->first);
    if (pen_->least != pen_->first && pen_->least != pen_->last)
        put_vertex(pen_, pen_->at, pen_->least);
    if (pen_->most != pen_->first && pen_->most != pen_->last)
        put_vertex(pen_, pen_->at, pen_->most);
    if (pen_->last != pen_->first)
        put_vertex(pen_, pen_->at, pen_->last);
    pen_->gathering = false;
}

static void add_vertex(pen *pen_, double x, double y)
{
    if (pen_->gathering && fabs(x - pen_->at) < 0.5) {
        pen_->least = y < pen_->least ? y : pen_->least;
        pen_->most = y > pen_->most ? y : pen_->most;
        pen_->last = y;
        return;
    }
    flush_column(pen_);
    pen_->at = x;
    pen_->first = pen_->least = pen_->most = pen_->last = y;
    pen_->gathering = true;
}

static void lift(pen *pen_)
{
    flush_column(pen_);
    pen_->down = false;
}

static bool is_smoothed(const mw__plot *p, const mw__line *line)
{
    return p->options.smoothing > 0.0 && line->curve->count >= SMOOTHED_LEAST;
}

static void put_curve(const mw__plot *p, const mw__line *line, const mw__plot_scale *x, const mw__plot_scale *y,
                      bool smooth, mw__text *out)
{
    pen own = {.x = x, .y = y, .out = out};
    const double keep = smooth ? p->options.smoothing : 0.0;
    double mean = 0.0, weight = 0.0;
    mw__text_puts(out, "<path");
    put_look(p, line, !smooth && is_smoothed(p, line), out);
    mw__text_puts(out, " d=\"");
    for (size_t i = 0; i < line->curve->count; i++) {
        const mw__point *point = &line->curve->points[i];
        if (!isfinite(point->x) || !isfinite(point->y)) {
            lift(&own);
            continue;
        }
        mean = keep * mean + (1.0 - keep) * point->y;
        weight = keep * weight + (1.0 - keep);
        add_vertex(&own, mw__plot_scale_at(x, point->x), mw__plot_scale_at(y, mean / weight));
    }
    lift(&own);
    mw__text_puts(out, "\"/>\n");
}

/* A curve of one point has no length. */
static void put_single_points(const mw__plot *p, const mw__line *line, const mw__plot_scale *x, const mw__plot_scale *y,
                              mw__text *out)
{
    const mw__curve *c = line->curve;
    for (size_t i = 0; i < c->count && c->count <= 64; i++) {
        if (!isfinite(c->points[i].y) || !isfinite(c->points[i].x))
            continue;
        mw__text_printf(out, "<circle class=\"d%zu\" r=\"2.2\"", color_of(p, line));
        mw__put_attribute(out, "cx", mw__plot_scale_at(x, c->points[i].x));
        mw__put_attribute(out, "cy", mw__plot_scale_at(y, c->points[i].y));
        mw__text_puts(out, "/>");
    }
}

/* A mark above for each value that is not finite; one for each pixel at most. */
static void put_marks(const mw__line *line, const mw__plot_scale *x, const mw__plot_scale *y, mw__text *out)
{
    double last = -INFINITY;
    for (size_t i = 0; i < line->curve->count; i++) {
        const mw__point *point = &line->curve->points[i];
        const double at = isfinite(point->x) ? mw__plot_scale_at(x, point->x) : last;
        if (isfinite(point->y) || at - last < 1.0)
            continue;
        mw__text_puts(out, "<path class=\"bad\" d=\"M");
        mw__put_fixed(out, at, 1);
        mw__text_puts(out, " ");
        mw__put_fixed(out, y->to, 1);
        mw__text_puts(out, "l-3 -6h6z\"/>");
        last = at;
    }
}

/* ---- all ---- */

static void put_title(const mw__chart *chart, mw__frame f, mw__text *out)
{
    const size_t room = mw__view_text_capacity(f.width - LEFT - RIGHT - 90, 12);
    mw__text_puts(out, "<text");
    mw__put_attribute(out, "x", f.x + LEFT);
    mw__put_attribute(out, "y", f.y + 16);
    mw__text_puts(out, " font-size=\"12\" font-weight=\"bold\">");
    const char *name = name_of(chart->title);
    const size_t length = strlen(name);
    mw__text title;
    mw__text_init(&title, NULL);
    const bool of_each = length > 0 && name[length - 1] == '/';
    const bool is_watched = strncmp(chart->title, "watch/", strlen("watch/")) == 0;
    if (is_watched) /* the name of a tensor stays */
        mw__text_puts(&title, chart->title);
    else
        put_name(name, length - (of_each ? 1 : 0), true, &title);
    mw__text_puts(&title, of_each ? " of each parameter" : "");
    mw__put_escaped(out, title.data != NULL ? title.data : "", room);
    mw__text_deinit(&title);
    mw__text_puts(out, "</text>\n");
    if (chart->left_out == 0)
        return;
    mw__text_puts(out, "<text");
    mw__put_attribute(out, "x", f.x + f.width - RIGHT);
    mw__put_attribute(out, "y", f.y + 16);
    mw__text_printf(out, " font-size=\"10\" class=\"dim\" text-anchor=\"end\">%zu not shown</text>\n", chart->left_out);
}

/* What the axis below counts, at its end. */
static void put_axis_name(mw__frame f, mw__text *out)
{
    mw__text_puts(out, "<text");
    mw__put_attribute(out, "x", f.x + f.width - RIGHT);
    mw__put_attribute(out, "y", f.y + f.height - 6);
    mw__text_puts(out, " font-size=\"10\" class=\"dim\" text-anchor=\"end\">step</text>\n");
}

void mw__put_chart(const mw__plot *p, const mw__chart *chart, mw__frame f, double head, mw__text *out)
{
    const extents e = measure_chart(p, chart);
    const mw__plot_scale x = mw__plot_scale_make(e.x0, e.x1, false, f.x + LEFT, f.x + f.width - RIGHT, 70);
    const mw__plot_scale y = mw__plot_scale_make(e.y0, e.y1, e.log, f.y + f.height - BOTTOM, f.y + head + 6, 30);
    put_title(chart, f, out);
    if (has_legend(chart))
        put_legend(p, chart, f, out);
    mw__plot_scale fitted = x; /* the axis below ends where the curves do */
    fitted.low = e.x0 < e.x1 ? e.x0 : x.low;
    fitted.high = e.x0 < e.x1 ? e.x1 : x.high;
    fitted.tick_count = 0;
    for (size_t i = 0; i < x.tick_count; i++)
        if (x.ticks[i] >= fitted.low - x.step * 1e-6 && x.ticks[i] <= fitted.high + x.step * 1e-6)
            fitted.ticks[fitted.tick_count++] = x.ticks[i];
    mw__put_axes(&fitted, &y, out);
    put_axis_name(f, out);
    for (size_t i = 0; i < chart->line_count; i++) {
        put_curve(p, &chart->lines[i], &fitted, &y, false, out);
        if (is_smoothed(p, &chart->lines[i]))
            put_curve(p, &chart->lines[i], &fitted, &y, true, out);
        else
            put_single_points(p, &chart->lines[i], &fitted, &y, out);
        put_marks(&chart->lines[i], &fitted, &y, out);
    }
}

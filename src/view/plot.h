/* Charts: which curves stand together (plot_choose.c), scales with round numbers (plot_scale.c), one chart
 * (plot_chart.c), and the picture of all (plot.c). */
#ifndef MW__VIEW_PLOT_H
#define MW__VIEW_PLOT_H

#include "base/text/text.h"
#include "view/curves.h"

#include <millwright/plot.h>

enum {
    MW__RUNS_MAX = 8,
    MW__LINES_MAX = 8 /* of all runs together: more have no legend that is read */,
    MW__CHARTS_MAX = 128
};

typedef struct mw__line {
    const mw__curve *curve;
    const char *label;
    size_t run, index; /* of which run, and which of its curves in the chart */
} mw__line;

typedef struct mw__chart {
    const char *title;
    mw__line *lines;
    size_t line_count, left_out; /* curves that have no room */
} mw__chart;

typedef struct mw__plot {
    mw__arena *arena;
    const mw__curves *runs[MW__RUNS_MAX];
    const char *names[MW__RUNS_MAX];
    size_t run_count;
    bool keeps_constants; /* curves that never change are drawn, too */
    mw_plot_options options;
    mw__chart *charts;
    size_t chart_count, chart_room;
    mw_error *err;
} mw__plot;

/* ---- plot_scale.c ---- */

typedef struct mw__plot_scale {
    double low, high; /* of the values, or of their logarithms to base 10 */
    double from, to;  /* pixels */
    bool log;
    double ticks[16];
    size_t tick_count;
    double step; /* between ticks; 0: of a logarithm */
} mw__plot_scale;

/* Round ends and ticks for values of [low, high], about one in `apart` pixels. */
mw__plot_scale mw__plot_scale_make(double low, double high, bool log, double from, double to, double apart);
double mw__plot_scale_at(const mw__plot_scale *scale, double value);
/* "0.25", "1.5k", "1e-05": a value, as precise as ticks that are so far apart want it. */
void mw__put_tick(mw__text *out, double value, double step);

/* ---- plot_choose.c ---- */

/* Fills plot->charts. */
mw_status mw__plot_choose(mw__plot *plot);

/* ---- plot_chart.c ---- */

typedef struct mw__frame {
    double x, y, width, height;
} mw__frame;

/* The height that the chart needs above its axes for title and legend. */
double mw__chart_head(const mw__plot *plot, const mw__chart *chart, double width);
/* Lines and numbers of both axes. A number below has room up to 14 pixels behind its axis, one beside 58 before it. */
void mw__put_axes(const mw__plot_scale *x, const mw__plot_scale *y, mw__text *out);
void mw__put_chart(const mw__plot *plot, const mw__chart *chart, mw__frame frame, double head, mw__text *out);

/* ---- plot.c ---- */

/* The classes of curves and points, for svg.mw-plot. */
void mw__put_plot_style(mw__text *out);
/* Appends the picture of plot->charts. */
void mw__put_plot(const mw__plot *plot, mw__text *out);
/* Each chart as a picture of its own, for a page that puts them side by side; the style stands before the first. */
void mw__put_charts(const mw__plot *plot, mw__text *out);

#endif

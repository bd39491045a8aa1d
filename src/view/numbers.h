/* Charts of predictions: an empty one with its axes (report_values.c), values beside what is true (report_values.c),
 * probabilities of yes (report_yes.c). */
#ifndef MW__VIEW_NUMBERS_H
#define MW__VIEW_NUMBERS_H

#include "view/plot.h"
#include "view/report.h"

typedef struct mw__numbers_chart {
    const char *title, *x_name, *y_name;
    const char *x_of, *y_of; /* foreign text behind the names of the axes, or NULL */
    double x_low, x_high, y_low, y_high;
    mw__plot_scale x, y; /* made by mw__numbers_begin */
} mw__numbers_chart;

void mw__numbers_begin(mw__numbers_chart *chart, mw__text *out);
/* A broken line between two points of the axes: where all would be right. */
void mw__numbers_guide(const mw__numbers_chart *chart, double x0, double y0, double x1, double y1, mw__text *out);
void mw__numbers_point(const mw__numbers_chart *chart, double x, double y, double radius, mw__text *out);
void mw__numbers_end(mw__text *out);

/* ---- report_yes.c ---- */

mw_status mw__page_yes(const mw__report *report, const mw_report_numbers *numbers);

#endif

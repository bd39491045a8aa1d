/* A page in parts: report.c puts them together, report_run.c shows what the metrics file says, report_classes.c and
 * report_samples.c what predictions are worth, report_values.c and report_yes.c as charts, report_plan.c memory and
 * time. */
#ifndef MW__VIEW_REPORT_H
#define MW__VIEW_REPORT_H

#include "base/text/text.h"
#include "view/curves.h"

#include <millwright/report.h>

/* Counts of labels against what was predicted. */
typedef struct mw__classes {
    size_t count;
    int64_t *cells; /* [count, count], row = label */
    const char **names;
} mw__classes;

/* An example that is shown. */
typedef struct mw__report_sample {
    int64_t example, label, seen;
    double sure;           /* probability of what was seen */
    unsigned char *pixels; /* [height, width, channels] of 8 bits; NULL = values */
    int width, height, channels;
    float *values;
    size_t value_count;
} mw__report_sample;

typedef struct mw__report_samples {
    mw__report_sample *right, *wrong;
    size_t right_count, wrong_count, room;
} mw__report_samples;

typedef struct mw__report {
    mw__arena *arena;
    mw_report_options options;
    const mw_graph *graph;
    mw__curves *curves; /* NULL = no metrics */
    mw__classes classes;
    mw__report_samples samples;
    mw_report_numbers sure; /* of two classes that were predicted: of the second; count 0 = none */
    mw__text *out;
    mw_error *err;
} mw__report;

/* ---- parts ---- */

void mw__page_figures(const mw__report *report);
mw_status mw__page_curves(const mw__report *report);
void mw__page_end(const mw__report *report);
void mw__page_configuration(const mw__report *report);
void mw__page_classes(const mw__report *report);
void mw__page_samples(const mw__report *report);
/* Sorts copies of probabilities: may fail. */
mw_status mw__page_numbers(const mw__report *report);
mw_status mw__page_plan(const mw__report *report, const mw_plan *plan);

/* Fills classes and samples by predicting, or from the counts of the options. */
mw_status mw__page_predict(mw__report *report);

/* ---- writing ---- */

void mw__section(mw__text *out, const char *title);
void mw__section_end(mw__text *out);
/* A line of a table: a foreign key and value. */
void mw__page_row(mw__text *out, const char *key, const char *value);

/* ---- png.c ---- */

/* Appends the pixels, `channels` 1 or 3 of 8 bits, as a PNG in base64. Not compressed: pictures in a page are small. */
void mw__put_png(mw__text *out, const unsigned char *pixels, int width, int height, int channels);

#endif

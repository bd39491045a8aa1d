/* What mw_trainer_fit writes to streams of metrics. */
#ifndef MW__RUNTIME_FIT_FIT_METRICS_H
#define MW__RUNTIME_FIT_FIT_METRICS_H

#include "runtime/metrics/metrics.h"
#include "runtime/metrics/system.h"
#include <millwright/fit.h>

#include <millwright/trainer.h>

#define MW__METRICS_FILES_MAX 8

struct mw__fitting;

typedef struct mw__fit_metrics {
    mw_metrics *streams[MW__METRICS_FILES_MAX];
    size_t count;
    int64_t every;  /* steps between lines */
    double sum;     /* of the finite losses since the last line .. */
    int64_t losses; /* .. and how many they are */
    int64_t steps;  /* since the last line or the start of the epoch, by this call .. */
    double since;   /* .. and when that was */
    double before;  /* seconds of training in earlier calls */
    float rate;     /* of the last step */
    mw__energy energy;
    mw__arena arena; /* names of fields */
    mw__arena line;  /* the same, of one line */
    mw_metrics_field *fields;
    size_t field_count, field_capacity;
} mw__fit_metrics;

bool mw__fit_has_metrics(const mw_fit_options *options);
mw_status mw__fit_check_metrics(const mw_fit_options *options, mw_error *err);
/* Opens the streams: new ones, or as the checkpoint goes on. Rank 0 alone has some. */
mw_status mw__fit_metrics_begin(struct mw__fitting *fit, mw_error *err);
/* Behind the steps since `before`, with their losses. */
mw_status mw__fit_metrics_step(struct mw__fitting *fit, int64_t before, const float *losses, size_t count,
                               mw_error *err);
mw_status mw__fit_metrics_epoch(struct mw__fitting *fit, mw_error *err);
/* How it ended, and closes them. What fails here is said only if nothing else failed. */
mw_status mw__fit_metrics_end(struct mw__fitting *fit, mw_status status, mw_error *err);
/* Seconds of training, with those of earlier calls. */
double mw__fit_seconds(const struct mw__fitting *fit);

#endif

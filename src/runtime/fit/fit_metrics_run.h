/* The first line of a stream of metrics: what the run is. */
#ifndef MW__RUNTIME_FIT_FIT_METRICS_RUN_H
#define MW__RUNTIME_FIT_FIT_METRICS_RUN_H

#include "runtime/fit/fitting.h"

mw_status mw__fit_write_run(mw__fitting *fit, mw_metrics *stream, mw_error *err);
mw_status mw__fit_write_resume(mw__fitting *fit, mw_metrics *stream, mw_error *err);

/* ---- fit_metrics.c ---- */

/* A field of the next record; strings must live until it is written. */
mw_status mw__fit_put(mw__fitting *fit, const char *name, double value, const char *text, mw_error *err);
/* The number that a float is written as: 0.001 for 0.001f. */
double mw__fit_as_written(float value);
/* Writes them to all streams. */
mw_status mw__fit_write(mw__fitting *fit, const char *kind, int64_t step, mw_error *err);

#endif

/* Metrics of a training as a stream: numbers by name, in files that other programs read while they grow.
 *
 *     mw_fit_options fit = mw_fit_defaults(train, 5);
 *     fit.metrics.path = "run/mnist.jsonl";    // mw_trainer_fit writes all it knows
 *
 * and in a loop of one's own:
 *
 *     mw_metrics *metrics = mw_metrics_create("run/mnist.csv", NULL, &err);
 *     while (..) {
 *         const mw_metrics_field fields[] = {{.name = "loss", .value = loss}, {.name = "accuracy", .value = accuracy}};
 *         mw_metrics_write(metrics, "step", step, fields, 2, &err);
 *     }
 *     mw_metrics_destroy(metrics);
 *
 * The end of the path says what is written (docs/metrics.md has every byte of it):
 *     ".jsonl", ".ndjson"                   JSON Lines, one object a record
 *     ".csv"                                a table, one row a record, a column for each name that came so far
 *     "/", a folder, a name with "tfevents" an event file of TensorBoard; its name in a folder is
 *                                           "events.out.tfevents.0.millwright"
 *
 * A record is in the file, whole, when mw_metrics_write returns, and a disk that is full leaves whole records. A
 * process that is killed within that call may leave a part of one at the end, without its line end; readers leave it
 * out, and going on removes it. What stands at the path is replaced if it is such a file; anything else is refused.
 *
 * Threads: calls on one stream come one at a time, from any thread. */
#ifndef MILLWRIGHT_METRICS_H
#define MILLWRIGHT_METRICS_H

#include <millwright/status.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mw_metrics mw_metrics;

typedef enum mw_metrics_format {
    MW_METRICS_BY_PATH = 0,
    MW_METRICS_JSONL = 1,
    MW_METRICS_CSV = 2,
    MW_METRICS_EVENTS = 3 /* of TensorBoard */
} mw_metrics_format;

/** How to make a stream. Fill with mw_metrics_defaults. */
typedef struct mw_metrics_options {
    size_t struct_size;
    mw_metrics_format format;
    bool resume;  /* go on with what is at the path, if it is there: records of steps beyond `step`, and one that a
                   * killed process did not finish, are dropped first */
    int64_t step; /* 0 or more */
    const mw_allocator *allocator;
} mw_metrics_options;

/** Returns the default options: a new file, of the format that its path ends in. */
MW_API mw_metrics_options mw_metrics_defaults(void);

/** Makes a stream; folders on the way are made.
 *  options  NULL = mw_metrics_defaults()
 *  errors  MW_ERROR_ARGUMENT for a path that says no format; MW_ERROR_FILE if it cannot be written, or if what is there
 *          is no file of this format that this library wrote */
MW_API mw_metrics *mw_metrics_create(const char *path, const mw_metrics_options *options, mw_error *err);

/** One value of a record. */
typedef struct mw_metrics_field {
    const char
        *name;    /* UTF-8 without control characters, at most 1100 bytes; "/" groups names, as in "validation/loss" */
    double value; /* NaN and infinities are values, too */
    const char *text; /* not NULL: the value is this text, and `value` is not looked at. CSV leaves it out */
} mw_metrics_field;

/** Appends one record.
 *  kind    "step", "epoch" or what you like: 1 to 31 letters, digits, "_", "-" or "."; CSV leaves out "run", "resume"
 *          and "end", which are about the whole
 *  step    0 or more; what a record without steps belongs to is 0
 *  fields  [count]; no name twice, and none is "kind", "step" or "non_finite"
 *  errors  MW_ERROR_ARGUMENT, and nothing is written; MW_ERROR_FILE if the system refuses: then the file ends with the
 *          record before */
MW_API mw_status mw_metrics_write(mw_metrics *metrics, const char *kind, int64_t step, const mw_metrics_field *fields,
                                  size_t count, mw_error *err);

/** Closes the stream and frees it. NULL is fine. */
MW_API void mw_metrics_destroy(mw_metrics *metrics);

#ifdef __cplusplus
}
#endif
#endif

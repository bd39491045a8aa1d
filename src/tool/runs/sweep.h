/* Several trainings of one recipe with different numbers, each in a process of its own. */
#ifndef MW__TOOL_RUNS_SWEEP_H
#define MW__TOOL_RUNS_SWEEP_H

#include "tool/train/recipe.h"

enum { SWEEP_RUNS_MAX = 1000, SWEEP_NAME_BYTES = 64, SWEEP_SAID_BYTES = 400 };

typedef enum sweep_number { SWEEP_RATE, SWEEP_BATCH, SWEEP_EPOCHS } sweep_number;

/* What one training came to. */
typedef struct sweep_result {
    bool done;
    char set[16], metric[SWEEP_NAME_BYTES]; /* "validation"; the first metric, or "" */
    double loss, value;
    char said[SWEEP_SAID_BYTES]; /* why it failed */
} sweep_result;

typedef struct sweep {
    const char *config, *run; /* the recipe; the folder that gets a folder for each training */
    recipe_overrides over;
    sweep_number number;
    double low, high;
    int values, seeds;     /* how many */
    int64_t seed;          /* the first */
    int jobs;              /* at a time */
    sweep_result *results; /* [values][seeds] */
} sweep;

double sweep_value(const sweep *s, int index);
/* "lr=0.001"; its folders are "lr=0.001-1" and so on, by the seeds. */
const char *sweep_name(const sweep *s, int index, char out[SWEEP_NAME_BYTES]);
/* Fills the results. False with call->err set if there were no processes. */
bool sweep_run(sweep *s, const tool_call *call);

/* Mean and deviation of the trainings of a value that are done; false if there are none. */
bool sweep_mean(const sweep *s, int index, bool metric, double *out_mean, double *out_deviation);
/* The value with the lowest mean loss; -1 if none is done. */
int sweep_best(const sweep *s);
/* Mean and band of one deviation over the logarithm of the value, as SVG. */
bool sweep_draw(const sweep *s, const char *path, mw_error *err);

#endif

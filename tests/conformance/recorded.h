/* A recorded case of an operator test: model.mil with its weights, what its inputs are fed and what its results should
 * be, in values.safetensors (`in.<port>`, flat; `out.<k>`, in the order of the function's results; the tolerance of the
 * test in the metadata). Every number is read into double, which holds each of these types exactly. */
#ifndef TESTS_CONFORMANCE_RECORDED_H
#define TESTS_CONFORMANCE_RECORDED_H

#include "format/tensors/safetensors.h"
#include <millwright/millwright.h>

#define RECORDED_RESULTS 32

typedef struct recorded {
    char folder[512];
    mw__safetensors values;
    double atol, rtol;
} recorded;

/* The results of one run, as numbers. */
typedef struct results {
    double *element[RECORDED_RESULTS];
    size_t elements[RECORDED_RESULTS];
    mw_dtype dtype[RECORDED_RESULTS];
    size_t count;
    size_t computing; /* operations of the program that was run whose results are rounded */
    bool holds_half;  /* some value of that program is fp16 */
} results;

/* What is rounded to fp16 before a run: nothing, or all that is fed and all constants, as for a device of fp16. */
typedef enum rounding { EXACT, ROUNDED } rounding;

mw_status recorded_open(recorded *r, const char *folder, mw_error *err);
void recorded_close(recorded *r);

/* The program; NULL with err set. */
mw_graph *recorded_graph(const recorded *r, mw_error *err);
/* How many operations of its functions the table does not know. */
size_t recorded_unknown(const mw_graph *graph);

/* The results that are wanted. */
mw_status recorded_wanted(const recorded *r, results *out, mw_error *err);
/* Compiles for the device, feeds, runs. */
mw_status recorded_run(const recorded *r, mw_graph *graph, mw_device device, rounding round, results *out,
                       mw_error *err);
void results_free(results *r);

#endif

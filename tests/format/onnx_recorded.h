/* Models of tests/data/onnx that PyTorch exported, with what it computed. */
#ifndef TESTS_FORMAT_ONNX_RECORDED_H
#define TESTS_FORMAT_ONNX_RECORDED_H

#include <millwright/millwright.h>

typedef struct onnx_recorded {
    const char *name;
    mw_shape x, y;
    double tolerance; /* of the results, to themselves and 1; sums in another order */
    bool integers;    /* x is of indices */
    const char *head; /* pattern of the weights whose training is recorded too; or NULL */
} onnx_recorded;

enum { ONNX_STEPS = 50 };

/* x, y and then, with a head, the losses of ONNX_STEPS steps; to be freed. NULL if they are not there. */
float *onnx_recorded_values(const onnx_recorded *r);

/* The graph for the recorded batch ("batch") and second extent ("time"). */
mw_graph *onnx_recorded_graph(const onnx_recorded *r, mw_error *err);

/* The same with `?` for these two. */
mw_graph *onnx_recorded_open(const onnx_recorded *r, mw_error *err);

/* What the graph computes for x; to be freed. */
float *onnx_recorded_run(const onnx_recorded *r, const mw_graph *graph, const float *x, mw_error *err);

/* Checks that `actual` is near `expected`; `what` stands in the message. */
void onnx_recorded_compare(const onnx_recorded *r, const float *actual, const float *expected, double tolerance,
                           const char *what);

#endif

/* A model made by hand, read and run on the engine. */
#ifndef TESTS_FORMAT_ONNX_RUN_H
#define TESTS_FORMAT_ONNX_RUN_H

#include "onnx_bytes.h"

#include <millwright/millwright.h>

/* Reads the bytes as a file "model.onnx" of the folder that is entered. */
mw_graph *onnx_read_bytes(const onnx_bytes *model, const mw_onnx_options *options, mw_error *err);

/* Begins a graph with the input x and the output y. */
onnx_bytes onnx_begin(const int64_t *extents, int rank);

/* Runs a graph of one float input x, or none, and checks the output y against `y`, of `y_count` elements, to 1e-5. The
 * call is named `what` in messages. */
void onnx_check_run(const char *what, const onnx_bytes *model, const float *x, size_t x_count, const double *y,
                    size_t y_count);

#endif

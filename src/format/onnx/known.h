/* What is computed when a file is read: elements that are known, and how the room above computes what is not obvious.
 */
#ifndef MW__FORMAT_ONNX_KNOWN_H
#define MW__FORMAT_ONNX_KNOWN_H

#include "graph/ir.h"

#include <millwright/onnx.h>

/* Computes the one output of a graph without inputs, as doubles. MW_ERROR_UNSUPPORTED where nothing can compute it. */
typedef mw_status mw__onnx_evaluator(const mw_graph *graph, double *out, size_t count, mw_error *err);

/* mw_onnx_read with an evaluator, or NULL. */
mw_graph *mw__onnx_read(const char *path, const mw_onnx_options *options, mw__onnx_evaluator *evaluator, mw_error *err);

#endif

/* What is computed when a file is read: elements that are known, and how the room above computes what is not obvious.
 */
#ifndef MW__FORMAT_ONNX_KNOWN_H
#define MW__FORMAT_ONNX_KNOWN_H

#include "graph/ir/ir.h"

#include <millwright/onnx.h>

/* Computes the outputs of a graph without inputs, as doubles: out[i] has room for those of output i. A failure but that
 * of memory says that they are not known. */
typedef mw_status mw__onnx_evaluator(const mw_graph *graph, double *const *out, mw_error *err);

/* mw_graph_open_onnx with an evaluator, or NULL. */
mw_graph *mw__onnx_read(const char *path, const mw_onnx_options *options, mw__onnx_evaluator *evaluator, mw_error *err);

#endif

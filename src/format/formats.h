/* What the runtime takes of the formats: ONNX files read with its help, and writers behind mw_graph_write. */
#ifndef MW__FORMAT_FORMATS_H
#define MW__FORMAT_FORMATS_H

#include "base/visible.h"
#include "graph/ir/ir.h"

#include <millwright/onnx.h>
#include <millwright/write.h>

/* Computes the outputs of a graph without inputs, as doubles: out[i] has room for those of output i. A failure but that
 * of memory says that they are not known. */
typedef mw_status mw__onnx_evaluator(const mw_graph *graph, double *const *out, mw_error *err);

/* mw_graph_open_onnx with an evaluator, or NULL. */
mw_graph *mw__onnx_read(const char *path, const mw_onnx_options *options, mw__onnx_evaluator *evaluator, mw_error *err);

/* Graph and options are checked. ONNX: one function, as operator set 17; what is not supported is told to
 * options->report. Core ML: all functions, as a package. */
mw_status mw__onnx_write(const mw_graph *graph, const char *path, const mw_write_options *options, mw_error *err);
mw_status mw__coreml_write(const mw_graph *graph, const char *path, const mw_write_options *options, mw_error *err);

/* mw_onnx_check. */
MW__SIBLING mw_status mw__onnx_check_file(const char *path, mw_error *err);

#endif

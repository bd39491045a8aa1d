/* Whether an ONNX file is what its operators' published schema asks for.
 *
 *     if (mw_onnx_check("net.onnx", &err) != MW_OK)
 *         fprintf(stderr, "%s\n", err.message);    // node "Mul_3": input 1 is int64, and the schema takes ..
 *
 * In libmillwright_inspect (<millwright/inspect.h>).
 *
 * Threads: calls may be made from any thread at the same time. */
#ifndef MILLWRIGHT_ONNX_CHECK_H
#define MILLWRIGHT_ONNX_CHECK_H

#include <millwright/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Holds a file of operator set 17, as mw_graph_write writes them, to the published schema of its operators: which
 *  there are, their inputs and attributes, and the element types and ranks of every value. It reads nothing else, and
 *  shares no rule with mw_graph_open_onnx and mw_graph_write. mw_graph_write does the same before it writes.
 *  errors  MW_ERROR_FORMAT, naming the node and the rule; MW_ERROR_UNSUPPORTED for another operator set, and in a build
 *          without protobuf-c; MW_ERROR_FILE */
MW_API mw_status mw_onnx_check(const char *path, mw_error *err);

#ifdef __cplusplus
}
#endif
#endif

/* Models that were written, each with numbers that it takes and what our engine makes of them, for
 * tests/client/onnxruntime.mjs: NAME.onnx, NAME.case (a line for the title and each port) and NAME.f64 (their values).
 */
#ifndef TESTS_FORMAT_ONNX_KEPT_H
#define TESTS_FORMAT_ONNX_KEPT_H

#include <millwright/millwright.h>

typedef struct onnx_kept_port {
    const char *name, *type; /* as onnxruntime calls it, e.g. "float32" */
    mw_shape shape;
    const double *values;
} onnx_kept_port;

/* Where they are kept; NULL = nowhere. */
extern const char *onnx_kept_folder;

/* "float32" for MW_F32, ..; NULL for a type that no model here has. */
const char *onnx_kept_type(mw_dtype dtype);

/* Keeps a copy of the file `model`; the last port is the result. False if files cannot be written. */
bool onnx_kept(const char *name, const char *title, const char *model, const onnx_kept_port *ports, size_t count);

#endif

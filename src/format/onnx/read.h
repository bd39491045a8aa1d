/* Reading a model from memory, for tests and fuzzing. */
#ifndef MW__FORMAT_ONNX_READ_H
#define MW__FORMAT_ONNX_READ_H

#include <millwright/onnx.h>

/* As mw_onnx_read, of the bytes of a file.
 * name     of the file, for messages
 * path     of the model, in whose folder external data lie; NULL = they are refused
 * options  not NULL, made by mw_onnx_defaults */
mw_graph *mw__onnx_decode(const void *data, size_t size, const char *name, const char *path,
                          const mw_onnx_options *options, mw_error *err);

#endif

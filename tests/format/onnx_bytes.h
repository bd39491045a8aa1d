/* ONNX files made by hand, field by field, for tests of what a file may not say. */
#ifndef TESTS_FORMAT_ONNX_BYTES_H
#define TESTS_FORMAT_ONNX_BYTES_H

#include <stddef.h>
#include <stdint.h>

typedef struct onnx_bytes {
    unsigned char data[8192];
    size_t size;
} onnx_bytes;

void onnx_number(onnx_bytes *to, unsigned field, uint64_t value);
/* A 32-bit float. */
void onnx_float(onnx_bytes *to, unsigned field, float value);
void onnx_text(onnx_bytes *to, unsigned field, const char *text);
void onnx_raw(onnx_bytes *to, unsigned field, const void *data, size_t size);
void onnx_message(onnx_bytes *to, unsigned field, const onnx_bytes *message);

/* A node op(inputs) -> output; inputs are separated by spaces, "-" is one that is left out. */
onnx_bytes onnx_node(const char *operation, const char *inputs, const char *output);
void onnx_int_attribute(onnx_bytes *node, const char *name, int64_t value);
void onnx_ints_attribute(onnx_bytes *node, const char *name, const int64_t *values, size_t count);
void onnx_text_attribute(onnx_bytes *node, const char *name, const char *text);
/* A tensor of the graph, or of a Constant, with those extents: type 1 float, 7 int64, 9 bool, .. */
onnx_bytes onnx_tensor_of(const char *name, int type, const int64_t *extents, int rank, const void *data, size_t size);
/* An input or output of a float tensor with those extents; an extent of -1 is written as it is. */
onnx_bytes onnx_port(const char *name, const int64_t *extents, int rank);
/* x float[2, 3], or with a first dimension of that name. */
onnx_bytes onnx_value(const char *name, const char *dimension);
/* A float initializer of that shape [rows, columns], zeros. */
onnx_bytes onnx_zeros(const char *name, int rows, int columns);

/* Appends a node to a graph. */
void onnx_add_node(onnx_bytes *graph, const char *operation, const char *inputs, const char *output);
/* An attribute that is a graph, as the bodies of If and Loop are. */
void onnx_add_graph(onnx_bytes *node, const char *name, const onnx_bytes *graph);
/* An input or output of a graph by its name alone. */
void onnx_add_name(onnx_bytes *graph, unsigned field, const char *name);

/* A model of operator set 13 around a graph whose parts are appended to `graph` with onnx_message: 1 node, 5
 * initializer, 11 input, 12 output. */
onnx_bytes onnx_model(const onnx_bytes *graph);
/* The same of another operator set. */
onnx_bytes onnx_model_of(const onnx_bytes *graph, int opset);

#endif

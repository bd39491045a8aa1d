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
void onnx_text(onnx_bytes *to, unsigned field, const char *text);
void onnx_raw(onnx_bytes *to, unsigned field, const void *data, size_t size);
void onnx_message(onnx_bytes *to, unsigned field, const onnx_bytes *message);

/* A node op(inputs) -> output; inputs are separated by spaces, "-" is one that is left out. */
onnx_bytes onnx_node(const char *operation, const char *inputs, const char *output);
void onnx_int_attribute(onnx_bytes *node, const char *name, int64_t value);
/* x float[2, 3], or with a first dimension of that name. */
onnx_bytes onnx_value(const char *name, const char *dimension);
/* A float initializer of that shape [rows, columns], zeros. */
onnx_bytes onnx_zeros(const char *name, int rows, int columns);

/* A model of operator set 13 around a graph whose parts are appended to `graph` with onnx_message: 1 node, 5
 * initializer, 11 input, 12 output. */
onnx_bytes onnx_model(const onnx_bytes *graph);

#endif

/* A test of ONNX's own collection: a model, its inputs and the results that ONNX's reference gave. Tensors are decoded
 * here by a few lines of their own, so that the reader under test does not check itself. */
#ifndef TESTS_FORMAT_ONNX_CASE_H
#define TESTS_FORMAT_ONNX_CASE_H

#include <millwright/millwright.h>
#include <stdio.h>

/* Where Debian's libonnx-testdata puts it. */
#define ONNX_CASES "/usr/share/libonnx-testdata/data"

typedef struct onnx_tensor {
    char name[128];
    int type; /* of ONNX; 0 = not a tensor that is understood */
    mw_shape shape;
    size_t count, size; /* elements; bytes of one */
    unsigned char *data;
} onnx_tensor;

/* False if the file is no tensor of numbers; free with onnx_tensor_free either way. */
bool onnx_tensor_read(const char *path, onnx_tensor *out);
void onnx_tensor_free(onnx_tensor *tensor);
double onnx_tensor_at(const onnx_tensor *tensor, size_t index);
/* The type in which the elements may be given to a program; MW_DTYPE_NONE for a string and its like. */
mw_dtype onnx_tensor_dtype(const onnx_tensor *tensor);

typedef enum onnx_outcome {
    ONNX_PASSED,
    ONNX_BOUND,   /* passed when inputs of integers were given while the model was read */
    ONNX_REFUSED, /* by the reader, with MW_ERROR_UNSUPPORTED */
    ONNX_FAILED
} onnx_outcome;

/* Runs a folder of the collection; `why` receives a sentence unless it passed. */
onnx_outcome onnx_case_run(const char *folder, char *why, size_t size);

/* Gets the MIL text of every model that is read, if it is not NULL. */
extern FILE *onnx_case_texts;

#endif

/* Finds the elements of a tensor that nodes of the file make from constants only by moving them. */
#ifndef MW__FORMAT_ONNX_READ_MOVED_H
#define MW__FORMAT_ONNX_READ_MOVED_H

#include "format/onnx/read/import.h"

typedef struct mw__onnx_moved {
    mw__onnx_import *import;
    mw__onnx_literal literal;
    const char *name; /* of the first constant that it is made of; NULL = none has one */
} mw__onnx_moved;

/* True, with the elements in moved->literal, if nodes made the float tensor from constants only by cutting, joining,
 * transposing and reshaping. False otherwise, and on an error, which is then in import->err. */
bool mw__onnx_moved_find(mw__onnx_moved *moved, const mw_tensor *x);

#endif

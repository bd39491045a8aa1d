/* Constants that nodes have moved, put together again. */
#ifndef MW__FORMAT_ONNX_READ_MOVED_H
#define MW__FORMAT_ONNX_READ_MOVED_H

#include "format/onnx/read/import.h"

typedef struct mw__onnx_moved {
    mw__onnx_import *import;
    mw__onnx_literal literal;
    const char *name; /* of the first constant that it is made of; NULL = none has one */
} mw__onnx_moved;

/* Fills in the elements of a float tensor if they are those of constants, cut, joined, turned and reshaped. False if
 * they are not, or with an error in import->err. */
bool mw__onnx_moved_find(mw__onnx_moved *moved, const mw_tensor *x);

#endif

/* Large weights of a model that lie in files: copied once to a private file, as graphs hold them, which all graphs that
 * are made of the model share, and which a program is compiled from without another copy. */
#ifndef MW__FORMAT_ONNX_READ_STORE_H
#define MW__FORMAT_ONNX_READ_STORE_H

#include "format/onnx/read/literal.h"
#include "mil/weights/blob.h"

/* A tensor of the model: an initializer, or what a Constant gives. */
typedef struct mw__onnx_kept {
    const Mw__Onnx__Tensor *tensor;
    mw__onnx_literal literal; /* type 0 = not there */
} mw__onnx_kept;

typedef struct mw__onnx_store {
    mw__blob_store blobs;
    const mw_allocator *allocator;
    mw__onnx_kept *kept; /* by the tensor's address, once the store is filled */
    size_t count, capacity;
} mw__onnx_store;

/* Fills the store with the tensors of the model that are large and whose elements were left in a file, those of bodies
 * and functions too. What is not there is read as any other, with its errors. Released by mw__onnx_store_release, also
 * after a failure. */
mw_status mw__onnx_store_fill(mw__onnx_store *store, const mw_allocator *allocator, const mw__onnx_source *source,
                              const Mw__Onnx__Model *model, mw_error *err);
void mw__onnx_store_release(mw__onnx_store *store);

/* What is kept of a tensor, NULL for nothing. Doubles are floats there, and integers int32. `store` may be NULL. */
const mw__onnx_literal *mw__onnx_store_find(const mw__onnx_store *store, const Mw__Onnx__Tensor *tensor);

#endif

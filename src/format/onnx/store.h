/* Large weights of a model that lie in other files: copied once to a private file, which all graphs that are made of
 * the model share, and which a program is compiled from without another copy. */
#ifndef MW__FORMAT_ONNX_STORE_H
#define MW__FORMAT_ONNX_STORE_H

#include "format/onnx/literal.h"
#include "mil/blob.h"

typedef struct mw__onnx_store {
    mw__blob_store blobs;
    const mw_allocator *allocator;
    mw__onnx_literal *kept; /* by initializer; type 0 = not there */
    size_t count;
} mw__onnx_store;

/* Fills the store with the initializers of the graph that are large and external. What is not there is read as any
 * other, with its errors. Released by mw__onnx_store_release, also after a failure. */
mw_status mw__onnx_store_fill(mw__onnx_store *store, const mw_allocator *allocator, const mw__onnx_source *source,
                              const Mw__Onnx__Graph *graph, mw_error *err);
void mw__onnx_store_release(mw__onnx_store *store);

#endif

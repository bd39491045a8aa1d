/* The header of a .npy file, alone or in a .npz.
 * source  NumPy Enhancement Proposal 1, and the docstring of numpy/lib/format.py for versions 1.0 to 3.0 */
#ifndef MW__FORMAT_NPY_H
#define MW__FORMAT_NPY_H

#include "base/text/error.h"
#include "format/tensors/tensors.h"

enum { MW__NPY_DESCR = 16, MW__NPY_HEADER_MAX = 65535 };

typedef struct mw__npy_header {
    mw_dtype dtype;
    mw_shape shape;
    char descr[MW__NPY_DESCR]; /* "<f4" */
    bool swapped;              /* bytes of elements are in the other order than ours */
    bool fortran;              /* column-major */
    size_t size;               /* of the header in the file, mark included */
} mw__npy_header;

/* Reads the next bytes of the file; fails if there are fewer. */
typedef struct mw__npy_source {
    mw_status (*next)(void *user, void *out, size_t size, mw_error *err);
    void *user;
    const mw_allocator *allocator;
    const char *path, *name; /* for messages */
} mw__npy_source;

/* errors  MW_ERROR_FORMAT; MW_ERROR_UNSUPPORTED for types that are none of ours (objects are pickles) */
mw_status mw__npy_read_header(const mw__npy_source *source, mw__npy_header *out, mw_error *err);

/* Reads the data that follows, dense and in our order: `out` has the bytes of the elements. */
mw_status mw__npy_read_data(const mw__npy_source *source, const mw__npy_header *header, void *out, mw_error *err);

#endif

/* Dimensions whose extent nobody says: the model is read for several choices of them, of which one graph with `?` is
 * made. */
#ifndef MW__FORMAT_ONNX_READ_OPEN_H
#define MW__FORMAT_ONNX_READ_OPEN_H

#include "format/onnx/read/import.h"

enum { MW__ONNX_OPEN_MAX = 4 };

/* Dimensions that were met without an extent: those of one name are one. */
typedef struct mw__onnx_open {
    int witness;  /* which choice of extents */
    int64_t unit; /* their common factor; 0 = none is chosen, and they are refused */
    int count;
    bool read; /* all choices were read */
    struct {
        const char *name; /* of the message; NULL = without a name, and alone */
        const char *input;
        int axis;
    } at[MW__ONNX_OPEN_MAX];
} mw__onnx_open;

/* What is asked for. */
typedef struct mw__onnx_request {
    const mw_onnx_options *options;
    const char *path, *folder_of;
    mw__onnx_evaluator *evaluator; /* or NULL */
    const struct mw__onnx_store *store;
    const mw__file *self; /* the file of the model, if bytes were left out; or NULL */
} mw__onnx_request;

/* The extent that is chosen for a dimension; `name` NULL for one without a name.
 *  errors  MW_ERROR_SHAPE, naming the dimension and the option, if none is to be chosen, or there are too many */
mw_status mw__onnx_open_extent(const mw__onnx_import *import, const char *name, const char *input, int axis,
                               int64_t *out);

/* read.c: the graph for one choice; not published. */
mw_graph *mw__onnx_build(const Mw__Onnx__Model *model, const mw__onnx_request *request, mw__onnx_open *open,
                         mw_error *err);

/* The graph, with `?` for what is open if the options let it be; not published. */
mw_graph *mw__onnx_build_open(const Mw__Onnx__Model *model, const mw__onnx_request *request, mw_error *err);

#endif

/* A graph into a file of the format that its path ends in. */
#ifndef MW__RUNTIME_MODEL_FILE_H
#define MW__RUNTIME_MODEL_FILE_H

#include "graph/ir/ir.h"

#include <millwright/coreml.h>
#include <millwright/onnx.h>

typedef enum mw__model_file_kind {
    MW__FILE_MIL, /* a folder with model.mil: what has no other ending */
    MW__FILE_PACKAGE,
    MW__FILE_ONNX,
    MW__FILE_NETPLIST
} mw__model_file_kind;

mw__model_file_kind mw__model_file_kind_of(const char *path);

/* What is written, and how. */
typedef struct mw__model_file {
    const char *path;
    mw__model_file_kind kind;
    const mw_description *description;     /* or NULL; a netplist has no place for it */
    const mw_coreml_write_options *coreml; /* the rest of the options, or NULL */
    const mw_onnx_write_options *onnx;
    mw_parameter_source *bake, *replace; /* values of parameters and states, and of constants; or NULL */
    void *user;                          /* of both */
    bool check_only;                     /* everything but the files */
} mw__model_file;

mw_status mw__model_file_write(const mw_graph *graph, const mw__model_file *file, mw_error *err);

#endif

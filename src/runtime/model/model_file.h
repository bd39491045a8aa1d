/* A graph into a file of the format that its path ends in. */
#ifndef MW__RUNTIME_MODEL_FILE_H
#define MW__RUNTIME_MODEL_FILE_H

#include "graph/ir/ir.h"

#include <millwright/write.h>

typedef enum mw__model_file_kind {
    MW__FILE_MIL, /* a folder with model.mil: what has no other ending */
    MW__FILE_PACKAGE,
    MW__FILE_ONNX,
    MW__FILE_NETPLIST
} mw__model_file_kind;

mw__model_file_kind mw__model_file_kind_of(const char *path);

/* Who writes: what belongs to another one's options is refused. */
typedef enum mw__model_writer { MW__WRITES_GRAPH, MW__WRITES_MODEL, MW__WRITES_TRAINER } mw__model_writer;

/* Refuses options that mw_write_defaults did not make, or that the format or the writer has no use for. */
mw_status mw__model_file_check(const char *path, const mw_write_options *options, mw__model_writer writer,
                               const char *call, mw_error *err);

/* What was checked. `replace` reaches constants in every format. */
mw_status mw__model_file_write(const mw_graph *graph, const char *path, const mw_write_options *options, mw_error *err);

#endif

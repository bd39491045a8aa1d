/* A graph into a file of the format that its path ends in. */
#ifndef MW__RUNTIME_MODEL_FILE_H
#define MW__RUNTIME_MODEL_FILE_H

#include "graph/ir/ir.h"
#include "mil/write_use.h"

/* The format that a path asks for, as a use of mil/write_use.h. */
unsigned mw__model_file_use(const char *path);

/* Refuses what no file of a model ends in, and options that this format or call has no use for (mil/write_use.h). */
mw_status mw__model_file_check(const char *path, const mw_write_options *options, unsigned call_use, const char *call,
                               mw_error *err);

/* What was checked. `replace` reaches constants in every format. */
mw_status mw__model_file_write(const mw_graph *graph, const char *path, const mw_write_options *options, mw_error *err);

#endif

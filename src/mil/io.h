/* Text and weight file, for runtime (writes) and engine (reads). */
#ifndef MW__MIL_IO_H
#define MW__MIL_IO_H

#include "base/text/text.h"
#include "graph/ir/ir.h"
#include "graph/ir/names.h"
#include <millwright/mil.h>

/* Parses `text` into `graph`, which is fresh. Checks the grammar, names and literals, not the table's rules. */
mw_status mw__mil_parse(mw_graph *graph, const char *text, size_t size, mw_error *err);

/* Loads every BLOBFILE payload from below `folder`. What is in an `owned` one, which nobody else can write to, is
 * mapped and not read. */
mw_status mw__mil_load_blobs(mw_graph *graph, const char *folder, bool owned, mw_error *err);

/* Prints the program. `names` receives the identifiers given to the values of "main" (may be NULL); free it with
 * mw__names_deinit. Constants marked in_blob get the offsets that mw__mil_write_blob will use. */
mw_status mw__mil_print(const mw_graph *graph, const mw_write_options *options, mw__text *out, mw__names *names,
                        mw_error *err);

typedef enum mw__write_mode {
    MW__WRITE_DURABLE, /* as in base/file/file.h */
    MW__WRITE_PLAIN,
    MW__WRITE_PRIVATE /* into a private folder that is there: the file of weights that were read gets a name in it
                       * instead of being copied */
} mw__write_mode;

/* Writes folder/model.mil and the weight file. `names` as above. */
mw_status mw__mil_write(const mw_graph *graph, const char *folder, const mw_write_options *options, mw__write_mode mode,
                        mw__names *names, mw_error *err);

/* mw_graph_verify lets a constant argument be computed where the operation can be written otherwise. This does not:
 * for what is run as it stands. */
mw_status mw__mil_check_constants(const mw_graph *graph, mw_error *err);

/* The elements of a tensor literal as they stand between the parentheses behind its type: [[0x1p+0, inf]]. */
void mw__mil_print_elements(mw__text *out, const mw__payload *payload);

#endif

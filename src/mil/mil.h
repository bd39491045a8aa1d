/* The waist: text and weight file, for runtime (writes) and engine (reads). */
#ifndef MW__MIL_MIL_H
#define MW__MIL_MIL_H

#include "base/text.h"
#include "graph/ir.h"
#include "graph/names.h"
#include <millwright/mil.h>

/* Parses `text` into `graph`, which is fresh. Checks the grammar, names and literals, not the table's rules. */
mw_status mw__mil_parse(mw_graph *graph, const char *text, size_t size, mw_error *err);

/* Loads every BLOBFILE payload from below `folder`. */
mw_status mw__mil_load_blobs(mw_graph *graph, const char *folder, mw_error *err);

/* Prints the program. `names` receives the identifiers given to the values of "main" (may be NULL); free it with
 * mw__names_deinit. Constants marked in_blob get the offsets that mw__mil_write_blob will use. */
mw_status mw__mil_print(const mw_graph *graph, const mw_mil_write_options *options, mw__text *out, mw__names *names,
                        mw_error *err);

/* Writes folder/model.mil and the weight file; `durable` as in base/file.h. `names` as above. */
mw_status mw__mil_write(const mw_graph *graph, const char *folder, const mw_mil_write_options *options, bool durable,
                        mw__names *names, mw_error *err);

/* mw_graph_verify lets a constant argument be computed where the operation can be written otherwise. This does not:
 * for what is run as it stands. */
mw_status mw__mil_check_constants(const mw_graph *graph, mw_error *err);

/* ---- legality: what a device accepts ---- */

/* e5rt's device mask. */
#define MW__MASK_CPU 1u
#define MW__MASK_GPU 2u
#define MW__MASK_ANE 4u

/* How to make a program legal. */
typedef struct mw__legalize_options {
    uint64_t mask;
    bool strict;                         /* refuse constants that fp16 does not hold */
    struct mw__narrowing **out_narrowed; /* receives the list of those that were replaced (narrow.h); or NULL */
} mw__legalize_options;

/* Copies `from` (function main) into the fresh graph `to` as a program that the device accepts: on the ANE every
 * floating-point tensor becomes fp16, integer inputs become fp16 ports, outputs that are inputs, constants or repeated
 * get an identity form. A constant that would become infinite in fp16, or a scalar that would become 0, is replaced as
 * narrow.h says, or refused by name (MW_ERROR_NUMERIC) if `strict`; integers that fp16 does not have always are. Other
 * rules are rows in legality.c and are refused naming operation, rule and source. */
mw_status mw__mil_legalize_with(const mw_graph *from, mw_graph *to, const mw__legalize_options *options, mw_error *err);
/* The same, with constants replaced and no list. */
mw_status mw__mil_legalize(const mw_graph *from, mw_graph *to, uint64_t mask, mw_error *err);

/* The rows alone, for a program that came as text. */
mw_status mw__mil_check_legal(const mw_graph *graph, uint64_t mask, mw_error *err);

#endif

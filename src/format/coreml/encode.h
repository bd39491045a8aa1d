/* Graphs and descriptions as messages, for writing. */
#ifndef MW__FORMAT_COREML_ENCODE_H
#define MW__FORMAT_COREML_ENCODE_H

#include "base/memory/alloc.h"
#include "format/coreml/schema.h"
#include "graph/ir/ir.h"
#include <millwright/mil.h>

/* What messages are made in, and what may not come back. */
typedef struct mw__encoder {
    mw__arena *arena;
    mw_error *err;
} mw__encoder;

/* The program of a graph that was parsed: every value has its name, and literals in weight files are references.
 * Attributes of functions, which Core ML's compiler makes of the description, are left out, and so is what it notes of
 * itself in buildInfo. NULL on failure.
 *  errors  MW_ERROR_UNSUPPORTED for an argument of nested tuples, which the format does not have */
pb_program *mw__coreml_encode(mw__encoder *encoder, const mw_graph *graph);

/* The description of the graph, which is that of `given` (or NULL) where it says something; functions of the graph are
 * looked up there by name, features by the name of their port. NULL on failure.
 *  errors  MW_ERROR_ARGUMENT for a feature that is no port or does not fit it, and as mw_graph_admitted_shapes */
pb_description *mw__coreml_encode_description(mw__encoder *encoder, const mw_graph *graph, const mw_description *given);

/* Refuses what Core ML would refuse, naming function, port or operation and the rule. */
mw_status mw__coreml_check(const mw_graph *graph, mw_error *err);

/* select.c: *out is a copy in which no select has scalars alone under a condition that is a tensor; NULL if there is no
 * such select. */
mw_status mw__coreml_widen_selects(const mw_graph *graph, mw_graph **out, mw_error *err);

/* ---- encode_value.c ---- */

pb_type *mw__coreml_encode_type(mw__encoder *encoder, const mw__type *type);
/* Without elements, only what stands in a weight file may be. */
pb_value *mw__coreml_encode_value(mw__encoder *encoder, const mw__payload *payload);
char *mw__coreml_encode_string(mw__encoder *encoder, const char *text);
void *mw__coreml_encode_alloc(mw__encoder *encoder, size_t count, size_t size);

/* ---- encode_feature.c ---- */

pb_feature *mw__coreml_encode_feature(mw__encoder *encoder, const mw_feature *feature, bool state);
/* Whether a feature that is given fits the port of its name. */
mw_status mw__coreml_fit_feature(const mw__encoder *encoder, const mw_feature *feature, const mw_tensor *port);
/* What a port says of itself; `alone` is a graph whose "main" it belongs to. */
mw_status mw__coreml_feature_of(mw__encoder *encoder, const mw_graph *alone, const mw_tensor *port, bool is_input,
                                mw_feature *out);

/* A message in the arena, which is zeroed and not yet initialized. */
#define MW__MAKE(encoder, type) ((type *)mw__arena_alloc((encoder)->arena, 1, sizeof(type), (encoder)->err))

#endif

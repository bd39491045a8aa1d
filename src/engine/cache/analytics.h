/* Where each operation of a program was placed, and why: what Apple's bundles say in analytics.mil. Its keys are public
 * (selected_backend, backend_support, estimated_runtime, op_type, op_path, validation_messages), and of the text that a
 * placed operation has `SelectedBackend = string("ane")`; the other attributes are spelled after it. */
#ifndef MW__ENGINE_CACHE_ANALYTICS_H
#define MW__ENGINE_CACHE_ANALYTICS_H

#include "engine/compile/compile.h"

typedef struct mw__placement {
    const char *path;     /* "main/3/0/1": function, then the place among the operations of each block */
    const char *kind;     /* of the operation */
    const char *name;     /* of its first result, or "" */
    const char *backend;  /* "ane", "bnns"; of a segmenter also "mps_graph" */
    const char *support;  /* "ane bnns"; of a segmenter "ane mps_graph bnns" */
    const char *messages; /* what the rules of the chip say, a line each; "" */
    double seconds;       /* estimated; 0 for what takes no step of its own; of a segmenter its cost on the backend */
} mw__placement;

typedef struct mw__analytics {
    const mw__placement *placements; /* operations but constants, in the order of the text, those of blocks behind their
                                        owner */
    size_t count;
} mw__analytics;

const char *mw__backend_of(const mw__library *library);

/* All of it in `arena`, but for what belongs to the library. */
mw_status mw__analytics_make(const mw__library *library, mw__arena *arena, mw__analytics *out, mw_error *err);

/* Puts it to the operations of a graph of the same text, as attributes. */
mw_status mw__analytics_annotate(const mw__analytics *analytics, mw_graph *graph, mw_error *err);

#endif

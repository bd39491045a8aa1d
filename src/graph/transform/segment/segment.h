/* A function as several that run one after the other. Pieces that are equal up to the names of their values are made
 * once: what differs between them is an input, also constants that are added or multiplied. */
#ifndef MW__GRAPH_TRANSFORM_SEGMENT_SEGMENT_H
#define MW__GRAPH_TRANSFORM_SEGMENT_SEGMENT_H

#include "graph/ir/ir_types.h"

typedef struct mw__segment_options {
    size_t calls_max;  /* pieces at most */
    bool automatic;    /* only if the function is long; else as many pieces as there may be */
    bool half_ports;   /* what is handed on is fp16; else fp16, fp32 or int32 */
    const size_t *old; /* by output: the input whose memory it is written to, or SIZE_MAX */
} mw__segment_options;

/* A function of automatic options is cut if it has more operations than this, constants not counted, into pieces of
 * this many at most where it does not repeat itself, and of SEGMENT_LEAST at least where it does. */
enum { MW__SEGMENT_OPERATIONS = 1024, MW__SEGMENT_LEAST = 64 };

/* One of the functions. */
typedef struct mw__segment {
    mw_graph *graph;
    const char **ports; /* names: inputs, then outputs */
    size_t input_count, output_count;
    size_t op_count; /* constants not counted */
} mw__segment;

typedef struct mw__segment_call {
    size_t segment;
    const size_t *places; /* by its port: an input or output of the whole (inputs come first), or behind these a buffer
                           * in between */
} mw__segment_call;

typedef struct mw__segmentation {
    mw__arena arena;
    mw__segment *segments;
    size_t segment_count;
    mw__segment_call *calls; /* in their order */
    size_t call_count;
    size_t *between;       /* bytes of each buffer; values that are not needed at the same time share one */
    const void **contents; /* of each: the constant that is always there, or NULL */
    size_t between_count;
    size_t op_count; /* of the whole */
} mw__segmentation;

/** Cuts main's body: where it repeats itself, between the repetitions, else where the fewest bytes cross the cut. There
 *  is no cut where one could change a bit (docs/training.md has the rules). If no cut is worth it, call_count is 1 and
 *  there are no segments: the function is compiled whole. Free `out` with mw__segmentation_deinit, also after a
 *  failure.
 *  errors  MW_ERROR_UNSUPPORTED for blocks in operations and for operations without results */
mw_status mw__segment_make(const mw__function *function, const mw__segment_options *options, mw__segmentation *out,
                           mw_error *err);
void mw__segmentation_deinit(mw__segmentation *segmentation);

#endif

/* What both sides of a comparison are fed. */
#ifndef MW__RUNTIME_COMPARE_COMPARE_FEED_H
#define MW__RUNTIME_COMPARE_COMPARE_FEED_H

#include "runtime/compare/compare.h"

/* A user's batch, a file, or numbers that are drawn. */
typedef struct mw__compare_source {
    const mw_compare_options *options;
    const mw_graph *graph; /* what is compared */
} mw__compare_source;

/* A mw__compare_fill of a mw__compare_source. Parameters start as they are drawn for the reference. */
mw__compare_fill mw__compare_feed;

/* Remembers what the inputs hold that are no parameters. */
mw_status mw__compare_keep_inputs(mw_comparison *comparison, mw_program *program, mw_error *err);

#endif

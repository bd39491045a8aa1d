/* What a program that is looked at is fed, and the function of it that is looked at. */
#ifndef MW__INSPECT_FEED_H
#define MW__INSPECT_FEED_H

#include "runtime/compare/compare.h"

/* A user's batch, a file, or numbers that are drawn. */
typedef struct mw__inspect_source {
    const mw_compare_options *options;
    const mw_graph *graph; /* what is looked at */
} mw__inspect_source;

/* A mw__compare_fill of a mw__inspect_source. Parameters start as they are drawn for the reference. */
mw__compare_fill mw__inspect_feed;

/* compare.c: a function (NULL: main, or the only one) as main of a graph of its own, freed with mw__graph_free. */
mw_graph *mw__inspect_function(const mw_graph *graph, const char *name, mw_error *err);

#endif

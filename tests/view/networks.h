/* Networks that summaries and pictures are made of. */
#ifndef TESTS_VIEW_NETWORKS_H
#define TESTS_VIEW_NETWORKS_H

#include <millwright/millwright.h>
#include <millwright/view.h>

/* conv, batch norm, relu, pool, twice; dropout, dense, cross entropy ("y" are labels, "logits" is a result). */
mw_graph *cnn_make(void);
/* An embedding and `layers` pre-norm blocks of width 32: two adds, layer norms, attention, gelu. */
mw_graph *transformer_make(int layers);
/* lstm of two layers and both directions, gru, dense. */
mw_graph *recurrent_make(void);
/* x and `count` relus one behind the other. */
mw_graph *chain_make(size_t count);

/* "input conv relu": the kinds of a summary, in a buffer that the next call overwrites. */
const char *kinds_of(const mw_summary *summary);
/* The same of a graph, "" with the error if there is no summary. */
const char *kinds_of_graph(const mw_graph *graph, mw_error *err);

#endif

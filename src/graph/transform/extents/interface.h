/* A function as others feed it, whatever batch it was built for. */
#ifndef MW__GRAPH_TRANSFORM_EXTENTS_INTERFACE_H
#define MW__GRAPH_TRANSFORM_EXTENTS_INTERFACE_H

#include "graph/ir/ir.h"

/* How many examples a copy takes. */
typedef enum mw__examples {
    MW__EXAMPLES_ONE, /* 1 */
    MW__EXAMPLES_ANY  /* `?`: any number; where operations do not take that, 1 */
} mw__examples;

/* A copy of main for that many examples.
 *  return  NULL with err set on failure
 *  errors  those of mw_graph_rebatch: something holds the program at the batch that it has */
mw_graph *mw__for_examples(const mw_graph *graph, mw__examples examples, mw_error *err);

#endif

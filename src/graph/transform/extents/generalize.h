/* One program with `?` extents of the same program for several shapes: extents that differ become `?`, constants that
 * follow from them are computed from extents. It is how a program gets `?` whose builder needs numbers. */
#ifndef MW__GRAPH_TRANSFORM_EXTENTS_GENERALIZE_H
#define MW__GRAPH_TRANSFORM_EXTENTS_GENERALIZE_H

#include "graph/ir/ir.h"

enum { MW__WITNESSES = 3 };

/* Graphs that one builder made for three choices of the extents of the inputs, no two extents that are open alike in
 * any. The result is checked: given the shapes of the last one it is the last one.
 * By default each open extent is 1 where the operations take that, and it may be anything from 1 on.
 *  witness  stay the caller's; the types of the first are changed: it is of no use afterwards
 *  return   NULL with err set on failure
 *  errors   MW_ERROR_UNSUPPORTED, naming the operation, if the graphs differ in more than extents and what is a
 * multiple of an extent, or of two, plus a number */
mw_graph *mw__generalize(mw_graph *const witness[MW__WITNESSES], mw_error *err);

#endif

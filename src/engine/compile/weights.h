/* Constants that are stored compressed, as the kernels want them. */
#ifndef MW__ENGINE_COMPILE_WEIGHTS_H
#define MW__ENGINE_COMPILE_WEIGHTS_H

#include "graph/ir.h"

/* Gives the results of every constexpr operation their dense literals. The graph has been verified. */
mw_status mw__expand_weights(mw_graph *graph, mw_error *err);

#endif

/* Which shapes the inputs of a function admit: its attribute FlexibleShapeInformation, read and held against what is
 * asked for. */
#ifndef MW__GRAPH_IR_ADMITTED_H
#define MW__GRAPH_IR_ADMITTED_H

#include "graph/ir/names.h"
#include <millwright/function.h>

extern const char mw__flexible_attribute[]; /* "FlexibleShapeInformation" */

/* True for an input that the host feeds, a tensor. */
bool mw__is_fed(const mw_tensor *input);
/* The input of that name that the host feeds.
 *  errors  MW_ERROR_ARGUMENT, naming `call` */
mw_status mw__fed_input(const mw__function *function, const char *call, const char *name, mw_tensor **out,
                        mw_error *err);

/* As mw_graph_admitted_shapes and mw_graph_listed_shape, of an input that the host feeds. */
mw_status mw__admitted_read(const mw__function *function, const mw_tensor *input, mw_admitted_shapes *out,
                            mw_error *err);
mw_status mw__admitted_listed(const mw__function *function, const mw_tensor *input, size_t index, mw_shape *out,
                              mw_error *err);

/* MW_OK if the input admits the shape, whose extents are known; else MW_ERROR_SHAPE, saying what it admits. */
mw_status mw__admitted_check(const mw__function *function, const mw_tensor *input, mw_shape shape, mw_error *err);
/* MW_OK if the function has no list of shapes, or if the shapes of all inputs are together one entry of the list;
 * else MW_ERROR_SHAPE. `shapes` has one shape for each input of the function, in their order; shapes of inputs that
 * nobody feeds are not checked. */
mw_status mw__admitted_check_together(const mw__function *function, const mw_shape *shapes, mw_error *err);

/* Notes on main of a graph that has no attributes yet: the inputs with `?` have these default shapes, by their place in
 * the function, and each `?` is 1 or more. An error is left on the graph. */
mw_status mw__admit(mw_graph *graph, const mw_shape *standards);

/* The attribute with the names that a text gives to the inputs, which need not be their own; `given` itself where they
 * are. The copy lies in the arena. NULL on failure. */
const mw__payload *mw__admitted_renamed(const mw__function *function, const mw__names *names, const mw__payload *given,
                                        mw__arena *arena, mw_error *err);

#endif

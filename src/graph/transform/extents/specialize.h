/* A function for one shape of each input: every `?` gets a number by running the shape rules again, and integers that
 * follow from extents and constants become constants. */
#ifndef MW__GRAPH_TRANSFORM_EXTENTS_SPECIALIZE_H
#define MW__GRAPH_TRANSFORM_EXTENTS_SPECIALIZE_H

#include "graph/transform/clone/clone.h"

/* What is known of an input. */
typedef struct mw__given {
    mw_shape shape;    /* without `?`; not looked at where nobody feeds the input */
    const void *value; /* not NULL: its elements, which become a constant, and the input goes */
} mw__given;

/* True if a value of the function, also in blocks, has an extent that is not known, or an operation takes a shape, a
 * size or a count that is computed. */
bool mw__wants_specializing(const mw__function *function);

/* A fresh graph with a copy of the function as main, for a `given` of each input. Extents that depend on more than that
 * stay open, see mw__find_deciding. `prune` leaves out what no result needs; a value of that kind that mw_graph_find
 * would find is then no part of the program.
 *  errors  MW_ERROR_SHAPE if a declared type cannot be had with these shapes */
mw_graph *mw__specialize(const mw_allocator *allocator, const mw__function *function, const mw__given *given,
                         bool prune, mw_error *err);

enum { MW__DECIDING_MAX = 64 };

/* Why extents of a specialized function are open: the inputs, small tensors of integers, whose values decide them.
 * *out_count is 0 if nothing is open.
 *  errors  MW_ERROR_UNSUPPORTED, naming the operation, if anything else decides */
mw_status mw__find_deciding(const mw__function *function, const mw_tensor *out[MW__DECIDING_MAX], size_t *out_count,
                            mw_error *err);

/* Before that: inputs whose values go into arguments that must be constants (the k of topk). */
mw_status mw__find_constant_inputs(const mw__function *function, const mw_tensor *out[MW__DECIDING_MAX],
                                   size_t *out_count, mw_error *err);

/* A rule of a clone, or part of one: an integer tensor that is known becomes a constant. */
bool mw__fold_rule(void *user, mw__clone *clone, const mw__op *op);

#endif

/* Operations that a device refuses, written from those that it has: the first of the clones by rewrites, in the user's
 * types, before mil/legalize/split.h looks for what fp16 cannot count to. */
#ifndef MW__MIL_LEGALIZE_DECOMPOSE_H
#define MW__MIL_LEGALIZE_DECOMPOSE_H

#include "graph/transform/clone/clone.h"
#include "passes/log.h"
#include "rules/legality.h"

/* Copies main of `from` into the fresh graph `to` with those operations decomposed; untouched, and *out_any false, if
 * there is none. Operations in blocks stay as they are. */
mw_status mw__mil_decompose(const mw_graph *from, mw_graph *to, const mw__legality *legality, mw__pass_log *log,
                            bool *out_any, mw_error *err);

/* ---- shared by the files decompose*.c and fit*.c ---- */

/* The copy of the operand of that argument; of a literal in it, a constant of its own. */
mw_tensor *mw__decompose_arg(mw__clone *clone, const mw__op *op, const char *name);
/* The product over an axis of at least one element, whose extent becomes 1; in log2(extent) rounds. */
mw_tensor *mw__decompose_multiply(mw_tensor *x, int axis);
/* x [rows, n], F32, summed up along n: the product with a triangle of ones. */
mw_tensor *mw__decompose_sum(mw_tensor *x);

#endif

/* Operations that a device refuses, written from those that it has: the first of the clones by rows of rewrite.h, in
 * the user's types, before mil/legalize/split.h looks for what fp16 cannot count to. */
#ifndef MW__MIL_LEGALIZE_DECOMPOSE_H
#define MW__MIL_LEGALIZE_DECOMPOSE_H

#include "graph/transform/clone/clone.h"
#include "rules/legality.h"

/* Copies main of `from` into the fresh graph `to` with those operations decomposed; untouched, and *out_any false, if
 * there is none. Operations in blocks stay as they are. */
mw_status mw__mil_decompose(const mw_graph *from, mw_graph *to, const mw__legality *legality, bool *out_any,
                            mw_error *err);

/* ---- the functions of the rows ---- */

typedef bool mw__decompose_when(const mw__legality *legality, const mw__op *op);
/* The value of the operation's one result. */
typedef mw_tensor *mw__decompose_emit(const mw__legality *legality, mw__clone *clone, const mw__op *op);

/* The copy of the operand of that argument; of a literal in it, a constant of its own. */
mw_tensor *mw__decompose_arg(mw__clone *clone, const mw__op *op, const char *name);

/* decompose.c */
mw__decompose_when mw__decompose_always, mw__decompose_counts, mw__decompose_is_band, mw__decompose_is_sum;
mw__decompose_emit mw__decompose_and, mw__decompose_or, mw__decompose_xor;
mw__decompose_emit mw__decompose_argument, mw__decompose_band, mw__decompose_cumsum;
mw__decompose_emit mw__decompose_cosh, mw__decompose_sinh, mw__decompose_tan;
/* decompose_math.c */
mw__decompose_when mw__decompose_is_product, mw__decompose_is_same;
mw__decompose_emit mw__decompose_acos, mw__decompose_asin, mw__decompose_atanh, mw__decompose_mod;
mw__decompose_emit mw__decompose_product, mw__decompose_same;
/* The product over an axis of at least one element, whose extent becomes 1; in log2(extent) rounds. */
mw_tensor *mw__decompose_multiply(mw_tensor *x, int axis);
/* decompose_part.c */
mw__decompose_when mw__decompose_is_windows, mw__decompose_is_declared;
mw__decompose_emit mw__decompose_windows, mw__decompose_declared;
/* decompose_index.c, decompose_place.c */
mw__decompose_when mw__decompose_is_gather_nd, mw__decompose_is_non_zero, mw__decompose_is_put;
mw__decompose_when mw__decompose_is_placed;
mw__decompose_when mw__decompose_is_update, mw__decompose_is_turned;
mw__decompose_emit mw__decompose_gather_nd, mw__decompose_non_zero, mw__decompose_put, mw__decompose_placed;
mw__decompose_emit mw__decompose_update, mw__decompose_turned;
/* decompose_random.c */
mw__decompose_when mw__decompose_is_drawn;
mw__decompose_emit mw__decompose_drawn;
/* x [rows, n], F32, summed up along n: the product with a triangle of ones. */
mw_tensor *mw__decompose_sum(mw_tensor *x);
/* decompose_sample.c */
mw__decompose_when mw__decompose_is_crop, mw__decompose_is_sampling;
mw__decompose_emit mw__decompose_crop;
/* decompose_conv.c */
mw__decompose_when mw__decompose_is_wide_conv;
mw__decompose_emit mw__decompose_wide_conv;

#endif

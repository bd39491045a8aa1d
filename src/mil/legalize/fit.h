/* The last of the clones by rows of rewrite.h, of a program in the device's types: what the chip that is named lacks,
 * from what it has. Which operations that is say the rows of rules that name the rewrite; where no chip is named
 * nothing is changed. */
#ifndef MW__MIL_LEGALIZE_FIT_H
#define MW__MIL_LEGALIZE_FIT_H

#include "mil/legalize/decompose.h"

/* Copies main of `from` into the fresh graph `to`; untouched, and *out_any false, if no row applies. */
mw_status mw__mil_fit(const mw_graph *from, mw_graph *to, const mw__legality *legality, bool *out_any, mw_error *err);

/* ---- the functions of the rows, of mil/legalize/decompose.h's types ---- */

/* True of an operation whose rewrite needs no more than that its row of rules holds. */
mw__decompose_when mw__workaround_always;

/* fit_math.c */
mw__decompose_when mw__workaround_is_wide_square, mw__workaround_is_zero, mw__workaround_is_scale;
mw__decompose_emit mw__workaround_sine, mw__workaround_softplus, mw__workaround_round, mw__workaround_square,
    mw__workaround_zero, mw__workaround_scale;
/* fit_shape.c */
mw__decompose_when mw__workaround_is_range, mw__workaround_is_tile, mw__workaround_is_pad,
    mw__workaround_is_known_shape;
mw__decompose_emit mw__workaround_range, mw__workaround_tile, mw__workaround_pad, mw__workaround_concat_one,
    mw__workaround_known_shape;
/* fit_product.c */
mw__decompose_when mw__workaround_is_product, mw__workaround_is_linear, mw__workaround_is_norm;
mw__decompose_emit mw__workaround_product, mw__workaround_linear, mw__workaround_norm, mw__workaround_attention;

#endif

/* Operations whose result passes the range of fp16 and leaves no sign of it: what follows is 0, not infinite. Layers
 * and models that a CPU runs meet them on the ANE with inputs of ordinary size. Most are written in another form
 * (decompose_large.c); these are what is left, or was left out by its name. */
#ifndef MW__MIL_LEGALIZE_NUMBERS_OVERFLOW_H
#define MW__MIL_LEGALIZE_NUMBERS_OVERFLOW_H

#include "mil/legalize/numbers/narrow.h"
#include "rules/arithmetic.h"

/* Appends an entry for each to *end (with count = 0): a softplus beyond 11.09 where the profile makes it 0, a square of
 * a number that nothing bounds and whose root divides, an exponential that is divided by a sum of its own kind, or
 * whose logarithm is taken. Only operations of the forward pass: a trainer refuses a step in which anything else is
 * infinite. In the arena of `graph`.
 *  errors  MW_ERROR_MEMORY */
mw_status mw__mil_list_overflows(mw_graph *graph, mw__arithmetic arithmetic, mw__narrowing **end, mw_error *err);

#endif

/* Costs of operations and layers, for the rest of the chip. */
#ifndef MW__CHIP_COST_COST_H
#define MW__CHIP_COST_COST_H

#include "graph/ir/count.h"

#include <float.h>
#include <millwright/chip_cost.h>

/* A time or a count, at most DBL_MAX, so that sums stay finite. */
static inline double mw__chip_cost_limit(double value) { return value <= DBL_MAX ? value : DBL_MAX; }

/* Of one operation that is dispatched alone: its products, and each byte of its operands, weights and results once, as
 * they are declared. A constant costs nothing. */
mw_chip_cost mw__chip_op_cost(const mw_chip_rates *rates, const mw__op *op);

/* Of a layer that several operations became, in the order of the program: all of their products; of the bytes those of
 * operands from outside, each once, and those of results that none of them reads or that the program gives out. Time
 * grows with the square of `count`. */
mw_chip_cost mw__chip_layer_cost(const mw_chip_rates *rates, const mw__op *const *ops, size_t count);

#endif

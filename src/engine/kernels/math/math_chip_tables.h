/* The tables of M6 (rules/arithmetic.def, <function>_knots). */
#ifndef MW__ENGINE_KERNELS_MATH_CHIP_TABLES_H
#define MW__ENGINE_KERNELS_MATH_CHIP_TABLES_H

#include "engine/kernels/math/math.h"

/* The loop that computes the function by its table; NULL if the profile has none. p: epsilon. */
mw__loop1 *mw__math_chip_table(mw__op_id op, mw__level level, mw__arithmetic on);

#endif

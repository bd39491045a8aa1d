/* Functions of one or two operands as a chip computes them, where that is not what IEEE says. */
#ifndef MW__ENGINE_KERNELS_MATH_CHIP_H
#define MW__ENGINE_KERNELS_MATH_CHIP_H

#include "engine/kernels/math/math.h"

/* NULL where the profile has nothing to say. */
mw__loop1 *mw__math_chip_function1(mw__op_id op, const char *mode, mw__level level, mw__arithmetic on);
mw__loop2 *mw__math_chip_function2(mw__op_id op, mw__level level, mw__arithmetic on);

/* What a chip makes of fp16 that is read of memory, which a NaN reaches from ports alone: out = x, with NaN as +inf.
 * NULL for another type, and where the profile reads it as it is. */
mw__loop1 *mw__plan_fed(const mw__planner *planner, mw_dtype dtype);
/* mw__tile_load with that. */
const float *mw__tile_read(const void *data, mw_dtype dtype, mw__loop1 *fed, int64_t offset, int64_t count,
                           float *tile);

#endif

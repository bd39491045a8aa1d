/* Rounding to fp16 of values that are held in fp32 (engine/compile/storage/fp16_storage.h). Element-wise kernels and
 * fusion groups do it themselves, with the loop that is here; the steps of other operations are made to do it by the
 * planner.
 */
#ifndef MW__ENGINE_KERNELS_ROUND_H
#define MW__ENGINE_KERNELS_ROUND_H

#include "engine/kernels/math/math.h"

/* The loop that does what `how`, a sum of mw__round, says: MW__ROUND_HALF alone is to the bit what
 * mw__fp16_to_float(mw__fp16_from_float(x)) gives. NULL for 0. p and q mean nothing. */
mw__loop1 *mw__round_loop(mw__level level, unsigned how);

/* Makes `step` do it to what it writes to write operand `write`, by rows, which has `size` bytes. */
void mw__round_rows(mw__planner *planner, mw__step *step, size_t write, size_t size, unsigned how);
/* Plans a step that does it to `size` bytes of fp32 from one buffer to another. */
void mw__round_step(mw__planner *planner, uint32_t from, uint32_t to, size_t size, unsigned how);

#endif

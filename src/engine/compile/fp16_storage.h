/* Which values of a function are held in fp32 though they are declared fp16.
 *
 * Kernels compute in fp32 whatever the declared type, so an intermediate is fastest as fp32 whose elements are fp16
 * numbers: rounded when it is written, read as it is. Only ports, and what operations without such a form need, are
 * fp16 in memory. A function is rewritten so before it is planned:
 *   - element-wise operations read and write both kinds and convert on the way;
 *   - most others get fp32 operands and give fp32 results; a conversion is put before the first of them that reads a
 *     port, and after one that writes a port; constants are widened here;
 *   - what only moves elements moves whichever kind it is given. */
#ifndef MW__ENGINE_COMPILE_FP16_STORAGE_H
#define MW__ENGINE_COMPILE_FP16_STORAGE_H

#include "engine/core/step.h"

/* Rewrites the function in its graph; `out` lives in `arena`. MW_ENGINE_REF=1 leaves it as it is, and `wanted` NULL. */
mw_status mw__widen_function(mw__function *function, mw__arena *arena, mw__rounding *out, mw_error *err);

#endif

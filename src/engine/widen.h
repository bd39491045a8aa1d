/* Which values of a function are held in fp32 though they are declared fp16.
 *
 * Kernels compute in fp32 whatever the declared type, so an intermediate is fastest as fp32 whose elements are fp16
 * numbers: rounded when it is written, read as it is. Only ports, and what operations without such a form need, are
 * fp16 in memory. A function is rewritten so before it is planned:
 *   - element-wise operations read and write both kinds and convert on the way;
 *   - most others get fp32 operands and give fp32 results; a conversion is put before the first of them that reads a
 *     port, and after one that writes a port; constants are widened here;
 *   - what only moves elements moves whichever kind it is given. */
#ifndef MW__ENGINE_WIDEN_H
#define MW__ENGINE_WIDEN_H

#include "graph/ir.h"

/* By value id: the values that are declared fp16, and of those the results that have to be rounded, whichever way they
 * are held. Values beyond count are neither. */
typedef struct mw__rounding {
    const bool *half, *wanted;
    size_t count;
} mw__rounding;

/* Rewrites the function in its graph; `out` lives in `arena`. MW_ENGINE_REF=1 leaves it as it is, and `wanted` NULL. */
mw_status mw__widen_function(mw__function *function, mw__arena *arena, mw__rounding *out, mw_error *err);

#endif

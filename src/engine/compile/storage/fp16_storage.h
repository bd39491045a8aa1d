/* Which values of a function are held in fp32 though they are declared fp16.
 *
 * Kernels compute in fp32 whatever the declared type, so an intermediate is fastest as fp32 whose elements are fp16
 * numbers: rounded when it is written, read as it is. Only ports, and what operations without such a form need, are
 * fp16 in memory. A function is copied so before it is planned:
 *   - element-wise operations read and write both kinds and convert on the way;
 *   - most others get fp32 operands and give fp32 results; a conversion is put before the first of them that reads a
 *     port, and after one that writes a port; constants are widened here;
 *   - what only moves elements moves whichever kind it is given. */
#ifndef MW__ENGINE_COMPILE_STORAGE_FP16_STORAGE_H
#define MW__ENGINE_COMPILE_STORAGE_FP16_STORAGE_H

#include "engine/core/step.h"

/* Copies a function into `to`, which shares its constants: `from` lives as long. If there is no fp16 in it, *out
 * is `from`.
 *  arithmetic    of the chip that is modeled (engine/compile/storage/chip_rounding.h)
 *  out_rounding  lives in `arena`; all NULL if *out is `from` */
mw_status mw__store_as_fp32(const mw__function *from, mw__arithmetic arithmetic, mw_graph *to, mw__arena *arena,
                            const mw__function **out, mw__rounding *out_rounding, mw_error *err);

#endif

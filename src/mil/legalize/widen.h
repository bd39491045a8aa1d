/* Inputs of int8, int16 and uint16, of which a device with ports of fp16 has none, as int32 ones, which get such ports:
 * the first form of a program for it. All integers that meet them become int32 too. */
#ifndef MW__MIL_LEGALIZE_WIDEN_H
#define MW__MIL_LEGALIZE_WIDEN_H

#include "graph/ir/device_traits.h"

/* Copies main of `from` into the fresh graph `to` so; untouched, and *out_any false, if there is no such input, or one
 * of the program's operations takes a narrow integer as nothing else (quantize and dequantize). */
mw_status mw__mil_widen(const mw_graph *from, mw_graph *to, const mw__device_traits *device, bool *out_any,
                        mw_error *err);

#endif

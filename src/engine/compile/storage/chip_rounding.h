/* What a chip does to the results of a function where IEEE would round them to fp16, and which it does not round: those
 * that one layer of the hardware passes on. Decided from the text alone, so that fusing steps changes nothing. */
#ifndef MW__ENGINE_COMPILE_STORAGE_CHIP_ROUNDING_H
#define MW__ENGINE_COMPILE_STORAGE_CHIP_ROUNDING_H

#include "engine/core/step.h"

/* Multiplies and adds: a rule of products holds for it. */
bool mw__storage_is_product(const mw__op *op);

/* inout: by value id, MW__ROUND_HALF for what is rounded (core/step.h), which becomes what the chip does */
mw_status mw__storage_chip_rounding(const mw__function *function, mw__arithmetic on, uint8_t *inout, mw_error *err);

#endif

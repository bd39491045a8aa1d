/* The library libmillwright_e5rt: it exports what src/engine/surface_*.c defines and gives its engine the segmenter
 * with costs. This file stands for it in the build; it checks that the declarations are usable with the names made
 * public. */
#define E5RT_EXPORT
#include "chip/cost/engine.h"

#include <e5rt/e5rt.h>

_Static_assert(sizeof(e5rt_error_code) == 8, "codes fill a 64-bit register, so that 32-bit readers see the same");

/* Clients of e5rt know of no registration. */
__attribute__((constructor)) static void give_segmenter(void) { mw__engine_give_segmenter(mw__chip_segment); }

/* The library libmillwright_e5rt: it exports what src/engine/surface_*.c defines and adds nothing. This file stands for
 * it in the build; it checks that the declarations are usable with the names made public. */
#define E5RT_EXPORT
#include <e5rt/e5rt.h>

_Static_assert(sizeof(e5rt_error_code) == 8, "codes fill a 64-bit register, so that 32-bit readers see the same");

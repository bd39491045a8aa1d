/* What differs between generations of the ANE. */
#ifndef MW__MIL_CHIP_H
#define MW__MIL_CHIP_H

#include <millwright/program.h>

/* The longest axis of a tensor, but for the channels of rank 4, which may have 65536 everywhere (ANEForge, limits by
 * chip); 0 for a chip that is not known. */
int64_t mw__chip_axis_max(mw_chip chip);

#endif

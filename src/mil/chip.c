/* Generations of the ANE. */
#include "mil/chip.h"

int64_t mw__chip_axis_max(mw_chip chip)
{
    if (chip == MW_CHIP_AUTO || (chip >= MW_CHIP_H13 && chip <= MW_CHIP_H15))
        return 16384;
    return chip == MW_CHIP_H16 || chip == MW_CHIP_H17 ? 65536 : 0;
}

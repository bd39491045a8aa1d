/* The rows of graph/device_traits.h. */
#include "graph/device_traits.h"

/* In the order in which a mask of several is searched. */
static const mw__device_traits devices[] = {
    {.mask = MW_DEVICE_ANE,
     .name = "ANE",
     .engine = "ANE model (IEEE fp16 results, fp32 accumulation)",
     .half_ports = true,
     .constant_weights = true, /* ANEForge, dynamic convolution */
     .limits_axes = true,
     .lowering = MW__LOWERING_DECOMPOSED,
     .rank_max = 5,           /* MIL reference, maximum rank */
     .kernel_width_max = 15}, /* ANEForge, limits by chip */
    {.mask = MW_DEVICE_CPU,
     .name = "CPU",
     .engine = "CPU, types as declared",
     .lowering = MW__LOWERING_NATIVE,
     .rank_max = MW_RANK_MAX,
     .kernel_width_max = INT64_MAX},
    {.mask = MW_DEVICE_GPU,
     .name = "GPU",
     .lowering = MW__LOWERING_NATIVE,
     .rank_max = MW_RANK_MAX,
     .kernel_width_max = INT64_MAX},
};

const mw__device_traits *mw__device_find(uint64_t mask)
{
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        if ((devices[i].mask & mask) != 0)
            return &devices[i];
    return NULL;
}

typedef struct generation {
    mw_chip chip;
    int64_t axis_max;
} generation;

static const generation generations[] = {
    {.chip = MW_CHIP_AUTO, .axis_max = MW__DEVICE_AXIS_MAX},
    {.chip = MW_CHIP_H13, .axis_max = 16384},
    {.chip = MW_CHIP_H14, .axis_max = 16384},
    {.chip = MW_CHIP_H15, .axis_max = 16384},
    {.chip = MW_CHIP_H16, .axis_max = 65536},
    {.chip = MW_CHIP_H17, .axis_max = 65536},
};

int64_t mw__device_axis_max(mw_chip chip)
{
    for (size_t i = 0; i < sizeof generations / sizeof *generations; i++)
        if (generations[i].chip == chip)
            return generations[i].axis_max;
    return 0;
}

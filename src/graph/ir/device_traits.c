/* The rows of graph/ir/device_traits.h. */
#include "graph/ir/device_traits.h"

/* In the order in which a mask of several is searched. */
static const mw__device_traits devices[] = {
    {.mask = MW_DEVICE_ANE,
     .name = "ANE",
     .engine = "ANE model",
     .half_ports = true,
     .constant_weights = true, /* ANEForge, dynamic convolution */
     .is_chip = true,
     .lowering = MW__LOWERING_DECOMPOSED},
    {.mask = MW_DEVICE_CPU, .name = "CPU", .engine = "CPU, types as declared", .lowering = MW__LOWERING_NATIVE},
    {.mask = MW_DEVICE_GPU, .name = "GPU", .lowering = MW__LOWERING_NATIVE},
};

const mw__device_traits *mw__device_find(uint64_t mask)
{
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        if ((devices[i].mask & mask) != 0)
            return &devices[i];
    return NULL;
}

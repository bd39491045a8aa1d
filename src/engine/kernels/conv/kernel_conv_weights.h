/* The weight of a packed convolution (kernel_conv_packed.h), packed by a step of its own: for each group, grid and
 * panel of output channels [depth, rows], zeros for channels that are not there. */
#ifndef MW__ENGINE_KERNELS_CONV_KERNEL_CONV_WEIGHTS_H
#define MW__ENGINE_KERNELS_CONV_KERNEL_CONV_WEIGHTS_H

#include "engine/kernels/conv/kernel_conv_packed.h"

typedef struct mw__packed_weights {
    int64_t groups, inputs, outputs; /* channels of a group */
    int64_t taps;                    /* of the kernel */
    int64_t grids;
    const mw__packed_grid *grid;
    const mw__packed_code *code;
    int64_t rows, panels; /* of output channels: of a panel, and how many */
    int64_t floats;       /* of a group */
    bool transposed;
} mw__packed_weights;

/* Of all taps, or without those that meet nothing but the border. False after a failed allocation. */
bool mw__packed_weights_read(mw__planner *planner, const mw__packed_request *request, bool all,
                             mw__packed_weights *out);
/* Plans the packing; returns its buffer. `weights` is one of a block. */
uint32_t mw__packed_weights_plan(mw__planner *planner, const mw__packed_weights *weights,
                                 const mw__packed_request *request);

#endif

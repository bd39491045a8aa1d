/* Direct convolution: what its two kernels, forward and weight gradient, share. The elements of x that one column of
 * the kernel meets are copied densely, rows of one phase of the stride together, so that every tap of every output
 * vector is one contiguous load, across the ends of rows too:
 *
 *     y[o][v ..] = sum over i of weight[o][i] copy[tap[i] + v ..]      i runs over input channels and taps
 *
 * Vectors are 8 floats of a plane of y; the last overlaps the one before it. */
#ifndef MW__ENGINE_KERNELS_KERNEL_CONV_DIRECT_H
#define MW__ENGINE_KERNELS_KERNEL_CONV_DIRECT_H

#include "engine/kernels/kernel_conv.h"

#define MW__DIRECT_WIDTH   8 /* floats of a vector */
#define MW__DIRECT_OUTPUTS 4 /* of a tile */
#define MW__DIRECT_VECTORS 3 /* of a tile */

typedef struct mw__direct {
    mw__conv_window window;
    int64_t groups, inputs, outputs;     /* channels of a group */
    int64_t examples, depth;             /* depth = inputs * taps */
    int64_t phase, column, plane, image; /* floats of a phase of rows, a column of
                                            the kernel, a channel, a group */
    int64_t vectors, whole;              /* of a plane of y; `whole` overlap none before them */
    int64_t fresh;                       /* elements of the other one, if any, that no vector before it
                                            holds */
    const int32_t *tap;                  /* [depth] */
} mw__direct;

/* True if the direct kernels take this convolution: fp32, at most two spatial axes, results of at least a vector, a
 * group of channels that fits a cache. Asks window, inputs and outputs. */
bool mw__direct_suits(const mw__direct *direct, mw_dtype dtype);
/* Fills the rest from window, groups, inputs, outputs and examples. */
void mw__direct_prepare(mw__planner *planner, mw__direct *direct);
/* The channels of one group of one example, x, to `out`, `image` floats. */
void mw__direct_copy(const mw__direct *direct, const float *x, float *out);

/* The row of conv (implementation.h). */
const char *mw__conv_direct_declines(const void *op);
/* Plans conv as direct steps. */
mw_status mw__plan_conv_direct(mw__planner *planner, const mw__direct *direct, const mw__op *op, mw_error *err);

#endif

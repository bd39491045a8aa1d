/* Direct convolution: what its two kernels, forward and weight gradient, share. The elements of x that one column of
 * the kernel meets are copied densely, rows of one phase of the stride together, so that every tap of every output
 * vector is one contiguous load, across the ends of rows too:
 *
 *     y[o][v ..] = sum over i of weight[o][i] copy[tap[i] + v ..]      i runs over input channels and taps
 *
 * Vectors are 8 floats of a plane of y; the last overlaps the one before it. An image beyond the cache is copied and
 * computed in bands of rows of y, of which the last overlaps the one before it, too. */
#ifndef MW__ENGINE_KERNELS_KERNEL_CONV_DIRECT_H
#define MW__ENGINE_KERNELS_KERNEL_CONV_DIRECT_H

#include "engine/kernels/conv/kernel_conv_packed.h"

#define MW__DIRECT_WIDTH   8 /* floats of a vector */
#define MW__DIRECT_OUTPUTS 4 /* of a tile */
#define MW__DIRECT_VECTORS 3 /* of a tile */

typedef struct mw__direct {
    mw__conv_window window;
    int64_t groups, inputs, outputs;     /* channels of a group */
    int64_t rows;                        /* of y that are computed together */
    bool reversed;                       /* a transpose without strides: weight [inputs, outputs, taps from the last] */
    int64_t examples, depth;             /* depth = inputs * taps */
    int64_t phase, column, plane, image; /* floats of a phase of rows, a column of
                                            the kernel, a channel, a group */
    int64_t positions;                   /* of those rows of y */
    int64_t vectors, whole;              /* of them; `whole` overlap none before them */
    int64_t fresh;                       /* elements of the other one, if any, that no vector before it
                                            holds */
    const int32_t *tap;                  /* [depth] */
} mw__direct;

/* True if the direct kernels take this convolution: fp32, at most two spatial axes, results of at least a vector, a
 * group of channels that fits a cache. Asks window, inputs and outputs; fills `rows`, with fewer than all if
 * `in_bands`.
 */
bool mw__direct_suits(mw__direct *direct, mw_dtype dtype, bool in_bands);
/* Fills the rest from window, groups, inputs, outputs, rows and examples. */
void mw__direct_prepare(mw__planner *planner, mw__direct *direct);
/* What rows of y from `first` on take of the channels of one group of one example, x, to `out`, `image` floats. */
void mw__direct_copy(const mw__direct *direct, const float *x, int64_t first, float *out);

/* Why they do not take a convolution, or a transpose, a static sentence; NULL: they do. */
const char *mw__conv_direct_declines(const mw__packed_request *request);
mw_status mw__plan_conv_direct(mw__planner *planner, const mw__packed_request *request, mw_error *err);
/* The same as a row of conv and of conv_transpose (implementation.h). */
const char *mw__conv_row_direct_declines(const void *op);
mw_status mw__plan_conv_row_direct(mw__planner *planner, const mw__op *op, mw_error *err);

#endif

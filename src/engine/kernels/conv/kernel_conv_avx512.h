/* Convolution with AVX-512: lanes are output channels, and a tile of up to 14 positions of a row by 32 channels stays
 * in registers while input channels and taps run, in the order of kernel_conv_direct.c and so with its bits. An example
 * is copied into a frame with its border, so that tiles anywhere are one loop, which leaves out rows and columns of the
 * kernel that meet the border alone (kernel_conv_row_avx512.c); with a stride, columns of one phase lie together:
 *
 *     y[p][o ..] = bias[o ..] + sum over i of frame[row + tap[i] + p] weight[i][o ..]     i: input channels and taps */
#ifndef MW__ENGINE_KERNELS_CONV_KERNEL_CONV_AVX512_H
#define MW__ENGINE_KERNELS_CONV_KERNEL_CONV_AVX512_H

#include "engine/kernels/conv/kernel_conv_packed.h"

#define MW__CONV_LANES 16
#define MW__CONV_PANEL 32  /* channels of a tile, at most */
#define MW__CONV_LINE  128 /* positions of y at a time, about */

typedef struct mw__conv_avx512 {
    mw__conv_window window;
    int64_t groups, inputs, outputs;   /* channels of a group */
    int64_t examples, depth;           /* depth = inputs * taps */
    int64_t phases, width;             /* of columns of the frame, and floats of one */
    int64_t band, bands;               /* rows of y under a frame, and frames of an example */
    int64_t pitch, rows, plane, frame; /* floats of a row, rows, floats of a channel and of a group */
    int64_t lanes, panels;             /* channels rounded up to vectors; panels of 32 */
    const int32_t *tap;                /* [depth] */
    bool transposed;                   /* the weight is [inputs, outputs, taps] of each group, from the last tap on */
    bool blocks;                       /* sums begin anew every MW__PACKED_DEPTH of i, and are added */
} mw__conv_avx512;

/* True, with the numbers of `conv` in *out and one frame for each example, if the AVX-512 kernels take `conv`. False
 * if AVX-512 is not to be used or does not pay: for types other than fp32, for three spatial axes, few channels, or
 * a frame larger than the cache. */
bool mw__conv_avx512_read(const mw__op *conv, mw__conv_avx512 *out);
/* Fills `tap`. */
void mw__conv_avx512_prepare(mw__planner *planner, mw__conv_avx512 *conv);

/* Plans the packing of weight and bias, which may be NULL; returns its buffer, [groups, weights] floats. */
uint32_t mw__conv_avx512_pack(mw__planner *planner, const mw__conv_avx512 *conv, const mw_tensor *weight,
                              const mw_tensor *bias);
int64_t mw__conv_avx512_weights(const mw__conv_avx512 *conv);
int64_t mw__conv_avx512_panel_floats(const mw__conv_avx512 *conv);

/* The channels of one group of one example to the frame of a band of rows, in a frame that was zero before the first.
 */
void mw__conv_avx512_copy(const mw__conv_avx512 *conv, const float *x, int64_t band, float *frame);
/* Row `row` of those of y under the frame of a band, with bias: out [width of y, MW__CONV_PANEL], of which `panel`
 * writes its columns. */
void mw__conv_avx512_row(const mw__conv_avx512 *conv, const float *frame, const float *packed, int64_t panel,
                         int64_t band, int64_t row, float *out);
/* Channels of a panel. */
int64_t mw__conv_avx512_panel(const mw__conv_avx512 *conv, int64_t panel);
/* Does to lines [positions, MW__CONV_PANEL] what becomes of the sums of so many channels; bias: theirs, or NULL. */
void mw__conv_avx512_finish(const mw__packed_finish *columns, const float *bias, int64_t channels, int64_t positions,
                            float *lines);
/* x [positions, MW__CONV_PANEL] to planes of `area` floats, of which `positions` are written, for up to 32 channels. */
void mw__conv_avx512_transpose(const float *x, int64_t positions, int64_t channels, float *planes, int64_t area);

/* The row of conv (implementation.h). */
const char *mw__conv_avx512_declines(const void *op);
mw_status mw__plan_conv_avx512(mw__planner *planner, const mw__op *op, mw_error *err);
/* The same for a request, whose transpose without strides is a convolution with the weight read from its end. */
const char *mw__conv_request_avx512_declines(const void *request);
mw_status mw__plan_conv_request_avx512(mw__planner *planner, const mw__packed_request *request, mw_error *err);
/* The same for the form for chips, where `columns` is not NULL. */
bool mw__conv_avx512_takes(const mw__packed_request *request, mw__conv_avx512 *out);
mw_status mw__plan_conv_avx512_columns(mw__planner *planner, const mw__packed_request *request, mw_error *err);

#endif

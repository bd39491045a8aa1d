/* Convolution and its transpose in one, two or three dimensions, and their layers.
 *
 *     mw_conv_options same = mw_conv_defaults();
 *     same.pad_type = MW_PAD_SAME;
 *     mw_tensor *h = mw_relu(mw_conv_layer(x, 32, MW_SHAPE(3, 3), "conv1", &same));   // conv1.weight [32, C, 3, 3]
 *
 * N is the batch, C input channels, O output channels, G groups, *S the spatial extents (one to three), *K those of the
 * kernel, b and a the border before and after an axis, s stride and d dilation. A NULL operand yields NULL (except
 * where NULL is said to mean none); results live as long as the graph.
 *
 * Threads: as the rest of a graph: calls on one graph come one at a time, from any thread; other graphs do not mind. */
#ifndef MILLWRIGHT_OPS_CONV_H
#define MILLWRIGHT_OPS_CONV_H

#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The numbers of a convolution; fill it with mw_conv_defaults. Entry i of stride and dilation, and entries 2i (before)
 *  and 2i + 1 (after) of pad, belong to spatial axis i. */
typedef struct mw_conv_options {
    size_t struct_size;    /* set by mw_conv_defaults */
    int64_t stride[3];     /* s >= 1; default 1 */
    int64_t dilation[3];   /* d >= 1: a kernel of K elements covers (K - 1) d + 1; default 1 */
    int64_t groups;        /* G >= 1; divides C and O. G = C is a depthwise convolution; default 1 */
    mw_pad_type pad_type;  /* default MW_PAD_VALID; MW_PAD_SAME_LOWER is not for conv_transpose */
    int64_t pad[6];        /* >= 0, for MW_PAD_CUSTOM; default 0 */
    bool bias;             /* of a layer: has it one? Default true */
    mw_shape output_shape; /* of conv_transpose: [N, O, *S] of the result; rank 0 (the default) = by the formula */
} mw_conv_options;

/** Returns the default options. */
MW_API mw_conv_options mw_conv_defaults(void);

/** y[n, o, p] = bias[o] + sum over c, k of x[n, c, p s + k d - b] weight[o, c, k]: cross-correlation, the kernel
 *  is not flipped; x is 0 outside, and channel o sees the C / G channels of its group.
 *  x        [N, C, *S]      F16 or F32
 *  weight   [O, C / G, *K]  dtype of x; from MW_IOS17 on also the other of F16 and F32, and bias with it: sums are of
 *           fp32 then, and y is rounded once
 *  bias     [O]             dtype of x; NULL = none
 *  options  NULL = mw_conv_defaults()
 *  return   [N, O, floor((S + b + a - ((K - 1) d + 1)) / s) + 1 for each axis]; sums are kept in fp32, rounded once
 *  errors   MW_ERROR_SHAPE for ranks, channels or groups that do not fit or a kernel larger than the padded x;
 *           MW_ERROR_ARGUMENT for a stride, dilation or group below 1 or a negative pad; MW_ERROR_DTYPE
 *  vjp      dx = conv_transpose(dy, weight), dweight = conv of x with dy over the batch, dbias = sum of dy over all
 *           axes but the channels
 *  source   MIL conv. Its weight may be computed only without dilation: one that is dilated is spread with zeros.
 *           Before ios17 its bias must be a constant: another is added */
MW_API mw_tensor *mw_conv(mw_tensor *x, mw_tensor *weight, mw_tensor *bias, const mw_conv_options *options);

/** The transpose of the linear map mw_conv, with the same numbers: y[n, o, p s + k d - b] = bias[o] + sum of x[n,
 *  c, p] weight[c, o, k].
 *  x        [N, C, *S]      F16 or F32
 *  weight   [C, O / G, *K]  dtype of x, or as for mw_conv
 *  bias     [O]             dtype of x; NULL = none
 *  options  NULL = mw_conv_defaults(). MW_PAD_SAME gives s S; MW_PAD_CUSTOM crops `pad` from the result. With
 *           output_shape, or MW_PAD_SAME, the crop total is s (S - 1) + (K - 1) d + 1 - out, floor(total / 2) of it
 *           before; a result that is longer than that ends in at most s - 1 positions that hold the bias alone
 *  return   [N, O, s (S - 1) + (K - 1) d + 1 - b - a for each axis]
 *  errors   as mw_conv; MW_ERROR_SHAPE if nothing is left of the result or output_shape does not fit
 *  vjp      dx = conv(dy, weight), dweight = conv of dy with x over the batch, dbias as mw_conv
 *  source   MIL conv_transpose, whose weight must be a constant: another one gives the gradient form of conv. The
 *           crop of output_shape is that of ONNX ConvTranspose, MW_PAD_SAME that of TensorFlow */
MW_API mw_tensor *mw_conv_transpose(mw_tensor *x, mw_tensor *weight, mw_tensor *bias, const mw_conv_options *options);

/** mw_conv with new parameters: PyTorch's Conv1d, Conv2d and Conv3d.
 *  x         [N, C, *S]  F16 or F32; C must be known
 *  channels  O > 0
 *  kernel    *K, one extent for each spatial axis of x
 *  name      the parameters are `name`.weight [O, C / G, *K] and, if options say so, `name`.bias [O], both uniform in
 *            +-1/sqrt(C / G * product of *K), dtype of x
 *  options   NULL = mw_conv_defaults()
 *  return    as mw_conv
 *  errors    as mw_conv; MW_ERROR_ARGUMENT for channels < 1 or a name that is taken
 *  vjp       as mw_conv */
MW_API mw_tensor *mw_conv_layer(mw_tensor *x, int64_t channels, mw_shape kernel, const char *name,
                                const mw_conv_options *options);

/** mw_conv_transpose with new parameters: PyTorch's ConvTranspose1d, 2d and 3d.
 *  name      the parameters are `name`.weight [C, O / G, *K] and `name`.bias [O], both uniform in
 *            +-1/sqrt(O / G * product of *K), dtype of x; the rest as mw_conv_layer */
MW_API mw_tensor *mw_conv_transpose_layer(mw_tensor *x, int64_t channels, mw_shape kernel, const char *name,
                                          const mw_conv_options *options);

#ifdef __cplusplus
}
#endif
#endif

/* Convolution as a linear map between x and y, its transpose and its weight gradient, written so that the engine or a
 * chip accepts them: the form is that of the graph (mw__lowering in graph/ir/ir_types.h).
 *
 *     mw__conv conv;
 *     if (mw__conv_read(op, &conv))
 *         dx = mw__conv_dx(&conv, dy, weight);
 *
 * Axes: x [N, C, *in], y [N, O, *out], weight [O, C / groups, *kernel]; y[p] takes x[p stride + k dilation - before].
 * conv_transpose maps y to x. Weights may be computed or constant. */
#ifndef MW__GRAPH_PATTERNS_CONV_H
#define MW__GRAPH_PATTERNS_CONV_H

#include "base/visible.h"
#include "graph/ir/ir.h"

#define MW__CONV_AXES 3

typedef struct mw__conv {
    int axes; /* spatial */
    int64_t groups;
    int64_t kernel[MW__CONV_AXES], stride[MW__CONV_AXES], dilation[MW__CONV_AXES];
    int64_t before[MW__CONV_AXES]; /* zeros before x, >= 0 */
    int64_t in[MW__CONV_AXES], out[MW__CONV_AXES];
} mw__conv;

/* The numbers of a conv or conv_transpose; false if extents are not known or the operation is not valid. */
MW__SIBLING bool mw__conv_read(const mw__op *op, mw__conv *out);
/* Elements that a dilated kernel covers. */
int64_t mw__conv_cover(const mw__conv *conv, int axis);
/* Zeros after x that the last window reaches; negative = elements of x that no window reaches. */
int64_t mw__conv_after(const mw__conv *conv, int axis);

/* y = conv(x, weight) */
mw_tensor *mw__conv_y(const mw__conv *conv, mw_tensor *x, mw_tensor *weight);
/* x = transpose of the map, applied to y */
mw_tensor *mw__conv_dx(const mw__conv *conv, mw_tensor *dy, mw_tensor *weight);
/* sum over the batch of x times dy */
mw_tensor *mw__conv_dweight(const mw__conv *conv, mw_tensor *x, mw_tensor *dy);
/* sum of dy over the batch and the spatial axes */
mw_tensor *mw__conv_dbias(mw_tensor *dy);
/* y + bias[channel] */
mw_tensor *mw__conv_add_bias(mw_tensor *y, mw_tensor *bias);
/* The weight with dilation - 1 zeros between its elements. */
mw_tensor *mw__conv_dilate_weight(mw_tensor *weight, const int64_t *dilation);
/* The elements of dy, a gradient by that, that are between the zeros, as a gradient by `weight`. */
mw_tensor *mw__conv_undilate_gradient(mw_tensor *dy, const mw_tensor *weight);
/* In a program for chips: conv of a weight spread so as that of the weight before, which is returned; else `weight`,
 * and conv stays. */
mw_tensor *mw__conv_narrow(mw__conv *conv, mw_tensor *weight);
/* The weight of which `wide` is made so, and the dilation of each spatial axis; NULL if it is nothing like that. */
const mw_tensor *mw__conv_undilated(const mw_tensor *wide, int64_t *out_dilation);

#endif

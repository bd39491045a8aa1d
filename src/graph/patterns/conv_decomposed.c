/* The forms of convolution for chips, which refuse a conv whose weight is computed: each element of the kernel is a
 * strided slice of x, the slices are stacked on an axis that is not the last, and batched products sum over them. No
 * tensor has more than five axes. */
#include "graph/patterns/conv_decomposed.h"

#include "graph/ir/device_traits.h"

#include <millwright/ops/elementwise.h>
#include <millwright/ops/matmul.h>
#include <millwright/ops/shape.h>

static int64_t product(const int64_t *extents, int count)
{
    int64_t all = 1;
    for (int i = 0; i < count; i++)
        all *= extents[i];
    return all;
}

/* What kernel element `index` is multiplied with of the bordered x: [N, C, 1, positions]. */
static mw_tensor *kernel_slice(const mw__conv *conv, mw_tensor *x, int64_t index)
{
    mw_slice slices[2 + MW__CONV_AXES] = {{.from_start = true, .to_end = true}, {.from_start = true, .to_end = true}};
    const mw_shape shape = mw_tensor_shape(x);
    bool whole = true;
    for (int i = conv->axes - 1; i >= 0; i--) {
        const int64_t begin = index % conv->kernel[i] * conv->dilation[i];
        index /= conv->kernel[i];
        slices[i + 2] = (mw_slice){
            .begin = begin, .end = begin + (conv->out[i] - 1) * conv->stride[i] + 1, .stride = conv->stride[i]};
        whole = whole && begin == 0 && conv->stride[i] == 1 && conv->out[i] == shape.dim[i + 2];
    }
    mw_tensor *part = whole ? x : mw_slice_by_index(x, slices);
    return mw__reshape_to(part, MW_SHAPE(shape.dim[0], shape.dim[1], 1, product(conv->out, conv->axes)));
}

/* x with its border, and the numbers of the convolution without one. */
static mw_tensor *border(const mw__conv *conv, mw_tensor *x, mw__conv *out)
{
    int64_t after[MW__CONV_AXES];
    *out = *conv;
    for (int i = 0; i < conv->axes; i++) {
        after[i] = mw__conv_after(conv, i);
        out->before[i] = 0;
        out->in[i] = conv->in[i] + conv->before[i] + after[i];
    }
    return mw__conv_fit(x, conv->axes, conv->before, after);
}

mw_tensor *mw__conv_decomposed_columns(const mw__conv *conv, mw_tensor *x)
{
    if (x == NULL)
        return NULL;
    mw_graph *graph = x->graph;
    const mw_shape shape = mw_tensor_shape(x);
    const int64_t count = product(conv->kernel, conv->axes);
    mw_tensor **parts = mw__arena_alloc(&graph->arena, (size_t)count, sizeof *parts, &graph->error);
    if (parts == NULL)
        return NULL;
    for (int64_t i = 0; i < count; i++) {
        parts[i] = kernel_slice(conv, x, i);
        if (parts[i] == NULL)
            return NULL;
    }
    mw_tensor *stack = count > 1 ? mw_concat(parts, (size_t)count, 2) : parts[0];
    return mw__reshape_to(stack, MW_SHAPE(shape.dim[0], conv->groups, shape.dim[1] / conv->groups * count,
                                          product(conv->out, conv->axes)));
}

/* ---- bands: so many rows of the outermost spatial axis that their positions fit one axis ---- */

static int64_t rows_of_band(const mw__conv *conv)
{
    const int64_t row = product(conv->out + 1, conv->axes - 1),
                  rows = row > 0 ? MW__DEVICE_AXIS_MAX / row : conv->out[0];
    return rows < 1 ? 1 : rows < conv->out[0] ? rows : conv->out[0];
}

static int64_t band_count(const mw__conv *conv)
{
    const int64_t rows = rows_of_band(conv);
    return rows > 0 ? (conv->out[0] + rows - 1) / rows : 1;
}

/* `count` elements of axis 2 */
static mw_tensor *cut_rows(mw_tensor *x, int64_t first, int64_t count)
{
    mw_shape shape = mw_tensor_shape(x);
    const int64_t begin[MW_RANK_MAX] = {0, 0, first};
    shape.dim[2] = count;
    return mw_slice_by_size(x, begin, shape.dim);
}

/* The convolution of one band: its numbers and its part of a bordered x. */
static mw_tensor *cut_band(const mw__conv *conv, mw_tensor *x, int64_t index, mw__conv *out)
{
    const int64_t rows = rows_of_band(conv), first = index * rows, left = conv->out[0] - first;
    *out = *conv;
    if (band_count(conv) == 1)
        return x;
    out->out[0] = rows < left ? rows : left;
    out->in[0] = (out->out[0] - 1) * conv->stride[0] + mw__conv_cover(conv, 0);
    return cut_rows(x, first * conv->stride[0], out->in[0]);
}

/* ---- y ---- */

static mw_tensor *band_y(const mw__conv *conv, mw_tensor *x, mw_tensor *kernel)
{
    mw_shape y = {.rank = 2 + conv->axes, .dim = {mw_tensor_shape(x).dim[0]}};
    y.dim[1] = conv->groups * mw_tensor_shape(kernel).dim[2];
    for (int i = 0; i < conv->axes; i++)
        y.dim[i + 2] = conv->out[i];
    return mw__reshape_to(mw_matmul(kernel, mw__conv_decomposed_columns(conv, x), MW_TRANSPOSE_NONE), y);
}

mw_tensor *mw__conv_decomposed_y(const mw__conv *conv, mw_tensor *x, mw_tensor *weight)
{
    const mw_shape shape = mw_tensor_shape(weight);
    const int64_t outputs = shape.dim[0], depth = shape.dim[1] * product(conv->kernel, conv->axes);
    const int64_t count = band_count(conv);
    mw_graph *graph = x->graph;
    mw__conv whole, band;
    mw_tensor **parts = mw__arena_alloc(&graph->arena, (size_t)count, sizeof *parts, &graph->error);
    x = border(conv, x, &whole);
    mw_tensor *kernel = mw__reshape_to(weight, MW_SHAPE(1, conv->groups, outputs / conv->groups, depth));
    if (parts == NULL || x == NULL || kernel == NULL)
        return NULL;
    for (int64_t i = 0; i < count; i++) {
        mw_tensor *part = cut_band(&whole, x, i, &band);
        parts[i] = part != NULL ? band_y(&band, part, kernel) : NULL;
        if (parts[i] == NULL)
            return NULL;
    }
    return count > 1 ? mw_concat(parts, (size_t)count, 2) : parts[0];
}

/* ---- dweight ---- */

static mw_tensor *ones(const mw_tensor *like, mw_shape shape)
{
    return like != NULL ? mw_fill(like->graph, mw_tensor_dtype(like), shape, 1.0) : NULL;
}

/* Products per example, then their sum as a product with ones: a product keeps its sums wide where reduce_sum on a chip
 * may not. */
static mw_tensor *band_dweight(const mw__conv *conv, mw_tensor *x, mw_tensor *dy)
{
    const mw_shape in = mw_tensor_shape(x), out = mw_tensor_shape(dy);
    const int64_t n = in.dim[0], outputs = out.dim[1], group = outputs / conv->groups;
    mw_shape shape = {.rank = 2 + conv->axes, .dim = {outputs, in.dim[1] / conv->groups}};
    for (int i = 0; i < conv->axes; i++)
        shape.dim[i + 2] = conv->kernel[i];
    mw_tensor *seen = mw__conv_decomposed_columns(conv, x);
    mw_tensor *rows = mw__reshape_to(dy, MW_SHAPE(n, conv->groups, group, product(conv->out, conv->axes)));
    mw_tensor *each = mw_matmul(rows, seen, MW_TRANSPOSE_Y); /* [N, G, O / G, C / G * kernel] */
    if (n == 1)
        return mw__reshape_to(each, shape);
    mw_tensor *inner = mw_transpose(each, MW_AXES(1, 2, 0, 3));
    return mw__reshape_to(mw_matmul(ones(each, MW_SHAPE(1, 1, 1, n)), inner, MW_TRANSPOSE_NONE), shape);
}

mw_tensor *mw__conv_decomposed_dweight(const mw__conv *conv, mw_tensor *x, mw_tensor *dy)
{
    mw__conv whole, band;
    mw_tensor *sum = NULL;
    x = border(conv, x, &whole);
    for (int64_t i = 0, first = 0; x != NULL && i < band_count(conv); i++, first += band.out[0]) {
        mw_tensor *part = cut_band(&whole, x, i, &band);
        mw_tensor *rows = band_count(conv) > 1 ? cut_rows(dy, first, band.out[0]) : dy;
        mw_tensor *dweight = part != NULL && rows != NULL ? band_dweight(&band, part, rows) : NULL;
        sum = sum != NULL ? mw_add(sum, dweight) : dweight;
        if (sum == NULL)
            return NULL;
    }
    return sum;
}

/* ---- dbias ---- */

/* [A, B, positions] -> [A, B]; a long axis is summed line by line first. */
static mw_tensor *sum_positions(mw_tensor *dy)
{
    const mw_shape shape = mw_tensor_shape(dy);
    const int64_t n = shape.dim[0], channels = shape.dim[1], positions = product(shape.dim + 2, shape.rank - 2);
    const int64_t line = shape.dim[shape.rank - 1];
    mw_tensor *rows;
    int64_t count = positions;
    if (positions > MW__DEVICE_AXIS_MAX && shape.rank > 3) {
        count = positions / line;
        mw_tensor *lines = mw__reshape_to(dy, MW_SHAPE(n, channels, count, line));
        rows = mw__reshape_to(mw_matmul(lines, ones(dy, MW_SHAPE(1, 1, line, 1)), MW_TRANSPOSE_NONE),
                              MW_SHAPE(n, channels, count));
    } else {
        rows = mw__reshape_to(dy, MW_SHAPE(n, channels, positions));
    }
    return mw__reshape_to(mw_matmul(rows, ones(dy, MW_SHAPE(1, count, 1)), MW_TRANSPOSE_NONE), MW_SHAPE(n, channels));
}

mw_tensor *mw__conv_decomposed_dbias(mw_tensor *dy)
{
    const mw_shape shape = mw_tensor_shape(dy);
    mw_tensor *each = sum_positions(dy);
    return mw__reshape_to(mw_matmul(ones(dy, MW_SHAPE(1, shape.dim[0])), each, MW_TRANSPOSE_NONE),
                          MW_SHAPE(shape.dim[1]));
}

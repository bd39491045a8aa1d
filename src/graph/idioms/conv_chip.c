/* The forms of convolution for chips, which refuse a conv whose weight is computed: each element of the kernel is a
 * strided slice of x, the slices are stacked on an axis that is not the last, and batched products sum over them. No
 * tensor has more than five axes. */
#include "graph/idioms/conv_chip.h"

#include <millwright/op_matmul.h>
#include <millwright/op_shape.h>

static int64_t product(const int64_t *extents, int count)
{
    int64_t all = 1;
    for (int i = 0; i < count; i++)
        all *= extents[i];
    return all;
}

/* What kernel element `index` meets of the bordered x: [N, C, 1, positions]. */
static mw_tensor *kernel_slice(const mw__conv *conv, mw_tensor *x, int64_t index)
{
    mw_slice slices[2 + MW__CONV_AXES] = {{.from_start = true, .to_end = true}, {.from_start = true, .to_end = true}};
    const mw_shape shape = mw_tensor_shape(x);
    for (int i = conv->axes - 1; i >= 0; i--) {
        const int64_t begin = index % conv->kernel[i] * conv->dilation[i];
        index /= conv->kernel[i];
        slices[i + 2] = (mw_slice){
            .begin = begin, .end = begin + (conv->out[i] - 1) * conv->stride[i] + 1, .stride = conv->stride[i]};
    }
    mw_tensor *part = mw_slice_by_index(x, slices);
    return mw_reshape(part, MW_SHAPE(shape.dim[0], shape.dim[1], 1, product(conv->out, conv->axes)));
}

/* [N, G, C / G * kernel, positions] */
static mw_tensor *columns(const mw__conv *conv, mw_tensor *x)
{
    mw_graph *graph = x->graph;
    const mw_shape shape = mw_tensor_shape(x);
    const int64_t count = product(conv->kernel, conv->axes);
    int64_t after[MW__CONV_AXES];
    mw_tensor **parts = mw__arena_alloc(&graph->arena, (size_t)count, sizeof *parts, &graph->error);
    if (parts == NULL)
        return NULL;
    for (int i = 0; i < conv->axes; i++)
        after[i] = mw__conv_after(conv, i);
    x = mw__conv_fit(x, conv->axes, conv->before, after);
    for (int64_t i = 0; i < count; i++) {
        parts[i] = kernel_slice(conv, x, i);
        if (parts[i] == NULL)
            return NULL;
    }
    mw_tensor *stack = count > 1 ? mw_concat(parts, (size_t)count, 2) : parts[0];
    return mw_reshape(stack, MW_SHAPE(shape.dim[0], conv->groups, shape.dim[1] / conv->groups * count,
                                      product(conv->out, conv->axes)));
}

mw_tensor *mw__conv_chip_y(const mw__conv *conv, mw_tensor *x, mw_tensor *weight)
{
    const mw_shape shape = mw_tensor_shape(weight);
    const int64_t outputs = shape.dim[0], depth = shape.dim[1] * product(conv->kernel, conv->axes);
    mw_shape y = {.rank = 2 + conv->axes, .dim = {mw_tensor_shape(x).dim[0], outputs}};
    for (int i = 0; i < conv->axes; i++)
        y.dim[i + 2] = conv->out[i];
    mw_tensor *seen = columns(conv, x);
    mw_tensor *kernel = mw_reshape(weight, MW_SHAPE(1, conv->groups, outputs / conv->groups, depth));
    return mw_reshape(mw_matmul(kernel, seen, false, false), y);
}

static mw_tensor *ones(mw_tensor *like, mw_shape shape)
{
    return like != NULL ? mw_fill(like->graph, mw_tensor_dtype(like), shape, 1.0) : NULL;
}

/* Products per example, then their sum as a product with ones: a product keeps its sums wide where reduce_sum on a chip
 * may not. */
mw_tensor *mw__conv_chip_dweight(const mw__conv *conv, mw_tensor *x, mw_tensor *dy)
{
    const mw_shape in = mw_tensor_shape(x), out = mw_tensor_shape(dy);
    const int64_t n = in.dim[0], outputs = out.dim[1], group = outputs / conv->groups;
    mw_shape shape = {.rank = 2 + conv->axes, .dim = {outputs, in.dim[1] / conv->groups}};
    for (int i = 0; i < conv->axes; i++)
        shape.dim[i + 2] = conv->kernel[i];
    mw_tensor *seen = columns(conv, x);
    mw_tensor *rows = mw_reshape(dy, MW_SHAPE(n, conv->groups, group, product(conv->out, conv->axes)));
    mw_tensor *each = mw_matmul(rows, seen, false, true); /* [N, G, O / G, C / G * kernel] */
    if (n == 1)
        return mw_reshape(each, shape);
    mw_tensor *inner = mw_transpose(each, MW_AXES(1, 2, 0, 3));
    return mw_reshape(mw_matmul(ones(each, MW_SHAPE(1, 1, 1, n)), inner, false, false), shape);
}

mw_tensor *mw__conv_chip_dbias(mw_tensor *dy)
{
    const mw_shape shape = mw_tensor_shape(dy);
    const int64_t n = shape.dim[0], channels = shape.dim[1], positions = product(shape.dim + 2, shape.rank - 2);
    mw_tensor *rows = mw_reshape(dy, MW_SHAPE(n, channels, positions));
    mw_tensor *each = mw_matmul(rows, ones(dy, MW_SHAPE(1, positions, 1)), false, false); /* [N, O, 1] */
    mw_tensor *sums = mw_matmul(ones(dy, MW_SHAPE(1, n)), mw_reshape(each, MW_SHAPE(n, channels)), false, false);
    return mw_reshape(sums, MW_SHAPE(channels));
}

/* The embedding pattern: builders of both forms. */
#include "graph/patterns/embedding.h"

#include <millwright/millwright.h>

/* [.., J, 1] against [extent]: true where an index names a number of the range. */
static mw_tensor *compare_with_range(mw_tensor *indices, mw_shape shape, mw_shape range, int64_t extent)
{
    if (mw_tensor_dtype(indices) != MW_I32)
        indices = mw_cast(indices, MW_I32);
    mw_tensor *numbers = mw_range_1d(mw_tensor_graph(indices), MW_I32, 0.0, (double)extent, 1.0);
    mw_tensor *columns = mw__reshape_to(numbers, range);
    return mw_equal(mw__reshape_to(indices, shape), columns);
}

/* ---- slices ---- */

/* What is added to keeps its shape, so that nothing stands between it and its operation. */
static mw_tensor *slices_native(mw_tensor *onto, mw_tensor *dy, mw_tensor *indices, mw__taken from, mw_shape shape)
{
    const int64_t count = mw_shape_count(mw_tensor_shape(indices));
    mw_shape taken = shape;
    taken.dim[from.axis] = count;
    mw_tensor *sum = onto != NULL ? onto : mw__build_zeros(dy, shape);
    mw_tensor *at = mw__reshape_to(indices, MW_SHAPE(count));
    return mw_scatter(sum, at, mw__reshape_to(dy, taken), from.axis, MW_SCATTER_ADD);
}

/* scatter has no batches, but scatter_along_axis has. */
static mw_tensor *batches_native(mw_tensor *onto, mw_tensor *dy, mw_tensor *indices, mw__taken from, int64_t count)
{
    const mw_shape seen = MW_SHAPE(from.batch, from.outer, from.extent, from.inner);
    mw_tensor *rows = mw__reshape_to(dy, MW_SHAPE(from.batch, from.outer, count, from.inner));
    mw_tensor *sum = onto != NULL ? mw__reshape_to(onto, seen) : mw__build_zeros(dy, seen);
    mw_tensor *flat = mw__reshape_to(indices, MW_SHAPE(from.batch, 1, count, 1));
    mw_tensor *each = mw_tile(flat, MW_SHAPE(1, from.outer, 1, from.inner));
    return mw_scatter_along_axis(sum, each, rows, 2, MW_SCATTER_ADD);
}

/* A product with the one-hot matrix of the indices: exact, and the same on every device. */
static mw_tensor *slices_decomposed(mw_tensor *dy, mw_tensor *indices, mw__taken from, int64_t count)
{
    mw_graph *graph = mw_tensor_graph(dy);
    mw_tensor *hit = compare_with_range(indices, MW_SHAPE(from.batch, 1, count, 1), MW_SHAPE(from.extent), from.extent);
    mw_tensor *one = mw_scalar(graph, mw_tensor_dtype(dy), 1.0), *zero = mw_scalar(graph, mw_tensor_dtype(dy), 0.0);
    mw_tensor *hot = mw_select(hit, one, zero); /* [batch, 1, J, extent] */
    mw_tensor *rows = mw__reshape_to(dy, MW_SHAPE(from.batch, from.outer, count, from.inner));
    return mw_matmul(hot, rows, MW_TRANSPOSE_X);
}

/* The sum of the decomposed form, which is made by itself. */
static mw_tensor *add_onto(mw_tensor *onto, mw_tensor *sum) { return onto != NULL ? mw_add(onto, sum) : sum; }

mw_tensor *mw__embedding_gradient(mw_tensor *onto, mw_tensor *dy, mw_tensor *indices, mw__taken from, mw_shape shape)
{
    if (dy == NULL || indices == NULL)
        return NULL;
    const int64_t count = from.batch > 0 ? mw_shape_count(mw_tensor_shape(indices)) / from.batch : 0;
    if (mw_tensor_graph(dy)->lowering != MW__LOWERING_DECOMPOSED)
        return from.batch == 1 ? slices_native(onto, dy, indices, from, shape)
                               : mw__reshape_to(batches_native(onto, dy, indices, from, count), shape);
    return add_onto(onto, mw__reshape_to(slices_decomposed(dy, indices, from, count), shape));
}

/* ---- elements ---- */

/* [A, 1, J, B] against [extent, 1, 1], and a sum over J. */
static mw_tensor *elements_chip(mw_tensor *dy, mw_tensor *indices, int axis, mw_shape shape)
{
    const mw_shape taken = mw_tensor_shape(dy);
    const mw_shape flat =
        MW_SHAPE(mw__shape_span(taken, 0, axis), 1, taken.dim[axis], mw__shape_span(taken, axis + 1, taken.rank));
    mw_tensor *hit = compare_with_range(indices, flat, MW_SHAPE(shape.dim[axis], 1, 1), shape.dim[axis]);
    mw_tensor *zero = mw_scalar(mw_tensor_graph(dy), mw_tensor_dtype(dy), 0.0);
    mw_tensor *placed = mw_select(hit, mw__reshape_to(dy, flat), zero);
    return mw__reshape_to(mw_reduce_sum(placed, MW_AXES(2), false), shape);
}

mw_tensor *mw__pick_gradient(mw_tensor *onto, mw_tensor *dy, mw_tensor *indices, int axis, mw_shape shape)
{
    if (dy == NULL || indices == NULL)
        return NULL;
    if (mw_tensor_graph(dy)->lowering == MW__LOWERING_DECOMPOSED)
        return add_onto(onto, elements_chip(dy, indices, axis, shape));
    mw_tensor *sum = onto != NULL ? onto : mw__build_zeros(dy, shape);
    return mw_scatter_along_axis(sum, indices, dy, axis, MW_SCATTER_ADD);
}

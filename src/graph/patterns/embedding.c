/* The embedding pattern: builders of both forms. */
#include "graph/patterns/embedding.h"

#include <millwright/millwright.h>

static mw_tensor *zeros(mw_tensor *like, mw_shape shape)
{
    return mw_fill(mw_tensor_graph(like), mw_tensor_dtype(like), shape, 0.0);
}

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

static mw_tensor *slices_native(mw_tensor *dy, mw_tensor *indices, mw__taken from, int64_t count)
{
    mw_tensor *rows = mw__reshape_to(dy, MW_SHAPE(from.batch, from.outer, count, from.inner));
    mw_tensor *sum = zeros(dy, MW_SHAPE(from.batch, from.outer, from.extent, from.inner));
    if (from.batch == 1)
        return mw_scatter(sum, mw__reshape_to(indices, MW_SHAPE(count)), rows, 2, MW_SCATTER_ADD);
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

mw_tensor *mw__embedding_gradient(mw_tensor *dy, mw_tensor *indices, mw__taken from, mw_shape shape)
{
    if (dy == NULL || indices == NULL)
        return NULL;
    const int64_t count = from.batch > 0 ? mw_shape_count(mw_tensor_shape(indices)) / from.batch : 0;
    const bool chip = mw_tensor_graph(dy)->lowering == MW__LOWERING_DECOMPOSED;
    mw_tensor *sum = chip ? slices_decomposed(dy, indices, from, count) : slices_native(dy, indices, from, count);
    return mw__reshape_to(sum, shape);
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

mw_tensor *mw__pick_gradient(mw_tensor *dy, mw_tensor *indices, int axis, mw_shape shape)
{
    if (dy == NULL || indices == NULL)
        return NULL;
    if (mw_tensor_graph(dy)->lowering == MW__LOWERING_DECOMPOSED)
        return elements_chip(dy, indices, axis, shape);
    return mw_scatter_along_axis(zeros(dy, shape), indices, dy, axis, MW_SCATTER_ADD);
}

/* VJPs of choosing by index: cotangents are added where the elements came from (graph/patterns/embedding.h), in place
 * of what came from there before. Constant indices that count up or down are a slice. */
#include "autograd/vjp/rules.h"
#include "graph/patterns/embedding.h"

/* Up to ios16 a negative index counts from the end. Scatters of that opset read them alike, comparisons do not. */
static mw_tensor *count_from_front(const mw__vjp *vjp, mw_tensor *indices, int64_t extent)
{
    if (vjp->op->row->since >= MW_IOS17 || vjp->graph->lowering == MW__LOWERING_NATIVE)
        return indices;
    mw_tensor *negative = mw_less(indices, mw__vjp_scalar_like(indices, 0.0));
    return mw_select(negative, mw_add_scalar(indices, (double)extent), indices);
}

/* The indices as a span of an axis of `extent` elements; false unless they are constant, all of them there, and equally
 * far from each other. */
static bool read_span(const mw_tensor *indices, int64_t extent, bool from_end, mw__span *out)
{
    const mw__payload *payload = indices->payload;
    if (payload == NULL || payload->data == NULL)
        return false;
    const int64_t count = (int64_t)mw__payload_count(payload);
    *out = mw__span_all(count);
    for (int64_t i = 0, last = 0; i < count; i++) {
        int64_t index = mw__payload_int(payload, (size_t)i);
        index += index < 0 && from_end ? extent : 0;
        if (index < 0 || index >= extent)
            return false;
        if (i == 0)
            out->begin = index;
        else if (i == 1)
            out->stride = index - last;
        else if (index - last != out->stride)
            return false;
        last = index;
    }
    return count > 0 && out->stride != 0;
}

/* True if the rows that gather took are a slice; then the slice's gradient is given. */
static bool gave_slice(mw__vjp *vjp, mw_shape shape, int axis)
{
    mw__span spans[MW_RANK_MAX];
    if (mw_shape_count(shape) < 0 ||
        !read_span(mw__vjp_arg(vjp, "indices"), shape.dim[axis], vjp->op->row->since < MW_IOS17, &spans[axis]))
        return false;
    for (int i = 0; i < shape.rank; i++)
        spans[i] = i == axis ? spans[i] : mw__span_all(shape.dim[i]);
    shape.dim[axis] = spans[axis].count;
    mw__vjp_set_part(vjp, "x", mw_reshape(vjp->dy[0], shape), spans);
    return true;
}

/* y = x.shape[:axis] + indices.shape[batch_dims:] + x.shape[axis + 1:], seen as [batch, outer, indices, inner] */
void mw__vjp_gather(mw__vjp *vjp)
{
    mw_tensor *x = mw__vjp_arg(vjp, "x"), *indices = mw__vjp_arg(vjp, "indices");
    mw_shape shape = mw_tensor_shape(x);
    int64_t axis = 0, batch_dims = 0;
    mw__arg_int(vjp->op, "axis", &axis);
    if (vjp->op->row->since >= MW_IOS16)
        mw__arg_int(vjp->op, "batch_dims", &batch_dims);
    int at = (int)(axis < 0 ? axis + shape.rank : axis), batch = (int)batch_dims;
    if (batch == 0 && gave_slice(vjp, shape, at))
        return;
    const mw__taken from = {.batch = mw__shape_span(shape, 0, batch),
                            .outer = mw__shape_span(shape, batch, at),
                            .extent = shape.dim[at],
                            .inner = mw__shape_span(shape, at + 1, shape.rank),
                            .axis = at};
    indices = count_from_front(vjp, indices, from.extent);
    mw_tensor *onto = mw__vjp_so_far(vjp, "x");
    mw__vjp_set_total(vjp, "x", mw__embedding_gradient(onto, vjp->dy[0], indices, from, shape));
}

void mw__vjp_gather_along_axis(mw__vjp *vjp)
{
    mw_tensor *indices = mw__vjp_arg(vjp, "indices");
    const mw_shape shape = mw_tensor_shape(mw__vjp_arg(vjp, "x"));
    int64_t axis = 0;
    mw__arg_int(vjp->op, "axis", &axis);
    const int at = (int)(axis < 0 ? axis + shape.rank : axis);
    indices = count_from_front(vjp, indices, shape.dim[at]);
    mw_tensor *onto = mw__vjp_so_far(vjp, "x");
    mw__vjp_set_total(vjp, "x", mw__pick_gradient(onto, vjp->dy[0], indices, at, shape));
}

/* scatter_nd has no batches: the number of the batch becomes the first coordinate. */
static mw_tensor *with_batch(mw_tensor *indices, int64_t batch, int64_t lookups, int64_t depth)
{
    mw_tensor *numbers = mw_range_1d(mw_tensor_graph(indices), MW_I32, 0.0, (double)batch, 1.0);
    if (mw_tensor_dtype(indices) != MW_I32)
        numbers = mw_cast(numbers, mw_tensor_dtype(indices));
    mw_tensor *column = mw_reshape(numbers, MW_SHAPE(batch, 1, 1));
    mw_tensor *parts[2] = {mw_tile(column, MW_SHAPE(1, lookups, 1)),
                           mw_reshape(indices, MW_SHAPE(batch, lookups, depth))};
    return mw_concat(parts, 2, 2);
}

void mw__vjp_gather_nd(mw__vjp *vjp)
{
    mw_tensor *x = mw__vjp_arg(vjp, "x"), *indices = mw__vjp_arg(vjp, "indices"), *dy = vjp->dy[0];
    const mw_shape shape = mw_tensor_shape(x), at = mw_tensor_shape(indices);
    int64_t batch = 0;
    if (vjp->op->row->since >= MW_IOS16)
        mw__arg_int(vjp->op, "batch_dims", &batch);
    if (batch == 0) {
        mw_tensor *onto = mw__vjp_so_far(vjp, "x");
        onto = onto != NULL ? onto : mw__build_zeros(x, shape);
        mw__vjp_set_total(vjp, "x", mw_scatter_nd(onto, indices, dy, MW_SCATTER_ADD));
        return;
    }
    const int first = (int)batch, depth = (int)at.dim[at.rank - 1];
    const int64_t batches = mw__shape_span(shape, 0, first), lookups = mw__shape_span(at, first, at.rank - 1);
    mw_shape flat = {.rank = 1, .dim = {batches}}, taken = {.rank = 2, .dim = {batches, lookups}};
    for (int i = first; i < shape.rank; i++)
        flat.dim[flat.rank++] = shape.dim[i];
    for (int i = first + depth; i < shape.rank; i++)
        taken.dim[taken.rank++] = shape.dim[i];
    mw_tensor *zeros = mw__build_zeros(x, flat), *rows = mw_reshape(dy, taken);
    mw_tensor *sum = mw_scatter_nd(zeros, with_batch(indices, batches, lookups, depth), rows, MW_SCATTER_ADD);
    mw__vjp_set(vjp, "x", mw_reshape(sum, shape));
}

/* VJPs of choosing by index: cotangents are added where the elements came from. */
#include "autograd/rules.h"

/* A product with the one-hot matrix of the indices: exact, the same on every device, and differentiable itself. */
mw_tensor *mw__scatter_add(mw_tensor *y, mw_tensor *indices, int64_t extent, int64_t batch, int64_t outer,
                           int64_t inner, mw_shape shape)
{
    int64_t count = mw_shape_count(mw_tensor_shape(indices)) / batch;
    mw_tensor *flat = mw_reshape(indices, MW_SHAPE(batch, 1, count));
    mw_tensor *hot = mw_one_hot(flat, extent, -1, mw_tensor_dtype(y), 1.0, 0.0); /* [batch, 1, J, extent] */
    mw_tensor *rows = mw_reshape(y, MW_SHAPE(batch, outer, count, inner));
    return mw_reshape(mw_matmul(hot, rows, true, false), shape);
}

static int64_t extent_of(mw_shape shape, int from, int to)
{
    int64_t count = 1;
    for (int i = from; i < to; i++)
        count *= shape.dim[i];
    return count;
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
    int64_t extent = shape.dim[at];
    if (vjp->op->row->since < MW_IOS17) { /* negative indices count from the end */
        mw_tensor *negative = mw_less(indices, mw__scalar_like(indices, 0.0));
        indices = mw_select(negative, mw_add_scalar(indices, (double)extent), indices);
    }
    mw__vjp_set(vjp, "x",
                mw__scatter_add(vjp->dy[0], indices, extent, extent_of(shape, 0, batch), extent_of(shape, batch, at),
                                extent_of(shape, at + 1, shape.rank), shape));
}

/* VJPs of matrix products. Batch extents that were repeated are summed by the driver. */
#include "autograd/vjp/rules.h"

/* With X, Y the operands after their transposes and Z = X Y: dX = dZ Y^T, dY = X^T dZ. A transposed operand gets the
 * transposed formula, so that no transpose is emitted. All have rank 2 or more here. */
static mw_tensor *dx_of(mw_tensor *y, mw_tensor *dz, bool tx, bool ty)
{
    return tx ? mw_matmul(y, dz, (ty ? MW_TRANSPOSE_X : MW_TRANSPOSE_NONE) | MW_TRANSPOSE_Y)
              : mw_matmul(dz, y, !ty ? MW_TRANSPOSE_Y : MW_TRANSPOSE_NONE);
}

/* Rows of all batches as those of one matrix. */
static mw_tensor *flat(mw_tensor *x)
{
    if (x == NULL)
        return NULL;
    const mw_shape shape = mw_tensor_shape(x);
    const int64_t columns = shape.dim[shape.rank - 1];
    return columns > 0 ? mw_reshape(x, MW_SHAPE(-1, columns)) : x;
}

/* One matrix Y under all batches: the sum over them is that over the rows of one tall product. */
static mw_tensor *dy_of(mw_tensor *x, mw_tensor *dz, mw_tensor *y, bool tx, bool ty)
{
    if (!tx && mw_tensor_shape(y).rank == 2 && mw_tensor_shape(x).rank > 2) {
        x = flat(x);
        dz = flat(dz);
    }
    return ty ? mw_matmul(dz, x, MW_TRANSPOSE_X | (tx ? MW_TRANSPOSE_Y : MW_TRANSPOSE_NONE))
              : mw_matmul(x, dz, !tx ? MW_TRANSPOSE_X : MW_TRANSPOSE_NONE);
}

/* Rank-1 x is a row [1, K], rank-1 y a column [K, 1]; their axes of dz were dropped and come back. */
void mw__vjp_matmul(mw__vjp *vjp)
{
    mw_tensor *x = mw__vjp_arg(vjp, "x"), *y = mw__vjp_arg(vjp, "y"), *dz = vjp->dy[0];
    bool tx = false, ty = false;
    mw__arg_bool(vjp->op, "transpose_x", &tx);
    mw__arg_bool(vjp->op, "transpose_y", &ty);
    bool row = mw_tensor_shape(x).rank == 1, column = mw_tensor_shape(y).rank == 1;
    mw_shape y_shape = mw_tensor_shape(y);
    if (column) {
        y = mw_expand_dims(y, MW_AXES(1));
        dz = mw_expand_dims(dz, MW_AXES(-1));
    }
    if (row) {
        x = mw_expand_dims(x, MW_AXES(0));
        dz = mw_expand_dims(dz, MW_AXES(-2));
    }
    if (mw__vjp_wants(vjp, "x"))
        mw__vjp_set(vjp, "x", dx_of(y, dz, tx, ty));
    if (mw__vjp_wants(vjp, "y")) {
        mw_tensor *dy = dy_of(x, dz, y, tx, ty);
        mw__vjp_set(vjp, "y",
                    column && mw_tensor_shape(dy).rank == 2 ? mw_reshape(dy, y_shape)
                    : column                                ? mw_squeeze(dy, MW_AXES(-1))
                                                            : dy);
    }
}

/* y = x W^T + b over rows: dx = dy W, dW = dy^T x, db = sum of the rows of dy */
void mw__vjp_linear(mw__vjp *vjp)
{
    mw_tensor *x = mw__vjp_arg(vjp, "x"), *weight = mw__vjp_arg(vjp, "weight"), *dy = vjp->dy[0];
    mw_shape in = mw_tensor_shape(weight);
    if (mw__vjp_wants(vjp, "x"))
        mw__vjp_set(vjp, "x", mw_matmul(dy, weight, MW_TRANSPOSE_NONE));
    mw_tensor *rows = mw_reshape(dy, MW_SHAPE(-1, in.dim[0]));
    if (mw__vjp_wants(vjp, "weight"))
        mw__vjp_set(vjp, "weight", mw_matmul(rows, mw_reshape(x, MW_SHAPE(-1, in.dim[1])), MW_TRANSPOSE_X));
    if (mw__vjp_wants(vjp, "bias"))
        mw__vjp_set(vjp, "bias", mw_reduce_sum(rows, MW_AXES(0), false));
}

/* y[n,c,h,u] = sum over w of a[n,c,h,w] b[n,w,h,u]: da[n,c,h,w] is the sum over u of dy[n,c,h,u] b[n,w,h,u], the same
 * contraction with b[n,u,h,w]; db[n,w,h,u] the sum over c of a[n,c,h,w] dy[n,c,h,u], with a[n,w,h,c]. */
void mw__vjp_einsum(mw__vjp *vjp)
{
    const mw__operand *values;
    mw__arg_values(vjp->op, "values", &values);
    const char *equation = mw__arg_string(vjp->op, "equation");
    mw_tensor *dy = vjp->dy[0];
    const mw_axes turned = mw_tensor_shape(dy).rank == 4 ? MW_AXES(0, 3, 2, 1) : MW_AXES(2, 1, 0);
    if (mw__vjp_wants_member(vjp, "values", 0))
        mw__vjp_set_member(vjp, "values", 0, mw_einsum(dy, mw_transpose(values[1].value, turned), equation));
    if (mw__vjp_wants_member(vjp, "values", 1))
        mw__vjp_set_member(vjp, "values", 1, mw_einsum(mw_transpose(values[0].value, turned), dy, equation));
}

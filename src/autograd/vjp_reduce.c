/* VJPs of reductions: the cotangent goes back to every element that was reduced. */
#include "autograd/rules.h"

mw_tensor *mw__broadcast_to(mw_tensor *x, mw_shape shape)
{
    if (mw_shape_equal(mw_tensor_shape(x), shape))
        return x;
    return mw_mul(x, mw_fill(mw_tensor_graph(x), mw_tensor_dtype(x), shape, 1.0));
}

/* The shape of the result had keep_dims been set. */
static mw_shape kept_shape(const mw__vjp *vjp)
{
    mw_shape shape = mw_tensor_shape(mw__vjp_arg(vjp, "x"));
    int64_t axes[MW_RANK_MAX];
    size_t count = 0;
    if (!mw__arg_ints(vjp->op, "axes", axes, MW_RANK_MAX, &count))
        for (int i = 0; i < shape.rank; i++)
            axes[count++] = i;
    for (size_t i = 0; i < count; i++)
        shape.dim[axes[i] < 0 ? axes[i] + shape.rank : axes[i]] = 1;
    return shape;
}

static mw_tensor *kept(const mw__vjp *vjp, mw_tensor *reduced) { return mw_reshape(reduced, kept_shape(vjp)); }

void mw__vjp_reduce_sum(mw__vjp *vjp)
{
    mw__vjp_set(vjp, "x", mw__broadcast_to(kept(vjp, vjp->dy[0]), mw_tensor_shape(mw__vjp_arg(vjp, "x"))));
}

void mw__vjp_reduce_mean(mw__vjp *vjp)
{
    mw_tensor *x = mw__vjp_arg(vjp, "x");
    double count = (double)mw_shape_count(mw_tensor_shape(x)) / (double)mw_shape_count(kept_shape(vjp));
    mw_tensor *share = mw_mul_scalar(kept(vjp, vjp->dy[0]), 1.0 / count);
    mw__vjp_set(vjp, "x", mw__broadcast_to(share, mw_tensor_shape(x)));
}

/* Elements that attain the extremum share dy equally. */
static void vjp_extremum(mw__vjp *vjp)
{
    mw_tensor *x = mw__vjp_arg(vjp, "x");
    mw_shape shape = kept_shape(vjp);
    mw_tensor *one = mw__scalar_like(x, 1.0);
    mw_tensor *hit = mw__where(mw_equal(x, kept(vjp, vjp->y[0])), one);
    mw_axes axes = {0};
    for (int i = 0; i < shape.rank; i++)
        if (shape.dim[i] != mw_tensor_shape(x).dim[i])
            axes.axis[axes.count++] = i;
    mw_tensor *hits = axes.count == 0 ? hit : mw_reduce_sum(hit, axes, true);
    mw__vjp_set(vjp, "x", mw_mul(hit, mw_real_div(kept(vjp, vjp->dy[0]), hits)));
}

void mw__vjp_reduce_max(mw__vjp *vjp) { vjp_extremum(vjp); }

void mw__vjp_reduce_min(mw__vjp *vjp) { vjp_extremum(vjp); }

/* dx = dy exp(x - y) */
void mw__vjp_reduce_log_sum_exp(mw__vjp *vjp)
{
    mw_tensor *share = mw_exp(mw_sub(mw__vjp_arg(vjp, "x"), kept(vjp, vjp->y[0])));
    mw__vjp_set(vjp, "x", mw_mul(share, kept(vjp, vjp->dy[0])));
}

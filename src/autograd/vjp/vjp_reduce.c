/* VJPs of reductions: the cotangent goes back to every element that was reduced. */
#include "autograd/vjp/log_softmax.h"

mw_tensor *mw__vjp_broadcast_to(mw_tensor *x, mw_shape shape)
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

/* The axes that lost more than one element; none: nothing was reduced. */
static mw_axes reduced_axes(const mw__vjp *vjp)
{
    const mw_shape shape = kept_shape(vjp), x = mw_tensor_shape(mw__vjp_arg(vjp, "x"));
    mw_axes axes = {0};
    for (int i = 0; i < shape.rank; i++)
        if (shape.dim[i] != x.dim[i])
            axes.axis[axes.count++] = i;
    return axes;
}

static mw_tensor *kept(const mw__vjp *vjp, mw_tensor *reduced) { return mw_reshape(reduced, kept_shape(vjp)); }

void mw__vjp_reduce_sum(mw__vjp *vjp)
{
    mw__vjp_set(vjp, "x", mw__vjp_broadcast_to(kept(vjp, vjp->dy[0]), mw_tensor_shape(mw__vjp_arg(vjp, "x"))));
}

void mw__vjp_reduce_mean(mw__vjp *vjp)
{
    mw_tensor *x = mw__vjp_arg(vjp, "x");
    double count = (double)mw_shape_count(mw_tensor_shape(x)) / (double)mw_shape_count(kept_shape(vjp));
    mw_tensor *share = mw_mul_scalar(kept(vjp, vjp->dy[0]), 1.0 / count);
    mw__vjp_set(vjp, "x", mw__vjp_broadcast_to(share, mw_tensor_shape(x)));
}

/* Elements that attain the extremum share dy equally. */
static void vjp_extremum(mw__vjp *vjp)
{
    mw_tensor *x = mw__vjp_arg(vjp, "x");
    mw_tensor *one = mw__vjp_scalar_like(x, 1.0);
    mw_tensor *hit = mw__where(mw_equal(x, kept(vjp, vjp->y[0])), one);
    const mw_axes axes = reduced_axes(vjp);
    mw_tensor *hits = axes.count == 0 ? hit : mw_reduce_sum(hit, axes, true);
    mw__vjp_set(vjp, "x", mw_mul(hit, mw_real_div(kept(vjp, vjp->dy[0]), hits)));
}

void mw__vjp_reduce_max(mw__vjp *vjp) { vjp_extremum(vjp); }

void mw__vjp_reduce_min(mw__vjp *vjp) { vjp_extremum(vjp); }

/* dx = dy softmax(x), not exp(x - y): where |x| is large y is rounded so coarsely that this is off by as much again. Of
 * an infinite y it is exp(x - y), NaN or 0, where softmax would be NaN for every element. There x - y is NaN or
 * -infinity: relu makes 0 of the latter and keeps NaN. */
void mw__vjp_reduce_log_sum_exp(mw__vjp *vjp)
{
    mw_tensor *x = mw__vjp_arg(vjp, "x"), *dy = kept(vjp, vjp->dy[0]), *y = kept(vjp, vjp->y[0]);
    const mw_axes axes = reduced_axes(vjp);
    if (axes.count == 0) {
        mw__vjp_set(vjp, "x", dy);
        return;
    }
    mw_tensor *rest = mw_sub(y, y), *limit = mw_relu(mw_sub(x, y));
    mw_tensor *finite = mw_equal(rest, mw__vjp_scalar_like(y, 0.0));
    mw__vjp_set(vjp, "x", mw_mul(mw_select(finite, mw__softmax_over(x, axes), limit), dy));
}

void mw__vjp_reduce_sum_square(mw__vjp *vjp)
{
    mw_tensor *twice = mw_mul_scalar(kept(vjp, vjp->dy[0]), 2.0);
    mw__vjp_set(vjp, "x", mw_mul(mw__vjp_arg(vjp, "x"), twice));
}

void mw__vjp_reduce_l1_norm(mw__vjp *vjp)
{
    mw_tensor *sign = mw_sign(mw__vjp_arg(vjp, "x"));
    mw__vjp_set(vjp, "x", mw_mul(sign, kept(vjp, vjp->dy[0])));
}

/* dy x / y, of which x / y is at most 1. y is 0 only where every x is, and they meet it as factors. */
void mw__vjp_reduce_l2_norm(mw__vjp *vjp)
{
    mw_tensor *x = mw__vjp_arg(vjp, "x"), *y = kept(vjp, vjp->y[0]), *dy = kept(vjp, vjp->dy[0]);
    mw_tensor *zero = mw__vjp_scalar_like(x, 0.0), *one = mw__vjp_scalar_like(x, 1.0);
    mw_tensor *norm = mw_select(mw_equal(y, zero), one, y);
    mw__vjp_set(vjp, "x", mw_mul(mw_real_div(x, norm), dy));
}

/* dy / sum. The forward operation adds in fp32, and takes the logarithm before it rounds: in fp16 the sum overflows
 * where its logarithm does not. For such a device the mean divides a share of dy. */
void mw__vjp_reduce_log_sum(mw__vjp *vjp)
{
    mw_tensor *x = mw__vjp_arg(vjp, "x"), *dy = kept(vjp, vjp->dy[0]);
    const mw_axes axes = reduced_axes(vjp);
    mw_tensor *sum = x;
    if (axes.count > 0 && mw_tensor_graph(x)->lowering == MW__LOWERING_DECOMPOSED) {
        dy = mw_mul_scalar(dy, (double)mw_shape_count(kept_shape(vjp)) / (double)mw_shape_count(mw_tensor_shape(x)));
        sum = mw_reduce_mean(x, axes, true);
    } else if (axes.count > 0) {
        sum = mw_reduce_sum(x, axes, true);
    }
    mw__vjp_set(vjp, "x", mw__vjp_broadcast_to(mw_real_div(dy, sum), mw_tensor_shape(x)));
}

/* ---- product ---- */

/* The reduced axes in front, as [n, others]. */
static mw_tensor *fold_in_front(mw_tensor *x, mw_axes axes, mw_axes *out_inverse, int64_t *out_n)
{
    const mw_shape shape = mw_tensor_shape(x);
    bool reduced[MW_RANK_MAX] = {false};
    mw_axes perm = axes;
    *out_n = 1;
    for (int i = 0; i < axes.count; i++) {
        reduced[axes.axis[i]] = true;
        *out_n *= shape.dim[axes.axis[i]];
    }
    for (int i = 0; i < shape.rank; i++)
        if (!reduced[i])
            perm.axis[perm.count++] = i;
    out_inverse->count = perm.count;
    for (int i = 0; i < perm.count; i++)
        out_inverse->axis[perm.axis[i]] = i;
    return mw_reshape(mw_transpose(x, perm), MW_SHAPE(*out_n, mw_shape_count(shape) / *out_n));
}

static mw_tensor *rows_of(mw_tensor *x, int64_t begin, int64_t count)
{
    const int64_t from[] = {begin, 0}, size[] = {count, mw_tensor_shape(x).dim[1]};
    return mw_slice_by_size(x, from, size);
}

#define LEVELS 63 /* 2^63 elements */

/* r[i] = product of x[j] over j != i. Halves are multiplied pairwise up to one row; on the way down the product of all
 * others of a half is that of its pair, times the other half. No division, so zeros do no harm; each level has half the
 * rows of the one above, so that the work is linear in n. */
static mw_tensor *products_of_others(mw_tensor *x, int64_t n)
{
    mw_tensor *low[LEVELS], *high[LEVELS];
    int64_t rows[LEVELS];
    int levels = 0;
    const int64_t odd[] = {0, 1, 0, 0};
    for (mw_tensor *all = x; n > 1; levels++) {
        rows[levels] = n;
        all = n % 2 != 0 ? mw_pad(all, odd, 2, MW_PAD_CONSTANT, 1.0f) : all;
        n = (n + 1) / 2;
        low[levels] = rows_of(all, 0, n);
        high[levels] = rows_of(all, n, n);
        all = mw_mul(low[levels], high[levels]);
    }
    mw_tensor *others = mw_fill(mw_tensor_graph(x), mw_tensor_dtype(x), MW_SHAPE(1, mw_tensor_shape(x).dim[1]), 1.0);
    while (levels-- > 0) {
        mw_tensor *halves[2];
        halves[0] = mw_mul(others, high[levels]);
        halves[1] = mw_mul(others, low[levels]);
        others = mw_concat(halves, 2, 0);
        if (rows[levels] % 2 != 0)
            others = rows_of(others, 0, rows[levels]);
    }
    return others;
}

void mw__vjp_reduce_prod(mw__vjp *vjp)
{
    mw_tensor *x = mw__vjp_arg(vjp, "x"), *dy = kept(vjp, vjp->dy[0]);
    const mw_axes axes = reduced_axes(vjp);
    mw_axes inverse;
    int64_t n;
    if (axes.count == 0 || mw_shape_count(mw_tensor_shape(x)) == 0) {
        mw__vjp_set(vjp, "x", mw__vjp_broadcast_to(dy, mw_tensor_shape(x)));
        return;
    }
    mw_tensor *rows = fold_in_front(x, axes, &inverse, &n);
    mw_tensor *others = products_of_others(rows, n);
    mw_shape shape = {.rank = inverse.count}; /* of x, the reduced axes in front */
    for (int i = 0; i < shape.rank; i++)
        shape.dim[inverse.axis[i]] = mw_tensor_shape(x).dim[i];
    mw__vjp_set(vjp, "x", mw_mul(mw_transpose(mw_reshape(others, shape), inverse), dy));
}

/* ---- sums so far ---- */

void mw__vjp_cumsum(mw__vjp *vjp)
{
    int64_t axis = 0;
    bool exclusive = false, reverse = false;
    mw__arg_int(vjp->op, "axis", &axis);
    mw__arg_bool(vjp->op, "exclusive", &exclusive);
    mw__arg_bool(vjp->op, "reverse", &reverse);
    mw__vjp_set(vjp, "x", mw_cumsum(vjp->dy[0], (int)axis, exclusive, !reverse));
}

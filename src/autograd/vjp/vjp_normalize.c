/* VJPs of normalization. The statistics are computed anew from x. */
#include "autograd/vjp/rules.h"
#include "graph/patterns/normalize.h"

#include <math.h>

/* dx = y (dy - sum(dy y)) along the axis */
void mw__vjp_softmax(mw__vjp *vjp)
{
    int64_t axis = -1;
    mw__arg_int(vjp->op, "axis", &axis);
    mw_tensor *y = vjp->y[0], *dy = vjp->dy[0];
    mw_tensor *mean = mw_reduce_sum(mw_mul(dy, y), MW_AXES((int)axis), true);
    mw__vjp_set(vjp, "x", mw_mul(y, mw_sub(dy, mean)));
}

static float number_arg(const mw__vjp *vjp, const char *arg)
{
    double value = 0.0;
    mw__arg_float(vjp->op, arg, &value);
    return (float)value;
}

/* ---- gamma and beta ---- */

/* Sum of `terms` over the axes of x that are not marked, in the shape and dtype of `vector`. */
static mw_tensor *sum_onto(mw_tensor *terms, mw_tensor *vector, const bool *marks)
{
    const mw_shape shape = mw_tensor_shape(terms);
    bool others[MW_RANK_MAX];
    for (int i = 0; i < shape.rank; i++)
        others[i] = !marks[i];
    const mw_axes axes = mw__marked_axes(shape, others);
    if (axes.count > 0)
        terms = mw_reduce_sum(terms, axes, false);
    return mw_tensor_dtype(vector) == mw_tensor_dtype(terms) ? terms : mw_cast(terms, mw_tensor_dtype(vector));
}

/* dgamma = sum of dy n, dbeta = sum of dy, where n is normalized x and `marks` the axes that gamma lies along. */
static void set_affine(mw__vjp *vjp, mw_tensor *n, const bool *marks)
{
    mw_tensor *dy = vjp->dy[0];
    if (mw__vjp_wants(vjp, "gamma"))
        mw__vjp_set(vjp, "gamma", sum_onto(mw_mul(dy, n), mw__vjp_arg(vjp, "gamma"), marks));
    if (mw__vjp_wants(vjp, "beta"))
        mw__vjp_set(vjp, "beta", sum_onto(dy, mw__vjp_arg(vjp, "beta"), marks));
}

/* dy gamma */
static mw_tensor *scaled(const mw__vjp *vjp, mw_tensor *x, const bool *marks)
{
    mw_tensor *gamma = mw__vjp_arg(vjp, "gamma");
    return gamma != NULL ? mw_mul(vjp->dy[0], mw__along_axes(gamma, x, marks)) : vjp->dy[0];
}

static const bool channel_axis[MW_RANK_MAX] = {false, true};

/* ---- by statistics of x ---- */

/* By what x is multiplied before it is squared where its plain square may overflow. */
#define SMALL 0x1p-9

static bool is_for_half(const mw_tensor *x)
{
    return x != NULL && (mw_tensor_dtype(x) == MW_F16 || mw_tensor_graph(x)->lowering == MW__LOWERING_DECOMPOSED);
}

/* r = (m + epsilon)^-1/2 for `measure` m, the mean of x^2 over `axes` or `count` times that. The forward operation
 * squares in fp32, a gradient for an fp16 device in fp16, where that overflows from 256 on and every gradient would be
 * 0. There `small`, 2^-9 x, is squared instead, with an epsilon only if it shows beside an m of 2^13. */
static mw_tensor *inverse_root(mw_tensor *small, mw_axes axes, mw_tensor *measure, double count, float epsilon)
{
    mw_tensor *r = mw_rsqrt(measure, epsilon);
    if (r == NULL || !is_for_half(measure))
        return r;
    const double rest = epsilon < 0x1p-10f ? 0.0 : (double)epsilon * SMALL * SMALL / count;
    mw_tensor *squares = mw_reduce_mean(mw_square(small), axes, true);
    mw_tensor *far = mw_mul_scalar(mw_rsqrt(squares, (float)rest), SMALL / sqrt(count));
    mw_tensor *fits = mw_less(measure, mw__vjp_scalar_like(measure, 0x1p13));
    return mw_select(fits, r, far);
}

static mw_tensor *small_of(mw_tensor *x) { return is_for_half(x) ? mw_mul_scalar(x, SMALL) : x; }

/* y = n gamma + beta with n = (x - mean(x)) r, r = (var(x) + epsilon)^-1/2 over `axes`; g = dy gamma:
 * dx = r (g - mean(g) - n mean(g n)) */
static void vjp_moments(mw__vjp *vjp, mw_axes axes, const bool *affine)
{
    mw_tensor *x = mw__vjp_arg(vjp, "x");
    const bool plain = mw__vjp_arg(vjp, "gamma") == NULL && mw__vjp_arg(vjp, "beta") == NULL;
    mw_tensor *mean = mw_reduce_mean(x, axes, true), *centered = mw_sub(x, mean);
    mw_tensor *variance = mw_reduce_mean(mw_square(centered), axes, true);
    mw_tensor *small = is_for_half(x) ? mw_sub(small_of(x), small_of(mean)) : NULL; /* the difference may be infinite */
    mw_tensor *r = inverse_root(small, axes, variance, 1.0, number_arg(vjp, "epsilon"));
    mw_tensor *n = plain ? vjp->y[0] : mw_mul(centered, r);
    set_affine(vjp, n, affine);
    if (!mw__vjp_wants(vjp, "x"))
        return;
    mw_tensor *g = scaled(vjp, x, affine);
    mw_tensor *level = mw_sub(g, mw_reduce_mean(g, axes, true));
    mw_tensor *along = mw_reduce_mean(mw_mul(g, n), axes, true);
    mw_tensor *across = mw_sub(level, mw_mul(n, along));
    mw__vjp_set(vjp, "x", mw_mul(r, across));
}

void mw__vjp_layer_norm(mw__vjp *vjp)
{
    const mw_shape shape = mw_tensor_shape(mw__vjp_arg(vjp, "x"));
    int64_t axes[MW_RANK_MAX];
    size_t count = 0;
    bool marks[MW_RANK_MAX];
    const bool all = !mw__arg_ints(vjp->op, "axes", axes, MW_RANK_MAX, &count);
    for (int i = 0; i < shape.rank; i++)
        marks[i] = all;
    for (size_t i = 0; i < count; i++)
        marks[axes[i] < 0 ? axes[i] + shape.rank : axes[i]] = true;
    vjp_moments(vjp, mw__marked_axes(shape, marks), marks);
}

void mw__vjp_instance_norm(mw__vjp *vjp)
{
    const mw_shape shape = mw_tensor_shape(mw__vjp_arg(vjp, "x"));
    const bool spatial[MW_RANK_MAX] = {false, false, true, true, true, true, true, true};
    vjp_moments(vjp, mw__marked_axes(shape, spatial), channel_axis);
}

/* y = x r with r = (sum(x^2) + epsilon)^-1/2: dx = r (dy - y sum(dy y)) */
void mw__vjp_l2_norm(mw__vjp *vjp)
{
    mw_tensor *y = vjp->y[0], *dy = vjp->dy[0];
    const mw_axes axes = MW_AXES(-3, -2, -1);
    mw_tensor *x = mw__vjp_arg(vjp, "x"), *squares = mw_reduce_sum(mw_square(x), axes, true);
    const mw_shape shape = mw_tensor_shape(x);
    const double count = (double)(shape.dim[shape.rank - 3] * shape.dim[shape.rank - 2] * shape.dim[shape.rank - 1]);
    mw_tensor *r = inverse_root(small_of(x), axes, squares, count, number_arg(vjp, "epsilon"));
    mw_tensor *along = mw_reduce_sum(mw_mul(dy, y), axes, true);
    mw_tensor *across = mw_sub(dy, mw_mul(y, along));
    mw__vjp_set(vjp, "x", mw_mul(r, across));
}

/* ---- by given statistics ---- */

/* y = n gamma + beta with n = (x - mean) r, r = (variance + epsilon)^-1/2; g = dy gamma:
 * dx = g r, dmean = -sum of g r, dvariance = -sum of g n r^2 / 2 */
void mw__vjp_batch_norm(mw__vjp *vjp)
{
    mw_tensor *x = mw__vjp_arg(vjp, "x"), *mean = mw__vjp_arg(vjp, "mean"), *variance = mw__vjp_arg(vjp, "variance");
    mw_tensor *root = mw_rsqrt(variance, number_arg(vjp, "epsilon"));
    mw_tensor *r = mw__along_axes(root, x, channel_axis);
    mw_tensor *dx = mw_mul(scaled(vjp, x, channel_axis), r);
    mw__vjp_set(vjp, "x", dx);
    if (mw__vjp_wants(vjp, "mean"))
        mw__vjp_set(vjp, "mean", mw_neg(sum_onto(dx, mean, channel_axis)));
    if (!mw__vjp_wants(vjp, "gamma") && !mw__vjp_wants(vjp, "beta") && !mw__vjp_wants(vjp, "variance"))
        return;
    mw_tensor *centered = mw_sub(x, mw__along_axes(mean, x, channel_axis));
    mw_tensor *n = mw_mul(centered, r);
    set_affine(vjp, n, channel_axis);
    if (mw__vjp_wants(vjp, "variance")) {
        mw_tensor *terms = mw_mul(mw_mul(dx, n), r);
        mw__vjp_set(vjp, "variance", mw_mul_scalar(sum_onto(terms, variance, channel_axis), -0.5));
    }
}

/* ---- across channels ---- */

/* [C, C]: 1 where the window of the row's channel holds the column's. */
static mw_tensor *window(mw_tensor *x, int64_t channels, int64_t size)
{
    mw_tensor *numbers = mw_range_1d(mw_tensor_graph(x), MW_I32, 0.0, (double)channels, 1.0);
    mw_tensor *offset = mw_sub(numbers, mw_expand_dims(numbers, MW_AXES(1)));
    const int64_t before = size / 2 < channels ? size / 2 : channels;
    const int64_t after = (size - 1) / 2 < channels ? (size - 1) / 2 : channels;
    mw_tensor *above = mw_less_equal(offset, mw__vjp_scalar_like(offset, (double)after));
    mw_tensor *inner = mw__where(above, mw__vjp_scalar_like(x, 1.0));
    return mw__where(mw_greater_equal(offset, mw__vjp_scalar_like(offset, (double)-before)), inner);
}

/* Sum of v [N, C, ..] over the window of each channel, or over the channels whose window holds it. */
static mw_tensor *sum_window(mw_tensor *window, mw_tensor *v, bool transposed)
{
    const mw_shape shape = mw_tensor_shape(v);
    mw_tensor *planes = mw_reshape(v, MW_SHAPE(shape.dim[0], shape.dim[1], -1));
    return mw_reshape(mw_matmul(window, planes, transposed ? MW_TRANSPOSE_X : MW_TRANSPOSE_NONE), shape);
}

typedef struct response {
    mw_tensor *x, *band;
    double share, k; /* share = alpha / size */
} response;

/* d = k + share W x^2, over unit^2, as a gradient for an fp16 device has it: with the share inside of the square, which
 * is finite a good deal longer. */
static mw_tensor *measure_scaled(const response *r, double unit)
{
    mw_tensor *root = mw_mul_scalar(r->x, sqrt(r->share) / unit);
    if (unit == 1.0) /* where it is cut d is above 2^13, and another measure counts */
        root = mw_clip(root, -128.0f, 128.0f);
    return mw_add_scalar(sum_window(r->band, mw_square(root), false), r->k / (unit * unit));
}

/* t d^-exponent without infinities on the way. */
static mw_tensor *over_power(const response *r, mw_tensor *t, double exponent)
{
    const double unit = 0x1p8;
    mw_tensor *near = measure_scaled(r, 1.0), *far = measure_scaled(r, unit);
    mw_tensor *power = mw_pow(near, mw__vjp_scalar_like(near, -exponent));
    mw_tensor *small = mw_mul_scalar(mw_pow(far, mw__vjp_scalar_like(far, -exponent)), pow(unit, -2.0 * exponent));
    mw_tensor *fits = mw_less(near, mw__vjp_scalar_like(near, 0x1p13));
    return mw_mul(t, mw_select(fits, power, small));
}

/* y = x d^-beta with d = k + a W x^2, a = alpha / size, W the sum over the window:
 * dx = dy d^-beta - 2 a beta x W^T(dy y / d) */
void mw__vjp_local_response_norm(mw__vjp *vjp)
{
    mw_tensor *x = mw__vjp_arg(vjp, "x"), *y = vjp->y[0], *dy = vjp->dy[0], *direct, *terms;
    int64_t size = 1;
    mw__arg_int(vjp->op, "size", &size);
    const double alpha = (double)number_arg(vjp, "alpha"), beta = (double)number_arg(vjp, "beta");
    const response r = {.x = x,
                        .band = window(x, mw_tensor_shape(x).dim[1], size),
                        .share = alpha / (double)size,
                        .k = (double)number_arg(vjp, "k")};
    if (r.share > 0 && mw_tensor_graph(x)->lowering == MW__LOWERING_DECOMPOSED) {
        direct = over_power(&r, dy, beta);
        terms = over_power(&r, mw_mul(dy, y), 1.0);
    } else {
        mw_tensor *squares = sum_window(r.band, mw_square(x), false);
        mw_tensor *d = mw_add_scalar(mw_mul_scalar(squares, r.share), r.k);
        direct = mw_mul(dy, mw_pow(d, mw__vjp_scalar_like(d, -beta)));
        terms = mw_real_div(mw_mul(dy, y), d);
    }
    mw_tensor *others = mw_mul(x, sum_window(r.band, terms, true));
    mw__vjp_set(vjp, "x", mw_sub(direct, mw_mul_scalar(others, 2.0 * r.share * beta)));
}

/* VJPs of ops/quantize.def, and fake_quantize, whose gradient goes straight through. Constants have none. */
#include "autograd/vjp/rules.h"
#include "base/number/float_mode.h"

/* A scalar, or a vector along `axis`, in a shape that broadcasts to that of x. */
static mw_tensor *laid_along(mw_tensor *numbers, const mw_tensor *x, int axis)
{
    const mw_shape shape = mw_tensor_shape(x);
    mw_shape laid = {.rank = shape.rank};
    if (numbers == NULL || mw_tensor_shape(numbers).rank == 0)
        return numbers;
    axis += axis < 0 ? shape.rank : 0;
    for (int i = 0; i < shape.rank; i++)
        laid.dim[i] = i == axis ? shape.dim[i] : 1;
    return mw__reshape_to(numbers, laid);
}

/* dy summed over what shares a scale. */
static mw_tensor *sum_to_scale(mw_tensor *dy, mw_shape scale, int axis)
{
    const int rank = mw_tensor_shape(dy).rank;
    mw_axes axes = {0};
    axis += axis < 0 ? rank : 0;
    for (int i = 0; i < rank; i++)
        if (scale.rank == 0 || i != axis)
            axes.axis[axes.count++] = i;
    return axes.count > 0 ? mw_reduce_sum(dy, axes, false) : dy;
}

void mw__vjp_dequantize(mw__vjp *vjp)
{
    mw_tensor *zero_point = mw__vjp_arg(vjp, "zero_point"), *scale = mw__vjp_arg(vjp, "scale");
    const mw_dtype dtype = mw_tensor_dtype(scale);
    int64_t axis = 0;
    if (!mw__vjp_wants(vjp, "scale"))
        return;
    mw__arg_int(vjp->op, "axis", &axis);
    mw_tensor *x = mw_cast(mw__vjp_arg(vjp, "input"), dtype);
    if (zero_point != NULL) {
        mw_tensor *offset = laid_along(mw_cast(zero_point, dtype), x, (int)axis);
        x = mw_sub(x, offset);
    }
    mw__vjp_set(vjp, "scale", sum_to_scale(mw_mul(vjp->dy[0], x), mw_tensor_shape(scale), (int)axis));
}

/* ---- fake_quantize ---- */

/* Of the record: scale and zero point as they broadcast to x; the bounds are those of x / scale + zero_point. */
enum { INPUT_X, INPUT_SCALE, INPUT_LOW, INPUT_HIGH, INPUT_COUNT };

/* t where nothing saturates, else 0; without logical_and, which the ANE lacks. */
static mw_tensor *kept(mw_tensor *above, mw_tensor *below, mw_tensor *t)
{
    mw_tensor *where = mw__where(below, t);
    return mw__where(above, where);
}

/* The driver sums the cotangent of a scale down to its shape. */
static void vjp_fake_quantize(mw__vjp *vjp)
{
    mw_tensor *x = mw__vjp_input(vjp, INPUT_X), *scale = mw__vjp_input(vjp, INPUT_SCALE), *dy = vjp->dy[0];
    mw_tensor *rounded = mw_round(mw_real_div(x, scale));
    mw_tensor *above = mw_greater_equal(rounded, mw__vjp_input(vjp, INPUT_LOW));
    mw_tensor *below = mw_less_equal(rounded, mw__vjp_input(vjp, INPUT_HIGH));
    if (mw__vjp_wants_input(vjp, INPUT_X))
        mw__vjp_set_input(vjp, INPUT_X, kept(above, below, dy));
    if (!mw__vjp_wants_input(vjp, INPUT_SCALE))
        return;
    mw_tensor *slope = mw_sub(vjp->y[0], kept(above, below, x));
    slope = mw_real_div(slope, scale);
    mw__vjp_set_input(vjp, INPUT_SCALE, mw_mul(dy, slope));
}

/* bound - zero_point */
static mw_tensor *bound(mw_tensor *x, mw_tensor *zero_point, double number)
{
    mw_tensor *limit = mw__vjp_scalar_like(x, number);
    return zero_point != NULL ? mw_sub(limit, zero_point) : limit;
}

/* What the record speaks of is made before y, which is the last of all: the driver walks backwards. */
mw_tensor *mw_fake_quantize(mw_tensor *x, mw_tensor *scale, mw_tensor *zero_point, int axis, mw_dtype dtype)
{
    MW__FLOAT_SCOPE;
    mw_tensor *q = mw_quantize(x, scale, zero_point, axis, dtype);
    if (q == NULL)
        return NULL;
    mw_tensor *offset = zero_point != NULL ? mw_cast(zero_point, mw_tensor_dtype(x)) : NULL;
    offset = laid_along(offset, x, axis);
    mw_tensor *inputs[INPUT_COUNT] = {[INPUT_X] = x, [INPUT_SCALE] = laid_along(scale, x, axis)};
    inputs[INPUT_LOW] = bound(x, offset, dtype == MW_I8 ? -128.0 : 0.0);
    inputs[INPUT_HIGH] = bound(x, offset, dtype == MW_I8 ? 127.0 : 255.0);
    const mw__composite composite = {
        .name = "fake_quantize", .inputs = inputs, .input_count = INPUT_COUNT, .vjp = vjp_fake_quantize};
    mw_tensor *y = mw_dequantize(q, scale, zero_point, axis);
    return y != NULL ? mw__composite_attach(y, &composite) : NULL;
}

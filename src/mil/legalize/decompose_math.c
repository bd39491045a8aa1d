/* Functions that a chip lacks, from those that it has. */
#include "graph/ir/op_table.h"
#include "mil/legalize/decompose.h"
#include "mil/legalize/rewrites.h"

#include <millwright/millwright.h>

static mw_tensor *number_like(const mw_tensor *like, double value)
{
    return mw_scalar(mw_tensor_graph(like), mw_tensor_dtype(like), value);
}

/* ---- inverse functions ---- */

#define PI 3.14159265358979323846

/* coefficients[0] + coefficients[1] x + .. */
static mw_tensor *polynomial(mw_tensor *x, const double *coefficients, int count)
{
    mw_tensor *sum = number_like(x, coefficients[count - 1]);
    for (int i = count - 2; i >= 0; i--)
        sum = mw_add(mw_mul(sum, x), number_like(x, coefficients[i]));
    return sum;
}

/* The series of asin, which is 2e-5 of itself off at 0.5. */
static mw_tensor *asin_near_zero(mw_tensor *x)
{
    static const double series[] = {1.0, 1.0 / 6.0, 3.0 / 40.0, 15.0 / 336.0, 105.0 / 3456.0};
    return mw_mul(x, polynomial(mw_mul(x, x), series, 5));
}

/* asin(sqrt((1 - |x|) / 2)), of an argument up to 0.5 where |x| is 0.5 or more: half the angle from the nearer pole.
 * Beyond 1 the root has none: NaN. */
static mw_tensor *half_angle(mw_tensor *x)
{
    mw_tensor *rest = mw_sub(number_like(x, 1.0), mw_abs(x));
    return asin_near_zero(mw_sqrt(mw_mul(rest, number_like(x, 0.5))));
}

static mw_tensor *is_near_zero(mw_tensor *x) { return mw_less(mw_abs(x), number_like(x, 0.5)); }

/* asin x = sign(x) (pi / 2 - 2 half_angle) */
mw_tensor *mw__decompose_asin(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    (void)pass;
    mw_tensor *x = mw__decompose_arg(clone, op, "x"), *angle = half_angle(x);
    mw_tensor *far = mw_sub(number_like(x, PI / 2.0), mw_add(angle, angle));
    mw_tensor *signed_far = mw_mul(mw_sign(x), far), *near = asin_near_zero(x);
    return mw_select(is_near_zero(x), near, signed_far);
}

/* pi / 2 - asin x near 0, 2 half_angle near 1, pi less that near -1. */
mw_tensor *mw__decompose_acos(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    (void)pass;
    mw_tensor *x = mw__decompose_arg(clone, op, "x"), *half = half_angle(x), *angle = mw_add(half, half);
    mw_tensor *behind = mw_sub(number_like(x, PI), angle);
    mw_tensor *far = mw_select(mw_greater(x, number_like(x, 0.0)), angle, behind);
    mw_tensor *near = mw_sub(number_like(x, PI / 2.0), asin_near_zero(x));
    return mw_select(is_near_zero(x), near, far);
}

/* Half the logarithm of (1 + x) / (1 - x); near 0, where that is nearly 1, the series, 9e-5 of itself off at 0.5. */
mw_tensor *mw__decompose_atanh(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    static const double series[] = {1.0, 1.0 / 3.0, 1.0 / 5.0, 1.0 / 7.0, 1.0 / 9.0};
    (void)pass;
    mw_tensor *x = mw__decompose_arg(clone, op, "x"), *one = number_like(x, 1.0);
    mw_tensor *above = mw_add(one, x), *below = mw_sub(one, x);
    mw_tensor *far = mw_mul(mw_log(mw_real_div(above, below), 0.0F), number_like(x, 0.5));
    mw_tensor *near = mw_mul(x, polynomial(mw_mul(x, x), series, 5));
    return mw_select(is_near_zero(x), near, far);
}

/* x - floor(x / y) y, MIL's definition. In fp16 off by half a unit of x where the product is rounded; exact of integers
 * up to 2048. */
mw_tensor *mw__decompose_mod(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    (void)pass;
    mw_tensor *x = mw__decompose_arg(clone, op, "x"), *y = mw__decompose_arg(clone, op, "y");
    return mw_sub(x, mw_mul(mw_floor_div(x, y), y));
}

/* ---- products ---- */

static mw_tensor *from_to(mw_tensor *x, int axis, int64_t begin, int64_t end)
{
    mw_slice slices[MW_RANK_MAX];
    for (int i = 0; i < MW_RANK_MAX; i++)
        slices[i] = (mw_slice){.from_start = i != axis, .to_end = i != axis, .begin = begin, .end = end};
    return mw_slice_by_index(x, slices);
}

/* The halves of the axis are multiplied until one element is left; an odd one goes on to the next round. */
mw_tensor *mw__decompose_multiply(mw_tensor *x, int axis)
{
    int64_t extent = x != NULL ? mw_tensor_shape(x).dim[axis] : 0;
    while (x != NULL && extent > 1) {
        const int64_t half = extent / 2, rest = extent % 2;
        mw_tensor *joined[2];
        joined[0] = mw_mul(from_to(x, axis, 0, half), from_to(x, axis, half, 2 * half));
        joined[1] = rest != 0 ? from_to(x, axis, 2 * half, extent) : NULL;
        x = rest != 0 ? mw_concat(joined, 2, axis) : joined[0];
        extent = half + rest;
    }
    return x;
}

bool mw__decompose_is_product(const mw__rewriting *pass, const mw__op *op)
{
    const mw_shape shape = mw_tensor_shape(mw__arg(op, "x"));
    return mw__decompose_always(pass, op) && mw_shape_count(shape) > 0;
}

mw_tensor *mw__decompose_product(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    int64_t axes[MW_RANK_MAX];
    size_t count = 0;
    (void)pass;
    mw_tensor *x = mw__decompose_arg(clone, op, "x");
    const int rank = x != NULL ? mw_tensor_shape(x).rank : 0;
    if (!mw__arg_ints(op, "axes", axes, MW_RANK_MAX, &count) || count == 0)
        for (count = 0; (int)count < rank; count++)
            axes[count] = (int64_t)count;
    for (size_t i = 0; i < count; i++)
        x = mw__decompose_multiply(x, (int)(axes[i] < 0 ? axes[i] + rank : axes[i]));
    return mw__reshape_to(x, mw_tensor_shape(op->results[0]));
}

/* ---- casts ---- */

bool mw__decompose_is_same(const mw__rewriting *pass, const mw__op *op)
{
    const mw_tensor *x = mw__arg(op, "x");
    return mw__legality_names_rewrite(pass->legality, op, MW__RULE_same_cast) && x->payload == NULL &&
           mw_tensor_dtype(x) == mw_tensor_dtype(op->results[0]);
}

mw_tensor *mw__decompose_same(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    (void)pass;
    return mw__decompose_arg(clone, op, "x");
}

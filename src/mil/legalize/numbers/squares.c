/* Looks back from a root to what is squared. */
#include "mil/legalize/numbers/squares.h"

#include "graph/ir/op_table.h"
#include "mil/legalize/numbers/bound.h"

#include <math.h>

enum { STEPS_MAX = 8 }; /* operations between a root and its sum */

/* The one number that a constant holds. */
static bool read_number(const mw_tensor *value, double *out)
{
    if (value == NULL || !mw__is_constant(value))
        return false;
    const mw__bound bound = mw__bound_of(value);
    *out = bound.low;
    return bound.low == bound.high;
}

bool mw__squares_is_power(const mw__op *op, double exponent)
{
    double number;
    return mw__op_is(op, "pow") && read_number(mw__op_operand(op, "y"), &number) && number == exponent;
}

bool mw__squares_is_square(const mw__op *op)
{
    const bool product = mw__op_is(op, "mul") && mw__op_operand(op, "x") == mw__op_operand(op, "y");
    return product || mw__op_is(op, "square") || mw__squares_is_power(op, 2.0);
}

/* ---- from the root to the sum ---- */

/* One step back over a constant that is added or multiplies: the root of gain v + rest, with v the result of `op`. */
static const mw_tensor *step_over(const mw__op *op, mw__root *root)
{
    const mw_tensor *x = mw__op_operand(op, "x"), *y = mw__op_operand(op, "y");
    double number;
    const bool second = read_number(y, &number);
    if (!second && (mw__op_is(op, "real_div") || !read_number(x, &number)))
        return NULL;
    if (mw__op_is(op, "add"))
        root->rest += root->gain * number;
    else if (mw__op_is(op, "mul"))
        root->gain *= number;
    else if (mw__op_is(op, "real_div"))
        root->gain /= number;
    else
        return NULL;
    return second ? x : y;
}

static const mw__op *made_by(const mw_tensor *value)
{
    const mw__op *op = value != NULL && value->payload == NULL ? value->op : NULL;
    return op != NULL && op->row != NULL && op->block_count == 0 && op->result_count == 1 ? op : NULL;
}

/* What the root is taken of, and with what it begins. */
static const mw_tensor *begin(const mw__op *op, mw__root *root)
{
    root->gain = 1.0;
    root->is_reciprocal = mw__op_is(op, "rsqrt") || mw__squares_is_power(op, -0.5);
    if (mw__op_is(op, "rsqrt"))
        mw__arg_float(op, "epsilon", &root->rest);
    else if (!root->is_reciprocal && !mw__op_is(op, "sqrt") && !mw__squares_is_power(op, 0.5))
        return NULL;
    return mw__op_operand(op, "x");
}

/* ---- the sum ---- */

static bool read_axes(const mw__op *sum, mw_shape shape, mw__root *root)
{
    int64_t axes[MW_RANK_MAX];
    size_t count = 0;
    if (!mw__arg_ints(sum, "axes", axes, MW_RANK_MAX, &count))
        for (int i = 0; i < shape.rank; i++)
            axes[count++] = i;
    root->kept = shape;
    root->count = 1;
    for (size_t i = 0; i < count; i++) {
        const int axis = (int)(axes[i] < 0 ? axes[i] + shape.rank : axes[i]);
        root->axes.axis[root->axes.count++] = axis;
        root->count *= shape.dim[axis];
        root->kept.dim[axis] = 1;
    }
    return count > 0 && root->count > 0;
}

static bool read_sum(const mw__op *sum, mw__root *root)
{
    const bool squares = mw__op_is(sum, "reduce_sum_square"), mean = mw__op_is(sum, "reduce_mean");
    const mw__op *square = squares ? sum : made_by(mw__op_operand(sum, "x"));
    if (square == NULL || (!squares && !mean && !mw__op_is(sum, "reduce_sum")) ||
        (!squares && !mw__squares_is_square(square)))
        return false;
    root->x = mw__op_operand(square, "x");
    if (root->x == NULL || root->x->payload != NULL || mw_shape_count(mw_tensor_shape(root->x)) <= 0 ||
        !read_axes(sum, mw_tensor_shape(root->x), root))
        return false;
    root->sum = sum;
    root->gain *= mean ? 1.0 : (double)root->count;
    return root->gain > 0 && isfinite(root->gain) && root->rest >= 0 && isfinite(root->rest);
}

bool mw__squares_find_root(const mw__op *op, mw__root *out)
{
    *out = (mw__root){0};
    const mw_tensor *value = op->row != NULL ? begin(op, out) : NULL;
    for (int i = 0; i < STEPS_MAX; i++) {
        const mw__op *made = made_by(value);
        if (made == NULL)
            return false;
        if (read_sum(made, out))
            return true;
        value = step_over(made, out);
    }
    return false;
}

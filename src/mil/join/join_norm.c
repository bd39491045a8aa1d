/* Layer norm and RMS norm from parts: x r or x / s with s the root of the mean of x^2, and r = 1 / s; of a layer norm,
 * x is itself less its mean. Weights that follow are left as they are, for the pass absorb. */
#include "mil/join/join_parts.h"
#include "mil/legalize/numbers/squares.h"
#include "mil/legalize/rewrites.h"

#include <math.h>
#include <millwright/millwright.h>

typedef struct norm {
    const mw_tensor *x; /* that is normalized */
    mw__root root;
    bool centered;
} norm;

static bool same_axes(const mw__op *mean, const mw__root *root)
{
    bool marks[MW_RANK_MAX], keep = false;
    mw__join_axes(mean, root->kept.rank, marks);
    for (int i = 0; i < root->axes.count; i++)
        if (!marks[root->axes.axis[i]])
            return false;
    int count = 0;
    for (int i = 0; i < root->kept.rank; i++)
        count += marks[i];
    return count == root->axes.count && mw__arg_bool(mean, "keep_dims", &keep) && keep;
}

/* x of x - mean(x); NULL if it is none over those axes. */
static const mw_tensor *centered_of(const mw_tensor *value, const mw__root *root)
{
    const mw__op *difference = mw__join_made_by(value, "sub");
    const mw_tensor *x = difference != NULL ? mw__op_operand(difference, "x") : NULL;
    const mw__op *mean = difference != NULL ? mw__join_made_by(mw__op_operand(difference, "y"), "reduce_mean") : NULL;
    return mean != NULL && mw__op_operand(mean, "x") == x && same_axes(mean, root) ? x : NULL;
}

/* The root by which the operation divides `of`, or by whose reciprocal it multiplies. */
static bool divides_by_root(const mw__op *op, const mw_tensor *by, mw__root *root)
{
    double one = 0.0;
    const mw__op *maker = mw__join_maker(by);
    if (maker == NULL)
        return false;
    const bool turned = mw__op_is(op, "mul") && mw__op_is(maker, "real_div") &&
                        mw__join_number(mw__op_operand(maker, "x"), &one) && one == 1.0;
    const bool inverse = mw__op_is(op, "mul") && mw__op_is(maker, "inverse");
    double epsilon = 0.0;
    if (inverse && (!mw__arg_float(maker, "epsilon", &epsilon) || epsilon > 1e-30))
        return false;
    if (turned || inverse)
        maker = mw__join_maker(mw__op_operand(maker, turned ? "y" : "x"));
    return maker != NULL && mw__squares_find_root(maker, root) &&
           root->is_reciprocal == (mw__op_is(op, "mul") && !turned && !inverse);
}

static bool has_kept_shape(const mw__root *root)
{
    const mw_tensor *sum = root->sum->results[0];
    return mw_shape_equal(mw_tensor_shape(sum), root->kept);
}

/* As an operand of the root's operation; `by` is the other one. */
static bool read_norm(mw__joining *joining, const mw__op *op, const mw_tensor *of, const mw_tensor *by, norm *out)
{
    if (of == NULL || by == NULL || of->payload != NULL || !divides_by_root(op, by, &out->root) ||
        fabs(out->root.gain - 1.0) > 1e-6 || out->root.rest > 1.0 || !has_kept_shape(&out->root) ||
        !mw__join_same_shape(of, op->results[0]))
        return false;
    const mw_tensor *plain = centered_of(of, &out->root), *squared = centered_of(out->root.x, &out->root);
    out->centered = plain != NULL && plain == squared;
    out->x = out->centered ? plain : of;
    return (out->centered || out->root.x == of) && mw__join_collect(joining, op, &out->x, 1);
}

static bool find_norm(const mw__rewriting *pass, const mw__op *op, norm *out)
{
    const mw_tensor *x = mw__op_operand(op, "x"), *y = mw__op_operand(op, "y");
    return read_norm(pass->joining, op, x, y, out) || (mw__op_is(op, "mul") && read_norm(pass->joining, op, y, x, out));
}

bool mw__join_is_layer_norm(const mw__rewriting *pass, const mw__op *op)
{
    norm n;
    return find_norm(pass, op, &n) && n.centered;
}

mw_tensor *mw__join_layer_norm(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    norm n;
    find_norm(pass, op, &n);
    return mw_layer_norm(mw__clone_get(clone, n.x), n.root.axes, NULL, NULL, (float)n.root.rest);
}

/* One that has the form of the engine already is left. */
bool mw__join_is_rms_norm(const mw__rewriting *pass, const mw__op *op)
{
    norm n;
    return find_norm(pass, op, &n) && !n.centered && pass->joining->group.count > 4;
}

mw_tensor *mw__join_rms_norm(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    norm n;
    find_norm(pass, op, &n);
    mw_tensor *x = mw__clone_get(clone, n.x);
    return mw_mul(x, mw_rsqrt(mw_reduce_mean(mw_square(x), n.root.axes, true), (float)n.root.rest));
}

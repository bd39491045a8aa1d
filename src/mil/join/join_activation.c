/* Activations that a model spells from parts. */
#include "mil/join/join_parts.h"
#include "mil/legalize/rewrites.h"

#include <millwright/millwright.h>

/* Asked again of a group that was found before: others may have looked since. */
static bool is_spelled(const mw__rewriting *pass, const mw__op *op, mw__curve_name first, mw__curve_name last)
{
    const mw__join_curve found = mw__join_curve_of(pass, op);
    return found.curve >= (int)first && found.curve <= (int)last && mw__join_collect(pass->joining, op, &found.x, 1);
}

static mw_tensor *argument_of(const mw__rewriting *pass, const mw__clone *clone, const mw__op *op)
{
    return mw__clone_get(clone, mw__join_curve_of(pass, op).x);
}

bool mw__join_is_known(const mw__rewriting *pass, const mw__op *op)
{
    double number;
    return mw__join_number_of(pass->joining, op, &number);
}

mw_tensor *mw__join_known(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    double number = 0.0;
    mw__join_number_of(pass->joining, op, &number);
    const float rounded = (float)number;
    return mw_constant(clone->to, MW_F32, mw_tensor_shape(op->results[0]), &rounded);
}

bool mw__join_is_sigmoid(const mw__rewriting *pass, const mw__op *op)
{
    return is_spelled(pass, op, MW__CURVE_SIGMOID, MW__CURVE_SIGMOID);
}

mw_tensor *mw__join_sigmoid(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    return mw_sigmoid(argument_of(pass, clone, op));
}

bool mw__join_is_silu(const mw__rewriting *pass, const mw__op *op)
{
    return is_spelled(pass, op, MW__CURVE_SILU, MW__CURVE_SILU);
}

mw_tensor *mw__join_silu(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    return mw_silu(argument_of(pass, clone, op));
}

bool mw__join_is_gelu(const mw__rewriting *pass, const mw__op *op)
{
    return is_spelled(pass, op, MW__CURVE_GELU, MW__CURVE_GELU_SIGMOID);
}

mw_tensor *mw__join_gelu(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    const int curve = mw__join_curve_of(pass, op).curve;
    return mw_gelu(argument_of(pass, clone, op), curve == MW__CURVE_GELU        ? MW_GELU_EXACT
                                                 : curve == MW__CURVE_GELU_TANH ? MW_GELU_TANH
                                                                                : MW_GELU_SIGMOID);
}

bool mw__join_is_softplus(const mw__rewriting *pass, const mw__op *op)
{
    return is_spelled(pass, op, MW__CURVE_SOFTPLUS, MW__CURVE_SOFTPLUS);
}

mw_tensor *mw__join_softplus(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    return mw_softplus(argument_of(pass, clone, op));
}

bool mw__join_is_hard(const mw__rewriting *pass, const mw__op *op)
{
    return is_spelled(pass, op, MW__CURVE_HARD_SIGMOID, MW__CURVE_HARD_SWISH);
}

mw_tensor *mw__join_hard(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    mw_tensor *x = argument_of(pass, clone, op), *gate = mw_sigmoid_hard(x, 1.0f / 6.0f, 0.5f);
    return mw__join_curve_of(pass, op).curve == MW__CURVE_HARD_SWISH ? mw_mul(x, gate) : gate;
}

bool mw__join_is_mish(const mw__rewriting *pass, const mw__op *op)
{
    return is_spelled(pass, op, MW__CURVE_MISH, MW__CURVE_MISH);
}

mw_tensor *mw__join_mish(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    mw_tensor *x = argument_of(pass, clone, op);
    return mw_mul(x, mw_tanh(mw_softplus(x)));
}

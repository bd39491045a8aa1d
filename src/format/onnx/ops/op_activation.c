/* Activations that are not one operation of MIL with the same numbers. */
#include "format/onnx/read/import.h"

#include <millwright/ops/activation.h>
#include <millwright/ops/compare.h>
#include <millwright/ops/elementwise.h>
#include <millwright/ops/shape.h>

static mw_tensor *number_tensor(mw__onnx_node *node, double value)
{
    return mw_scalar(node->graph, mw__onnx_dtype(mw__onnx_type(node, 0)), value);
}

mw_status mw__onnx_relu(mw__onnx_node *node)
{
    mw_tensor *x = mw__onnx_in(node, 0);
    return mw__onnx_give(node, mw__onnx_is_float(mw__onnx_type(node, 0)) ? mw_relu(x)
                                                                         : mw_maximum(x, number_tensor(node, 0)));
}

mw_status mw__onnx_elu(mw__onnx_node *node)
{
    return mw__onnx_give(node, mw_elu(mw__onnx_in(node, 0), (float)mw__onnx_float(node, "alpha", 1)));
}

/* max(0, x) + min(0, alpha (e^(x / alpha) - 1)) */
mw_status mw__onnx_celu(mw__onnx_node *node)
{
    const double alpha = mw__onnx_float(node, "alpha", 1);
    if (alpha == 0)
        return mw__onnx_refuse(node, "its alpha is 0");
    mw_tensor *scaled = mw_mul_scalar(mw__onnx_in(node, 0), 1 / alpha);
    return mw__onnx_give(node, mw_mul_scalar(mw_elu(scaled, 1), alpha));
}

mw_status mw__onnx_selu(mw__onnx_node *node)
{
    const double alpha = mw__onnx_float(node, "alpha", 1.67326319217681884765625);
    const double gamma = mw__onnx_float(node, "gamma", 1.05070102214813232421875);
    return mw__onnx_give(node, mw_mul_scalar(mw_elu(mw__onnx_in(node, 0), (float)alpha), gamma));
}

mw_status mw__onnx_leaky_relu(mw__onnx_node *node)
{
    return mw__onnx_give(node, mw_leaky_relu(mw__onnx_in(node, 0), (float)mw__onnx_float(node, "alpha", 0.01f)));
}

/* True for a slope of one number a channel of x [N, C, ..]. */
static bool is_per_channel(mw_shape x, mw_shape slope)
{
    if (x.rank < 3 || x.rank > 5 || slope.rank != x.rank - 1 || slope.dim[0] != x.dim[1])
        return false;
    for (int i = 1; i < slope.rank; i++)
        if (slope.dim[i] != 1)
            return false;
    return true;
}

mw_status mw__onnx_prelu(mw__onnx_node *node)
{
    mw_tensor *x = mw__onnx_in(node, 0), *slope = mw__onnx_in(node, 1), *zero = number_tensor(node, 0);
    if (x != NULL && slope != NULL && mw_tensor_shape(x).rank == 4 &&
        is_per_channel(mw_tensor_shape(x), mw_tensor_shape(slope)) && mw__onnx_is_float(mw__onnx_type(node, 0))) {
        mw_tensor *vector = mw_reshape(slope, MW_SHAPE(mw_tensor_shape(slope).dim[0]));
        return mw__onnx_give(node, mw_prelu(x, vector));
    }
    mw_tensor *negative = mw_less(x, zero);
    return mw__onnx_give(node, mw_select(negative, mw_mul(x, slope), x));
}

/* x where x > alpha, else 0: MIL's lets x = alpha pass. */
mw_status mw__onnx_thresholded_relu(mw__onnx_node *node)
{
    mw_tensor *x = mw__onnx_in(node, 0);
    mw_tensor *passes = mw_greater(x, number_tensor(node, mw__onnx_float(node, "alpha", 1)));
    return mw__onnx_give(node, mw_select(passes, x, number_tensor(node, 0)));
}

mw_status mw__onnx_hard_sigmoid(mw__onnx_node *node)
{
    const double alpha = mw__onnx_float(node, "alpha", 0.2f), beta = mw__onnx_float(node, "beta", 0.5f);
    return mw__onnx_give(node, mw_sigmoid_hard(mw__onnx_in(node, 0), (float)alpha, (float)beta));
}

mw_status mw__onnx_hard_swish(mw__onnx_node *node)
{
    mw_tensor *x = mw__onnx_in(node, 0);
    return mw__onnx_give(node, mw_mul(x, mw_sigmoid_hard(x, 1.0f / 6, 0.5f)));
}

/* x - bias above lambd, x + bias below -lambd, 0 between. */
mw_status mw__onnx_shrink(mw__onnx_node *node)
{
    const double bias = mw__onnx_float(node, "bias", 0), lambda = mw__onnx_float(node, "lambd", 0.5);
    if (!mw__onnx_is_float(mw__onnx_type(node, 0)))
        return mw__onnx_refuse(node, "it is supported of floating-point numbers only");
    mw_tensor *x = mw__onnx_in(node, 0), *zero = number_tensor(node, 0);
    mw_tensor *above = mw_greater(x, number_tensor(node, lambda)), *below = mw_less(x, number_tensor(node, -lambda));
    mw_tensor *shrunk = mw_select(above, mw_add_scalar(x, -bias), zero);
    return mw__onnx_give(node, mw_select(below, mw_add_scalar(x, bias), shrunk));
}

mw_status mw__onnx_gelu(mw__onnx_node *node)
{
    const mw_gelu_mode mode = mw__onnx_is(node, "approximate", "tanh") ? MW_GELU_TANH : MW_GELU_EXACT;
    return mw__onnx_give(node, mw_gelu(mw__onnx_in(node, 0), mode));
}

mw_status mw__onnx_mish(mw__onnx_node *node)
{
    mw_tensor *x = mw__onnx_in(node, 0);
    return mw__onnx_give(node, mw_mul(x, mw_tanh(mw_softplus(x))));
}

/* x sigmoid(alpha x) */
mw_status mw__onnx_swish(mw__onnx_node *node)
{
    mw_tensor *x = mw__onnx_in(node, 0);
    const double alpha = mw__onnx_float(node, "alpha", 1);
    return mw__onnx_give(node, mw_mul(x, mw_sigmoid(alpha != 1 ? mw_mul_scalar(x, alpha) : x)));
}

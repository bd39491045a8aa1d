/* Parameters, products, norms and activations of a network. */
#include "text/net/net.h"

#include <stdio.h>
#include <string.h>

/* "model.layers.3.self_attn.q_proj.weight" */
static void name_of(const mw__net *net, int layer, const char *part, const char *what, char out[160])
{
    char prefix[64] = "";
    const char *number = strstr(net->family->layer, "%d");
    if (layer >= 0)
        snprintf(prefix, sizeof prefix, "%.*s%d%s", (int)(number - net->family->layer), net->family->layer, layer,
                 number + 2);
    snprintf(out, 160, "%s%s%s", prefix, part, what);
}

mw_tensor *mw__language_parameter(const mw__net *net, int layer, const char *part, const char *what, mw_shape shape,
                                  mw_init init)
{
    char name[160];
    name_of(net, layer, part, what, name);
    return mw_parameter(net->graph, name, shape.rank > 1 ? net->options->weights : MW_F32, shape, init);
}

mw_tensor *mw__language_widened(mw_tensor *weight)
{
    return mw_tensor_dtype(weight) == MW_F16 ? mw_cast(weight, MW_F32) : weight;
}

mw_tensor *mw__language_product(const mw__net *net, mw_tensor *x, int64_t outputs, int layer, const char *part,
                                bool bias)
{
    const mw_shape shape = mw_tensor_shape(x);
    const int64_t inputs = shape.rank > 0 ? shape.dim[shape.rank - 1] : 0;
    const bool first = net->family->inputs_first;
    mw_tensor *weight = mw__language_parameter(net, layer, part, ".weight",
                                               first ? MW_SHAPE(inputs, outputs) : MW_SHAPE(outputs, inputs),
                                               mw_init_normal(0.0F, 0.02F));
    weight = mw__language_widened(weight);
    mw_tensor *added =
        bias ? mw__language_parameter(net, layer, part, ".bias", MW_SHAPE(outputs), mw_init_zeros()) : NULL;
    if (!first)
        return mw_linear(x, weight, added);
    mw_tensor *y = mw_matmul(x, weight, MW_TRANSPOSE_NONE);
    return added != NULL ? mw_add(y, added) : y;
}

/* Gemma keeps what is added to 1. */
static mw_tensor *rms_norm(const mw__net *net, mw_tensor *x, mw_tensor *weight)
{
    if (net->family->norm == MW__NET_RMS_NORM_FROM_ONE)
        weight = mw_add_scalar(weight, 1.0);
    return mw_rms_norm(x, MW_AXES(-1), weight, net->config->norm_epsilon);
}

mw_tensor *mw__language_norm_of(const mw__net *net, mw_tensor *x, int layer, const char *part)
{
    const mw_shape shape = mw_tensor_shape(x);
    const mw_shape own = MW_SHAPE(shape.rank > 0 ? shape.dim[shape.rank - 1] : 0);
    const bool from_one = net->family->norm == MW__NET_RMS_NORM_FROM_ONE;
    mw_tensor *weight =
        mw__language_parameter(net, layer, part, ".weight", own, from_one ? mw_init_zeros() : mw_init_constant(1.0F));
    if (net->family->norm != MW__NET_LAYER_NORM)
        return rms_norm(net, x, weight);
    mw_tensor *bias = mw__language_parameter(net, layer, part, ".bias", own, mw_init_zeros());
    return mw_layer_norm(x, MW_AXES(-1), weight, bias, net->config->norm_epsilon);
}

mw_tensor *mw__language_join(const mw__net *net, mw_tensor *x, mw_tensor *y, int layer, const char *part)
{
    if (part == NULL)
        return mw_add(x, y);
    if (net->family->sums_normed)
        return mw__language_norm_of(net, mw_add(x, y), layer, part);
    return mw_add(x, mw__language_norm_of(net, y, layer, part));
}

mw_tensor *mw__language_activated(const mw__net *net, mw_tensor *x)
{
    if (net->family->activation == MW__NET_SILU)
        return mw_silu(x);
    return mw_gelu(x, net->family->activation == MW__NET_GELU ? MW_GELU_EXACT : MW_GELU_TANH);
}

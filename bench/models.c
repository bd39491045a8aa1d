/* The networks of models.h. */
#include "models.h"

#include <stdio.h>

mw_tensor *model_mlp(mw_tensor *x) { return model_mlp_of(x, 256); }

mw_tensor *model_mlp_of(mw_tensor *x, int64_t hidden)
{
    return mw_dense(mw_gelu(mw_dense(x, hidden, "fc1"), MW_GELU_TANH), 10, "fc2");
}

mw_tensor *model_deep(mw_tensor *x, int layers)
{
    char name[32];
    for (int i = 0; i < layers; i++) {
        snprintf(name, sizeof name, "fc%d", i);
        x = mw_relu(mw_dense(x, 64, name));
    }
    return mw_dense(x, 10, "head");
}

static mw_tensor *convolve(mw_tensor *x, int64_t channels, const char *name)
{
    mw_conv_options same = mw_conv_defaults();
    same.pad_type = MW_PAD_SAME;
    mw_pool_options halve = mw_pool_defaults(MW_SHAPE(2, 2));
    halve.stride[0] = halve.stride[1] = 2;
    return mw_max_pool(mw_relu(mw_conv_layer(x, channels, MW_SHAPE(3, 3), name, &same)), &halve);
}

mw_tensor *model_cnn(mw_tensor *x)
{
    const int64_t batch = mw_tensor_shape(x).dim[0];
    mw_tensor *pooled = convolve(convolve(x, 16, "conv1"), 32, "conv2"); /* [N, 32, 7, 7] */
    mw_tensor *flat = mw_reshape(pooled, MW_SHAPE(batch, 32 * 7 * 7));
    return mw_dense(mw_relu(mw_dense(flat, 128, "fc1")), 10, "fc2");
}

mw_tensor *model_tiny(mw_tensor *x) { return mw_dense(mw_relu(mw_dense(x, 16, "fc1")), 1, "fc2"); }

/* ---- the transformer block: N examples of T tokens, D channels in H heads of E ---- */

enum { N = BLOCK_N, T = BLOCK_T, D = BLOCK_D, H = BLOCK_HEADS, E = BLOCK_D / BLOCK_HEADS };

/* 0 where a token may look (at itself and before), else so low that nothing is left of it after the softmax. */
static mw_tensor *causal_mask(mw_graph *graph)
{
    static float mask[T][T];
    for (int query = 0; query < T; query++) {
        for (int key = 0; key < T; key++)
            mask[query][key] = key > query ? -30000.0f : 0.0f; /* fp16 holds it */
    }
    return mw_constant(graph, MW_F32, MW_SHAPE(T, T), mask);
}

/* "fc1" of the first block, "fc1.2" of the second: valid until the next call with the same buffer. */
static const char *layer_name(char buffer[32], const char *name, int layer)
{
    if (layer == 0)
        return name;
    snprintf(buffer, 32, "%s.%d", name, layer + 1);
    return buffer;
}

/* x [N, T, D] -> [N, T, D] */
static mw_tensor *attend(mw_tensor *x, int layer)
{
    char name[32];
    mw_tensor *parts[3] = {NULL};
    mw_tensor *heads = mw_reshape(mw_dense(x, 3 * D, layer_name(name, "qkv", layer)), MW_SHAPE(N, T, 3, H, E));
    heads = mw_transpose(heads, MW_AXES(2, 0, 3, 1, 4));
    mw_split(heads, 3, 0, parts);
    for (int i = 0; i < 3; i++)
        parts[i] = mw_reshape(parts[i], MW_SHAPE(N, H, T, E));
    mw_tensor *mask = causal_mask(mw_tensor_graph(x));
    mw_tensor *mixed = mw_scaled_dot_product_attention(parts[0], parts[1], parts[2], mask);
    return mw_dense(mw_reshape(mw_transpose(mixed, MW_AXES(0, 2, 1, 3)), MW_SHAPE(N, T, D)), D,
                    layer_name(name, "projection", layer));
}

/* x [N, T, D] -> [N, T, D] */
static mw_tensor *block(mw_tensor *x, int layer)
{
    char name[32];
    x = mw_add(x, attend(mw_layer_norm_layer(x, 1, 1e-5f, layer_name(name, "norm1", layer)), layer));
    mw_tensor *normal = mw_layer_norm_layer(x, 1, 1e-5f, layer_name(name, "norm2", layer));
    mw_tensor *wide = mw_gelu(mw_dense(normal, 4 * D, layer_name(name, "fc1", layer)), MW_GELU_TANH);
    return mw_add(x, mw_dense(wide, D, layer_name(name, "fc2", layer)));
}

/* Rows of a table by token. The ANE has no integer inputs and so no lookup: there it is a product with one-hot rows. */
static mw_tensor *embed(mw_tensor *tokens, bool one_hot)
{
    if (!one_hot)
        return mw_embedding(tokens, BLOCK_WORDS, D, "token");
    mw_graph *graph = mw_tensor_graph(tokens);
    mw_tensor *table =
        mw_parameter(graph, "token.weight", MW_F32, MW_SHAPE(BLOCK_WORDS, D), mw_init_normal(0.0f, 1.0f));
    mw_tensor *words = mw_range_1d(graph, MW_I32, 0.0, BLOCK_WORDS, 1.0);
    mw_tensor *rows = mw_equal(mw_reshape(tokens, MW_SHAPE(N * T, 1)), words);
    return mw_reshape(mw_matmul(mw_cast(rows, MW_F32), table, MW_TRANSPOSE_NONE), MW_SHAPE(N, T, D));
}

mw_tensor *model_transformer(mw_tensor *tokens, int layers, bool one_hot)
{
    mw_graph *graph = mw_tensor_graph(tokens);
    mw_tensor *position = mw_parameter(graph, "position.weight", MW_F32, MW_SHAPE(T, D), mw_init_normal(0.0f, 1.0f));
    mw_tensor *words = mw_parameter(graph, "head.weight", MW_F32, MW_SHAPE(BLOCK_WORDS, D), mw_init_kaiming_uniform());
    mw_tensor *x = mw_add(embed(tokens, one_hot), position);
    for (int layer = 0; layer < layers; layer++)
        x = block(x, layer);
    mw_tensor *flat = mw_reshape(mw_layer_norm_layer(x, 1, 1e-5f, "norm3"), MW_SHAPE(N * T, D));
    return mw_linear(flat, words, NULL);
}

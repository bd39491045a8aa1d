#include "networks.h"

#include <millwright/view.h>

#include <stdio.h>
#include <string.h>

static mw_tensor *conv_block(mw_tensor *x, int64_t channels, int i)
{
    char name[32];
    mw_conv_options conv = mw_conv_defaults();
    conv.pad_type = MW_PAD_SAME;
    conv.bias = false;
    snprintf(name, sizeof name, "conv%d", i);
    x = mw_conv_layer(x, channels, MW_SHAPE(3, 3), name, &conv);
    snprintf(name, sizeof name, "bn%d", i);
    x = mw_relu(mw_batch_norm_layer(x, 0.1f, 1e-5f, name));
    mw_pool_options pool = mw_pool_defaults(MW_SHAPE(2, 2));
    pool.stride[0] = pool.stride[1] = 2;
    return mw_max_pool(x, &pool);
}

mw_graph *cnn_make(void)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(8, 3, 16, 16));
    mw_tensor *y = mw_input(graph, "y", MW_I32, MW_SHAPE(8));
    mw_tensor *h = conv_block(conv_block(x, 8, 1), 16, 2);
    h = mw_dropout(mw_reshape(h, MW_SHAPE(8, 256)), 0.5f, "drop");
    mw_tensor *logits = mw_output(mw_dense(h, 10, "head"), "logits");
    mw_output(mw_cross_entropy(logits, y), "loss");
    return graph;
}

enum { T = 12, D = 32, HEADS = 4 };

static mw_tensor *attend(mw_tensor *x, int i)
{
    char name[32];
    mw_tensor *parts[3];
    const int64_t n = mw_tensor_shape(x).dim[0];
    for (int k = 0; k < 3; k++) {
        snprintf(name, sizeof name, "block%d.attention.%c", i, "qkv"[k]);
        parts[k] =
            mw_transpose(mw_reshape(mw_dense(x, D, name), MW_SHAPE(n, T, HEADS, D / HEADS)), MW_AXES(0, 2, 1, 3));
    }
    mw_tensor *y = mw_scaled_dot_product_attention(parts[0], parts[1], parts[2], NULL);
    y = mw_reshape(mw_transpose(y, MW_AXES(0, 2, 1, 3)), MW_SHAPE(n, T, D));
    snprintf(name, sizeof name, "block%d.attention.out", i);
    return mw_dense(y, D, name);
}

static mw_tensor *block(mw_tensor *x, int i)
{
    char name[32];
    snprintf(name, sizeof name, "block%d.norm1", i);
    x = mw_add(x, attend(mw_layer_norm_layer(x, 1, 1e-5f, name), i));
    snprintf(name, sizeof name, "block%d.norm2", i);
    mw_tensor *h = mw_layer_norm_layer(x, 1, 1e-5f, name);
    snprintf(name, sizeof name, "block%d.up", i);
    h = mw_gelu(mw_dense(h, 4 * D, name), MW_GELU_TANH);
    snprintf(name, sizeof name, "block%d.down", i);
    return mw_add(x, mw_dense(h, D, name));
}

mw_graph *transformer_make(int layers)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "tokens", MW_I32, MW_SHAPE(2, T));
    mw_tensor *h = mw_embedding(x, 50, D, "letters");
    for (int i = 0; i < layers; i++)
        h = block(h, i);
    mw_output(mw_dense(mw_layer_norm_layer(h, 1, 1e-5f, "norm"), 50, "head"), "logits");
    return graph;
}

mw_graph *recurrent_make(void)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_recurrent_layer_options options = mw_recurrent_layer_defaults();
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(6, 2, 5));
    options.layers = 2;
    options.bidirectional = true;
    mw_tensor *h = mw_lstm_layer(x, 7, "memory", &options).y;
    h = mw_gru_layer(h, 4, "gates", NULL).y;
    mw_output(mw_dense(h, 3, "head"), "y");
    return graph;
}

mw_graph *chain_make(size_t count)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(2, 3));
    for (size_t i = 0; i < count; i++)
        x = mw_relu(x);
    mw_output(x, "y");
    return graph;
}

const char *kinds_of(const mw_summary *summary)
{
    static char text[8192];
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < mw_summary_count(summary) && used < sizeof text - 64; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i > 0 ? " " : "",
                                 mw_summary_at(summary, i)->kind);
    return text;
}

const char *kinds_of_graph(const mw_graph *graph, mw_error *err)
{
    mw_summary *summary = mw_summary_create(graph, err);
    const char *text = summary != NULL ? kinds_of(summary) : "";
    mw_summary_destroy(summary);
    return text;
}

#include "segment_nets.h"

#include "graph/ir/ir.h"

#include <stdio.h>
#include <stdlib.h>

enum { N = 2, T = 8, D = 16, HEADS = 2, LETTERS = 23 };

static const char *name_of(char *buffer, int layer, const char *part)
{
    snprintf(buffer, 32, "h%d.%s", layer, part);
    return buffer;
}

static mw_tensor *causal_mask(mw_graph *graph)
{
    float mask[T][T];
    for (int query = 0; query < T; query++)
        for (int key = 0; key < T; key++)
            mask[query][key] = key > query ? -30000.0f : 0.0f;
    return mw_constant(graph, MW_F32, MW_SHAPE(T, T), mask);
}

static mw_tensor *attend(mw_tensor *x, mw_tensor *mask, int layer)
{
    char name[32];
    mw_tensor *parts[3] = {NULL};
    mw_tensor *heads = mw_dense(x, 3 * D, name_of(name, layer, "qkv"));
    heads = mw_transpose(mw_reshape(heads, MW_SHAPE(N, T, 3, HEADS, D / HEADS)), MW_AXES(2, 0, 3, 1, 4));
    mw_split(heads, 3, 0, parts);
    for (int i = 0; i < 3; i++)
        parts[i] = mw_reshape(parts[i], MW_SHAPE(N, HEADS, T, D / HEADS));
    mw_tensor *mixed =
        mw_transpose(mw_scaled_dot_product_attention(parts[0], parts[1], parts[2], mask), MW_AXES(0, 2, 1, 3));
    return mw_dense(mw_reshape(mixed, MW_SHAPE(N, T, D)), D, name_of(name, layer, "projection"));
}

static mw_tensor *layer_of(mw_tensor *x, mw_tensor *mask, int layer)
{
    char name[32];
    x = mw_add(x, attend(mw_layer_norm_layer(x, 1, 1e-5f, name_of(name, layer, "norm1")), mask, layer));
    mw_tensor *wide = mw_layer_norm_layer(x, 1, 1e-5f, name_of(name, layer, "norm2"));
    wide = mw_gelu(mw_dense(wide, 4 * D, name_of(name, layer, "fc1")), MW_GELU_TANH);
    return mw_add(x, mw_dropout(mw_dense(wide, D, name_of(name, layer, "fc2")), 0.2f, name_of(name, layer, "drop")));
}

mw_tensor *segment_transformer(mw_graph *graph, int depth)
{
    mw_tensor *x = mw_input(graph, "x", MW_I32, MW_SHAPE(N, T)), *y = mw_input(graph, "y", MW_I32, MW_SHAPE(N, T));
    mw_tensor *table = mw_parameter(graph, "letter.weight", MW_F32, MW_SHAPE(LETTERS, D), mw_init_normal(0, 0.1f));
    mw_tensor *place = mw_parameter(graph, "place.weight", MW_F32, MW_SHAPE(T, D), mw_init_normal(0, 0.1f));
    mw_tensor *h = mw_add(mw_gather(table, x, 0), place);
    mw_tensor *mask = causal_mask(graph);
    for (int layer = 0; layer < depth; layer++)
        h = layer_of(h, mask, layer);
    h = mw_layer_norm_layer(h, 1, 1e-5f, "norm");
    return mw_cross_entropy(mw_matmul(h, table, MW_TRANSPOSE_Y), y);
}

/* The same with every layer recomputed in the backward pass. */
static mw_tensor *recomputed(mw_graph *graph, int depth)
{
    mw_tensor *x = mw_input(graph, "x", MW_I32, MW_SHAPE(N, T)), *y = mw_input(graph, "y", MW_I32, MW_SHAPE(N, T));
    mw_tensor *table = mw_parameter(graph, "letter.weight", MW_F32, MW_SHAPE(LETTERS, D), mw_init_normal(0, 0.1f));
    mw_tensor *h = mw_gather(table, x, 0), *mask = causal_mask(graph);
    for (int layer = 0; layer < depth; layer++) {
        mw_tensor *inputs[] = {h};
        h = mw_recompute(layer_of(h, mask, layer), inputs, 1);
    }
    return mw_cross_entropy(mw_dense(h, LETTERS, "head"), y);
}

static mw_tensor *mlp(mw_graph *graph, int depth)
{
    char name[32];
    mw_tensor *h = mw_input(graph, "x", MW_F32, MW_SHAPE(8, D)), *y = mw_input(graph, "y", MW_I32, MW_SHAPE(8));
    for (int layer = 0; layer < depth; layer++)
        h = mw_relu(mw_dense(h, D, name_of(name, layer, "fc")));
    return mw_cross_entropy(mw_dense(h, 5, "head"), y);
}

/* Batch norm and a state that follows the mean of what is fed, dropout, a residual. */
static mw_tensor *stateful(mw_graph *graph, int depth)
{
    char name[32], other[32];
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(8, D)), *y = mw_input(graph, "y", MW_I32, MW_SHAPE(8));
    mw_tensor *mean = mw_state(graph, "x_mean", MW_F32, MW_SHAPE(D), mw_init_zeros());
    mw_tensor *now = mw_reduce_mean(x, MW_AXES(0), false);
    mw_state_assign(mean, mw_mul_scalar(mw_add(mean, now), 0.5));
    mw_tensor *h = mw_sub(x, mean);
    for (int layer = 0; layer < depth; layer++) {
        mw_tensor *next = mw_tanh(
            mw_batch_norm_layer(mw_dense(h, D, name_of(name, layer, "fc")), 0.25f, 1e-3f, name_of(other, layer, "bn")));
        h = mw_add(h, mw_dropout(next, 0.3f, name_of(name, layer, "drop")));
    }
    return mw_cross_entropy(mw_dense(h, 5, "head"), y);
}

static mw_tensor *convolutions(mw_graph *graph, int depth)
{
    char name[32];
    mw_tensor *h = mw_input(graph, "x", MW_F32, MW_SHAPE(4, 1, 12, 12)), *y = mw_input(graph, "y", MW_I32, MW_SHAPE(4));
    mw_conv_options same = mw_conv_defaults();
    mw_pool_options halve = mw_pool_defaults(MW_SHAPE(2, 2));
    halve.stride[0] = halve.stride[1] = 2;
    same.pad_type = MW_PAD_SAME;
    for (int layer = 0; layer < depth; layer++)
        h = mw_relu(mw_conv_layer(h, 6, MW_SHAPE(3, 3), name_of(name, layer, "conv"), &same));
    h = mw_max_pool(h, &halve);
    return mw_cross_entropy(mw_dense(mw_reshape(h, MW_SHAPE(4, 6 * 6 * 6)), 5, "head"), y);
}

static mw_tensor *recurrent(mw_graph *graph, int depth)
{
    char name[32];
    mw_tensor *h = mw_input(graph, "x", MW_F32, MW_SHAPE(6, 4, D)),
              *y = mw_input(graph, "y", MW_F32, MW_SHAPE(6, 4, D));
    for (int layer = 0; layer < depth; layer++)
        h = mw_lstm_layer(h, D, name_of(name, layer, "lstm"), NULL).y;
    return mw_mse(h, y);
}

static mw_tensor *autoencoder(mw_graph *graph, int depth)
{
    (void)depth;
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(8, 20));
    mw_tensor *h = mw_gelu(mw_dense(x, 12, "in"), MW_GELU_EXACT);
    h = mw_dense(mw_silu(mw_dense(h, 4, "code")), 12, "out1");
    return mw_add(mw_mse(mw_sigmoid(mw_dense(h, 20, "out2")), x),
                  mw_mul_scalar(mw_reduce_mean(mw_abs(h), MW_ALL_AXES, false), 0.01));
}

const segment_net segment_nets[] = {{"transformer", segment_transformer, 4},
                                    {"recomputed", recomputed, 4},
                                    {"mlp", mlp, 12},
                                    {"stateful", stateful, 5},
                                    {"convolutions", convolutions, 3},
                                    {"recurrent", recurrent, 2},
                                    {"autoencoder", autoencoder, 0},
                                    {NULL, NULL, 0}};

/* ---- batches ---- */

static void fill_one(mw_feed *feed, const mw_tensor *input, unsigned *seed)
{
    const size_t count = (size_t)mw_shape_count(mw_tensor_shape(input));
    const bool indices = mw_tensor_dtype(input) == MW_I32;
    const int64_t limit = input->index_limit > 0 ? input->index_limit : 5;
    float *data = malloc(count * sizeof *data);
    for (size_t i = 0; data != NULL && i < count; i++) {
        *seed = *seed * 1664525u + 1013904223u;
        const int32_t index = (int32_t)((*seed >> 8) % (unsigned)limit);
        if (indices)
            ((int32_t *)data)[i] = index;
        else
            data[i] = (float)((int)(*seed >> 16) % 2000 - 1000) / 1000.0f;
    }
    *feed = (mw_feed){
        .name = mw_tensor_name(input), .dtype = indices ? MW_I32 : MW_F32, .data = data, .count = count, .scale = 1.0f};
}

void segment_fill(segment_batch *out, const mw_graph *graph, unsigned seed)
{
    const mw__block *body = mw__graph_main(graph)->body;
    *out = (segment_batch){.batch = {0}};
    for (size_t i = 0; i < body->input_count; i++)
        if (body->inputs[i]->role == MW__INPUT && out->batch.feed_count < SEGMENT_FEEDS)
            fill_one(&out->feeds[out->batch.feed_count++], body->inputs[i], &seed);
    out->batch.feeds = out->feeds;
}

void segment_free(segment_batch *batch)
{
    for (size_t i = 0; i < batch->batch.feed_count; i++)
        free((void *)(uintptr_t)batch->feeds[i].data);
}

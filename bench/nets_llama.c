/* The form of Llama of nets.h: RMS norms, rotary positions, SwiGLU, no biases; the table of words is the head, too. */
#include "nets.h"

#include <stdio.h>

/* "layers.3.attention.wq": valid until the next call with the same buffer. */
static const char *part(char buffer[64], int layer, const char *name)
{
    snprintf(buffer, 64, "layers.%d.%s", layer, name);
    return buffer;
}

static mw_tensor *weight(mw_graph *graph, const char *name, int64_t rows, int64_t width)
{
    char full[80];
    snprintf(full, sizeof full, "%s.weight", name);
    return mw_parameter(graph, full, MW_F32, MW_SHAPE(rows, width), mw_init_normal(0.0f, 0.02f));
}

static mw_tensor *linear(mw_tensor *x, int units, int layer, const char *name)
{
    char full[64];
    const mw_shape shape = mw_tensor_shape(x);
    net_products += (double)mw_shape_count(shape) * units;
    return mw_linear(x, weight(mw_tensor_graph(x), part(full, layer, name), units, shape.dim[shape.rank - 1]), NULL);
}

/* Cosines and sines [T, E] of the positions' angles, each frequency for two channels that are E / 2 apart. */
typedef struct rotation {
    mw_tensor *cosine, *sine;
} rotation;

static rotation rotation_of(mw_graph *graph, const llama_form *f)
{
    const int64_t half = f->width / f->heads / 2;
    mw_tensor *at = mw_reshape(mw_range_1d(graph, MW_F32, 0.0, f->tokens, 1.0), MW_SHAPE(f->tokens, 1));
    mw_tensor *channel = mw_reshape(mw_range_1d(graph, MW_F32, 0.0, (double)half, 1.0), MW_SHAPE(1, half));
    mw_tensor *angles = mw_mul(at, mw_exp(mw_mul_scalar(channel, -9.210340371976184 / (double)half))); /* log 10000 */
    angles = mw_concat((mw_tensor *[]){angles, angles}, 2, 1);
    return (rotation){mw_cos(angles), mw_sin(angles)};
}

/* x [B, H, T, E]: each pair of channels turned by the angle of its position. */
static mw_tensor *rotated(mw_tensor *x, rotation r)
{
    mw_tensor *half[2] = {NULL, NULL};
    mw_split(x, 2, 3, half);
    mw_tensor *turned = mw_concat((mw_tensor *[]){mw_mul_scalar(half[1], -1.0), half[0]}, 2, 3);
    return mw_add(mw_mul(x, r.cosine), mw_mul(turned, r.sine));
}

/* x [B, T, D] -> [B, H, T, E] */
static mw_tensor *heads_of(mw_tensor *x, const llama_form *f)
{
    const mw_shape shape = MW_SHAPE(f->batch, f->tokens, f->heads, f->width / f->heads);
    return mw_transpose(mw_reshape(x, shape), MW_AXES(0, 2, 1, 3));
}

/* [T, T]: 0 where a token may look (at itself and before), else so low that nothing is left after the softmax. */
static mw_tensor *causal_mask(mw_graph *graph, int tokens)
{
    mw_tensor *at = mw_range_1d(graph, MW_F32, 0.0, tokens, 1.0);
    mw_tensor *later = mw_greater(mw_reshape(at, MW_SHAPE(1, tokens)), mw_reshape(at, MW_SHAPE(tokens, 1)));
    return mw_mul_scalar(mw_cast(later, MW_F32), -30000.0); /* fp16 holds it */
}

static mw_tensor *attend(mw_tensor *x, const llama_form *f, rotation r, mw_tensor *mask, int layer)
{
    char name[64];
    mw_tensor *h = mw_rms_norm_layer(x, 1, 1e-5f, part(name, layer, "attention_norm"));
    mw_tensor *query = rotated(heads_of(linear(h, f->width, layer, "attention.wq"), f), r);
    mw_tensor *key = rotated(heads_of(linear(h, f->width, layer, "attention.wk"), f), r);
    mw_tensor *value = heads_of(linear(h, f->width, layer, "attention.wv"), f);
    net_products += 2.0 * f->batch * f->tokens * f->tokens * f->width;
    mw_tensor *mixed = mw_transpose(mw_scaled_dot_product_attention(query, key, value, mask), MW_AXES(0, 2, 1, 3));
    mixed = mw_reshape(mixed, MW_SHAPE(f->batch, f->tokens, f->width));
    return mw_add(x, linear(mixed, f->width, layer, "attention.wo"));
}

static mw_tensor *feed_forward(mw_tensor *x, const llama_form *f, int layer)
{
    char name[64];
    mw_tensor *h = mw_rms_norm_layer(x, 1, 1e-5f, part(name, layer, "ffn_norm"));
    mw_tensor *gate = mw_silu(linear(h, f->hidden, layer, "feed_forward.w1"));
    h = mw_mul(gate, linear(h, f->hidden, layer, "feed_forward.w3"));
    return mw_add(x, linear(h, f->width, layer, "feed_forward.w2"));
}

mw_tensor *net_llama(mw_graph *graph, const llama_form *f)
{
    net_products = (double)f->batch * f->tokens * f->width * f->words;
    mw_tensor *x = mw_input(graph, "x", MW_I32, MW_SHAPE(f->batch, f->tokens));
    mw_tensor *y = mw_input(graph, "y", MW_I32, MW_SHAPE((int64_t)f->batch * f->tokens));
    mw_tensor *words = weight(graph, "tok_embeddings", f->words, f->width);
    mw_tensor *h = mw_gather(words, x, 0);
    mw_tensor *mask = causal_mask(graph, f->tokens);
    const rotation r = rotation_of(graph, f);
    for (int layer = 0; layer < f->layers; layer++)
        h = feed_forward(attend(h, f, r, mask, layer), f, layer);
    h = mw_reshape(mw_rms_norm_layer(h, 1, 1e-5f, "norm"), MW_SHAPE((int64_t)f->batch * f->tokens, f->width));
    return mw_cross_entropy(mw_linear(h, words, NULL), y);
}

/* The form of Llama 2 (Touvron and others 2023) with grouped queries (Ainslie and others 2023): RMS norms spelled from
 * parts, rotary positions by pairs of neighboring channels, SwiGLU, no biases. B texts of T words, D channels in H
 * heads of E, G heads of keys and values. */
#include "zoo.h"

#include <stdio.h>

typedef struct llama_net {
    int batch, tokens, words, width, heads, groups, hidden, layers;
    mw_tensor *cosine, *sine, *mask; /* [T, E / 2], [T, E / 2], [T, T] */
} llama_net;

static mw_tensor *unbiased_weight(mw_graph *graph, int64_t rows, int64_t width, const char *name)
{
    char full[80];
    snprintf(full, sizeof full, "%s.weight", name);
    return mw_parameter(graph, full, MW_F32, MW_SHAPE(rows, width), mw_init_normal(0.0f, 0.02f));
}

static mw_tensor *unbiased(mw_tensor *x, int units, int layer, const char *name)
{
    char full[64];
    snprintf(full, sizeof full, "layers.%d.%s", layer, name);
    return mw_linear(x, unbiased_weight(mw_tensor_graph(x), units, zoo_extent(x, -1), full), NULL);
}

/* x / sqrt(mean of x^2 + epsilon) * weight */
static mw_tensor *root_mean_square_norm(mw_tensor *x, const char *name)
{
    char full[80];
    snprintf(full, sizeof full, "%s.weight", name);
    mw_tensor *weight =
        mw_parameter(mw_tensor_graph(x), full, MW_F32, MW_SHAPE(zoo_extent(x, -1)), mw_init_constant(1.0f));
    mw_tensor *scale = mw_rsqrt(mw_reduce_mean(mw_square(x), MW_AXES(-1), true), 1e-5f);
    return mw_mul(mw_mul(x, scale), weight);
}

static mw_tensor *layer_norm_of(mw_tensor *x, int layer, const char *which)
{
    char name[64];
    snprintf(name, sizeof name, "layers.%d.%s", layer, which);
    return root_mean_square_norm(x, name);
}

/* What does not depend on the texts. */
static void prepare_llama(mw_graph *graph, llama_net *n)
{
    const int64_t half = n->width / n->heads / 2;
    mw_tensor *at = mw_range_1d(graph, MW_F32, 0.0, n->tokens, 1.0);
    mw_tensor *pair = mw_reshape(mw_range_1d(graph, MW_F32, 0.0, (double)half, 1.0), MW_SHAPE(1, half));
    mw_tensor *frequency = mw_exp(mw_mul_scalar(pair, -9.210340371976184 / (double)half)); /* log 10000 */
    mw_tensor *angles = mw_mul(mw_reshape(at, MW_SHAPE(n->tokens, 1)), frequency);
    n->cosine = mw_cos(angles), n->sine = mw_sin(angles);
    mw_tensor *later = mw_greater(mw_reshape(at, MW_SHAPE(1, n->tokens)), mw_reshape(at, MW_SHAPE(n->tokens, 1)));
    n->mask = mw_mul_scalar(mw_cast(later, MW_F32), -30000.0); /* fp16 holds it */
}

/* x [B, T, heads E] -> [B, heads, T, E] */
static mw_tensor *llama_heads(mw_tensor *x, const llama_net *n, int heads)
{
    return mw_transpose(mw_reshape(x, MW_SHAPE(n->batch, n->tokens, heads, n->width / n->heads)), MW_AXES(0, 2, 1, 3));
}

/* x [B, heads, T, E]: each pair of neighboring channels, a complex number, is turned by the angle of its position. */
static mw_tensor *turned(mw_tensor *x, const llama_net *n)
{
    const mw_shape shape = mw_tensor_shape(x);
    mw_tensor *part[2] = {NULL, NULL};
    mw_split(mw_reshape(x, MW_SHAPE(shape.dim[0], shape.dim[1], shape.dim[2], shape.dim[3] / 2, 2)), 2, 4, part);
    mw_tensor *real = mw_squeeze(part[0], MW_AXES(4)), *imaginary = mw_squeeze(part[1], MW_AXES(4));
    mw_tensor *both[2] = {mw_sub(mw_mul(real, n->cosine), mw_mul(imaginary, n->sine)),
                          mw_add(mw_mul(real, n->sine), mw_mul(imaginary, n->cosine))};
    return mw_reshape(mw_stack(both, 2, 4), shape);
}

/* [B, G, T, E] -> [B, H, T, E]: each head for H / G neighbors. */
static mw_tensor *repeated(mw_tensor *x, const llama_net *n)
{
    const int64_t size = n->width / n->heads, times = n->heads / n->groups;
    x = mw_tile(mw_expand_dims(x, MW_AXES(2)), MW_SHAPE(1, 1, times, 1, 1));
    return mw_reshape(x, MW_SHAPE(n->batch, n->heads, n->tokens, size));
}

static mw_tensor *llama_attend(mw_tensor *x, const llama_net *n, int layer)
{
    const int shared = n->width / n->heads * n->groups;
    mw_tensor *h = layer_norm_of(x, layer, "attention_norm");
    mw_tensor *query = turned(llama_heads(unbiased(h, n->width, layer, "attention.wq"), n, n->heads), n);
    mw_tensor *key = turned(llama_heads(unbiased(h, shared, layer, "attention.wk"), n, n->groups), n);
    mw_tensor *value = llama_heads(unbiased(h, shared, layer, "attention.wv"), n, n->groups);
    h = mw_scaled_dot_product_attention(query, repeated(key, n), repeated(value, n), n->mask);
    h = mw_reshape(mw_transpose(h, MW_AXES(0, 2, 1, 3)), MW_SHAPE(n->batch, n->tokens, n->width));
    return mw_add(x, unbiased(h, n->width, layer, "attention.wo"));
}

static mw_tensor *llama_feed_forward(mw_tensor *x, const llama_net *n, int layer)
{
    mw_tensor *h = layer_norm_of(x, layer, "ffn_norm");
    mw_tensor *gate = mw_silu(unbiased(h, n->hidden, layer, "feed_forward.w1"));
    h = mw_mul(gate, unbiased(h, n->hidden, layer, "feed_forward.w3"));
    return mw_add(x, unbiased(h, n->width, layer, "feed_forward.w2"));
}

mw_tensor *zoo_llama(zoo_form *form)
{
    llama_net n = form->tiny ? (llama_net){form->batch, 8, 64, 32, 4, 2, 40, .layers = 2}
                             : (llama_net){form->batch, 256, 16000, 512, 8, 2, 1376, .layers = 6};
    mw_tensor *x = zoo_integers(form, "x", MW_SHAPE(n.batch, n.tokens), n.words);
    mw_tensor *h = mw_gather(unbiased_weight(form->graph, n.words, n.width, "tok_embeddings"), x, 0);
    prepare_llama(form->graph, &n);
    for (int layer = 0; layer < n.layers; layer++)
        h = llama_feed_forward(llama_attend(h, &n, layer), &n, layer);
    h = mw_reshape(root_mean_square_norm(h, "norm"), MW_SHAPE((int64_t)n.batch * n.tokens, n.width));
    return zoo_by_classes(form, mw_linear(h, unbiased_weight(form->graph, n.words, n.width, "output"), NULL));
}

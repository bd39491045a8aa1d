/* GPT-2 of nets.h. B texts of T tokens, D channels in H heads of E, V words. */
#include "nets.h"

#include <stdio.h>

/* "h.3.ln_1": valid until the next call with the same buffer. */
static const char *part(char buffer[48], int layer, const char *name)
{
    snprintf(buffer, 48, "h.%d.%s", layer, name);
    return buffer;
}

/* mw_dense with GPT-2's start: weights normal(0, 0.02), biases 0. */
static mw_tensor *dense(mw_tensor *x, int units, const char *name)
{
    mw_graph *graph = mw_tensor_graph(x);
    const mw_shape shape = mw_tensor_shape(x);
    char full[64];
    snprintf(full, sizeof full, "%s.weight", name);
    mw_tensor *weight =
        mw_parameter(graph, full, MW_F32, MW_SHAPE(units, shape.dim[shape.rank - 1]), mw_init_normal(0.0f, 0.02f));
    snprintf(full, sizeof full, "%s.bias", name);
    net_products += (double)mw_shape_count(shape) * units;
    return mw_linear(x, weight, mw_parameter(graph, full, MW_F32, MW_SHAPE(units), mw_init_zeros()));
}

/* x [B, T, D] -> query, key and value, each [B, H, T, E]. */
static void heads_of(mw_tensor *x, const gpt_form *f, int layer, mw_tensor *out[3])
{
    char name[48];
    const int64_t tokens = mw_tensor_shape(x).dim[1];
    mw_tensor *qkv[3] = {NULL};
    mw_split(dense(x, 3 * f->width, part(name, layer, "attn.c_attn")), 3, 2, qkv);
    for (int i = 0; i < 3; i++)
        out[i] = mw_transpose(mw_reshape(qkv[i], MW_SHAPE(f->batch, tokens, f->heads, f->width / f->heads)),
                              MW_AXES(0, 2, 1, 3));
}

/* [B, H, T, E] -> [B, T, D], through the projection. */
static mw_tensor *joined(mw_tensor *mixed, const gpt_form *f, int tokens, int layer)
{
    char name[48];
    mw_tensor *rows = mw_reshape(mw_transpose(mixed, MW_AXES(0, 2, 1, 3)), MW_SHAPE(f->batch, tokens, f->width));
    return dense(rows, f->width, part(name, layer, "attn.c_proj"));
}

static mw_tensor *normal(mw_tensor *x, int layer, const char *which)
{
    char name[48];
    return mw_layer_norm_layer(x, 1, 1e-5f, part(name, layer, which));
}

static mw_tensor *feed_forward(mw_tensor *x, const gpt_form *f, int layer)
{
    char name[48];
    mw_tensor *wide = dense(normal(x, layer, "ln_2"), 4 * f->width, part(name, layer, "mlp.c_fc"));
    return mw_add(x, dense(mw_gelu(wide, MW_GELU_TANH), f->width, part(name, layer, "mlp.c_proj")));
}

static mw_tensor *table(mw_graph *graph, const char *name, int rows, int width)
{
    return mw_parameter(graph, name, MW_F32, MW_SHAPE(rows, width), mw_init_normal(0.0f, 0.02f));
}

/* [T, T]: 0 where a token may look (at itself and before), else so low that nothing is left after the softmax. */
static mw_tensor *causal_mask(mw_graph *graph, int tokens)
{
    mw_tensor *at = mw_range_1d(graph, MW_F32, 0.0, tokens, 1.0);
    mw_tensor *later = mw_greater(mw_reshape(at, MW_SHAPE(1, tokens)), mw_reshape(at, MW_SHAPE(tokens, 1)));
    return mw_mul_scalar(mw_cast(later, MW_F32), -30000.0); /* fp16 holds it */
}

static mw_tensor *attend(mw_tensor *x, const gpt_form *f, mw_tensor *mask, int layer)
{
    mw_tensor *qkv[3];
    heads_of(normal(x, layer, "ln_1"), f, layer, qkv);
    mw_tensor *mixed = mw_scaled_dot_product_attention(qkv[0], qkv[1], qkv[2], mask);
    net_products += 2.0 * f->batch * f->tokens * f->tokens * f->width;
    return mw_add(x, joined(mixed, f, f->tokens, layer));
}

mw_tensor *net_gpt(mw_graph *graph, const gpt_form *f)
{
    net_products = 0.0;
    mw_tensor *x = mw_input(graph, "x", MW_I32, MW_SHAPE(f->batch, f->tokens));
    mw_tensor *y = mw_input(graph, "y", MW_I32, MW_SHAPE((int64_t)f->batch * f->tokens));
    mw_tensor *words = table(graph, "wte.weight", f->words, f->width);
    mw_tensor *positions = table(graph, "wpe.weight", f->positions, f->width);
    mw_tensor *first = mw_slice_by_size(positions, (int64_t[]){0, 0}, (int64_t[]){f->tokens, f->width});
    mw_tensor *h = mw_add(mw_gather(words, x, 0), first);
    mw_tensor *mask = causal_mask(graph, f->tokens);
    for (int layer = 0; layer < f->layers; layer++)
        h = feed_forward(attend(h, f, mask, layer), f, layer);
    h = mw_reshape(mw_layer_norm_layer(h, 1, 1e-5f, "ln_f"), MW_SHAPE((int64_t)f->batch * f->tokens, f->width));
    net_products += (double)f->batch * f->tokens * f->width * f->words;
    return mw_cross_entropy(mw_linear(h, words, NULL), y);
}

/* ---- one token, with caches ---- */

/* The cache with the row of this token in its place; also the output `name`.next. */
static mw_tensor *remember(mw_tensor *row, const gpt_form *f, mw_tensor *at, const char *what, int layer)
{
    char name[48];
    mw_graph *graph = mw_tensor_graph(row);
    snprintf(name, sizeof name, "%s.%d", what, layer);
    const mw_shape shape = MW_SHAPE(f->batch, f->heads, f->tokens, f->width / f->heads);
    mw_tensor *cache = mw_state(graph, name, MW_F32, shape, mw_init_zeros());
    mw_tensor *zero = mw_constant(graph, MW_I32, MW_SHAPE(1), (int32_t[]){0});
    mw_tensor *begin = mw_concat((mw_tensor *[]){zero, zero, at, zero}, 4, 0);
    snprintf(name, sizeof name, "%s.%d.next", what, layer);
    return mw_output(mw_slice_update_at(cache, row, begin), name);
}

static mw_tensor *attend_cached(mw_tensor *x, const gpt_form *f, mw_tensor *at, mw_tensor *mask, int layer)
{
    mw_tensor *qkv[3];
    heads_of(normal(x, layer, "ln_1"), f, layer, qkv);
    mw_tensor *keys = remember(qkv[1], f, at, "key", layer), *values = remember(qkv[2], f, at, "value", layer);
    net_products += 2.0 * f->batch * f->tokens * f->width;
    return mw_add(x, joined(mw_scaled_dot_product_attention(qkv[0], keys, values, mask), f, 1, layer));
}

mw_tensor *net_gpt_token(mw_graph *graph, const gpt_form *f)
{
    net_products = 0.0;
    mw_tensor *x = mw_input(graph, "x", MW_I32, MW_SHAPE(f->batch));
    mw_tensor *at = mw_input(graph, "at", MW_I32, MW_SHAPE(1));
    mw_tensor *words = table(graph, "wte.weight", f->words, f->width);
    mw_tensor *positions = table(graph, "wpe.weight", f->positions, f->width);
    mw_tensor *h = mw_add(mw_gather(words, x, 0), mw_gather(positions, at, 0));
    mw_tensor *seen = mw_less_equal(mw_range_1d(graph, MW_I32, 0.0, f->tokens, 1.0), at);
    mw_tensor *mask = mw_reshape(seen, MW_SHAPE(1, 1, 1, f->tokens));
    h = mw_reshape(h, MW_SHAPE(f->batch, 1, f->width));
    for (int layer = 0; layer < f->layers; layer++)
        h = feed_forward(attend_cached(h, f, at, mask, layer), f, layer);
    h = mw_reshape(mw_layer_norm_layer(h, 1, 1e-5f, "ln_f"), MW_SHAPE(f->batch, f->width));
    net_products += (double)f->batch * f->width * f->words;
    return mw_linear(h, words, NULL);
}

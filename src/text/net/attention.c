/* Attention: heads, groups, caches, windows and soft caps. */
#include "text/net/net.h"

#include <math.h>
#include <stdio.h>

/* x [batch, tokens, count head_width] -> [batch, count, tokens, head_width] */
static mw_tensor *heads_of(const mw__net *net, mw_tensor *x, int64_t count)
{
    const mw_text_graph_options *o = net->options;
    const mw_shape apart = MW_SHAPE(o->batch, o->tokens, count, net->config->head_width);
    return mw_transpose(mw_reshape(x, apart), MW_AXES(0, 2, 1, 3));
}

typedef struct projections {
    mw_tensor *query, *key, *value; /* [batch, heads, tokens, head_width]; of key and value kv_heads */
} projections;

static projections project(const mw__net *net, mw_tensor *x, int layer)
{
    const mw_text_config *c = net->config;
    const mw__family *f = net->family;
    const int64_t wide = c->heads * c->head_width, narrow = c->kv_heads * c->head_width;
    mw_tensor *parts[3] = {NULL, NULL, NULL};
    if (f->joined != NULL) {
        mw_split(mw__language_product(net, x, wide + 2 * narrow, layer, f->joined, f->every_bias), 3, 2, parts);
    } else {
        parts[0] = mw__language_product(net, x, wide, layer, f->query, f->attention_bias);
        parts[1] = mw__language_product(net, x, narrow, layer, f->key, f->attention_bias);
        parts[2] = mw__language_product(net, x, narrow, layer, f->value, f->attention_bias);
    }
    projections p = {heads_of(net, parts[0], c->heads), heads_of(net, parts[1], c->kv_heads),
                     heads_of(net, parts[2], c->kv_heads)};
    if (f->query_norm != NULL) {
        p.query = mw__language_norm_of(net, p.query, layer, f->query_norm);
        p.key = mw__language_norm_of(net, p.key, layer, f->key_norm);
    }
    if (net->cosine != NULL) {
        p.query = mw__language_rotated(net, p.query);
        p.key = mw__language_rotated(net, p.key);
    }
    return p;
}

/* The cache with the rows of these tokens in their places; also the output `what`.layer.next. */
static mw_tensor *remember(const mw__net *net, mw_tensor *rows, const char *what, int layer)
{
    char name[48];
    snprintf(name, sizeof name, "%s.%d", what, layer);
    const mw_shape shape =
        MW_SHAPE(net->options->batch, net->config->kv_heads, net->options->cache, net->config->head_width);
    mw_tensor *cache = mw_state(net->graph, name, MW_F32, shape, mw_init_zeros());
    mw_tensor *zero = mw_constant(net->graph, MW_I32, MW_SHAPE(1), (int32_t[]){0});
    mw_tensor *begin = mw_concat((mw_tensor *[]){zero, zero, net->at, zero}, 4, 0);
    mw_tensor *next = mw_slice_update_at(cache, rows, begin);
    if (net->assigns)
        return mw_state_assign(cache, next) != NULL ? next : NULL;
    snprintf(name, sizeof name, "%s.%d.next", what, layer);
    return mw_output(next, name);
}

/* Heads of a group lie behind each other, so that their rows are rows of one: keys and values are never repeated.
 * x [batch, heads, tokens, head_width] -> [batch, kv_heads, heads / kv_heads tokens, head_width] */
static mw_tensor *in_groups(const mw__net *net, mw_tensor *x)
{
    const mw_text_config *c = net->config;
    const int64_t each = c->heads / c->kv_heads;
    if (each == 1)
        return x;
    return mw_reshape(x, MW_SHAPE(net->options->batch, c->kv_heads, each * net->options->tokens, c->head_width));
}

static mw_tensor *out_of_groups(const mw__net *net, mw_tensor *x)
{
    const mw_text_config *c = net->config;
    if (c->heads == c->kv_heads)
        return x;
    return mw_reshape(x, MW_SHAPE(net->options->batch, c->heads, net->options->tokens, c->head_width));
}

static mw_tensor *capped(mw_tensor *x, double cap)
{
    return cap > 0.0 ? mw_mul_scalar(mw_tanh(mw_mul_scalar(x, 1.0 / cap)), cap) : x;
}

/* Spelled out where scores are not only divided by the root of the width. */
static mw_tensor *mix_spelled(const mw__net *net, projections p, mw_tensor *mask)
{
    const mw_text_config *c = net->config;
    const double scale = 1.0 / sqrt(c->query_scale > 0.0 ? c->query_scale : (double)c->head_width);
    mw_tensor *scores = mw_mul_scalar(mw_matmul(p.query, p.key, MW_TRANSPOSE_Y), scale);
    scores = capped(scores, c->score_softcap);
    mw_tensor *low = mw_scalar(net->graph, MW_F32, -30000.0); /* fp16 holds it */
    scores = mw_select(mask, scores, low);
    return mw_matmul(mw_softmax(scores, -1), p.value, MW_TRANSPOSE_NONE);
}

static mw_tensor *mix(const mw__net *net, projections p, mw_tensor *mask)
{
    const mw_text_config *c = net->config;
    const bool usual = c->score_softcap == 0.0 && (c->query_scale == 0.0 || c->query_scale == (double)c->head_width);
    return usual ? mw_scaled_dot_product_attention(p.query, p.key, p.value, mask) : mix_spelled(net, p, mask);
}

static bool has_window(const mw__net *net, int layer)
{
    return net->window != NULL && (!net->family->every_second_window || layer % 2 == 0);
}

mw_tensor *mw__language_attend(const mw__net *net, mw_tensor *x, int layer)
{
    const mw_text_config *c = net->config;
    const mw__family *f = net->family;
    mw_tensor *normed = f->before_attention != NULL ? mw__language_norm_of(net, x, layer, f->before_attention) : x;
    projections p = project(net, normed, layer);
    if (net->at != NULL) {
        p.key = remember(net, p.key, "key", layer);
        p.value = remember(net, p.value, "value", layer);
    }
    p.query = in_groups(net, p.query);
    mw_tensor *mixed = out_of_groups(net, mix(net, p, has_window(net, layer) ? net->window : net->mask));
    mixed = mw_transpose(mixed, MW_AXES(0, 2, 1, 3));
    mixed = mw_reshape(mixed, MW_SHAPE(net->options->batch, net->options->tokens, c->heads * c->head_width));
    mixed = mw__language_product(net, mixed, c->width, layer, f->mixed, f->every_bias);
    return mw__language_join(net, x, mixed, layer, f->after_attention);
}

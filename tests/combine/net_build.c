/* Nets as graphs: the layers, the loss and what they are fed. Blocks stand in net_blocks.c. */
#include "net.h"

#include <stdio.h>
#include <string.h>

void net_numbers(float *out, int count, uint64_t stream)
{
    mw__random random = {.seed = 7, .stream = stream};
    for (int i = 0; i < count; i++)
        out[i] = 2.0F * mw__random_uniform(&random) - 1.0F;
}

static int64_t extent(const mw_tensor *x, int axis) { return mw_tensor_shape(x).dim[axis]; }

static mw_tensor *swapped(mw_tensor *x) { return mw_transpose(x, MW_AXES(0, 2, 1)); }

static const char *name_of(const char *kind, int at)
{
    static _Thread_local char names[4][24];
    static _Thread_local int turn;
    turn = (turn + 1) % 4;
    snprintf(names[turn], sizeof names[turn], "%s%d", kind, at);
    return names[turn];
}

/* ---- layers with weights ---- */

static void make_fixed(net_builder *b, int at)
{
    const int64_t in = net_width_at(b->n, at), out = b->n->layers[at].size;
    float weight[64], bias[8];
    net_numbers(weight, (int)(in * out), 100 + (uint64_t)at);
    net_numbers(bias, (int)out, 200 + (uint64_t)at);
    const char *names[2] = {name_of("fixed_weight", at), name_of("fixed_bias", at)};
    const mw_shape shapes[2] = {MW_SHAPE(out, in), MW_SHAPE(out)};
    const float *values[2] = {weight, bias};
    for (int i = 0; i < 2; i++)
        b->fixed[at][i] = b->form->fixed_is_trained
                              ? mw_parameter(b->graph, names[i], MW_F32, shapes[i], mw_init_data(values[i]))
                              : mw_name(mw_constant(b->graph, MW_F32, shapes[i], values[i]), names[i]);
}

static mw_tensor *add_conv(net_builder *b, int at, mw_tensor *x)
{
    mw_conv_options o = mw_conv_defaults();
    o.pad_type = MW_PAD_SAME;
    const char *name = name_of("conv", at);
    if (b->n->layers[at].kind == NET_CONV)
        return swapped(mw_conv_layer(swapped(x), b->n->layers[at].size, MW_SHAPE(3), name, &o));
    mw_tensor *image = mw_expand_dims(x, MW_AXES(1));
    image = mw_conv_layer(image, b->n->layers[at].size, MW_SHAPE(3, 3), name, &o);
    return mw_reduce_mean(image, MW_AXES(1), false);
}

static mw_tensor *add_pool(mw_tensor *x)
{
    mw_pool_options o = mw_pool_defaults(MW_SHAPE(3));
    o.stride[0] = 1;
    o.pad_type = MW_PAD_SAME;
    return swapped(mw_max_pool(swapped(x), &o));
}

static mw_tensor *add_rnn(net_builder *b, int at, mw_tensor *x)
{

    const int64_t hidden = b->n->layers[at].size;
    const mw_init init = mw_init_uniform(-0.5F, 0.5F);
    const mw_recurrent_weights weights = {
        .weight_ih = mw_parameter(b->graph, name_of("rnn_ih", at), MW_F32, MW_SHAPE(hidden, extent(x, 2)), init),
        .weight_hh = mw_parameter(b->graph, name_of("rnn_hh", at), MW_F32, MW_SHAPE(hidden, hidden), init),
        .bias = mw_parameter(b->graph, name_of("rnn_bias", at), MW_F32, MW_SHAPE(hidden), init)};
    return mw_transpose(mw_rnn(mw_transpose(x, MW_AXES(1, 0, 2)), NULL, &weights, NULL).y, MW_AXES(1, 0, 2));
}

static mw_tensor *add_recurrent(net_builder *b, int at, mw_tensor *x)
{
    const net_layer *l = &b->n->layers[at];
    mw_recurrent_layer_options o = mw_recurrent_layer_defaults();
    o.batch_first = true;
    if (l->kind == NET_LSTM)
        return mw_lstm_layer(x, l->size, name_of("lstm", at), &o).y;
    return l->kind == NET_GRU ? mw_gru_layer(x, l->size, name_of("gru", at), &o).y : add_rnn(b, at, x);
}

static mw_tensor *add_shared(net_builder *b, mw_tensor *x)
{
    const int64_t width = extent(x, 2);
    if (b->shared[width] == NULL)
        b->shared[width] = mw_layer_dense(b->graph, width, name_of("shared", (int)width));
    return mw_layer_apply_one(b->shared[width], x);
}

static mw_tensor *add_embedding(net_builder *b, int at, mw_tensor *x)
{
    return mw_add(x, mw_embedding(b->tokens, NET_WORDS, extent(x, 2), name_of("embed", at)));
}

static mw_tensor *add_outer(const net_builder *b, mw_tensor *x)
{
    for (int i = 0; i < b->outer_count; i++)
        if (mw_shape_equal(mw_tensor_shape(b->outer[i]), mw_tensor_shape(x)))
            return mw_add(x, b->outer[i]);
    return mw_mul_scalar(x, 0.5);
}

static mw_status halve(const mw_custom_vjp_call *call, mw_tensor **out_dx, mw_error *err)
{
    (void)err;
    mw_tensor *slope = mw_add_scalar(mw_neg(mw_square(call->y)), 1.0);
    out_dx[0] = mw_mul_scalar(mw_mul(call->dy, slope), 0.5);
    return MW_OK;
}

static mw_tensor *add_marked(mw_tensor *x, net_kind kind)
{
    if (kind == NET_CUSTOM)
        return mw_custom_vjp("halved", mw_tanh(x), &x, 1, halve, NULL);
    return mw_mul_scalar(mw_add(x, mw_stop_gradient(mw_tanh(x))), 0.5);
}

/* ---- all ---- */

static mw_tensor *add_weighted(net_builder *b, int at, mw_tensor *x)
{
    const net_layer *l = &b->n->layers[at];
    switch (l->kind) {
    case NET_DENSE:
        return mw_dense(x, l->size, name_of("dense", at));
    case NET_FIXED:
        return mw_linear(x, b->fixed[at][0], b->fixed[at][1]);
    case NET_CONV:
    case NET_CONV2:
        return add_conv(b, at, x);
    case NET_BATCH_NORM:
        return swapped(mw_batch_norm_layer(swapped(x), 0.1F, 1e-2F, name_of("bn", at)));
    case NET_LAYER_NORM:
        return mw_layer_norm_layer(x, 1, 1e-2F, name_of("ln", at));
    case NET_ATTENTION:
        return mw_multi_head_attention_layer(x, x, x, extent(x, 2) % l->size == 0 ? l->size : 1, NULL,
                                             name_of("attn", at));
    case NET_EMBED:
        return add_embedding(b, at, x);
    case NET_SHARED:
        return add_shared(b, x);
    default:
        return add_recurrent(b, at, x);
    }
}

static mw_tensor *add_layer(net_builder *b, int at, mw_tensor *x)
{
    switch (b->n->layers[at].kind) {
    case NET_POOL:
        return add_pool(x);
    case NET_DROPOUT:
        return mw_dropout(x, 0.25F, name_of("drop", at));
    case NET_NOISE:
        return mw_add(x, mw_noise_normal(b->graph, MW_F32, mw_tensor_shape(x), 0.0F, 0.25F, name_of("noise", at)));
    case NET_OUTER:
        return add_outer(b, x);
    case NET_TANH:
        return mw_tanh(x);
    case NET_RELU:
        return mw_relu(x);
    case NET_GELU:
        return mw_gelu(x, MW_GELU_EXACT);
    case NET_SIGMOID:
        return mw_sigmoid(x);
    case NET_SOFTMAX:
        return mw_softmax(x, -1);
    case NET_STOP:
    case NET_CUSTOM:
        return add_marked(x, b->n->layers[at].kind);
    case NET_ELSE:
        return x; /* left over when its branch was taken away */
    default:
        return net_row_of(b->n->layers[at].kind)->is_block ? net_block(b, at, x) : add_weighted(b, at, x);
    }
}

mw_tensor *net_layers(net_builder *b, int first, int end, mw_tensor *x)
{
    for (int i = first; i < end; i = net_end(b->n, i))
        x = add_layer(b, i, x);
    return x;
}

mw_tensor *net_fit(mw_tensor *x, const mw_tensor *like, int at)
{
    return extent(x, 2) == extent(like, 2) ? x : mw_dense(x, extent(like, 2), name_of("fit", at));
}

mw_graph *net_build(const net *n, const net_form *form, mw_error *err)
{
    net_builder b = {.n = n, .form = form, .graph = mw_graph_create(NULL, NULL)};
    b.examples = form->examples > 0 ? form->examples : n->examples;
    mw_tensor *x = mw_input(b.graph, "x", MW_F32, MW_SHAPE(b.examples, n->steps, n->features));
    if (net_has(n, NET_EMBED))
        b.tokens = mw_input(b.graph, "tokens", MW_I32, MW_SHAPE(b.examples, n->steps));
    for (int i = 0; i < n->count; i++)
        if (n->layers[i].kind == NET_FIXED)
            make_fixed(&b, i);
    b.outer[b.outer_count++] = x;
    x = mw_reduce_mean(net_layers(&b, 0, n->count, x), MW_AXES(1), false);
    mw_output(mw_dense(x, NET_CLASSES, "head"), "z");
    if (mw_graph_check(b.graph, err) == MW_OK)
        return b.graph;
    mw_graph_destroy(b.graph);
    return NULL;
}

/* ---- optimizer and data ---- */

mw_optimizer net_optimizer_of(const net *n)
{
    const float rate = n->slow ? 0.01F : 1.0F;
    switch (n->optimizer) {
    case NET_MOMENTUM:
        return mw_sgd_momentum(0.05F * rate, 0.5F, true);
    case NET_ADAM:
        return mw_adamw(0.02F * rate, 0.1F);
    case NET_RMSPROP:
        return mw_rmsprop(0.01F * rate);
    case NET_LION:
        return mw_lion(0.01F * rate, 0.1F);
    case NET_MUON:
        return mw_muon(0.02F * rate, 0.1F);
    default:
        return mw_sgd(0.125F * rate);
    }
}

void net_feed(net_feeds *out, const net *n, int examples, int batch)
{
    const uint64_t stream = 1000 + (uint64_t)batch * 4;
    const size_t xs = (size_t)(examples * n->steps * n->features), words = (size_t)(examples * n->steps);
    float drawn[128];
    net_numbers(out->x, (int)xs, stream);
    net_numbers(drawn, (int)words, stream + 1);
    for (size_t i = 0; i < words; i++)
        out->tokens[i] = (int32_t)((drawn[i] + 1.0F) * 0.5F * NET_WORDS);
    net_numbers(out->t, examples * NET_CLASSES, stream + 2);
    for (int i = 0; i < examples * NET_CLASSES; i++) /* probabilities need not sum to 1 */
        out->t[i] = 0.25F + 0.25F * (out->t[i] + 1.0F);
    for (int i = 0; i < examples; i++)
        out->labels[i] = (int32_t)(out->t[i * NET_CLASSES] * 1024.0F) % NET_CLASSES;
    out->feeds[0] = (mw_feed){.name = "x", .dtype = MW_F32, .data = out->x, .count = xs};
    out->feeds[1] =
        net_takes_labels(n)
            ? (mw_feed){.name = "t", .dtype = MW_I32, .data = out->labels, .count = (size_t)examples}
            : (mw_feed){.name = "t", .dtype = MW_F32, .data = out->t, .count = (size_t)(examples * NET_CLASSES)};
    out->feeds[2] = (mw_feed){.name = "tokens", .dtype = MW_I32, .data = out->tokens, .count = words};
    out->batch = (mw_batch){.feeds = out->feeds, .feed_count = net_has(n, NET_EMBED) ? 3 : 2, .examples = examples};
}

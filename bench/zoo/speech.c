/* Networks over speech: convolutions and bidirectional GRUs (Amodei and others 2016, Deep Speech 2), and Conformer
 * (Gulati and others 2020), whose attention has no relative positions, as in torchaudio. Each gives logits for each
 * place in time, for a loss that torch and Millwright both have: cross-entropy. B recordings of T places. */
#include "zoo.h"

#include <stdio.h>

/* ---- Deep Speech 2: x [B, 1, F, S], F frequencies ---- */

static mw_tensor *sound_conv(mw_tensor *x, mw_shape kernel, int64_t stride, int number, int channels)
{
    mw_conv_options options = mw_conv_defaults();
    options.stride[0] = 2, options.stride[1] = stride;
    options.pad_type = MW_PAD_CUSTOM;
    options.pad[0] = options.pad[1] = kernel.dim[0] / 2;
    options.pad[2] = options.pad[3] = kernel.dim[1] / 2;
    options.bias = false;
    char name[16];
    snprintf(name, sizeof name, "conv%d", number);
    x = mw_conv_layer(x, channels, kernel, name, &options);
    return mw_clip(zoo_batch_norm(x, "bn%d", number), 0.0f, 20.0f);
}

/* x [T, B, I] -> [T, B, H]: the sum of both directions; normalized before, but for the first. */
static mw_tensor *both_ways(mw_tensor *x, int hidden, int layer)
{
    const int64_t steps = zoo_extent(x, 0), batch = zoo_extent(x, 1), width = zoo_extent(x, 2);
    if (layer > 0) {
        x = zoo_batch_norm(mw_reshape(x, MW_SHAPE(steps * batch, width)), "rnns.%d.norm", layer);
        x = mw_reshape(x, MW_SHAPE(steps, batch, width));
    }
    mw_recurrent_layer_options options = mw_recurrent_layer_defaults();
    options.bidirectional = true;
    char name[24];
    snprintf(name, sizeof name, "rnns.%d.rnn", layer);
    mw_tensor *y = mw_gru_layer(x, hidden, name, &options).y;
    return mw_reduce_sum(mw_reshape(y, MW_SHAPE(steps, batch, 2, hidden)), MW_AXES(2), false);
}

mw_tensor *zoo_deepspeech(zoo_form *form)
{
    const int bands = form->tiny ? 21 : 161, samples = form->tiny ? 16 : 200;
    const int channels = form->tiny ? 4 : 32, hidden = form->tiny ? 8 : 256;
    mw_tensor *x = zoo_floats(form, "x", MW_SHAPE(form->batch, 1, bands, samples));
    x = sound_conv(x, form->tiny ? MW_SHAPE(11, 5) : MW_SHAPE(41, 11), 2, 1, channels);
    x = sound_conv(x, form->tiny ? MW_SHAPE(7, 5) : MW_SHAPE(21, 11), 1, 2, channels);
    const int64_t steps = zoo_extent(x, 3);
    x = mw_reshape(x, MW_SHAPE(form->batch, channels * zoo_extent(x, 2), steps));
    x = mw_transpose(x, MW_AXES(2, 0, 1));
    for (int layer = 0; layer < (form->tiny ? 2 : 3); layer++)
        x = both_ways(x, hidden, layer);
    x = zoo_batch_norm(mw_reshape(x, MW_SHAPE(steps * form->batch, hidden)), "norm");
    return zoo_by_classes(form, zoo_dense(x, 29, "fc"));
}

/* ---- Conformer: x [B, 1, S, F] ---- */

typedef struct conformer_form {
    int samples, bands, width, heads, kernel, layers, classes;
} conformer_form;

/* x + half of what a network of two dense layers says. */
static mw_tensor *half_feed_forward(mw_tensor *x, int layer, const char *which)
{
    const int64_t width = zoo_extent(x, -1);
    mw_tensor *h = zoo_layer_norm(x, "layers.%d.%s.norm", layer, which);
    h = mw_silu(zoo_dense(h, 4 * width, "layers.%d.%s.fc1", layer, which));
    return mw_add(x, mw_mul_scalar(zoo_dense(h, width, "layers.%d.%s.fc2", layer, which), 0.5));
}

/* x [B, T, D]; gated, then a convolution of each channel over time. */
static mw_tensor *conformer_conv(mw_tensor *x, int kernel, int layer)
{
    const int width = (int)zoo_extent(x, -1);
    mw_tensor *h = mw_transpose(zoo_layer_norm(x, "layers.%d.conv.norm", layer), MW_AXES(0, 2, 1));
    mw_tensor *half[2] = {NULL, NULL};
    mw_split(zoo_conv(h, 2 * width, (zoo_window){.kernel = 1}, "layers.%d.conv.pointwise1", layer), 2, 1, half);
    h = mw_mul(half[0], mw_sigmoid(half[1]));
    const zoo_window depthwise = {.kernel = kernel, .groups = width, .unbiased = true};
    h = zoo_conv(h, width, depthwise, "layers.%d.conv.depthwise", layer);
    h = mw_silu(zoo_batch_norm(h, "layers.%d.conv.bn", layer));
    h = zoo_conv(h, width, (zoo_window){.kernel = 1}, "layers.%d.conv.pointwise2", layer);
    return mw_add(x, mw_transpose(h, MW_AXES(0, 2, 1)));
}

static mw_tensor *conformer_block(mw_tensor *x, const conformer_form *f, int layer)
{
    char name[32];
    x = half_feed_forward(x, layer, "ffn1");
    mw_tensor *h = zoo_layer_norm(x, "layers.%d.attn_norm", layer);
    snprintf(name, sizeof name, "layers.%d.attn", layer);
    x = mw_add(x, mw_multi_head_attention_layer(h, NULL, NULL, f->heads, NULL, name));
    x = half_feed_forward(conformer_conv(x, f->kernel, layer), layer, "ffn2");
    return zoo_layer_norm(x, "layers.%d.norm", layer);
}

mw_tensor *zoo_conformer(zoo_form *form)
{
    const conformer_form f =
        form->tiny ? (conformer_form){20, 16, 16, 2, 5, 2, 10} : (conformer_form){400, 80, 144, 4, 31, 4, 256};
    mw_tensor *x = zoo_floats(form, "x", MW_SHAPE(form->batch, 1, f.samples, f.bands));
    const zoo_window quarter = {.kernel = 3, .stride = 2, .border = -1};
    x = mw_relu(zoo_conv(x, f.width, quarter, "subsample1"));
    x = mw_relu(zoo_conv(x, f.width, quarter, "subsample2")); /* [B, D, T, F / 4] */
    const int64_t steps = zoo_extent(x, 2), bands = zoo_extent(x, 3);
    x = mw_reshape(mw_transpose(x, MW_AXES(0, 2, 1, 3)), MW_SHAPE(form->batch, steps, f.width * bands));
    x = zoo_dense(x, f.width, "project");
    for (int layer = 0; layer < f.layers; layer++)
        x = conformer_block(x, &f, layer);
    return zoo_by_classes(form, mw_reshape(zoo_dense(x, f.classes, "fc"), MW_SHAPE(form->batch * steps, f.classes)));
}

/* Convolutions over signals: a residual network over electrocardiograms (Ribeiro and others 2020), a dilated temporal
 * network with weight norm (Bai, Kolter and Koltun 2018), and depthwise convolutions over spectrograms (Zhang and
 * others 2017). */
#include "zoo.h"

#include <stdio.h>

/* In training the mean binary cross-entropy of the logits by the new input "y" of their shape; else the logits. */
static mw_tensor *by_events(zoo_form *form, mw_tensor *logits)
{
    return form->training ? mw_binary_cross_entropy(logits, zoo_floats(form, "y", mw_tensor_shape(logits)), NULL)
                          : logits;
}

/* ---- electrocardiograms: x [B, 12, S], twelve leads ---- */

/* What goes on after normalization, and what the next block adds to. */
typedef struct lead_maps {
    mw_tensor *x, *added;
} lead_maps;

static lead_maps lead_block(lead_maps maps, int64_t channels, int block)
{
    enum { KERNEL = 17, STRIDE = 4 };
    const zoo_window wide = {.kernel = KERNEL, .unbiased = true};
    const zoo_window strided = {
        .kernel = KERNEL, .stride = STRIDE, .border = (KERNEL - STRIDE + 1) / 2, .unbiased = true};
    mw_tensor *x = zoo_conv(maps.x, channels, wide, "blocks.%d.conv1", block);
    x = zoo_conv(mw_relu(zoo_batch_norm(x, "blocks.%d.bn1", block)), channels, strided, "blocks.%d.conv2", block);
    mw_tensor *skip = zoo_max_pool(maps.added, STRIDE, STRIDE, 0);
    skip = zoo_conv(skip, channels, (zoo_window){.unbiased = true}, "blocks.%d.skip", block);
    x = mw_add(x, skip);
    return (lead_maps){mw_relu(zoo_batch_norm(x, "blocks.%d.bn2", block)), x};
}

mw_tensor *zoo_ecg(zoo_form *form)
{
    static const int channels[2][4] = {{128, 196, 256, 320}, {8, 12, 16, 16}};
    const int samples = form->tiny ? 256 : 4096, blocks = form->tiny ? 2 : 4;
    mw_tensor *x = zoo_floats(form, "x", MW_SHAPE(form->batch, 12, samples));
    x = zoo_conv(x, form->tiny ? 8 : 64, (zoo_window){.kernel = 17, .unbiased = true}, "conv");
    x = mw_relu(zoo_batch_norm(x, "bn"));
    lead_maps maps = {x, x};
    for (int block = 0; block < blocks; block++)
        maps = lead_block(maps, channels[form->tiny][block], block);
    x = mw_reshape(maps.x, MW_SHAPE(form->batch, zoo_extent(maps.x, 1) * zoo_extent(maps.x, 2)));
    return by_events(form, zoo_dense(x, 6, "fc"));
}

/* ---- dilated temporal network: x [B, 88, T], which keys are down ---- */

/* A convolution that sees only what was before, with a weight of length `g` and direction `v` for each channel. */
static mw_tensor *causal_conv(mw_tensor *x, int64_t channels, int dilation, int level, int number)
{
    enum { KERNEL = 3 };
    char name[48];
    mw_graph *graph = mw_tensor_graph(x);
    snprintf(name, sizeof name, "levels.%d.conv%d.weight_v", level, number);
    mw_tensor *v =
        mw_parameter(graph, name, MW_F32, MW_SHAPE(channels, zoo_extent(x, 1), KERNEL), mw_init_kaiming_uniform());
    snprintf(name, sizeof name, "levels.%d.conv%d.weight_g", level, number);
    mw_tensor *g = mw_parameter(graph, name, MW_F32, MW_SHAPE(channels, 1, 1), mw_init_constant(1.0f));
    snprintf(name, sizeof name, "levels.%d.conv%d.bias", level, number);
    mw_tensor *bias = mw_parameter(graph, name, MW_F32, MW_SHAPE(channels), mw_init_zeros());
    mw_tensor *weight = mw_mul(v, mw_real_div(g, mw_reduce_l2_norm(v, MW_AXES(1, 2), true)));
    mw_conv_options options = mw_conv_defaults();
    options.dilation[0] = dilation;
    options.pad_type = MW_PAD_CUSTOM;
    options.pad[0] = (int64_t)(KERNEL - 1) * dilation;
    mw_tensor *y = mw_conv(x, weight, bias, &options);
    zoo_note_dilated(y, (double)zoo_extent(x, 1), KERNEL, dilation);
    return y;
}

static mw_tensor *temporal_block(mw_tensor *x, int64_t channels, int level)
{
    mw_tensor *h = mw_relu(causal_conv(x, channels, 1 << level, level, 1));
    h = mw_relu(causal_conv(h, channels, 1 << level, level, 2));
    if (zoo_extent(x, 1) != channels)
        x = zoo_conv(x, channels, (zoo_window){.kernel = 1}, "levels.%d.downsample", level);
    return mw_relu(mw_add(h, x));
}

mw_tensor *zoo_tcn(zoo_form *form)
{
    const int keys = form->tiny ? 6 : 88, steps = form->tiny ? 20 : 512, levels = form->tiny ? 3 : 8;
    mw_tensor *x = zoo_floats(form, "x", MW_SHAPE(form->batch, keys, steps));
    for (int level = 0; level < levels; level++)
        x = temporal_block(x, form->tiny ? 8 : 128, level);
    return by_events(form, zoo_dense(mw_transpose(x, MW_AXES(0, 2, 1)), keys, "linear"));
}

/* ---- spectrograms: x [B, 1, T, F] ---- */

static mw_tensor *conv_norm_relu(mw_tensor *x, int64_t channels, zoo_window w, int block, const char *which)
{
    w.unbiased = true;
    x = zoo_conv(x, channels, w, "blocks.%d.%s", block, which);
    return mw_relu(zoo_batch_norm(x, "blocks.%d.%s_bn", block, which));
}

mw_tensor *zoo_dscnn(zoo_form *form)
{
    const int frames = form->tiny ? 20 : 98, bands = form->tiny ? 12 : 44, channels = form->tiny ? 8 : 276;
    mw_tensor *x = zoo_floats(form, "x", MW_SHAPE(form->batch, 1, frames, bands));
    mw_conv_options options = mw_conv_defaults();
    options.stride[0] = options.stride[1] = 2;
    options.pad_type = MW_PAD_SAME;
    options.bias = false;
    x = mw_conv_layer(x, channels, MW_SHAPE(10, 4), "conv", &options);
    x = mw_relu(zoo_batch_norm(x, "bn"));
    for (int block = 0; block < (form->tiny ? 2 : 5); block++) {
        const zoo_window depthwise = {.kernel = 3, .stride = block == 0 ? 2 : 1, .groups = channels};
        x = conv_norm_relu(x, channels, depthwise, block, "depthwise");
        x = conv_norm_relu(x, channels, (zoo_window){.kernel = 1}, block, "pointwise");
    }
    const mw_pool_options all = mw_pool_defaults(MW_SHAPE(zoo_extent(x, 2), zoo_extent(x, 3)));
    x = mw_reshape(mw_avg_pool(x, &all), MW_SHAPE(form->batch, channels));
    return zoo_by_classes(form, zoo_dense(x, 12, "fc"));
}

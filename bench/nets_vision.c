/* ResNet-18, MobileNetV2 and U-Net of nets.h. */
#include "nets.h"

#include <stdio.h>

enum { CLASSES = 10 };

static int channels_of(mw_tensor *x) { return (int)mw_tensor_shape(x).dim[1]; }

/* A convolution without bias, padded as PyTorch's padding = kernel / 2 does it: both sides alike. */
static mw_tensor *convolve(mw_tensor *x, int channels, int kernel, int stride, int groups, const char *name)
{
    mw_conv_options options = mw_conv_defaults();
    options.stride[0] = options.stride[1] = stride;
    options.groups = groups;
    options.bias = false;
    options.pad_type = MW_PAD_CUSTOM;
    for (int side = 0; side < 4; side++)
        options.pad[side] = kernel / 2;
    const double inputs = (double)channels_of(x) / groups * kernel * kernel;
    x = mw_conv_layer(x, channels, MW_SHAPE(kernel, kernel), name, &options);
    net_products += inputs * (double)mw_shape_count(mw_tensor_shape(x));
    return x;
}

/* Convolution `prefix``name` and batch norm `prefix``norm`. */
static mw_tensor *convolve_norm(mw_tensor *x, int channels, int kernel, int stride, int groups, const char *prefix,
                                const char *name, const char *norm)
{
    char full[64];
    snprintf(full, sizeof full, "%s%s", prefix, name);
    x = convolve(x, channels, kernel, stride, groups, full);
    snprintf(full, sizeof full, "%s%s", prefix, norm);
    return mw_batch_norm_layer(x, 0.1f, 1e-5f, full);
}

static mw_tensor *pictures(mw_graph *graph, const vision_form *f)
{
    net_products = 0.0;
    return mw_input(graph, "x", MW_F32, MW_SHAPE(f->batch, 3, f->side, f->side));
}

/* The mean over the positions, a dense layer and cross-entropy. */
static mw_tensor *classify(mw_tensor *x, const vision_form *f)
{
    mw_tensor *y = mw_input(mw_tensor_graph(x), "y", MW_I32, MW_SHAPE(f->batch));
    net_products += (double)f->batch * channels_of(x) * CLASSES;
    return mw_cross_entropy(mw_dense(mw_reduce_mean(x, MW_AXES(2, 3), false), CLASSES, "fc"), y);
}

/* ---- ResNet ---- */

static mw_tensor *basic_block(mw_tensor *x, int channels, int stride, const char *prefix)
{
    mw_tensor *h = mw_relu(convolve_norm(x, channels, 3, stride, 1, prefix, "conv1", "bn1"));
    h = convolve_norm(h, channels, 3, 1, 1, prefix, "conv2", "bn2");
    const bool same = stride == 1 && channels_of(x) == channels;
    mw_tensor *shortcut = same ? x : convolve_norm(x, channels, 1, stride, 1, prefix, "conv3", "bn3");
    return mw_relu(mw_add(h, shortcut));
}

mw_tensor *net_resnet(mw_graph *graph, const vision_form *f)
{
    mw_tensor *h = mw_relu(convolve_norm(pictures(graph, f), f->width, 3, 1, 1, "", "conv", "bn"));
    char prefix[32];
    for (int i = 0; i < 8; i++) {
        snprintf(prefix, sizeof prefix, "blocks.%d.", i);
        h = basic_block(h, f->width << i / 2, i % 2 == 0 && i > 0 ? 2 : 1, prefix);
    }
    return classify(h, f);
}

/* ---- MobileNetV2 ---- */

static mw_tensor *inverted_block(mw_tensor *x, int channels, int stride, int expansion, const char *prefix)
{
    const int wide = expansion * channels_of(x);
    mw_tensor *h = x;
    if (expansion > 1)
        h = mw_relu6(convolve_norm(h, wide, 1, 1, 1, prefix, "conv1", "bn1"));
    h = mw_relu6(convolve_norm(h, wide, 3, stride, wide, prefix, "conv2", "bn2"));
    h = convolve_norm(h, channels, 1, 1, 1, prefix, "conv3", "bn3");
    return stride == 1 && channels_of(x) == channels ? mw_add(x, h) : h;
}

mw_tensor *net_mobilenet(mw_graph *graph, const vision_form *f)
{
    static const struct {
        int expansion, channels, count, stride;
    } stages[] = {{1, 16, 1, 1}, {6, 24, 2, 1},  {6, 32, 3, 2}, {6, 64, 4, 2},
                  {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
    mw_tensor *h = mw_relu6(convolve_norm(pictures(graph, f), f->width, 3, 1, 1, "", "conv", "bn"));
    char prefix[32];
    int number = 0;
    for (size_t s = 0; s < sizeof stages / sizeof *stages; s++) {
        for (int i = 0; i < stages[s].count; i++) {
            snprintf(prefix, sizeof prefix, "blocks.%d.", number++);
            h = inverted_block(h, stages[s].channels * f->width / 32, i == 0 ? stages[s].stride : 1,
                               stages[s].expansion, prefix);
        }
    }
    return classify(mw_relu6(convolve_norm(h, 1280 * f->width / 32, 1, 1, 1, "", "last", "last_bn")), f);
}

/* ---- U-Net ---- */

static mw_tensor *twice(mw_tensor *x, int channels, const char *prefix)
{
    x = mw_relu(convolve_norm(x, channels, 3, 1, 1, prefix, "conv1", "bn1"));
    return mw_relu(convolve_norm(x, channels, 3, 1, 1, prefix, "conv2", "bn2"));
}

static mw_tensor *halved(mw_tensor *x)
{
    mw_pool_options two = mw_pool_defaults(MW_SHAPE(2, 2));
    two.stride[0] = two.stride[1] = 2;
    return mw_max_pool(x, &two);
}

static mw_tensor *doubled(mw_tensor *x, int channels, int level)
{
    char name[32];
    mw_conv_options two = mw_conv_defaults();
    two.stride[0] = two.stride[1] = 2;
    snprintf(name, sizeof name, "up.%d.upward", level);
    net_products += 4.0 * channels * (double)mw_shape_count(mw_tensor_shape(x));
    return mw_conv_transpose_layer(x, channels, MW_SHAPE(2, 2), name, &two);
}

mw_tensor *net_unet(mw_graph *graph, const vision_form *f)
{
    enum { LEVELS = 3 };
    mw_tensor *kept[LEVELS], *h = pictures(graph, f);
    char prefix[32];
    for (int level = 0; level < LEVELS; level++) {
        snprintf(prefix, sizeof prefix, "down.%d.", level);
        kept[level] = twice(h, f->width << level, prefix);
        h = halved(kept[level]);
    }
    h = twice(h, f->width << LEVELS, "bottom.");
    for (int level = LEVELS - 1; level >= 0; level--) {
        h = doubled(h, f->width << level, level);
        snprintf(prefix, sizeof prefix, "up.%d.", level);
        h = twice(mw_concat((mw_tensor *[]){kept[level], h}, 2, 1), f->width << level, prefix);
    }
    mw_tensor *y = mw_input(graph, "y", MW_F32, MW_SHAPE(f->batch, 1, f->side, f->side));
    net_products += (double)mw_shape_count(mw_tensor_shape(h));
    return mw_binary_cross_entropy(mw_conv_layer(h, 1, MW_SHAPE(1, 1), "head", NULL), y, NULL);
}

/* Segmentation: U-Net (Ronneberger, Fischer and Brox 2015), with batch norm; DeepLabV3 (Chen, Papandreou, Schroff and
 * Adam 2017) on ResNet-50 with dilation; a feature pyramid whose levels are resized and added (Kirillov, Girshick, He
 * and Dollar 2019). */
#include "zoo.h"

#include <stdio.h>

/* Convolution `prefix``name`.0, batch norm `prefix``name`.1 and ReLU. */
static mw_tensor *conv_norm(mw_tensor *x, int64_t channels, zoo_window w, const char *prefix, const char *name)
{
    w.unbiased = true;
    return zoo_batch_norm(zoo_conv(x, channels, w, "%s%s.0", prefix, name), "%s%s.1", prefix, name);
}

static mw_tensor *conv_relu(mw_tensor *x, int64_t channels, zoo_window w, const char *prefix, const char *name)
{
    return mw_relu(conv_norm(x, channels, w, prefix, name));
}

static mw_tensor *resize_like(mw_tensor *x, mw_tensor *like)
{
    return mw_resize_bilinear(x, zoo_extent(like, 2), zoo_extent(like, 3), MW_SAMPLING_UNALIGN_CORNERS);
}

/* ---- U-Net ---- */

static mw_tensor *twice(mw_tensor *x, int64_t channels, const char *prefix)
{
    x = conv_relu(x, channels, (zoo_window){.kernel = 3}, prefix, "a");
    return conv_relu(x, channels, (zoo_window){.kernel = 3}, prefix, "b");
}

mw_tensor *zoo_unet(zoo_form *form)
{
    enum { LEVELS = 4 };
    const int64_t side = form->tiny ? 32 : 192, width = form->tiny ? 4 : 32;
    mw_tensor *kept[LEVELS], *h = zoo_floats(form, "x", MW_SHAPE(form->batch, 3, side, side));
    char prefix[32];
    for (int level = 0; level < LEVELS; level++) {
        snprintf(prefix, sizeof prefix, "down.%d.", level);
        kept[level] = twice(h, width << level, prefix);
        h = zoo_max_pool(kept[level], 2, 2, 0);
    }
    h = twice(h, width << LEVELS, "bottom.");
    for (int level = LEVELS - 1; level >= 0; level--) {
        snprintf(prefix, sizeof prefix, "up.%d.", level);
        h = zoo_conv_up(h, width << level, (zoo_window){.kernel = 2, .stride = 2}, "%sup", prefix);
        h = twice(mw_concat((mw_tensor *[]){kept[level], h}, 2, 1), width << level, prefix);
    }
    return zoo_by_pixels(form, zoo_conv(h, 4, (zoo_window){.kernel = 1}, "head"));
}

/* ---- DeepLabV3 ---- */

static mw_tensor *bottleneck(mw_tensor *x, int64_t width, int stride, int dilation, int block)
{
    char prefix[32];
    snprintf(prefix, sizeof prefix, "blocks.%d.", block);
    mw_tensor *h = conv_relu(x, width, (zoo_window){.kernel = 1}, prefix, "conv1");
    h = conv_relu(h, width, (zoo_window){.kernel = 3, .stride = stride, .dilation = dilation}, prefix, "conv2");
    h = conv_norm(h, 4 * width, (zoo_window){.kernel = 1}, prefix, "conv3");
    if (stride > 1 || zoo_extent(x, 1) != 4 * width)
        x = conv_norm(x, 4 * width, (zoo_window){.stride = stride}, prefix, "down");
    return mw_relu(mw_add(h, x));
}

/* Atrous spatial pyramid pooling. */
static mw_tensor *pyramid(mw_tensor *x, int64_t width, int rate)
{
    mw_tensor *parts[5];
    char name[16];
    parts[0] = conv_relu(x, width, (zoo_window){.kernel = 1}, "aspp.", "0");
    for (int i = 1; i < 4; i++) {
        snprintf(name, sizeof name, "%d", i);
        parts[i] = conv_relu(x, width, (zoo_window){.kernel = 3, .dilation = rate * i}, "aspp.", name);
    }
    parts[4] = mw_reduce_mean(x, MW_AXES(2, 3), true);
    parts[4] = resize_like(conv_relu(parts[4], width, (zoo_window){.kernel = 1}, "aspp.", "pool"), x);
    return conv_relu(mw_concat(parts, 5, 1), width, (zoo_window){.kernel = 1}, "aspp.", "project");
}

mw_tensor *zoo_deeplabv3(zoo_form *form)
{
    static const int counts[2][4] = {{3, 4, 6, 3}, {1, 1, 1, 1}};
    const int64_t side = form->tiny ? 48 : 128, stem = form->tiny ? 4 : 64, width = form->tiny ? 8 : 256;
    mw_tensor *x = zoo_floats(form, "x", MW_SHAPE(form->batch, 3, side, side));
    mw_tensor *h = conv_relu(x, stem, (zoo_window){.kernel = 7, .stride = 2}, "", "stem");
    h = zoo_max_pool(h, 3, 2, 1);
    for (int stage = 0, block = 0; stage < 4; stage++)
        for (int i = 0; i < counts[form->tiny][stage]; i++, block++)
            h = bottleneck(h, stem << stage, i == 0 && (stage == 1 || stage == 2) ? 2 : 1, stage == 3 ? 2 : 1,
                           block); /* the last stage is dilated in the place of a stride */
    h = conv_relu(pyramid(h, width, form->tiny ? 2 : 6), width, (zoo_window){.kernel = 3}, "", "conv");
    return zoo_by_pixels(form, resize_like(zoo_conv(h, 21, (zoo_window){.kernel = 1}, "head"), x));
}

/* ---- feature pyramid ---- */

static mw_tensor *basic(mw_tensor *x, int64_t channels, int stride, int block)
{
    char prefix[32];
    snprintf(prefix, sizeof prefix, "blocks.%d.", block);
    mw_tensor *h = conv_relu(x, channels, (zoo_window){.kernel = 3, .stride = stride}, prefix, "conv1");
    h = conv_norm(h, channels, (zoo_window){.kernel = 3}, prefix, "conv2");
    if (stride > 1 || zoo_extent(x, 1) != channels)
        x = conv_norm(x, channels, (zoo_window){.stride = stride}, prefix, "down");
    return mw_relu(mw_add(h, x));
}

/* From the coarsest level down: each is resized and added to the next; all of them, resized to the finest, are summed.
 */
static mw_tensor *merge_levels(mw_tensor *const levels[4], int64_t width)
{
    mw_tensor *above = NULL, *sum = NULL;
    for (int i = 3; i >= 0; i--) {
        mw_tensor *side = zoo_conv(levels[i], width, (zoo_window){.kernel = 1}, "lateral.%d", i);
        above = above == NULL ? side : mw_add(side, resize_like(above, side));
        char name[16];
        snprintf(name, sizeof name, "smooth.%d", i);
        mw_tensor *part = resize_like(conv_relu(above, width, (zoo_window){.kernel = 3}, "", name), levels[0]);
        sum = sum == NULL ? part : mw_add(sum, part);
    }
    return sum;
}

mw_tensor *zoo_fpn_segment(zoo_form *form)
{
    const int64_t height = form->tiny ? 32 : 192, width = form->tiny ? 8 : 64, pyramid_width = form->tiny ? 8 : 128;
    mw_tensor *x = zoo_floats(form, "x", MW_SHAPE(form->batch, 3, height, 2 * height)), *levels[4];
    mw_tensor *h = conv_relu(x, width, (zoo_window){.kernel = 7, .stride = 2}, "", "stem");
    h = zoo_max_pool(h, 3, 2, 1);
    for (int stage = 0, block = 0; stage < 4; stage++) {
        for (int i = 0; i < (form->tiny ? 1 : 2); i++, block++)
            h = basic(h, width << stage, i == 0 && stage > 0 ? 2 : 1, block);
        levels[stage] = h;
    }
    h = merge_levels(levels, pyramid_width);
    return zoo_by_pixels(form, resize_like(zoo_conv(h, 19, (zoo_window){.kernel = 1}, "head"), x));
}

/* ShuffleNetV2 (Ma, Zhang, Zheng and Sun 2018), 1.0. */
#include "zoo.h"

static mw_tensor *conv_norm(mw_tensor *x, int64_t channels, zoo_window w, int block, const char *branch, int at)
{
    w.unbiased = true;
    x = zoo_conv(x, channels, w, "blocks.%d.%s.%d", block, branch, at);
    return zoo_batch_norm(x, "blocks.%d.%s.%d", block, branch, at + 1);
}

/* 1x1, depthwise, 1x1. */
static mw_tensor *branch_of(mw_tensor *x, int64_t channels, int stride, int block)
{
    x = mw_relu(conv_norm(x, channels, (zoo_window){.kernel = 1}, block, "branch2", 0));
    const zoo_window depthwise = {.kernel = 3, .stride = stride, .groups = (int)channels};
    x = conv_norm(x, channels, depthwise, block, "branch2", 3);
    return mw_relu(conv_norm(x, channels, (zoo_window){.kernel = 1}, block, "branch2", 5));
}

static mw_tensor *shuffle(mw_tensor *x)
{
    const mw_shape s = mw_tensor_shape(x);
    x = mw_reshape(x, MW_SHAPE(s.dim[0], 2, s.dim[1] / 2, s.dim[2], s.dim[3]));
    return mw_reshape(mw_transpose(x, MW_AXES(0, 2, 1, 3, 4)), s);
}

static mw_tensor *unit(mw_tensor *x, int64_t channels, int stride, int block)
{
    mw_tensor *parts[2] = {x, x};
    if (stride == 1) {
        mw_split(x, 2, 1, parts);
    } else {
        const zoo_window depthwise = {.kernel = 3, .stride = stride, .groups = (int)zoo_extent(x, 1)};
        parts[0] = conv_norm(x, zoo_extent(x, 1), depthwise, block, "branch1", 0);
        parts[0] = mw_relu(conv_norm(parts[0], channels / 2, (zoo_window){.kernel = 1}, block, "branch1", 2));
    }
    parts[1] = branch_of(parts[1], channels / 2, stride, block);
    return shuffle(mw_concat(parts, 2, 1));
}

mw_tensor *zoo_shufflenet_v2(zoo_form *form)
{
    static const int counts[2][3] = {{4, 8, 4}, {2, 2, 2}}, widths[2][3] = {{116, 232, 464}, {8, 16, 32}};
    const int64_t side = form->tiny ? 64 : 128;
    mw_tensor *h = zoo_floats(form, "x", MW_SHAPE(form->batch, 3, side, side));
    h = zoo_conv(h, form->tiny ? 8 : 24, (zoo_window){.kernel = 3, .stride = 2, .unbiased = true}, "stem.0");
    h = zoo_max_pool(mw_relu(zoo_batch_norm(h, "stem.1")), 3, 2, 1);
    for (int stage = 0, block = 0; stage < 3; stage++)
        for (int i = 0; i < counts[form->tiny][stage]; i++, block++)
            h = unit(h, widths[form->tiny][stage], i == 0 ? 2 : 1, block);
    h = zoo_conv(h, form->tiny ? 64 : 1024, (zoo_window){.unbiased = true}, "last.0");
    return zoo_classifier(form, mw_relu(zoo_batch_norm(h, "last.1")), form->tiny ? 10 : 1000, "fc");
}

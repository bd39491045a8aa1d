/* ResNet-50 (He, Zhang, Ren and Sun 2015), the stride in the 3 x 3 convolution. */
#include "zoo.h"

static mw_tensor *conv_norm(mw_tensor *x, int64_t channels, zoo_window w, int block, int number)
{
    w.unbiased = true;
    x = zoo_conv(x, channels, w, "blocks.%d.conv%d", block, number);
    return zoo_batch_norm(x, "blocks.%d.bn%d", block, number);
}

static mw_tensor *bottleneck(mw_tensor *x, int64_t width, int stride, int block)
{
    mw_tensor *h = mw_relu(conv_norm(x, width, (zoo_window){.kernel = 1}, block, 1));
    h = mw_relu(conv_norm(h, width, (zoo_window){.kernel = 3, .stride = stride}, block, 2));
    h = conv_norm(h, 4 * width, (zoo_window){.kernel = 1}, block, 3);
    if (stride > 1 || zoo_extent(x, 1) != 4 * width) {
        x = zoo_conv(x, 4 * width, (zoo_window){.stride = stride, .unbiased = true}, "blocks.%d.down.0", block);
        x = zoo_batch_norm(x, "blocks.%d.down.1", block);
    }
    return mw_relu(mw_add(h, x));
}

mw_tensor *zoo_resnet50(zoo_form *form)
{
    static const int counts[2][4] = {{3, 4, 6, 3}, {1, 2, 1, 1}};
    const int64_t side = form->tiny ? 32 : 128, stem = form->tiny ? 8 : 64;
    mw_tensor *h = zoo_floats(form, "x", MW_SHAPE(form->batch, 3, side, side));
    h = zoo_conv(h, stem, (zoo_window){.kernel = 7, .stride = 2, .unbiased = true}, "conv1");
    h = zoo_max_pool(mw_relu(zoo_batch_norm(h, "bn1")), 3, 2, 1);
    for (int stage = 0, block = 0; stage < 4; stage++)
        for (int i = 0; i < counts[form->tiny][stage]; i++, block++)
            h = bottleneck(h, stem << stage, i == 0 && stage > 0 ? 2 : 1, block);
    return zoo_classifier(form, h, form->tiny ? 10 : 1000, "fc");
}

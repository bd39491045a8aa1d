/* DenseNet-121 (Huang, Liu, van der Maaten and Weinberger 2016). */
#include "zoo.h"

static mw_tensor *dense_layer(mw_tensor *x, int64_t growth, int block, int layer)
{
    mw_tensor *h = mw_relu(zoo_batch_norm(x, "blocks.%d.layers.%d.norm1", block, layer));
    h = zoo_conv(h, 4 * growth, (zoo_window){.unbiased = true}, "blocks.%d.layers.%d.conv1", block, layer);
    h = mw_relu(zoo_batch_norm(h, "blocks.%d.layers.%d.norm2", block, layer));
    h = zoo_conv(h, growth, (zoo_window){.kernel = 3, .unbiased = true}, "blocks.%d.layers.%d.conv2", block, layer);
    return mw_concat((mw_tensor *[]){x, h}, 2, 1);
}

static mw_tensor *transition(mw_tensor *x, int block)
{
    x = mw_relu(zoo_batch_norm(x, "blocks.%d.norm", block));
    x = zoo_conv(x, zoo_extent(x, 1) / 2, (zoo_window){.unbiased = true}, "blocks.%d.conv", block);
    return zoo_avg_pool(x, 2, 2, 0);
}

mw_tensor *zoo_densenet121(zoo_form *form)
{
    static const int counts[2][4] = {{6, 12, 24, 16}, {2, 2, 1, 1}};
    const int64_t side = form->tiny ? 64 : 128, growth = form->tiny ? 4 : 32;
    mw_tensor *h = zoo_floats(form, "x", MW_SHAPE(form->batch, 3, side, side));
    h = zoo_conv(h, 2 * growth, (zoo_window){.kernel = 7, .stride = 2, .unbiased = true}, "conv0");
    h = zoo_max_pool(mw_relu(zoo_batch_norm(h, "norm0")), 3, 2, 1);
    for (int block = 0; block < 4; block++) {
        for (int layer = 0; layer < counts[form->tiny][block]; layer++)
            h = dense_layer(h, growth, block, layer);
        h = block < 3 ? transition(h, block) : h;
    }
    return zoo_classifier(form, mw_relu(zoo_batch_norm(h, "norm5")), form->tiny ? 10 : 1000, "classifier");
}

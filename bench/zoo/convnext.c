/* ConvNeXt-T (Liu, Mao, Wu, Feichtenhofer, Darrell and Xie 2022). */
#include "zoo.h"

#include <stdio.h>

static mw_tensor *channels_last(mw_tensor *x) { return mw_transpose(x, MW_AXES(0, 2, 3, 1)); }
static mw_tensor *channels_first(mw_tensor *x) { return mw_transpose(x, MW_AXES(0, 3, 1, 2)); }

static mw_tensor *block_of(mw_tensor *x, int stage, int index)
{
    const int64_t width = zoo_extent(x, 1);
    char scale[64];
    snprintf(scale, sizeof scale, "stages.%d.%d.scale", stage, index);
    mw_tensor *gamma = mw_parameter(mw_tensor_graph(x), scale, MW_F32, MW_SHAPE(width), mw_init_constant(1e-1f));
    mw_tensor *h =
        zoo_conv(x, width, (zoo_window){.kernel = 7, .groups = (int)width}, "stages.%d.%d.conv", stage, index);
    h = zoo_layer_norm(channels_last(h), "stages.%d.%d.norm", stage, index);
    h = mw_gelu(zoo_dense(h, 4 * width, "stages.%d.%d.fc1", stage, index), MW_GELU_EXACT);
    h = mw_mul(zoo_dense(h, width, "stages.%d.%d.fc2", stage, index), gamma);
    return mw_add(x, channels_first(h));
}

static mw_tensor *patches(mw_tensor *x, int64_t width, int size, const char *name)
{
    return zoo_conv(x, width, (zoo_window){.kernel = size, .stride = size, .border = -1}, "%s", name);
}

mw_tensor *zoo_convnext_t(zoo_form *form)
{
    static const int depths[2][4] = {{3, 3, 9, 3}, {1, 1, 2, 1}};
    const int64_t side = form->tiny ? 64 : 128, width = form->tiny ? 8 : 96;
    mw_tensor *h = patches(zoo_floats(form, "x", MW_SHAPE(form->batch, 3, side, side)), width, 4, "stem");
    h = channels_first(zoo_layer_norm(channels_last(h), "stem_norm"));
    for (int stage = 0; stage < 4; stage++) {
        char name[32];
        snprintf(name, sizeof name, "downs.%d", stage - 1);
        if (stage > 0) {
            h = channels_first(zoo_layer_norm(channels_last(h), "norms.%d", stage - 1));
            h = patches(h, width << stage, 2, name);
        }
        for (int i = 0; i < depths[form->tiny][stage]; i++)
            h = block_of(h, stage, i);
    }
    h = zoo_layer_norm(mw_reduce_mean(h, MW_AXES(2, 3), false), "norm");
    return zoo_by_classes(form, mw_dense(h, form->tiny ? 10 : 1000, "head"));
}

/* Networks of depthwise convolutions: EfficientNet-B0 (Tan and Le 2019) and MobileNetV3-Large (Howard and others 2019),
 * whose blocks differ in the activation and in where they squeeze. */
#include "zoo.h"

typedef struct mobile_block {
    int expanded, channels, kernel, stride; /* `expanded`: channels inside */
    bool squeezed, hard;                    /* hard: hard-swish, and a hard sigmoid in the squeeze */
    bool plain;                             /* ReLU, of MobileNetV3's first blocks */
    int squeeze;                            /* channels there */
} mobile_block;

static mw_tensor *hard_sigmoid(mw_tensor *x) { return mw_sigmoid_hard(x, 1.0f / 6.0f, 0.5f); }

static mw_tensor *activate(mw_tensor *x, bool hard, bool plain)
{
    return plain ? mw_relu(x) : hard ? mw_mul(x, hard_sigmoid(x)) : mw_silu(x);
}

static mw_tensor *conv_norm(mw_tensor *x, int channels, zoo_window w, int block, const char *name)
{
    w.unbiased = true;
    x = zoo_conv(x, channels, w, "blocks.%d.%s.0", block, name);
    return zoo_batch_norm(x, "blocks.%d.%s.1", block, name);
}

static mw_tensor *squeeze(mw_tensor *x, const mobile_block *b, int block)
{
    mw_tensor *s = mw_reduce_mean(x, MW_AXES(2, 3), true);
    s = zoo_conv(s, b->squeeze, (zoo_window){.kernel = 1}, "blocks.%d.squeeze.fc1", block);
    s = b->hard ? mw_relu(s) : mw_silu(s);
    s = zoo_conv(s, zoo_extent(x, 1), (zoo_window){.kernel = 1}, "blocks.%d.squeeze.fc2", block);
    return mw_mul(x, b->hard ? hard_sigmoid(s) : mw_sigmoid(s));
}

static mw_tensor *inverted(mw_tensor *x, const mobile_block *b, int block)
{
    const int64_t inputs = zoo_extent(x, 1);
    mw_tensor *h = x;
    if (b->expanded != inputs)
        h = activate(conv_norm(h, b->expanded, (zoo_window){.kernel = 1}, block, "expand"), b->hard, b->plain);
    const zoo_window depthwise = {.kernel = b->kernel, .stride = b->stride, .groups = b->expanded};
    h = conv_norm(h, b->expanded, depthwise, block, "depthwise");
    if (b->squeezed && b->hard) { /* MobileNetV3 squeezes before the activation */
        h = activate(squeeze(h, b, block), b->hard, b->plain);
    } else {
        h = activate(h, b->hard, b->plain);
        h = b->squeezed ? squeeze(h, b, block) : h;
    }
    h = conv_norm(h, b->channels, (zoo_window){.kernel = 1}, block, "project");
    return b->stride == 1 && inputs == b->channels ? mw_add(x, h) : h;
}

static mw_tensor *stem(zoo_form *form, int64_t side, int channels)
{
    mw_tensor *h = zoo_floats(form, "x", MW_SHAPE(form->batch, 3, side, side));
    h = zoo_conv(h, channels, (zoo_window){.kernel = 3, .stride = 2, .unbiased = true}, "stem.0");
    return zoo_batch_norm(h, "stem.1");
}

static mw_tensor *last_conv(mw_tensor *h, int channels)
{
    return zoo_batch_norm(zoo_conv(h, channels, (zoo_window){.unbiased = true}, "last.0"), "last.1");
}

/* ---- EfficientNet-B0 ---- */

mw_tensor *zoo_efficientnet_b0(zoo_form *form)
{
    static const struct {
        int expansion, channels, count, stride, kernel;
    } stages[] = {{1, 16, 1, 1, 3},  {6, 24, 2, 2, 3},  {6, 40, 2, 2, 5}, {6, 80, 3, 2, 3},
                  {6, 112, 3, 1, 5}, {6, 192, 4, 2, 5}, {6, 320, 1, 1, 3}};
    const int part = form->tiny ? 4 : 1; /* of all widths */
    mw_tensor *h = mw_silu(stem(form, form->tiny ? 64 : 128, 32 / part));
    int number = 0;
    for (int stage = 0; stage < (form->tiny ? 5 : 7); stage++) {
        for (int i = 0; i < (form->tiny ? 1 : stages[stage].count); i++) {
            const int inputs = (int)zoo_extent(h, 1);
            const mobile_block block = {.expanded = inputs * stages[stage].expansion,
                                        .channels = stages[stage].channels / part,
                                        .kernel = stages[stage].kernel,
                                        .stride = i == 0 ? stages[stage].stride : 1,
                                        .squeezed = true,
                                        .squeeze = inputs / 4};
            h = inverted(h, &block, number++);
        }
    }
    return zoo_classifier(form, mw_silu(last_conv(h, 1280 / part)), form->tiny ? 10 : 1000, "fc");
}

/* ---- MobileNetV3-Large ---- */

/* The squeeze's channels: a fourth, to the nearest multiple of 8, and not below nine tenths of it. */
static int by_eights(int channels)
{
    const int rounded = channels + 4 < 8 ? 8 : (channels + 4) / 8 * 8;
    return 10 * rounded < 9 * channels ? rounded + 8 : rounded;
}

mw_tensor *zoo_mobilenet_v3(zoo_form *form)
{
    static const mobile_block blocks[] = {
        {.expanded = 16, .channels = 16, .kernel = 3, .stride = 1, .plain = true},
        {.expanded = 64, .channels = 24, .kernel = 3, .stride = 2, .plain = true},
        {.expanded = 72, .channels = 24, .kernel = 3, .stride = 1, .plain = true},
        {.expanded = 72, .channels = 40, .kernel = 5, .stride = 2, .plain = true, .squeezed = true},
        {.expanded = 120, .channels = 40, .kernel = 5, .stride = 1, .plain = true, .squeezed = true},
        {.expanded = 120, .channels = 40, .kernel = 5, .stride = 1, .plain = true, .squeezed = true},
        {.expanded = 240, .channels = 80, .kernel = 3, .stride = 2},
        {.expanded = 200, .channels = 80, .kernel = 3, .stride = 1},
        {.expanded = 184, .channels = 80, .kernel = 3, .stride = 1},
        {.expanded = 184, .channels = 80, .kernel = 3, .stride = 1},
        {.expanded = 480, .channels = 112, .kernel = 3, .stride = 1, .squeezed = true},
        {.expanded = 672, .channels = 112, .kernel = 3, .stride = 1, .squeezed = true},
        {.expanded = 672, .channels = 160, .kernel = 5, .stride = 2, .squeezed = true},
        {.expanded = 960, .channels = 160, .kernel = 5, .stride = 1, .squeezed = true},
        {.expanded = 960, .channels = 160, .kernel = 5, .stride = 1, .squeezed = true}};
    const int part = form->tiny ? 4 : 1;
    mw_tensor *h = stem(form, form->tiny ? 64 : 128, 16 / part);
    h = activate(h, true, false);
    for (int i = 0; i < (form->tiny ? 8 : 15); i++) {
        mobile_block block = blocks[i];
        block.hard = true;
        block.expanded /= part;
        block.channels /= part;
        block.squeeze = by_eights(block.expanded / 4);
        h = inverted(h, &block, i);
    }
    h = activate(last_conv(h, 960 / part), true, false);
    h = mw_dense(mw_reduce_mean(h, MW_AXES(2, 3), false), 1280 / part, "fc1");
    return zoo_by_classes(form, mw_dense(activate(h, true, false), form->tiny ? 10 : 1000, "fc2"));
}

/* Networks that make pictures and bodies: a convolutional variational autoencoder (Kingma and Welling 2013), SRResNet
 * (Ledig and others 2016), style transfer with instance norm (Johnson, Alahi and Fei-Fei 2016; Ulyanov, Vedaldi and
 * Lempitsky 2016), and a 3-D GAN (Wu, Zhang, Xue, Freeman and Tenenbaum 2016). */
#include "zoo.h"

#include <stdio.h>

/* ---- variational autoencoder ---- */

/* The mean over the examples of -1/2 sum(1 + log variance - mean^2 - variance). */
static mw_tensor *divergence(mw_tensor *mean, mw_tensor *log_variance)
{
    mw_tensor *terms = mw_sub(mw_add_scalar(log_variance, 1.0), mw_add(mw_square(mean), mw_exp(log_variance)));
    return mw_mul_scalar(mw_reduce_mean(mw_reduce_sum(terms, MW_AXES(1), false), MW_ALL_AXES, false), -0.5);
}

static mw_tensor *encode(mw_tensor *x, int64_t width)
{
    for (int i = 0; i < 4; i++) {
        x = zoo_conv(x, width << i, (zoo_window){.kernel = 4, .stride = 2, .border = 1}, "encoder.%d.conv", i);
        x = mw_leaky_relu(zoo_batch_norm(x, "encoder.%d.norm", i), 0.2f);
    }
    return mw_flatten2d(x, 1);
}

static mw_tensor *decode(mw_tensor *z, int64_t width, int64_t side)
{
    mw_tensor *h = mw_relu(mw_dense(z, 8 * width * side * side, "decoder_in"));
    h = mw_reshape(h, MW_SHAPE(zoo_extent(z, 0), 8 * width, side, side));
    for (int i = 0; i < 4; i++) {
        const zoo_window w = {.kernel = 4, .stride = 2, .border = 1};
        h = zoo_conv_up(h, i == 3 ? 3 : (4 * width) >> i, w, "decoder.%d.conv", i);
        h = i == 3 ? h : mw_relu(zoo_batch_norm(h, "decoder.%d.norm", i));
    }
    return h;
}

mw_tensor *zoo_vae(zoo_form *form)
{
    const int64_t side = form->tiny ? 32 : 64, width = form->tiny ? 4 : 32, code = form->tiny ? 8 : 128;
    mw_tensor *x = zoo_floats(form, "x", MW_SHAPE(form->batch, 3, side, side));
    mw_tensor *noise = zoo_floats(form, "noise", MW_SHAPE(form->batch, code));
    mw_tensor *h = encode(x, width);
    mw_tensor *mean = mw_dense(h, code, "mean"), *log_variance = mw_dense(h, code, "log_variance");
    mw_tensor *z = mw_add(mean, mw_mul(noise, mw_exp(mw_mul_scalar(log_variance, 0.5))));
    mw_tensor *made = decode(z, width, side / 16);
    if (!form->training)
        return mw_sigmoid(made);
    const double pixels = 3.0 * (double)(side * side);
    mw_tensor *missed = mw_mul_scalar(mw_binary_cross_entropy(made, x, NULL), pixels);
    return mw_mul_scalar(mw_add(missed, divergence(mean, log_variance)), 1.0 / pixels);
}

/* ---- super-resolution: 9x9 at both ends, pixel shuffle ---- */

static mw_tensor *prelu(mw_tensor *x, const char *name, int index)
{
    char full[64];
    snprintf(full, sizeof full, "%s.%d.weight", name, index);
    const mw_shape shape = MW_SHAPE(zoo_extent(x, 1));
    return mw_prelu(x, mw_parameter(mw_tensor_graph(x), full, MW_F32, shape, mw_init_constant(0.25f)));
}

static mw_tensor *sharp_block(mw_tensor *x, int64_t width, int block)
{
    const zoo_window w = {.kernel = 3, .unbiased = true};
    mw_tensor *h = zoo_batch_norm(zoo_conv(x, width, w, "blocks.%d.conv1", block), "blocks.%d.bn1", block);
    h = prelu(h, "relus", block);
    h = zoo_batch_norm(zoo_conv(h, width, w, "blocks.%d.conv2", block), "blocks.%d.bn2", block);
    return mw_add(x, h);
}

mw_tensor *zoo_srresnet(zoo_form *form)
{
    const int64_t side = form->tiny ? 12 : 48, width = form->tiny ? 8 : 64;
    mw_tensor *h = zoo_floats(form, "x", MW_SHAPE(form->batch, 3, side, side));
    h = prelu(zoo_conv(h, width, (zoo_window){.kernel = 9}, "first"), "first_relu", 0);
    mw_tensor *kept = h;
    for (int i = 0; i < (form->tiny ? 2 : 16); i++)
        h = sharp_block(h, width, i);
    h = zoo_batch_norm(zoo_conv(h, width, (zoo_window){.kernel = 3, .unbiased = true}, "middle"), "middle_bn");
    h = mw_add(kept, h);
    for (int i = 0; i < 2; i++)
        h = prelu(mw_pixel_shuffle(zoo_conv(h, 4 * width, (zoo_window){.kernel = 3}, "up.%d", i), 2), "up_relus", i);
    return zoo_by_squares(form, zoo_conv(h, 3, (zoo_window){.kernel = 9}, "last"));
}

/* ---- style transfer ---- */

static mw_tensor *style_conv(mw_tensor *x, int64_t channels, int kernel, int stride, const char *name)
{
    const int64_t border[4] = {kernel / 2, kernel / 2, kernel / 2, kernel / 2};
    x = mw_pad(x, border, 2, MW_PAD_REFLECT, 0.0f);
    return zoo_conv(x, channels, (zoo_window){.kernel = kernel, .stride = stride, .border = -1}, "%s.conv", name);
}

static mw_tensor *style_norm(mw_tensor *x, int64_t channels, int kernel, int stride, const char *name)
{
    char norm[64];
    snprintf(norm, sizeof norm, "%s.norm", name);
    return mw_instance_norm_layer(style_conv(x, channels, kernel, stride, name), 1e-5f, norm);
}

mw_tensor *zoo_style_transfer(zoo_form *form)
{
    const int64_t side = form->tiny ? 32 : 192, width = form->tiny ? 4 : 32;
    char a[32], b[32];
    mw_tensor *h = zoo_floats(form, "x", MW_SHAPE(form->batch, 3, side, side));
    h = mw_relu(style_norm(h, width, 9, 1, "down.0"));
    h = mw_relu(style_norm(h, 2 * width, 3, 2, "down.1"));
    h = mw_relu(style_norm(h, 4 * width, 3, 2, "down.2"));
    for (int i = 0; i < (form->tiny ? 2 : 5); i++) {
        snprintf(a, sizeof a, "blocks.%d.a", i);
        snprintf(b, sizeof b, "blocks.%d.b", i);
        h = mw_add(h, style_norm(mw_relu(style_norm(h, 4 * width, 3, 1, a)), 4 * width, 3, 1, b));
    }
    h = mw_relu(style_norm(mw_upsample_nearest_neighbor(h, 2, 2), 2 * width, 3, 1, "up.0"));
    h = mw_relu(style_norm(mw_upsample_nearest_neighbor(h, 2, 2), width, 3, 1, "up.1"));
    return zoo_by_squares(form, style_conv(h, 3, 9, 1, "last"));
}

/* ---- 3-D GAN ---- */

static mw_tensor *make_bodies(mw_tensor *z, int64_t width)
{
    const zoo_window w = {.kernel = 4, .stride = 2, .border = 1, .unbiased = true};
    mw_tensor *h = mw_reshape(z, MW_SHAPE(zoo_extent(z, 0), zoo_extent(z, 1), 1, 1, 1));
    h = zoo_conv_up(h, 4 * width, (zoo_window){.kernel = 4, .unbiased = true}, "generator.conv.%d", 0);
    h = mw_relu(zoo_batch_norm(h, "generator.norm.0"));
    for (int i = 1; i < 3; i++)
        h = mw_relu(
            zoo_batch_norm(zoo_conv_up(h, (4 * width) >> i, w, "generator.conv.%d", i), "generator.norm.%d", i));
    return mw_sigmoid(zoo_conv_up(h, 1, w, "generator.conv.%d", 3));
}

static mw_tensor *judge(mw_tensor *x, int64_t width)
{
    const zoo_window w = {.kernel = 4, .stride = 2, .border = 1, .unbiased = true};
    mw_tensor *h = mw_leaky_relu(zoo_conv(x, width, w, "discriminator.conv.0"), 0.2f);
    for (int i = 1; i < 3; i++) {
        h = zoo_batch_norm(zoo_conv(h, width << i, w, "discriminator.conv.%d", i), "discriminator.norm.%d", i - 1);
        h = mw_leaky_relu(h, 0.2f);
    }
    h = zoo_conv(h, 1, (zoo_window){.kernel = 4, .border = -1, .unbiased = true}, "discriminator.conv.3");
    return mw_reshape(h, MW_SHAPE(zoo_extent(x, 0)));
}

/* Training takes both networks a step of the game: the generator gets the discriminator's gradient, reversed. */
mw_tensor *zoo_gan_3d(zoo_form *form)
{
    const int64_t width = form->tiny ? 4 : 64, code = form->tiny ? 8 : 128;
    mw_tensor *made = make_bodies(zoo_floats(form, "z", MW_SHAPE(form->batch, code)), width);
    if (!form->training)
        return made;
    mw_tensor *x = zoo_floats(form, "x", mw_tensor_shape(made));
    mw_tensor *reversed = mw_sub(mw_mul_scalar(mw_stop_gradient(made), 2.0), made);
    mw_tensor *scores = judge(mw_concat((mw_tensor *[]){x, reversed}, 2, 0), width);
    mw_tensor *truth[2] = {mw_fill(form->graph, MW_F32, MW_SHAPE(form->batch), 1.0),
                           mw_fill(form->graph, MW_F32, MW_SHAPE(form->batch), 0.0)};
    return mw_binary_cross_entropy(scores, mw_concat(truth, 2, 0), NULL);
}

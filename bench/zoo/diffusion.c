/* The U-Net of denoising diffusion (Ho, Jain and Abbeel 2020): residual blocks of group norm, SiLU and convolutions
 * that are told the time, attention on the coarser levels. */
#include "zoo.h"

#include <math.h>
#include <stdio.h>

enum { GROUPS = 8, LEVELS = 3, BLOCKS = 2 };

/* sin and cos of t times frequencies from 1 to 1/10000, then two dense layers. t [N] is in [0, 1) of 1000 steps. */
static mw_tensor *embed_time(mw_tensor *t, int width)
{
    float frequencies[256];
    for (int i = 0; i < width / 2; i++)
        frequencies[i] = 1000.0f * (float)exp(-log(10000.0) * i / (width / 2.0 - 1.0));
    mw_tensor *f = mw_constant(mw_tensor_graph(t), MW_F32, MW_SHAPE(1, width / 2), frequencies);
    mw_tensor *angles = mw_mul(mw_reshape(t, MW_SHAPE(zoo_extent(t, 0), 1)), f);
    mw_tensor *h = mw_concat((mw_tensor *[]){mw_sin(angles), mw_cos(angles)}, 2, 1);
    h = mw_silu(mw_dense(h, 4 * width, "time.fc1"));
    return mw_silu(mw_dense(h, 4 * width, "time.fc2"));
}

static mw_tensor *residual(mw_tensor *x, mw_tensor *time, int64_t channels, const char *name)
{
    mw_tensor *h = mw_silu(zoo_group_norm(x, GROUPS, "%s.norm1", name));
    h = zoo_conv(h, channels, (zoo_window){.kernel = 3}, "%s.conv1", name);
    mw_tensor *bias = zoo_dense(time, channels, "%s.time", name);
    h = mw_add(h, mw_reshape(bias, MW_SHAPE(zoo_extent(x, 0), channels, 1, 1)));
    h = mw_silu(zoo_group_norm(h, GROUPS, "%s.norm2", name));
    h = zoo_conv(h, channels, (zoo_window){.kernel = 3}, "%s.conv2", name);
    if (zoo_extent(x, 1) != channels)
        x = zoo_conv(x, channels, (zoo_window){.kernel = 1}, "%s.skip", name);
    return mw_add(x, h);
}

/* One head over all positions. */
static mw_tensor *attend(mw_tensor *x, const char *name)
{
    const mw_shape s = mw_tensor_shape(x);
    const int64_t positions = s.dim[2] * s.dim[3];
    mw_tensor *h = zoo_group_norm(x, GROUPS, "%s.norm", name), *qkv[3];
    h = mw_transpose(mw_reshape(h, MW_SHAPE(s.dim[0], s.dim[1], positions)), MW_AXES(0, 2, 1));
    mw_split(zoo_dense(h, 3 * s.dim[1], "%s.qkv", name), 3, 2, qkv);
    h = mw_scaled_dot_product_attention(qkv[0], qkv[1], qkv[2], NULL);
    h = mw_transpose(zoo_dense(h, s.dim[1], "%s.out", name), MW_AXES(0, 2, 1));
    return mw_add(x, mw_reshape(h, s));
}

typedef struct diffusion {
    mw_tensor *time, *kept[1 + LEVELS * (BLOCKS + 1)];
    int width, count;
} diffusion;

static mw_tensor *go_down(diffusion *d, mw_tensor *h)
{
    char name[32];
    for (int level = 0; level < LEVELS; level++) {
        for (int i = 0; i < BLOCKS; i++) {
            snprintf(name, sizeof name, "down.%d", level * BLOCKS + i);
            h = residual(h, d->time, d->width << (level > 0), name);
            snprintf(name, sizeof name, "down_attention.%d", i);
            h = d->kept[d->count++] = level == 1 ? attend(h, name) : h;
        }
        if (level < LEVELS - 1)
            h = d->kept[d->count++] =
                zoo_conv(h, zoo_extent(h, 1), (zoo_window){.kernel = 3, .stride = 2}, "downsample.%d", level);
    }
    return h;
}

static mw_tensor *go_up(diffusion *d, mw_tensor *h)
{
    char name[32];
    for (int level = LEVELS - 1, number = 0; level >= 0; level--) {
        for (int i = 0; i < BLOCKS + 1; i++, number++) {
            snprintf(name, sizeof name, "up.%d", number);
            h = mw_concat((mw_tensor *[]){h, d->kept[--d->count]}, 2, 1);
            h = residual(h, d->time, d->width << (level > 0), name);
            snprintf(name, sizeof name, "up_attention.%d", i);
            h = level == 1 ? attend(h, name) : h;
        }
        if (level > 0) {
            h = mw_upsample_nearest_neighbor(h, 2, 2);
            h = zoo_conv(h, zoo_extent(h, 1), (zoo_window){.kernel = 3}, "upsample.%d", level - 1);
        }
    }
    return h;
}

mw_tensor *zoo_diffusion_unet(zoo_form *form)
{
    const int64_t side = form->tiny ? 8 : 32;
    diffusion d = {.width = form->tiny ? 8 : 64};
    mw_tensor *x = zoo_floats(form, "x", MW_SHAPE(form->batch, 3, side, side));
    d.time = embed_time(zoo_floats(form, "t", MW_SHAPE(form->batch)), d.width);
    mw_tensor *h = zoo_conv(x, d.width, (zoo_window){.kernel = 3}, "first");
    d.kept[d.count++] = h;
    h = residual(go_down(&d, h), d.time, 2 * d.width, "middle.0");
    h = residual(attend(h, "middle_attention"), d.time, 2 * d.width, "middle.1");
    h = mw_silu(zoo_group_norm(go_up(&d, h), GROUPS, "last_norm"));
    return zoo_by_squares(form, zoo_conv(h, 3, (zoo_window){.kernel = 3}, "last"));
}

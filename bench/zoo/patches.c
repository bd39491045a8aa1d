/* Networks over patches of pictures: ViT (Dosovitskiy and others 2021) and MLP-Mixer (Tolstikhin and others 2021). B
 * pictures x [B, 3, S, S], N patches, D channels. */
#include "zoo.h"

typedef struct patch_form {
    int batch, side, patch, width, layers, classes;
    int heads;            /* ViT */
    int tokens, channels; /* Mixer: hidden elements of its two kinds of layers */
} patch_form;

/* [B, 3, S, S] -> [B, N, D] */
static mw_tensor *patches_of(zoo_form *form, const patch_form *f, const char *name)
{
    mw_tensor *x = zoo_floats(form, "x", MW_SHAPE(f->batch, 3, f->side, f->side));
    x = zoo_conv(x, f->width, (zoo_window){.kernel = f->patch, .stride = f->patch, .border = -1}, "%s", name);
    const int64_t side = f->side / f->patch;
    return mw_transpose(mw_reshape(x, MW_SHAPE(f->batch, f->width, side * side)), MW_AXES(0, 2, 1));
}

/* ---- ViT ---- */

static mw_tensor *vit_attend(mw_tensor *x, const patch_form *f, int layer)
{
    const int64_t tokens = mw_tensor_shape(x).dim[1], size = f->width / f->heads;
    mw_tensor *h = zoo_layer_norm(x, "blocks.%d.norm1", layer);
    h = zoo_dense(h, 3 * f->width, "blocks.%d.attn.qkv", layer);
    h = mw_transpose(mw_reshape(h, MW_SHAPE(f->batch, tokens, 3, f->heads, size)), MW_AXES(2, 0, 3, 1, 4));
    mw_tensor *part[3] = {NULL};
    mw_split(h, 3, 0, part);
    for (int i = 0; i < 3; i++)
        part[i] = mw_squeeze(part[i], MW_AXES(0)); /* [B, H, N, E] */
    h = mw_scaled_dot_product_attention(part[0], part[1], part[2], NULL);
    h = mw_reshape(mw_transpose(h, MW_AXES(0, 2, 1, 3)), MW_SHAPE(f->batch, tokens, f->width));
    return mw_add(x, zoo_dense(h, f->width, "blocks.%d.attn.proj", layer));
}

static mw_tensor *vit_feed_forward(mw_tensor *x, const patch_form *f, int layer)
{
    mw_tensor *h = zoo_layer_norm(x, "blocks.%d.norm2", layer);
    h = mw_gelu(zoo_dense(h, 4 * f->width, "blocks.%d.mlp.fc1", layer), MW_GELU_EXACT);
    return mw_add(x, zoo_dense(h, f->width, "blocks.%d.mlp.fc2", layer));
}

mw_tensor *zoo_vit(zoo_form *form)
{
    const patch_form f = form->tiny ? (patch_form){form->batch, 16, 4, 16, 2, 10, .heads = 2}
                                    : (patch_form){form->batch, 224, 16, 384, 12, 1000, .heads = 6};
    mw_tensor *x = patches_of(form, &f, "patch_embed.proj");
    const mw_init init = mw_init_normal(0.0f, 0.02f);
    mw_tensor *class = mw_parameter(form->graph, "cls_token", MW_F32, MW_SHAPE(1, 1, f.width), init);
    x = mw_concat((mw_tensor *[]){mw_tile(class, MW_SHAPE(f.batch, 1, 1)), x}, 2, 1);
    const int64_t tokens = mw_tensor_shape(x).dim[1];
    x = mw_add(x, mw_parameter(form->graph, "pos_embed", MW_F32, MW_SHAPE(1, tokens, f.width), init));
    for (int layer = 0; layer < f.layers; layer++)
        x = vit_feed_forward(vit_attend(x, &f, layer), &f, layer);
    x = zoo_layer_norm(x, "norm");
    const mw_slice first[] = {
        {.from_start = true, .to_end = true}, {.begin = 0, .squeeze = true}, {.from_start = true, .to_end = true}};
    return zoo_by_classes(form, zoo_dense(mw_slice_by_index(x, first), f.classes, "head"));
}

/* ---- MLP-Mixer ---- */

/* x [.., I] -> [.., I], through `hidden` elements. */
static mw_tensor *mixer_mlp(mw_tensor *x, int hidden, int layer, const char *which)
{
    mw_tensor *h = mw_gelu(zoo_dense(x, hidden, "blocks.%d.%s.fc1", layer, which), MW_GELU_EXACT);
    return zoo_dense(h, zoo_extent(x, -1), "blocks.%d.%s.fc2", layer, which);
}

static mw_tensor *mixer_block(mw_tensor *x, const patch_form *f, int layer)
{
    mw_tensor *h = zoo_layer_norm(x, "blocks.%d.norm1", layer);
    h = mixer_mlp(mw_transpose(h, MW_AXES(0, 2, 1)), f->tokens, layer, "mlp_tokens");
    x = mw_add(x, mw_transpose(h, MW_AXES(0, 2, 1)));
    h = zoo_layer_norm(x, "blocks.%d.norm2", layer);
    return mw_add(x, mixer_mlp(h, f->channels, layer, "mlp_channels"));
}

mw_tensor *zoo_mixer(zoo_form *form)
{
    const patch_form f = form->tiny ? (patch_form){form->batch, 16, 4, 16, 2, 10, .tokens = 8, .channels = 32}
                                    : (patch_form){form->batch, 224, 16, 512, 8, 1000, .tokens = 256, .channels = 2048};
    mw_tensor *x = patches_of(form, &f, "stem.proj");
    for (int layer = 0; layer < f.layers; layer++)
        x = mixer_block(x, &f, layer);
    x = mw_reduce_mean(zoo_layer_norm(x, "norm"), MW_AXES(1), false);
    return zoo_by_classes(form, zoo_dense(x, f.classes, "head"));
}

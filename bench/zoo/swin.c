/* Swin-T (Liu and others 2021): attention within windows that shift by half from block to block, with a learned bias
 * for each distance, and stages between which four patches become one. B pictures x [B, 3, S, S], maps [B, S, S, C],
 * windows of W x W places, H heads. */
#include "zoo.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct swin_form {
    int batch, side, width, window, classes;
    int layers[4], heads[4], stages;
} swin_form;

/* One block: its place in the network, and its map of side x side places with `width` channels. */
typedef struct swin_block {
    const swin_form *form;
    int stage, number, side, width, shift;
} swin_block;

static mw_tensor *layer_normal(mw_tensor *x, const swin_block *b, const char *which)
{
    return zoo_layer_norm(x, "layers.%d.blocks.%d.%s", b->stage, b->number, which);
}

static mw_tensor *block_dense(mw_tensor *x, int units, const swin_block *b, const char *which)
{
    return zoo_dense(x, units, "layers.%d.blocks.%d.%s", b->stage, b->number, which);
}

/* The map rolled by `shift` places up and to the left. */
static mw_tensor *rolled(mw_tensor *x, int shift)
{
    for (int axis = 1; shift != 0 && axis <= 2; axis++) {
        const int64_t side = mw_tensor_shape(x).dim[axis], first = shift > 0 ? shift : side + shift;
        mw_tensor *part[2] = {NULL, NULL};
        mw_split_sizes(x, (int64_t[]){first, side - first}, 2, axis, part);
        x = mw_concat((mw_tensor *[]){part[1], part[0]}, 2, axis);
    }
    return x;
}

/* [B, S, S, C] -> [B windows, W W, C]. Pictures and their rows of windows are one axis, so that five are enough: an ANE
 * has no more. */
static mw_tensor *in_windows(mw_tensor *x, const swin_block *b)
{
    const int64_t n = b->form->batch, w = b->form->window, count = b->side / w;
    x = mw_transpose(mw_reshape(x, MW_SHAPE(n * count, w, count, w, b->width)), MW_AXES(0, 2, 1, 3, 4));
    return mw_reshape(x, MW_SHAPE(n * count * count, w * w, b->width));
}

static mw_tensor *from_windows(mw_tensor *x, const swin_block *b)
{
    const int64_t n = b->form->batch, w = b->form->window, count = b->side / w;
    x = mw_transpose(mw_reshape(x, MW_SHAPE(n * count, count, w, w, b->width)), MW_AXES(0, 2, 1, 3, 4));
    return mw_reshape(x, MW_SHAPE(n, b->side, b->side, b->width));
}

/* [H, W W, W W]: for each pair of places of a window the learned number of their distance. */
static mw_tensor *distance_bias(mw_graph *graph, const swin_block *b)
{
    const int w = b->form->window, heads = b->form->heads[b->stage], places = w * w, reach = 2 * w - 1;
    char name[96];
    snprintf(name, sizeof name, "layers.%d.blocks.%d.attn.relative_position_bias_table", b->stage, b->number);
    mw_tensor *table =
        mw_parameter(graph, name, MW_F32, MW_SHAPE((int64_t)reach * reach, heads), mw_init_normal(0.0f, 0.02f));
    int32_t *index = malloc((size_t)places * (size_t)places * sizeof *index);
    for (int i = 0; index != NULL && i < places * places; i++) {
        const int q = i / places, k = i % places;
        index[i] = (q / w - k / w + w - 1) * reach + q % w - k % w + w - 1;
    }
    mw_tensor *indices = mw_constant(graph, MW_I32, MW_SHAPE((int64_t)places * places), index);
    free(index);
    return mw_transpose(mw_reshape(mw_gather(table, indices, 0), MW_SHAPE(places, places, heads)), MW_AXES(2, 0, 1));
}

/* Which of three stripes the place is in, that a roll brings together from both ends of the map. */
static int stripe(int place, const swin_block *b)
{
    return place < b->side - b->form->window ? 0 : place < b->side - b->shift ? 1 : 2;
}

/* [windows, 1, W W, W W]: -100 where two places of a window were not neighbors before the roll. */
static mw_tensor *shift_mask(mw_graph *graph, const swin_block *b)
{
    const int w = b->form->window, count = b->side / w, places = w * w;
    float *mask = calloc((size_t)(count * count * places) * (size_t)places, sizeof *mask);
    for (int i = 0; mask != NULL && i < count * count * places * places; i++) {
        const int k = i % places, q = i / places % places, window = i / places / places;
        const int top = window / count * w, left = window % count * w;
        const bool same =
            stripe(top + q / w, b) == stripe(top + k / w, b) && stripe(left + q % w, b) == stripe(left + k % w, b);
        mask[i] = same ? 0.0f : -100.0f;
    }
    const mw_shape shape = MW_SHAPE((int64_t)count * count, 1, places, places);
    mw_tensor *result = mw_constant(graph, MW_F32, shape, mask);
    free(mask);
    return result;
}

/* The scores [B windows, H, W W, W W] with bias and mask. */
static mw_tensor *biased(mw_tensor *scores, const swin_block *b)
{
    mw_graph *graph = mw_tensor_graph(scores);
    scores = mw_add(scores, distance_bias(graph, b));
    if (b->shift == 0)
        return scores;
    const mw_shape all = mw_tensor_shape(scores);
    const int64_t windows = all.dim[0] / b->form->batch;
    const mw_shape by_picture = MW_SHAPE(b->form->batch, windows, all.dim[1], all.dim[2], all.dim[3]);
    return mw_reshape(mw_add(mw_reshape(scores, by_picture), shift_mask(graph, b)), all);
}

/* x [B windows, W W, C] */
static mw_tensor *window_attend(mw_tensor *x, const swin_block *b)
{
    const mw_shape shape = mw_tensor_shape(x);
    const int64_t heads = b->form->heads[b->stage], size = b->width / heads;
    mw_tensor *h =
        mw_reshape(block_dense(x, 3 * b->width, b, "attn.qkv"), MW_SHAPE(shape.dim[0], shape.dim[1], 3, heads, size));
    mw_tensor *part[3] = {NULL};
    mw_split(mw_transpose(h, MW_AXES(2, 0, 3, 1, 4)), 3, 0, part);
    for (int i = 0; i < 3; i++)
        part[i] = mw_squeeze(part[i], MW_AXES(0));
    mw_tensor *query = mw_mul_scalar(part[0], 1.0 / sqrt((double)size));
    mw_tensor *weights = mw_softmax(biased(mw_matmul(query, part[1], MW_TRANSPOSE_Y), b), -1);
    h = mw_transpose(mw_matmul(weights, part[2], MW_TRANSPOSE_NONE), MW_AXES(0, 2, 1, 3));
    return block_dense(mw_reshape(h, shape), b->width, b, "attn.proj");
}

/* x [B, S, S, C] */
static mw_tensor *swin_blocked(mw_tensor *x, const swin_block *b)
{
    mw_tensor *h = in_windows(rolled(layer_normal(x, b, "norm1"), b->shift), b);
    x = mw_add(x, rolled(from_windows(window_attend(h, b), b), -b->shift));
    h = mw_gelu(block_dense(layer_normal(x, b, "norm2"), 4 * b->width, b, "mlp.fc1"), MW_GELU_EXACT);
    return mw_add(x, block_dense(h, b->width, b, "mlp.fc2"));
}

/* [B, S, S, C] -> [B, S / 2, S / 2, 2 C] */
static mw_tensor *merged(mw_tensor *x, int stage)
{
    mw_tensor *part[4];
    for (int i = 0; i < 4; i++) {
        const mw_slice every_second[] = {{.from_start = true, .to_end = true},
                                         {.begin = i % 2, .to_end = true, .stride = 2},
                                         {.begin = i / 2, .to_end = true, .stride = 2},
                                         {.from_start = true, .to_end = true}};
        part[i] = mw_slice_by_index(x, every_second);
    }
    const int64_t width = mw_tensor_shape(x).dim[3];
    x = zoo_layer_norm(mw_concat(part, 4, 3), "layers.%d.downsample.norm", stage);
    char name[64];
    snprintf(name, sizeof name, "layers.%d.downsample.reduction.weight", stage);
    mw_tensor *weight =
        mw_parameter(mw_tensor_graph(x), name, MW_F32, MW_SHAPE(2 * width, 4 * width), mw_init_kaiming_uniform());
    return mw_linear(x, weight, NULL);
}

/* [B, 3, S, S] -> [B, S / 4, S / 4, C] */
static mw_tensor *embedded(zoo_form *form, const swin_form *f)
{
    mw_tensor *x = zoo_floats(form, "x", MW_SHAPE(f->batch, 3, f->side, f->side));
    x = zoo_conv(x, f->width, (zoo_window){.kernel = 4, .stride = 4, .border = -1}, "patch_embed.proj");
    return zoo_layer_norm(mw_transpose(x, MW_AXES(0, 2, 3, 1)), "patch_embed.norm");
}

mw_tensor *zoo_swin(zoo_form *form)
{
    const swin_form f = form->tiny ? (swin_form){form->batch, 32, 8, 2, 10, {2, 2}, {2, 4}, 2}
                                   : (swin_form){form->batch, 224, 96, 7, 1000, {2, 2, 6, 2}, {3, 6, 12, 24}, 4};
    mw_tensor *x = embedded(form, &f);
    swin_block block = {&f, .side = f.side / 4, .width = f.width};
    for (; block.stage < f.stages; block.stage++) {
        for (block.number = 0; block.number < f.layers[block.stage]; block.number++) {
            block.shift = block.number % 2 == 1 && block.side > f.window ? f.window / 2 : 0;
            x = swin_blocked(x, &block);
        }
        if (block.stage + 1 < f.stages)
            x = merged(x, block.stage);
        block.side /= 2, block.width *= 2;
    }
    x = mw_reduce_mean(zoo_layer_norm(x, "norm"), MW_AXES(1, 2), false);
    return zoo_by_classes(form, zoo_dense(x, f.classes, "head"));
}

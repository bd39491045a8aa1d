/* Constructors with numbers at the edges of their types: each either gives a tensor or leaves an error that names the
 * operation, and none asks for memory by such a number: no request is above 64 KiB. */
#include "graph/shapes/shape_words.h"

#include <math.h>
#include <stdlib.h>

/* ---- an allocator that remembers the largest request ---- */

static void *resize(void *user, void *pointer, size_t size)
{
    size_t *largest = user;
    *largest = size > *largest ? size : *largest;
    if (size > ((size_t)1 << 28))
        return NULL;
    if (size == 0) {
        free(pointer);
        return NULL;
    }
    return realloc(pointer, size);
}

/* ---- what is made with a number ---- */

#define PROBE(name) static mw_tensor *probe_##name(mw_graph *g, int64_t v)
#define X4          F(2, 4, 6, 6)

static mw_conv_options conv_with(int64_t stride, int64_t dilation, int64_t groups, int64_t pad)
{
    mw_conv_options options = mw_conv_defaults();
    options.stride[0] = stride;
    options.dilation[1] = dilation;
    options.groups = groups;
    options.pad[1] = options.pad[2] = pad;
    options.pad_type = pad != 0 ? MW_PAD_CUSTOM : MW_PAD_SAME;
    return options;
}

PROBE(conv_stride) { return mw_conv(X4, F(4, 4, 3, 3), NULL, &(mw_conv_options[]){conv_with(v, 1, 1, 0)}[0]); }
PROBE(conv_dilation) { return mw_conv(X4, F(4, 4, 3, 3), NULL, &(mw_conv_options[]){conv_with(1, v, 1, 0)}[0]); }
PROBE(conv_groups) { return mw_conv(X4, F(4, 4, 3, 3), NULL, &(mw_conv_options[]){conv_with(1, 1, v, 0)}[0]); }
PROBE(conv_pad) { return mw_conv(X4, F(4, 4, 3, 3), NULL, &(mw_conv_options[]){conv_with(1, 1, 1, v)}[0]); }
PROBE(conv_kernel) { return mw_conv(X4, F(4, 4, 3, v), NULL, NULL); }
PROBE(conv_extent)
{
    return mw_conv(F(2, 4, 6, v), F(4, 4, 3, 3), NULL, &(mw_conv_options[]){conv_with(1, 2, 1, 1)}[0]);
}
PROBE(conv_pad_type)
{
    mw_conv_options options = mw_conv_defaults();
    options.pad_type = (mw_pad_type)v;
    return mw_conv(X4, F(4, 4, 3, 3), NULL, &options);
}
PROBE(turned_stride)
{
    return mw_conv_transpose(X4, F(4, 4, 3, 3), NULL, &(mw_conv_options[]){conv_with(v, 1, 1, 0)}[0]);
}
PROBE(turned_dilation)
{
    return mw_conv_transpose(X4, F(4, 4, 3, 3), NULL, &(mw_conv_options[]){conv_with(1, v, 1, 0)}[0]);
}
PROBE(turned_groups)
{
    return mw_conv_transpose(X4, F(4, 4, 3, 3), NULL, &(mw_conv_options[]){conv_with(1, 1, v, 0)}[0]);
}
PROBE(turned_pad) { return mw_conv_transpose(X4, F(4, 4, 3, 3), NULL, &(mw_conv_options[]){conv_with(1, 1, 1, v)}[0]); }
PROBE(turned_shape)
{
    mw_conv_options options = mw_conv_defaults();
    options.output_shape = S(2, 4, v, 8);
    return mw_conv_transpose(X4, F(4, 4, 3, 3), NULL, &options);
}
PROBE(conv_channels) { return mw_conv_layer(X4, v, S(3, 3), "conv", NULL); }
PROBE(conv_layer_kernel) { return mw_conv_layer(X4, 8, S(3, v), "conv", NULL); }
PROBE(turned_channels) { return mw_conv_transpose_layer(X4, v, S(3, 3), "conv_transpose", NULL); }

static mw_pool_options pool_with(int64_t kernel, int64_t stride, int64_t pad, bool ceil)
{
    mw_pool_options options = mw_pool_defaults(MW_SHAPE(kernel, 2));
    options.stride[0] = stride;
    options.pad[0] = options.pad[1] = pad;
    options.pad_type = pad != 0 ? MW_PAD_CUSTOM : MW_PAD_VALID;
    options.ceil_mode = ceil;
    return options;
}

PROBE(pool_kernel) { return mw_max_pool(X4, &(mw_pool_options[]){pool_with(v, 1, 0, false)}[0]); }
PROBE(pool_kernel_padded) { return mw_avg_pool(X4, &(mw_pool_options[]){pool_with(v, 2, INT32_MAX, true)}[0]); }
PROBE(pool_stride) { return mw_avg_pool(X4, &(mw_pool_options[]){pool_with(2, v, 0, true)}[0]); }
PROBE(pool_pad) { return mw_l2_pool(X4, &(mw_pool_options[]){pool_with(2, 1, v, true)}[0]); }

PROBE(softmax) { return mw_softmax(X4, (int)v); }
PROBE(cumsum) { return mw_cumsum(X4, (int)v, false, false); }
PROBE(reduce_argmax) { return mw_reduce_argmax(X4, (int)v, false); }
PROBE(reduce_sum) { return mw_reduce_sum(X4, MW_AXES((int)v), false); }
PROBE(reduce_sum_count) { return mw_reduce_sum(X4, (mw_axes){(int)v, {0}}, false); }
PROBE(transpose) { return mw_transpose(X4, MW_AXES(0, 1, 2, (int)v)); }
PROBE(expand_dims) { return mw_expand_dims(X4, MW_AXES((int)v)); }
PROBE(squeeze) { return mw_squeeze(X4, MW_AXES((int)v)); }
PROBE(reverse) { return mw_reverse(X4, MW_AXES((int)v)); }
PROBE(reshape) { return mw_reshape(X4, S(v, 2)); }
PROBE(reshape_rank) { return mw_reshape(X4, (mw_shape){.rank = (int)v}); }
PROBE(flatten2d) { return mw_flatten2d(X4, (int)v); }
PROBE(tile) { return mw_tile(X4, S(1, v, 1, 1)); }
PROBE(tile_all) { return mw_tile(X4, S(v, v, v, v)); }
PROBE(pad) { return mw_pad(X4, (const int64_t[]){v, 1}, 1, MW_PAD_CONSTANT, 0.0f); }
PROBE(pad_both) { return mw_pad(X4, (const int64_t[]){v, v}, 1, MW_PAD_REFLECT, 0.0f); }
PROBE(pad_axes) { return mw_pad(X4, (const int64_t[16]){0}, (int)v, MW_PAD_CONSTANT, 0.0f); }
PROBE(pad_mode) { return mw_pad(X4, (const int64_t[]){1, 1}, 1, (mw_pad_mode)v, 0.0f); }
PROBE(fill) { return mw_fill(g, MW_F32, S(v, v), 1.0); }
PROBE(range_1d) { return mw_range_1d(g, MW_I32, 0.0, (double)v, 1.0); }
PROBE(range_1d_step) { return mw_range_1d(g, MW_F32, -1e30, 1e30, (double)v); }
PROBE(range_1d_start) { return mw_range_1d(g, MW_F32, (double)v, 1e9, 1e-30); }
PROBE(sliding_windows) { return mw_sliding_windows(X4, 2, v, 1); }
PROBE(sliding_windows_stride) { return mw_sliding_windows(X4, 2, 2, v); }
PROBE(band_part) { return mw_band_part(X4, v, v); }
PROBE(slice_by_size) { return mw_slice_by_size(X4, (const int64_t[]){0, 0, v, 0}, (const int64_t[]){1, 1, 1, 1}); }
PROBE(slice_by_size_size) { return mw_slice_by_size(X4, (const int64_t[]){0, 0, 1, 0}, (const int64_t[]){1, 1, v, 1}); }
PROBE(slice_by_index) { return mw_slice_by_index(X4, (const mw_slice[4]){{.begin = v, .end = v, .stride = v}}); }
PROBE(slice_by_index_stride)
{
    return mw_slice_by_index(X4, (const mw_slice[4]){{.from_start = true, .to_end = true, .stride = v}});
}
PROBE(slice_update)
{
    return mw_slice_update(X4, F(1, 4, 6, 6), (const mw_slice[4]){{.begin = v, .to_end = true, .stride = v}});
}
PROBE(split)
{
    mw_tensor *parts[3] = {NULL};
    mw_split_sizes(X4, (const int64_t[]){v, 4, v}, 3, 2, parts);
    return parts[0];
}
PROBE(concat) { return mw_concat((mw_tensor *const[]){X4, F(2, 4, 6, v)}, 2, 3); }
PROBE(concat_twice) { return mw_concat((mw_tensor *const[]){F(v), F(v), F(v)}, 3, 0); }
PROBE(stack) { return mw_stack((mw_tensor *const[]){X4, X4}, 2, (int)v); }
PROBE(one_hot) { return mw_one_hot(N(3), v, -1, MW_F32, 1.0, 0.0); }
PROBE(one_hot_axis) { return mw_one_hot(N(3), 4, (int)v, MW_F32, 1.0, 0.0); }
PROBE(gather) { return mw_gather(X4, N(3), (int)v); }
PROBE(gather_many) { return mw_gather(X4, N(v, v), 1); }
PROBE(gather_nd) { return mw_gather_nd(X4, N(2, 2), (int)v); }
PROBE(gather_along_axis) { return mw_gather_along_axis(X4, N(2, 4, 6, 6), (int)v); }
PROBE(scatter) { return mw_scatter(X4, N(3), F(3, 4, 6, 6), (int)v, MW_SCATTER_ADD); }
PROBE(scatter_mode) { return mw_scatter(X4, N(3), F(3, 4, 6, 6), 0, (mw_scatter_mode)v); }
PROBE(embedding) { return mw_embedding(N(3), v, v, "embedding"); }
PROBE(topk)
{
    mw_tensor *values = NULL;
    mw_topk(X4, v, -1, false, &values, NULL);
    return values;
}
PROBE(argsort) { return mw_argsort(X4, (int)v, true); }
PROBE(resize) { return mw_resize(X4, v, v, MW_INTERPOLATION_LINEAR, MW_SAMPLING_DEFAULT); }
PROBE(resize_mode) { return mw_resize(X4, 3, 3, (mw_interpolation_mode)v, (mw_sampling_mode)v); }
PROBE(resize_bilinear) { return mw_resize_bilinear(X4, v, 3, MW_SAMPLING_OFFSET_CORNERS); }
PROBE(upsample) { return mw_upsample_bilinear(X4, (float)v, 1e30f, false); }
PROBE(upsample_nearest) { return mw_upsample_nearest_neighbor(X4, (float)v, 1.0f); }
PROBE(crop) { return mw_crop(X4, v, v, v, v); }
PROBE(depth_to_space) { return mw_depth_to_space(X4, v); }
PROBE(space_to_depth) { return mw_space_to_depth(X4, v); }
PROBE(pixel_shuffle) { return mw_pixel_shuffle(X4, v); }
PROBE(pixel_unshuffle) { return mw_pixel_unshuffle(X4, v); }
PROBE(space_to_batch) { return mw_space_to_batch(X4, (const int64_t[]){v, 2}, (const int64_t[]){0, 0, 0, 0}); }
PROBE(space_to_batch_pads) { return mw_space_to_batch(X4, (const int64_t[]){2, 2}, (const int64_t[]){v, v, v, v}); }
PROBE(batch_to_space)
{
    return mw_batch_to_space(F(4, 4, 6, 6), (const int64_t[]){v, v}, (const int64_t[]){0, 0, 0, 0});
}
PROBE(batch_to_space_crops)
{
    return mw_batch_to_space(F(4, 4, 6, 6), (const int64_t[]){2, 2}, (const int64_t[]){v, v, v, v});
}
PROBE(random_normal) { return mw_random_normal(g, MW_F32, S(v, 2), 0.0f, 1.0f, (int32_t)v); }
PROBE(random_categorical) { return mw_random_categorical(X4, MW_CATEGORICAL_LOGITS, v, 1); }
PROBE(local_response_norm) { return mw_local_response_norm(X4, (int)v, 1.0f, 1.0f, 1.0f); }
PROBE(group_norm) { return mw_group_norm(X4, v, NULL, NULL, 1e-5f); }
PROBE(group_norm_layer) { return mw_group_norm_layer(X4, v, 1e-5f, "group_norm"); }
PROBE(layer_norm) { return mw_layer_norm(X4, MW_AXES((int)v), NULL, NULL, 1e-5f); }
PROBE(layer_norm_layer) { return mw_layer_norm_layer(X4, (int)v, 1e-5f, "layer_norm"); }
PROBE(rms_norm_layer) { return mw_rms_norm_layer(X4, (int)v, 1e-5f, "rms_norm"); }
PROBE(matmul) { return mw_matmul(F(v, 2), F(2, v), MW_TRANSPOSE_NONE); }
PROBE(add) { return mw_add(F(v, 1), F(1, v)); }
PROBE(fill_like) { return mw_fill_like(F(v), MW_F32, 1.0); }
PROBE(noise_normal) { return mw_noise_normal(g, MW_F32, S(v), 0.0f, 1.0f, "noise"); }
PROBE(noise_uniform) { return mw_noise_uniform(g, MW_F16, S(v, 3), 0.0f, 1.0f, "noise"); }
PROBE(noise_bernoulli) { return mw_noise_bernoulli(g, MW_F32, S(2, v), 0.5f, "noise"); }
PROBE(dropout) { return mw_dropout(F(v), 0.5f, "dropout"); }
PROBE(batch_norm) { return mw_batch_norm_layer(F(2, v), 0.1f, 1e-5f, "batch_norm"); }

typedef struct probe {
    const char *name;
    mw_tensor *(*make)(mw_graph *g, int64_t v);
    bool sized; /* a result of that size may need so much memory: a request that is refused is right */
} probe;

#define ROW(name)                                                                                                      \
    {                                                                                                                  \
#name, probe_##name, false                                                                                     \
    }
#define SIZED(name)                                                                                                    \
    {                                                                                                                  \
#name, probe_##name, true                                                                                      \
    }

static const probe probes[] = {
    ROW(conv_stride),
    ROW(conv_dilation),
    ROW(conv_groups),
    ROW(conv_pad),
    ROW(conv_kernel),
    ROW(conv_extent),
    ROW(conv_pad_type),
    ROW(turned_stride),
    ROW(turned_dilation),
    ROW(turned_groups),
    ROW(turned_pad),
    ROW(turned_shape),
    ROW(conv_channels),
    ROW(conv_layer_kernel),
    ROW(turned_channels),
    ROW(pool_kernel),
    ROW(pool_kernel_padded),
    ROW(pool_stride),
    ROW(pool_pad),
    ROW(softmax),
    ROW(cumsum),
    ROW(reduce_argmax),
    ROW(reduce_sum),
    ROW(reduce_sum_count),
    ROW(transpose),
    ROW(expand_dims),
    ROW(squeeze),
    ROW(reverse),
    ROW(reshape),
    ROW(reshape_rank),
    ROW(flatten2d),
    ROW(tile),
    ROW(tile_all),
    ROW(pad),
    ROW(pad_both),
    ROW(pad_axes),
    ROW(pad_mode),
    ROW(fill),
    ROW(range_1d),
    ROW(range_1d_step),
    ROW(range_1d_start),
    ROW(sliding_windows),
    ROW(sliding_windows_stride),
    ROW(band_part),
    ROW(slice_by_size),
    ROW(slice_by_size_size),
    ROW(slice_by_index),
    ROW(slice_by_index_stride),
    ROW(slice_update),
    ROW(split),
    ROW(concat),
    ROW(concat_twice),
    ROW(stack),
    ROW(one_hot),
    ROW(one_hot_axis),
    ROW(gather),
    ROW(gather_many),
    ROW(gather_nd),
    ROW(gather_along_axis),
    ROW(scatter),
    ROW(scatter_mode),
    ROW(embedding),
    ROW(topk),
    ROW(argsort),
    ROW(resize),
    ROW(resize_mode),
    ROW(resize_bilinear),
    ROW(upsample),
    ROW(upsample_nearest),
    ROW(crop),
    ROW(depth_to_space),
    ROW(space_to_depth),
    ROW(pixel_shuffle),
    ROW(pixel_unshuffle),
    ROW(space_to_batch),
    ROW(space_to_batch_pads),
    ROW(batch_to_space),
    ROW(batch_to_space_crops),
    ROW(random_normal),
    ROW(random_categorical),
    ROW(local_response_norm),
    ROW(group_norm),
    ROW(group_norm_layer),
    ROW(layer_norm),
    ROW(layer_norm_layer),
    ROW(rms_norm_layer),
    ROW(matmul),
    ROW(add),
    ROW(fill_like),
    SIZED(dropout),
    SIZED(noise_normal),
    SIZED(noise_uniform),
    SIZED(noise_bernoulli),
    ROW(batch_norm),
};

static const int64_t numbers[] = {0,
                                  1,
                                  -1,
                                  -2,
                                  3,
                                  MW_RANK_MAX,
                                  MW_RANK_MAX + 1,
                                  64,
                                  65,
                                  65536,
                                  INT32_MAX,
                                  INT32_MIN,
                                  INT64_C(1) << 31,
                                  (INT64_C(1) << 32) + 1,
                                  INT64_C(1) << 60,
                                  INT64_C(1) << 62,
                                  INT64_MAX,
                                  INT64_MAX - 1,
                                  INT64_MIN,
                                  INT64_MIN + 1};

/* ---- the checks ---- */

static void check_probe(const probe *p, int64_t v)
{
    size_t largest = 0;
    const mw_allocator allocator = {.resize = resize, .user = &largest};
    mw_graph *g = make_graph(MW_IOS18, &allocator);
    const mw_tensor *y = p->make(g, v);
    mw_error err = {0};
    const mw_status status = mw_graph_check(g, &err);
    check_note((y != NULL) == (status == MW_OK), __FILE__, __LINE__, "%s(%lld): a result and an error, or neither",
               p->name, (long long)v);
    check_note(status == MW_OK || strlen(err.message) > 10, __FILE__, __LINE__, "%s(%lld): \"%s\"", p->name,
               (long long)v, err.message);
    check_note(largest <= 65536 || p->sized, __FILE__, __LINE__, "%s(%lld): %zu bytes were asked for", p->name,
               (long long)v, largest);
    if (getenv("MW_TEST_SHOW") != NULL)
        printf("%s(%lld): %s\n", p->name, (long long)v, status == MW_OK ? "fine" : err.message);
    mw_graph_destroy(g);
}

static void test_extreme_numbers_are_refused_or_fine(void)
{
    for (size_t i = 0; i < sizeof probes / sizeof *probes; i++)
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
            check_probe(&probes[i], numbers[k]);
}

int main(void)
{
    RUN(test_extreme_numbers_are_refused_or_fine);
    return check_finish();
}

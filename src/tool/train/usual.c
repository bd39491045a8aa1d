/* Networks without a recipe. Of tables: two layers of 64 for rows, of several ids (who, and what) with their products
 * and a linear part; for windows of values a linear part beside these, from what the last row has; for windows of
 * classes two convolutions over time. Of pictures and sounds: three convolutions. */
#include "tool/train/usual.h"

#include "tool/train/network.h"

#include <stdio.h>
#include <string.h>

enum { IDS_MAX = 4, PAIRS_MAX = 6 /* of these */ };
enum { UNITS = 64, CHANNELS = 32, FLAT_MAX = 4096 /* numbers of a window that a layer takes one by one */ };

static mw_tensor *two_layers(mw_tensor *h)
{
    h = mw_relu(mw_dense(h, UNITS, "dense1"));
    return mw_relu(mw_dense(h, UNITS, "dense2"));
}

/* The scaled target of the last row, [N, 1]; NULL where it is no number of the input, or scaled another way. */
static mw_tensor *last_target(const mw_table_encoder *encoder, mw_tensor *h)
{
    const mw_encoded_target target = mw_table_encoder_target(encoder);
    const mw_shape s = mw_tensor_shape(h);
    mw_encoded_field f;
    for (size_t i = 0; mw_table_encoder_field_at(encoder, i, &f); i++) {
        if (strcmp(f.name, target.name) != 0 || f.kind != MW_FIELD_NUMBER || target.logarithm || f.mean != target.mean)
            continue;
        mw_tensor *last =
            mw_slice_by_size(h, (const int64_t[]){0, s.dim[1] - 1, f.first_column}, (const int64_t[]){s.dim[0], 1, 1});
        return mw_reshape(last, MW_SHAPE(s.dim[0], 1));
    }
    return NULL;
}

/* y = last + W x + layers(x): a value that follows its past is found at once, and the rest is learned. */
static mw_tensor *forecast(const mw_table_encoder *encoder, mw_tensor *h, int64_t count)
{
    mw_tensor *flat = network_flat(h), *last = last_target(encoder, h);
    mw_tensor *out = mw_add(mw_dense(flat, count, "linear1"), mw_dense(two_layers(flat), count, "dense3"));
    return last != NULL ? mw_add(out, last) : out;
}

/* Mean and largest over time of two convolutions, beside the last row. */
static mw_tensor *patterns(mw_tensor *h, int64_t count)
{
    const mw_shape s = mw_tensor_shape(h), kernel = MW_SHAPE(3);
    const mw_axes time = {.count = 1, .axis = {2}};
    mw_conv_options o = mw_conv_defaults();
    o.pad_type = MW_PAD_SAME;
    mw_tensor *c = mw_transpose(h, (mw_axes){.count = 3, .axis = {0, 2, 1}});
    c = mw_relu(mw_conv_layer(c, CHANNELS, kernel, "conv1", &o));
    c = mw_relu(mw_conv_layer(c, CHANNELS, kernel, "conv2", &o));
    mw_tensor *last =
        mw_slice_by_size(h, (const int64_t[]){0, s.dim[1] - 1, 0}, (const int64_t[]){s.dim[0], 1, s.dim[2]});
    mw_tensor *parts[] = {mw_reduce_mean(c, time, false), mw_reduce_max(c, time, false),
                          mw_reshape(last, MW_SHAPE(s.dim[0], s.dim[2]))};
    mw_tensor *joined = mw_concat(parts, 3, 1);
    return mw_dense(mw_relu(mw_dense(joined, UNITS, "dense1")), count, "dense2");
}

/* What ids say of each other: products of the numbers learned for them, of each two; h itself where there are none. */
static mw_tensor *with_products(const mw_table_encoder *encoder, mw_tensor *h)
{
    mw_tensor *parts[PAIRS_MAX + 1] = {h}, *ids[IDS_MAX];
    const int64_t rows = mw_tensor_shape(h).dim[0];
    size_t count = 0, pairs = 1;
    int64_t first = 0;
    mw_encoded_field f;
    for (int words = 0; words < 2; words++) {
        for (size_t i = 0; mw_table_encoder_field_at(encoder, i, &f); i++) {
            const bool has_words = f.kind == MW_FIELD_ID || f.kind == MW_FIELD_CATEGORY;
            if (has_words != (words == 1) || f.kind == MW_FIELD_SEQUENCE)
                continue;
            if (f.kind == MW_FIELD_ID && f.width < (int64_t)f.word_count && count < IDS_MAX)
                ids[count++] = mw_slice_by_size(h, (const int64_t[]){0, first}, (const int64_t[]){rows, f.width});
            first += f.width;
        }
    }
    for (size_t a = 0; a < count; a++)
        for (size_t b = a + 1; b < count; b++)
            if (mw_tensor_shape(ids[a]).dim[1] == mw_tensor_shape(ids[b]).dim[1])
                parts[pairs++] = mw_mul(ids[a], ids[b]);
    return pairs > 1 ? mw_concat(parts, pairs, 1) : h;
}

mw_tensor *usual_network(const mw_table_encoder *encoder, mw_tensor *h, int64_t count)
{
    const mw_shape s = mw_tensor_shape(h);
    if (s.rank != 3) {
        mw_tensor *wide = with_products(encoder, h);
        mw_tensor *out = mw_dense(two_layers(wide), count, "dense3");
        return wide != h ? mw_add(out, mw_dense(wide, count, "linear1")) : out;
    }
    const bool is_value = mw_table_encoder_target(encoder).kind == MW_TARGET_VALUE;
    return is_value && s.dim[1] * s.dim[2] <= FLAT_MAX ? forecast(encoder, h, count) : patterns(h, count);
}

/* Convolution, norm and relu; half as many places while there are enough. */
static mw_tensor *places_block(mw_tensor *h, int64_t channels, int number)
{
    char conv[16], norm[16];
    mw_conv_options o = mw_conv_defaults();
    o.pad_type = MW_PAD_SAME;
    o.bias = false; /* the norm has one */
    snprintf(conv, sizeof conv, "conv%d", number);
    snprintf(norm, sizeof norm, "norm%d", number);
    h = mw_relu(mw_batch_norm_layer(mw_conv_layer(h, channels, MW_SHAPE(3, 3), conv, &o), 0.1f, 1e-5f, norm));
    const mw_shape s = mw_tensor_shape(h);
    mw_pool_options pool = mw_pool_defaults(MW_SHAPE(2, 2));
    pool.stride[0] = pool.stride[1] = 2;
    return s.rank == 4 && s.dim[2] >= 8 && s.dim[3] >= 8 ? mw_max_pool(h, &pool) : h;
}

mw_tensor *usual_network_of_places(mw_tensor *x, int64_t rate, int64_t count)
{
    const mw_log_mel_options mel = mw_log_mel_defaults(rate);
    mw_tensor *h = rate > 0 ? mw_log_mel(x, &mel) : x;
    h = mw_batch_norm_layer(h, 0.1f, 1e-5f, "norm");
    for (int i = 0; i < 3; i++)
        h = places_block(h, 16 << i, i + 1);
    /* The place of a thing in a picture, and its time in a sound, say nothing of the class; how high it sounds does. */
    h = rate > 0 ? mw_reduce_mean(h, MW_AXES(3), false) : mw_reduce_mean(h, MW_AXES(2, 3), false);
    return mw_dense(network_flat(h), count, "dense1");
}
